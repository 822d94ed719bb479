/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "doc/json.h"
#include "doc/source.h"

enum { STRING_BLOCK = 16 << 10 };

/* ---- Errors ---- */

#define fail(r, pos, ...) source_fail((r)->src, (pos), (r)->err, __VA_ARGS__)

static uint32_t text_end(const struct json_reader *r)
{
    return (uint32_t)r->src->text.n;
}

static bool at_end(const struct json_reader *r)
{
    return r->state != JSON_INDEX_OK;
}

/* Of the next token, or the end of the text. */
static uint32_t next_pos(const struct json_reader *r)
{
    return at_end(r) ? text_end(r) : r->index.at[r->next];
}
/* Stage one saw an unclosed string or a control character in one; finds which. The text
 * up to there may hold any bytes. */
static bool fail_string(struct json_reader *r)
{
    struct str t = r->src->text;
    size_t open = SIZE_MAX;
    for (size_t i = 0; i < t.n; i++) {
        unsigned char c = (unsigned char)t.p[i];
        if (c == '"')
            open = open == SIZE_MAX ? i : SIZE_MAX;
        else if (open == SIZE_MAX)
            continue;
        else if (c < 0x20)
            return fail(r, (uint32_t)i,
                        "a string holds the control character U+%04X; write it as "
                        "\\u%04x",
                        c, c);
        else if (c == '\\')
            i++;
    }
    return fail(r, open == SIZE_MAX ? (uint32_t)t.n : (uint32_t)open,
                "a string has no closing quote");
}

/* Why there is no index. */
static bool fail_index(struct json_reader *r)
{
    switch (r->state) {
    case JSON_INDEX_OK:
        return true;
    case JSON_INDEX_EMPTY:
        return fail(r, text_end(r), "there is no JSON value in it");
    case JSON_INDEX_BAD_STRING:
        return fail_string(r);
    case JSON_INDEX_NO_MEMORY:
        break;
    }
    return err_set(r->err, ERR_LIMIT, "%s: too little memory for a text of %zu bytes",
                   r->src->name, r->src->text.n);
}

static bool fail_expected(struct json_reader *r, const char *what)
{
    char seen[SOURCE_QUOTE_ROOM];
    uint32_t pos = next_pos(r);
    if (json_reader_done(r))
        return fail(r, pos, "the JSON ends where %s should be", what);
    if (at_end(r))
        return fail_index(r);
    return fail(r, pos, "found %s where %s should be", source_quote(r->src, pos, seen),
                what);
}

/* ---- Strings ---- */

static char *string_room(struct json_reader *r, size_t need)
{
    if ((size_t)(r->bytes_end - r->bytes) < need) {
        size_t left = text_end(r) - r->last + 16;
        size_t block = left < STRING_BLOCK ? left : STRING_BLOCK;
        if (need > block / 4)
            return arena_alloc(r->build->arena, need);
        r->bytes = arena_alloc(r->build->arena, block);
        r->bytes_end = r->bytes + block;
    }
    return r->bytes;
}

static void string_done(struct json_reader *r, char *end)
{
    /* A long string got memory of its own. */
    if (end >= r->bytes && end <= r->bytes_end)
        r->bytes = end;
}

