/* SPDX-License-Identifier: GPL-2.0 */
/* Mode spray: a path for each packet, where a rule allows reordering. */
#ifndef _SRPOL_MODE_SPRAY_H
#define _SRPOL_MODE_SPRAY_H

#include "base.h"
#include "flow_table.h"
#include "hash.h"
#include "parse.h"
#include "path.h"

static __always_inline __u32 srpol_bit_reverse(__u32 v)
{
	v = (v & 0x55555555) << 1 | (v >> 1 & 0x55555555);
	v = (v & 0x33333333) << 2 | (v >> 2 & 0x33333333);
	v = (v & 0x0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f);
	return __builtin_bswap32(v);
}

/**
 * srpol_spray_position - the position on the bucket table for a packet
 * @pkt: packet
 * @cfg: policy
 * @d: the decision about its flow
 * @packets: packets of the flow before this one
 * @sel: noted there if the flow must not be sprayed
 *
 * The bits of a counter in reverse order are the van der Corput sequence: after
 * any number of packets, each stretch of the table has had its share of them,
 * give or take one or two. The buckets of a path lie side by side.
 * Random positions depend on the counter, too: TC repeats the selection for a
 * packet that XDP left to it, and has to find the same path. Otherwise paths that
 * XDP cannot send by would get less than their share.
 */
static __always_inline __u32
srpol_spray_position(const struct srpol_pkt *pkt,
		     const struct srpol_policy_cfg *cfg,
		     const struct srpol_decision *d, __u32 packets,
		     struct srpol_selected *sel)
{
	switch (srpol_how_ordering(d->head.how)) {
	case SRPOL_ORDERING_WEAK:
		if (cfg->flags & SRPOL_POLICY_RANDOM)
			return srpol_hash2_apart(d->hash, packets);
		return d->hash + srpol_bit_reverse(packets);
	case SRPOL_ORDERING_PARTIAL:
		return d->hash + srpol_hash2(pkt->key.sport, pkt->label);
	default:
		sel->how |= SRPOL_SEL_UNSAFE;
		return d->hash;
	}
}

#endif /* _SRPOL_MODE_SPRAY_H */
