/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Local SIDs: to which one an address belongs, what it does, what is counted
 * for it.
 */
#ifndef _SRPOL_SID_H
#define _SRPOL_SID_H

#include "base.h"
#include "drop.h"
#include "maps.h"
#include "proto.h"
#include "state.h"
#include "stats.h"
#include "words.h"

/* The functions that behaviors consist of. */
/* advance to the next segment */
#define SRPOL_DO_END		(1u << 0)
#define SRPOL_DO_CSID		(1u << 1)	/* NEXT-CSID, RFC 9800 4.1 */
#define SRPOL_DO_PSP		(1u << 2)	/* penultimate pop of the SRH */
#define SRPOL_DO_V6		(1u << 3)	/* decapsulate IPv6 */
#define SRPOL_DO_V4		(1u << 4)	/* decapsulate IPv4 */
#define SRPOL_DO_X		(1u << 5)	/* send to the adjacency */
/* probes end here, or are reflected */
#define SRPOL_DO_PROBE		(1u << 6)
#define SRPOL_DO_B6		(1u << 7)	/* encapsulate into a policy */
#define SRPOL_DO_REFLECT	(1u << 8)	/* reflect probes */
/* no behavior's: the inner packet gets the outer DSCP */
#define SRPOL_DO_UNIFORM	(1u << 9)

#define SRPOL_DO_DECAP		(SRPOL_DO_V6 | SRPOL_DO_V4)

/*
 * RFC 8986 4, RFC 9800 7. USD: decapsulate where no segment is left. A behavior
 * that is not in the table is 0 and never gets into the maps.
 */
static const __u8 srpol_behaviors[SRPOL_BEHAVIOR_UDT46 + 1] = {
	[SRPOL_BEHAVIOR_END] = SRPOL_DO_END,
	[SRPOL_BEHAVIOR_END_PSP] = SRPOL_DO_END | SRPOL_DO_PSP,
	[SRPOL_BEHAVIOR_END_X] = SRPOL_DO_END | SRPOL_DO_X,
	[SRPOL_BEHAVIOR_END_X_PSP] = SRPOL_DO_END | SRPOL_DO_X | SRPOL_DO_PSP,
	[SRPOL_BEHAVIOR_END_B6_ENCAPS] = SRPOL_DO_END | SRPOL_DO_B6,
	[SRPOL_BEHAVIOR_END_DX6] = SRPOL_DO_V6 | SRPOL_DO_X,
	[SRPOL_BEHAVIOR_END_DX4] = SRPOL_DO_V4 | SRPOL_DO_X,
	[SRPOL_BEHAVIOR_END_DT6] = SRPOL_DO_V6,
	[SRPOL_BEHAVIOR_END_DT4] = SRPOL_DO_V4,
	[SRPOL_BEHAVIOR_END_DT46] = SRPOL_DO_DECAP,
	[SRPOL_BEHAVIOR_END_USD] = SRPOL_DO_END | SRPOL_DO_DECAP,
	[SRPOL_BEHAVIOR_END_PSP_USD] = SRPOL_DO_END | SRPOL_DO_PSP |
				       SRPOL_DO_DECAP,
	[SRPOL_BEHAVIOR_UN] = SRPOL_DO_END | SRPOL_DO_CSID,
	[SRPOL_BEHAVIOR_UN_PSP] = SRPOL_DO_END | SRPOL_DO_CSID | SRPOL_DO_PSP,
	[SRPOL_BEHAVIOR_UN_PSP_USD] = SRPOL_DO_END | SRPOL_DO_CSID |
				      SRPOL_DO_PSP | SRPOL_DO_DECAP,
	[SRPOL_BEHAVIOR_UA] = SRPOL_DO_END | SRPOL_DO_CSID | SRPOL_DO_X,
	[SRPOL_BEHAVIOR_UDT6] = SRPOL_DO_CSID | SRPOL_DO_V6,
	[SRPOL_BEHAVIOR_UDT4] = SRPOL_DO_CSID | SRPOL_DO_V4,
	[SRPOL_BEHAVIOR_UDT46] = SRPOL_DO_CSID | SRPOL_DO_DECAP,
};

static __always_inline __u32 srpol_behavior_does(__u32 behavior)
{
	if (behavior <= SRPOL_BEHAVIOR_UDT46)
		return srpol_behaviors[behavior];
	if (behavior == SRPOL_BEHAVIOR_REFLECT)
		return SRPOL_DO_PROBE | SRPOL_DO_REFLECT;
	return behavior == SRPOL_BEHAVIOR_PROBE ? SRPOL_DO_PROBE : 0;
}

