/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps of probes that a peer turns round. Included by
 * srpol_maps.h.
 *
 * DOC: reflected probes
 *
 * The second form of probe goes to the peer and back. Its segment list is that
 * of the whole way, as with the first form (srpol_probe.h), and has in its
 * middle a local SID of the peer of behavior reflect. XDP of the peer makes a
 * stateful STAMP reflection of it (RFC 8762 4.3.1) in place, of the same length,
 * and sends it on along the list, out by the device it came in by. So the two
 * directions are told apart: by sequence numbers of their own, by times at the
 * peer, by congestion marks, which the peer counts and takes off.
 *
 * Who may have something turned round is who shares a key with the peer, map
 * "pairs". The tag (SipHash-2-4 under that key) is over all of the test packet
 * that has a meaning and over the segment list, so that nobody can have a
 * reflection sent elsewhere; the list has to end at the SID that the pair has
 * for it. Each sequence number of an epoch is turned round once: the requesting
 * host counts epochs up whenever it begins anew.
 */
#ifndef _SRPOL_REFLECT_MAPS_H
#define _SRPOL_REFLECT_MAPS_H

#define SRPOL_MAX_PAIRS		1024	/* addresses of peers */
#define SRPOL_MAX_SESSIONS	4096	/* of peers that probe this host */
#define SRPOL_SESSION_SLOTS	16	/* sequence numbers that can be under way */

/* The wire, beside what the first form has. */
#define SRPOL_STAMP_TLV_REQUEST	253	/* RFC 8972 4: experimental use */
#define SRPOL_STAMP_TLV_REPLY	254
#define SRPOL_STAMP_FAR_LEN	40	/* of the value of either */
#define SRPOL_STAMP_FAR_SIGNED	(44 + 4 + 32)	/* what is before the tag */

/**
 * struct srpol_pair - value of hash map "pairs", key: address of a peer: what
 * is agreed with it; written by the prober but for @second and @turned
 * @k: key of the tags of both, SipHash-2-4, words as in memory
 * @sid: where the peer's probes end: its SID of behavior probe
 * @rate: probes per second that are turned round for it
 * @both: @also is a key
 * @second: that of @turned
 * @turned: probes that came to be turned round in it
 * @also: key that is accepted as well, so that both hosts do not have to change
 *	theirs in the same moment; a reflection has the key of what it reflects
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
 * @ssid: of the probe
 */
struct srpol_session_key {
	__u8 peer[16];
	__u32 ssid;
};

/**
 * struct srpol_session - value of map "sessions": a probe that is turned round
 * @epoch: of the peer's prober
 * @received: probes that came
 * @ce: of these, with a congestion mark
 * @seen: of each residue of sequence numbers the last one that came, plus 1
 */
struct srpol_session {
	__u64 epoch;
	__u64 received;
	__u64 ce;
	__u32 seen[SRPOL_SESSION_SLOTS];
};

#define SRPOL_FAR_NONE	(1ll << 62)	/* no time */

/**
 * struct srpol_far - map "fars", by the SSID of the probe: what the peer says of
 * it; its entry in map "probes" has the rest
 * @peer: address of the peer, its key in map "pairs"
 * @epoch: of the prober; this and @peer are written by it
 * @reached: probes of this epoch that reached the peer
 * @ce: of these, with a congestion mark
 * @path_ce: packets with a mark that reached it by the path it was asked about
 * @there_ns: least time from here to there, by the clocks of two hosts, since
 *	the prober looked; SRPOL_FAR_NONE: none
 * @back_ns: likewise from there to here
 * @hop_limit: with which the last one reached the peer
 * @reserved: 0
 * @forgot: of @reached those that the peer forgot: it remembers so many sessions
 * @forgot_ce: of @ce
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
