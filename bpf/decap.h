/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decapsulation: End.DT and uDT, End.DX, and the USD flavor where no segment is
 * left (RFC 8986 4.4 to 4.8, 4.16.3). The inner DSCP is kept or becomes the
 * outer one, as the SID says (pipe or uniform model, RFC 2983). The hop limit is
 * decremented by whoever forwards the packet.
 */
#ifndef _SRPOL_DECAP_H
#define _SRPOL_DECAP_H

#include "base.h"
#include "adjacency.h"
#include "congestion.h"
#include "ecn.h"
#include "endpoint_error.h"
#include "forward.h"
#include "inner.h"
#include "outer_ce.h"
#include "probe.h"
#include "sid.h"
#include "sid_ctx.h"
#include "srh.h"
#include "stats.h"
#include "usid.h"

static __always_inline bool srpol_decap_takes(__u32 does, __u8 nh)
{
	return (nh == NEXTHDR_IPV6 && does & SRPOL_DO_V6) ||
	       (nh == NEXTHDR_IPV4 && does & SRPOL_DO_V4);
}

/*
 * The packet is addressed to the SID's upper layer. Return: 0 if the SID takes
 * it, else the enum srpol_reason why it does not.
 */
static __always_inline int srpol_decap_check(const struct srpol_sid_ctx *sc,
					     const struct ipv6hdr *ip6)
{
	if (sc->sl)
		return SRPOL_REASON_SEGMENTS_LEFT;
	if (sc->does & SRPOL_DO_CSID && srpol_usid_more(&ip6->daddr, sc->sid))
		return SRPOL_REASON_SEGMENTS_LEFT;
	if (srpol_is_ext_header(sc->nh))
		return SRPOL_REASON_EXT_HEADER;
	if (!srpol_decap_takes(sc->does, sc->nh))
		return SRPOL_REASON_UPPER_LAYER;
	return 0;
}

static __always_inline void srpol_decap_account(const struct srpol_sid_ctx *sc,
						bool was_ce, __u8 ecn)
{
	bool ce = !was_ce && (ecn & SRPOL_ECN_MASK) == SRPOL_CE;

	srpol_sid_account(sc->id, sc->bytes, !sc->srh_len, ce);
	srpol_count(SRPOL_REASON_DECAP);
	if (ce)
		srpol_count_rare(SRPOL_REASON_ECN_CE);
	if (ecn & SRPOL_ECN_ODD)
		srpol_count_rare(SRPOL_REASON_ECN_ODD);
}

/* A packet that the SID does not decapsulate may be a probe that ends there. */
static __always_inline int srpol_decap_not(struct xdp_md *ctx,
					   const struct srpol_sid_ctx *sc,
					   int reason)
{
	if (sc->does & SRPOL_DO_PROBE)
		return srpol_probe_take(ctx, sc);
	return srpol_endpoint_error(ctx, sc, reason);
}

/**
 * srpol_decap - take the inner packet out
 * @ctx: packet
 * @cfg: settings
 * @sc: SID context: the same packet, parsed
 *
 * Return: XDP verdict.
 */
static __always_inline int srpol_decap(struct xdp_md *ctx,
				       const struct srpol_dp_config *cfg,
				       struct srpol_sid_ctx *sc)
{
	struct xdp_md *c = ctx;
	struct ipv6hdr *ip6;
	void *end;
	/*
	 * End.DX alone sends to the adjacency. USD leaves forwarding to the
	 * kernel, whatever else the SID does.
	 */
	bool dx = (sc->does & (SRPOL_DO_X | SRPOL_DO_END)) == SRPOL_DO_X;
	__u32 room = sc->payload - sc->srh_len, dev = 0;
	bool uniform = sc->does & SRPOL_DO_UNIFORM;
	bool was_ce, six = sc->nh == NEXTHDR_IPV6;
	__u32 id = sc->id;
	void *inner;
	__u8 ecn;
	int err;

	/*
	 * Otherwise the compiler merges reads of two fields of the context into
	 * one.
	 */
	barrier_var(c);
	ip6 = (void *)(long)c->data + ETH_HLEN;
	end = (void *)(long)c->data_end;
	if ((void *)(ip6 + 1) > end)
		return srpol_sid_drop(ctx, id, SRPOL_REASON_NO_HEADROOM);
	err = srpol_decap_check(sc, ip6);
	if (!err && dx) {
		dev = srpol_adjacency_dev(sc->sid);
		if (!dev)
			err = SRPOL_REASON_ADJACENCY_DOWN;
		else if (srpol_adjacency_exceeded(ctx, dev, room))
			err = SRPOL_REASON_TOO_BIG;
	}
	if (err)
		return srpol_decap_not(ctx, sc, err);

	inner = (void *)(ip6 + 1) + srpol_sid_ctx_srh_len(sc);
	if (six)
		err = srpol_inner_v6(inner, room, end, sc->outer_tc, uniform,
				     dx, &ecn, &was_ce);
	else
		err = srpol_inner_v4(inner, room, end, sc->outer_tc, uniform,
				     dx, &ecn, &was_ce);
	if (err)
		return srpol_sid_drop(ctx, id, err);
	if ((sc->outer_tc & SRPOL_ECN_MASK) == SRPOL_CE)
		srpol_outer_ce(ctx, cfg->path_id, sc->srh_len);
	err = srpol_pop(ctx, sizeof(*ip6) + sc->srh_len,
			six ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP));
	if (err)
		return srpol_sid_drop(ctx, id, err);

	srpol_decap_account(sc, was_ce, ecn);
	srpol_signal_look(ctx, cfg);
	if (dx)
		return srpol_adjacency_send(ctx, sc->sid, dev);
	return srpol_forward(ctx, six);
}

#endif /* _SRPOL_DECAP_H */
