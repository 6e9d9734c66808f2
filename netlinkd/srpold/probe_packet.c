// SPDX-License-Identifier: GPL-2.0
/*
 * A probe consists of IPv6, a full SRH, UDP, the base of a STAMP test packet
 * (RFC 8762 4.2.1, RFC 8972) and a TLV with a keyed tag. The SRH is full, not
 * reduced, so that the whole segment list comes back: routers do not change it,
 * so it tells which links the probe was to take. The tag is SipHash-2-4 over
 * all meaningful fields of the test packet, with a key that lives as long as
 * the process, so that nobody else can forge an answer. The format is in
 * srpol_probe.h, for XDP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <sodium.h>
#include <string.h>

#include "probing.h"
#include "srpold.h"

#define IPV6_HLEN	40
#define SRH_HLEN	8
#define SID_LEN		16
#define UDP_HLEN	8
#define STAMP_LEN	SRPOL_STAMP_LEN
#define TLV_HLEN	SRPOL_STAMP_TLV_HLEN
#define TAG_LEN		SRPOL_STAMP_TAG_LEN
#define ECT_0		2		/* so that switches mark probes */
#define ECN_MASK	3
#define CE		3
#define TLV_PADDING	1		/* RFC 8972 4.1 */
#define ERROR_ESTIMATE	0x4001		/* PTP format, no external clock */
#define NS_PER_SEC	1000000000ull
#define PAYLOAD		(STAMP_LEN + TLV_HLEN + TAG_LEN)

_Static_assert(TAG_LEN == crypto_shorthash_BYTES, "tag");
_Static_assert(sizeof(((struct srpol_probe_key *)0)->k) ==
	       crypto_shorthash_KEYBYTES, "key");

static uint8_t key[crypto_shorthash_KEYBYTES];

/**
 * probe_init() - make a random key
 */
int probe_init(void)
{
	if (sodium_init() < 0)
		return -ENOSYS;
	crypto_shorthash_keygen(key);
	return 0;
}

/**
 * probe_key() - the key, in memory order
 */
const uint8_t *probe_key(void)
{
	return key;
}

static uint8_t *put16(uint8_t *to, uint16_t v)
{
	to[0] = v >> 8;
	to[1] = v;
	return to + 2;
}

static uint8_t *put32(uint8_t *to, uint32_t v)
{
	return put16(put16(to, v >> 16), v);
}

static uint8_t *put(uint8_t *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return to + len;
}

static uint16_t get16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

static uint32_t get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

static uint32_t sum16(const uint8_t *p, size_t len, uint32_t sum)
{
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += get16(p + i);
	return i < len ? sum + (p[i] << 8) : sum;
}

/* RFC 8200 8.1: the pseudo-header contains the final destination. */
static uint16_t checksum(const uint8_t *udp, size_t len,
			 const struct in6_addr *src,
			 const struct in6_addr *dst)
{
	uint32_t sum = sum16(src->s6_addr, sizeof(*src), 0);

	sum = sum16(dst->s6_addr, sizeof(*dst), sum);
	sum = sum16(udp, len, sum) + len + IPPROTO_UDP;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff ? ~sum & 0xffff : 0xffff;
}

/* The base of the Session-Sender test packet, 44 bytes. */
static uint8_t *put_base(uint8_t *to, const struct probe *probe)
{
	uint8_t *stamp = to;

	to = put32(to, probe->seq);
	to = put32(to, probe->sent_ns / NS_PER_SEC);
	to = put32(to, probe->sent_ns % NS_PER_SEC);
	to = put16(to, ERROR_ESTIMATE);
	to = put16(to, probe->ssid);
	memset(to, 0, stamp + STAMP_LEN - to);
	return stamp + STAMP_LEN;
}

static uint8_t *put_tlv(uint8_t *to, uint8_t type, uint16_t len)
{
	*to++ = 0;
	*to++ = type;
	return put16(to, len);
}

