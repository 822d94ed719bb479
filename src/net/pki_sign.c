/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pki_sign.h"

#include <openssl/pem.h>
#include <time.h>

#include "net/pki_inner.h"

enum { BACKDATE_S = 300, SHORT_S = 8 * 3600 };

/* ---- usages ---- */

struct usage {
    const char *name, *openssl;
};

static const struct usage KEY_USAGES[] = {
    {"signing", "digitalSignature"},
    {"digital signature", "digitalSignature"},
    {"content commitment", "nonRepudiation"},
    {"key encipherment", "keyEncipherment"},
    {"key agreement", "keyAgreement"},
    {"data encipherment", "dataEncipherment"},
    {"cert sign", "keyCertSign"},
    {"crl sign", "cRLSign"},
    {"encipher only", "encipherOnly"},
    {"decipher only", "decipherOnly"},
};

/* In the order in which they are written down. */
static const struct usage EXTENDED[] = {
    {"any", "anyExtendedKeyUsage"},
    {"server auth", "serverAuth"},
    {"client auth", "clientAuth"},
    {"code signing", "codeSigning"},
    {"email protection", "emailProtection"},
    {"s/mime", "emailProtection"},
    {"ipsec end system", "ipsecEndSystem"},
    {"ipsec tunnel", "ipsecTunnel"},
    {"ipsec user", "ipsecUser"},
    {"timestamping", "timeStamping"},
    {"ocsp signing", "OCSPSigning"},
    {"microsoft sgc", "msSGC"},
    {"netscape sgc", "nsSGC"},
};

enum {
    NKEY = sizeof KEY_USAGES / sizeof *KEY_USAGES,
    NEXTENDED = sizeof EXTENDED / sizeof *EXTENDED,
};

static bool is_asked(const struct pki_terms *t, const char *name)
{
    for (uint32_t i = 0; i < t->nusages; i++)
        if (str_is(t->usages[i], name))
            return true;
    return false;
}

static bool is_known(struct str usage, const struct usage *rows, int n)
{
    for (int i = 0; i < n; i++)
        if (str_is(usage, rows[i].name))
            return true;
    return false;
}

static bool check_usages(const struct pki_terms *t, struct err *e)
{
    for (uint32_t i = 0; i < t->nusages; i++)
        if (!is_known(t->usages[i], KEY_USAGES, NKEY) &&
            !is_known(t->usages[i], EXTENDED, NEXTENDED))
            return err_set(e, ERR_INVALID, "unrecognized usage values: [\"%.*s\"]",
                           STR_ARG(t->usages[i]));
    return true;
}

/* An extension with the usages that are asked for, each once; none without them. */
static bool add_usages(X509 *cert, X509V3_CTX *ctx, int nid, const char *critical,
                       const struct usage *rows, int n, const struct pki_terms *t)
{
    struct strbuf b = STRBUF_INIT;
    const char *last = "";
    strbuf_adds(&b, critical);
    size_t none = b.n;
    for (int i = 0; i < n; i++) {
        if (!is_asked(t, rows[i].name) || strcmp(rows[i].openssl, last) == 0)
            continue;
        last = rows[i].openssl;
        strbuf_addf(&b, "%s%s", b.n ? "," : "", last);
    }
    bool ok = b.n == none || pki_add_extension(cert, ctx, nid, strbuf_cstr(&b));
    strbuf_release(&b);
    return ok;
}

/* ---- names ---- */

GENERAL_NAMES *pki_names_of(const X509_REQ *request)
{
    STACK_OF(X509_EXTENSION) *list = X509_REQ_get_extensions((X509_REQ *)request);
    GENERAL_NAMES *names = X509V3_get_d2i(list, NID_subject_alt_name, NULL, NULL);
    sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
    return names;
}

static bool is_copied(const GENERAL_NAME *name)
{
    return name->type == GEN_DNS || name->type == GEN_EMAIL || name->type == GEN_IPADD ||
           name->type == GEN_URI;
}

static bool add_names(X509 *cert, const X509_REQ *request)
{
    GENERAL_NAMES *asked = pki_names_of(request), *names = GENERAL_NAMES_new();
    int critical = X509_NAME_entry_count(X509_get_subject_name(cert)) == 0;
    bool ok = names != NULL;
    for (int i = 0; ok && i < sk_GENERAL_NAME_num(asked); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(asked, i);
        ok = !is_copied(name) ||
             sk_GENERAL_NAME_push(names, GENERAL_NAME_dup((GENERAL_NAME *)name)) > 0;
    }
    if (ok && sk_GENERAL_NAME_num(names) > 0)
        ok = X509_add1_ext_i2d(cert, NID_subject_alt_name, names, critical, 0) == 1;
    GENERAL_NAMES_free(asked);
    GENERAL_NAMES_free(names);
    return ok;
}

