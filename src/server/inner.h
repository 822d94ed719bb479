/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the server: what its files share. A request lives in the arena of its
 * exchange until it is answered; everything runs on the loop's thread.
 *
 * A function that may fail for the client's sake returns false and leaves the answer in
 * r->failure; whoever called first answers with request_answer_failure.
 */
#ifndef DRAY_SERVER_INNER_H
#define DRAY_SERVER_INNER_H

#include "api/schema.h"
#include "base/map.h"
#include "base/vec.h"
#include "doc/doc.h"
#include "net/pki.h"
#include "server/admission/admission_config.h"
#include "server/observe/inflight.h"
#include "server/rest/selector.h"
#include "server/route.h"
#include "server/server.h"
#include "server/service/service_range.h"
#include "store/cache.h"
#include "store/store.h"

/* ---- what is served (kinds.c) ---- */

struct field_label { /* what a field selector may name beside name and namespace */
    const char *path;
    const char *absent; /* the value where the object has none */
    const char *stored; /* what it is called in the stored version; NULL: the same */
};

enum field_refusal { /* which words upstream has for an unknown field */
                     REFUSE_KNOWN_ONLY, /* "x" is not a known field selector: only ... */
                     REFUSE_CORE,       /* field label not supported: x */
                     REFUSE_QUOTED,     /* field label "x" not supported for Job */
                     REFUSE_KIND,       /* field label not supported for GROUP/VERSION,
                                           Kind=KIND: x */
};

struct field_labels {
    const char *group, *resource;
    enum field_refusal refusal;
    struct field_label labels[12]; /* ends with a NULL */
};

struct request;
typedef void verb_fn(struct request *r);

struct resource { /* a row of api_kinds that is served */
    const struct api_kind *kind;
    const struct api_kind *main; /* of a subresource: its resource, else kind */
    const struct api_kind *hub;  /* the resource in the version that is stored */
    const char *sub;             /* "status", "finalize"; NULL: a resource */
    struct str prefix;           /* "/registry/GROUP/RESOURCE/" */
    struct str api_version;      /* of kind */
    struct str head;             /* how a stored object begins, up to its metadata */
    const struct field_labels *labels; /* never NULL */
    const char *verbs;                 /* "create,list" */
    verb_fn *serve; /* all its verbs, of what is no object of the store; else NULL */
    bool relayed;   /* somebody else answers, in a form of his own */
    const struct custom_version *custom; /* NULL: built in (custom.h) */
};

struct server;
void kinds_init(struct server *s);
/* NULL: not served. resource may be "pods/status". */
const struct resource *kinds_find(const struct server *s, struct str group,
                                  struct str version, struct str resource);
/* The resource whose objects are kept below a key; NULL: none. */
const struct resource *kinds_of_key(const struct server *s, struct str key);
/* A kind in the version that is stored; NULL: there is none. group "" for the core. */
const struct resource *kinds_stored(const struct server *s, const char *group,
                                    const char *resource);
/* What the client of an old version is told; STR_NONE: nothing. */
struct str kinds_deprecation(const struct resource *res, struct arena *a);
bool kinds_has_verb(const struct resource *res, const char *verb);
bool kinds_group_served(const struct server *s, struct str group);
bool kinds_version_served(const struct server *s, struct str group, struct str version);
/* Whether a PUT of what is not there creates it. */
bool kinds_put_creates(const struct api_kind *k);
/* Whether a deletion's answer is the object, not a Status. */
bool kinds_delete_returns(const struct api_kind *k);
/* "PodList" */
const char *kinds_list_kind(const struct api_kind *k, struct arena *a);
/* Built-in ones alone: group and resource of a custom one may be theirs. */
bool kinds_built_in(const struct server *s, const char *group, const char *resource);
/* All that discovery lists: the i-th, or NULL. */
const struct resource *kinds_listed(const struct server *s, uint32_t i);

/* What is no object of the store, and no side of one (subresources.c). */
struct subresource {
    const char *group, *resource;
    verb_fn *serve;
    bool relayed;
};
const struct subresource *subresource_find(const struct api_kind *k);

