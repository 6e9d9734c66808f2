// SPDX-License-Identifier: GPL-2.0
/*
 * A probe of "srpol path trace" has the headers that the data plane puts before
 * each packet of the path, with another hop limit, and in them an ICMPv6 echo
 * request to the last SID (RFC 9259). Routers where the hop limit ends quote it
 * in their error.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <string.h>

#include "trace.h"

#define IPV6_HLEN	40
#define IPV6_LEN	4
#define IPV6_NEXT	6
#define IPV6_HOPS	7
#define IPV6_SRC	8
#define IPV6_DST	24
#define ICMP_HLEN	8
#define ICMP_LEN	(ICMP_HLEN + sizeof(uint64_t))
/* RFC 8986 4.1.1, where nothing answers what is sent to a SID itself */
#define SR_UPPER_LAYER	4

_Static_assert(ICMP_LEN == TRACE_FRAME_MAX - SRPOL_REWRITE_MAX, "frame");

static void put16(uint8_t *to, uint16_t v)
{
	v = htons(v);
	memcpy(to, &v, sizeof(v));
}

static uint16_t get16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

static uint32_t sum16(const uint8_t *p, size_t len, uint32_t sum)
{
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += get16(p + i);
	return sum;
}

static uint16_t checksum(const uint8_t *icmp, const uint8_t *src,
			 const struct in6_addr *dst)
{
	uint32_t sum = ICMP_LEN + IPPROTO_ICMPV6;

	sum = sum16(src, sizeof(*dst), sum);
	sum = sum16(dst->s6_addr, sizeof(*dst), sum);
	sum = sum16(icmp, ICMP_LEN, sum);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/**
 * trace_make() - write a probe
 * @path: compiled form of the path, as the data plane has it
 * @probe: the rest
 * @frame: TRACE_FRAME_MAX bytes
 *
 * Return: length of the frame, 0 if @path is none.
 */
size_t trace_make(const struct srpol_path_cfg *path,
		  const struct trace_probe *probe, uint8_t *frame)
{
	uint8_t *ip6 = frame + ETH_HLEN, *icmp = ip6 + path->encap_len;
	uint32_t first = htonl(6u << 28 | probe->dscp << 22 | probe->label);

	if (path->encap_len < IPV6_HLEN ||
	    path->encap_len > SRPOL_REWRITE_MAX - ETH_HLEN ||
	    path->nh_off >= ETH_HLEN + path->encap_len)
		return 0;
	memcpy(frame, path->rewrite, ETH_HLEN + path->encap_len);
	memcpy(ip6, &first, sizeof(first));
	put16(ip6 + IPV6_LEN, path->encap_len - IPV6_HLEN + ICMP_LEN);
	ip6[IPV6_HOPS] = probe->hops;
	frame[path->nh_off] = IPPROTO_ICMPV6;
	memset(icmp, 0, ICMP_HLEN);
	icmp[0] = ICMP6_ECHO_REQUEST;
	put16(icmp + 4, probe->id);
	put16(icmp + 6, probe->seq);
	memcpy(icmp + ICMP_HLEN, &probe->nonce, sizeof(probe->nonce));
	put16(icmp + 2, checksum(icmp, ip6 + IPV6_SRC, &probe->last));
	return icmp + ICMP_LEN - frame;
}

/*
 * The ICMPv6 message in an IPv6 packet, NULL if there is none as long as a probe's.
 * @left: bytes of the message that are there
 */
static const uint8_t *icmp_in(const uint8_t *packet, size_t len, size_t *left)
{
	size_t at = IPV6_HLEN;
	uint8_t next;

	if (len < IPV6_HLEN || packet[0] >> 4 != 6)
		return NULL;
	next = packet[IPV6_NEXT];
	while (next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING ||
	       next == IPPROTO_DSTOPTS) {
		if (len < at + 2)
			return NULL;
		next = packet[at];
		at += (packet[at + 1] + 1) * 8;
	}
	if (next != IPPROTO_ICMPV6 || len < at + ICMP_LEN)
		return NULL;
	*left = len - at;
	return packet + at;
}

static bool is_echo(const uint8_t *icmp, uint8_t type,
		    const struct trace_probe *probe)
{
	return icmp[0] == type && get16(icmp + 4) == probe->id &&
	       !memcmp(icmp + ICMP_HLEN, &probe->nonce, sizeof(probe->nonce));
}

/**
 * trace_read() - read an answer
 * @packet: what was received, from its IPv6 header on
 * @len: its bytes
 * @probe: any probe of the trace
 * @answer: result
 *
 * Return: false if it is no answer to a probe of this trace.
 */
bool trace_read(const uint8_t *packet, size_t len,
		const struct trace_probe *probe, struct trace_answer *answer)
{
	const uint8_t *icmp, *quoted = packet, *about;

	icmp = icmp_in(packet, len, &len);
	about = icmp;
	if (icmp && icmp[0] != ICMP6_ECHO_REPLY) {
		if (icmp[0] & ICMP6_INFOMSG_MASK)
			return false;
		quoted = icmp + ICMP_HLEN;
		about = icmp_in(quoted, len - ICMP_HLEN, &len);
	}
	if (!about || !is_echo(about, about == icmp ? ICMP6_ECHO_REPLY :
						      ICMP6_ECHO_REQUEST, probe))
		return false;
	answer->seq = get16(about + 6);
	answer->type = icmp[0];
	answer->code = icmp[1];
	memcpy(&answer->from, packet + IPV6_SRC, sizeof(answer->from));
	memcpy(&answer->to, quoted + IPV6_DST, sizeof(answer->to));
	return true;
}

/**
 * trace_reached() - does an answer say that the probe came to the last SID
 * @type: ICMPv6 type
 * @code: ICMPv6 code
 */
bool trace_reached(uint8_t type, uint8_t code)
{
	return type == ICMP6_ECHO_REPLY ||
	       (type == ICMP6_PARAM_PROB && code == SR_UPPER_LAYER);
}
