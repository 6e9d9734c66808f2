/* SPDX-License-Identifier: GPL-2.0 */
/* What a path is selected from. */
#ifndef _SRPOL_SELECT_ARGS_H
#define _SRPOL_SELECT_ARGS_H

#include "base.h"

/**
 * struct srpol_select_args - what a path is selected from
 * @cache: the flow's policy, and the path it has there
 * @policy: policy to select from: that one or its backup
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
