/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames at XDP: are they the driver's, or the stack's; and those whose end a driver
 * has left in fragments, as it does with those above a page: their length, which
 * devices take them, and where their end can be cut off.
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

/*
 * May the last @cut bytes be cut off? Not where the fragments are those of an skb.
 * Kernels free them as if they were not of a page pool (generic XDP and veth, at least
 * up to 6.12), or count them on as bytes of the skb (generic XDP, at least 6.18):
 * memory gets corrupted, or sent. A kernel that frees them rightly on a veth says that
 * they are of a page pool. A NIC may have fragments that are not, and has no
 * rtnl_link_ops, as software devices have.
 */
static __always_inline bool srpol_frame_can_cut(struct xdp_md *ctx, __u32 cut)
{
	const struct xdp_buff *xdp = srpol_xdp_buff(ctx);
	const struct xdp_rxq_info *rxq = xdp->rxq;

	if (!cut || !(xdp->flags & XDP_FLAGS_HAS_FRAGS))
		return true;
	return !rxq->dev->xdp_prog &&
	       (rxq->mem.type != MEM_TYPE_PAGE_SHARED || !rxq->dev->rtnl_link_ops);
}

/* SMP_CACHE_BYTES of x86 and arm64. */
#define SRPOL_CACHE_LINE	64

/* SKB_DATA_ALIGN() */
static __always_inline __u32 srpol_frame_aligned(__u32 size)
{
	return (size + SRPOL_CACHE_LINE - 1) & ~(SRPOL_CACHE_LINE - 1);
}

/*
 * Has GRO merged several packets in this one, before generic XDP? Whatever a program
 * makes of it, to the kernel it stays several packets, whose checksums are pending.
 */
static __always_inline bool srpol_frame_merged(struct xdp_md *ctx)
{
	const struct xdp_buff *xdp = srpol_xdp_buff(ctx);
	const struct skb_shared_info *shared;

	if (!xdp->rxq->dev->xdp_prog)
		return false;
	shared = bpf_rdonly_cast(xdp->data_hard_start + xdp->frame_sz -
				 srpol_frame_aligned(bpf_core_type_size(struct skb_shared_info)),
				 bpf_core_type_id_kernel(struct skb_shared_info));
	return shared->gso_size;
}

#endif /* _SRPOL_FRAME_H */
