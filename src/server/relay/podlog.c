/* SPDX-License-Identifier: Apache-2.0 */
/* GET pods/NAME/log: what a container wrote, as its node's kubelet tells it. */
#include <errno.h>
#include <stdlib.h>

#include "api/timestamp.h"
#include "server/relay/relay.h"

struct log_number {
    bool given;
    int64_t value;
};

struct log_options {
    struct log_number limit_bytes, since_seconds, tail_lines;
    struct str since_time; /* STR_NONE: not given */
};

/* ---- what is asked for ---- */

/* As Go's ParseInt, in base 10. */
static bool read_number(struct request *r, const char *name, struct log_number *out)
{
    struct str s = query_get(&r->query, name);
    if (!s.p)
        return true;
    const char *text = arena_str(r->a, s).p;
    bool digits = s.n > 0 && (text[0] == '-' || text[0] == '+' ||
                              (text[0] >= '0' && text[0] <= '9'));
    char *end = NULL;
    errno = 0;
    *out = (struct log_number){true, strtoll(text, &end, 10)};
    if (!digits || *end)
        return fail_bad(r, "strconv.ParseInt: parsing \"%s\": invalid syntax", text);
    return errno == 0 ||
           fail_bad(r, "strconv.ParseInt: parsing \"%s\": value out of range", text);
}

static bool read_time(struct request *r, struct str *out)
{
    struct str s = query_get(&r->query, "sinceTime");
    int64_t seconds;
    int32_t nanos;
    if (!s.p)
        return true;
    if (s.n == 0 || str_is(s, "null")) {
        *out = STR("0001-01-01T00:00:00Z");
        return true;
    }
    if (!timestamp_parse(s, &seconds, &nanos))
        return fail_bad(r,
                        "parsing time \"%.*s\" as \"2006-01-02T15:04:05Z07:00\": cannot "
                        "parse \"%.*s\" as \"2006\"",
                        STR_ARG(s), STR_ARG(s));
    *out = timestamp_print(seconds, 0, false, r->a);
    return true;
}

static void refuse(struct request *r, const char *field, const char *reason,
                   const char *text)
{
    fail_cause(r, reason, str_from(text), str_from(field));
}

static void refuse_number(struct request *r, const char *field, int64_t value,
                          const char *why)
{
    struct str text =
        arena_printf(r->a, "Invalid value: %lld: %s", (long long)value, why);
    fail_cause(r, "FieldValueInvalid", text, str_from(field));
}

static bool check(struct request *r, const struct log_options *o)
{
    fail(r, 422, "Invalid", " ");
    if (o->tail_lines.given && o->tail_lines.value < 0)
        refuse_number(r, "tailLines", o->tail_lines.value,
                      "must be greater than or equal to 0");
    if (o->limit_bytes.given && o->limit_bytes.value < 1)
        refuse_number(r, "limitBytes", o->limit_bytes.value, "must be greater than 0");
    if (o->since_seconds.given && o->since_time.p)
        refuse(r, "", "FieldValueForbidden",
               "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be "
               "specified");
    else if (o->since_seconds.given && o->since_seconds.value < 1)
        refuse_number(r, "sinceSeconds", o->since_seconds.value,
                      "must be greater than 0");
    if (query_get(&r->query, "stream").p)
        refuse(r, "stream", "FieldValueForbidden", "Forbidden: may not be specified");
    return r->failure.causes.n == 0 ||
           fail_invalid(r, STR(""), "PodLogOptions", r->route.name);
}

/* ---- what the kubelet is asked ---- */

static void add_flag(struct request *r, struct strbuf *b, const char *name)
{
    if (query_bool(&r->query, name))
        target_param(b, name, STR("true"));
}

static void add_number(struct request *r, struct strbuf *b, const char *name,
                       struct log_number n)
{
    if (n.given)
        target_param(b, name, arena_printf(r->a, "%lld", (long long)n.value));
}

static struct str log_path(struct request *r, const struct log_options *o,
                           struct str container)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_addf(&b, "/containerLogs/%.*s/%.*s/%.*s", STR_ARG(r->route.namespace),
                STR_ARG(r->route.name), STR_ARG(container));
    add_flag(r, &b, "follow");
    add_number(r, &b, "limitBytes", o->limit_bytes);
    add_flag(r, &b, "previous");
    add_number(r, &b, "sinceSeconds", o->since_seconds);
    if (o->since_time.p)
        target_param(&b, "sinceTime", o->since_time);
    add_number(r, &b, "tailLines", o->tail_lines);
    add_flag(r, &b, "timestamps");
    struct str path = arena_str(r->a, strbuf_str(&b));
    strbuf_release(&b);
    return path;
}

static bool read_options(struct request *r, struct log_options *o)
{
    return read_number(r, "sinceSeconds", &o->since_seconds) &&
           read_time(r, &o->since_time) && read_number(r, "tailLines", &o->tail_lines) &&
           read_number(r, "limitBytes", &o->limit_bytes) && check(r, o);
}

void log_get(struct request *r)
{
    struct log_options o = {0};
    struct relay_target to = {0};
    struct cache_object *pod = NULL;
    struct str container = STR_NONE, node = STR_NONE;
    if (read_options(r, &o) && (pod = target_find(r, "pods", r->route.name))) {
        struct doc d = object_doc(pod, r->a);
        container = target_container(r, &d, query_get(&r->query, "container"));
        node = doc_get_text(doc_get(&d, "spec"), "nodeName");
    }
    if (container.p && node.n == 0) { /* it runs nowhere: nothing to tell */
        net_respond(r->x, 204, NULL, 0, STR_NONE);
        return;
    }
    if (!container.p || !target_of_node(r, node, &to)) {
        request_answer_failure(r);
        return;
    }
    to.unverified = query_bool(&r->query, "insecureSkipTLSVerifyBackend");
    to.target = log_path(r, &o, container);
    relay_start(r, &to, RELAY_LOG);
}
