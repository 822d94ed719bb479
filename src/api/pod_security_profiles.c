/* SPDX-License-Identifier: Apache-2.0 */
/* AppArmor and seccomp in the Pod Security Standards. */
#include "api/pod_security_inner.h"
#include "base/quote.h"

static bool is_armor(struct str type)
{
    static const char *const OK[] = {"RuntimeDefault", "Localhost", NULL};
    return seen_among(type, OK);
}

static const char ARMOR[] = "container.apparmor.security.beta.kubernetes.io/";

static struct str assignment(struct look *l, struct str key, struct str value)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "%.*s=", STR_ARG(key));
    strbuf_add_quoted(&b, value);
    struct str text = arena_str(l->a, strbuf_str(&b));
    strbuf_release(&b);
    return text;
}

static void gather_armor(struct look *l)
{
    const struct doc *all = doc_get(l->meta, "annotations");
    for (uint32_t i = 0; all && all->type == DOC_MAP && i < all->n; i++) {
        struct str key = doc_key(&all->members[i]),
                   value = doc_str(&all->members[i].value);
        bool ok = value.n == 0 || str_is(value, "runtime/default") ||
                  str_starts(value, STR("localhost/"));
        if (str_starts(key, STR(ARMOR)) && !ok)
            vec_push(&l->more.v, assignment(l, key, value));
    }
    tell_set(&l->more);
}

void look_armor(struct look *l)
{
    const struct doc *own = seen_at(l->context, "appArmorProfile");
    bool pod = own && !is_armor(seen_text(own, "type"));
    if (pod)
        vec_push(&l->values.v, seen_text(own, "type"));
    for (uint32_t i = 0; i < l->ncontainers; i++) {
        const struct doc *p =
            seen_at(l->containers[i], "securityContext.appArmorProfile");
        if (!p || is_armor(seen_text(p, "type")))
            continue;
        vec_push(&l->bad.v, seen_name(l->containers[i]));
        vec_push(&l->values.v, seen_text(p, "type"));
    }
    tell_set(&l->values);
    gather_armor(l);
    bool any = pod || l->bad.v.n;
    if (!any && l->more.v.n == 0)
        return;
    tell_setters(l, pod, &l->bad);
    if (l->more.v.n)
        strbuf_addf(l->detail, "%s%s", any ? " and " : "",
                    tell_plural(&l->more, "annotation", "annotations"));
    for (size_t i = 0; i < l->more.v.n; i++)
        vec_push(&l->values.v, l->more.v.v[i]);
    l->reason = tell_plural(&l->values, "forbidden AppArmor profile",
                            "forbidden AppArmor profiles");
    strbuf_adds(l->detail, " must not set AppArmor profile type to ");
    tell_joined(l, &l->values, true);
}

/* As long as annotations said it. */
void look_seccomp_annotations(struct look *l)
{
    static const char POD[] = "seccomp.security.alpha.kubernetes.io/pod";
    const struct doc *all = doc_get(l->meta, "annotations");
    for (uint32_t i = 0; i <= l->ncontainers; i++) {
        struct str key =
            i == 0 ? str_from(POD)
                   : arena_printf(l->a,
                                  "container.seccomp.security.alpha.kubernetes.io/%.*s",
                                  STR_ARG(seen_name(l->containers[i - 1])));
        const struct doc *v = doc_get_str(all, key);
        if (v && !str_is(doc_str(v), "runtime/default") &&
            !str_is(doc_str(v), "docker/default") &&
            !str_starts(doc_str(v), STR("localhost/")))
            vec_push(&l->bad.v, assignment(l, key, doc_str(v)));
    }
    tell_set(&l->bad);
    if (l->bad.v.n == 0)
        return;
    l->reason = "seccompProfile";
    strbuf_addf(l->detail, "forbidden %s ",
                tell_plural(&l->bad, "annotation", "annotations"));
    tell_joined(l, &l->bad, false);
}

/* bad: containers whose profile is none of the allowed; more: those that have none, where
 * the pod has none for them. Returns whether the pod's own is not allowed. */
static bool gather_seccomp(struct look *l)
{
    const struct doc *own = seen_at(l->context, "seccompProfile");
    bool pod = own && !is_armor(seen_text(own, "type"));
    if (pod)
        vec_push(&l->values.v, seen_text(own, "type"));
    for (uint32_t i = 0; i < l->ncontainers; i++) {
        const struct doc *p = seen_at(l->containers[i], "securityContext.seccompProfile");
        if (!p && (!own || pod))
            vec_push(&l->more.v, seen_name(l->containers[i]));
        if (!p || is_armor(seen_text(p, "type")))
            continue;
        vec_push(&l->bad.v, seen_name(l->containers[i]));
        vec_push(&l->values.v, seen_text(p, "type"));
    }
    tell_set(&l->values);
    return pod;
}

static bool tell_seccomp(struct look *l, bool pod)
{
    if (!pod && l->bad.v.n == 0)
        return false;
    l->reason = "seccompProfile";
    tell_setters(l, pod, &l->bad);
    strbuf_adds(l->detail, " must not set securityContext.seccompProfile.type to ");
    tell_joined(l, &l->values, true);
    return true;
}

void look_seccomp(struct look *l)
{
    tell_seccomp(l, gather_seccomp(l));
}

void look_seccomp_restricted(struct look *l)
{
    bool windows = l->data != NULL;
    if ((windows && seen_windows(l)) || tell_seccomp(l, gather_seccomp(l)) ||
        l->more.v.n == 0)
        return;
    l->reason = "seccompProfile";
    strbuf_adds(l->detail, "pod or ");
    tell_containers(l, &l->more);
    strbuf_adds(l->detail, " must set securityContext.seccompProfile.type to "
                           "\"RuntimeDefault\" or \"Localhost\"");
}
