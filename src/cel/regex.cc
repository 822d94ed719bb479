/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go and RE2 share their grammar but for a few points, which are settled before RE2 sees
 * the pattern: names of groups are dropped (nothing here uses them, and RE2 refuses Go's
 * short form and repeated names), names of Unicode's properties are made RE2's, and \C,
 * which Go does not have, is refused.
 */
#include "cel/regex.h"

#include <re2/re2.h>

#include <cctype>
#include <memory>
#include <string>

namespace
{

/* Patterns without operators need no automaton. */
enum plain_kind { PLAIN_NONE, PLAIN_CONTAINS, PLAIN_PREFIX, PLAIN_SUFFIX, PLAIN_EQUAL };

} // namespace

struct cel_regex {
    plain_kind kind;
    std::string plain;
    std::unique_ptr<RE2> re;
    bool splits; /* \B: RE2 finds it between the bytes of a code point too */
};

namespace
{

/* A first attempt stays small; the second one takes what Go would take. */
constexpr int64_t memory_small = 8 << 20, memory_large = 256 << 20;
constexpr int max_depth = 1000, max_count = 1000; /* of Go's parser */

struct code_text {
    RE2::ErrorCode code;
    const char *text;
};

const code_text code_texts[] = {
    {RE2::ErrorBadEscape, "invalid escape sequence"},
    {RE2::ErrorBadCharClass, "invalid character class"},
    {RE2::ErrorBadCharRange, "invalid character class range"},
    {RE2::ErrorMissingBracket, "missing closing ]"},
    {RE2::ErrorMissingParen, "missing closing )"},
    {RE2::ErrorUnexpectedParen, "unexpected )"},
    {RE2::ErrorTrailingBackslash, "trailing backslash at end of expression"},
    {RE2::ErrorRepeatArgument, "missing argument to repetition operator"},
    {RE2::ErrorRepeatSize, "invalid repeat count"},
    {RE2::ErrorRepeatOp, "invalid nested repetition operator"},
    {RE2::ErrorBadPerlOp, "invalid or unsupported Perl syntax"},
    {RE2::ErrorBadUTF8, "invalid UTF-8"},
    {RE2::ErrorBadNamedCapture, "invalid named capture"},
    {RE2::ErrorPatternTooLarge, "expression too large"},
};

const char *code_text_of(RE2::ErrorCode code)
{
    for (const code_text &row : code_texts)
        if (row.code == code)
            return row.text;
    return "regexp/syntax: internal error";
}

struct failure {
    const char *text = nullptr; /* NULL: none */
    std::string argument;
};

/* A byte within a code point. */
bool is_inner(char c)
{
    return (c & 0xc0) == 0x80;
}

/* Length of the code point at pos; a malformed byte counts alone. */
size_t step_at(struct str text, size_t pos)
{
    size_t n = 1;
    while (pos + n < text.n && is_inner(text.p[pos + n]))
        n++;
    return n;
}

/* Long names of Unicode's categories, which Go knows and RE2 does not. */
const struct {
    const char *name, *category;
} categories[] = {
    {"Closepunctuation", "Pe"},
    {"Cntrl", "Cc"},
    {"Combiningmark", "M"},
    {"Connectorpunctuation", "Pc"},
    {"Control", "Cc"},
    {"Currencysymbol", "Sc"},
    {"Dashpunctuation", "Pd"},
    {"Decimalnumber", "Nd"},
    {"Digit", "Nd"},
    {"Enclosingmark", "Me"},
    {"Finalpunctuation", "Pf"},
    {"Format", "Cf"},
    {"Initialpunctuation", "Pi"},
    {"Letter", "L"},
    {"Letternumber", "Nl"},
    {"Lineseparator", "Zl"},
    {"Lowercaseletter", "Ll"},
    {"Mark", "M"},
    {"Mathsymbol", "Sm"},
    {"Modifierletter", "Lm"},
    {"Modifiersymbol", "Sk"},
    {"Nonspacingmark", "Mn"},
    {"Number", "N"},
    {"Openpunctuation", "Ps"},
    {"Other", "C"},
    {"Otherletter", "Lo"},
    {"Othernumber", "No"},
    {"Otherpunctuation", "Po"},
    {"Othersymbol", "So"},
    {"Paragraphseparator", "Zp"},
    {"Privateuse", "Co"},
    {"Punct", "P"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Spaceseparator", "Zs"},
    {"Spacingmark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecaseletter", "Lt"},
    {"Uppercaseletter", "Lu"},
};

/* A name of a category or a script as Go looks it up: case, spaces, dashes and
 * underscores do not matter. */
std::string canonical(const std::string &name)
{
    std::string s;
    for (unsigned char c : name) {
        if (c == '_' || c == '-' || c == ' ')
            continue;
        s += static_cast<char>(c >= 0x80 ? c : s.empty() ? toupper(c) : tolower(c));
    }
    return s;
}

bool is_property(const std::string &name)
{
    return RE2("\\p{" + name + "}", RE2::Quiet).ok();
}

/* What RE2 calls a property that it does not know by this name; empty if there is none.
 */
std::string other_name(const std::string &name)
{
    std::string wanted = canonical(name);
    for (const auto &row : categories)
        if (wanted == row.name)
            return row.category;
    return wanted == name || is_property(name) || !is_property(wanted) ? "" : wanted;
}

/* Copies a pattern, settling what RE2 would take otherwise than Go. */
class rewriter
{
  public:
    explicit rewriter(const std::string &pattern) : in(pattern)
    {
    }

    void run()
    {
        while (at < in.size() && !bad.text)
            step();
    }

    std::string out;
    failure bad;         /* out is then the pattern up to it */
    size_t class_at = 0; /* where the last class starts */

  private:
    const std::string &in;
    size_t at = 0;
    int depth = 0;
    bool in_class = false;

    bool sees(const char *text) const
    {
        return in.compare(at, strlen(text), text) == 0;
    }

    void take(size_t n)
    {
        out.append(in, at, n);
        at += n;
        if (at > in.size())
            at = in.size();
    }

    void fail(const char *text, const std::string &argument)
    {
        bad.text = text;
        bad.argument = argument;
    }

    void step()
    {
        switch (in[at]) {
        case '\\':
            escape();
            break;
        case '[':
            klass();
            break;
        case '(':
            group();
            break;
        case ')':
            depth--;
            take(1);
            break;
        case '{':
            count();
            break;
        default:
            take(1);
        }
    }

    void escape()
    {
        if (sees("\\Q")) {
            size_t end = in.find("\\E", at + 2);
            take(end == std::string::npos ? in.size() - at : end + 2 - at);
        } else if (sees("\\C")) {
            fail(code_text_of(RE2::ErrorBadEscape), "\\C");
        } else {
            property_or_char();
        }
    }

    /* \p{...} and \x{...} as one piece, any other escape with the byte behind it. */
    void property_or_char()
    {
        bool property = sees("\\p{") || sees("\\P{");
        if (!property && !sees("\\x{")) {
            take(2);
            return;
        }
        size_t end = in.find('}', at);
        if (end == std::string::npos)
            take(in.size() - at);
        else if (property)
            take_property(end);
        else
            take(end + 1 - at);
    }

    /* \p{name}, \P{name}, \p{^name} */
    void take_property(size_t end)
    {
        bool inverted = in.compare(at + 3, 1, "^") == 0;
        bool negated = inverted != (in[at + 1] == 'P');
        size_t start = at + 3 + inverted;
        std::string name = in.substr(start, end - start), other = other_name(name);
        if (canonical(name) == "Ascii") {
            std::string ascii = negated ? "[:^ascii:]" : "[:ascii:]";
            out += in_class ? ascii : "[" + ascii + "]";
            at = end + 1;
        } else if (!other.empty()) {
            take(start - at);
            out += other + "}";
            at = end + 1;
        } else {
            take(end + 1 - at);
        }
    }

    void klass()
    {
        class_at = at;
        in_class = true;
        take(1);
        if (sees("^"))
            take(1);
        if (sees("]"))
            take(1);
        while (at < in.size() && in[at] != ']')
            class_item();
        if (at < in.size())
            take(1);
        in_class = false;
    }

    void class_item()
    {
        size_t end = sees("[:") ? in.find(":]", at + 2) : std::string::npos;
        if (end != std::string::npos)
            take(end + 2 - at);
        else if (in[at] == '\\')
            property_or_char();
        else
            take(1);
    }

    void group()
    {
        if (++depth > max_depth) {
            fail("expression nests too deeply", in);
            return;
        }
        size_t name = sees("(?P<") ? at + 4 : sees("(?<") ? at + 3 : 0;
        if (name != 0 && name < in.size())
            named_group(name);
        else if (sees("(?"))
            flags();
        else
            take(1);
    }

    /* "(?is:" up to the first character that is no flag. */
    void flags()
    {
        take(2);
        while (at < in.size() && in[at] && strchr("imsU-", in[at]))
            take(1);
        if (at < in.size())
            take(step_at({in.data(), in.size()}, at));
    }

    void named_group(size_t name)
    {
        size_t end = in.find('>', name);
        if (end == std::string::npos) {
            fail(code_text_of(RE2::ErrorBadNamedCapture), in.substr(at));
        } else if (!is_name(in.substr(name, end - name))) {
            fail(code_text_of(RE2::ErrorBadNamedCapture), in.substr(at, end + 1 - at));
        } else {
            out += "(?:";
            at = end + 1;
        }
    }

    /* {n}, {n,} or {n,m} with numbers Go refuses: RE2 has another text then. Anything
     * else is left to RE2. */
    void count()
    {
        size_t i = at + 1;
        int min = number(&i), max = min;
        if (min >= 0 && i < in.size() && in[i] == ',') {
            i++;
            max = i < in.size() && in[i] == '}' ? max_count : number(&i);
        }
        bool is_count = min >= 0 && max >= 0 && i < in.size() && in[i] == '}';
        if (is_count && (min > max || max > max_count))
            fail(code_text_of(RE2::ErrorRepeatSize), in.substr(at, i + 1 - at));
        else
            take(1);
    }

    /* Digits without leading zero, capped; -1 if there is none. */
    int number(size_t *i) const
    {
        size_t start = *i;
        int n = 0;
        for (; *i < in.size() && in[*i] >= '0' && in[*i] <= '9'; ++*i)
            n = n > max_count ? n : n * 10 + (in[*i] - '0');
        bool none = *i == start || (in[start] == '0' && *i > start + 1);
        return none ? -1 : n;
    }

    static bool is_name(const std::string &s)
    {
        for (char c : s)
            if (c != '_' && (static_cast<unsigned char>(c) >= 0x80 || !isalnum(c)))
                return false;
        return !s.empty();
    }
};

std::unique_ptr<RE2> compile(const std::string &pattern)
{
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(memory_small);
    auto re = std::make_unique<RE2>(pattern, options);
    if (re->error_code() != RE2::ErrorPatternTooLarge)
        return re;
    options.set_max_mem(memory_large);
    return std::make_unique<RE2>(pattern, options);
}

/* In the words of the pattern as given. */
failure failure_of(const RE2 &re, const std::string &given, size_t class_at)
{
    failure f;
    f.text = code_text_of(re.error_code());
    if (re.error_code() == RE2::ErrorMissingBracket) {
        f.argument = given.substr(class_at);
        return f;
    }
    bool whole = re.error_code() == RE2::ErrorMissingParen ||
                 re.error_code() == RE2::ErrorUnexpectedParen ||
                 re.error_code() == RE2::ErrorPatternTooLarge;
    f.argument = whole ? given : re.error_arg();
    return f;
}

/* The automaton, or NULL and why. An error of the text before a refused construct comes
 * first, but for groups that are still open there. */
std::unique_ptr<RE2> translate(const std::string &given, failure *f)
{
    rewriter rw(given);
    rw.run();
    auto re = compile(rw.out);
    if (re->ok() && !rw.bad.text)
        return re;
    bool open = re->ok() || re->error_code() == RE2::ErrorMissingParen;
    *f = rw.bad.text && open ? rw.bad : failure_of(*re, given, rw.class_at);
    return nullptr;
}

plain_kind plain_kind_of(struct str pattern, struct str *plain)
{
    bool start = pattern.n && pattern.p[0] == '^';
    bool end = pattern.n > start && pattern.p[pattern.n - 1] == '$';
    *plain = str_sub(pattern, start, pattern.n - end);
    for (size_t i = 0; i < plain->n; i++)
        if (strchr("\\.+*?()|[]{}^$", plain->p[i])) /* and NUL, which RE2 may have */
            return PLAIN_NONE;
    static const plain_kind kinds[] = {PLAIN_CONTAINS, PLAIN_SUFFIX, PLAIN_PREFIX,
                                       PLAIN_EQUAL};
    return kinds[start * 2 + end];
}

/* Offset of the first match at or after from, or SIZE_MAX. */
size_t plain_find(const cel_regex *re, struct str text, size_t from)
{
    struct str want = {re->plain.data(), re->plain.size()};
    struct str rest = {text.p + from, text.n - from};
    switch (re->kind) {
    case PLAIN_PREFIX:
        return from == 0 && str_starts(text, want) ? 0 : SIZE_MAX;
    case PLAIN_EQUAL:
        return from == 0 && str_eq(text, want) ? 0 : SIZE_MAX;
    case PLAIN_SUFFIX:
        return str_ends(rest, want) ? text.n - want.n : SIZE_MAX;
    default:
        size_t hit = str_find(rest, want);
        return hit == SIZE_MAX ? SIZE_MAX : from + hit;
    }
}

std::string string_of(struct str s)
{
    return std::string(s.p ? s.p : "", s.n);
}

/* Matches are told from the start of the text, so that an empty one needs an address. */
struct str addressed(struct str s)
{
    return s.p ? s : str{"", 0};
}

re2::StringPiece piece(struct str s)
{
    return re2::StringPiece(s.p, s.n);
}

} // namespace

struct cel_regex *cel_regex_new(struct str pattern, struct err *e)
{
    struct str plain;
    plain_kind kind = plain_kind_of(pattern, &plain);
    if (kind != PLAIN_NONE)
        return new cel_regex{kind, string_of(plain), nullptr, false};
    failure f;
    auto re = translate(string_of(pattern), &f);
    bool splits = str_find(pattern, {"\\B", 2}) != SIZE_MAX;
    if (re)
        return new cel_regex{PLAIN_NONE, std::string(), std::move(re), splits};
    err_set(e, ERR_INVALID, "error parsing regexp: %s: `%s`", f.text, f.argument.c_str());
    return nullptr;
}

void cel_regex_free(struct cel_regex *re)
{
    delete re;
}

bool cel_regex_check(struct str pattern, struct err *e)
{
    struct cel_regex *re = cel_regex_new(pattern, e);
    cel_regex_free(re);
    return re != nullptr;
}

bool cel_regex_match(const struct cel_regex *re, struct str text)
{
    struct str any;
    text = addressed(text);
    if (re->kind != PLAIN_NONE)
        return plain_find(re, text, 0) != SIZE_MAX;
    if (re->splits)
        return cel_regex_find(re, text, 0, &any);
    return re->re->Match(piece(text), 0, text.n, RE2::UNANCHORED, nullptr, 0);
}

bool cel_regex_find(const struct cel_regex *re, struct str text, size_t from,
                    struct str *match)
{
    text = addressed(text);
    if (re->kind != PLAIN_NONE) {
        size_t hit = plain_find(re, text, from);
        if (hit == SIZE_MAX)
            return false;
        *match = {text.p + hit, re->plain.size()};
        return true;
    }
    re2::StringPiece found;
    while (re->re->Match(piece(text), from, text.n, RE2::UNANCHORED, &found, 1)) {
        from = found.data() - text.p;
        if (!re->splits || from == text.n || !is_inner(text.p[from])) {
            *match = {found.data(), found.size()};
            return true;
        }
        from += step_at(text, from);
    }
    return false;
}

bool cel_regex_next(struct cel_regex_iter *it, struct str *match)
{
    it->text = addressed(it->text);
    while (!it->done && it->pos <= it->text.n) {
        struct str m;
        if (!cel_regex_find(it->re, it->text, it->pos, &m))
            break;
        size_t start = (size_t)(m.p - it->text.p);
        size_t end = start + m.n;
        bool empty_at_pos = end == it->pos;
        bool accept = !(empty_at_pos && it->previous == start + 1);
        it->pos = empty_at_pos ? it->pos + step_at(it->text, it->pos) : end;
        it->previous = end + 1;
        if (accept) {
            *match = m;
            return true;
        }
    }
    it->done = true;
    return false;
}
