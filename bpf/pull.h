/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers that a driver has left in fragments, at XDP. Receive queues that
 * spread a frame over strides (those of mlx5, for frames above a page) may hand
 * over none of it in the linear part.
 */
#ifndef _SRPOL_PULL_H
#define _SRPOL_PULL_H

#include "base.h"
#include "parse.h"

/* Since Linux 6.18: makes @len bytes from the start of the frame linear. */
extern int bpf_xdp_pull_data(struct xdp_md *ctx, __u32 len) __weak __ksym;

/* With the longest segment list, and TLVs. */
#define SRPOL_PULL_SRH		512

/**
 * srpol_pull_xdp - make more of the headers linear
 * @ctx: packet whose headers are cut short; no pointer into it is valid
 *	afterwards
 * @most: bytes of headers there may be
 *
 * Older kernels cannot do this. On these, a packet for a local SID that cannot
 * be read is dropped and counted.
 */
static __noinline int srpol_pull_xdp(struct xdp_md *ctx, __u32 most)
{
	__u32 linear = ctx->data_end - ctx->data;
	__u32 want = bpf_xdp_get_buff_len(ctx);

	if (want > most)
		want = most;
	if (!bpf_ksym_exists(bpf_xdp_pull_data) || linear >= want)
		return 0;
	return bpf_xdp_pull_data(ctx, want);
}

#endif /* _SRPOL_PULL_H */
