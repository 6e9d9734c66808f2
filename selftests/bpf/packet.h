/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets for the tests, written from the standards and sharing no code with
 * the programs under test.
 */
#ifndef _SRPOL_TEST_PACKET_H
#define _SRPOL_TEST_PACKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define PKT_MAX		12288

struct pkt {
	uint32_t len;
	uint8_t b[PKT_MAX];
};

/**
 * struct inner - a packet of a host, before encapsulation
 * @src: source address as text; its family is the packet's
 * @dst: destination address
 * @proto: transport: 0 or IPPROTO_UDP, IPPROTO_TCP or anything else
 * @roce: RoCEv2: port 4791, a BTH and an ICRC are added
 * @sport: source port
 * @dport: destination port (not for RoCEv2)
 * @qp: destination QP
 * @opcode: BTH opcode
 * @pkey: BTH P_Key
 * @psn: word of the BTH with the PSN; 0 for PSN 1 with a request to acknowledge
 * @syndrome: first byte after the BTH (AETH of an ACK), if not 0
 * @ttl: TTL or hop limit, 0 for 64
 * @tclass: TOS or traffic class
 * @label: IPv6 flow label
 * @payload: bytes of payload
 * @options: IPv4: 4-byte words of options
 * @ext: IPv6: types of extension headers, ended by 0xff, in order; 0 is
 *	hop-by-hop (then @has_ext must be set)
 * @has_ext: look at @ext
 * @frag_off: fragment offset in 8-byte units; a fragment if this or @more is
 *	set (IPv6: needs a fragment header in @ext)
 * @more: more fragments follow
 * @first_byte: first byte of the transport header for other protocols (type
 *	of an ICMP message)
 */
struct inner {
	const char *src;
	const char *dst;
	uint8_t proto;
	bool roce;
	uint16_t sport;
	uint16_t dport;
	uint32_t qp;
	uint8_t opcode;
	uint16_t pkey;
	uint32_t psn;
	uint8_t syndrome;
	uint8_t ttl;
	uint8_t tclass;
	uint32_t label;
	uint16_t payload;
	uint8_t options;
	bool has_ext;
	uint8_t ext[8];
	uint16_t frag_off;
	bool more;
	uint8_t first_byte;
};

/**
 * struct outer - IPv6 and SRH around an inner packet
 * @macs: link layer of the frame, NULL for pkt_link_macs
 * @src: outer source
 * @sids: SIDs in order of travel
 * @n: how many
 * @full: SRH with all of them; else reduced, no SRH for one SID
 * @travelled: SIDs already behind the packet (0 at the source)
 * @hop_limit: 0 for 64
 * @tclass: outer traffic class
 * @label: outer flow label
 * @tag: SRH tag
 * @tlv: bytes of TLVs, a multiple of 8
 * @tlv_len: how many; an SRH is there for them even with one SID
 */
struct outer {
	const uint8_t *macs;
	const char *src;
	const struct in6_addr *sids;
	unsigned int n;
	bool full;
	unsigned int travelled;
	uint8_t hop_limit;
	uint8_t tclass;
	uint32_t label;
	uint16_t tag;
	const uint8_t *tlv;
	unsigned int tlv_len;
};

extern const uint8_t pkt_host_macs[12];		/* of inner frames */
extern const uint8_t pkt_link_macs[12];		/* of outer frames */

void pkt_add(struct pkt *p, const void *data, uint32_t len);
void pkt_add8(struct pkt *p, uint8_t v);
void pkt_add16(struct pkt *p, uint16_t v);
void pkt_add32(struct pkt *p, uint32_t v);
void pkt_add_hex(struct pkt *p, const char *hex);
void pkt_add_eth(struct pkt *p, const uint8_t *macs, uint16_t proto);

/* Frame of an inner packet: Ethernet, IP and the rest. */
void pkt_inner(struct pkt *p, const struct inner *in);

/* The same without the Ethernet header. */
void pkt_inner_ip(struct pkt *p, const struct inner *in);

/* Bytes of IPv6 and SRH. */
unsigned int outer_len(const struct outer *o);

/* IPv6 and SRH, for @len bytes of next header @nh inside. */
void pkt_add_outer(struct pkt *p, const struct outer *o, uint32_t len,
		   uint8_t nh);

/*
 * Outer frame around an inner IP packet of @len bytes; the first nibble tells
 * its family.
 */
void pkt_encap(struct pkt *p, const struct outer *o, const void *ip,
	       uint32_t len);

/* Internet checksum over @len bytes, on top of @sum; not complemented. */
uint32_t csum_add(uint32_t sum, const void *data, uint32_t len);
uint16_t csum_fold(uint32_t sum);

/* Parse "fc00::1" or "10.0.0.1" (as v4-mapped). */
struct in6_addr addr(const char *text);

/* SID number @i of the tests: fc00:0:i:: */
struct in6_addr sid(unsigned int i);

/* RoCEv2 ICRC of an IP packet of @len bytes, ICRC included in @len. */
uint32_t icrc(const uint8_t *ip, uint32_t len);

/* Print both, if they differ, as comments of KTAP. */
bool pkt_equal(const struct pkt *got, const struct pkt *want);

#endif /* _SRPOL_TEST_PACKET_H */
