/* SPDX-License-Identifier: Apache-2.0 */
/* Content negotiation: which form the answer has, which form the body is in. */
#include <strings.h>

#include "server/inner.h"

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

/* One alternative of an Accept header. */
static bool read_clause(struct str clause, struct accept *out)
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
    }
    bool any = type_is(type, "*/*") || type_is(type, "application/*");
    if (any)
        out->media = MEDIA_JSON;
    return (any || find_media(type, &out->media)) && find_form(as, group, version, out);
}

bool media_negotiate(struct request *r)
{
    struct str accept = net_header_get(r->x, "accept");
    r->accept = (struct accept){MEDIA_JSON, AS_OBJECT, NULL};
    if (accept.n == 0)
        return true;
    while (accept.n)
        if (read_clause(take(&accept, ','), &r->accept))
            return true;
    r->accept = (struct accept){MEDIA_JSON, AS_OBJECT, NULL};
    return fail(r, 406, "NotAcceptable",
                "only the following media types are accepted: application/json, "
                "application/yaml, application/vnd.kubernetes.protobuf");
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
