/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Constants of protocols that vmlinux.h lacks (it has types, no macros), and
 * the one header that the kernel has no public type for.
 */
#ifndef _SRPOL_PROTO_H
#define _SRPOL_PROTO_H

#include "base.h"

#define ETH_HLEN		14
#define VLAN_HLEN		4
#define ETH_ALEN		6
#define ETH_MACS		12	/* both addresses */
#define IPV6_HLEN		40
#define SRH_HLEN		8	/* before the segment list */

/* Length of what every encapsulated frame begins with. */
#define SRPOL_FRONT		(ETH_HLEN + IPV6_HLEN)

#define ETH_P_IP		0x0800
#define ETH_P_IPV6		0x86dd
#define ETH_P_8021Q		0x8100
#define ETH_P_8021AD		0x88a8

#define NEXTHDR_HOP		0
#define NEXTHDR_IPV4		4
#define NEXTHDR_IPV6		41
#define NEXTHDR_ROUTING		43
#define NEXTHDR_FRAGMENT	44
#define NEXTHDR_AUTH		51
#define NEXTHDR_ICMP		58
#define NEXTHDR_DEST		60
#define NEXTHDR_MOBILITY	135
#define NEXTHDR_HIP		139
#define NEXTHDR_SHIM6		140

#define SRH_TYPE		4

#define VLAN_VID_MASK		0xfff

#define SRPOL_ADDR_BITS		128
#define IPV6_LABEL_MASK		0xfffff

#define IP_OFFSET_MASK		0x1fff
#define IP_FRAGMENT_MASK	0x3fff	/* more fragments, too */
#define FRAG6_OFFSET_MASK	0xfff8
#define FRAG6_FRAGMENT_MASK	0xfff9

#define ICMP_DEST_UNREACH	3
#define ICMP_FRAG_NEEDED	4
#define ICMPV6_PKT_TOOBIG	2
#define ICMPV6_INFO_MIN		128	/* lower types are errors */
#define NDISC_TYPE_MIN		133	/* router solicitation */
#define NDISC_TYPE_MAX		137	/* redirect */

#define IPV6_MTU_MIN		1280

#define ROCE_PORT		4791

/* Base transport header of RoCEv2. */
struct srpol_bth {
	__u8 opcode;
	__u8 flags;
	__be16 pkey;
	__be32 qp;	/* FECN, BECN, reserved: high byte */
	__be32 psn;	/* acknowledge request: high byte */
};

#define BTH_READ_RESP_FIRST	0x0d	/* to ATOMIC_ACK: responses */
#define BTH_ACK			0x11
#define BTH_ATOMIC_ACK		0x12
#define BTH_OPERATION		0x1f	/* of the opcode; above: the transport */
#define BTH_UC			0x20	/* lower ones are RC */
#define BTH_CNP			0x81
#define BTH_ACK_REQ		(1u << 31)	/* in the word of the PSN */
#define BTH_24_BITS		0xffffff

#define AETH_PSN_ERROR		0x60	/* syndrome: NAK, PSN sequence error */

/* Does the packet carry a PSN that its sender counts, not one of a response? */
static __always_inline bool srpol_bth_is_request(__u8 opcode)
{
	__u8 op = opcode & BTH_OPERATION;

	if (opcode == BTH_CNP)
		return false;
	return op < BTH_READ_RESP_FIRST || op > BTH_ATOMIC_ACK;
}

/*
 * How far PSN @a is ahead of @b, negative if it is behind. PSNs have 24 bits
 * and wrap.
 */
static __always_inline __s32 srpol_psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

/* What a TCX program returns. */
#define SRPOL_TC_NEXT		(-1)	/* continue, with other programs, too */
#define SRPOL_TC_DROP		2

/* Is an ICMP message of this type an error, about another packet? */
static __always_inline bool srpol_icmp_is_error(bool is_v4, __u8 type)
{
	if (!is_v4)
		return type < ICMPV6_INFO_MIN;
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

#endif /* _SRPOL_PROTO_H */