static uint8_t *put_stamp(uint8_t *to, const struct probe *probe)
{
	uint8_t *stamp = to;

	to = put_tlv(put_base(to, probe), SRPOL_STAMP_TLV_TAG, TAG_LEN);
	crypto_shorthash(to, stamp, SRPOL_STAMP_SIGNED, key);
	return to + TAG_LEN;
}

/* Bytes of Extra Padding for a packet of @size bytes, 0: it does not fit. */
static size_t padding(uint32_t size, size_t srh_len)
{
	size_t len = IPV6_HLEN + srh_len + UDP_HLEN + PAYLOAD;

	return size < len + TLV_HLEN ? 0 : size - len;
}

static uint8_t *put_padding(uint8_t *to, size_t len)
{
	if (!len)
		return to;
	to = put_tlv(to, TLV_PADDING, len - TLV_HLEN);
	memset(to, 0, len - TLV_HLEN);
	return to + len - TLV_HLEN;
}

/* Write all headers up to the test packet. */
static uint8_t *put_headers(uint8_t *to, const struct uplink *up,
			    const uint8_t *lladdr, const struct in6_addr *src,
			    const struct srpol_sid_list *list, size_t udp_len)
{
	uint32_t n = list->n, i;

	to = put(to, lladdr, ETH_ALEN);
	to = put(to, up->mac, ETH_ALEN);
	to = put16(to, ETH_P_IPV6);
	to = put32(to, 6u << 28 | ECT_0 << 20);
	to = put16(to, SRH_HLEN + n * SID_LEN + udp_len);
	*to++ = IPPROTO_ROUTING;
	*to++ = PROBE_HOP_LIMIT;
	to = put(to, src, sizeof(*src));
	to = put(to, &list->sid[0], SID_LEN);
	*to++ = IPPROTO_UDP;
	*to++ = 2 * n;
	*to++ = 4;
	*to++ = n - 1;
	*to++ = n - 1;
	*to++ = 0;
	to = put16(to, 0);
	for (i = n; i > 0; i--)
		to = put(to, &list->sid[i - 1], SID_LEN);
	to = put16(to, SRPOL_STAMP_PORT);
	to = put16(to, SRPOL_STAMP_PORT);
	to = put16(to, udp_len);
	return put16(to, 0);
}

static void put_checksum(uint8_t *udp, size_t udp_len,
			 const struct in6_addr *src,
			 const struct srpol_sid_list *list)
{
	put16(udp + 6, checksum(udp, udp_len, src, &list->sid[list->n - 1]));
}

/**
 * probe_make() - write a probe
 * @up: device that it leaves by
 * @path: path that it tests
 * @src: source address
 * @probe: contents
 * @size: bytes of the IPv6 packet, 0: as short as possible
 * @frame: result, PROBE_MAX bytes, or @size and an Ethernet header
 *
 * Return: its length in bytes.
 */
size_t probe_make(const struct uplink *up, const struct engine_path *path,
		  const struct in6_addr *src, const struct probe *probe,
		  uint32_t size, uint8_t *frame)
{
	size_t pad = padding(size, SRH_HLEN + path->loop.n * SID_LEN);
	size_t udp_len = UDP_HLEN + PAYLOAD + pad;
	uint8_t *to;

	to = put_headers(frame, up, path->lladdr, src, &path->loop, udp_len);
	to = put_padding(put_stamp(to, probe), pad);
	put_checksum(to - udp_len, udp_len, src, &path->loop);
	return to - frame;
}

/**
 * probe_make_reflect() - write a probe that the peer reflects
 * @up: device that it leaves by
 * @path: path that it tests
 * @list: segment list to the peer and back
 * @src: source address
 * @probe: contents
 * @ask: additional contents
 * @key: key shared with the peer
 * @frame: result, PROBE_MAX bytes
 *
 * Return: its length in bytes.
 */
