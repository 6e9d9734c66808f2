// SPDX-License-Identifier: GPL-2.0
/* Host ports: what a flow remembers that is not steered any more. */
#include "ktap.h"
#include "rig.h"
#include "spread.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1

/* Paths go down: the flow goes on to the stack. */
static void test_passthrough(void)
{
	struct srpol_dp_policy policy = { .mode = SRPOL_LB_MODE_HASH };
	struct inner in = spread_flow(QP);
	const struct rig_env env = {};
	struct srpol_flow f;
	struct pkt p;
	__u32 path;

	spread_setup(&policy, 0);
	rig_uplinks_clear();
	rig_uplink_add_tc(LO);
	pkt_inner(&p, &in);
	CHECK_EQ(rig_port_tc(&p, NULL, &env), X_REDIRECT, "steered");
	CHECK(rig_flow_of(QP, &f) && f.path, "has a path");
	for (path = 1; path <= PATHS; path++)
		rig_nexthop(path, LO, 0);
	CHECK_EQ(rig_port_tc(&p, NULL, &env), X_PASS, "not steered");
	rig_expect("not steered", SRPOL_REASON_STEERED, 1,
		   SRPOL_REASON_INVALID_PASSTHROUGH, 1, RIG_END);
	CHECK(rig_flow_of(QP, &f), "flow");
	CHECK_EQ(f.path, 0, "path of the last packet");
}

static const struct ktap_test tests[] = {
	{ "a flow whose policy has no path has none", test_passthrough },
};

int main(void)
{
	rig_open_only("srpol_port_tc");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
