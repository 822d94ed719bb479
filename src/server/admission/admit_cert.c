/* SPDX-License-Identifier: Apache-2.0 */
/* Who may approve and sign certificate requests, and what may be in them. */
#include "server/admission/admit.h"

#include "base/base64.h"
#include "server/access/user.h"

static bool may(struct admission *a, const char *verb, struct str name)
{
    struct attributes wants = {.verb = str_from(verb),
                               .group = STR("certificates.k8s.io"),
                               .version = STR("*"),
                               .resource = STR("signers"),
                               .name = name};
    return authorize_check(a->r->s, a->r->user, &wants);
}

static bool may_signer(struct admission *a, const char *verb, struct str signer)
{
    struct str domain = str_sub(signer, 0, str_find_byte(signer, '/', 0));
    return may(a, verb, signer) ||
           may(a, verb, arena_printf(a->r->a, "%.*s/*", STR_ARG(domain)));
}

static bool is_request(const struct admission *a, const char *sub)
{
    return admit_of(a, "certificates.k8s.io", "certificatesigningrequests") &&
           strcmp(admit_sub(a), sub) == 0;
}

static struct str signer_of(const struct doc *d)
{
    return doc_get_text(doc_get(d, "spec"), "signerName");
}

bool admit_request_subject(struct admission *a, struct pki_request *out)
{
    struct str text = doc_get_text(doc_get(a->object, "spec"), "request"), pem;
    return base64_decode(text, a->r->a, &pem) && pki_read_request(pem, a->r->a, out);
}

/* The signer as it was: the new one may be another. */
bool check_approval(struct admission *a)
{
    struct str signer = signer_of(a->old);
    return !is_request(a, "approval") || may_signer(a, "approve", signer) ||
           admit_forbid(a,
                        "user not permitted to approve requests with signerName \"%.*s\"",
                        STR_ARG(signer));
}

static bool same_at(const struct admission *a, const char *path)
{
    const struct doc *x = doc_path(a->object, path), *y = doc_path(a->old, path);
    return (!x && !y) || (x && y && doc_equal(x, y));
}

bool check_signing(struct admission *a)
{
    struct str signer = signer_of(a->old);
    return !is_request(a, "status") ||
           (same_at(a, "status.certificate") && same_at(a, "status.conditions")) ||
           may_signer(a, "sign", signer) ||
           admit_forbid(a, "user not permitted to sign requests with signerName \"%.*s\"",
                        STR_ARG(signer));
}

/* Of what the garbage collector and storage migration leave alone. */
static bool is_same_bundle(const struct admission *a)
{
    return a->old && same_at(a, "spec") && same_at(a, "metadata.labels") &&
           same_at(a, "metadata.annotations");
}

bool check_attest(struct admission *a)
{
    struct str signer = signer_of(a->object);
    return !admit_on(a, "certificates.k8s.io", "clustertrustbundles") || signer.n == 0 ||
           is_same_bundle(a) || may_signer(a, "attest", signer) ||
           admit_forbid(a, "user not permitted to attest for signerName \"%.*s\"",
                        STR_ARG(signer));
}

bool check_subject(struct admission *a)
{
    static const char SIGNER[] = "kubernetes.io/kube-apiserver-client";
    struct pki_request request;
    if (!is_request(a, "") || !str_is(signer_of(a->object), SIGNER))
        return true;
    if (!admit_request_subject(a, &request))
        return admit_forbid(a, "failed to parse CSR: PEM block type must be CERTIFICATE "
                               "REQUEST");
    for (uint32_t i = 0; i < request.ngroups; i++)
        if (str_is(request.groups[i], "system:masters"))
            return admit_forbid(
                a, "use of %s signer with system:masters group is not allowed", SIGNER);
    return true;
}
