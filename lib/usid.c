// SPDX-License-Identifier: LGPL-2.1
/*
 * Compressed SIDs (NEXT-CSID, RFC 9800): containers that hold a locator block
 * and, behind it, compressed SIDs in order of travel. Lengths are whole bytes.
 */
#include <errno.h>
#include <string.h>

#include "srpol_lib.h"

/**
 * srpol_usid_capacity() - number of compressed SIDs that a container holds
 * @block_len: bits of the locator block
 * @csid_len: bits of a compressed SID
 *
 * Return: 0 if there are no containers with such lengths.
 */
unsigned int srpol_usid_capacity(uint32_t block_len, uint32_t csid_len)
{
	if (block_len % 8 || block_len > 128 || !csid_len || csid_len % 8 ||
	    csid_len > 64)
		return 0;
	return (128 - block_len) / csid_len;
}

/* Is a SID in the same locator block? */
bool srpol_usid_in_block(const struct in6_addr *sid,
			 const struct in6_addr *block, uint32_t block_len)
{
	return !memcmp(sid, block, block_len / 8);
}

/**
 * srpol_usid_pack() - put compressed SIDs into containers
 * @block: locator block, other bits are 0
 * @block_len: its bits, a multiple of 8
 * @csid_len: bits of a compressed SID, a multiple of 8, at most 64
 * @csids: compressed SIDs in order of travel, none of them 0
 * @n: number of them
 * @sids: result
 * @max: room there
 *
 * Every container but the last is full.
 *
 * Return: number of containers; -EINVAL for a CSID that is 0 or has more than
 * @csid_len bits, or for impossible lengths; -E2BIG if there is no room.
 */
int srpol_usid_pack(const struct in6_addr *block, uint32_t block_len,
		    uint32_t csid_len, const uint64_t *csids, unsigned int n,
		    struct in6_addr *sids, unsigned int max)
{
	unsigned int per = srpol_usid_capacity(block_len, csid_len), i, b;
	unsigned int bytes = csid_len / 8;
	uint8_t *to;

	if (!per)
		return -EINVAL;
	if ((n + per - 1) / per > max)
		return -E2BIG;
	for (i = 0; i < n; i++) {
		if (!csids[i] || (csid_len < 64 && csids[i] >> csid_len))
			return -EINVAL;
		if (i % per == 0)
			sids[i / per] = *block;
		to = sids[i / per].s6_addr + block_len / 8 + i % per * bytes;
		for (b = 0; b < bytes; b++)
			to[b] = csids[i] >> 8 * (bytes - 1 - b);
	}
	return (n + per - 1) / per;
}

/**
 * srpol_usid_unpack() - get the compressed SIDs of a container
 * @sid: the container
 * @block_len: bits of the locator block
 * @csid_len: bits of a compressed SID
 * @csids: room for srpol_usid_capacity()
 *
 * Return: number of CSIDs before the first that is 0.
 */
unsigned int srpol_usid_unpack(const struct in6_addr *sid, uint32_t block_len,
			       uint32_t csid_len, uint64_t *csids)
{
	unsigned int per = srpol_usid_capacity(block_len, csid_len), i, b;
	unsigned int bytes = csid_len / 8;
	const uint8_t *from;

	for (i = 0; i < per; i++) {
		from = sid->s6_addr + block_len / 8 + i * bytes;
		csids[i] = 0;
		for (b = 0; b < bytes; b++)
			csids[i] = csids[i] << 8 | from[b];
		if (!csids[i])
			break;
	}
	return i;
}
