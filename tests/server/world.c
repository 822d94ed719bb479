/* SPDX-License-Identifier: Apache-2.0 */
#include "server/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "unit/unit.h"

const struct kind KIND[KINDS] = {
    {"configmaps", "ConfigMap", "v1", "/api/v1", "/registry/core/configmaps/", true},
    {"leases", "Lease", "coordination.k8s.io/v1", "/apis/coordination.k8s.io/v1",
     "/registry/coordination.k8s.io/leases/", true},
    {"nodes", "Node", "v1", "/api/v1", "/registry/core/nodes/", false},
};
static const char PHASE[] = "abc";

const struct kind *object_kind(uint32_t object)
{
    return &KIND[object % KINDS];
}

const char *object_namespace(uint32_t object)
{
    if (!object_kind(object)->namespaced)
        return NULL;
    return object / KINDS % 2 ? "kube-public" : "default";
}

bool object_of_name(struct str name, uint32_t *object)
{
    char digits[8] = "";
    if (!str_starts(name, STR("o-")) || name.n - 2 >= sizeof digits)
        return false;
    memcpy(digits, name.p + 2, name.n - 2);
    *object = (uint32_t)strtoul(digits, NULL, 10);
    return *object < OBJECTS;
}

int object_path(uint32_t object, bool named, char *out, size_t size)
{
    const struct kind *k = object_kind(object);
    const char *ns = object_namespace(object);
    char name[16] = "";
    if (named)
        snprintf(name, sizeof name, "/o-%u", object);
    return snprintf(out, size, "%s%s%s/%s%s", k->root, ns ? "/namespaces/" : "",
                    ns ? ns : "", k->plural, name);
}

/* ---- contents ---- */

static uint64_t content_sum(const struct content *c)
{
    return (c->n * PHASES + c->phase) * 2 + c->cordoned;
}

static void print_own(uint32_t object, const struct content *c, struct strbuf *out)
{
    switch (object % KINDS) {
    case 0:
        strbuf_addf(out, ",\"data\":{\"n\":\"%llu\",\"pad\":\"%0*d\"}",
                    (unsigned long long)c->n, (int)(c->n % 400), 0);
        break;
    case 1:
        strbuf_addf(out, ",\"spec\":{\"holderIdentity\":\"%llu\"}",
                    (unsigned long long)c->n);
        break;
    default:
        strbuf_addf(out, ",\"spec\":{\"unschedulable\":%s}",
                    c->cordoned ? "true" : "false");
    }
}

void content_print(uint32_t object, const struct content *c, uint64_t revision,
                   struct strbuf *out)
{
    const struct kind *k = object_kind(object);
    strbuf_addf(out,
                "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"o-%u\","
                "\"labels\":{\"phase\":\"%c\"},\"annotations\":{\"n\":\"%llu\","
                "\"sum\":\"%llu\"}",
                k->version, k->name, object, PHASE[c->phase], (unsigned long long)c->n,
                (unsigned long long)content_sum(c));
    if (revision)
        strbuf_addf(out, ",\"resourceVersion\":\"%llu\"", (unsigned long long)revision);
    strbuf_addc(out, '}');
    print_own(object, c, out);
    strbuf_addc(out, '}');
}

static uint64_t number(struct str s)
{
    char text[24] = "";
    memcpy(text, s.p ? s.p : "", s.n < sizeof text ? s.n : 0);
    return strtoull(text, NULL, 10);
}

static bool own_agrees(uint32_t object, const struct doc *d, const struct content *c)
{
    const struct doc *on = doc_path(d, "spec.unschedulable");
    switch (object % KINDS) {
    case 0:
        return number(doc_get_text(doc_get(d, "data"), "n")) == c->n;
    case 1:
        return number(doc_get_text(doc_get(d, "spec"), "holderIdentity")) == c->n;
    default:
        return c->cordoned == (on && on->type == DOC_BOOL && on->b);
    }
}

