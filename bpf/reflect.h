/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A local SID of behavior reflect: probes of hosts that share a key with this
 * one are reflected. Nothing is done or remembered before the tag is found
 * right. See srpol_reflect.h, DOC: reflected probes.
 */
#ifndef _SRPOL_REFLECT_H
#define _SRPOL_REFLECT_H

#include "base.h"
#include "drop.h"
#include "ecn.h"
#include "far_maps.h"
#include "far_packet.h"
#include "handoff.h"
#include "maps.h"
#include "sid.h"
#include "sid_ctx.h"
#include "stats.h"
#include "words.h"

/* The session of a probe; it is made if there is none. */
static __noinline struct srpol_session *
srpol_session_of(struct xdp_md *ctx, const struct srpol_far_packet *p)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct srpol_session_key key;
	struct srpol_session *s;

	if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
		return NULL;
	srpol_copy_addr(key.peer, &ip6->saddr);
	key.ssid = bpf_ntohs(p->stamp.ssid);
	s = bpf_map_lookup_elem(&sessions, &key);
	if (s)
		return s;
	bpf_map_update_elem(&sessions, &key, &p->fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sessions, &key);
}

/*
 * Does the request come for the first time? One that is SRPOL_SESSION_SLOTS or
 * more behind may be taken for one that came before.
 */
static __always_inline bool srpol_session_takes(struct srpol_session *s,
						const struct srpol_far_stamp *t)
{
	__u64 epoch = bpf_be64_to_cpu(t->epoch);
	__u32 seq = bpf_ntohl(t->seq), was;
	__u32 *slot = &s->seen[seq % SRPOL_SESSION_SLOTS];

	if (epoch < s->epoch)
		return false;
	if (epoch > s->epoch) {
		__builtin_memset(s, 0, sizeof(*s));
		s->epoch = epoch;
	}
	was = READ_ONCE(*slot);
	/* of two at the same time one counts */
	return was < seq + 1 &&
	       __sync_val_compare_and_swap(slot, was, seq + 1) == was;
}

/* The limit is not exact: at the turn of a second a few more may pass. */
static __always_inline bool srpol_pair_limited(struct srpol_pair *pair,
					       __u64 now)
{
	__u64 second = now / SRPOL_NS_PER_SEC;

	if (READ_ONCE(pair->second) != second) {
		WRITE_ONCE(pair->turned, 0);
		WRITE_ONCE(pair->second, second);
	}
	return __sync_fetch_and_add(&pair->turned, 1) >= pair->rate;
}

/*
 * Number of marked packets that the peer sent by a path, found by the path id
 * and the hash of the list that they carry. The hash alone is not enough: a
 * reduced list begins behind the first segment.
 */
static __noinline __u64 srpol_path_ce(struct xdp_md *ctx,
				      const struct srpol_far_stamp *t)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct srpol_ce_key key = {
		.path = bpf_ntohl(t->path),
		.list = bpf_ntohl(t->list),
	};
	struct srpol_ce *ce;

	if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
		return 0;
	srpol_copy_addr(key.peer, &ip6->saddr);
	ce = bpf_map_lookup_elem(&ce_peers, &key);
	return ce ? ce->ce : 0;
}

/* May the request be reflected? Return: 0, or the enum srpol_reason why not. */
static __noinline int srpol_reflect_check(struct xdp_md *ctx,
					  const struct srpol_sid_ctx *sc,
					  struct srpol_far_packet *p)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct srpol_pair *pair;
	__u32 sl = sc->sl;

	if (srpol_far_read(ctx, sc, p) != SRPOL_STAMP_TLV_REQUEST || !sl ||
	    sl >= p->segs)
		return SRPOL_REASON_REFLECT_MALFORMED;
	ip6 = (void *)(long)ctx->data + ETH_HLEN;
	if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_REFLECT_MALFORMED;
	pair = bpf_map_lookup_elem(&pairs, &ip6->saddr);
	if (!pair)
		return SRPOL_REASON_REFLECT_STRANGE;
	if (!srpol_far_signed(pair, p))
		return SRPOL_REASON_REFLECT_FORGED;
	if (!srpol_far_is(p, 0, pair->sid) || !srpol_far_is(p, sl, &ip6->daddr))
		return SRPOL_REASON_REFLECT_STRANGE;
	return ip6->hop_limit > 1 ? 0 : SRPOL_REASON_HOP_LIMIT;
}

/*
 * Turn the test packet in @p into the reflection. Return: 0, or the enum
 * srpol_reason.
 */
