/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames at an uplink whose outer header is not where it should be: they have
 * VLAN tags, or headers that the driver has left in fragments.
 */
#ifndef _SRPOL_UPLINK_H
#define _SRPOL_UPLINK_H

#include "base.h"
#include "mac.h"
#include "parse.h"
#include "proto.h"
#include "sid.h"
#include "sid_cache.h"
#include "state.h"
#include "stats.h"

/*
 * Offset of the IPv6 header, 0 if the frame has none. @vlan: set to the id of
 * the first tag that has one.
 */
static __always_inline __u32 srpol_uplink_l3(struct xdp_md *ctx, __u16 *vlan)
{
	__u32 off = ETH_HLEN - sizeof(__be16), i;
	__be16 tag[2];

	bpf_for(i, 0, SRPOL_TAGS_MAX + 1) {
		if (bpf_xdp_load_bytes(ctx, off, tag, sizeof(tag)))
			return 0;
		if (tag[0] == bpf_htons(ETH_P_IPV6))
			return off + sizeof(__be16);
		if (!srpol_is_tag(tag[0]))
			return 0;
		if (!*vlan)
			*vlan = bpf_ntohs(tag[1]) & VLAN_VID_MASK;
		off += VLAN_HLEN;
	}
	return 0;
}

/**
 * srpol_uplink_other - take a frame whose outer header is not where it should
 *	be
 * @ctx: frame
 * @st: state of the data plane
 *
 * A packet for a local SID cannot be processed here, so that it must not go on:
 * if it has only priority tags, or headers in fragments, it is dropped. A
 * packet of another VLAN belongs to the device of that VLAN, and one to another
 * address is bridged, if at all; they are counted and passed.
 *
 * Return: XDP verdict.
 */
static __noinline int srpol_uplink_other(struct xdp_md *ctx,
					 struct srpol_state *st)
{
	const struct srpol_sid *sid;
	/* aligned, since it is read by words of 8 bytes */
	struct in6_addr daddr __attribute__((aligned(8)));
	struct ethhdr eth;
	__u16 vlan = 0;
	__u32 off;

	off = srpol_uplink_l3(ctx, &vlan);
	if (!off || bpf_xdp_load_bytes(ctx, off +
				       offsetof(struct ipv6hdr, daddr),
				       &daddr, sizeof(daddr)) ||
	    bpf_xdp_load_bytes(ctx, 0, &eth, sizeof(eth)))
		return XDP_PASS;
	sid = srpol_sid_find(st, &daddr);
	if (!sid)
		return XDP_PASS;
	if (vlan) {
		srpol_count_rare(SRPOL_REASON_SID_TAGGED);
		return XDP_PASS;
	}
	if (!srpol_mac_ours(ctx, &eth)) {
		srpol_count_rare(SRPOL_REASON_FOREIGN_MAC);
		return XDP_PASS;
	}
	return srpol_sid_drop(ctx, sid->id, SRPOL_REASON_SID_UNREADABLE);
}

#endif /* _SRPOL_UPLINK_H */
