/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TOS and traffic class across the tunnel: explicit congestion notification, RFC
 * 6040, and how the two fields of which they consist are written.
 */
#ifndef _SRPOL_ECN_H
#define _SRPOL_ECN_H

#include "base.h"

#define SRPOL_ECN_MASK		3

#define SRPOL_NOT_ECT		0
#define SRPOL_ECT_1		1
#define SRPOL_ECT_0		2
#define SRPOL_CE		3

#define SRPOL_ECN_DROP		0x80
#define SRPOL_ECN_ODD		0x40	/* RFC 6040 4.2: worth a log entry */

/* RFC 6040 figure 4: [inner][outer] -> inner codepoint and flags. */
static const __u8 srpol_ecn_decap_table[4][4] = {
	[SRPOL_NOT_ECT] = {
		[SRPOL_NOT_ECT] = SRPOL_NOT_ECT,
		[SRPOL_ECT_0] = SRPOL_NOT_ECT | SRPOL_ECN_ODD,
		[SRPOL_ECT_1] = SRPOL_NOT_ECT | SRPOL_ECN_ODD,
		[SRPOL_CE] = SRPOL_ECN_DROP,
	},
	[SRPOL_ECT_0] = {
		[SRPOL_NOT_ECT] = SRPOL_ECT_0,
		[SRPOL_ECT_0] = SRPOL_ECT_0,
		[SRPOL_ECT_1] = SRPOL_ECT_1,
		[SRPOL_CE] = SRPOL_CE,
	},
	[SRPOL_ECT_1] = {
		[SRPOL_NOT_ECT] = SRPOL_ECT_1,
		[SRPOL_ECT_0] = SRPOL_ECT_1 | SRPOL_ECN_ODD,
		[SRPOL_ECT_1] = SRPOL_ECT_1,
		[SRPOL_CE] = SRPOL_CE,
	},
	[SRPOL_CE] = {
		[SRPOL_NOT_ECT] = SRPOL_CE,
		[SRPOL_ECT_0] = SRPOL_CE,
		[SRPOL_ECT_1] = SRPOL_CE | SRPOL_ECN_ODD,
		[SRPOL_CE] = SRPOL_CE,
	},
};

/**
 * srpol_ecn_decap - what the inner ECN field becomes
 * @inner: inner TOS or traffic class
 * @outer: outer traffic class
 *
 * Return: codepoint, with SRPOL_ECN_ODD where it applies; SRPOL_ECN_DROP if
 * the packet has to be dropped.
 */
static __always_inline __u8 srpol_ecn_decap(__u8 inner, __u8 outer)
{
	return srpol_ecn_decap_table[inner & SRPOL_ECN_MASK]
				    [outer & SRPOL_ECN_MASK];
}

/* Change the TOS of an IPv4 header, checksum by RFC 1624 equation 3. */
static __always_inline void srpol_tos_set_v4(struct iphdr *ip, __u8 tos)
{
	__u32 sum = (__u16)~ip->check;

	/* Old word out, new word in; the version byte cancels out. */
	sum += (__u16)~bpf_htons(ip->tos) + bpf_htons(tos);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->check = ~sum;
	ip->tos = tos;
}

/* Change the traffic class of an IPv6 header, which is in two bytes. */
static __always_inline void srpol_tc_set_v6(struct ipv6hdr *ip6, __u8 tc)
{
	__be16 *first = (__be16 *)ip6;

	*first = (*first & bpf_htons(0xf00f)) | bpf_htons(tc << 4);
}

/* Change the ECN field of an IPv6 header: bits 4 and 5 of its second byte. */
static __always_inline void srpol_ecn_set_v6(struct ipv6hdr *ip6, __u8 ecn)
{
	__u8 *b = (__u8 *)ip6 + 1;

	*b = (*b & ~(SRPOL_ECN_MASK << 4)) | ecn << 4;
}

#endif /* _SRPOL_ECN_H */
