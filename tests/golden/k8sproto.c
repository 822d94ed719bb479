/* SPDX-License-Identifier: Apache-2.0 */
/* golden/k8sproto: objects and watch frames in protobuf, both ways. */
#include "golden/golden.h"

#include "api/defaults.h"
#include "api/proto.h"

static struct str from_hex(struct str hex, struct arena *a)
{
    char *out = arena_alloc(a, hex.n / 2 + 1);
    for (size_t i = 0; i + 1 < hex.n; i += 2) {
        unsigned v = 0;
        for (int k = 0; k < 2; k++) {
            char c = hex.p[i + (size_t)k];
            v = v * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        }
        out[i / 2] = (char)v;
    }
    return (struct str){out, hex.n / 2};
}

/* null stands for an absent member. */
static struct doc without_nulls(const struct doc *d, struct arena *a)
{
    struct doc out = *d;
    if (d->type == DOC_LIST) {
        out = doc_make_list();
        for (uint32_t i = 0; i < d->n; i++)
            doc_append(a, &out, without_nulls(&d->items[i], a));
    } else if (d->type == DOC_MAP) {
        out = doc_make_map();
        for (uint32_t i = 0; i < d->n; i++)
            if (d->members[i].value.type != DOC_NULL)
                doc_set_str(a, &out, doc_key(&d->members[i]),
                            without_nulls(&d->members[i].value, a));
    }
    return out;
}

static void check(struct golden_case *c, const char *field, const struct doc *want,
                  const struct doc *got)
{
    struct doc x = without_nulls(want, c->arena), y = without_nulls(got, c->arena);
    golden_check_doc(c, field, &x, &y);
}

/* What the server prints has been defaulted; the bytes lack what protobuf has no field
 * for. */
static struct doc defaulted(struct golden_case *c, const struct doc *d)
{
    struct doc own = doc_dup(c->arena, d);
    const struct api_kind *kind =
        api_kind_find(doc_get_text(d, "apiVersion"), doc_get_text(d, "kind"));
    if (kind && strcmp(c->file, "server.jsonl") == 0)
        api_default(kind, &own, STR("2026-01-01T00:00:00Z"), c->arena);
    return own;
}

static void run_object(struct golden_case *c, struct str bytes, const struct doc *json)
{
    struct err e = ERR_INIT;
    struct doc got, again;
    struct strbuf encoded = STRBUF_INIT;
    if (!api_proto_decode(bytes, c->arena, &got, &e))
        golden_fail(c, "decoding: %s", err_text(&e));
    else {
        got = defaulted(c, &got);
        check(c, "json", json, &got);
    }
    if (!api_proto_encode(json, c->arena, &encoded, &e))
        golden_fail(c, "encoding: %s", err_text(&e));
    else if (!api_proto_decode(strbuf_str(&encoded), c->arena, &again, &e))
        golden_fail(c, "decoding what was encoded: %s", err_text(&e));
    else {
        again = defaulted(c, &again);
        check(c, "encoded", json, &again);
    }
    strbuf_release(&encoded);
    err_release(&e);
}

static void run_frame(struct golden_case *c, struct str bytes, const struct doc *json)
{
    struct err e = ERR_INIT;
    struct doc object;
    struct str type = STR("");
    size_t used = 0;
    struct strbuf encoded = STRBUF_INIT;
    if (!api_proto_decode_event(bytes, &used, &type, c->arena, &object, &e) ||
        used != bytes.n) {
        golden_fail(c, "decoding: %s", err_text(&e));
    } else {
        golden_check_str(c, "type", doc_get_text(json, "type"), type);
        check(c, "object", doc_get(json, "object"), &object);
        if (!api_proto_encode_event(type.p, doc_get(json, "object"), c->arena, &encoded,
                                    &e) ||
            !api_proto_decode_event(strbuf_str(&encoded), &used, &type, c->arena, &object,
                                    &e))
            golden_fail(c, "encoding: %s", err_text(&e));
        else
            check(c, "encoded", doc_get(json, "object"), &object);
    }
    strbuf_release(&encoded);
    err_release(&e);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    const struct doc *json = doc_get(c->doc, "json");
    struct str bytes = from_hex(doc_get_text(c->doc, "hex"), c->arena);
    (void)g;
    if (api_proto_is(bytes))
        run_object(c, bytes, json);
    else
        run_frame(c, bytes, json);
}

const struct golden_runner golden_k8sproto = {.folder = "k8sproto", .run_case = run_case};
