/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults that take more than a row of defaults/. */
#include "api/defaults_table.h"
#include "api/edit.h"
#include "api/image_name.h"
#include "base/base64.h"
#include "num/quantity.h"

static void set_text(struct defaulting *c, struct doc *d, const char *key, struct str s)
{
    doc_set(c->a, d, key, doc_make_string(c->a, s));
}

/* ---- pods ---- */

API_DEFAULT(no_negative_grace)
{
    struct doc *spec = api_edit_get(d, "spec");
    int64_t seconds;
    if (spec && doc_get_int64(spec, "terminationGracePeriodSeconds", &seconds) &&
        seconds < 0)
        doc_set(c->a, spec, "terminationGracePeriodSeconds", doc_make_int(c->a, 1));
}

/* podIP and the first of podIPs are one; of two that differ podIP counts. */
API_DEFAULT(pod_ips)
{
    const struct doc *ips = doc_get(d, "podIPs");
    bool many = ips && ips->type == DOC_LIST && ips->n;
    struct str ip = doc_get_text(d, "podIP"),
               first = many ? doc_get_text(&ips->items[0], "ip") : STR("");
    if (ip.n == 0 && many) {
        set_text(c, d, "podIP", first);
    } else if (ip.n && !str_eq(ip, first)) {
        struct doc list = doc_make_list(), item = doc_make_map();
        set_text(c, &item, "ip", ip);
        doc_append(c->a, &list, item);
        doc_set(c->a, d, "podIPs", list);
    }
}

/* argument: "field of the image's name,field of the policy". */
API_DEFAULT(pull_policy)
{
    struct str names = str_from(argument);
    size_t comma = str_find_byte(names, ',', 0);
    const struct doc *image = doc_get_str(d, str_sub(names, 0, comma));
    const char *policy = argument + comma + 1;
    if (doc_get_text(d, policy).n)
        return;
    bool latest =
        image && image->type == DOC_STRING && image_name_is_latest(doc_str(image));
    set_text(c, d, policy, latest ? STR("Always") : STR("IfNotPresent"));
}

/* A volume of no source is an empty directory. */
API_DEFAULT(volume_source)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->members[i].value.type == DOC_MAP)
            return;
    doc_set(c->a, d, "emptyDir", doc_make_map());
}

/* ---- quantities ---- */

static void round_up(struct defaulting *c, struct doc *d)
{
    struct quantity q;
    int64_t milli;
    if ((d->type != DOC_STRING && d->type != DOC_NUMBER) ||
        !quantity_parse(doc_str(d), c->a, &q, NULL) ||
        quantity_scaled_exact(&q, 3, &milli) || !quantity_scaled(&q, 3, &milli))
        return;
    q = (struct quantity){.i = milli, .scale = -3, .format = q.format};
    *d = doc_make_string(c->a, quantity_print(&q, c->a));
}

/* Amounts of resources have no more than three digits behind the point. */
API_DEFAULT(round)
{
    struct doc *amounts = api_edit_get(d, argument);
    for (uint32_t i = 0; amounts && amounts->type == DOC_MAP && i < amounts->n; i++)
        round_up(c, &amounts->members[i].value);
}

/* ---- others ---- */

API_DEFAULT(name_label)
{
    struct doc *meta = api_edit_get(d, "metadata");
    struct str name = doc_get_text(meta, "name");
    if (!name.n)
        return;
    struct doc *labels = api_edit_get(meta, "labels");
    if (!labels)
        labels = doc_set(c->a, meta, "labels", doc_make_map());
    if (labels->type == DOC_MAP)
        set_text(c, labels, "kubernetes.io/metadata.name", name);
}

/* What was given in clear joins data, and is not kept. */
API_DEFAULT(string_data)
{
    const struct doc *clear = doc_get(d, "stringData");
    struct doc *data = api_edit_get(d, "data");
    if (clear && clear->type == DOC_MAP && clear->n && !data)
        data = doc_set(c->a, d, "data", doc_make_map());
    clear = doc_get(d, "stringData"); /* d may have moved */
    for (uint32_t i = 0; clear && clear->type == DOC_MAP && i < clear->n; i++) {
        struct str bytes = doc_str(&clear->members[i].value);
        if (clear->members[i].value.type == DOC_STRING)
            doc_set_str(c->a, data, doc_key(&clear->members[i]),
                        doc_make_string(c->a, base64_encode(bytes, c->a)));
    }
    doc_remove(d, STR("stringData"));
}

static struct str lower(struct str s, struct arena *a)
{
    struct str copy = arena_str(a, s);
    for (size_t i = 0; i < copy.n; i++)
        if (copy.p[i] >= 'A' && copy.p[i] <= 'Z')
            ((char *)copy.p)[i] |= 32;
    return copy;
}

API_DEFAULT(crd_names)
{
    struct doc *names = api_edit_get(d, "names");
    struct str kind = doc_get_text(names, "kind");
    if (!kind.n)
        return;
    if (!doc_get_text(names, "singular").n)
        set_text(c, names, "singular", lower(kind, c->a));
    if (!doc_get_text(names, "listKind").n)
        set_text(c, names, "listKind", arena_printf(c->a, "%.*sList", STR_ARG(kind)));
}

API_DEFAULT(crd_stored_versions)
{
    const struct doc *versions = doc_path(d, "spec.versions"),
                     *stored = doc_path(d, "status.storedVersions");
    bool storage;
    if (stored && stored->type == DOC_LIST && stored->n)
        return;
    for (uint32_t i = 0; versions && versions->type == DOC_LIST && i < versions->n; i++) {
        const struct doc *v = &versions->items[i];
        if (!doc_get_bool(v, "storage", &storage) || !storage)
            continue;
        struct doc list = doc_make_list();
        doc_append(c->a, &list, doc_make_string(c->a, doc_get_text(v, "name")));
        struct doc *status = api_edit_get(d, "status");
        if (!status)
            status = doc_set(c->a, d, "status", doc_make_map());
        doc_set(c->a, status, "storedVersions", list);
        return;
    }
}
