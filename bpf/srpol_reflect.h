/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps of reflected probes. Included by srpol_maps.h.
 *
 * DOC: reflected probes
 *
 * The second form of probe goes to a peer and back. As with the first form
 * (srpol_probe.h), its segment list is that of the whole way; in the middle of
 * it is a local SID of the peer of behavior reflect. XDP of the peer turns the
 * request into a stateful STAMP reflection (RFC 8762 4.3.1) in place and of the
 * same length, and sends it on along the list, out of the device that it came
 * in by. That makes the two directions distinguishable: by separate sequence
 * numbers, by timestamps of the peer, and by congestion marks, which the peer
 * counts and removes.
 *
 * A peer reflects for hosts that share a key with it, map "pairs". The tag
 * (SipHash-2-4 under that key) covers all meaningful fields of the test packet
 * and the segment list, so that nobody can have a reflection sent elsewhere;
 * the list has to end at the SID that the pair has for this. Each sequence
 * number of an epoch is reflected once: the requesting host increments its
 * epoch whenever it begins anew.
 */
#ifndef _SRPOL_REFLECT_MAPS_H
#define _SRPOL_REFLECT_MAPS_H

#define SRPOL_MAX_PAIRS		1024	/* peers, by address */
#define SRPOL_MAX_SESSIONS	4096	/* sessions of peers with this host */
#define SRPOL_SESSION_SLOTS	16	/* sequence numbers in flight */

/* On the wire, beside what the first form has. */
#define SRPOL_STAMP_TLV_REQUEST	253	/* RFC 8972 4: experimental use */
#define SRPOL_STAMP_TLV_REPLY	254
#define SRPOL_STAMP_FAR_LEN	40	/* length of the value of either */
#define SRPOL_STAMP_FAR_SIGNED	(44 + 4 + 32)	/* bytes before the tag */

/**
 * struct srpol_pair - value of hash map "pairs", key: address of a peer: what
 *	is agreed with it. The prober writes all but @second and @turned
 * @k: key of the tags in both directions, SipHash-2-4, words as in memory
 * @sid: where the peer's probes end: its SID of behavior probe
 * @rate: most probes per second that are reflected for it
 * @both: @also is a key, too
 * @second: second of CLOCK_MONOTONIC that @turned is of
 * @turned: requests that came in that second
 * @also: second key that is accepted, so that the two hosts need not change
 *	their keys at the same moment; a reflection is signed by the key of its
 *	request
 */
struct srpol_pair {
	__u64 k[2];
	__u8 sid[16];
	__u32 rate;
	__u32 both;
	__u64 second;
	__u64 turned;
	__u64 also[2];
};

/**
 * struct srpol_session_key - key of LRU hash map "sessions"
 * @peer: outer source
 * @ssid: SSID of the probe
 */
struct srpol_session_key {
	__u8 peer[16];
	__u32 ssid;
};

/**
 * struct srpol_session - value of map "sessions": the probes of a list that are
 *	reflected
 * @epoch: epoch of the peer's prober
 * @received: requests that came in this epoch
 * @ce: those of them with a congestion mark
 * @seen: for each residue of sequence numbers the last one that came, plus 1
 */
struct srpol_session {
	__u64 epoch;
	__u64 received;
	__u64 ce;
	__u32 seen[SRPOL_SESSION_SLOTS];
};

#define SRPOL_FAR_NONE	(1ll << 62)	/* there is no time */

/**
 * struct srpol_far - map "fars", by the SSID of the probe: what the peer
 *	reports about it; its entry in map "probes" has the rest
 * @peer: address of the peer, its key in map "pairs"
 * @epoch: epoch of the prober, which writes this and @peer
 * @reached: probes of this epoch that reached the peer
 * @ce: those of them with a congestion mark
 * @path_ce: marked packets that reached the peer by the path it was asked about
 * @there_ns: shortest time from here to there, by the clocks of the two hosts,
 *	since the prober last looked; SRPOL_FAR_NONE: none
 * @back_ns: the same from there to here
 * @hop_limit: hop limit with which the last one reached the peer
 * @reserved: 0
 * @forgot: part of @reached that the peer has forgotten, as it remembers a
 *	limited number of sessions
 * @forgot_ce: the same of @ce
 */
struct srpol_far {
	__u8 peer[16];
	__u64 epoch;
	__u64 reached;
	__u64 ce;
	__u64 path_ce;
	__s64 there_ns;
	__s64 back_ns;
	__u32 hop_limit;
	__u32 reserved;
	__u64 forgot;
	__u64 forgot_ce;
};

#endif /* _SRPOL_REFLECT_MAPS_H */