static uint64_t load8(const char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

#define EACH_BYTE(b) (0x0101010101010101u * (uint64_t)(b))

/* High bit set in each zero byte; above the lowest of these there may be false ones. */
static uint64_t zero_bytes(uint64_t w)
{
    return (w - EACH_BYTE(1)) & ~w & EACH_BYTE(0x80);
}

/* Offset of the first quote or backslash from i on. Stage one made sure of a quote. */
static size_t plain_end(struct str t, size_t i)
{
    for (; i + 8 <= t.n; i += 8) {
        uint64_t w = load8(t.p + i);
        uint64_t hit = zero_bytes(w ^ EACH_BYTE('"')) | zero_bytes(w ^ EACH_BYTE('\\'));
        if (hit)
            return i + (size_t)__builtin_ctzll(hit) / 8;
    }
    while (t.p[i] != '"' && t.p[i] != '\\')
        i++;
    return i;
}

/* The four digits of a \u escape; -1 when they are not there. */
static int32_t hex4(struct str t, size_t i)
{
    int32_t v = 0;
    if (i + 4 > t.n)
        return -1;
    for (size_t k = i; k < i + 4; k++) {
        int d = str_hex_digit(t.p[k]);
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* A \u escape at *i, just behind its u. Halves of a pair join; a half alone becomes
 * U+FFFD, as in encoding/json. */
static bool read_unicode(struct str t, size_t *i, uint32_t *cp)
{
    int32_t hi = hex4(t, *i);
    if (hi < 0)
        return false;
    *i += 4;
    *cp = (uint32_t)hi;
    if (hi < 0xd800 || hi > 0xdfff)
        return true;
    *cp = 0xfffd;
    if (hi <= 0xdbff && *i + 1 < t.n && t.p[*i] == '\\' && t.p[*i + 1] == 'u') {
        int32_t lo = hex4(t, *i + 2);
        if (lo >= 0xdc00 && lo <= 0xdfff) {
            *cp = 0x10000 + ((uint32_t)(hi - 0xd800) << 10) + (uint32_t)(lo - 0xdc00);
            *i += 6;
        }
    }
    return true;
}

/* One escape at *i, just behind its backslash, written to *to. */
static bool read_escape(struct json_reader *r, size_t *i, char **to)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    struct str t = r->src->text;
    char c = t.p[*i];
    if (c == 'u') {
        uint32_t cp;
        ++*i;
        if (!read_unicode(t, i, &cp))
            return fail(r, (uint32_t)*i - 2, "\\u needs four hexadecimal digits");
        *to += utf8_encode(cp, *to);
        return true;
    }
    for (const char *p = plain; *p; p += 2)
        if (*p == c) {
            *(*to)++ = p[1];
            ++*i;
            return true;
        }
    return fail(r, (uint32_t)*i - 1, "\\%c is no escape of JSON",
                c >= 0x20 && c < 0x7f ? c : '?');
}

/* A byte that is not ASCII at *i: its character is copied, or U+FFFD put for the byte. */
static void copy_character(struct str t, size_t *i, char **to)
{
    uint32_t cp;
    unsigned len = utf8_decode(t, *i, &cp);
    if (len == 0) {
        memcpy(*to, "\xef\xbf\xbd", 3);
        *to += 3;
        ++*i;
        return;
    }
    memcpy(*to, t.p + *i, len);
    *to += len;
    *i += len;
}

/* Offset of the quote that closes the string. */
static size_t closing_quote(struct str t, size_t i)
{
    while (t.p[i] != '"')
        i += t.p[i] == '\\' ? 2 : 1;
    return i;
}

/* The string whose opening quote is at pos, escapes and wrong bytes included. */
static bool read_string_slow(struct json_reader *r, uint32_t pos, struct str *out)
{
    struct str t = r->src->text;
    size_t i = pos + 1, raw = closing_quote(t, i) - i;
    /* An invalid byte becomes three, no escape grows. */
    char *start = string_room(r, raw * (r->index.bad_utf8 ? 3 : 1) + 1), *to = start;
    while (t.p[i] != '"') {
        if (t.p[i] == '\\') {
            i++;
            if (!read_escape(r, &i, &to))
                return false;
        } else if ((unsigned char)t.p[i] >= 0x80) {
            copy_character(t, &i, &to);
        } else {
            *to++ = t.p[i++];
        }
    }
    *to = '\0';
    *out = (struct str){start, (size_t)(to - start)};
    string_done(r, to + 1);
    return true;
}

static bool read_string(struct json_reader *r, uint32_t pos, struct str *out)
{
    struct str t = r->src->text;
    size_t end = plain_end(t, pos + 1);
    if (t.p[end] == '\\' || r->index.bad_utf8)
        return read_string_slow(r, pos, out);
    size_t n = end - pos - 1;
    char *s = string_room(r, n + 1);
    memcpy(s, t.p + pos + 1, n);
    s[n] = '\0';
    string_done(r, s + n + 1);
    *out = (struct str){s, n};
    return true;
}

/* ---- Keys ---- */

/* The first and the last eight bytes of a key: all of it up to sixteen. A shorter one
 * than eight is its first. Bytes behind it may be read, but not behind the text. */
static void key_words(struct str t, size_t i, size_t n, struct json_key *k)
{
    k->n = (uint32_t)n;
    k->last = 0;
    if (n >= 8) {
        k->first = load8(t.p + i);
        k->last = load8(t.p + i + n - 8);
    } else if (i + 8 <= t.n) {
        k->first = load8(t.p + i) & (((uint64_t)1 << n * 8) - 1);
    } else {
        k->first = 0;
        for (size_t b = 0; b < n; b++)
            k->first |= (uint64_t)(unsigned char)t.p[i + b] << b * 8;
    }
}

static uint32_t key_slot(const struct json_key *k)
{
    uint64_t h = (k->first ^ k->n) * 0x9fb21c651e98df25u + k->last * 0x9e3779b97f4a7c15u;
    return (uint32_t)((h ^ h >> 32) * 0x9fb21c651e98df25u >> 40) % JSON_KEYS;
}

static bool same_key(const struct json_key *a, const struct json_key *b, const char *text)
{
    return a->n == b->n && a->first == b->first && a->last == b->last &&
           (a->n <= 16 || memcmp(a->p, text, a->n) == 0);
}

/* Whether the key stands at p, from where room bytes may be read. */
static inline bool is_key(const struct json_key *k, const char *p, size_t room)
{
    if (k->n >= 8)
        return load8(p) == k->first && load8(p + k->n - 8) == k->last &&
               (k->n <= 16 || memcmp(k->p, p, k->n) == 0);
    if (k->n == 0 || room < 8)
        return memcmp(k->p, p, k->n) == 0;
    return (load8(p) ^ k->first) << (8 - k->n) * 8 == 0;
}

static bool is_guess(const struct json_reader *r, const struct json_key *k, uint32_t pos)
{
    struct str t = r->src->text;
    size_t end = k ? pos + 1 + (size_t)k->n : t.n;
    return end < t.n && t.p[end] == '"' && is_key(k, t.p + pos + 1, t.n - pos - 1);
}

/* The key at pos, in the place of one with the same hash if there was one; NULL: there is
 * no room for it. It is plain, so it can be read. */
static struct json_key *share_key(struct json_reader *r, uint32_t pos,
                                  const struct json_key *want)
{
    uint8_t *place = &r->places[key_slot(want)];
    struct str copy = STR_NONE;
    if (*place && same_key(&r->keys[*place - 1], want, r->src->text.p + pos + 1))
        return &r->keys[*place - 1];
    if (!*place && r->nkeys == JSON_KEYS - 1)
        return NULL;
    if (!*place)
        *place = (uint8_t)++r->nkeys;
    struct json_key *k = &r->keys[*place - 1];
    read_string(r, pos, &copy);
    *k = *want;
    k->p = copy.p;
    return k;
}

/* NULL on failure, or if the key cannot be shared; then *alone is it. */
static struct json_key *find_key(struct json_reader *r, uint32_t pos, struct str *alone)
{
    struct str t = r->src->text;
    size_t end = plain_end(t, pos + 1);
    *alone = STR_NONE;
    if (t.p[end] == '\\' || r->index.bad_utf8) {
        read_string_slow(r, pos, alone);
        return NULL;
    }
    struct json_key want = {0};
    key_words(t, pos + 1, end - pos - 1, &want);
    struct json_key *k = share_key(r, pos, &want);
    if (!k)
        read_string(r, pos, alone);
    return k;
}

/* At *guess is what the key may be, and what it was. */
static bool read_key(struct json_reader *r, struct json_key **guess, struct str *key,
                     uint32_t *pos)
{
    if (json_reader_peek(r) != '"')
        return fail_expected(r, "a key in double quotes");
    *pos = json_reader_take(r);
    struct str alone = STR_NONE;
    if (!is_guess(r, *guess, *pos))
        *guess = find_key(r, *pos, &alone);
    r->key = *guess;
    *key = r->key ? (struct str){r->key->p, r->key->n} : alone;
    if (!key->p)
        return false;
    if (json_reader_peek(r) != ':')
        return fail_expected(r, "the colon behind a key");
    json_reader_take(r);
    return true;
}

bool json_reader_key(struct json_reader *r, struct str *key, uint32_t *pos)
{
    struct json_key *guess = NULL;
    return read_key(r, &guess, key, pos);
}

/* ---- Scalars ---- */

static size_t digits_len(struct str s, size_t i)
{
    size_t from = i;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    return i - from;
}

size_t json_number_len(struct str s)
{
    size_t i = s.n && s.p[0] == '-', n = digits_len(s, i);
    if (n == 0 || (n > 1 && s.p[i] == '0'))
        return 0;
    i += n;
    if (i < s.n && s.p[i] == '.') {
        n = digits_len(s, i + 1);
        if (n == 0)
            return 0;
        i += 1 + n;
    }
    if (i < s.n && (s.p[i] | 0x20) == 'e') {
        i++;
        i += i < s.n && (s.p[i] == '+' || s.p[i] == '-');
        n = digits_len(s, i);
        if (n == 0)
            return 0;
        i += n;
    }
    return i;
}

/* Whether a scalar that looks right up to end really ends there. */
static bool ends_token(const struct json_reader *r, size_t end)
{
    if (end >= next_pos(r))
        return true;
    char c = r->src->text.p[end];
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool fail_scalar(struct json_reader *r, uint32_t pos)
{
    char seen[SOURCE_QUOTE_ROOM];
    return fail(r, pos, "%s is no value of JSON", source_quote(r->src, pos, seen));
}

static bool read_number(struct json_reader *r, uint32_t pos, struct doc *out)
{
    struct str rest = str_sub(r->src->text, pos, r->src->text.n);
    size_t n = json_number_len(rest);
    if (n == 0 || !ends_token(r, pos + n))
        return fail_scalar(r, pos);
    char *s = string_room(r, n + 1);
    memcpy(s, rest.p, n);
    s[n] = '\0';
    string_done(r, s + n + 1);
    *out = (struct doc){.type = DOC_NUMBER, .n = (uint32_t)n, .pos = pos, .s = s};
    return true;
}

static bool read_word(struct json_reader *r, uint32_t pos, struct doc *out)
{
    static const struct {
        struct str text;
        struct doc value;
    } words[] = {
        {{"true", 4}, {.type = DOC_BOOL, .b = true}},
        {{"false", 5}, {.type = DOC_BOOL, .b = false}},
        {{"null", 4}, {.type = DOC_NULL}},
    };
    struct str rest = str_sub(r->src->text, pos, r->src->text.n);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_starts(rest, words[i].text) && ends_token(r, pos + words[i].text.n)) {
            *out = words[i].value;
            out->pos = pos;
            return true;
        }
    return fail_scalar(r, pos);
}

/* ---- Lists and maps ---- */

static bool read_value(struct json_reader *r, const struct build_frame *up,
                       struct doc *out);

bool json_reader_more(struct json_reader *r, char closing, bool *more)
{
    char c = json_reader_peek(r);
    if (c != ',' && c != closing)
        return fail_expected(r, closing == ']' ? "a comma or ]" : "a comma or }");
    json_reader_take(r);
    *more = c == ',';
    return true;
}

static bool read_members(struct json_reader *r, const struct build_frame *up)
{
    struct doc_member m;
    struct build_frame here = build_frame(up, &m);
    struct json_key *none = NULL, **guess = r->key ? &r->key->inside : &none;
    bool more = true;
    while (more) {
        struct str key = STR_NONE;
        if (!read_key(r, guess, &key, &m.key_pos))
            return false;
        guess = r->key ? &r->key->then : &none;
        m.key = key.p;
        m.key_len = (uint32_t)key.n;
        if (!read_value(r, &here, &m.value) || !json_reader_more(r, '}', &more))
            return false;
        build_push(r->build, &m);
    }
    return true;
}

static bool read_map(struct json_reader *r, const struct build_frame *up, struct doc *out)
{
    size_t from = r->build->npending;
    uint32_t pos = r->last;
    if (json_reader_peek(r) == '}')
        json_reader_take(r);
    else if (!read_members(r, up))
        return false;
    *out = build_map(r->build, from, pos, up);
    return true;
}

static bool read_items(struct json_reader *r, const struct build_frame *up)
{
    struct doc_member m = {0};
    struct build_frame here = build_frame(up, NULL);
    struct json_key *key = r->key;
    bool more = true;
    for (; more; here.index++) {
        r->key = key;
        if (!read_value(r, &here, &m.value) || !json_reader_more(r, ']', &more))
            return false;
        build_push(r->build, &m);
    }
    return true;
}

static bool read_list(struct json_reader *r, const struct build_frame *up,
                      struct doc *out)
{
    size_t from = r->build->npending;
    uint32_t pos = r->last;
    if (json_reader_peek(r) == ']')
        json_reader_take(r);
    else if (!read_items(r, up))
        return false;
    *out = build_list(r->build, from, pos);
    return true;
}

static bool read_value(struct json_reader *r, const struct build_frame *up,
                       struct doc *out)
{
    char c = json_reader_peek(r);
    uint32_t pos = next_pos(r);
    struct str s;
    if (at_end(r) || c == ']' || c == '}' || c == ':' || c == ',')
        return fail_expected(r, "a value");
    if ((c == '{' || c == '[') && up && up->depth >= DOC_MAX_DEPTH)
        return fail(r, pos, "lists and maps are nested more than %d deep", DOC_MAX_DEPTH);
    json_reader_take(r);
    switch (c) {
    case '{':
        return read_map(r, up, out);
    case '[':
        return read_list(r, up, out);
    case '"':
        if (!read_string(r, pos, &s))
            return false;
        *out = (struct doc){.type = DOC_STRING,
                            .style = DOC_DOUBLE_QUOTED,
                            .n = (uint32_t)s.n,
                            .pos = pos,
                            .s = s.p};
        return true;
    case '-':
    case '0' ... '9':
        return read_number(r, pos, out);
    default:
        return read_word(r, pos, out);
    }
}

/* ---- The reader ---- */

bool json_reader_init(struct json_reader *r, const struct doc_source *src,
                      struct build *b, struct err *e)
{
    memset(r, 0, offsetof(struct json_reader, places));
    r->src = src;
    r->build = b;
    r->err = e;
    if (!source_check_size(src, e))
        return false;
    r->state = json_index_init(&r->index, src->text.p, src->text.n);
    if (fail_index(r))
        return true;
    json_reader_fini(r);
    return false;
}

void json_reader_fini(struct json_reader *r)
{
    json_index_fini(&r->index);
}

void json_reader_move(struct json_reader *r, uint32_t from)
{
    r->state = json_index_move(&r->index, from);
    r->next = 0;
    if (r->src->passed)
        r->src->passed(r->src->passed_ctx, r->index.from);
}

struct json_mark json_reader_mark(const struct json_reader *r)
{
    return (struct json_mark){r->index.from, r->next, r->last};
}

void json_reader_back(struct json_reader *r, struct json_mark m)
{
    if (r->index.from != m.from || at_end(r))
        json_reader_move(r, m.from);
    r->next = m.next;
    r->last = m.last;
}

void json_reader_begin(struct json_reader *r)
{
    r->bytes = r->bytes_end = NULL;
    r->key = NULL;
    r->nkeys = 0;
    memset(r->places, 0, sizeof r->places);
}

bool json_reader_value(struct json_reader *r, struct doc *out)
{
    return read_value(r, NULL, out);
}

void json_reader_skip(struct json_reader *r)
{
    const char *t = r->src->text.p;
    size_t depth = 0;
    while (!at_end(r)) {
        char c = t[json_reader_take(r)];
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth)
            depth--;
        if (depth == 0)
            return;
    }
}

static bool read_one(struct json_reader *r, struct doc *out)
{
    if (!json_reader_value(r, out))
        return false;
    if (json_reader_done(r))
        return true;
    char seen[SOURCE_QUOTE_ROOM];
    return fail(r, next_pos(r), "found %s behind the end of the JSON value",
                source_quote(r->src, next_pos(r), seen));
}

static bool read_whole(struct doc_source *src, struct build *b, struct doc *out,
                       struct err *e)
{
    struct json_reader r;
    if (!json_reader_init(&r, src, b, e))
        return false;
    json_reader_begin(&r);
    bool ok = read_one(&r, out);
    json_reader_fini(&r);
    return ok;
}

bool doc_read_json(struct doc_source *src, struct arena *a, struct doc *out,
                   struct err *e)
{
    struct build b;
    struct doc d;
    build_init(&b);
    build_begin(&b, a);
    bool ok = read_whole(src, &b, &d, e);
    if (ok) {
        build_dups(&b, src);
        *out = d;
    }
    build_fini(&b);
    return ok;
}