/* The SID of an entry as of a generation, NULL if it is not present. */
static __always_inline struct srpol_sid *
srpol_sid_of(struct srpol_sid_entry *entry, __u32 gen)
{
	__u32 copy = srpol_copy(READ_ONCE(entry->ver), gen) & 1;

	return entry->present[copy] ? &entry->cfg[copy] : NULL;
}

/**
 * srpol_sid_look_up - find the local SID that an address belongs to
 * @st: state of the data plane
 * @gen: generation
 * @addr: address; may be in the packet
 *
 * Return: the SID, NULL if there is none.
 */
static __always_inline struct srpol_sid *
srpol_sid_look_up(const struct srpol_state *st, __u32 gen,
		  const struct in6_addr *addr)
{
	struct srpol_sid_entry *entry = bpf_map_lookup_elem(&sids, addr);
	struct srpol_sid *sid = NULL;
	struct srpol_prefix key;
	__u32 i;

	if (entry)
		sid = srpol_sid_of(entry, gen);
	if (sid || !st->n_sid_prefixes)
		return sid;
	key.len = SRPOL_ADDR_BITS;
	srpol_copy_addr(key.addr, addr);
	bpf_for(i, 0, SRPOL_ADDR_BITS) {
		entry = bpf_map_lookup_elem(&sid_prefixes, &key);
		if (!entry)
			return NULL;
		sid = srpol_sid_of(entry, gen);
		if (sid)
			return sid;
		key.len = entry->len - 1;
	}
	return NULL;
}

/* Is an address inside one of the first @n prefixes of the SR domain? */
__noinline int srpol_domain_has(const struct srpol_dp_config *cfg __arg_nonnull,
				__u32 n,
				const struct in6_addr *addr __arg_nonnull)
{
	const __u32 *a = addr->in6_u.u6_addr32;
	const __u32 *p, *m;
	__u32 i;

	for (i = 0; i < SRPOL_SR_DOMAIN_MAX; i++) {
		if (i >= n)
			break;
		p = (const __u32 *)cfg->domain[i].prefix;
		m = (const __u32 *)cfg->domain[i].mask;
		if (!(((a[0] & m[0]) ^ p[0]) | ((a[1] & m[1]) ^ p[1]) |
		      ((a[2] & m[2]) ^ p[2]) | ((a[3] & m[3]) ^ p[3])))
			return 1;
	}
	return 0;
}

/**
 * srpol_inside - is an address one that only the SR domain may send to?
 * @st: state of the data plane
 * @gen: generation
 * @addr: IPv6 address
 *
 * This is true of local SIDs and of all addresses in SID blocks, RFC 8754 5.1.
 */
static __always_inline bool srpol_inside(struct srpol_state *st, __u32 gen,
					 const struct in6_addr *addr)
{
	const struct srpol_dp_config *cfg = srpol_config(st, gen);

	return srpol_domain_has(cfg, cfg->n_blocks, addr) ||
	       srpol_sid_look_up(st, gen, addr);
}

/**
 * srpol_sid_drop - drop a packet that came to a SID
 * @ctx: packet, its outer header still in place
 * @id: SID
 * @reason: enum srpol_reason
 *
 * Return: XDP_DROP.
 */
__noinline int srpol_sid_drop(struct xdp_md *ctx, __u32 id, __u32 reason)
{
	struct ipv6hdr *ip6 = (void *)(long)ctx->data + ETH_HLEN;
	struct srpol_sid_stats *s = bpf_map_lookup_elem(&sid_stats, &id);
	struct srpol_drop_event ev = {
		.reason = reason,
		.ifindex = ctx->ingress_ifindex,
		.len = bpf_xdp_get_buff_len(ctx) - ETH_HLEN,
		.id = id,
	};

	if ((void *)(ip6 + 1) <= (void *)(long)ctx->data_end) {
		srpol_copy_addr(ev.saddr, &ip6->saddr);
		srpol_copy_addr(ev.daddr, &ip6->daddr);
	}
	if (s)
		s->dropped++;
	srpol_error(SRPOL_ERROR_SID, reason, id);
	srpol_drop(&ev);
	return XDP_DROP;
}

static __always_inline void srpol_sid_account(__u32 id, __u32 bytes,
					      bool no_srh, bool ce)
{
	struct srpol_sid_stats *s = bpf_map_lookup_elem(&sid_stats, &id);

	if (!s)
		return;
	s->packets++;
	s->bytes += bytes;
	s->no_srh += no_srh;
	s->ce += ce;
}

#endif /* _SRPOL_SID_H */
