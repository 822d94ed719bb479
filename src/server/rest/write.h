/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of writing: an object on its way into the store. All writes end in write_commit,
 * which compares and swaps; when somebody else was faster, `again` is called to make the
 * object anew from what is there now.
 */
#ifndef DRAY_SERVER_REST_WRITE_H
#define DRAY_SERVER_REST_WRITE_H

#include "api/validate.h"
#include "server/inner.h"

enum write_answer { WRITE_OBJECT, WRITE_STATUS };

/* What a Service draws from ranges (claims.h). */
struct claim {
    struct str key;
    struct str address; /* empty: it is of a port */
    bool six;
    uint32_t port;
    uint64_t revision; /* of the claim that was made; 0: none */
};
struct claim_list {
    struct claim *v;
    uint32_t n;
};

struct write;
struct claims { /* of a write */
    struct claim_list take, drop;
    struct claim_list lost; /* that were others' when they were taken */
    uint32_t left;          /* answers to wait for */
    unsigned tries;         /* that lost one */
    bool failed, broken;    /* not all are taken; for the store's sake */
    void (*then)(struct write *w);
    void (*taken)(struct write *w, bool ok);
};

struct write {
    struct request *r;
    struct str name;
    struct str key;
    struct cache_object *old; /* reference; NULL: it is new */
    struct doc *live;         /* of it, once write_live was asked */
    struct doc body;          /* as sent, for `again` */
    bool patch;               /* made by a patch */
    bool owned;               /* managedFields are made already */
    bool quiet;               /* the answer keeps the old revision */
    bool drop;                /* the object goes */
    unsigned code;            /* of success */
    enum write_answer answer;
    struct doc object; /* in the hub version, as it will be (or was, of a drop) */
    void (*again)(struct write *w);
    unsigned tries;
    uint64_t submitted_ns; /* of measure.h */
    struct str uid, made;  /* of a new object, and its generated name: made once */
    struct claims claims;
    struct outcome { /* of the store */
        enum store_answer answer;
        uint64_t revision;
        struct str text;
    } outcome;
    unsigned waits;          /* for what failure.passing says may change */
    struct net_timer *timer; /* while it waits */
    struct write *next_waiting, **link_waiting;
    void (*then)(struct write *w, bool ok); /* instead of an answer */
    void *ctx;
};

struct str write_new_uid(struct arena *a);
/* base and five characters that no other has; base is cut where it is too long. */
struct str write_generate_name(struct str base, struct arena *a);

/* Reads the body as the request's kind: defaulted and canonical, in its version. */
bool write_read_body(struct request *r, struct doc *out);
/* As an object of another kind, for what a subresource is sent: policy, v1, Eviction. */
bool write_read_as(struct request *r, const char *group, const char *version,
                   const char *kind, struct doc *out);
/* The same for a document that is here already. */
bool write_check_as(struct request *r, const char *group, const char *version,
                    const char *kind, struct doc *d);
/* The same for a document that is here already; what: how failures call it. */
bool write_check(struct request *r, struct doc *d, const struct doc_source *src);
/* A document that was refused for its fields: warns of what to write instead. */
void write_advise(struct request *r, const struct doc *d);
/* The body as a mutable map, whatever it holds; src says where its places are. */
bool write_read_document(struct request *r, struct doc_source *src, struct doc *out);
/* Completes what was made from w->old, a document in the request's version, to
 * w->object: ownership, generation, admission, validation. */
bool write_finish_update(struct write *w, struct doc *d);
bool write_finish_create(struct write *w, struct doc *d);
/* Gives a new object its name and identity. */
void write_identify(struct write *w, struct doc *d);
/* Whether w->object waited for its end, and waits for nothing anymore. */
bool write_is_finished(struct write *w);
/* The failure is of what calls itself another kind. */
void write_name_kind(struct request *r, struct str kind);
/* Sends w->object to the store, or answers at once when there is nothing to do. */
void write_commit(struct write *w);
/* Ends it with the failure of the request. */
void write_fail(struct write *w);
/* Fails those that wait for something to come; none waits anymore once the server stops.
 */
void write_end_all(struct server *s);
/* managedFields of d, which takes the place of live (NULL: nothing); a list. Not to be
 * used when r waits or has failed afterwards: a webhook converts for owners in other
 * versions (write_stands). */
struct doc write_track(struct request *r, const struct doc *live, const struct doc *d);
/* The document of w->old, which nobody changes: it is read once. */
const struct doc *write_live(struct write *w);
/* Whether w->old can be had in the stored version and in that of the request; false: r
 * waits for a webhook, or has failed. */
bool write_readable(struct write *w);
bool write_stands(const struct request *r);
/* References w->old, the object of the request as it is now. */
bool write_load(struct write *w);

void write_set_meta(struct request *r, struct doc *d, const char *key, struct str value);
void write_drop_meta(struct doc *d, const char *key);
/* 422 with a cause for each error; false. */
bool write_fail_invalid(struct request *r, struct str name,
                        const struct api_errors *errors);

/* Deletes the object of the request as DeleteOptions say (NULL: none are given), then
 * tells instead of answering. */
void delete_for(struct request *r, const struct doc *options,
                void (*then)(struct write *w, bool ok), void *ctx);
/* A condition of a pod becomes true; since when it has been, it stays. */
void pod_set_condition(struct request *r, struct doc *pod, const char *type,
                       const char *reason, const char *message);

/* ---- which object is meant (identity.c); false: failed ---- */

bool identity_namespace(struct request *r, struct doc *d);
/* Sets w->name, a generated one if need be. */
void identity_name(struct write *w, struct doc *d);
/* Whether there is one; asked once all else is found right. */
bool identity_named(struct write *w);
bool identity_same_name(struct write *w, const struct doc *d);
/* Whether d, which is meant for the object live, names it by name and uid. */
bool identity_same(struct write *w, const struct doc *live, const struct doc *d);
bool identity_revision(struct write *w, const struct doc *live, const struct doc *d);

#endif