size_t probe_make_reflect(const struct uplink *up,
			  const struct engine_path *path,
			  const struct srpol_sid_list *list,
			  const struct in6_addr *src, const struct probe *probe,
			  const struct reflect_ask *ask, const uint8_t *key,
			  uint8_t *frame)
{
	const size_t udp_len = UDP_HLEN + SRPOL_STAMP_FAR_SIGNED + TAG_LEN;
	uint8_t m[SRPOL_STAMP_FAR_SIGNED + SEGMENTS_MAX * SID_LEN];
	size_t list_len = list->n * SID_LEN;
	uint8_t *to, *stamp;

	stamp = put_headers(frame, up, path->lladdr, src, list, udp_len);
	to = put_tlv(put_base(stamp, probe), SRPOL_STAMP_TLV_REQUEST,
		     SRPOL_STAMP_FAR_LEN);
	to = put32(put32(to, ask->epoch >> 32), ask->epoch);
	to = put32(put32(to, ask->path), ask->list);
	memset(to, 0, stamp + SRPOL_STAMP_FAR_SIGNED - to);
	to = stamp + SRPOL_STAMP_FAR_SIGNED;
	/* the segment list in the order of the SRH */
	memcpy(m, stamp, SRPOL_STAMP_FAR_SIGNED);
	memcpy(m + SRPOL_STAMP_FAR_SIGNED, stamp - UDP_HLEN - list_len,
	       list_len);
	crypto_shorthash(to, m, SRPOL_STAMP_FAR_SIGNED + list_len, key);
	to += TAG_LEN;
	put_checksum(to - udp_len, udp_len, src, list);
	return to - frame;
}

/**
 * probe_read() - read and verify a probe
 * @frame: frame with its Ethernet header
 * @len: its length in bytes
 * @probe: result: its contents
 * @list: result: its segment list, in order of travel
 *
 * Return: false if it is not a probe with a valid tag.
 */
bool probe_read(const uint8_t *frame, size_t len, struct probe *probe,
		struct srpol_sid_list *list)
{
	const uint8_t *ip = frame + ETH_HLEN, *srh = ip + IPV6_HLEN, *stamp;
	uint8_t tag[TAG_LEN];
	size_t srh_len;
	uint32_t i, n;

	if (len < ETH_HLEN + IPV6_HLEN + SRH_HLEN ||
	    get16(frame + 12) != ETH_P_IPV6 || ip[6] != IPPROTO_ROUTING ||
	    srh[0] != IPPROTO_UDP || srh[2] != 4 || srh[3])
		return false;
	srh_len = 8 * (srh[1] + 1);
	n = srh[4] + 1;
	if (n > SEGMENTS_MAX || srh_len != SRH_HLEN + n * SID_LEN ||
	    len < ETH_HLEN + IPV6_HLEN + srh_len + UDP_HLEN + PAYLOAD)
		return false;
	stamp = srh + srh_len + UDP_HLEN;
	if (get16(srh + srh_len + 2) != SRPOL_STAMP_PORT ||
	    stamp[STAMP_LEN] || stamp[STAMP_LEN + 1] != SRPOL_STAMP_TLV_TAG ||
	    get16(stamp + STAMP_LEN + 2) != TAG_LEN)
		return false;
	crypto_shorthash(tag, stamp, SRPOL_STAMP_SIGNED, key);
	if (sodium_memcmp(tag, stamp + STAMP_LEN + TLV_HLEN, TAG_LEN))
		return false;
	for (i = 0; i < n; i++)
		memcpy(&list->sid[i], srh + SRH_HLEN + (n - 1 - i) * SID_LEN,
		       SID_LEN);
	list->n = n;
	probe->seq = get32(stamp);
	probe->sent_ns = get32(stamp + 4) * NS_PER_SEC + get32(stamp + 8);
	probe->ssid = get16(stamp + 14);
	probe->ce = (ip[1] >> 4 & ECN_MASK) == CE;
	probe->hop_limit = ip[7];
	return true;
}
