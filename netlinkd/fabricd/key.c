// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "fabricd.h"

/**
 * key_leader() - key of the leader
 * @buf: result
 */
const char *key_leader(char *buf)
{
	snprintf(buf, STORE_KEY_LEN, "engine/%s/leader", fabricd.config.shard);
	return buf;
}

/**
 * key_topology() - key of the topology's digest
 * @buf: result
 */
const char *key_topology(char *buf)
{
	snprintf(buf, STORE_KEY_LEN, "cfg/topology/%s", fabricd.config.shard);
	return buf;
}

/**
 * key_head() - key of the head of the plan
 * @buf: result
 */
const char *key_head(char *buf)
{
	snprintf(buf, STORE_KEY_LEN, "plan/%s/head", fabricd.config.shard);
	return buf;
}

/**
 * key_index() - key of an epoch's index
 * @buf: result
 * @epoch: epoch
 */
const char *key_index(char *buf, uint64_t epoch)
{
	snprintf(buf, STORE_KEY_LEN, "index/%s/%010" PRIu64,
		 fabricd.config.shard, epoch);
	return buf;
}

/**
 * key_page() - key of a page of an index
 * @buf: result
 * @epoch: epoch that wrote it
 * @page: number of the page
 */
const char *key_page(char *buf, uint64_t epoch, uint32_t page)
{
	snprintf(buf, STORE_KEY_LEN, "index/%s/%010" PRIu64 "/%05" PRIu32,
		 fabricd.config.shard, epoch, page);
	return buf;
}

/**
 * key_chunk() - key of a chunk
 * @buf: result
 * @epoch: epoch that wrote it
 * @leaf: name of its source leaf
 */
const char *key_chunk(char *buf, uint64_t epoch, const char *leaf)
{
	snprintf(buf, STORE_KEY_LEN, "plan/%s/%010" PRIu64 "/%s",
		 fabricd.config.shard, epoch, leaf);
	return buf;
}
