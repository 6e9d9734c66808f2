/* SPDX-License-Identifier: GPL-2.0 */
/* kmod/bucket.c, built here as the unit tests build it. */
#ifndef _SRPOL_SIM_BUCKET_H
#define _SRPOL_SIM_BUCKET_H

#include <linux/types.h>

void srpol_bucket_primary(__u8 *primary, __u32 n, const __u32 *weight,
			  __u32 n_lists);

#endif /* _SRPOL_SIM_BUCKET_H */
