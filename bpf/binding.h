/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Binding SIDs: End.B6.Encaps and End.B6.Encaps.Red, RFC 8986 4.13 and 4.14. A
 * packet whose active segment is the binding SID of a policy advances to its
 * next segment and gets an outer header of that policy, on the path that a
 * steered packet of the same flow would take. The segment list of that path
 * decides which of the two behaviors applies: it has either the full or the
 * reduced SRH.
 */
#ifndef _SRPOL_BINDING_H
#define _SRPOL_BINDING_H

#include "base.h"
#include "classify.h"
#include "encap.h"
#include "flow.h"
#include "flow_key.h"
#include "frame.h"
#include "handoff.h"
#include "parse.h"
#include "port_xdp.h"
#include "proto.h"
#include "select.h"
#include "sid.h"
#include "state.h"
#include "stats.h"
#include "steer.h"
#include "step.h"
#include "words.h"

/*
 * Not an XDP verdict: the policy does not take the packet, which is processed
 * as at an End SID.
 */
#define SRPOL_BINDING_END	(-1)

/*
 * The parsed packet at a binding SID. It does not fit on the stack. On a
 * preemptible kernel the program may have interrupted another run on this CPU
 * that is using entry 0; then it uses the spare entry, 1.
 */
struct srpol_binding_pkt {
	struct srpol_pkt pkt;
	__u32 busy;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct srpol_binding_pkt);
} binding_pkt SEC(".maps");

static __always_inline struct srpol_binding_pkt *srpol_binding_pkt_get(void)
{
	struct srpol_binding_pkt *p;
	__u32 at = 0;

	p = bpf_map_lookup_elem(&binding_pkt, &at);
	if (!p || !__sync_lock_test_and_set(&p->busy, 1))
		return p;
	at = 1;
	return bpf_map_lookup_elem(&binding_pkt, &at);
}

/*
 * Offset of the packet behind the IPv6 header and SRH; 0 if it is not an IP
 * packet.
 */
static __always_inline __u32 srpol_binding_inner(const struct ipv6_sr_hdr *srh)
{
	return srh->nexthdr == NEXTHDR_IPV6 || srh->nexthdr == NEXTHDR_IPV4 ?
	       ETH_HLEN + IPV6_HLEN + (srh->hdrlen + 1) * 8 : 0;
}

/*
 * Fill in what identifies the flow: the headers of the inner packet, as for any
 * packet that is steered, since not every node that encapsulates writes a flow
 * label. If they cannot be parsed, for instance because the inner packet is a
 * tunnel itself, the addresses and the flow label of the outer header are used.
 */
static __always_inline void srpol_binding_flow(struct xdp_md *ctx,
					       struct ipv6hdr *ip6, __u32 off,
					       struct srpol_pkt *pkt)
{
	void *end = (void *)(long)ctx->data_end;
	void *inner = (void *)(long)ctx->data + off;
	struct srpol_meta meta = { .xdp = ctx };
	int err = SRPOL_REASON_NOT_IP;

	if (off && inner + 1 <= end)
		err = *(__u8 *)inner >> 4 == 6 ?
		      srpol_parse_v6(pkt, inner, end, off, &meta) :
		      srpol_parse_v4(pkt, inner, end, false);
	pkt->label = bpf_ntohl(*(__be32 *)ip6) & IPV6_LABEL_MASK;
	if (!err)
		return;
	srpol_copy_words(pkt->key.saddr, &ip6->saddr, 32);
	pkt->key.proto = NEXTHDR_ROUTING;
	pkt->key.roce = 0;
	pkt->key.qp = pkt->label;
	pkt->key.sport = pkt->label >> 16;
	pkt->dport = pkt->label;
	pkt->fragment = 0;
	pkt->opcode = 0;
	pkt->psn = 0;
}

/*
 * Fill in the packet to be steered: all of it, with its outer header and SRH.
 * Return: 0 or the enum srpol_reason to drop it for.
 */