/* ---- a certificate ---- */

static bool set_times(X509 *cert, const X509 *ca, int64_t seconds, struct err *e)
{
    const ASN1_TIME *until = X509_get0_notAfter(ca);
    time_t now = time(NULL), end = now + seconds - (seconds < SHORT_S ? 0 : BACKDATE_S);
    if (ASN1_TIME_cmp_time_t(until, now) <= 0)
        return err_set(e, ERR_INVALID, "the signer has expired");
    if (!ASN1_TIME_set(X509_getm_notBefore(cert), now - BACKDATE_S))
        return false;
    return ASN1_TIME_cmp_time_t(until, end) > 0
               ? ASN1_TIME_set(X509_getm_notAfter(cert), end) != NULL
               : X509_set1_notAfter(cert, until) == 1;
}

/* Go leaves a key usage out that would be empty, and names no key of an authority that
 * does not name its own. */
static bool add_extensions(X509 *cert, X509 *ca, const X509_REQ *request,
                           const struct pki_terms *t)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, ca, cert, NULL, NULL, 0);
    return add_usages(cert, &ctx, NID_key_usage, "critical", KEY_USAGES, NKEY, t) &&
           add_usages(cert, &ctx, NID_ext_key_usage, "", EXTENDED, NEXTENDED, t) &&
           pki_add_extension(cert, &ctx, NID_basic_constraints, "critical,CA:FALSE") &&
           (!X509_get0_subject_key_id(ca) ||
            pki_add_extension(cert, &ctx, NID_authority_key_identifier, "keyid")) &&
           add_names(cert, request);
}

static bool fill(X509 *cert, X509 *ca, X509_REQ *request, const struct pki_terms *t,
                 struct err *e)
{
    return X509_set_version(cert, X509_VERSION_3) && pki_set_serial(cert) &&
           X509_set_subject_name(cert, X509_REQ_get_subject_name(request)) &&
           X509_set_issuer_name(cert, X509_get_subject_name(ca)) &&
           X509_set_pubkey(cert, X509_REQ_get0_pubkey(request)) &&
           set_times(cert, ca, t->seconds, e) && add_extensions(cert, ca, request, t);
}

static X509_REQ *parse_request(struct str pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p ? pem.p : "", (int)pem.n);
    X509_REQ *request = PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL);
    BIO_free(bio);
    if (request && X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) == 1)
        return request;
    X509_REQ_free(request);
    return NULL;
}

/* A key of its own kind of signature has no digest. */
static const EVP_MD *digest_of(EVP_PKEY *key)
{
    int id = EVP_PKEY_get_base_id(key);
    return id == EVP_PKEY_ED25519 || id == EVP_PKEY_ED448 ? NULL : EVP_sha256();
}

static bool sign(X509 *ca, EVP_PKEY *key, X509_REQ *request, const struct pki_terms *t,
                 struct arena *a, struct str *out, struct err *e)
{
    X509 *cert = X509_new();
    struct err why = ERR_INIT;
    bool ok = cert && X509_check_private_key(ca, key) &&
              fill(cert, ca, request, t, &why) &&
              X509_sign(cert, key, digest_of(key)) > 0;
    if (ok)
        *out = pki_print_cert(cert, a);
    else if (why.code != ERR_NONE)
        err_set(e, ERR_INVALID, "%s", err_text(&why));
    else
        pki_fail(e, "certificate");
    err_release(&why);
    X509_free(cert);
    return ok;
}

bool pki_sign(const struct pki_pair *ca, struct str request_pem,
              const struct pki_terms *terms, struct arena *a, struct str *cert_pem,
              struct err *e)
{
    if (!check_usages(terms, e))
        return false;
    X509 *ca_cert = pki_parse_cert(ca->cert_pem);
    EVP_PKEY *key = pki_parse_key(ca->key_pem);
    X509_REQ *request = parse_request(request_pem);
    bool ok = false;
    if (ca_cert && key && request)
        ok = sign(ca_cert, key, request, terms, a, cert_pem, e);
    else
        pki_fail(e, request ? "the authority" : "the request");
    X509_REQ_free(request);
    EVP_PKEY_free(key);
    X509_free(ca_cert);
    return ok;
}
