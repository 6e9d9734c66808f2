/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One policy over four paths, and flows of one pair of hosts: what the tests of
 * modes share.
 */
#ifndef _SRPOL_TEST_SPREAD_H
#define _SRPOL_TEST_SPREAD_H

#include "rig.h"

#define PATHS		4	/* ids 1..4, next hop of path P is P */
#define BACKUP_PATH	9
#define POLICY		1
#define COLOR		5
#define MS		1000000ULL
#define CNP		0x81
#define QP		100
#define ROW		1
#define NO_GAP		0xffffffffu	/* ns: no gap is longer */

struct inner spread_flow(__u32 qp);
__u32 spread_even(__u32 bucket, const void *arg);
__u32 spread_two_two_one(__u32 bucket, const void *arg);
void spread_setup_row(const struct srpol_dp_policy *policy, __u8 ordering,
		      __u32 (*row)(__u32, const void *), const void *arg);
void spread_setup(const struct srpol_dp_policy *policy, __u8 ordering);
__u64 spread_packets(__u32 path);
__u32 spread_send(const struct inner *in);
void spread_send_only(const struct inner *in);
__u32 spread_path(__u32 qp);
void spread_quality(__u32 path, __u32 penalty, __u32 level);
void spread_check(const char *about, __u64 got, double want, double by);
void spread_bind(__u32 qp, __u32 local);
void spread_cnp(__u32 local);

/* What the programs go by, in ns and in ms. */
__u64 spread_now_ns(void);
__u64 spread_now_ms(void);

#endif /* _SRPOL_TEST_SPREAD_H */
