/* SPDX-License-Identifier: Apache-2.0 */
/* Who a process is among those that want one lease. */
#ifndef DRAY_CLI_IDENTITY_H
#define DRAY_CLI_IDENTITY_H

enum { IDENTITY_SIZE = 128 };

/* As client-go's: the host's name, and something that no other process has. */
void identity_make(char out[IDENTITY_SIZE]);

#endif
