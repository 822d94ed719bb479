/* SPDX-License-Identifier: Apache-2.0 */
#include "server/openapi.h"

#include <stdlib.h>

#include "server/inner.h"

struct openapi {
    openapi_kinds_fn *kinds; /* NULL: there are none but those of the tables */
    bool stale;              /* what is kept may be of kinds as they were */
};

void openapi_init(struct server *s)
{
    s->openapi = mem_zalloc(sizeof *s->openapi);
}

void openapi_free(struct server *s)
{
    free(s->openapi);
}

void openapi_set_kinds(struct server *s, openapi_kinds_fn *kinds)
{
    s->openapi->kinds = kinds;
    openapi_invalidate(s);
}

void openapi_invalidate(struct server *s)
{
    s->openapi->stale = true;
}

void openapi_serve(struct request *r)
{
    request_answer_nowhere(r);
}
