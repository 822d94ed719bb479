/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor that becomes readable when the kernel tells of a device that came, went or
 * changed. */
#ifndef DRAY_DRIVER_UEVENT_H
#define DRAY_DRIVER_UEVENT_H

int uevent_new(void); /* -1: the system has none */
void uevent_drain(int fd);

#endif
