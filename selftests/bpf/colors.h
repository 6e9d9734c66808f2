/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy C of color C, from 1 to 7, to any endpoint, and
 * which of them takes a packet: what the tests of rules share.
 */
#ifndef _SRPOL_TEST_COLORS_H
#define _SRPOL_TEST_COLORS_H

#include "rig.h"

extern const struct inner colors_roce6;
extern const struct inner colors_tcp4;

void colors_policy(__u32 id, __u32 color, const char *endpoint);
/* Policy @id of color @id, set again as it is. */
void colors_policy_only(__u32 id);

void colors_setup(void);
__u64 colors_packets(__u32 id);
void colors_expect_env(const char *about, const struct inner *in,
		       const struct rig_env *env, __u32 color, int reason);
void colors_expect(const char *about, const struct inner *in, __u32 color,
		   int reason);
void colors_steered(const char *about, const struct inner *in, __u32 color);
void colors_unmatched(const char *about, const struct inner *in);

#endif /* _SRPOL_TEST_COLORS_H */
