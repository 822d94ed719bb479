/* SPDX-License-Identifier: Apache-2.0 */
/* The files of examples/shapes, as gen-shapes.py puts them into the program. */
#ifndef DRAY_NODE_SHAPES_H
#define DRAY_NODE_SHAPES_H

#include <stddef.h>

struct shipped_shape {
    const char *name, *text;
    size_t size;
};

extern const struct shipped_shape shipped_shapes[]; /* ends with a name that is NULL */
extern const char shipped_shape_names[];            /* with ", " between */

#endif
