// SPDX-License-Identifier: LGPL-2.1
/*
 * Addresses and prefixes as text. IPv4 is kept v4-mapped throughout.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"

#define V4MAPPED_LEN	96

/**
 * srpol_addr6_parse() - read an IPv6 address
 * @text: the address
 * @addr: result
 */
bool srpol_addr6_parse(const char *text, struct in6_addr *addr)
{
	return inet_pton(AF_INET6, text, addr) == 1;
}

/**
 * srpol_addr_parse() - read an IPv6 or IPv4 address
 * @text: the address
 * @addr: result, IPv4 as v4-mapped
 */
bool srpol_addr_parse(const char *text, struct in6_addr *addr)
{
	if (srpol_addr6_parse(text, addr))
		return true;
	memset(addr, 0, sizeof(*addr));
	addr->s6_addr[10] = 0xff;
	addr->s6_addr[11] = 0xff;
	return inet_pton(AF_INET, text, &addr->s6_addr[12]) == 1;
}

/**
 * srpol_addr_text() - write an address, IPv4 in its own form
 * @addr: 16 bytes
 * @buf: SRPOL_ADDR_STRLEN bytes
 *
 * Return: @buf.
 */
const char *srpol_addr_text(const void *addr, char *buf)
{
	struct in6_addr a;

	memcpy(&a, addr, sizeof(a));
	if (IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, &a.s6_addr[12], buf, SRPOL_ADDR_STRLEN);
	else
		inet_ntop(AF_INET6, &a, buf, SRPOL_ADDR_STRLEN);
	return buf;
}

/**
 * srpol_prefix_parse() - read a prefix
 * @text: ADDR or ADDR/LEN
 * @prefix: result
 * @len: result, 96 + n for IPv4
 */
bool srpol_prefix_parse(const char *text, struct in6_addr *prefix,
			uint32_t *len)
{
	const char *slash = strchr(text, '/');
	char addr[SRPOL_ADDR_STRLEN], *end;
	unsigned long n;
	size_t size = slash ? (size_t)(slash - text) : strlen(text);
	bool v4 = !memchr(text, ':', size);

	if (size >= sizeof(addr))
		return false;
	memcpy(addr, text, size);
	addr[size] = '\0';
	if (!srpol_addr_parse(addr, prefix))
		return false;
	*len = 128;
	if (!slash)
		return true;
	n = strtoul(slash + 1, &end, 10);
	/* neither a sign nor blanks before it */
	if (!isdigit((unsigned char)slash[1]) || *end || n > (v4 ? 32 : 128))
		return false;
	*len = v4 ? V4MAPPED_LEN + n : n;
	return true;
}

/**
 * srpol_prefix_text() - write a prefix
 * @prefix: 16 bytes
 * @len: length, 96 + n for IPv4
 * @buf: SRPOL_PREFIX_STRLEN bytes
 *
 * Return: @buf.
 */
const char *srpol_prefix_text(const void *prefix, uint32_t len, char *buf)
{
	struct in6_addr a;
	size_t used;

	memcpy(&a, prefix, sizeof(a));
	if (IN6_IS_ADDR_V4MAPPED(&a) && len >= V4MAPPED_LEN) {
		srpol_addr_text(prefix, buf);
		len -= V4MAPPED_LEN;
	} else {
		inet_ntop(AF_INET6, &a, buf, SRPOL_ADDR_STRLEN);
	}
	used = strlen(buf);
	snprintf(buf + used, SRPOL_PREFIX_STRLEN - used, "/%u", len);
	return buf;
}

/**
 * srpol_addr_in_prefix() - is an address in a prefix
 * @addr: 16 bytes, IPv4 as v4-mapped
 * @prefix: the prefix
 * @len: its length, IPv4 as 96 + length
 */
bool srpol_addr_in_prefix(const void *addr, const struct in6_addr *prefix,
			  uint32_t len)
{
	const uint8_t *bytes = addr;
	uint32_t n = len / 8;

	return !memcmp(bytes, prefix, n) &&
	       (len % 8 == 0 ||
		!((bytes[n] ^ prefix->s6_addr[n]) >> (8 - len % 8)));
}
