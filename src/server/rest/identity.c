/* SPDX-License-Identifier: Apache-2.0 */
/* Which object a write means: its name, namespace, uid, revision. */
#include "server/rest/write.h"

#include "api/validate.h"

enum { SUFFIX = 5, MAX_NAME = 63 }; /* of generateName */

struct str write_new_uid(struct arena *a)
{
    return pki_random_uuid(a);
}

struct str write_generate_name(struct str base, struct arena *a)
{
    static const char LETTERS[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char random[SUFFIX];
    char suffix[SUFFIX + 1] = "";
    pki_random(random, sizeof random);
    for (int i = 0; i < SUFFIX; i++)
        suffix[i] = LETTERS[random[i] % (sizeof LETTERS - 1)];
    struct str head = str_sub(base, 0, MAX_NAME - SUFFIX);
    return arena_printf(a, "%.*s%s", STR_ARG(head), suffix);
}

/* ---- of a new object ---- */

bool identity_namespace(struct request *r, struct doc *d)
{
    struct str ns = meta_text(d, "namespace");
    if (!r->res->main->namespaced) {
        write_drop_meta(d, "namespace");
        return true;
    }
    if (ns.n && !str_eq(ns, r->route.namespace))
        return fail_bad(r, "the namespace of the provided object does not match the "
                           "namespace sent on the request");
    write_set_meta(r, d, "namespace", r->route.namespace);
    return true;
}

void identity_name(struct write *w, struct doc *d)
{
    struct request *r = w->r;
    struct str base = meta_text(d, "generateName");
    w->name = r->route.name.p ? r->route.name : meta_text(d, "name");
    if (w->made.n == 0 && base.n)
        w->made = write_generate_name(base, r->a);
    if (w->name.n == 0)
        w->name = w->made;
    if (w->name.n)
        write_set_meta(r, d, "name", w->name);
}

bool identity_named(struct write *w)
{
    struct request *r = w->r;
    const struct api_kind *k = r->res->main;
    if (w->name.n)
        return true;
    struct str kind = qualified(r->a, str_from(k->name), str_from(k->group));
    struct str text = STR("Required value: name or generateName is required");
    fail(r, 422, "Invalid", "%.*s \"\" is invalid: metadata.name: %.*s", STR_ARG(kind),
         STR_ARG(text));
    fail_cause(r, "FieldValueRequired", text, STR("metadata.name"));
    r->failure.group = str_from(k->group);
    r->failure.kind = str_from(k->name);
    return false;
}

/* ---- of one that is there ---- */

/* Whether a PUT must say which revision it has seen. */
static bool is_conditional(const struct api_kind *k)
{
    static const struct {
        const char *group, *resource, *version; /* NULL: all */
    } ROWS[] = {
        {"admissionregistration.k8s.io", NULL, NULL},
        {"apiextensions.k8s.io", NULL, NULL},
        {"certificates.k8s.io", "clustertrustbundles", NULL},
        {"certificates.k8s.io", "podcertificaterequests", NULL},
        {"coordination.k8s.io", NULL, NULL},
        {"internal.apiserver.k8s.io", NULL, NULL},
        {"node.k8s.io", "runtimeclasses", NULL},
        {"policy", "poddisruptionbudgets", NULL},
        {"resource.k8s.io", "devicetaintrules", "v1"}, /* not before */
        {"resource.k8s.io", "resourcepoolstatusrequests", NULL},
        {"scheduling.k8s.io", "podgroups", NULL},
        {"scheduling.k8s.io", "workloads", NULL},
        {"storage.k8s.io", "csidrivers", NULL},
        {"storage.k8s.io", "csinodes", NULL},
        {"storage.k8s.io", "csistoragecapacities", NULL},
        {"storage.k8s.io", "volumeattachments", NULL},
        {"storagemigration.k8s.io", NULL, NULL},
    };
    if (k->custom)
        return true;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strcmp(ROWS[i].group, k->group) == 0 &&
            (!ROWS[i].resource || strcmp(ROWS[i].resource, k->resource) == 0) &&
            (!ROWS[i].version || strcmp(ROWS[i].version, k->version) == 0))
            return true;
    return false;
}

bool identity_revision(struct write *w, const struct doc *live, const struct doc *d)
{
    struct request *r = w->r;
    struct str want = meta_text(d, "resourceVersion");
    struct str have = meta_text(live, "resourceVersion");
    if (want.n && !str_is(want, "0"))
        return str_eq(want, have) ||
               fail_conflict(r, w->name,
                             "the object has been modified; please apply your changes "
                             "to the latest version and try again");
    if (!is_conditional(r->res->main))
        return true;
    struct str text = STR("Invalid value: 0: must be specified for an update");
    fail_object(r, 422, "Invalid", w->name,
                "%.*s \"%.*s\" is invalid: metadata.resourceVersion: %.*s",
                STR_ARG(qualified(r->a, str_from(r->res->main->resource),
                                  str_from(r->res->main->group))),
                STR_ARG(w->name), STR_ARG(text));
    fail_cause(r, "FieldValueInvalid", text, STR("metadata.resourceVersion"));
    return false;
}

bool identity_same_name(struct write *w, const struct doc *d)
{
    struct str name = meta_text(d, "name");
    if (name.n == 0 && str_is(w->r->x->method, "PUT"))
        return fail_bad(w->r,
                        "the name of the object (%.*s based on URL) was undeterminable: "
                        "name must be provided",
                        STR_ARG(w->name));
    if (name.n == 0 || str_eq(name, w->name))
        return true;
    return fail_bad(w->r,
                    "the name of the object (%.*s) does not match the name on the URL "
                    "(%.*s)",
                    STR_ARG(name), STR_ARG(w->name));
}

static bool fail_immutable_uid(struct write *w, struct str uid)
{
    struct request *r = w->r;
    const struct api_kind *k = r->res->main;
    struct str text =
        arena_printf(r->a, "Invalid value: \"%.*s\": field is immutable", STR_ARG(uid));
    fail(r, 422, "Invalid", "%.*s \"%.*s\" is invalid: metadata.uid: %.*s",
         STR_ARG(qualified(r->a, str_from(k->name), str_from(k->group))),
         STR_ARG(w->name), STR_ARG(text));
    fail_cause(r, "FieldValueInvalid", text, STR("metadata.uid"));
    r->failure.name = w->name;
    r->failure.group = str_from(k->group);
    r->failure.kind = str_from(k->name);
    return false;
}

bool identity_same(struct write *w, const struct doc *live, const struct doc *d)
{
    struct request *r = w->r;
    struct str uid = meta_text(d, "uid");
    if (!identity_same_name(w, d))
        return false;
    struct str have = meta_text(live, "uid");
    if (uid.n == 0 || str_eq(uid, have))
        return true;
    if (w->patch)
        return fail_immutable_uid(w, uid);
    /* Upstream shows its own key, in which nodes are minions and groups are missing. */
    const char *resource = r->res->main->resource;
    struct str ns = r->route.namespace;
    struct str key = arena_printf(r->a, "/registry/%s/%.*s%s%.*s",
                                  strcmp(resource, "nodes") ? resource : "minions",
                                  STR_ARG(ns), ns.p ? "/" : "", STR_ARG(w->name));
    return fail_conflict(r, w->name,
                         "StorageError: invalid object, Code: 4, Key: %.*s, "
                         "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
                         "UID in precondition: %.*s, UID in object meta: %.*s",
                         STR_ARG(key), STR_ARG(uid), STR_ARG(have));
}
