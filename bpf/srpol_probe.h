/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps of probes: what the prober (srpold) sends, and what
 * XDP at the uplinks notes when it is back. Included by srpol_maps.h.
 *
 * DOC: probes
 *
 * A probe consists of IPv6, an SRH with the whole segment list, UDP and the
 * base of a STAMP test packet (RFC 8762 4.2.1) with a TLV for a keyed tag. Its
 * last segment is a local SID of behavior probe. Before the prober sends, it
 * writes the time of sending to the slot of the probe's sequence number. A
 * probe counts only if the time in it is that of its slot: so it can count
 * neither twice nor late, nor in place of another one. The slots tell which
 * probes are back. The prober reads them when it wants to know, without a
 * system call, as the map can be mapped.
 */
#ifndef _SRPOL_PROBE_MAPS_H
#define _SRPOL_PROBE_MAPS_H

#define SRPOL_MAX_PROBES	4096	/* segment lists that are probed */
#define SRPOL_PROBE_SLOTS	64	/* probes per list in flight */
#define SRPOL_PROBE_LONG	SRPOL_PROBE_SLOTS	/* slot of a long one */
#define SRPOL_PROBE_SEGS	16
#define SRPOL_PROBE_RTTS	32	/* RTTs from 2^n ns on */
#define SRPOL_PROBE_NEVER	(~0u)	/* no sequence number */
/* set in that of a long probe */
#define SRPOL_PROBE_SEQ_LONG	(1u << 31)
#define SRPOL_PROBE_EVENTS_BYTES	(64 * 1024)
#define SRPOL_PROBE_REASONS	5	/* enum srpol_reason from PROBE on */

/* On the wire: STAMP, and what this host adds to it. */
#define SRPOL_STAMP_PORT	862
#define SRPOL_STAMP_LEN		44
#define SRPOL_STAMP_SIGNED	16	/* sequence number to SSID */
#define SRPOL_STAMP_TLV_HLEN	4
#define SRPOL_STAMP_TLV_TAG	252	/* RFC 8972 4: experimental use */
#define SRPOL_STAMP_TAG_LEN	8

/**
 * struct srpol_probe_slot - a probe that is, or was, in flight
 * @sent_ns: written by the prober: CLOCK_MONOTONIC when it was sent, 0: no
 *	probe was
 * @back: written by XDP: sequence number of the last probe of this slot that
 *	came back
 * @rtt_ns: its round-trip time, written before @back; 2^32 - 1 stands for all
 *	longer ones
 */
struct srpol_probe_slot {
	__u64 sent_ns;
	__u32 back;
	__u32 rtt_ns;
};

/**
 * struct srpol_probe - map "probes", by the SSID of the probes: a segment list
 *	that is probed
 * @ifindex: device by which probes have to come back, 0: there is no such probe
 * @segs: number of segments
 * @saddr: source address of the probes
 * @list: the segments, as in the SRH: the last one first
 * @slot: slots by sequence number, and one for long probes
 * @received: probes that came back; this and all that follows is written by XDP
 * @ce: those of them with a congestion mark
 * @gaps: how often the sequence number was not the next one
 * @last_ns: CLOCK_MONOTONIC when the last one came back
 * @last_seq: its sequence number, SRPOL_PROBE_NEVER at first
 * @hop_limit: hop limit that it came back with
 * @rtt_min_ns: shortest round-trip time, 0: none yet
 * @rtt_ns: smoothed round-trip time (1/8)
 * @histogram: number of round-trip times from 2^n ns to 2^(n+1) - 1 ns
 *
 * All probes of a list usually arrive on one queue, so that what XDP writes is
 * exact. If they do not, only @slot[].back is, which is atomic.
 */
struct srpol_probe {
	__u32 ifindex;
	__u32 segs;
	__u8 saddr[16];
	__u64 list[2 * SRPOL_PROBE_SEGS];
	struct srpol_probe_slot slot[SRPOL_PROBE_SLOTS + 1];
	__u64 received;
	__u64 ce;
	__u64 gaps;
	__u64 last_ns;
	__u32 last_seq;
	__u32 hop_limit;
	__u32 rtt_min_ns;
	__u32 rtt_ns;
	__u32 histogram[SRPOL_PROBE_RTTS];
};

