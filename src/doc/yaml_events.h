/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of doc: the events of libyaml with places as byte offsets, document by document.
 * kubectl cuts a stream at lines that start with ---, gives every line a line feed at its
 * end, and reads one YAML document from each piece; so does this. What kubectl would pass
 * over in silence behind a document is an error here.
 */
#ifndef DRAY_DOC_YAML_EVENTS_H
#define DRAY_DOC_YAML_EVENTS_H

#include <yaml.h>

#include "doc/doc.h"

struct yaml_events {
    const struct doc_source *src;
    struct err *err;
    yaml_event_t event; /* the last one that yaml_events_next got */
    bool have_event;
    size_t next;          /* where the text behind the piece begins */
    size_t from, to, fed; /* the piece that is parsed, how far the parser has it */
    bool fed_newline;
    bool parsing;
    yaml_parser_t parser;
    /* Marks count characters: the byte offset of one of them. */
    size_t mark_index, mark_offset;
};

bool yaml_events_init(struct yaml_events *ev, const struct doc_source *src, size_t from,
                      struct err *e);
void yaml_events_fini(struct yaml_events *ev);
/* Goes to the next piece of the stream; *more is false when there is none. */
bool yaml_events_piece(struct yaml_events *ev, bool *more);
bool yaml_events_next(struct yaml_events *ev);
/* Behind a document's value: nothing more may come in this piece. */
bool yaml_events_end(struct yaml_events *ev);
/* Where the event starts. */
uint32_t yaml_events_pos(struct yaml_events *ev);

#endif
