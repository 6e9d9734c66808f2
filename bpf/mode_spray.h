/* SPDX-License-Identifier: GPL-2.0 */
/* Mode spray: packet by packet, where a rule allows to reorder. */
#ifndef _SRPOL_MODE_SPRAY_H
#define _SRPOL_MODE_SPRAY_H

static __always_inline __u32 srpol_bit_reverse(__u32 v)
{
	v = (v & 0x55555555) << 1 | (v >> 1 & 0x55555555);
	v = (v & 0x33333333) << 2 | (v >> 2 & 0x33333333);
	v = (v & 0x0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f);
	return __builtin_bswap32(v);
}

/**
 * srpol_spray_place - where on the bucket table a packet falls
 * @pkt: packet
 * @ask: its flow, the packet counted already, and its policy
 * @unsafe: set if the flow must not be sprayed
 *
 * The bits of a counter, reversed, are the van der Corput sequence: however
 * many packets are sent, each stretch of the table gets its share of them, all
 * but one or two. A path's buckets lie side by side.
 */
static __always_inline __u32
srpol_spray_place(const struct srpol_pkt *pkt, const struct srpol_ask *ask,
		  __u32 *unsafe)
{
	switch (ask->d->ordering) {
	case SRPOL_ORDERING_WEAK:
		if (ask->cfg->flags & SRPOL_POLICY_RANDOM)
			return bpf_get_prandom_u32();
		return ask->d->hash + srpol_bit_reverse(ask->flow->packets - 1);
	case SRPOL_ORDERING_PARTIAL:
		return ask->d->hash + srpol_hash2(pkt->key.sport, pkt->label);
	default:
		*unsafe = 1;
		return ask->d->hash;
	}
}

#endif /* _SRPOL_MODE_SPRAY_H */