bool content_read(const struct doc *d, uint32_t *object, uint64_t *revision,
                  struct content *out)
{
    const struct doc *meta = doc_get(d, "metadata"), *notes, *on;
    if (!object_of_name(doc_get_text(meta, "name"), object))
        return false;
    notes = doc_get(meta, "annotations");
    on = doc_path(d, "spec.unschedulable");
    struct str phase = doc_get_text(doc_get(meta, "labels"), "phase");
    const char *at = phase.n ? strchr(PHASE, phase.p[0]) : NULL;
    *revision = number(doc_get_text(meta, "resourceVersion"));
    *out = (struct content){.n = number(doc_get_text(notes, "n")),
                            .phase = at ? (uint32_t)(at - PHASE) : PHASES,
                            .cordoned = on && on->type == DOC_BOOL && on->b};
    if (number(doc_get_text(notes, "sum")) != content_sum(out) ||
        !own_agrees(*object, d, out))
        fail_msg("o-%u at %llu is half of a write", *object,
                 (unsigned long long)*revision);
    return true;
}

/* ---- history ---- */

static bool read_value(struct str value, uint32_t *object, struct content *out)
{
    struct doc_source src = {.name = "store", .text = value};
    struct arena a = {0};
    struct doc d;
    uint64_t none;
    if (!doc_read_json(&src, &a, &d, NULL))
        fail_msg("the store holds what is no JSON");
    bool ours = content_read(&d, object, &none, out);
    arena_fini(&a);
    return ours;
}

static bool is_watched(struct str key)
{
    for (int i = 0; i < KINDS; i++)
        if (str_starts(key, str_from(KIND[i].registry)))
            return true;
    return false;
}

static bool note_change(void *ctx, const struct store_change *c)
{
    struct history *h = ctx;
    struct change out = {.type = c->kind == STORE_DELETE ? DELETED
                                 : c->created            ? ADDED
                                                         : MODIFIED,
                         .revision = c->revision,
                         .previous_revision = c->previous_revision};
    uint32_t same;
    assert_true(c->revision > h->revision);
    h->revision = c->revision;
    if (!is_watched(c->key) || !read_value(c->value, &out.object, &out.now))
        return true;
    if (!c->created && c->previous.p) {
        assert_true(read_value(c->previous, &same, &out.before));
        assert_int_equal(same, out.object);
    }
    vec_push(&h->all, out);
    return true;
}

void history_read(struct history *h, const char *dir)
{
    char url[200];
    struct err e = ERR_INIT;
    struct store_opts opts = {0};
    snprintf(url, sizeof url, "sqlite:%s/store", dir);
    struct store *s = store_open(url, &opts, &e);
    if (!s || !store_history(s, h->revision, note_change, h, &e))
        fail_msg("%s", err_text(&e));
    if (store_revision(s) < h->revision)
        fail_msg("the store went back");
    h->revision = store_revision(s);
    store_close(s);
}

void history_settle(struct history *h, uint64_t revision)
{
    size_t n = history_seek(h, revision);
    for (size_t i = 0; i < n; i++) {
        const struct change *c = &h->all.v[i];
        h->base[c->object].there = c->type != DELETED;
        h->base[c->object].revision = c->revision;
        h->base[c->object].content = c->now;
    }
    h->all.n -= n;
    if (n > 0)
        memmove(h->all.v, h->all.v + n, h->all.n * sizeof *h->all.v);
    h->after = revision;
}

void history_release(struct history *h)
{
    vec_release(&h->all);
}

size_t history_seek(const struct history *h, uint64_t revision)
{
    size_t lo = 0, hi = h->all.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (h->all.v[mid].revision <= revision)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- views ---- */

bool view_has(const struct view *v, uint32_t object, const struct content *c)
{
    if (object % KINDS != v->kind)
        return false;
    const char *ns = object_namespace(object);
    if (v->namespace && strcmp(ns, v->namespace) != 0)
        return false;
    return !v->selects || v->selects(object, c);
}

bool view_event(const struct view *v, const struct change *c, enum event_type *out)
{
    bool now = view_has(v, c->object, &c->now);
    bool before = c->type == MODIFIED && view_has(v, c->object, &c->before);
    *out = c->type == DELETED || !now ? DELETED : before ? MODIFIED : ADDED;
    return now || before;
}
