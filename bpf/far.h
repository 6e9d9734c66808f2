/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets at a SID of behavior probe or reflect that are not probes of the
 * first form: requests of peers, which are reflected here, and probes of this
 * host that a peer has reflected and that are back.
 */
#ifndef _SRPOL_FAR_H
#define _SRPOL_FAR_H

#include "base.h"
#include "ecn.h"
#include "far_maps.h"
#include "far_packet.h"
#include "maps.h"
#include "probe_report.h"
#include "reflect.h"
#include "sid.h"
#include "sid_ctx.h"
#include "stats.h"

static __always_inline void srpol_far_enter(struct srpol_far *far,
					    const struct srpol_far_stamp *t,
					    __u64 now)
{
	__s64 there = srpol_far_ns(t->came_sec, t->came_nsec) -
		      srpol_far_ns(t->sender_sec, t->sender_nsec);
	__s64 back = now - srpol_far_ns(t->sec, t->nsec);
	__u64 reached = (__u64)bpf_ntohl(t->seq) + 1;

	if (there < far->there_ns)
		far->there_ns = there;
	if (back < far->back_ns)
		far->back_ns = back;
	/*
	 * probes may be reordered; if it is more, the peer has forgotten and
	 * counts anew
	 */
	if (far->forgot + reached + SRPOL_PROBE_SLOTS < far->reached) {
		far->forgot = far->reached;
		far->forgot_ce = far->ce;
	}
	reached += far->forgot;
	if (reached < far->reached)
		return;
	far->reached = reached;
	far->ce = far->forgot_ce + bpf_be64_to_cpu(t->ce);
	far->path_ce = bpf_be64_to_cpu(t->path_ce);
	far->hop_limit = t->sender_ttl;
}

/*
 * Take a probe that a peer has reflected. Return: SRPOL_REASON_PROBE if it
 * counts, else the enum srpol_reason to drop it for.
 */
__noinline int srpol_far_back(struct xdp_md *ctx,
			      const struct srpol_sid_ctx *sc __arg_nonnull,
			      struct srpol_far_packet *m __arg_nonnull)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	__u32 index = bpf_ntohs(m->stamp.ssid);
	__u64 now = bpf_ktime_get_ns(), sent_ns;
	struct srpol_pair *pair = NULL;
	struct srpol_probe *p;
	struct srpol_far *far;

	p = bpf_map_lookup_elem(&probes, &index);
	far = bpf_map_lookup_elem(&fars, &index);
	if (far)
		pair = bpf_map_lookup_elem(&pairs, far->peer);
	if (!p || !pair)
		return SRPOL_REASON_PROBE_STRANGE;
	if (!srpol_far_signed(pair, m))
		return SRPOL_REASON_PROBE_FORGED;
	if (!srpol_probe_same(ctx, p) ||
	    (void *)(ip6 + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_PROBE_STRANGE;
	sent_ns = srpol_far_ns(m->stamp.sender_sec, m->stamp.sender_nsec);
	if (bpf_be64_to_cpu(m->stamp.epoch) != far->epoch ||
	    srpol_probe_came(p, bpf_ntohl(m->stamp.sender_seq), sent_ns, now,
			     (sc->outer_tc & SRPOL_ECN_MASK) == SRPOL_CE,
			     ip6->hop_limit) < 0)
		return SRPOL_REASON_PROBE_STALE;
	srpol_far_enter(far, &m->stamp, now);
	return SRPOL_REASON_PROBE;
}

/**
 * srpol_far_take - take a packet at a SID for probes that is none of the first
 *	form
 * @ctx: packet
 * @sc: SID context: the same packet, parsed
 *
 * Return: XDP verdict.
 */
__noinline int srpol_far_take(struct xdp_md *ctx,
			      const struct srpol_sid_ctx *sc __arg_nonnull)
{
	__u32 zero = 0, id = sc->id;
	struct srpol_far_packet *p;
	int reason = SRPOL_REASON_PROBE_MALFORMED;

	p = bpf_map_lookup_elem(&far_packet, &zero);
	if (p && sc->does & SRPOL_DO_REFLECT)
		return srpol_reflect(ctx, sc, p);
	if (p && !sc->sl && srpol_far_read(ctx, sc, p) == SRPOL_STAMP_TLV_REPLY)
		reason = srpol_far_back(ctx, sc, p);
	if (reason != SRPOL_REASON_PROBE)
		return srpol_probe_drop(ctx, id, reason, 0, 0);
	srpol_sid_account(id, sc->bytes, false, false);
	srpol_count(SRPOL_REASON_PROBE);
	return XDP_DROP;
}

#endif /* _SRPOL_FAR_H */