static __always_inline int srpol_binding_parse(struct xdp_md *ctx,
					       struct srpol_pkt *pkt)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);

	if ((void *)(srh + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	srpol_binding_flow(ctx, ip6, srpol_binding_inner(srh), pkt);
	pkt->l3_off = ETH_HLEN;
	pkt->len = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
	pkt->ifindex = ctx->ingress_ifindex;
	pkt->gso_size = 0;
	pkt->is_v4 = 0;
	pkt->tclass = bpf_ntohs(*(__be16 *)ip6) >> 4;
	return 0;
}

/*
 * Decide how to steer a flow that is not known yet. Return: as
 * srpol_flow_keep().
 */
static __noinline int srpol_binding_decide(struct srpol_pkt *pkt,
					   __u32 policy, union srpol_now now,
					   struct srpol_decision *d)
{
	d->head.word = 0;
	d->head.how = SRPOL_HOW_INHERIT;
	d->head.epoch = now.epoch;
	d->cache.word = 0;
	d->cache.policy = policy;
	d->nr = srpol_flow_spare();
	d->rule_id = 0;
	d->rule_path = 0;
	srpol_flow_hash(pkt, d);
	if (srpol_policy_symmetric(policy, now.gen))
		d->hash = srpol_flow_hash_symmetric(pkt);
	return srpol_flow_keep(&pkt->key, d);
}

/*
 * Find the flow and its path. Return: as srpol_select(). Without a flow entry,
 * @s->flow is NULL.
 */
static __always_inline int srpol_binding_select(struct srpol_pkt *pkt,
						__u32 id, __u32 policy,
						struct srpol_steer *s)
{
	struct srpol_state *st = srpol_state_get();
	__u64 *word = (__u64 *)&pkt->key;
	struct srpol_flow_spot spot;
	union srpol_now now;

	s->flow = NULL;
	if (!st)
		return SRPOL_REASON_NO_POLICY;
	now = srpol_now_read(st);
	word[4] = pkt->key.qp | (__u64)pkt->key.sport << 32 |
		  (__u64)pkt->key.proto << 48 | (__u64)pkt->key.roce << 56;
	word[5] = 0;
	word[6] = (__u64)(pkt->fragment | id << 1) << 48;
	word[7] = 0;
	spot = srpol_flow_locate(&pkt->key);
	s->flow = srpol_flow_find(&pkt->key, &spot, s->d);
	if (!s->flow || s->d->head.epoch != now.epoch ||
	    s->d->cache.policy != policy)
		s->flow = srpol_flow_entry(srpol_binding_decide(pkt, policy,
								now, s->d));
	if (!s->flow)
		return SRPOL_REASON_NO_POLICY;
	s->cfg = srpol_config(st, now.gen);
	s->sel.how = 0;
	return srpol_select_merged(pkt, now.gen, s->flow, s->d, &s->sel);
}

/*
 * RFC 8986 4.13 S12 to S15: advance to the next segment and push the outer
 * header.
 */
static __always_inline int srpol_binding_push(struct xdp_md *ctx,
					      const struct srpol_pkt *pkt,
					      const struct srpol_steer *s)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);
	void *end = (void *)(long)ctx->data_end;
	struct srpol_outer o;
	int err;

	if ((void *)(srh + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	err = srpol_step_srh(ip6, srh->segments_left - 1, end);
	if (err)
		return err;
	if (!srpol_next_valid(&ip6->daddr))
		return SRPOL_REASON_BAD_NEXT;
	if (!srpol_port_room(ctx, pkt, s->sel.cfg))
		return SRPOL_REASON_NO_HEADROOM;
	srpol_steer_outer(s, pkt, &o);
	return srpol_port_push(ctx, pkt, &s->sel, &o);
}

/*
 * Drop a packet that is too big for its path. Return: as srpol_binding(), minus
 * the MTU to report.
 */
static __always_inline int srpol_binding_too_big(struct xdp_md *ctx, __u32 id,
						 const struct srpol_selected *sel)
{
	int mtu = (int)sel->cfg->mtu - sel->cfg->encap_len;

	srpol_error(SRPOL_ERROR_PATH, SRPOL_REASON_TOO_BIG, sel->path);
	srpol_sid_drop(ctx, id, SRPOL_REASON_TOO_BIG);
	return mtu < IPV6_MTU_MIN ? -IPV6_MTU_MIN : -mtu;
}

static __always_inline int srpol_binding_steer(struct xdp_md *ctx,
					       struct srpol_pkt *pkt, __u32 id,
					       __u32 policy)
{
	struct srpol_decision d;
	struct srpol_steer s = { .d = &d };
	int reason;

	reason = srpol_binding_parse(ctx, pkt);
	if (reason)
		return srpol_sid_drop(ctx, id, reason);
	reason = srpol_binding_select(pkt, id, policy, &s);
	if (!s.flow)
		return srpol_sid_drop(ctx, id, reason);
	srpol_steer_account(&s, pkt);
	if (reason) {
		srpol_steer_not(&s, reason);
		if (reason == SRPOL_REASON_INVALID_DROP)
			return srpol_sid_drop(ctx, id, reason);
		srpol_count_rare(reason);
		return SRPOL_BINDING_END;
	}
	/* to the kernel, several packets in a tunnel do not fit into another one */
	if (srpol_frame_merged(ctx) || !srpol_encap_fits(pkt, s.sel.cfg))
		return srpol_binding_too_big(ctx, id, &s.sel);
	reason = srpol_binding_push(ctx, pkt, &s);
	if (!reason && bpf_redirect_map(&uplinks, s.sel.ifindex, XDP_DROP) !=
		       XDP_REDIRECT)
		reason = SRPOL_REASON_NO_UPLINK;
	if (reason) {
		srpol_error(SRPOL_ERROR_PATH, reason, s.sel.path);
		return srpol_sid_drop(ctx, id, reason);
	}
	srpol_steer_done(&s, pkt);
	srpol_sid_account(id, pkt->len, false, false);
	srpol_count(SRPOL_REASON_END_B6);
	return srpol_send_by(ctx, s.sel.ifindex);
}

/**
 * srpol_binding - steer a packet into the policy of a binding SID
 * @ctx: packet with a checked SRH that has segments left and whose active
 *	segment is the binding SID
 * @id: SID
 * @policy: policy
 *
 * This function is global (not static), so that the verifier checks it only
 * once.
 *
 * Return: an XDP verdict; SRPOL_BINDING_END if the policy lets the packet pass,
 * which is unchanged then; or, if the packet was too big and has been counted
 * as dropped, minus the MTU to report to its sender. The caller sends that
 * error, as there is no room for it on the stack here.
 */
__noinline int srpol_binding(struct xdp_md *ctx, __u32 id, __u32 policy)
{
	struct srpol_binding_pkt *p = srpol_binding_pkt_get();
	int verdict;

	if (!p)
		return srpol_sid_drop(ctx, id, SRPOL_REASON_NO_HEADROOM);
	verdict = srpol_binding_steer(ctx, &p->pkt, id, policy);
	WRITE_ONCE(p->busy, 0);
	return verdict;
}

#endif /* _SRPOL_BINDING_H */
