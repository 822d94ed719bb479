/* SPDX-License-Identifier: Apache-2.0 */
/* Content negotiation: which form the answer has, which form the body is in. */
#include <stdlib.h>
#include <strings.h>

#include "server/rest/scale.h"

static const struct {
    enum media media;
    const char *type;
} MEDIA[] = {
    {MEDIA_JSON, "application/json"},
    {MEDIA_YAML, "application/yaml"},
    {MEDIA_PROTO, "application/vnd.kubernetes.protobuf"},
};
enum { NMEDIA = sizeof MEDIA / sizeof *MEDIA };

const char *media_type(enum media m)
{
    return MEDIA[m].type;
}

static bool type_is(struct str s, const char *type)
{
    return s.n == strlen(type) && strncasecmp(s.p, type, s.n) == 0;
}

static bool find_media(struct str type, enum media *out)
{
    for (int i = 0; i < NMEDIA; i++)
        if (type_is(type, MEDIA[i].type)) {
            *out = MEDIA[i].media;
            return true;
        }
    return false;
}

/* Cuts off the text before c; what follows it stays in s. */
static struct str take(struct str *s, char c)
{
    size_t end = str_find_byte(*s, c, 0);
    struct str head = str_trim(str_sub(*s, 0, end));
    *s = end == SIZE_MAX ? STR("") : str_sub(*s, end + 1, SIZE_MAX);
    return head;
}

static const struct {
    const char *name;
    enum media_as as;
} FORMS[] = {
    {"Table", AS_TABLE},
    {"PartialObjectMetadata", AS_METADATA},
    {"PartialObjectMetadataList", AS_METADATA_LIST},
};

static bool find_form(struct str as, struct str group, struct str version,
                      struct accept *out)
{
    out->as = AS_OBJECT;
    if (!as.p)
        return true;
    if (!str_is(group, "meta.k8s.io"))
        return false;
    if (str_is(version, "v1"))
        out->as_version = "v1";
    else if (str_is(version, "v1beta1"))
        out->as_version = "v1beta1";
    else
        return false;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
        if (str_is(as, FORMS[i].name)) {
            out->as = FORMS[i].as;
            return true;
        }
    return false;
}

/* "0.5" */
static double read_weight(struct str s)
{
    char text[16] = "";
    memcpy(text, s.p, s.n < sizeof text ? s.n : 0);
    return strtod(text, NULL);
}

double media_weight(struct str clause)
{
    take(&clause, ';');
    while (clause.n) {
        struct str value = take(&clause, ';'), key = take(&value, '=');
        if (str_is(key, "q"))
            return read_weight(value);
    }
    return 1;
}

/* One alternative of an Accept header; known: we speak its media type. */
static bool read_clause(struct str clause, struct accept *out, double *weight,
                        bool *known)
{
    struct str type = take(&clause, ';'), as = STR_NONE, group = STR_NONE,
               version = STR_NONE;
    while (clause.n) {
        struct str value = take(&clause, ';'), key = take(&value, '=');
        if (str_is(key, "as"))
            as = value;
        else if (str_is(key, "g"))
            group = value;
        else if (str_is(key, "v"))
            version = value;
        else if (str_is(key, "q"))
            *weight = read_weight(value);
    }
    *known = type_is(type, "*/*") || find_media(type, &out->media);
    if (type_is(type, "*/*"))
        out->media = MEDIA_JSON;
    return *known && find_form(as, group, version, out);
}

static bool fail_media(struct request *r, bool known)
{
    bool groups = r->route.form == ROUTE_GROUPS || r->route.form == ROUTE_GROUP;
    bool watch = query_bool(&r->query, "watch");
    r->accept = (struct accept){MEDIA_JSON, AS_OBJECT, NULL};
    if (known || groups)
        return fail(r, 406, "NotAcceptable",
                    "only the following media types are accepted: application/json, "
                    "application/yaml, application/vnd.kubernetes.protobuf");
    fail(r, 406, "NotAcceptable",
         "406: Not Acceptable\n\nAvailable representations: application/json, "
         "application/yaml, application/vnd.kubernetes.protobuf%s",
         watch ? ", application/json;stream=watch, "
                 "application/vnd.kubernetes.protobuf;stream=watch"
               : "");
    r->failure.has_details = true;
    return false;
}

/* As Go's ParseBool; what is none is false. */
static bool is_true(struct str s)
{
    static const char *const TRUE[] = {"1", "t", "T", "true", "TRUE", "True"};
    for (size_t i = 0; i < sizeof TRUE / sizeof *TRUE; i++)
        if (str_is(s, TRUE[i]))
            return true;
    return false;
}

/* Programs that people look at. */
static bool wants_pretty(struct request *r)
{
    struct str asked = query_get(&r->query, "pretty");
    struct str agent = net_header_get(r->x, "user-agent");
    if (asked.n)
        return is_true(asked);
    return str_starts(agent, STR("curl")) || str_starts(agent, STR("Wget")) ||
           str_starts(agent, STR("Mozilla/5.0"));
}

/* Of custom resources protobuf knows the metadata alone. */
static bool has_form(const struct request *r, const struct accept *one)
{
    bool custom = r->res && r->res->custom && !is_scale(r->res);
    return !custom || one->media != MEDIA_PROTO || one->as != AS_OBJECT;
}

bool media_negotiate(struct request *r)
{
    r->pretty = wants_pretty(r);
    struct str accept = net_header_get(r->x, "accept");
    bool found = accept.n == 0, known = false;
    double best = 0;
    r->accept = (struct accept){MEDIA_JSON, AS_OBJECT, NULL};
    while (accept.n) {
        struct accept one = {MEDIA_JSON, AS_OBJECT, NULL};
        double weight = 1;
        bool speaks;
        if (read_clause(take(&accept, ','), &one, &weight, &speaks) && weight > best &&
            has_form(r, &one)) {
            r->accept = one;
            best = weight;
            found = true;
        }
        known |= speaks;
    }
    return found || fail_media(r, known);
}

bool media_content_type(struct request *r, struct str type, enum media *out)
{
    struct str head = type.p ? take(&type, ';') : STR("");
    if (head.n == 0) {
        *out = MEDIA_JSON;
        return true;
    }
    if (find_media(head, out))
        return true;
    return fail(r, 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types "
                "include: application/json, application/yaml, "
                "application/vnd.kubernetes.protobuf");
}
