/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of the wire that vmlinux.h does not carry (it has types, no macros)
 * and the one header the kernel has no public type for.
 */
#ifndef _SRPOL_PROTO_H
#define _SRPOL_PROTO_H

#define ETH_HLEN		14
#define VLAN_HLEN		4
#define IPV6_HLEN		40
#define SRH_HLEN		8	/* before the segment list */

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

#define IP_OFFSET_MASK		0x1fff
#define FRAG6_OFFSET_MASK	0xfff8

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

/* What a TCX program returns. */
#define SRPOL_TC_NEXT		(-1)	/* go on, other programs included */
#define SRPOL_TC_DROP		2

#endif /* _SRPOL_PROTO_H */
