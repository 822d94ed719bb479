/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/bootstrap.h"

#include "api/apply.h"
#include "api/canonical.h"
#include "api/defaults.h"
#include "api/prepare.h"
#include "server/access/bootstrap_self.h"
#include "server/access/rbac_rules.h"
#include "server/rest/write.h"

struct making { /* of all of them */
    struct server *s;
    struct arena a;
    struct str now;
    uint32_t left; /* writes that are not answered yet */
    bool failed;
    struct err *e;
};

/* ---- what the table holds ---- */

static bool is_on(const struct api_gates *g, struct doc *d)
{
    struct str gate = doc_get_text(d, "if");
    bool on = gate.n == 0 || api_gate(g, api_gate_find(gate));
    doc_remove(d, STR("if"));
    return on;
}

/* false: its gate is off. */
static bool read_row(const struct bootstrap_row *row, const struct api_gates *g,
                     struct arena *a, struct doc *out)
{
    struct doc_source src = {.name = "bootstrap", .text = str_from(row->json)};
    struct doc rules = doc_make_list();
    if (!doc_read_json(&src, a, out, NULL))
        return false;
    *out = doc_dup(a, out);
    if (!is_on(g, out))
        return false;
    const struct doc *all = doc_get(out, "rules");
    for (uint32_t i = 0; all && all->type == DOC_LIST && i < all->n; i++) {
        struct doc rule = doc_dup(a, &all->items[i]);
        if (is_on(g, &rule))
            doc_append(a, &rules, rule);
    }
    if (rules.n)
        doc_set(a, out, "rules", rules);
    return true;
}

bool bootstrap_find(const struct api_gates *g, struct str kind, struct str namespace,
                    struct str name, struct arena *a, struct doc *out)
{
    for (uint32_t i = 0; i < bootstrap_nrows; i++) {
        const struct bootstrap_row *row = &bootstrap_rows[i];
        if (str_is(kind, row->kind) && str_is(namespace, row->namespace) &&
            str_is(name, row->name))
            return read_row(row, g, a, out);
    }
    return false;
}

/* ---- what is there already: each returns whether *live was changed ---- */

static void set(struct arena *a, struct doc *d, const char *key, const struct doc *value)
{
    doc_set(a, d, key, doc_dup(a, value));
}

/* Members of a map below metadata that are missing. */
static bool merge_texts(struct arena *a, struct doc *live, const struct doc *want,
                        const char *member)
{
    const struct doc *from = doc_get(doc_get(want, "metadata"), member);
    const struct doc *to = doc_get(doc_get(live, "metadata"), member);
    struct doc all = to && to->type == DOC_MAP ? doc_dup(a, to) : doc_make_map();
    bool changed = false;
    for (uint32_t i = 0; from && i < from->n; i++)
        if (!doc_get_str(&all, doc_key(&from->members[i]))) {
            doc_add_str(a, &all, doc_key(&from->members[i]), from->members[i].value);
            changed = true;
        }
    if (changed)
        doc_set(a, object_meta(live), member, all);
    return changed;
}

static bool has_item(const struct doc *list, const struct doc *item)
{
    for (uint32_t i = 0; list && list->type == DOC_LIST && i < list->n; i++)
        if (doc_equal(&list->items[i], item))
            return true;
    return false;
}

/* Items of a list that are missing in the other. */
static bool merge_items(struct arena *a, struct doc *live, const struct doc *want,
                        const char *member)
{
    const struct doc *from = doc_get(want, member), *to = doc_get(live, member);
    struct doc all = to && to->type == DOC_LIST ? doc_dup(a, to) : doc_make_list();
    uint32_t before = all.n;
    for (uint32_t i = 0; from && from->type == DOC_LIST && i < from->n; i++)
        if (!has_item(to, &from->items[i]))
            doc_append(a, &all, doc_dup(a, &from->items[i]));
    if (all.n != before)
        doc_set(a, live, member, all);
    return all.n != before;
}

