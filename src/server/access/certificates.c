/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/certificates.h"

#include "api/rules.h"
#include "base/base64.h"

static void report(struct request *r, struct api_errors *errors, const char *path,
                   struct str shown, const char *text)
{
    struct api_error e = {.type = API_ERROR_INVALID,
                          .path = str_from(path),
                          .bad = shown.p ? api_shown_text(r->a, shown) : STR("null"),
                          .detail = arena_printf(r->a, "%s", text),
                          .pos = UINT32_MAX};
    vec_push(&errors->list, e);
}

static void check_request(struct request *r, const struct doc *object,
                          struct api_errors *errors)
{
    struct str text = doc_get_text(doc_get(object, "spec"), "request"), pem = STR("");
    struct pki_request read;
    if (text.n)
        base64_decode(text, r->a, &pem);
    if (!pki_is_request(pem))
        report(r, errors, "spec.request", text,
               "PEM block type must be CERTIFICATE REQUEST");
    else if (!pki_read_request(pem, r->a, &read))
        report(r, errors, "spec.request", text,
               "it cannot be read, or is not signed by its own key");
}

/* One that stays as it was is not looked at again. */
static void check_certificate(struct request *r, const struct doc *object,
                              const struct doc *old, struct api_errors *errors)
{
    struct str text = doc_get_text(doc_get(object, "status"), "certificate"),
               was = doc_get_text(doc_get(old, "status"), "certificate"), pem;
    struct err e = ERR_INIT;
    if (text.n == 0 || (old && str_eq(text, was)) || !base64_decode(text, r->a, &pem))
        return;
    if (!pki_check_certificates(pem, &e))
        report(r, errors, "status.certificate", STR("<certificate data>"), err_text(&e));
    err_release(&e);
}

/* Roots, as text; each once, and each an authority's. */
static void check_bundle(struct request *r, const struct doc *object,
                         const struct doc *old, struct api_errors *errors)
{
    struct str pem = doc_get_text(doc_get(object, "spec"), "trustBundle"),
               was = doc_get_text(doc_get(old, "spec"), "trustBundle");
    struct err e = ERR_INIT;
    if (old && str_eq(pem, was))
        return;
    if (!pki_check_certificates(pem, &e))
        report(r, errors, "spec.trustBundle", STR("<value omitted>"),
               str_find(pem, STR("-----BEGIN")) == SIZE_MAX
                   ? "at least one trust anchor must be provided"
                   : err_text(&e));
    err_release(&e);
}

void certificates_check(struct request *r, const struct doc *object,
                        const struct doc *old, struct api_errors *errors)
{
    const struct api_kind *k = r->res->hub;
    if (strcmp(k->group, "certificates.k8s.io") != 0)
        return;
    if (strcmp(k->resource, "clustertrustbundles") == 0)
        check_bundle(r, object, old, errors);
    if (strcmp(k->resource, "certificatesigningrequests") != 0)
        return;
    check_request(r, object, errors);
    check_certificate(r, object, old, errors);
}
