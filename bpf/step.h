/* SPDX-License-Identifier: GPL-2.0 */
/* Advance to the next segment of an SRH. */
#ifndef _SRPOL_STEP_H
#define _SRPOL_STEP_H

#include "base.h"
#include "parse.h"
#include "srh.h"
#include "words.h"

/*
 * May packets be sent to this segment? Not to ::, ::1, a multicast or a
 * link-local address (RFC 4291 2.5.2, 2.5.3, 2.7 and 2.5.6).
 */
static __always_inline bool srpol_next_valid(const struct in6_addr *addr)
{
	const __be32 *w = addr->in6_u.u6_addr32;

	if (!(w[0] | w[1] | w[2]) && bpf_ntohl(w[3]) <= 1)
		return false;
	return !srpol_v6_link_scope(addr);
}

/*
 * Make @sl the segments left of the SRH, and that segment the destination.
 * Return: 0 or the enum srpol_reason of the failure.
 */
static __always_inline int srpol_step_srh(struct ipv6hdr *ip6, __u32 sl,
					  void *end)
{
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);
	struct in6_addr *seg;

	if ((void *)(srh + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	seg = srpol_srh_segment(srh, sl);
	if ((void *)(seg + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	srh->segments_left = sl;
	srpol_copy_addr(&ip6->daddr, seg);
	return 0;
}

#endif /* _SRPOL_STEP_H */
