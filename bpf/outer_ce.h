/* SPDX-License-Identifier: GPL-2.0 */
/* Congestion marks on outer headers, counted by sender and path. */
#ifndef _SRPOL_OUTER_CE_H
#define _SRPOL_OUTER_CE_H

#include "base.h"
#include "hash.h"
#include "maps.h"
#include "proto.h"
#include "stats.h"
#include "words.h"

#define SRPOL_SRH_TAG		6	/* offset in the SRH */
#define SRPOL_TLV_HLEN		2	/* type and length */

/* Path id in the timestamp TLV, if that is the last TLV; else 0. */
static __always_inline __u32
srpol_ce_timestamp(struct xdp_md *ctx, __u32 srh_len, __u32 list_len)
{
	__u8 tlv[SRPOL_TIMESTAMP_PATH + sizeof(__be16)];

	if (srh_len < SRH_HLEN + list_len + SRPOL_TIMESTAMP_LEN ||
	    bpf_xdp_load_bytes(ctx, ETH_HLEN + IPV6_HLEN + srh_len -
			       SRPOL_TIMESTAMP_LEN, tlv, sizeof(tlv)))
		return 0;
	if (tlv[0] != SRPOL_TIMESTAMP_TYPE ||
	    tlv[1] != SRPOL_TIMESTAMP_LEN - SRPOL_TLV_HLEN)
		return 0;
	return tlv[SRPOL_TIMESTAMP_PATH] << 8 | tlv[SRPOL_TIMESTAMP_PATH + 1];
}

static __always_inline __u32 srpol_ce_list(struct xdp_md *ctx, __u32 list_len)
{
	__u32 hash = 0, off = ETH_HLEN + IPV6_HLEN + SRH_HLEN, i;
	__u32 seg[4];

	bpf_for(i, 0, SRPOL_SEGS_MAX) {
		if (i * sizeof(seg) >= list_len ||
		    bpf_xdp_load_bytes(ctx, off + i * sizeof(seg), seg,
				       sizeof(seg)))
			break;
		hash = srpol_hash2(hash, seg[0]);
		hash = srpol_hash2(hash, seg[1]);
		hash = srpol_hash2(hash, seg[2]);
		hash = srpol_hash2(hash, seg[3]);
	}
	return hash;
}

/**
 * srpol_outer_ce - count a congestion mark on the outer header
 * @ctx: packet, its outer header still in place
 * @path_id: enum srpol_path_id: where to look for the path id
 * @srh_len: bytes of the SRH, 0 without one
 *
 * Global, so that the verifier checks it once.
 */
__noinline int srpol_outer_ce(struct xdp_md *ctx, __u32 path_id,
			      __u32 srh_len)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);
	void *end = (void *)(long)ctx->data_end;
	__u32 label, tag = 0, list_len = 0;
	struct srpol_ce_key key = {};
	struct srpol_ce *v, first;

	srpol_count_rare(SRPOL_REASON_OUTER_CE);
	if ((void *)(ip6 + 1) > end)
		return 0;
	srpol_copy_addr(key.peer, &ip6->saddr);
	label = bpf_ntohl(*(__be32 *)ip6) & IPV6_LABEL_MASK;
	if (srh_len && (void *)(srh + 1) <= end) {
		tag = bpf_ntohs(*(__be16 *)((void *)srh + SRPOL_SRH_TAG));
		list_len = (srh->first_segment + 1) * sizeof(struct in6_addr);
	}
	if (srh_len) {
		key.list = srpol_ce_list(ctx, list_len);
		key.path = srpol_ce_timestamp(ctx, srh_len, list_len);
	}
	if (!key.path && path_id == SRPOL_PATH_ID_LABEL)
		key.path = label >> SRPOL_LABEL_ID_SHIFT;
	else if (!key.path && path_id == SRPOL_PATH_ID_TAG)
		key.path = tag;

	v = bpf_map_lookup_elem(&ce_peers, &key);
	if (v) {
		__sync_fetch_and_add(&v->ce, 1);
		WRITE_ONCE(v->last_ns, bpf_ktime_get_coarse_ns());
		return 0;
	}
	first.ce = 1;
	first.last_ns = bpf_ktime_get_coarse_ns();
	return bpf_map_update_elem(&ce_peers, &key, &first, BPF_ANY);
}

#endif /* _SRPOL_OUTER_CE_H */
