/* SPDX-License-Identifier: Apache-2.0 */
/* Services: the families of their addresses, before any address is chosen. */
#include "api/prepare_inner.h"

static const char IPS[] = "clusterIPs", FAMILIES[] = "ipFamilies",
                  POLICY[] = "ipFamilyPolicy";

static uint32_t count(const struct doc *spec, const char *key)
{
    const struct doc *list = doc_get(spec, key);
    return list && list->type == DOC_LIST ? list->n : 0;
}

static bool same(const struct doc *a, const struct doc *b, const char *key)
{
    uint32_t n = count(a, key);
    return n == count(b, key) && (n == 0 || doc_equal(doc_get(a, key), doc_get(b, key)));
}

static void append(const struct api_prepare *p, struct doc *spec, const char *key,
                   struct str text)
{
    struct doc *list = api_edit_get(spec, key);
    if (!list)
        list = doc_set(p->a, spec, key, doc_make_list());
    doc_append(p->a, list, doc_make_string(p->a, text));
}

static bool has_selector(const struct doc *spec)
{
    const struct doc *d = doc_get(spec, "selector");
    return d && d->type == DOC_MAP && d->n;
}

/* Pods of others, if any: the cluster's own families say nothing of them. */
static bool is_headless_without_selector(const struct doc *spec)
{
    return doc_is_string(doc_get(spec, "clusterIP"), "None") && !has_selector(spec);
}

/* clusterIP is the first of clusterIPs; writers of old know only the one. */
static void join_addresses(const struct api_prepare *p, struct doc *spec,
                           const struct doc *was)
{
    struct str ip = doc_get_text(spec, "clusterIP"),
               before = doc_get_text(was, "clusterIP");
    bool changed = was && !str_eq(ip, before);
    if (was && !changed && !count(spec, IPS))
        prepare_keep(p, spec, was, IPS);
    if (changed && same(spec, was, IPS))
        doc_remove(spec, str_from(IPS));
    if (ip.n && !count(spec, IPS) && (!was || changed))
        append(p, spec, IPS, ip);
}

static void choose_policy(const struct api_prepare *p, struct doc *spec,
                          const struct doc *was)
{
    if (doc_get_text(spec, POLICY).n)
        return;
    if (doc_get_text(was, POLICY).n)
        prepare_keep(p, spec, was, POLICY);
    else
        prepare_text(p, spec, POLICY,
                     is_headless_without_selector(spec) ? STR("RequireDualStack")
                                                        : STR("SingleStack"));
}

/* Of two addresses or families that were not touched one is given up. */
static void give_up_second(struct doc *spec, const struct doc *was, const char *key)
{
    struct doc *list = api_edit_get(spec, key);
    if (was && list && list->type == DOC_LIST && list->n > 1 && same(spec, was, key))
        list->n = 1;
}

static void add_families(const struct api_prepare *p, struct doc *spec, bool single)
{
    struct str known = str_from(p->families), preferred, other;
    size_t comma = str_find_byte(known, ',', 0);
    bool both = comma != SIZE_MAX || is_headless_without_selector(spec);
    for (uint32_t i = count(spec, FAMILIES); i < count(spec, IPS); i++) {
        struct str ip = doc_str(&doc_get(spec, IPS)->items[i]);
        bool six = str_find_byte(ip, ':', 0) != SIZE_MAX;
        if (!str_is(ip, "None"))
            append(p, spec, FAMILIES, six ? STR("IPv6") : STR("IPv4"));
    }
    preferred = str_sub(known, 0, comma);
    if (!count(spec, FAMILIES))
        append(p, spec, FAMILIES, preferred);
    other = doc_is_string(&doc_get(spec, FAMILIES)->items[0], "IPv4") ? STR("IPv6")
                                                                      : STR("IPv4");
    if (!single && both && count(spec, FAMILIES) == 1)
        append(p, spec, FAMILIES, other);
}

void prepare_service(const struct api_prepare *p, struct doc *object,
                     const struct doc *old)
{
    struct doc *spec = prepare_map(p, object, "spec");
    const struct doc *was = doc_get(old, "spec");
    join_addresses(p, spec, was);
    if (!p->families || doc_is_string(doc_get(spec, "type"), "ExternalName"))
        return;
    choose_policy(p, spec, was);
    bool single = doc_is_string(doc_get(spec, POLICY), "SingleStack");
    if (single) {
        give_up_second(spec, was, IPS);
        give_up_second(spec, was, FAMILIES);
    }
    add_families(p, spec, single);
}
