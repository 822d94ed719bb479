/* SPDX-License-Identifier: Apache-2.0 */
/* golden/cdi: names of devices, whole files, and the versions that their fields need. */
#include "golden/golden.h"

#include "driver/cdi.h"

static void check_name(struct golden_case *c)
{
    struct str vendor = STR_NONE, class = STR_NONE, device = STR_NONE;
    bool want = false;
    doc_get_bool(c->doc, "valid", &want);
    bool ok =
        cdi_name_parse(doc_get_text(c->doc, "name"), &vendor, &class, &device, NULL);
    golden_check_bool(c, "valid", want, ok);
    if (!ok || !want)
        return;
    golden_check_str(c, "vendor", doc_get_text(c->doc, "vendor"), vendor);
    golden_check_str(c, "class", doc_get_text(c->doc, "class"), class);
    golden_check_str(c, "device", doc_get_text(c->doc, "device"), device);
}

/* What was read is written and read again: nothing is lost. */
static void check_written(struct golden_case *c, const struct cdi_spec *s)
{
    struct str once = cdi_spec_print(s, c->arena);
    struct cdi_spec again;
    struct err e = ERR_INIT;
    if (!cdi_spec_read(once, c->arena, &again, &e))
        golden_fail(c, "what is written is not read: %s", err_text(&e));
    else
        golden_check_str(c, "written", once, cdi_spec_print(&again, c->arena));
    err_release(&e);
}

static void check_spec(struct golden_case *c)
{
    struct cdi_spec s;
    bool want = false;
    doc_get_bool(c->doc, "valid", &want);
    bool ok = cdi_spec_read(doc_get_text(c->doc, "file"), c->arena, &s, NULL);
    if (golden_check_bool(c, "valid", want, ok) && ok)
        check_written(c, &s);
}

static bool read_as(struct golden_case *c, struct str version, struct cdi_spec *out)
{
    struct doc spec = doc_dup(c->arena, doc_get(c->doc, "spec"));
    doc_set_text(c->arena, &spec, "cdiVersion", version);
    struct strbuf b = STRBUF_INIT;
    doc_write_json(&spec, DOC_JSON_COMPACT, &b);
    struct str text = arena_str(c->arena, strbuf_str(&b));
    strbuf_release(&b);
    return cdi_spec_read(text, c->arena, out, NULL);
}

static void check_versions(struct golden_case *c)
{
    static const char *const asked[] = {"0.1.0", "0.2.0",  "0.3.0", "0.4.0", "0.5.0",
                                        "0.6.0", "0.7.0",  "0.8.0", "1.0.0", "1.1.0",
                                        "1.2.0", "v0.8.0", "0.9.0", ""};
    const struct doc *accepted = doc_get(c->doc, "accepted");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        bool want = false;
        for (uint32_t j = 0; j < accepted->n; j++)
            want |= doc_is_string(&accepted->items[j], asked[i]);
        struct cdi_spec s;
        golden_check_bool(c, asked[i], want, read_as(c, str_from(asked[i]), &s));
    }
    struct cdi_spec s;
    if (!read_as(c, STR("1.1.0"), &s)) {
        golden_fail(c, "not read");
        return;
    }
    golden_check_str(c, "min", doc_get_text(c->doc, "min"),
                     str_from(cdi_spec_version(&s)));
    s.version = STR_NONE;
    check_written(c, &s);
}

static void run_case(struct golden *g, struct golden_case *c)
{
    (void)g;
    if (strcmp(c->file, "names.jsonl") == 0)
        check_name(c);
    else if (strcmp(c->file, "specs.jsonl") == 0)
        check_spec(c);
    else
        check_versions(c);
}

const struct golden_runner golden_cdi = {.folder = "cdi", .run_case = run_case};
