/* SPDX-License-Identifier: Apache-2.0 */
#include "api/hints.h"

#include <strings.h>

/* ---- near names ---- */

enum { LONGEST = 64 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Letters to change, drop or add to make one of the other, upper and lower case alike. */
static unsigned distance(struct str a, struct str b)
{
    unsigned row[LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return UINT32_MAX;
    for (size_t k = 0; k <= b.n; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b.n; k++) {
            unsigned change = diagonal + ((a.p[i - 1] | 32) != (b.p[k - 1] | 32));
            diagonal = row[k];
            row[k] = min3(change, row[k] + 1, row[k - 1] + 1);
        }
    }
    return row[b.n];
}

struct hint_nearest hint_nearest_to(struct str wanted)
{
    unsigned limit = wanted.n < 4 ? 2 : wanted.n < 8 ? 3 : 4;
    return (struct hint_nearest){wanted, STR_NONE, limit};
}

void hint_nearest_try(struct hint_nearest *n, struct str name)
{
    unsigned d = distance(n->wanted, name);
    bool begins = n->wanted.n >= 4 && str_starts(name, n->wanted);
    if (begins && d > 2)
        d = 2;
    if (d < n->distance && d < name.n) {
        n->distance = d;
        n->name = name;
    }
}

/* ---- unknown fields ---- */

static struct str last_name(struct str path)
{
    size_t dot = str_rfind_byte(path, '.');
    return str_sub(path, dot == SIZE_MAX ? 0 : dot + 1, SIZE_MAX);
}

static struct str parent_path(struct str path)
{
    struct str name = last_name(path);
    return str_sub(path, 0, path.n > name.n ? path.n - name.n - 1 : 0);
}

static struct str join(struct arena *a, struct str path, struct str name)
{
    return arena_printf(a, "%.*s%s%.*s", STR_ARG(path), path.n ? "." : "", STR_ARG(name));
}

/* Fields that structs below t have, the nearest level first: "exactly", "devices". */
static struct str below(const struct api_type *t, struct str name, unsigned depth,
                        struct arena *a)
{
    for (uint16_t i = 0; i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        bool one = f->container == API_ONE, list = f->container == API_LIST;
        if (f->form == API_STRUCT && (one || list) && api_field_find(f->type, name))
            return arena_printf(a, "%s%s", f->name, list ? "[]" : "");
    }
    for (uint16_t i = 0; depth > 1 && i < t->nfields; i++) {
        const struct api_field *f = &t->fields[i];
        if (f->form != API_STRUCT || f->container > API_LIST || str_is(name, f->name))
            continue;
        struct str rest = below(f->type, name, depth - 1, a);
        if (rest.n)
            return arena_printf(a, "%s%s.%.*s", f->name,
                                f->container == API_LIST ? "[]" : "", STR_ARG(rest));
    }
    return STR_NONE;
}

static struct str hint_below(const struct api_issue *x, struct arena *a)
{
    enum { DEEPEST = 3 };
    struct str name = last_name(x->path), parent = parent_path(x->path);
    struct str holder = below(x->in, name, DEEPEST, a);
    /* Metadata has a field for every taste: it is no advice. */
    if (holder.n == 0 || str_starts(holder, STR("metadata")))
        return STR("");
    struct str path = join(a, join(a, parent, holder), name);
    if (str_find(holder, STR("[]")) != SIZE_MAX)
        return arena_printf(a, "%.*s belongs into an item of the list: %.*s",
                            STR_ARG(name), STR_ARG(path));
    return arena_printf(a, "%.*s belongs under \"%.*s\": write %.*s", STR_ARG(name),
                        STR_ARG(holder), STR_ARG(path));
}

/* The type that a path from t leads to, indexes left aside; NULL: none. */
static const struct api_type *type_at(const struct api_type *t, struct str path)
{
    while (path.n && t) {
        size_t dot = str_find_byte(path, '.', 0);
        struct str step = str_sub(path, 0, dot);
        step = str_sub(step, 0, str_find_byte(step, '[', 0));
        const struct api_field *f = api_field_find(t, step);
        t = f && f->form == API_STRUCT ? f->type : NULL;
        path = dot == SIZE_MAX ? STR_NONE : str_sub(path, dot + 1, SIZE_MAX);
    }
    return t;
}

static struct str hint_above(const struct api_issue *x, const struct doc *object,
                             struct arena *a)
{
    struct str name = last_name(x->path), path = parent_path(x->path);
    const struct api_kind *kind =
        api_kind_find(doc_get_text(object, "apiVersion"), doc_get_text(object, "kind"));
    while (kind && kind->type && path.n) {
        path = parent_path(path);
        const struct api_type *t = type_at(kind->type, path);
        if (t && api_field_find(t, name))
            return arena_printf(a, "%.*s stands too deep: write %.*s", STR_ARG(name),
                                STR_ARG(join(a, path, name)));
    }
    return STR("");
}

/* What stands under the unknown field belongs to the struct itself ("basic",
 * "spec.spec"). */
static bool members_fit(const struct api_type *t, const struct doc *value)
{
    if (!value || value->type != DOC_MAP || value->n == 0)
        return false;
    for (uint32_t i = 0; i < value->n; i++)
        if (!api_field_find(t, doc_key(&value->members[i])))
            return false;
    return true;
}

static struct str hint_members(const struct api_issue *x, const struct doc *object,
                               struct arena *a)
{
    struct str parent = parent_path(x->path);
    if (!members_fit(x->in, x->value))
        return STR("");
    return arena_printf(
        a, "in %.*s what stands under \"%.*s\" belongs directly under %.*s",
        STR_ARG(doc_get_text(object, "apiVersion")), STR_ARG(last_name(x->path)),
        STR_ARG(parent.n ? parent : STR("the object")));
}

static struct str near_field(const struct api_type *t, struct str name)
{
    struct hint_nearest near = hint_nearest_to(name);
    for (uint16_t i = 0; i < t->nfields; i++)
        hint_nearest_try(&near, str_from(t->fields[i].name));
    return near.name;
}

static struct str hint_near(const struct api_issue *x, struct arena *a)
{
    struct str name = last_name(x->path), near = near_field(x->in, name);
    if (near.n)
        return arena_printf(a, "did you mean \"%.*s\"?", STR_ARG(near));
    for (uint16_t i = 0; i < x->in->nfields; i++) {
        const struct api_field *f = &x->in->fields[i];
        if (f->form != API_STRUCT || f->container != API_ONE ||
            str_is(STR("metadata"), f->name))
            continue;
        near = near_field(f->type, name);
        if (near.n)
            return arena_printf(a, "did you mean \"%s.%.*s\"?", f->name, STR_ARG(near));
    }
    return STR("");
}

/* attributes: {model: A100}, capacity: {memory: 40Gi}: values are wrapped. */
static struct str hint_wrapped(const struct api_issue *x, struct arena *a)
{
    size_t open = SIZE_MAX, at = 0;
    while ((at = str_find_byte(x->path, '[', at)) != SIZE_MAX)
        open = at++;
    if (!x->value || x->value->type < DOC_BOOL || x->value->type > DOC_STRING ||
        open == SIZE_MAX || !str_ends(x->path, STR("]")))
        return STR("");
    struct str holder = last_name(str_sub(x->path, 0, open));
    struct str name = str_sub(x->path, open + 1, x->path.n - 1);
    struct str value = x->value->type == DOC_BOOL
                           ? (x->value->b ? STR("true") : STR("false"))
                           : doc_str(x->value);
    if (str_is(holder, "capacity") || str_is(holder, "counters"))
        return arena_printf(a, "write %.*s: {value: %.*s}", STR_ARG(name),
                            STR_ARG(value));
    if (!str_is(holder, "attributes"))
        return STR("");
    const char *kind = x->value->type == DOC_BOOL     ? "bool"
                       : x->value->type == DOC_NUMBER ? "int"
                                                      : "string";
    return arena_printf(a, "write %.*s: {%s: %.*s}", STR_ARG(name), kind, STR_ARG(value));
}

/* 40GB, 16gb, 8GiB, 500MB: units as people write them. */
static struct str hint_unit(const struct api_issue *x, struct arena *a)
{
    static const char *const TAILS[] = {"", "b", "i", "ib"};
    struct str s = x->value && x->value->type == DOC_STRING ? doc_str(x->value) : STR("");
    size_t n = 0, tail = 0, ntails = sizeof TAILS / sizeof *TAILS;
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
        n++;
    struct str number = str_sub(s, 0, n);
    while (n < s.n && s.p[n] == ' ')
        n++;
    char letter = n < s.n ? (char)(s.p[n] & ~32) : '\0';
    struct str rest = str_sub(s, n + 1, SIZE_MAX);
    while (tail < ntails && (rest.n != strlen(TAILS[tail]) ||
                             strncasecmp(rest.p, TAILS[tail], rest.n) != 0))
        tail++;
    if (number.n == 0 || !letter || !strchr("KMGTPE", letter) || tail == ntails)
        return STR("");
    if (tail >= 2)
        return arena_printf(a, "write %.*s%ci", STR_ARG(number), letter);
    return arena_printf(a, "write %.*s%ci, or %.*s%c for powers of 1000", STR_ARG(number),
                        letter, STR_ARG(number), letter == 'K' ? 'k' : letter);
}

struct str hint_for_issue(const struct api_issue *x, const struct doc *object,
                          struct arena *a)
{
    if (x->kind == API_DUPLICATE_FIELD)
        return STR("the key is there twice in one map; keep one");
    if (x->kind == API_WRONG_TYPE) {
        struct str wrapped = hint_wrapped(x, a);
        return wrapped.n ? wrapped : hint_unit(x, a);
    }
    if (!x->in)
        return STR("");
    struct str hint = hint_below(x, a);
    if (hint.n == 0)
        hint = hint_members(x, object, a);
    if (hint.n == 0)
        hint = hint_above(x, object, a);
    return hint.n ? hint : hint_near(x, a);
}

/* ---- validation ---- */

/* The pod's spec: of the object, or of a workload's template. */
static const struct doc *pod_spec(const struct doc *object)
{
    const struct doc *spec = doc_path(object, "spec.template.spec");
    return spec ? spec : doc_get(object, "spec");
}

static struct str claim_name_hint(const struct api_error *x, const struct doc *object,
                                  struct arena *a)
{
    const struct doc *claims = doc_get(pod_spec(object), "resourceClaims");
    struct strbuf b = STRBUF_INIT;
    struct hint_nearest near = hint_nearest_to(doc_str(x->value));
    for (uint32_t i = 0; claims && claims->type == DOC_LIST && i < claims->n; i++) {
        struct str name = doc_get_text(&claims->items[i], "name");
        hint_nearest_try(&near, name);
        strbuf_addf(&b, "%s\"%.*s\"", i ? ", " : "", STR_ARG(name));
    }
    struct str text =
        near.name.n ? arena_printf(a, "did you mean \"%.*s\"?", STR_ARG(near.name))
        : b.n ? arena_printf(a, "the pod's spec.resourceClaims are %s", strbuf_cstr(&b))
              : STR("add an entry to spec.resourceClaims that names the ResourceClaim or "
                    "template");
    strbuf_release(&b);
    return text;
}

struct str hint_for_error(const struct api_error *x, const struct doc *object,
                          struct arena *a)
{
    if (x->type == API_ERROR_NOT_FOUND &&
        str_find(x->path, STR("resources.claims[")) != SIZE_MAX)
        return claim_name_hint(x, object, a);
    if (x->type == API_ERROR_REQUIRED &&
        str_find(x->path, STR(".requests[")) != SIZE_MAX && str_ends(x->path, STR("]")))
        return STR("say what the request asks for: exactly: {deviceClassName: ...}");
    if ((str_ends(x->path, STR("matchAttribute")) ||
         str_ends(x->path, STR("distinctAttribute"))) &&
        x->value && x->value->type == DOC_STRING &&
        str_find_byte(doc_str(x->value), '/', 0) == SIZE_MAX)
        return STR("write the attribute with its domain: DRIVER/name, or "
                   "resource.kubernetes.io/name for those that all drivers share");
    return STR("");
}

/* ---- versions ---- */

static struct str near_kind(struct str kind)
{
    struct hint_nearest near = hint_nearest_to(kind);
    for (uint32_t i = 0; i < api_nkinds; i++)
        if (!strchr(api_kinds[i].resource, '/'))
            hint_nearest_try(&near, str_from(api_kinds[i].name));
    return near.name;
}

static void add_version(struct strbuf *b, const struct api_kind *k)
{
    strbuf_addf(b, "%s%s%s%s", b->n ? ", " : "", k->group, *k->group ? "/" : "",
                k->version);
}

struct str hint_for_version(struct str api_version, struct str kind, struct arena *a)
{
    size_t slash = str_find_byte(api_version, '/', 0);
    struct str group = slash == SIZE_MAX ? STR("") : str_sub(api_version, 0, slash);
    struct strbuf same = STRBUF_INIT, any = STRBUF_INIT;
    for (uint32_t i = 0; i < api_nkinds; i++) {
        const struct api_kind *k = &api_kinds[i];
        if (!str_is(kind, k->name) || strchr(k->resource, '/'))
            continue;
        add_version(str_is(group, k->group) ? &same : &any, k);
    }
    /* A group that is not Kubernetes' own may have a kind of the same name. */
    struct strbuf *b = same.n ? &same : api_group_known(group) ? &any : NULL;
    struct str text = STR(""), near = STR_NONE;
    if (b && b->n)
        text = arena_printf(a, "Kubernetes 1.37 has %.*s in %s", STR_ARG(kind),
                            strbuf_cstr(b));
    else if (api_group_known(group))
        near = near_kind(kind);
    if (near.n)
        text = arena_printf(a, "did you mean \"%.*s\"?", STR_ARG(near));
    strbuf_release(&same);
    strbuf_release(&any);
    return text;
}
