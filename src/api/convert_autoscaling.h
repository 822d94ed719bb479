/* SPDX-License-Identifier: Apache-2.0 */
/* HorizontalPodAutoscalers between autoscaling/v1 and v2, in which they are kept. */
#ifndef DRAY_API_CONVERT_AUTOSCALING_H
#define DRAY_API_CONVERT_AUTOSCALING_H

#include "doc/doc.h"

void convert_autoscaling_to_one(struct doc *object, struct arena *a);
void convert_autoscaling_to_two(struct doc *object, struct arena *a);

#endif
