/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The test packet of a reflected probe. It is copied to memory, since the tag
 * is over the test packet and the segment list together, and the stack has no
 * room for them.
 */
#ifndef _SRPOL_FAR_PACKET_H
#define _SRPOL_FAR_PACKET_H

#include "base.h"
#include "proto.h"
#include "sid_ctx.h"
#include "siphash.h"
#include "words.h"

/*
 * RFC 8762 4.3.1 and RFC 8972 3, followed by srpol's own TLV. In a request the
 * fields that the reflector fills in are 0.
 */
struct srpol_far_stamp {
	__be32 seq;
	__be32 sec;
	__be32 nsec;
	__be16 error;
	__be16 ssid;
	__be32 came_sec;
	__be32 came_nsec;
	__be32 sender_seq;
	__be32 sender_sec;
	__be32 sender_nsec;
	__be16 sender_error;
	__be16 zero;
	__u8 sender_ttl;
	__u8 zeros[3];
	__u8 flags;
	__u8 type;
	__be16 len;
	__be64 epoch;
	__be32 path;
	__be32 list;
	__be64 path_ce;
	__be64 ce;
	__u64 tag;
};

#define SRPOL_FAR_SIGNED_WORDS	(SRPOL_STAMP_FAR_SIGNED / sizeof(__u64))
#define SRPOL_FAR_LIST_WORDS	(2 * SRPOL_PROBE_SEGS)

_Static_assert(sizeof(struct srpol_far_stamp) ==
	       SRPOL_STAMP_FAR_SIGNED + sizeof(__u64), "wire");

/**
 * struct srpol_far_packet - the test packet that this CPU works on
 * @stamp: the test packet
 * @was: the test packet before it was changed
 * @list: the segment list, as in the SRH
 * @segs: number of its entries
 * @off: offset of the UDP header from the start of the frame
 * @also: the tag is by the second key of the pair, @also of struct srpol_pair
 * @fresh: zeros, from which a new session is made
 */
struct srpol_far_packet {
	struct srpol_far_stamp stamp;
	struct srpol_far_stamp was;
	__u64 list[SRPOL_FAR_LIST_WORDS];
	__u32 segs;
	__u32 off;
	__u32 also;
	__u32 reserved;
	struct srpol_session fresh;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srpol_far_packet);
} far_packet SEC(".maps");

/*
 * Does the packet consist of an SRH with a whole segment list and no TLVs, a
 * UDP header and a test packet, and nothing else? @p->segs and @p->off are set.
 */
static __always_inline bool srpol_far_fits(struct xdp_md *ctx,
					   const struct srpol_sid_ctx *sc,
					   struct srpol_far_packet *p)
{
	struct ipv6_sr_hdr *srh = (void *)(long)ctx->data + ETH_HLEN +
				  IPV6_HLEN;

	if (sc->nh != IPPROTO_UDP ||
	    (void *)(srh + 1) > (void *)(long)ctx->data_end)
		return false;
	p->segs = srh->first_segment + 1;
	p->off = ETH_HLEN + IPV6_HLEN + sc->srh_len;
	return p->segs <= SRPOL_PROBE_SEGS &&
	       sc->srh_len == SRH_HLEN + p->segs * sizeof(struct in6_addr) &&
	       sc->payload == sc->srh_len + sizeof(struct udphdr) +
			     sizeof(p->stamp);
}

/**
 * srpol_far_read - copy the test packet and the segment list
 * @ctx: packet
 * @sc: SID context: the same packet, parsed
 * @p: result
 *
 * Return: SRPOL_STAMP_TLV_REQUEST or _REPLY, 0 if it is neither.
 */
__noinline int srpol_far_read(struct xdp_md *ctx,
			      const struct srpol_sid_ctx *sc __arg_nonnull,
			      struct srpol_far_packet *p __arg_nonnull)
{
	struct udphdr udp;
	__u32 len;

	if (!srpol_far_fits(ctx, sc, p))
		return 0;
	len = p->segs * sizeof(struct in6_addr);
	/*
	 * the verifier must see that the length used is the one checked, and
	 * not 0
	 */
	barrier_var(len);
	if (len < sizeof(struct in6_addr))
		return 0;
	barrier_var(len);
	if (len > sizeof(p->list) ||
	    bpf_xdp_load_bytes(ctx, ETH_HLEN + IPV6_HLEN + SRH_HLEN, p->list,
			       len) ||
	    bpf_xdp_load_bytes(ctx, p->off, &udp, sizeof(udp)) ||
	    bpf_xdp_load_bytes(ctx, p->off + sizeof(udp), &p->stamp,
			       sizeof(p->stamp)))
		return 0;
	if (udp.dest != bpf_htons(SRPOL_STAMP_PORT) || p->stamp.flags ||
	    p->stamp.len != bpf_htons(SRPOL_STAMP_FAR_LEN))
		return 0;
	return p->stamp.type == SRPOL_STAMP_TLV_REQUEST ||
	       p->stamp.type == SRPOL_STAMP_TLV_REPLY ? p->stamp.type : 0;
}

/* Tag of test packet and segment list, by the key that @p->also selects. */
__noinline __u64 srpol_far_tag(const struct srpol_pair *pair __arg_nonnull,
			       const struct srpol_far_packet *p __arg_nonnull)
{
	const __u64 *m = (const __u64 *)&p->stamp;
	struct srpol_sip s = srpol_sip_init(p->also ? pair->also : pair->k);
	__u32 words = 2 * p->segs, i;

	bpf_for(i, 0, SRPOL_FAR_SIGNED_WORDS)
		srpol_sip_word(&s, srpol_le64(m[i]));
	bpf_for(i, 0, SRPOL_FAR_LIST_WORDS) {
		if (i >= words)
			break;
		srpol_sip_word(&s, srpol_le64(p->list[i]));
	}
	return srpol_sip_end(&s, SRPOL_STAMP_FAR_SIGNED + 8 * words);
}

/* Is the tag right, by either key of the pair? @p->also tells which. */
static __always_inline bool srpol_far_signed(const struct srpol_pair *pair,
					     struct srpol_far_packet *p)
{
	p->also = 0;
	if (srpol_far_tag(pair, p) == p->stamp.tag)
		return true;
	if (!pair->both)
		return false;
	p->also = 1;
	return srpol_far_tag(pair, p) == p->stamp.tag;
}

/* Is an address entry @i of the list? */
static __always_inline bool srpol_far_is(const struct srpol_far_packet *p,
					 __u32 i, const void *addr)
{
	const __u32 *a = addr, *b;

	if (i >= SRPOL_PROBE_SEGS)
		return false;
	b = (const __u32 *)&p->list[2 * i];
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) |
		 (a[3] ^ b[3]));
}

static __always_inline __u64 srpol_far_ns(__be32 sec, __be32 nsec)
{
	return bpf_ntohl(sec) * SRPOL_NS_PER_SEC + bpf_ntohl(nsec);
}

#endif /* _SRPOL_FAR_PACKET_H */
