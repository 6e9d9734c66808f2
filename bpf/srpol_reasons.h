/* SPDX-License-Identifier: GPL-2.0 */
/* What can happen to a packet: names, numbers and words for it. */
#ifndef _SRPOL_REASONS_H
#define _SRPOL_REASONS_H

/*
 * What can happen to a packet, counted in per-CPU array "reasons" by number.
 * X(number, NAME, drop, text). Numbers are ABI: append only.
 */
#define SRPOL_REASONS(X)						\
	X(0,  STEERED,		0, "encapsulated")			\
	X(1,  NOT_IP,		0, "egress: not IPv4 or IPv6")		\
	X(2,  TUNNELED,		0, "egress: already in an IPv6 tunnel or SRH") \
	X(3,  UNPARSED,		0, "egress: headers cut short or malformed") \
	X(4,  NO_RULE,		0, "egress: no rule matches") \
	X(5,  BYPASS,		0, "egress: a rule says bypass")	\
	X(6,  NO_POLICY,	0, "egress: no policy for color and endpoint") \
	X(7,  INVALID_PASSTHROUGH,	0, "egress: no path is up, passed through") \
	X(8,  INVALID_DROP,	1, "egress: no path is up, dropped")	\
	X(9,  DOWN_SKIPPED,	0, "egress: the bucket's path was down, another taken") \
	X(10, BACKUP,		0, "egress: the backup policy was used") \
	X(11, TOO_BIG,		1, "egress: too big after encapsulation") \
	X(12, NO_ROOM,		1, "egress: no room for the outer header") \
	X(13, ICMP_SENT,	0, "egress: ICMP too-big error sent")	\
	X(14, DECAP,		0, "ingress: decapsulated")		\
	X(15, END,		0, "ingress: End, next segment")	\
	X(16, NOT_LOCAL,	0, "ingress: not for a local SID")	\
	X(17, TRUNCATED,	1, "ingress: packet shorter than its headers say") \
	X(18, BAD_HDRLEN,	1, "ingress: SRH length and last entry disagree") \
	X(19, BAD_SEGMENTS_LEFT, 1, "ingress: segments left beyond last entry") \
	X(20, BAD_ROUTING_TYPE,	1, "ingress: routing header is not an SRH") \
	X(21, NESTED_SRH,	1, "ingress: second routing header")	\
	X(22, EXT_HEADER,	1, "ingress: extension header before the payload") \
	X(23, SEGMENTS_LEFT,	1, "ingress: segments left at a decapsulating SID") \
	X(24, NO_SEGMENTS_LEFT,	1, "ingress: no segments left at an End SID") \
	X(25, UPPER_LAYER,	1, "ingress: payload type not allowed for the SID") \
	X(26, BAD_INNER,	1, "ingress: inner header malformed")	\
	X(27, ECN_DROP,		1, "ingress: outer CE, inner not ECN-capable") \
	X(28, ECN_CE,		0, "ingress: congestion mark copied to the inner header") \
	X(29, ECN_ODD,		0, "ingress: unusual ECN combination (RFC 6040 4.2)") \
	X(30, HOP_LIMIT,	1, "ingress: hop limit exceeded")	\
	X(31, SID_LOOP,		1, "ingress: too many local SIDs in a row") \
	X(32, NO_HEADROOM,	1, "ingress: header adjustment failed")	\
	X(33, LINK_SCOPE,	0, "egress: multicast, broadcast, link-local or neighbor discovery") \
	X(34, BAD_OUTER,	1, "ingress: outer header is not IPv6")	\
	X(35, SPRAY_UNSAFE,	0, "egress: to be sprayed, but no rule allows reordering") \
	X(36, NOT_CONGESTED,	0, "egress: mode on-congestion, no congestion, not encapsulated") \
	X(37, FLOWLET_MOVED,	0, "egress: a flowlet took another path")	\
	X(38, ADAPTIVE_MOVED,	0, "egress: a flow left a bad path or returned") \
	X(39, CNP,		0, "ingress: congestion notification")	\
	X(40, NAK,		0, "ingress: NAK for a PSN sequence error") \
	X(41, UNKNOWN_QP,		0, "ingress: CNP or NAK for a QP of unknown flow") \
	X(42, BAD_SOURCE,	1, "ingress: source outside the SR domain")	\
	X(43, SID_FROM_PORT,	1, "port: destination is a local SID or in a SID block")	\
	X(44, NO_UPLINK,	1, "port: the path's device is not an uplink")	\
	X(45, ADJACENCY_DOWN,	1, "ingress: the SID's adjacency is not up")	\
	X(46, USID_NEXT,	0, "ingress: next compressed SID")	\
	X(47, OUTER_CE,		0, "ingress: congestion mark on the outer header") \
	X(48, TTL_EXCEEDED,	0, "port: inner hop limit exceeded, left to the kernel") \
	X(49, FOREIGN_MAC,	0, "not to the device's own address, left alone") \
	X(50, PORT_UNREADABLE,	1, "port: headers that cannot be read") \
	X(51, FORWARDED,	0, "ingress: decapsulated and forwarded in XDP") \
	X(52, INNER_SCOPE,	1, "ingress: inner packet is multicast, link-local or neighbor discovery") \
	X(53, SID_TAGGED,	0, "ingress: to a local SID under a VLAN tag, left to that VLAN") \
	X(54, SID_UNREADABLE,	1, "ingress: to a local SID, with priority tags or headers in fragments") \
	X(55, BAD_NEXT,		1, "ingress: the next segment is no address to send to") \
	X(56, INNER_ERROR,	1, "ingress: inner packet is an ICMPv6 error about a packet of a tunnel") \
	X(57, HOST,		0, "ingress: to a virtual port, by TC")	\
	X(58, PROBE,		0, "ingress: a probe of this host came back") \
	X(59, PROBE_MALFORMED,	1, "ingress: to the probe SID, but no probe") \
	X(60, PROBE_FORGED,	1, "ingress: a probe without the tag of this host") \
	X(61, PROBE_STRANGE,	1, "ingress: a probe with another segment list, source or device than it left with") \
	X(62, PROBE_STALE,	1, "ingress: a probe that came before, or is too old")	\
	X(63, SPOOFED,		1, "port: the source is not behind it")	\
	X(64, LOCAL,		0, "port: for this host itself, left to its stack") \
	X(65, REFLECTED,	0, "ingress: a probe of another host was reflected") \
	X(66, REFLECT_MALFORMED, 1, "ingress: to the reflecting SID, but no probe to reflect") \
	X(67, REFLECT_STRANGE,	1, "ingress: probe of a host without a key, or on another segment list than agreed") \
	X(68, REFLECT_FORGED,	1, "ingress: probe to reflect, without the tag of the two hosts") \
	X(69, REFLECT_REPLAYED,	1, "ingress: probe to reflect, but came before, or is too old") \
	X(70, REFLECT_LIMITED,	1, "ingress: probe to reflect, more than the host may send in a second") \
	X(71, END_B6,		0, "ingress: to a binding SID, encapsulated into its policy") \
	X(72, ICMP_ENDPOINT,	0, "ingress: ICMPv6 error sent about a packet for a local SID") \
	X(73, ICMP_LIMITED,	0, "ICMP error not sent: too many about packets of the device") \
	X(74, LIMITED,		1, "egress, port: more than may be sent in the color") \
	X(75, SCTP_GSO,		0, "egress, port: SCTP super-packet, which cannot be encapsulated") \
	X(76, ECHO,		0, "ingress: ping of a local SID, answered") \
	X(77, ENCAP_REFUSED,	0, "egress, port: the kernel does not let it be encapsulated") \
	X(78, ENCAP_REFUSED_DROP, 1, "egress, port: the same, dropped as drop-upon-invalid says")

#define SRPOL_REASON_ENUM(nr, name, drop, text) SRPOL_REASON_##name = nr,
enum srpol_reason {
	SRPOL_REASONS(SRPOL_REASON_ENUM)
	SRPOL_REASON_COUNT
};
#undef SRPOL_REASON_ENUM

#endif /* _SRPOL_REASONS_H */