/* ---- the folder (dir.c) ---- */

struct dir {
    int lock; /* of the folder; -1: none */
    struct pki_pair ca, serving, admin, kubelet_client;
    struct str token_key; /* of service accounts' tokens; PEM */
    /* Who signs the certificates of clients, and whom they should trust: PEM, one or
     * more. */
    struct str client_ca_pem, trusted_pem;
};
/* Opens or makes it; hosts are more names or addresses of the certificate. */
struct dir_hosts {
    const char *listen, *address, *service; /* "": none */
};
bool dir_open(struct dir *d, const char *path, const struct dir_hosts *hosts,
              struct arena *a, struct err *e);
/* Another certificate than the folder's own is shown to clients, who are told to trust
 * it; clients of more authorities are let in. NULL: as it was. */
bool dir_use_files(struct dir *d, const char *cert, const char *key,
                   const char *client_ca, struct arena *a, struct err *e);
bool dir_write_kubeconfig(const struct dir *d, const char *path, const char *url,
                          struct arena *a, struct err *e);
void dir_close(struct dir *d);
/* A file of 1 MiB at most. */
bool dir_read_file(struct arena *a, const char *path, struct str *out, struct err *e);

/* ---- the server (server.c) ---- */

struct server {
    struct arena arena; /* lives as long */
    struct net_loop *loop;
    struct net_server *http;
    struct net_server *local; /* at a Unix socket; NULL: none */
    unsigned stopping;        /* of these */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
    void (*more_metrics)(void *ctx, struct strbuf *out); /* NULL: none */
    void *more_ctx;
    struct store *store;
    struct cache *cache;
    struct dir dir;
    struct server_opts opts;
    struct api_gates gates;
    const char *url;
    struct resource *resources;
    uint32_t nresources;
    struct strmap by_name;                /* "GROUP/VERSION/RESOURCE" */
    struct strmap by_key;                 /* "GROUP/RESOURCE" */
    struct watcher *watchers;             /* open watches */
    struct sent *sent;                    /* what watches were told last (watch.c) */
    struct hooks *hooks;                  /* webhooks and policies (hooks.h) */
    struct net_h1_pool *hook_connections; /* kept for webhooks (hook_post.h) */
    struct auth *auth;                    /* who asks, and may they (auth.h) */
    struct relay *relays;                 /* what is being passed on */
    struct apiservice_sync *apiservices;  /* of definitions (apiservices.h) */
    struct openapi *openapi;              /* documents of what is served (openapi.h) */
    struct customs *customs;              /* kinds that are made at run time (custom.h) */
    struct definitions *definitions;      /* what is to happen to them (definition.h) */
    struct cleanup *cleanups;             /* of those that go */
    struct api_cel *cel;                  /* environments of expressions */
    struct kubelet_access {
        struct str cert_pem, key_pem, ca_pem; /* ca_pem empty: not verified */
        struct str address_types;             /* "Hostname,InternalIP" */
    } kubelet;
    uint64_t admission; /* the plugins that are on, a bit each (admission.h) */
    struct admission_config plugins;
    struct audit *audit; /* NULL: nothing is logged (audit.h) */
    struct inflight inflight;
    struct write *waiting;          /* writes that wait for something to come (write.h) */
    struct awaiting *awaiting;      /* requests whose admission waits (awaiting.h) */
    bool ending;                    /* no more of them */
    struct identity_lease *lease;   /* identity_lease.h; NULL: none yet */
    struct service_ranges services; /* --service-cluster-ip-range */
    struct port_range ports;        /* --service-node-port-range */
    struct repair *repair;          /* of what Services claim (claims.h) */
    struct quota_ledger *quotas;    /* what is being charged to quotas (quota.h) */
    struct metrics *metrics;        /* what is counted (metrics.h) */

    struct arena scratch; /* of decoding for the cache */
};

/* ---- requests (request.c) ---- */

enum media { MEDIA_JSON, MEDIA_YAML, MEDIA_PROTO };
enum media_as { AS_OBJECT, AS_METADATA, AS_METADATA_LIST, AS_TABLE };

