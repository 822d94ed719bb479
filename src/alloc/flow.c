/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc/flow.h"

#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void send_directly(struct flow *f, uint32_t i)
{
    for (uint32_t j = 0; f->need[i] && j < f->nright; j++) {
        uint32_t at = i * f->nright + j;
        uint32_t n = least(f->need[i], least(f->cap[at], f->room[j]));
        f->x[at] += n;
        f->need[i] -= n;
        f->room[j] -= n;
    }
}

/* Moves one unit along the path found: start takes from the supply it reached, each on
 * the way gives one up and takes one of the next. */
static void push_back(struct flow *f, uint32_t last, uint32_t supply)
{
    f->room[supply]--;
    for (uint32_t i = last;;) {
        f->x[i * f->nright + supply]++;
        if (f->from[i] == i)
            return;
        uint32_t giver = i;
        supply = f->via[giver];
        f->x[giver * f->nright + supply]--;
        i = f->from[giver];
    }
}

/* Breadth first over those who want; via[i] is the supply that i would give up. */
static bool augment(struct flow *f, uint32_t start)
{
    uint32_t head = 0, tail = 0;
    memset(f->from, 0xff, f->nleft * sizeof *f->from);
    f->from[start] = start;
    f->queue[tail++] = start;
    while (head < tail) {
        uint32_t i = f->queue[head++];
        for (uint32_t j = 0; j < f->nright; j++) {
            if (f->x[i * f->nright + j] >= f->cap[i * f->nright + j])
                continue;
            if (f->room[j]) {
                push_back(f, i, j);
                return true;
            }
            for (uint32_t k = 0; k < f->nleft; k++)
                if (f->from[k] == UINT32_MAX && f->x[k * f->nright + j]) {
                    f->from[k] = i;
                    f->via[k] = j;
                    f->queue[tail++] = k;
                }
        }
    }
    return false;
}

bool flow_saturates(struct flow *f)
{
    memset(f->x, 0, (size_t)f->nleft * f->nright * sizeof *f->x);
    for (uint32_t i = 0; i < f->nleft; i++)
        send_directly(f, i);
    for (uint32_t i = 0; i < f->nleft; i++)
        while (f->need[i]) {
            if (!augment(f, i))
                return false;
            f->need[i]--;
        }
    return true;
}