static bool merge_role(struct arena *a, struct doc *live, const struct doc *want)
{
    struct rules held = rules_read(doc_get(live, "rules"), a);
    struct rules wanted = rules_read(doc_get(want, "rules"), a);
    struct rules missing = rules_uncovered(held, wanted, a);
    struct doc more = doc_make_map(), rules = doc_make_list();
    for (uint32_t i = 0; i < missing.n; i++)
        doc_append(a, &rules, rule_doc(&missing.v[i], a));
    doc_set(a, &more, "rules", rules);
    bool changed = merge_items(a, live, &more, "rules");
    const struct doc *from = doc_get(want, "aggregationRule");
    if (!from || from->type != DOC_MAP)
        return changed;
    const struct doc *to = doc_get(live, "aggregationRule");
    struct doc all = to && to->type == DOC_MAP ? doc_dup(a, to) : doc_make_map();
    if (!merge_items(a, &all, from, "clusterRoleSelectors"))
        return changed;
    doc_set(a, live, "aggregationRule", all);
    return true;
}

/* A binding to another role is another binding. */
static bool merge_binding(struct arena *a, struct doc *live, const struct doc *want)
{
    const struct doc *role = doc_get(want, "roleRef");
    bool other = !doc_equal(doc_get(live, "roleRef"), role);
    if (other) {
        set(a, live, "roleRef", role);
        doc_set(a, object_meta(live), "uid", doc_make_string(a, write_new_uid(a)));
    }
    return merge_items(a, live, want, "subjects") || other;
}

static bool merge_member(struct arena *a, struct doc *live, const struct doc *want,
                         const char *member)
{
    const struct doc *from = doc_get(want, member), *to = doc_get(live, member);
    if (!from || (to && doc_equal(to, from)))
        return false;
    set(a, live, member, from);
    return true;
}

static bool merge_spec(struct arena *a, struct doc *live, const struct doc *want)
{
    return merge_member(a, live, want, "spec");
}

/* What describes the server is as the server is. */
static bool merge_self(struct arena *a, struct doc *live, const struct doc *want)
{
    static const char *const MEMBERS[] = {"data", "subsets", "endpoints", "ports"};
    bool changed = false;
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++)
        changed = merge_member(a, live, want, MEMBERS[i]) || changed;
    return changed;
}

/* A cluster gets its second family later on; the first never changes. */
static bool merge_ranges(struct arena *a, struct doc *live, const struct doc *want)
{
    const struct doc *from = doc_path(want, "spec.cidrs"),
                     *to = doc_path(live, "spec.cidrs");
    if (!from || !to || from->n != 2 || to->n != 1 ||
        !doc_equal(&from->items[0], &to->items[0]))
        return false;
    return merge_spec(a, live, want);
}

static const char RBAC_AUTO[] = "rbac.authorization.kubernetes.io/autoupdate",
                  FLOW_AUTO[] = "apf.kubernetes.io/autoupdate-spec";
static const struct merge {
    const char *kind, *annotation; /* that allows it; NULL: it is never asked */
    bool (*merge)(struct arena *a, struct doc *live, const struct doc *want);
} MERGES[] = {
    {"ClusterRole", RBAC_AUTO, merge_role},
    {"Role", RBAC_AUTO, merge_role},
    {"ClusterRoleBinding", RBAC_AUTO, merge_binding},
    {"RoleBinding", RBAC_AUTO, merge_binding},
    {"FlowSchema", FLOW_AUTO, merge_spec},
    {"PriorityLevelConfiguration", FLOW_AUTO, merge_spec},
    {"ServiceCIDR", NULL, merge_ranges},
    {"Endpoints", NULL, merge_self},
    {"EndpointSlice", NULL, merge_self},
};

static bool merge(struct arena *a, struct doc *live, const struct doc *want)
{
    struct str kind = doc_get_text(want, "kind");
    for (size_t i = 0; i < sizeof MERGES / sizeof *MERGES; i++) {
        const struct merge *m = &MERGES[i];
        if (!str_is(kind, m->kind))
            continue;
        const struct doc *notes = doc_get(doc_get(live, "metadata"), "annotations");
        if (m->annotation && !str_is(doc_get_text(notes, m->annotation), "true"))
            return false;
        bool changed = merge_texts(a, live, want, "labels");
        changed = merge_texts(a, live, want, "annotations") || changed;
        return m->merge(a, live, want) || changed;
    }
    /* The authority's certificate is what clients of the ConfigMap come for. */
    return str_is(meta_text(want, "name"), "extension-apiserver-authentication") &&
           merge_self(a, live, want);
}

