/* SPDX-License-Identifier: Apache-2.0 */
#include "server/observe/measure.h"

#include <stdio.h>

#include "base/clock.h"
#include "server/access/user.h"
#include "server/audit/audit.h"

uint64_t measure_now(void)
{
    return clock_mono_ns();
}

static double seconds_since(uint64_t since)
{
    return (double)(clock_mono_ns() - since) / 1e9;
}

/* ---- who asks ---- */

void measure_authentication(struct request *r, bool ok, uint64_t since)
{
    static const char *const KNOWN[] = {"admin", "client", "kube_proxy", "kubelet",
                                        "system:serviceaccount:kube-system:default"};
    struct metrics *m = r->s->metrics;
    struct str result = ok ? STR("success") : STR("failure"), name = STR("other");
    metrics_add(m, METRIC_AUTHENTICATION, &result, 1);
    metrics_observe(m, METRIC_AUTHENTICATION_SECONDS, &result, seconds_since(since));
    if (!ok)
        return;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (str_is(r->user->name, KNOWN[i]))
            name = r->user->name;
    if (str_find_byte(r->user->name, '@', 0) != SIZE_MAX)
        name = STR("email_id");
    metrics_add(m, METRIC_USERS, &name, 1);
}

void measure_authorization(struct request *r, bool ok, uint64_t since)
{
    struct str result = ok ? STR("allowed") : STR("no-opinion");
    metrics_add(r->s->metrics, METRIC_AUTHORIZATION, &result, 1);
    metrics_observe(r->s->metrics, METRIC_AUTHORIZATION_SECONDS, &result,
                    seconds_since(since));
}

/* ---- what is asked ---- */

struct asked {
    struct str component, group, resource, scope, subresource, verb, version, dry_run;
};

static bool is_stream(struct str sub)
{
    return str_is(sub, "exec") || str_is(sub, "attach") || str_is(sub, "portforward") ||
           str_is(sub, "proxy") || str_is(sub, "log");
}

/* A method that nobody knows may be anything. */
static struct str method_of(const struct request *r, struct str scope)
{
    static const char *const METHODS[] = {"POST", "PUT",  "PATCH",  "DELETE",
                                          "GET",  "HEAD", "OPTIONS"};
    struct str method = r->x->method;
    bool reads = str_is(method, "GET") || str_is(method, "HEAD");
    if (reads)
        return scope.n && !str_is(scope, "resource") ? STR("LIST") : STR("GET");
    if (str_is(method, "DELETE") && scope.n && !str_is(scope, "resource"))
        return STR("DELETECOLLECTION");
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        if (str_is(method, METHODS[i]))
            return method;
    return STR("other");
}

static struct str verb_of(const struct request *r, struct str scope, struct str sub)
{
    struct str type = net_header_get(r->x, "content-type");
    if (is_stream(sub))
        return STR("CONNECT");
    if (str_is(r->x->method, "GET") && query_bool(&r->query, "watch"))
        return STR("WATCH");
    if (str_is(r->x->method, "PATCH") && str_starts(type, STR("application/apply-patch")))
        return STR("APPLY");
    return method_of(r, scope);
}