struct accept { /* the form of the answer */
    enum media media;
    enum media_as as;
    const char *as_version; /* of meta.k8s.io: "v1", "v1beta1" */
};

struct failure {
    unsigned code;
    const char *reason; /* NULL: none */
    struct str message;
    bool has_details;
    struct str name, group, kind, uid;
    struct doc causes; /* a list */
    unsigned retry_seconds;
    bool passing; /* it may be otherwise in a moment: the write is worth another try */
    bool waits;   /* none yet: admission waits for somebody's answer (awaiting.h) */
};

struct user;
struct request {
    struct server *s;
    struct net_exchange *x;
    struct arena *a;
    struct route route;
    struct query query;
    const struct resource *res; /* of a ROUTE_RESOURCE */
    const struct user *user;    /* who asks (user.h) */
    struct accept accept;
    struct failure failure;
    VEC(struct str) warnings; /* in the arena's lifetime; released with the request */
    struct str now;           /* RFC 3339, whole seconds */
    const struct doc *sent;   /* before its empty lists went; NULL: it had none */
    bool shares_labels;       /* of what was sent: api_prepare */
    bool dry_run;
    bool pretty;               /* for people to read */
    struct str audit_id;       /* the answer's header Audit-Id, and the log's */
    struct audit_event *audit; /* NULL: it is not logged (audit.h) */
    bool lasts;                /* it ends when somebody wants it: a watch, a stream */
    unsigned place;            /* inflight.h */
    struct str token_volume;   /* of the pod that is made; its name (admit_account.c) */
    struct net_timer *timer;   /* when it has taken too long */
    struct awaiting *awaiting; /* what admission has asked others; NULL: nothing */
    struct payment *payment;   /* what quotas are charged for it; NULL: nothing */
    uint64_t begun_ns;         /* of measure.h */
    uint64_t sent_bytes;       /* of the answer's body */
    bool measured;             /* it is counted once it is over */
    bool lasting;              /* it is counted as open */
    bool *over;                /* set once the answer is given, while it is looked at */
    struct custom *held;       /* the rows that res belongs to; NULL: built in */
};

/* Large answers to who takes them compressed (gzip.c). n: of the body. */
bool gzip_wanted(const struct request *r, size_t n);
/* As net_respond_parts and net_respond_buf, later. */
void gzip_respond(struct request *r, unsigned code, const struct net_header *headers,
                  uint32_t nheaders, const struct net_parts *body);
void gzip_respond_buf(struct request *r, unsigned code, const struct net_header *headers,
                      uint32_t nheaders, struct strbuf *body);
/* Bytes as gzip has them, and back; any thread. n: what they are, at most. */
bool gzip_pack(struct str bytes, struct strbuf *out);
bool gzip_unpack(struct str packed, size_t n, struct strbuf *out);
/* Ends the request. */
void request_answer_failure(struct request *r);
/* The document is consumed: a version and form as asked for are made of it. */
void request_answer(struct request *r, unsigned code, struct doc *d);
void request_answer_object(struct request *r, unsigned code, struct cache_object *o);
void request_answer_bytes(struct request *r, unsigned code, const char *type,
                          struct strbuf *body);
/* Of bytes that stay where they are until they are sent. */
void request_answer_parts(struct request *r, unsigned code, const char *type,
                          const struct net_parts *body);
/* Makes the table or metadata that was asked for. */
bool request_shape(struct request *r, struct doc *d);
/* Are objects wanted as they are kept, so that their bytes serve? */
bool request_plain(const struct request *r);
enum { MAX_HEADERS = 40 };
/* Fills headers, MAX_HEADERS at most, with what every answer has; the warnings end with
 * it. Returns their number. */
uint32_t request_headers(struct request *r, const char *type, struct net_header *headers);
/* Of a path that is nobody's: 404 in plain text. */
void request_answer_nowhere(struct request *r);
/* Equal ones are told once. */
void request_warn(struct request *r, struct str text);

/* ---- failures (status.c): each returns false ---- */

