/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the journal: what its writer (journal.c) and its reader share. */
#ifndef DRAY_DRIVER_JOURNAL_INNER_H
#define DRAY_DRIVER_JOURNAL_INNER_H

#include <stdint.h>

#include "base/map.h"
#include "driver/journal.h"

#define JOURNAL_KIND "dray-claims"
#define JOURNAL_HEADER JOURNAL_KIND " 1"
enum { JOURNAL_VERSION = 1 };

struct journal_entry {
    struct str key, value;
};

struct journal {
    struct journal_user user;
    char *dir, *path, *damaged;
    int fd;
    uint64_t good;         /* bytes of the file that are whole lines, read or written */
    uint64_t size;         /* of the file: zeros from good on */
    uint64_t live;         /* bytes of lines that the entries take */
    struct strmap entries; /* struct journal_entry */
    struct strbuf kept;    /* whole lines of later versions */
    struct strbuf pending; /* whole lines that the file does not have */
    struct strbuf words;   /* scratch */
    bool dirty;            /* since the last sync */
    bool broken;           /* the file must be written anew before it is added to */
};

void journal_set(struct journal *j, struct str key, struct str value);
void journal_add_line(struct strbuf *out, struct str words);
bool journal_rewrite(struct journal *j, struct err *e);
/* The whole file from its beginning. */
bool journal_load(struct journal *j, struct err *e);
/* The same for journal_peek. */
bool journal_look(struct journal *j, struct err *e);

#endif