/* The paths that are told apart. */
static struct str path_of(const struct request *r)
{
    static const char *const PATHS[] = {
        "/healthz", "/livez", "/readyz",     "/metrics",    "/version",       "/version/",
        "/api",     "/apis",  "/openapi/v2", "/openapi/v3", "/openid/v1/jwks"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        if (str_is(r->x->path, PATHS[i]))
            return r->x->path;
    return str_starts(r->x->path, STR("/openapi/v3/")) ? STR("openapi/v3") : STR("");
}

static struct str known(struct str s)
{
    return s.p ? s : STR("");
}

static struct asked asked_of(const struct request *r)
{
    struct asked q = {STR(""), STR(""), STR(""), STR(""),
                      STR(""), STR(""), STR(""), STR("")};
    const struct route *t = &r->route;
    if (t->form != ROUTE_RESOURCE) {
        q.subresource = path_of(r);
        q.verb = verb_of(r, STR(""), STR(""));
        return q;
    }
    q.component = STR("apiserver");
    q.group = known(t->group);
    q.version = known(t->version);
    q.resource = known(t->resource);
    q.subresource = known(t->subresource);
    q.scope = t->name.n || str_is(r->x->method, "POST") ? STR("resource")
              : t->namespace.n                          ? STR("namespace")
                                                        : STR("cluster");
    q.verb = verb_of(r, q.scope, q.subresource);
    q.dry_run = r->dry_run ? STR("All") : STR("");
    return q;
}

static struct str code_text(unsigned status, char *to, size_t n)
{
    int len = snprintf(to, n, "%u", status);
    return (struct str){to, (size_t)len};
}

static bool is_served(const struct request *r)
{
    return r->route.form != ROUTE_RESOURCE || r->res;
}

/* ---- its life ---- */

static void count_lasting(struct request *r, double by)
{
    struct asked q = asked_of(r);
    struct str labels[] = {q.component,   q.group, q.resource, q.scope,
                           q.subresource, q.verb,  q.version};
    metrics_add(r->s->metrics, METRIC_LASTING, labels, by);
}

void measure_begun(struct request *r)
{
    r->measured = true;
}

void measure_open(struct request *r)
{
    if (!r->lasts || r->lasting || !r->measured || !is_served(r))
        return;
    r->lasting = true;
    count_lasting(r, 1);
}

static void count_answer(struct request *r, const struct asked *q, unsigned status)
{
    char text[16];
    struct str code = code_text(status, text, sizeof text);
    struct str all[] = {code,     q->component,   q->dry_run, q->group,  q->resource,
                        q->scope, q->subresource, q->verb,    q->version};
    metrics_add(r->s->metrics, METRIC_REQUESTS, all, 1);
    metrics_observe(r->s->metrics, METRIC_REQUEST_SECONDS, all + 1,
                    seconds_since(r->begun_ns));
}

void measure_over(struct request *r, unsigned status)
{
    if (r->lasting)
        count_lasting(r, -1);
    r->lasting = false;
    if (!r->measured || !is_served(r))
        return;
    struct asked q = asked_of(r);
    struct str labels[] = {q.component,   q.group, q.resource, q.scope,
                           q.subresource, q.verb,  q.version};
    count_answer(r, &q, status);
    if (q.dry_run.n == 0)
        metrics_observe(r->s->metrics, METRIC_REQUEST_SLI_SECONDS, labels,
                        seconds_since(r->begun_ns));
    if (str_is(q.verb, "GET") || str_is(q.verb, "LIST"))
        metrics_observe(r->s->metrics, METRIC_RESPONSE_BYTES, labels,
                        (double)r->sent_bytes);
}

void measure_terminated(struct request *r, unsigned status)
{
    char text[16];
    struct asked q = asked_of(r);
    struct str code = code_text(status, text, sizeof text);
    struct str labels[] = {code,    q.component,   q.group, q.resource,
                           q.scope, q.subresource, q.verb,  q.version};
    metrics_add(r->s->metrics, METRIC_TERMINATIONS, labels, 1);
}

void measure_deprecated(struct request *r)
{
    struct asked q = asked_of(r);
    struct str labels[] = {q.group, STR(""), q.resource, q.subresource, q.version};
    metrics_set(r->s->metrics, METRIC_DEPRECATED, labels, 1);
}

void measure_event(const struct request *watch, size_t bytes)
{
    const struct route *t = &watch->route;
    struct str labels[] = {known(t->group), known(t->resource), known(t->version)};
    metrics_add(watch->s->metrics, METRIC_WATCH_EVENTS, labels, 1);
    metrics_observe(watch->s->metrics, METRIC_WATCH_BYTES, labels, (double)bytes);
}

/* ---- its parts ---- */

uint64_t measure_admission(const struct admission *a, const char *name, const char *type,
                           bool ok, uint64_t since)
{
    uint64_t now = clock_mono_ns();
    struct str labels[] = {name ? str_from(name) : STR(""), measure_operation(a),
                           ok ? STR("false") : STR("true"), str_from(type)};
    metrics_observe(a->r->s->metrics,
                    name ? METRIC_ADMISSION_CONTROLLER : METRIC_ADMISSION_STEP,
                    name ? labels : labels + 1, (double)(now - since) / 1e9);
    return now;
}

void measure_store(const struct request *r, const char *operation, bool ok,
                   uint64_t since)
{
    struct str labels[] = {str_from(r->res->main->group), str_from(operation),
                           str_from(r->res->main->resource)};
    metrics_add(r->s->metrics, METRIC_STORE_REQUESTS, labels, 1);
    metrics_observe(r->s->metrics, METRIC_STORE_SECONDS, labels, seconds_since(since));
    if (!ok)
        metrics_add(r->s->metrics, METRIC_STORE_ERRORS, labels, 1);
}

/* ---- what is looked up when somebody asks ---- */

static void print_gauge(struct strbuf *out, const char *name, const char *help, double v)
{
    metrics_print_head(out, name, "gauge", help);
    strbuf_addf(out, "%s ", name);
    metrics_print_number(out, v);
    strbuf_addc(out, '\n');
}

static void print_inflight(const struct server *s, struct strbuf *out)
{
    static const char NAME[] = "apiserver_current_inflight_requests";
    metrics_print_head(out, NAME, "gauge",
                       "Requests that have a place of those that are limited.");
    strbuf_addf(out, "%s{request_kind=\"mutating\"} %u\n", NAME, s->inflight.writing);
    strbuf_addf(out, "%s{request_kind=\"readOnly\"} %u\n", NAME, s->inflight.reading);
}

/* Each kind that is stored, once, whatever its versions. */
static bool is_first(const struct server *s, uint32_t i)
{
    const struct resource *r = kinds_listed(s, i);
    if (r->sub || r->serve)
        return false;
    for (uint32_t k = 0; k < i; k++) {
        const struct resource *before = kinds_listed(s, k);
        if (!before->sub && !before->serve && str_eq(before->prefix, r->prefix))
            return false;
    }
    return true;
}

static void print_objects(const struct server *s, struct strbuf *out)
{
    static const char NAME[] = "apiserver_resource_objects";
    metrics_print_head(out, NAME, "gauge", "Objects that are stored, by their kind.");
    const struct resource *r;
    for (uint32_t i = 0; (r = kinds_listed(s, i)); i++) {
        if (!is_first(s, i))
            continue;
        strbuf_addf(out, "%s{group=\"%s\",resource=\"%s\"} %llu\n", NAME, r->main->group,
                    r->main->resource,
                    (unsigned long long)cache_count(s->cache, r->prefix, STR_NONE));
    }
}

static void print_build(struct strbuf *out)
{
    metrics_print_head(out, "kubernetes_build_info", "gauge",
                       "1, with the version of Kubernetes that is served.");
    strbuf_adds(out,
                "kubernetes_build_info{build_date=\"\",compiler=\"\",git_commit=\"\","
                "git_tree_state=\"clean\",git_version=\"v1.37.2\",go_version=\"\","
                "major=\"1\",minor=\"37\",platform=\"linux/amd64\"} 1\n");
}

static void print_gates(const struct server *s, struct strbuf *out)
{
    static const char *const STAGES[] = {"ALPHA", "BETA", ""};
    static const char NAME[] = "kubernetes_feature_enabled";
    metrics_print_head(out, NAME, "gauge", "Whether a feature gate is on.");
    for (int i = 0; i < API_GATE_COUNT; i++)
        strbuf_addf(out, "%s{name=\"%s\",stage=\"%s\"} %d\n", NAME,
                    api_gate_name((enum api_gate)i),
                    STAGES[api_gate_stage((enum api_gate)i)],
                    api_gate(&s->gates, (enum api_gate)i));
}

void measure_serve(struct request *r)
{
    struct server *s = r->s;
    struct strbuf out = STRBUF_INIT;
    metrics_print(s->metrics, &out);
    print_inflight(s, &out);
    print_objects(s, &out);
    print_gauge(&out, "dray_store_revision", "The revision of the last change.",
                (double)cache_revision(s->cache));
    if (s->audit)
        print_gauge(&out, "dray_audit_events_lost", "Audit events that were not written.",
                    (double)audit_lost(s->audit));
    print_build(&out);
    print_gates(s, &out);
    measure_process(&out);
    if (s->more_metrics)
        s->more_metrics(s->more_ctx, &out);
    request_answer_bytes(
        r, 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", &out);
    strbuf_release(&out);
}