static __noinline int srpol_reflect_fill(struct xdp_md *ctx,
					 struct srpol_far_packet *p,
					 const struct srpol_session *s,
					 __u64 came)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct srpol_far_stamp *t = &p->stamp;
	struct srpol_pair *pair;
	__u64 now;

	if ((void *)(ip6 + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_REFLECT_MALFORMED;
	pair = bpf_map_lookup_elem(&pairs, &ip6->saddr);
	if (!pair)
		return SRPOL_REASON_REFLECT_STRANGE;
	if (srpol_pair_limited(pair, came))
		return SRPOL_REASON_REFLECT_LIMITED;
	p->was = *t;
	t->sender_seq = t->seq;
	t->sender_sec = t->sec;
	t->sender_nsec = t->nsec;
	t->sender_error = t->error;
	t->sender_ttl = ip6->hop_limit;
	t->seq = bpf_htonl(s->received - 1);
	t->came_sec = bpf_htonl(came / SRPOL_NS_PER_SEC);
	t->came_nsec = bpf_htonl(came % SRPOL_NS_PER_SEC);
	t->ce = bpf_cpu_to_be64(s->ce);
	t->path_ce = bpf_cpu_to_be64(srpol_path_ce(ctx, t));
	t->type = SRPOL_STAMP_TLV_REPLY;
	now = bpf_ktime_get_ns();
	t->sec = bpf_htonl(now / SRPOL_NS_PER_SEC);
	t->nsec = bpf_htonl(now % SRPOL_NS_PER_SEC);
	t->tag = srpol_far_tag(pair, p);
	return 0;
}

/* Write the test packet back, and update the UDP checksum for it (RFC 1624). */
static __noinline int srpol_reflect_store(struct xdp_md *ctx,
					  struct srpol_far_packet *p)
{
	__u32 off = p->off + offsetof(struct udphdr, check);
	__u16 check;
	__s64 sum;

	if (bpf_xdp_load_bytes(ctx, off, &check, sizeof(check)))
		return SRPOL_REASON_NO_HEADROOM;
	sum = bpf_csum_diff((__be32 *)&p->was, sizeof(p->was),
			    (__be32 *)&p->stamp, sizeof(p->stamp),
			    (__u16)~check);
	if (sum < 0)
		return SRPOL_REASON_NO_HEADROOM;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	check = ~sum;
	/* RFC 8200 8.1: 0 would mean that there is no checksum */
	if (!check)
		check = 0xffff;
	return bpf_xdp_store_bytes(ctx, off, &check, sizeof(check)) ||
	       bpf_xdp_store_bytes(ctx, p->off + sizeof(struct udphdr),
				   &p->stamp, sizeof(p->stamp)) ?
	       SRPOL_REASON_NO_HEADROOM : 0;
}

/*
 * Advance to the next segment, back to where the packet came from, without a
 * mark.
 */
static __noinline int srpol_reflect_turn(struct xdp_md *ctx,
					 const struct srpol_far_packet *p,
					 __u32 sl)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct ipv6_sr_hdr *srh = (void *)(ip6 + 1);
	__u8 mac[ETH_ALEN];
	__u32 next = sl - 1;

	/* the verifier must see that the index used is the one checked */
	barrier_var(next);
	if ((void *)(srh + 1) > (void *)(long)ctx->data_end ||
	    next >= SRPOL_PROBE_SEGS - 1)
		return SRPOL_REASON_NO_HEADROOM;
	__builtin_memcpy(mac, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, mac, ETH_ALEN);
	srh->segments_left = next;
	srpol_copy_addr(&ip6->daddr, &p->list[2 * next]);
	srpol_ecn_set_v6(ip6, SRPOL_ECT_0);
	ip6->hop_limit--;
	return 0;
}

/* Reflect a request. Return: 0, or the enum srpol_reason to drop it for. */
static __always_inline int srpol_reflect_do(struct xdp_md *ctx,
					    const struct srpol_sid_ctx *sc,
					    struct srpol_far_packet *p)
{
	__u64 came = bpf_ktime_get_ns();
	struct srpol_session *s;
	int err;

	err = srpol_reflect_check(ctx, sc, p);
	if (err)
		return err;
	s = srpol_session_of(ctx, p);
	if (!s || !srpol_session_takes(s, &p->stamp))
		return SRPOL_REASON_REFLECT_REPLAYED;
	s->received++;
	s->ce += (sc->outer_tc & SRPOL_ECN_MASK) == SRPOL_CE;
	err = srpol_reflect_fill(ctx, p, s, came);
	if (!err)
		err = srpol_reflect_store(ctx, p);
	return err ? err : srpol_reflect_turn(ctx, p, sc->sl);
}

/**
 * srpol_reflect - take a packet that came to a SID of behavior reflect
 * @ctx: packet
 * @sc: SID context: the same packet, parsed
 * @p: memory to work in
 *
 * Return: XDP verdict. The reflection is sent by the device that the packet came
 * in by, as errors are (icmp_xdp.h).
 */
__noinline int srpol_reflect(struct xdp_md *ctx,
			     const struct srpol_sid_ctx *sc __arg_nonnull,
			     struct srpol_far_packet *p __arg_nonnull)
{
	__u32 id = sc->id;
	int err;

	err = srpol_reflect_do(ctx, sc, p);
	if (err)
		return srpol_sid_drop(ctx, id, err);
	srpol_sid_account(id, sc->bytes, false,
			  (sc->outer_tc & SRPOL_ECN_MASK) == SRPOL_CE);
	srpol_count_rare(SRPOL_REASON_REFLECTED);
	return srpol_send_by(ctx, ctx->ingress_ifindex);
}

#endif /* _SRPOL_REFLECT_H */