/* ---- writing ---- */

static void made(void *ctx, enum store_answer answer, uint64_t revision,
                 const struct err *e)
{
    struct making *m = ctx;
    m->left--;
    if (answer == STORE_FAILED && !m->failed) {
        m->failed = true;
        err_set(m->e, e->code, "%s", err_text(e));
    }
}

static void submit(struct making *m, struct str key, const struct doc *d, uint64_t expect)
{
    struct strbuf b = STRBUF_INIT;
    object_encode(d, &b);
    struct store_write w = {
        .key = key, .value = strbuf_str(&b), .expect = expect, .done = made, .ctx = m};
    m->left++;
    store_submit(m->s->store, &w);
    strbuf_release(&b);
}

static const struct resource *resource_of(struct server *s, const struct doc *d)
{
    struct str kind = doc_get_text(d, "kind"), version = doc_get_text(d, "apiVersion");
    for (uint32_t i = 0; i < s->nresources; i++) {
        const struct resource *res = &s->resources[i];
        if (!res->sub && res->kind == res->hub && str_is(kind, res->kind->name) &&
            str_eq(version, res->api_version))
            return res;
    }
    return NULL;
}

/* As it is compared with what is there. */
static void settle(const struct resource *res, struct doc *d, struct str now,
                   struct arena *a)
{
    api_default(res->kind, d, now, a);
    api_canonical(res->kind->type, d, a);
}

void bootstrap_complete(const struct resource *res, struct doc *d, struct str now,
                        struct arena *a)
{
    settle(res, d, now, a);
    struct apply_write w = {
        .kind = res->kind, .now = now, .manager = STR("kube-apiserver")};
    struct doc entries = apply_update(&w, NULL, d, a);
    if (entries.n)
        doc_set(a, object_meta(d), "managedFields", entries);
    struct api_prepare p = {.a = a, .now = now};
    api_prepare_create(&p, res->kind, d);
}

void bootstrap_object(struct making *m, struct doc *d)
{
    struct arena *a = &m->a;
    const struct resource *res = resource_of(m->s, d);
    if (!res)
        return;
    struct str key = object_key(res, meta_text(d, "namespace"), meta_text(d, "name"), a);
    struct cache_object *o = cache_get(m->s->cache, key);
    if (!o) {
        doc_set(a, object_meta(d), "uid", doc_make_string(a, write_new_uid(a)));
        doc_set(a, object_meta(d), "creationTimestamp", doc_make_string(a, m->now));
        bootstrap_complete(res, d, m->now, a);
        submit(m, key, d, 0);
        return;
    }
    settle(res, d, m->now, a);
    struct doc live = object_doc(o, a);
    if (merge(a, &live, d))
        submit(m, key, &live, o->revision);
}

static void make_namespaces(struct making *m)
{
    static const char *const NAMES[] = {"default", "kube-system", "kube-public",
                                        "kube-node-lease"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct doc d = doc_make_map(), meta = doc_make_map();
        doc_set(&m->a, &meta, "name", doc_make_string(&m->a, str_from(NAMES[i])));
        doc_set(&m->a, &d, "kind", doc_make_string(&m->a, STR("Namespace")));
        doc_set(&m->a, &d, "apiVersion", doc_make_string(&m->a, STR("v1")));
        doc_set(&m->a, &d, "metadata", meta);
        bootstrap_object(m, &d);
    }
}

static void make_rows(struct making *m)
{
    for (uint32_t i = 0; i < bootstrap_nrows; i++) {
        struct doc d;
        if (read_row(&bootstrap_rows[i], &m->s->gates, &m->a, &d))
            bootstrap_object(m, &d);
    }
}

bool bootstrap_make(struct server *s, struct str now, struct str address, uint16_t port,
                    struct err *e)
{
    struct making m = {.s = s, .now = now, .e = e};
    struct bootstrap_self self = {.ca_pem = s->dir.client_ca_pem,
                                  .services = &s->services,
                                  .today = str_sub(now, 0, 10),
                                  .address = address,
                                  .port = port};
    make_namespaces(&m);
    make_rows(&m);
    bootstrap_self_make(&self, &m.a, &m);
    while (m.left)
        net_loop_run_once(s->loop, true);
    arena_fini(&m.a);
    return !m.failed;
}
