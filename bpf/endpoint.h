/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SRv6 endpoint (RFC 8986 4, RFC 9800 4.1) at XDP. The checks are strict: a
 * packet that is not exactly right is dropped, and counted under a reason of
 * its own.
 */
#ifndef _SRPOL_ENDPOINT_H
#define _SRPOL_ENDPOINT_H

#include "base.h"
#include "adjacency.h"
#include "binding.h"
#include "decap.h"
#include "endpoint_error.h"
#include "icmp_xdp.h"
#include "parse.h"
#include "sid.h"
#include "sid_cache.h"
#include "sid_ctx.h"
#include "srh.h"
#include "state.h"
#include "stats.h"
#include "step.h"
#include "usid.h"
#include "words.h"

/* How many SIDs of this node one packet may visit in a row. */
#define SRPOL_END_CHAIN		4

/* Not a verdict: the destination is a SID of this node, see srpol_step_next(). */
#define SRPOL_STEP_LOCAL	(-1)

/* What to do with a packet at a SID that advances to the next segment. */
enum srpol_step {
	SRPOL_STEP_NEXT,	/* next segment */
	SRPOL_STEP_DECAP,	/* no segment is left: decapsulate */
	SRPOL_STEP_DROP,	/* for the reason in @reason */
};

/* Is the next segment in the destination address, not in the SRH? */
static __always_inline bool srpol_step_shifts(__u32 does,
					      const struct ipv6hdr *ip6,
					      const struct srpol_sid *sid)
{
	return does & SRPOL_DO_CSID && srpol_usid_more(&ip6->daddr, sid);
}

/*
 * Is there a next segment? @shift is set if it is in the destination address,
 * not in the SRH. The checks come in the order of the RFCs; the hop limit is
 * the last one.
 */
static __always_inline enum srpol_step
srpol_step_check(const struct srpol_sid_ctx *sc, const struct ipv6hdr *ip6,
		 bool *shift, int *reason)
{
	*shift = srpol_step_shifts(sc->does, ip6, sc->sid);
	if (!*shift && !sc->sl) {
		if (srpol_decap_takes(sc->does, sc->nh))
			return SRPOL_STEP_DECAP;
		*reason = SRPOL_REASON_UPPER_LAYER;
		if (sc->srh_len && !(sc->does & SRPOL_DO_DECAP))
			*reason = SRPOL_REASON_NO_SEGMENTS_LEFT;
		return SRPOL_STEP_DROP;
	}
	*reason = SRPOL_REASON_HOP_LIMIT;
	return ip6->hop_limit > 1 ? SRPOL_STEP_NEXT : SRPOL_STEP_DROP;
}

/*
 * Advance to the next segment. The SID is looked up again: in a global function,
 * which the verifier checks once, @sc->sid is no pointer. If it was replaced
 * meanwhile, the packet does not advance. Return: SRPOL_STEP_LOCAL if the
 * destination is a SID of this node now, too, where the packet is processed.
 * XDP_PASS if it is not, and the kernel forwards the packet and decrements its hop
 * limit, or if TC sends it to an adjacency. Minus the MTU, below SRPOL_STEP_LOCAL, if
 * the packet was too big for its adjacency and has been counted as dropped: the caller
 * sends the error, as there is no room for it on the stack here.
 */
__noinline int srpol_step_next(struct xdp_md *ctx,
			       struct srpol_sid_ctx *sc __arg_nonnull,
			       bool shift)
{
	struct srpol_state *st = srpol_state_get();
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	void *end = (void *)(long)ctx->data_end;
	const struct srpol_sid *sid;
	__u32 id, dev = 0, bytes, mtu;
	int err = 0;

	if (!st || (void *)(ip6 + 1) > end)
		return srpol_sid_drop(ctx, 0, SRPOL_REASON_NO_HEADROOM);
	sid = srpol_sid_find(st, &ip6->daddr);
	if (!sid) {
		/* deleted meanwhile */
		srpol_count_rare(SRPOL_REASON_NOT_LOCAL);
		return XDP_PASS;
	}
	if (sid->does != sc->does ||
	    srpol_step_shifts(sc->does, ip6, sid) != shift)
		return SRPOL_STEP_LOCAL;	/* another one by now */
	id = sid->id;
	if (sc->does & SRPOL_DO_X) {
		dev = srpol_adjacency_dev(sid);
		if (!dev)
			return srpol_sid_drop(ctx, id,
					      SRPOL_REASON_ADJACENCY_DOWN);
		/* without the SRH that an earlier SID of this node has removed */
		bytes = sc->payload + sizeof(*ip6);
		if (!shift && sc->sl == 1 && sc->does & SRPOL_DO_PSP)
			bytes -= sc->srh_len;
		mtu = srpol_adjacency_exceeded(ctx, dev, bytes);
		if (mtu) {
			srpol_sid_drop(ctx, id, SRPOL_REASON_TOO_BIG);
			return mtu < IPV6_MTU_MIN ? -IPV6_MTU_MIN : -(int)mtu;
		}
	}
	if (shift)
		srpol_usid_next(&ip6->daddr, sid);
	else
		err = srpol_step_srh(ip6, --sc->sl, end);
	if (!err && !shift && !sc->sl && sc->does & SRPOL_DO_PSP) {
		err = srpol_sid_ctx_pop_srh(ctx, sc);
		ip6 = (void *)(long)ctx->data + ETH_HLEN;
		if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
			err = SRPOL_REASON_NO_HEADROOM;
	}
	if (err)
		return srpol_sid_drop(ctx, id, err);
	if (!srpol_next_valid(&ip6->daddr))
		return srpol_sid_drop(ctx, id, SRPOL_REASON_BAD_NEXT);
	srpol_sid_account(id, sc->bytes, shift && !sc->srh_len, false);
	srpol_count(shift ? SRPOL_REASON_USID_NEXT : SRPOL_REASON_END);

	if (sc->does & SRPOL_DO_X) {
		ip6->hop_limit--;
		return srpol_adjacency_send(ctx, sid, dev);
	}
	if (!srpol_sid_find(st, &ip6->daddr))
		return XDP_PASS;
	ip6->hop_limit--;
	return SRPOL_STEP_LOCAL;
}

