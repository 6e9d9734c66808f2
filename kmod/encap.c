// SPDX-License-Identifier: GPL-2.0
/*
 * Compile a segment list into the bytes the data plane copies in front of a
 * packet. RFC 8754 2 and 4.1, RFC 8986 5.1 and 5.2.
 */
#include "pure.h"

#define IP6_HLEN	40
#define IP6_NEXTHDR	6	/* offsets in the IPv6 header */
#define IP6_HOPLIMIT	7
#define IP6_SADDR	8
#define IP6_DADDR	24
#define SRH_HLEN	8	/* without the segment list */
#define SRH_TYPE	4
#define SID_LEN		16
#define NEXTHDR_RT	43

/* Elements the SRH carries; 0 means there is no SRH. */
static u32 srh_sids(u32 n_sids, enum srpol_encap encap)
{
	return encap == SRPOL_ENCAP_FULL ? n_sids : n_sids - 1;
}

/**
 * srpol_encap_len() - bytes an encapsulation adds to a packet
 * @n_sids: SIDs in the segment list, at least 1
 * @encap: form of the header
 *
 * Return: length of outer IPv6 header and SRH, if any.
 */
u32 srpol_encap_len(u32 n_sids, enum srpol_encap encap)
{
	u32 n = srh_sids(n_sids, encap);

	return IP6_HLEN + (n ? SRH_HLEN + n * SID_LEN : 0);
}

/**
 * srpol_encap_build() - compile a path
 * @out: @encap_len, @nh_off and @rewrite are filled in
 * @sids: segment list in order of travel
 * @n_sids: 1..SRPOL_SEGS_MAX
 * @encap: form of the header
 * @src: outer source address
 * @hop_limit: outer hop limit
 * @dmac: Ethernet address of the next hop
 * @smac: Ethernet address of the egress device
 *
 * Payload length, traffic class and flow label stay 0, and so does the byte
 * at @nh_off, which names the inner protocol.
 */
void srpol_encap_build(struct srpol_dp_path *out, const struct in6_addr *sids,
		       u32 n_sids, enum srpol_encap encap,
		       const struct in6_addr *src, u8 hop_limit,
		       const u8 *dmac, const u8 *smac)
{
	u32 n = srh_sids(n_sids, encap);
	u8 *ip6 = out->rewrite + ETH_HLEN;
	u8 *srh = ip6 + IP6_HLEN;
	u32 i;

	memset(out->rewrite, 0, sizeof(out->rewrite));
	memcpy(out->rewrite, dmac, ETH_ALEN);
	memcpy(out->rewrite + ETH_ALEN, smac, ETH_ALEN);
	put_unaligned_be16(ETH_P_IPV6, out->rewrite + 2 * ETH_ALEN);

	ip6[0] = 6 << 4;
	ip6[IP6_HOPLIMIT] = hop_limit;
	memcpy(ip6 + IP6_SADDR, src, SID_LEN);
	memcpy(ip6 + IP6_DADDR, &sids[0], SID_LEN);
	out->encap_len = srpol_encap_len(n_sids, encap);

	if (!n) {
		out->nh_off = ETH_HLEN + IP6_NEXTHDR;
		return;
	}

	ip6[IP6_NEXTHDR] = NEXTHDR_RT;
	out->nh_off = ETH_HLEN + IP6_HLEN;
	srh[1] = n * 2;
	srh[2] = SRH_TYPE;
	srh[3] = n_sids - 1;
	srh[4] = n - 1;
	/* element 0 is the last segment of the path */
	for (i = 0; i < n; i++)
		memcpy(srh + SRH_HLEN + i * SID_LEN, &sids[n_sids - 1 - i],
		       SID_LEN);
}
