/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames at XDP: are they the driver's, or the stack's; and those whose end a driver
 * has left in fragments, as it does with those above a page: their length, and which
 * devices take them.
 */
#ifndef _SRPOL_FRAME_H
#define _SRPOL_FRAME_H

#include "base.h"
#include "maps.h"

static __always_inline bool srpol_frame_has_frags(struct xdp_md *ctx)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);

	return xdp->flags & XDP_FLAGS_HAS_FRAGS;
}

/* Does generic XDP run on the device that the frame came in by, on skbs? */
static __always_inline bool srpol_frame_generic(struct xdp_md *ctx)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);

	return xdp->rxq->dev->xdp_prog;
}

/* Bytes of the frame, with the Ethernet header. */
static __always_inline __u32 srpol_frame_len(struct xdp_md *ctx)
{
	return srpol_frame_has_frags(ctx) ? bpf_xdp_get_buff_len(ctx) :
					    ctx->data_end - ctx->data;
}

/*
 * May XDP send the frame by @ifindex, a device that takes frames? The kernel finds
 * out after the verdict that one is not taken, and tells nobody.
 */
static __always_inline bool srpol_frame_taken(struct xdp_md *ctx, __u32 ifindex)
{
	return !srpol_frame_has_frags(ctx) ||
	       !bpf_map_lookup_elem(&linear_xdp, &ifindex);
}

#endif /* _SRPOL_FRAME_H */
