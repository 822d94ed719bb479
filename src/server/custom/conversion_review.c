/* SPDX-License-Identifier: Apache-2.0 */
/* ConversionReview: what a webhook that converts is sent, and what its answer means. */
#include "api/order.h"
#include "api/validate.h"
#include "base/quote.h"
#include "server/custom/conversion.h"
#include "server/custom/custom.h"

static const char *const VERSIONS[] = {[CONVERSION_V1] = "apiextensions.k8s.io/v1",
                                       [CONVERSION_V1BETA1] =
                                           "apiextensions.k8s.io/v1beta1"};

enum conversion_review conversion_review_version(const struct doc *versions)
{
    uint32_t n = versions && versions->type == DOC_LIST ? versions->n : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (doc_is_string(&versions->items[i], "v1"))
            return CONVERSION_V1;
        if (doc_is_string(&versions->items[i], "v1beta1"))
            return CONVERSION_V1BETA1;
    }
    return CONVERSION_REVIEW_NONE;
}

/* As upstream's client prints it, the empty answer included. */
struct str conversion_question(enum conversion_review version, struct str uid,
                               struct str desired, const struct str *sources, uint32_t n,
                               struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b,
                "{\"kind\":\"ConversionReview\",\"apiVersion\":\"%s\",\"request\":{"
                "\"uid\":\"%.*s\",\"desiredAPIVersion\":\"%.*s\",\"objects\":[",
                VERSIONS[version], STR_ARG(uid), STR_ARG(desired));
    for (uint32_t i = 0; i < n; i++) {
        strbuf_adds(&b, i ? "," : "");
        strbuf_addstr(&b, sources[i]);
    }
    strbuf_adds(&b, "]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":{"
                    "\"metadata\":{}}}}\n");
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

/* ---- the answer as a whole ---- */

static struct str quoted(struct arena *a, struct str s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_add_quoted(&b, s);
    struct str q = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return q;
}

static struct str result_text(const struct doc *result, struct arena *a)
{
    struct str message = doc_get_text(result, "message");
    if (message.n)
        return message;
    return arena_printf(a, "response.result.status was '%.*s', not 'Success'",
                        STR_ARG(doc_get_text(result, "status")));
}

static struct str check_kind(const struct doc *d, enum conversion_review version,
                             struct arena *a)
{
    struct str api_version = doc_get_text(d, "apiVersion"),
               kind = doc_get_text(d, "kind");
    bool known = str_is(api_version, VERSIONS[CONVERSION_V1]) ||
                 str_is(api_version, VERSIONS[CONVERSION_V1BETA1]);
    if (!known || !str_is(kind, "ConversionReview"))
        return arena_printf(a,
                            "no kind %.*s is registered for version %.*s in scheme "
                            "\"pkg/runtime/scheme.go:111\"",
                            STR_ARG(quoted(a, kind)), STR_ARG(quoted(a, api_version)));
    if (version == CONVERSION_V1 && !str_is(api_version, VERSIONS[version]))
        return arena_printf(a,
                            "expected webhook response of %s, Kind=ConversionReview, got "
                            "%.*s, Kind=%.*s",
                            VERSIONS[version], STR_ARG(api_version), STR_ARG(kind));
    return STR("");
}

static struct str check_review(const struct doc *d, enum conversion_review version,
                               struct str uid, struct arena *a)
{
    const struct doc *response = doc_get(d, "response"),
                     *result = doc_get(response, "result");
    struct str why = check_kind(d, version, a), got = doc_get_text(response, "uid");
    if (why.n)
        return why;
    if (!response || response->type != DOC_MAP)
        return STR("no response provided");
    if (version == CONVERSION_V1 && !str_eq(got, uid))
        return arena_printf(a, "expected response.uid=%.*s, got %.*s",
                            STR_ARG(quoted(a, uid)), STR_ARG(quoted(a, got)));
    bool success = doc_is_string(doc_get(result, "status"), "Success");
    return success ? STR("") : result_text(result, a);
}

/* ---- one object ---- */

static struct str must_be_same(struct arena *a, const char *what, struct str had,
                               struct str have)
{
    if (str_eq(had, have))
        return STR("");
    return arena_printf(a,
                        " returned invalid object: must have the same %s: %.*s != %.*s",
                        what, STR_ARG(had), STR_ARG(have));
}

static struct str check_identity(const struct doc *from, const struct doc *made,
                                 struct arena *a)
{
    static const struct {
        const char *member, *name;
    } SAME[] = {{"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}};
    struct str why = STR("");
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME && !why.n; i++)
        why = must_be_same(a, SAME[i].name, meta_text(from, SAME[i].member),
                           meta_text(made, SAME[i].member));
    return why;
}

static struct str check_type(const struct doc *from, const struct doc *made,
                             struct str desired, struct arena *a)
{
    struct str version = doc_get_text(made, "apiVersion"),
               kind = doc_get_text(made, "kind"), want = doc_get_text(from, "kind");
    if (!str_eq(version, desired))
        return arena_printf(a,
                            " returned invalid object at index 0: invalid groupVersion "
                            "(expected %.*s, received %.*s)",
                            STR_ARG(desired), STR_ARG(version));
    if (!str_eq(kind, want))
        return arena_printf(a,
                            " returned invalid object at index 0: invalid kind (expected "
                            "%.*s, received %.*s)",
                            STR_ARG(want), STR_ARG(kind));
    return STR("");
}

/* ---- its metadata ---- */

static struct str not_texts(const struct doc *map, const char *key, struct arena *a)
{
    if (map->type != DOC_MAP)
        return arena_printf(a, "invalid metadata.%s of type %s in converted object", key,
                            custom_go_type(map));
    for (uint32_t i = 0; i < map->n; i++)
        if (map->members[i].value.type != DOC_STRING)
            return arena_printf(
                a, "metadata.%s[%.*s] must be a string, but is %s in converted object",
                key, STR_ARG(doc_key(&map->members[i])),
                custom_go_type(&map->members[i].value));
    return STR("");
}

/* Labels or annotations that the webhook has changed must be good ones. */
static struct str not_valid(const struct doc *meta, struct arena *a)
{
    struct api_errors errors = {0};
    struct api_validate_opts opts = {.op = API_CREATE};
    struct strbuf b = STRBUF_INIT;
    uint32_t n = 0;
    api_validate_metadata(meta, NULL, doc_get(meta, "namespace") != NULL, "subdomain",
                          STR("metadata"), &opts, a, &errors);
    for (size_t i = 0; i < errors.list.n; i++) {
        struct str path = errors.list.v[i].path;
        if (!str_starts(path, STR("metadata.labels")) &&
            !str_starts(path, STR("metadata.annotations")))
            continue;
        strbuf_adds(&b, n++ ? ", " : "");
        api_error_print(&errors.list.v[i], &b);
    }
    struct str text =
        arena_printf(a, "%s%s%s", n > 1 ? "[" : "", strbuf_cstr(&b), n > 1 ? "]" : "");
    strbuf_release(&b);
    api_errors_release(&errors);
    return text;
}

static struct str take_texts(struct doc *meta, const struct doc *said, const char *key,
                             struct arena *a)
{
    const struct doc *have = doc_get(meta, key), *made = doc_get(said, key);
    if (!made || made->type == DOC_NULL) {
        doc_remove(meta, str_from(key));
        return STR("");
    }
    struct str why = not_texts(made, key, a);
    if (why.n || (have && doc_equal(have, made)))
        return why;
    doc_set(a, meta, key, doc_dup(a, made));
    return not_valid(meta, a);
}

/* All is as it was, but for labels and annotations. */
static struct str restore_meta(const struct doc *from, struct doc *made, struct arena *a)
{
    const struct doc *had = doc_get(from, "metadata"), *said = doc_get(made, "metadata");
    struct doc meta = had ? doc_dup(a, had) : doc_make_map();
    struct str why = take_texts(&meta, said, "labels", a);
    if (!why.n)
        why = take_texts(&meta, said, "annotations", a);
    if (why.n)
        return arena_printf(a, " returned invalid metadata: %.*s", STR_ARG(why));
    doc_set(a, made, "metadata", meta);
    api_order_object(made, a);
    return STR("");
}

static struct str take(const struct doc *from, const struct doc *said, struct str desired,
                       struct doc *made, struct arena *a)
{
    *made = doc_dup(a, said);
    struct str why = check_type(from, made, desired, a);
    why = why.n ? why : check_identity(from, made, a);
    return why.n ? why : restore_meta(from, made, a);
}

/* ---- all of it ---- */

static struct doc source_doc(struct str source, struct arena *a)
{
    struct doc_source src = {.name = "source", .text = source};
    struct doc d = doc_make_map();
    doc_read_json(&src, a, &d, NULL);
    return d;
}

/* What goes behind "conversion webhook for KIND". */
static struct str read_objects(const struct doc *list, struct str desired,
                               const struct str *sources, uint32_t n, struct doc *made,
                               const char **failure, struct arena *a)
{
    uint32_t got = list && list->type == DOC_LIST ? list->n : 0;
    struct str why = STR("");
    *failure = "conversion_webhook_partial_response_failure";
    if (got != n)
        return arena_printf(a, " returned %u objects, expected %u", got, n);
    *failure = "conversion_webhook_invalid_converted_object_failure";
    for (uint32_t i = 0; i < n && !why.n; i++) {
        struct doc from = source_doc(sources[i], a);
        why = take(&from, &list->items[i], desired, &made[i], a);
    }
    return why;
}

/* Empty: it is JSON. */
static struct str read_answer(const struct hook_answer *said, struct doc *d,
                              struct arena *a)
{
    struct doc_source src = {.name = "response", .text = said->body};
    struct err e = ERR_INIT;
    struct str why = said->fail.n ? said->fail : hook_status_text(said, a);
    if (why.n)
        return why;
    if (doc_read_json(&src, a, d, &e))
        return STR("");
    why =
        arena_printf(a, "couldn't get version/kind; json parse error: %s", err_text(&e));
    err_release(&e);
    return why;
}

static const struct doc *not_a_map(const struct doc *list)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (list->items[i].type != DOC_MAP)
            return &list->items[i];
    return NULL;
}

struct str conversion_read(enum conversion_review version, struct str uid,
                           struct str desired, const struct str *sources, uint32_t n,
                           const struct hook_answer *said, struct doc *made,
                           const char **failure, struct arena *a)
{
    struct doc d = doc_make_map(), first = source_doc(sources[0], a);
    struct str why = read_answer(said, &d, a);
    const struct doc *list = doc_path(&d, "response.convertedObjects");
    *failure = "conversion_webhook_call_failure";
    if (!why.n) {
        *failure = "conversion_webhook_malformed_response_failure";
        why = check_review(&d, version, uid, a);
    }
    if (why.n)
        why = arena_printf(a, " failed: %.*s", STR_ARG(why));
    else if (not_a_map(list))
        return arena_printf(a,
                            "json: cannot unmarshal %s into Go value of type "
                            "map[string]interface {}",
                            custom_go_type(not_a_map(list)));
    else
        why = read_objects(list, desired, sources, n, made, failure, a);
    *failure = why.n ? *failure : "";
    if (!why.n)
        return why;
    return arena_printf(a, "conversion webhook for %.*s, Kind=%.*s%.*s",
                        STR_ARG(doc_get_text(&first, "apiVersion")),
                        STR_ARG(doc_get_text(&first, "kind")), STR_ARG(why));
}