bool fail(struct request *r, unsigned code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* With details that name the resource and an object. */
bool fail_object(struct request *r, unsigned code, const char *reason, struct str name,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool fail_bad(struct request *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
bool fail_missing(struct request *r, struct str name);
bool fail_conflict(struct request *r, struct str name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool fail_no_resource(struct request *r);
bool fail_method(struct request *r);
/* Adds a cause; strings are shared. field may be STR_NONE. */
void fail_cause(struct request *r, const char *reason, struct str message,
                struct str field);
/* 422 of the causes that r->failure has. */
bool fail_invalid(struct request *r, struct str group, const char *kind, struct str name);
struct doc failure_doc(struct arena *a, const struct failure *f);
/* "pods", "deployments.apps": how errors name a resource. */
struct str qualified(struct arena *a, struct str resource, struct str group);

/* ---- forms (media.c) ---- */

/* false: nothing that is accepted can be made (406). */
bool media_negotiate(struct request *r);
/* For watches: tables and metadata as for lists. */
const char *media_type(enum media m);
/* Of one alternative of an Accept header: its q, or 1. */
double media_weight(struct str clause);
bool media_content_type(struct request *r, struct str type, enum media *out);

/* ---- objects (object.c) ---- */

/* Bytes as they are stored: kind, apiVersion, metadata without resourceVersion, rest. */
void object_encode(const struct doc *d, struct strbuf *out);
bool object_decode(void *server, struct str key, struct str value, uint64_t revision,
                   struct cache_object *o);
/* Its JSON, and the newline that is behind it. */
struct str object_line(const struct cache_object *o);
/* JSON of a list's item: without kind and apiVersion. */
struct str object_item(const struct resource *res, const struct cache_object *o);
/* The object as it would be at another revision, in the arena. */
struct str object_json_at(const struct resource *res, const struct cache_object *o,
                          uint64_t revision, struct arena *a);
/* The mutable document of an object, in the stored version. */
struct doc object_doc(const struct cache_object *o, struct arena *a);
/* From the stored version into that of the resource. false: somebody has to be asked who
 * converts it, and r waits for that, or has failed; of built-in kinds never. r may be
 * NULL: nobody is asked (custom.h). */
bool object_convert(struct request *r, const struct resource *res, struct doc *d,
                    struct arena *a);
struct str object_key(const struct resource *res, struct str namespace, struct str name,
                      struct arena *a);
struct doc *object_meta(struct doc *d); /* the mutable map; NULL: there is none */
struct str meta_text(const struct doc *d, const char *member);

/* ---- verbs ---- */

void discovery_serve(struct request *r);
void read_get(struct request *r);
void read_list(struct request *r);
/* Of a list that is complete: one of custom resources says so in its metadata. */
void list_note_end(struct request *r, struct doc *meta);
void watch_serve(struct request *r);
/* Whether its options go together (watch_options.c). has_initial: sendInitialEvents is
 * said. */
bool watch_check_options(struct request *r, bool has_initial);
void watch_end_all(struct server *s);
struct custom;
/* Watches of a kind that is not what it was. */
void watch_end_custom(struct server *s, const struct custom *c);
void write_create(struct request *r);
void binding_create(struct request *r);
void eviction_create(struct request *r);
void log_get(struct request *r);
void exec_connect(struct request *r);
void attach_connect(struct request *r);
void portforward_connect(struct request *r);
void node_proxy_connect(struct request *r);
void pod_proxy_connect(struct request *r);
void service_proxy_connect(struct request *r);
void write_update(struct request *r);
void write_patch(struct request *r);
void delete_one(struct request *r);
void delete_collection(struct request *r);

/* Selection of a list, watch or collection. */
struct selection {
    struct selector labels, fields;
    const struct custom_version *custom; /* whose fields; NULL: built in */
};
bool selection_read(struct request *r, struct selection *out);
bool selection_matches(const struct selection *s, const struct cache_object *o);
/* "/registry/GROUP/RESOURCE/[NAMESPACE/]" of the request. */
struct str request_prefix(const struct request *r);
/* 0: none given. */
bool request_revision(struct request *r, uint64_t *out);

#endif
