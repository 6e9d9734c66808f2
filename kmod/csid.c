// SPDX-License-Identifier: GPL-2.0
/*
 * Containers of compressed SIDs (NEXT-CSID, RFC 9800 4.1): a locator block,
 * then CSIDs in order of travel, then zeros. Each node that processes a CSID
 * shifts the following ones up and fills with zeros. All lengths are whole
 * bytes.
 */
#include "pure.h"

#define SID_LEN	16

/**
 * srpol_csid_in_block() - is a SID a container of this block
 * @sid: the SID
 * @block: any container of the block
 * @block_len: bits of the block
 */
bool srpol_csid_in_block(const struct in6_addr *sid,
			 const struct in6_addr *block, u32 block_len)
{
	return !memcmp(sid->s6_addr, block->s6_addr, block_len / 8);
}

/* Are all these bytes of an address 0? */
static bool is_zero(const struct in6_addr *addr, u32 from, u32 to)
{
	u32 i;

	for (i = from; i < to && i < SID_LEN; i++)
		if (addr->s6_addr[i])
			return false;
	return true;
}

/**
 * srpol_csid_valid() - does a container have no gap
 * @sid: the container
 * @block_len: bits of the block
 * @csid_len: bits of a CSID
 *
 * A CSID of 0 ends the container, so that none may follow it.
 */
bool srpol_csid_valid(const struct in6_addr *sid, u32 block_len, u32 csid_len)
{
	u32 size = csid_len / 8, at;

	for (at = block_len / 8; at < SID_LEN; at += size)
		if (is_zero(sid, at, at + size))
			return is_zero(sid, at, SID_LEN);
	return true;
}

/**
 * srpol_csid_shift() - shift a container as a node does that processes a CSID
 * @sid: the container
 * @block_len: bits of the block
 * @csid_len: bits of a CSID
 *
 * Return: false if no CSID is left after that; the container is unchanged then.
 */
bool srpol_csid_shift(struct in6_addr *sid, u32 block_len, u32 csid_len)
{
	u32 at = block_len / 8, size = csid_len / 8;

	if (at + size >= SID_LEN || is_zero(sid, at + size, at + 2 * size))
		return false;
	memmove(sid->s6_addr + at, sid->s6_addr + at + size,
		SID_LEN - at - size);
	memset(sid->s6_addr + SID_LEN - size, 0, size);
	return true;
}

/**
 * srpol_csid_shifted() - is an address a container on its way
 * @sid: the container as it was sent
 * @dst: the address
 * @block_len: bits of the block
 * @csid_len: bits of a CSID
 *
 * Return: true if @dst is @sid shifted by at least one of its CSIDs, with at
 * least one CSID left.
 */
bool srpol_csid_shifted(const struct in6_addr *sid,
			const struct in6_addr *dst, u32 block_len,
			u32 csid_len)
{
	u32 block = block_len / 8, size = csid_len / 8, skip;

	if (!srpol_csid_in_block(sid, dst, block_len) ||
	    is_zero(dst, block, block + size))
		return false;
	for (skip = size; block + skip < SID_LEN; skip += size)
		if (!memcmp(dst->s6_addr + block, sid->s6_addr + block + skip,
			    SID_LEN - block - skip) &&
		    is_zero(dst, SID_LEN - skip, SID_LEN))
			return true;
	return false;
}
