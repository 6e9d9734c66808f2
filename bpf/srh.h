/* SPDX-License-Identifier: GPL-2.0 */
/* The segment routing header, RFC 8754 2, of received packets. */
#ifndef _SRPOL_SRH_H
#define _SRPOL_SRH_H

#include "base.h"
#include "proto.h"

static __always_inline bool srpol_is_ext_header(__u8 nh)
{
	switch (nh) {
	case NEXTHDR_HOP:
	case NEXTHDR_FRAGMENT:
	case NEXTHDR_AUTH:
	case NEXTHDR_DEST:
	case NEXTHDR_MOBILITY:
	case NEXTHDR_HIP:
	case NEXTHDR_SHIM6:
		return true;
	default:
		return false;
	}
}

/**
 * srpol_srh_check - is a routing header an SRH that can be processed?
 * @srh: routing header
 * @room: bytes of the packet from the routing header on
 * @end: end of the linear data
 *
 * Checks are those of RFC 8754 2 and 4.3.1.1; an SRH without any segment is
 * refused, too.
 *
 * Return: 0 or the enum srpol_reason to drop the packet for.
 */
static __always_inline int srpol_srh_check(const struct ipv6_sr_hdr *srh,
					   __u32 room, const void *end)
{
	if (room < SRH_HLEN)
		return SRPOL_REASON_TRUNCATED;
	if ((const void *)(srh + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	if (srh->type != SRH_TYPE)
		return SRPOL_REASON_BAD_ROUTING_TYPE;
	if ((srh->hdrlen + 1) * 8 > room)
		return SRPOL_REASON_TRUNCATED;
	/*
	 * The last entry that fits is hdrlen / 2 - 1; -1 if there is no room
	 * for a segment.
	 */
	if (srh->first_segment > srh->hdrlen / 2 - 1)
		return SRPOL_REASON_BAD_HDRLEN;
	if (srh->segments_left > srh->first_segment + 1)
		return SRPOL_REASON_BAD_SEGMENTS_LEFT;
	return 0;
}

/*
 * Element @i of the segment list; the mask tells the verifier that @i is a
 * byte.
 */
static __always_inline struct in6_addr *srpol_srh_segment(void *srh, __u32 i)
{
	barrier_var(i);
	i &= 0xff;
	return srh + SRH_HLEN + i * sizeof(struct in6_addr);
}

#endif /* _SRPOL_SRH_H */
