/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Both forms of probes: the checks that they share, and reports of anomalies.
 */
#ifndef _SRPOL_PROBE_REPORT_H
#define _SRPOL_PROBE_REPORT_H

#include "base.h"
#include "drop.h"
#include "maps.h"
#include "probe_maps.h"
#include "proto.h"
#include "sid.h"
#include "sid_ctx.h"
#include "words.h"

/*
 * Reports per reason, CPU and second: reasons are limited apart, so that none
 * hides another.
 */
#define SRPOL_PROBE_REPORTS	4

static __always_inline bool srpol_probe_may_report(__u32 reason, __u64 now)
{
	__u64 second = now / SRPOL_NS_PER_SEC;
	__u32 sort = reason - SRPOL_REASON_PROBE;
	struct srpol_drop_budget *b;

	b = bpf_map_lookup_elem(&probe_budget, &sort);
	if (!b)
		return false;
	if (b->second != second) {
		b->second = second;
		b->sent = 0;
	}
	if (b->sent >= SRPOL_PROBE_REPORTS)
		return false;
	b->sent++;
	return true;
}

/* Report to the prober, and wake it: a probe is not as it should be. */
__noinline int srpol_probe_report(struct xdp_md *ctx, __u32 reason, __u32 probe,
				  __u32 seq)
{
	__u64 now = bpf_ktime_get_ns();
	struct srpol_probe_event *ev;
	struct ipv6_sr_hdr *srh;
	struct ipv6hdr *ip6;
	__u32 len;

	if (!srpol_probe_may_report(reason, now))
		return 0;
	ev = bpf_ringbuf_reserve(&probe_events, sizeof(*ev), 0);
	if (!ev)
		return 0;
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->ns = now;
	ev->reason = reason;
	ev->probe = probe;
	ev->seq = seq;
	ev->ifindex = ctx->ingress_ifindex;
	ip6 = (void *)(long)ctx->data + ETH_HLEN;
	srh = (void *)(ip6 + 1);
	if ((void *)(ip6 + 1) <= (void *)(long)ctx->data_end) {
		srpol_copy_addr(ev->saddr, &ip6->saddr);
		ev->hop_limit = ip6->hop_limit;
	}
	if ((void *)(srh + 1) <= (void *)(long)ctx->data_end &&
	    ip6->nexthdr == NEXTHDR_ROUTING) {
		len = (srh->first_segment + 1) * sizeof(struct in6_addr);
		/*
		 * the verifier must see that the length used is the one checked
		 */
		barrier_var(len);
		if (len <= sizeof(ev->list) &&
		    !bpf_xdp_load_bytes(ctx, ETH_HLEN + IPV6_HLEN + SRH_HLEN,
					ev->list, len))
			ev->segs = len / sizeof(struct in6_addr);
	}
	bpf_ringbuf_submit(ev, 0);
	return 0;
}

__noinline int srpol_probe_drop(struct xdp_md *ctx, __u32 id, __u32 reason,
				__u32 probe, __u32 seq)
{
	srpol_probe_report(ctx, reason, probe, seq);
	return srpol_sid_drop(ctx, id, reason);
}

/* Has the probe come the way it was sent, and by the device it should? */
static __always_inline bool srpol_probe_same(struct xdp_md *ctx,
					     const struct srpol_probe *p)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);
	void *end = (void *)(long)ctx->data_end;
	const __u64 *list = p->list, *seg = (void *)(srh + 1);
	const __u32 *from = (const __u32 *)p->saddr, *is;
	__u32 segs = p->segs, i;
	__u64 differ;

	if ((void *)(srh + 1) > end || srh->first_segment + 1 != segs ||
	    p->ifindex != ctx->ingress_ifindex)
		return false;
	is = ip6->saddr.in6_u.u6_addr32;
	differ = (is[0] ^ from[0]) | (is[1] ^ from[1]) | (is[2] ^ from[2]) |
		 (is[3] ^ from[3]);
	for (i = 0; i < SRPOL_PROBE_SEGS && i < segs; i++) {
		/*
		 * the verifier must see that the pointer used is the one
		 * checked
		 */
		barrier_var(seg);
		if ((void *)(seg + 2) > end)
			return false;
		differ |= (seg[0] ^ list[0]) | (seg[1] ^ list[1]);
		seg += 2;
		list += 2;
	}
	return !differ;
}

#endif /* _SRPOL_PROBE_REPORT_H */
