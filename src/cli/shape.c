/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/shape.h"

/* Every text is written with its length, so that no two lists read alike. */
static void put(struct strbuf *b, struct str s)
{
    strbuf_addf(b, "%zu:", s.n);
    strbuf_addstr(b, s);
}

static void put_strs(struct strbuf *b, const struct view_strs *v)
{
    strbuf_addf(b, "[%u", v->n);
    for (uint32_t i = 0; i < v->n; i++)
        put(b, v->v[i]);
}

static void put_amounts(struct strbuf *b, const struct view_amount *v, uint32_t n,
                        struct arena *a)
{
    strbuf_addf(b, "{%u", n);
    for (uint32_t i = 0; i < n; i++) {
        put(b, v[i].name);
        put(b, quantity_exact(&v[i].value, a));
    }
}

static void put_requirements(struct strbuf *b, const struct view_requirement *v,
                             uint32_t n)
{
    strbuf_addf(b, "(%u", n);
    for (uint32_t i = 0; i < n; i++) {
        put(b, v[i].key);
        put(b, v[i].op_text);
        put_strs(b, &v[i].values);
    }
}

static void put_selector(struct strbuf *b, const struct view_node_selector *s)
{
    strbuf_addf(b, "s%d", s ? (int)s->nterms : -1);
    for (uint32_t i = 0; s && i < s->nterms; i++) {
        put_requirements(b, s->terms[i].expressions, s->terms[i].nexpressions);
        put_requirements(b, s->terms[i].fields, s->terms[i].nfields);
    }
}

static void put_tolerations(struct strbuf *b, const struct view_toleration *v, uint32_t n)
{
    strbuf_addf(b, "t%u", n);
    for (uint32_t i = 0; i < n; i++) {
        put(b, v[i].key);
        put(b, v[i].op);
        put(b, v[i].value);
        put(b, v[i].effect);
    }
}

static void put_containers(struct strbuf *b, const struct view_container *v, uint32_t n,
                           struct arena *a)
{
    strbuf_addf(b, "c%u", n);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_addc(b, v[i].restarts ? 'r' : '-');
        put_amounts(b, v[i].requests, v[i].nrequests, a);
    }
}

static void put_pod(struct strbuf *b, const struct view_pod *p, struct arena *a)
{
    strbuf_addf(b, "l%u", p->nnode_selector);
    for (uint32_t i = 0; i < p->nnode_selector; i++) {
        put(b, p->node_selector[i].key);
        put(b, p->node_selector[i].value);
    }
    put_selector(b, p->required);
    put_tolerations(b, p->tolerations, p->ntolerations);
    put_containers(b, p->containers, p->ncontainers, a);
    put_containers(b, p->init_containers, p->ninit_containers, a);
    put_amounts(b, p->overhead, p->noverhead, a);
    put_amounts(b, p->pod_requests, p->npod_requests, a);
}

/* Claims made from one template are alike; of others that are not allocated yet the spec
 * counts, of allocated ones the claim itself. */
static void put_claim(struct strbuf *b, const struct work_claim *c)
{
    if (c->template) {
        strbuf_addf(b, "T%p", (const void *)c->template);
    } else if (c->doc && !c->view->allocation && !c->result) {
        strbuf_addc(b, 'S');
        doc_write_json(doc_get(c->doc, "spec"), DOC_JSON_SORT, b);
    } else {
        strbuf_addf(b, "C%p", (const void *)c);
    }
}

struct str shape_text(const struct waiting_pod *pod, struct work_claim *const *claims,
                      uint32_t nclaims, struct arena *a)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "p%u", pod->pinned);
    if (pod->workload)
        strbuf_addf(&b, "w%p", (const void *)pod->workload);
    else
        put_pod(&b, pod->view, a);
    for (uint32_t i = 0; i < nclaims; i++)
        put_claim(&b, claims[i]);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}