/*
 * A probe comes from this host, and is known by more than its source, which may
 * be outside the SR domain.
 */
static __always_inline int srpol_endpoint_refuse(struct xdp_md *ctx,
						 const struct srpol_sid_ctx *sc,
						 int reason)
{
	if (reason == SRPOL_REASON_BAD_SOURCE && sc->does & SRPOL_DO_PROBE)
		return srpol_probe_take(ctx, sc);
	return srpol_endpoint_error(ctx, sc, reason);
}

/**
 * srpol_endpoint - process a packet whose destination is a local SID
 * @ctx: packet
 * @ip6: its IPv6 header, known to be linear
 * @st: state of the data plane
 * @sid: the SID
 *
 * Return: XDP verdict.
 */
static __always_inline int srpol_endpoint(struct xdp_md *ctx,
					  struct ipv6hdr *ip6,
					  struct srpol_state *st,
					  const struct srpol_sid *sid)
{
	const struct srpol_dp_config *cfg;
	struct srpol_sid_ctx sc = { .sid = sid, .id = sid->id };
	enum srpol_step step;
	int i, err, verdict;
	bool shift;

	cfg = srpol_config(st, srpol_now_read(st).gen);
	err = srpol_sid_ctx_parse(ctx, &ip6, &sc);
	if (!err && cfg->n_domain &&
	    !srpol_domain_has(cfg, cfg->n_domain, &ip6->saddr))
		err = SRPOL_REASON_BAD_SOURCE;
	if (err)
		return srpol_endpoint_refuse(ctx, &sc, err);

	for (i = 0; i <= SRPOL_END_CHAIN; i++) {
		if (!(sc.does & SRPOL_DO_END))
			return srpol_decap(ctx, cfg, &sc);
		ip6 = (void *)(long)ctx->data + ETH_HLEN;
		if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
			return XDP_DROP;
		step = srpol_step_check(&sc, ip6, &shift, &err);
		if (step == SRPOL_STEP_DECAP)
			return srpol_decap(ctx, cfg, &sc);
		if (step == SRPOL_STEP_DROP)
			return srpol_endpoint_error(ctx, &sc, err);
		if (i == SRPOL_END_CHAIN)
			break;
		if (sc.does & SRPOL_DO_B6) {
			verdict = srpol_binding(ctx, sc.id,
						sc.sid->policy);
			if (verdict < SRPOL_BINDING_END)
				return srpol_icmp_xdp(ctx, SRPOL_ICMP_TOO_BIG,
						      -verdict);
			if (verdict != SRPOL_BINDING_END)
				return verdict;
		}
		verdict = srpol_step_next(ctx, &sc, shift);
		if (verdict < SRPOL_STEP_LOCAL)
			return srpol_icmp_xdp(ctx, SRPOL_ICMP_TOO_BIG, -verdict);
		if (verdict != SRPOL_STEP_LOCAL)
			return verdict;
		ip6 = (void *)(long)ctx->data + ETH_HLEN;
		if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
			return XDP_DROP;
		sid = srpol_sid_find(st, &ip6->daddr);
		if (!sid) {
			srpol_count_rare(SRPOL_REASON_NOT_LOCAL);
			return XDP_PASS;
		}
		srpol_sid_ctx_goto(&sc, sid);
	}
	return srpol_sid_drop(ctx, sc.id, SRPOL_REASON_SID_LOOP);
}

#endif /* _SRPOL_ENDPOINT_H */
