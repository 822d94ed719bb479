/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that several files of rules look at. suffix is as for api_report_at. */
#ifndef DRAY_API_RULES_TEXT_H
#define DRAY_API_RULES_TEXT_H

#include "api/rules_util.h"

bool rules_among(struct str s, const char *choices); /* "a|b" */
int64_t rules_int(const struct doc *d, int64_t otherwise);
bool rules_port_name(struct api_at *at, const char *suffix, const struct doc *value);
void rules_config_key(struct api_at *at, const char *suffix, const struct doc *key);
void rules_no_backsteps(struct api_at *at, const char *suffix, const struct doc *value);
void rules_descending(struct api_at *at, const char *suffix, const struct doc *value);
void rules_local_path(struct api_at *at, const char *suffix, const struct doc *value);
/* A resource that containers can ask for. */
void rules_container_resource(struct api_at *at, const char *suffix,
                              const struct doc *value);
/* Any resource. */
void rules_resource(struct api_at *at, const char *suffix, const struct doc *value);
int64_t rules_share(const struct doc *d); /* 5 of 5 and of "5%" */
bool rules_is_zero_share(const struct doc *d);

#endif
