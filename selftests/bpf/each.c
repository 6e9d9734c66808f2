// SPDX-License-Identifier: GPL-2.0
#include "each.h"

struct in6_addr each_sids[SRPOL_SEGS_MAX];
const struct outer each_two = { .sids = each_sids, .n = 2 };
const struct outer each_six = { .sids = each_sids, .n = 6, .full = true };

void each_set_up(void)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 5, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_rule all = { .id = 1, .color = 5 };
	unsigned int i;

	for (i = 0; i < SRPOL_SEGS_MAX; i++)
		each_sids[i] = sid(i + 1);
	rig_reset();
	rig_nexthop(1, 1, 1);
	rig_path(1, &each_two, 1, 9000);
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_endpoint("fd00::", 16, "::1");
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	rig_rules(&all, 1);
	rig_mark();
}
