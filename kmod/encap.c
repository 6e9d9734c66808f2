// SPDX-License-Identifier: GPL-2.0
/*
 * Compile a segment list into the bytes the data plane copies in front of a
 * packet. RFC 8754 2, 2.1 and 4.1, RFC 8986 5.1 and 5.2.
 */
#include "pure.h"

#define IP6_HLEN	40
#define IP6_NEXTHDR	6	/* offsets in the IPv6 header */
#define IP6_HOPLIMIT	7
#define IP6_SADDR	8
#define IP6_DADDR	24
#define SRH_HLEN	8	/* without the segment list */
#define SRH_TYPE	4
#define SRH_TAG		6
#define SID_LEN		16
#define NEXTHDR_RT	43
#define TLV_HLEN	2
#define TLV_PADN	4
#define TLV_ALIGN	8

/**
 * srpol_encap_sids() - elements of the SRH's segment list
 * @hdr: what the header is to carry
 *
 * Return: their number, 0 if there is no SRH. TLVs need one, even if the only
 * SID is in the destination address already.
 */
u32 srpol_encap_sids(const struct srpol_header *hdr)
{
	if (hdr->encap == SRPOL_ENCAP_FULL)
		return hdr->n_sids;
	if (hdr->n_sids == 1 && (hdr->n_tlvs || hdr->timestamp))
		return 1;
	return hdr->n_sids - 1;
}

/* Bytes of the TLVs, without padding and timestamp. */
static u32 tlvs_len(const struct srpol_header *hdr)
{
	u32 len = 0, i;

	for (i = 0; i < hdr->n_tlvs; i++)
		len += TLV_HLEN + hdr->tlvs[i].len;
	return len;
}

/*
 * Bytes of padding that align the end of the TLVs, where the timestamp begins.
 */
static u32 pad_len(const struct srpol_header *hdr)
{
	return -tlvs_len(hdr) & (TLV_ALIGN - 1);
}

/**
 * srpol_encap_len() - bytes an encapsulation adds to a packet
 * @hdr: what the header is to carry
 *
 * Return: length of outer IPv6 header and SRH, if any.
 */
u32 srpol_encap_len(const struct srpol_header *hdr)
{
	u32 n = srpol_encap_sids(hdr);

	if (!n)
		return IP6_HLEN;
	return IP6_HLEN + SRH_HLEN + n * SID_LEN + tlvs_len(hdr) +
	       pad_len(hdr) + (hdr->timestamp ? SRPOL_TIMESTAMP_LEN : 0);
}

static void build_tlvs(struct srpol_dp_path *out,
		       const struct srpol_header *hdr, u8 *at)
{
	u32 pad = pad_len(hdr), i;

	for (i = 0; i < hdr->n_tlvs; i++) {
		const struct srpol_tlv *tlv = &hdr->tlvs[i];

		at[0] = tlv->type;
		at[1] = tlv->len;
		memcpy(at + TLV_HLEN, tlv->value, tlv->len);
		at += TLV_HLEN + tlv->len;
	}
	/* one byte of padding is a Pad1, which is a byte of 0 */
	if (pad > 1) {
		at[0] = TLV_PADN;
		at[1] = pad - TLV_HLEN;
	}
	at += pad;
	if (!hdr->timestamp)
		return;
	at[0] = SRPOL_TIMESTAMP_TYPE;
	at[1] = SRPOL_TIMESTAMP_LEN - TLV_HLEN;
	put_unaligned_be16(out->id, at + SRPOL_TIMESTAMP_PATH);
	out->timestamp_off = at - out->rewrite;
}

/**
 * srpol_encap_build() - compile a path
 * @out: @id is read; @encap_len, @nh_off, @timestamp_off and @rewrite are
 *	filled in
 * @hdr: what the header is to carry; its length has been checked
 * @outer: addresses, hop limit and tag of the outer header
 *
 * Payload length, traffic class and flow label stay 0, and so do the byte
 * at @nh_off, which names the inner protocol, and the timestamp that
 * packets fill in.
 */
void srpol_encap_build(struct srpol_dp_path *out,
		       const struct srpol_header *hdr,
		       const struct srpol_outer *outer)
{
	u32 n = srpol_encap_sids(hdr);
	u8 *ip6 = out->rewrite + ETH_HLEN;
	u8 *srh = ip6 + IP6_HLEN;
	u32 i;

	memset(out->rewrite, 0, sizeof(out->rewrite));
	memcpy(out->rewrite, outer->dmac, ETH_ALEN);
	memcpy(out->rewrite + ETH_ALEN, outer->smac, ETH_ALEN);
	put_unaligned_be16(ETH_P_IPV6, out->rewrite + 2 * ETH_ALEN);

	ip6[0] = 6 << 4;
	ip6[IP6_HOPLIMIT] = outer->hop_limit;
	memcpy(ip6 + IP6_SADDR, &outer->src, SID_LEN);
	memcpy(ip6 + IP6_DADDR, &hdr->sids[0], SID_LEN);
	out->encap_len = srpol_encap_len(hdr);
	out->timestamp_off = 0;

	if (!n) {
		out->nh_off = ETH_HLEN + IP6_NEXTHDR;
		return;
	}

	ip6[IP6_NEXTHDR] = NEXTHDR_RT;
	out->nh_off = ETH_HLEN + IP6_HLEN;
	srh[1] = (out->encap_len - IP6_HLEN - SRH_HLEN) / 8;
	srh[2] = SRH_TYPE;
	srh[3] = hdr->n_sids - 1;
	srh[4] = n - 1;
	if (outer->tag)
		put_unaligned_be16(out->id, srh + SRH_TAG);
	/* element 0 is the last segment of the path */
	for (i = 0; i < n; i++)
		memcpy(srh + SRH_HLEN + i * SID_LEN,
		       &hdr->sids[hdr->n_sids - 1 - i], SID_LEN);
	build_tlvs(out, hdr, srh + SRH_HLEN + n * SID_LEN);
}
