/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SQLite file system that fails when it is told to, and knows what a power cut would
 * leave: it stands over the real one, counts its operations, and does not wait for the
 * disk.
 */
#ifndef DRAY_TESTS_STORE_SHIM_H
#define DRAY_TESTS_STORE_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/* Becomes the file system of every database opened from now on. */
void shim_install(void);

enum shim_fault {
    SHIM_IO_ERROR,  /* half of a write is done, then it fails */
    SHIM_DISK_FULL, /* writes alone fail */
    SHIM_NO_ROOM,   /* writes alone, where a file would grow */
};
/* Counts from 1 again; the n-th operation fails, and with forever set all behind it. */
void shim_fail_at(uint64_t n, enum shim_fault fault, bool forever);
/* Calls fn before the n-th operation, on its thread. */
void shim_call_at(uint64_t n, void (*fn)(void *ctx), void *ctx);
/* Nothing fails any more. True: something was to happen, and did. */
bool shim_disarm(void);

/* Writes into a directory what the files of another may hold after a power cut now: of
 * what was written since the last sync, any sectors, chosen by the seed. To be called by
 * fn. */
void shim_power_cut(const char *from, const char *to, uint64_t seed);

#endif
