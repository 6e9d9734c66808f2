/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A local SID of behavior probe: the probes of this host's prober end here.
 * Packets of anybody else are told apart and reported. See srpol_probe.h, DOC:
 * probes.
 */
#ifndef _SRPOL_PROBE_H
#define _SRPOL_PROBE_H

#include "base.h"
#include "ecn.h"
#include "maps.h"
#include "far.h"
#include "probe_maps.h"
#include "probe_report.h"
#include "proto.h"
#include "sid.h"
#include "sid_ctx.h"
#include "siphash.h"
#include "stats.h"
#include "words.h"

/*
 * The base of a STAMP test packet, RFC 8762 4.2.1 and RFC 8972 3, and srpol's
 * TLV.
 */
struct srpol_stamp {
	__be32 seq;
	__be32 sec;
	__be32 nsec;
	__be16 error;
	__be16 ssid;
	__u8 zero[SRPOL_STAMP_LEN - SRPOL_STAMP_SIGNED];
	__u8 flags;
	__u8 type;
	__be16 len;
	__u64 tag;
} __attribute__((packed));

/* The test packet behind a whole SRH without TLVs, NULL if there is none. */
static __always_inline struct srpol_stamp *
srpol_probe_stamp(struct xdp_md *ctx, const struct srpol_sid_ctx *sc)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);
	void *end = (void *)(long)ctx->data_end;
	struct srpol_stamp *stamp;
	struct udphdr *udp;

	if (sc->sl || sc->nh != IPPROTO_UDP || (void *)(srh + 1) > end ||
	    sc->srh_len != SRH_HLEN + (srh->first_segment + 1) *
			  sizeof(struct in6_addr) ||
	    sc->payload < sc->srh_len + sizeof(*udp) + sizeof(*stamp))
		return NULL;
	udp = (void *)srh + srpol_sid_ctx_srh_len(sc);
	stamp = (void *)(udp + 1);
	if ((void *)(stamp + 1) > end ||
	    udp->dest != bpf_htons(SRPOL_STAMP_PORT) ||
	    stamp->flags || stamp->type != SRPOL_STAMP_TLV_TAG ||
	    stamp->len != bpf_htons(SRPOL_STAMP_TAG_LEN))
		return NULL;
	return stamp;
}

static __always_inline bool srpol_probe_signed(const struct srpol_stamp *stamp)
{
	const __u64 *m = (const __u64 *)stamp;
	const struct srpol_probe_key *key;
	__u32 zero = 0;

	key = bpf_map_lookup_elem(&probe_key, &zero);
	return key && key->set && srpol_siphash16(key->k, m) == stamp->tag;
}

/**
 * srpol_probe_take - take a packet that came to a SID of behavior probe
 * @ctx: packet
 * @sc: SID context: the same packet, parsed
 *
 * Return: XDP verdict; XDP_DROP for a probe, which ends here in any case.
 */
__noinline int srpol_probe_take(struct xdp_md *ctx,
				const struct srpol_sid_ctx *sc __arg_nonnull)
{
	struct srpol_stamp *stamp = srpol_probe_stamp(ctx, sc);
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	__u32 id = sc->id, index, seq;
	struct srpol_probe *p;
	__u64 sent_ns;
	int gap;

	if (!stamp || (void *)(ip6 + 1) > (void *)(long)ctx->data_end)
		return srpol_far_take(ctx, sc);
	if (!srpol_probe_signed(stamp))
		return srpol_probe_drop(ctx, id, SRPOL_REASON_PROBE_FORGED, 0,
					0);
	index = bpf_ntohs(stamp->ssid);
	seq = bpf_ntohl(stamp->seq);
	sent_ns = bpf_ntohl(stamp->sec) * SRPOL_NS_PER_SEC +
		  bpf_ntohl(stamp->nsec);
	p = bpf_map_lookup_elem(&probes, &index);
	if (!p || !srpol_probe_same(ctx, p))
		return srpol_probe_drop(ctx, id, SRPOL_REASON_PROBE_STRANGE,
					index, seq);
	gap = srpol_probe_came(p, seq, sent_ns, bpf_ktime_get_ns(),
			       (sc->outer_tc & SRPOL_ECN_MASK) == SRPOL_CE,
			       ip6->hop_limit);
	if (gap < 0)
		return srpol_probe_drop(ctx, id, SRPOL_REASON_PROBE_STALE,
					index, seq);
	srpol_sid_account(id, sc->bytes, false, false);
	srpol_count(SRPOL_REASON_PROBE);
	if (gap)
		srpol_probe_report(ctx, SRPOL_REASON_PROBE, index, seq);
	return XDP_DROP;
}

#endif /* _SRPOL_PROBE_H */
