/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What drivers last said of their devices, and for how long that holds. Asks nobody, and
 * is told what time it is.
 *
 * Source: spec 5.4 rules 2 to 6.
 */
#ifndef DRAY_NODE_HEALTH_TABLE_H
#define DRAY_NODE_HEALTH_TABLE_H

#include "node/checkpoint.h"

struct health_table;

enum { HEALTH_MAX_DEVICES = 16384 /* of a driver; others are passed over */ };

struct health_now {
    uint64_t mono_ms; /* never goes back */
    int64_t unix_s;   /* for the file */
    int32_t unix_ns;
};

struct health_said {                  /* of a device, by its driver */
    struct str pool, device, message; /* of any length */
    enum checkpoint_health health;
    int64_t timeout_s; /* 0 and less: half a minute */
};

struct health_is {
    enum checkpoint_health health;
    struct str message; /* until the table changes */
};

struct health_table *health_table_new(void);
void health_table_free(struct health_table *t);
/* Devices that are not reported stay, until what was said of them has grown old. True:
 * something is otherwise than before; health_table_has_changed says what. */
bool health_table_report(struct health_table *t, struct str driver,
                         const struct health_said *v, uint32_t n,
                         const struct health_now *now);
/* By the last report of that driver. */
bool health_table_has_changed(const struct health_table *t, struct str driver,
                              struct str pool, struct str device);
/* Nobody speaks for the driver anymore. */
void health_table_drop(struct health_table *t, struct str driver);
/* Unknown: not said, or too long ago. */
struct health_is health_table_get(const struct health_table *t, struct str driver,
                                  struct str pool, struct str device,
                                  const struct health_now *now);

/* As the file has it (checkpoint.h). Texts of the list live as long as the table does not
 * change, the list in a. */
struct checkpoint_reports health_table_list(const struct health_table *t,
                                            struct arena *a);
void health_table_take(struct health_table *t, const struct checkpoint_reports *r,
                       const struct health_now *now);

#endif
