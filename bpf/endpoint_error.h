/* SPDX-License-Identifier: GPL-2.0 */
/* Drop a packet for a local SID, and tell its sender why. */
#ifndef _SRPOL_ENDPOINT_ERROR_H
#define _SRPOL_ENDPOINT_ERROR_H

#include "base.h"
#include "echo.h"
#include "icmp_xdp.h"
#include "proto.h"
#include "sid.h"
#include "sid_ctx.h"

/* Does a routing header, of whatever type, have segments left? */
static __always_inline bool srpol_routing_goes_on(const struct xdp_md *ctx)
{
	const struct ipv6_sr_hdr *srh = (void *)(long)ctx->data + ETH_HLEN +
					IPV6_HLEN;

	return (const void *)(srh + 1) <= (void *)(long)ctx->data_end &&
	       srh->segments_left;
}

/* Is it a ping of the SID, where the segment list, if any, ends? */
static __always_inline bool srpol_endpoint_pinged(struct xdp_md *ctx,
						  const struct srpol_sid_ctx *sc,
						  __u32 reason)
{
	return (reason == SRPOL_REASON_UPPER_LAYER ||
		reason == SRPOL_REASON_NO_SEGMENTS_LEFT) &&
	       srpol_echo_is(ctx, sc->nh, ETH_HLEN + IPV6_HLEN + sc->srh_len);
}

static __always_inline int srpol_endpoint_echo(struct xdp_md *ctx,
					       const struct srpol_sid_ctx *sc,
					       __u32 reason)
{
	int verdict = srpol_echo(ctx, sc->srh_len);

	if (verdict == XDP_DROP)
		return srpol_sid_drop(ctx, sc->id, reason);
	srpol_sid_account(sc->id, sc->bytes, !sc->srh_len, false);
	return verdict;
}

/**
 * srpol_endpoint_error - drop a packet for a SID, and send an ICMPv6 error, or
 *	answer a ping
 * @ctx: packet, its outer header still in place
 * @sc: SID context, as far as the packet was parsed
 * @reason: enum srpol_reason; those for which RFC 8986 or RFC 8200 has an error
 *	are answered, for all others the packet is dropped silently
 *
 * Return: XDP verdict.
 */
__noinline int
srpol_endpoint_error(struct xdp_md *ctx,
		     const struct srpol_sid_ctx *sc __arg_nonnull, __u32 reason)
{
	__u32 what, pointer = SRPOL_ICMP_AT_SL;

	if (srpol_endpoint_pinged(ctx, sc, reason))
		return srpol_endpoint_echo(ctx, sc, reason);
	srpol_sid_drop(ctx, sc->id, reason);
	switch (reason) {
	case SRPOL_REASON_HOP_LIMIT:
		what = SRPOL_ICMP_HOP_LIMIT;
		pointer = 0;
		break;
	case SRPOL_REASON_SEGMENTS_LEFT:
		/*
		 * A uDT with an argument and no SRH: there is no field to point
		 * to.
		 */
		if (!sc->srh_len)
			return XDP_DROP;
		what = SRPOL_ICMP_FIELD;
		break;
	case SRPOL_REASON_BAD_ROUTING_TYPE:
		/* RFC 8200 4.4 */
		if (!srpol_routing_goes_on(ctx))
			return XDP_DROP;
		what = SRPOL_ICMP_FIELD;
		pointer = SRPOL_ICMP_AT_TYPE;
		break;
	case SRPOL_REASON_BAD_HDRLEN:
	case SRPOL_REASON_BAD_SEGMENTS_LEFT:
		what = SRPOL_ICMP_FIELD;
		break;
	case SRPOL_REASON_UPPER_LAYER:
	case SRPOL_REASON_NO_SEGMENTS_LEFT:
		what = SRPOL_ICMP_UPPER_LAYER;
		pointer = IPV6_HLEN + sc->srh_len;
		break;
	default:
		return XDP_DROP;
	}
	return srpol_icmp_xdp(ctx, what, pointer);
}

#endif /* _SRPOL_ENDPOINT_ERROR_H */
