/* SPDX-License-Identifier: GPL-2.0 */
/* Arguments of path selection. */
#ifndef _SRPOL_SELECT_ARGS_H
#define _SRPOL_SELECT_ARGS_H

#include "base.h"

/**
 * struct srpol_select_args - arguments of path selection
 * @cache: the flow's policy, and the path that it has there
 * @policy: policy to select from
 * @gen: generation
 * @version: srpol_version() of that policy
 * @hash: the flow's position on the bucket table
 */
struct srpol_select_args {
	union srpol_flow_cache cache;
	__u32 policy;
	__u32 gen;
	__u32 version;
	__u32 hash;
};

#endif /* _SRPOL_SELECT_ARGS_H */