/**
 * struct srpol_probe_key - map "probe_key", one entry: key of the tags
 * @k: key for SipHash-2-4, words as in memory
 * @set: a key has been set
 * @reserved: 0
 */
struct srpol_probe_key {
	__u64 k[2];
	__u32 set;
	__u32 reserved;
};

/**
 * struct srpol_probe_event - record of ring buffer "probe_events": a probe that
 *	did not come back as it should; limited per reason, second and CPU
 * @ns: CLOCK_MONOTONIC
 * @reason: enum srpol_reason; PROBE: it counts, but the one before it is
 *	missing
 * @probe: index in map "probes", if the tag is right
 * @seq: sequence number, if the tag is right
 * @ifindex: device that it came in by
 * @hop_limit: hop limit that it came with
 * @segs: number of entries in @list, 0: the packet has no SRH
 * @saddr: source address
 * @list: segment list of the packet, as in the SRH
 */
struct srpol_probe_event {
	__u64 ns;
	__u32 reason;
	__u32 probe;
	__u32 seq;
	__u32 ifindex;
	__u32 hop_limit;
	__u32 segs;
	__u8 saddr[16];
	__u8 list[16 * SRPOL_PROBE_SEGS];
};

/**
 * srpol_log2 - position of the highest bit that is set, 0 for 0
 * @v: number
 */
static inline __attribute__((always_inline)) __u32 srpol_log2(__u32 v)
{
	__u32 n = 0;

	if (v >> 16) {
		v >>= 16;
		n = 16;
	}
	if (v >> 8) {
		v >>= 8;
		n += 8;
	}
	if (v >> 4) {
		v >>= 4;
		n += 4;
	}
	if (v >> 2) {
		v >>= 2;
		n += 2;
	}
	return n + (v >> 1);
}

/**
 * srpol_probe_slot_of - slot of a sequence number
 * @p: the probe's segment list
 * @seq: sequence number
 */
static inline __attribute__((always_inline)) struct srpol_probe_slot *
srpol_probe_slot_of(struct srpol_probe *p, __u32 seq)
{
	return &p->slot[seq & SRPOL_PROBE_SEQ_LONG ? SRPOL_PROBE_LONG :
			seq % SRPOL_PROBE_SLOTS];
}

/**
 * srpol_probe_came - count a probe that is back and in all else as it should be
 * @p: entry of its segment list
 * @seq: its sequence number
 * @sent_ns: time of sending that it carries
 * @now: CLOCK_MONOTONIC in ns
 * @ce: it has a congestion mark
 * @hop_limit: hop limit that it came with
 *
 * Both XDP and a prober that has to receive probes by itself use this.
 *
 * Return: 0; 1 if probes before it are missing; -1 if it does not count, since
 * it came before or is too old.
 */
static inline __attribute__((always_inline)) int
srpol_probe_came(struct srpol_probe *p, __u32 seq, __u64 sent_ns, __u64 now,
		 int ce, __u32 hop_limit)
{
	struct srpol_probe_slot *slot = srpol_probe_slot_of(p, seq);
	__u64 rtt = now - sent_ns;
	__u32 gap;

	if (slot->sent_ns != sent_ns || !sent_ns || slot->back == seq)
		return -1;
	if (rtt >> 32)
		rtt = ~0u;
	/* written before @back, which says that it is there */
	*(volatile __u32 *)&slot->rtt_ns = rtt;
	/*
	 * the exchange returns @seq if another CPU was first: one of two counts
	 */
	if (__sync_lock_test_and_set(&slot->back, seq) == seq)
		return -1;
	if (seq & SRPOL_PROBE_SEQ_LONG)
		return 0;
	gap = p->last_seq != SRPOL_PROBE_NEVER &&
	      seq != ((p->last_seq + 1) & ~SRPOL_PROBE_SEQ_LONG);
	p->last_seq = seq;
	p->gaps += gap;
	p->received++;
	p->ce += ce;
	p->hop_limit = hop_limit;
	p->last_ns = now;
	if (!p->rtt_min_ns || rtt < p->rtt_min_ns)
		p->rtt_min_ns = rtt;
	p->rtt_ns = p->rtt_ns ? p->rtt_ns - (p->rtt_ns >> 3) + (rtt >> 3) :
				rtt;
	p->histogram[srpol_log2(rtt) % SRPOL_PROBE_RTTS]++;
	return gap;
}

#endif /* _SRPOL_PROBE_MAPS_H */
