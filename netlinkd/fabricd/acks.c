// SPDX-License-Identifier: GPL-2.0
/* Epochs that hosts have applied, as they acknowledge. */
#include <stdlib.h>
#include <string.h>

#include "tenants.h"

#define POLL_NS		(60 * NS_PER_SEC)

static struct mirror mirror;
static bool is_read;
static char prefix[STORE_KEY_LEN];

static int by_host(const void *a, const void *b)
{
	return strcmp(((const struct ack *)a)->host,
		      ((const struct ack *)b)->host);
}

/**
 * acks_find() - find the acknowledgement of a host
 * @host: name of the host
 *
 * Return: NULL if it never sent one.
 */
struct ack *acks_find(const char *host)
{
	struct ack want = {};

	snprintf(want.host, sizeof(want.host), "%s", host);
	return fabricd.acks.n ?
	       bsearch(&want, fabricd.acks.data, fabricd.acks.n, sizeof(want),
		       by_host) : NULL;
}

static void begin(void *data, uint64_t cluster)
{
	fabricd.acks.n = 0;
}

static void set(void *data, const struct store_kv *kv)
{
	const char *host = strrchr(kv->key, '/') + 1;
	struct ack want = {}, *found;
	json_int_t epoch = 0;
	json_t *o;

	/* no host has such a name, and answers name hosts */
	if (!*host || strlen(host) >= sizeof(want.host) || !job_is_text(host))
		return;
	strcpy(want.host, host);
	if (kv->value) {
		o = json_loadb(kv->value, kv->len, 0, NULL);
		json_unpack(o, "{s:I}", "epoch", &epoch);
		json_decref(o);
	}
	want.epoch = epoch;
	found = acks_find(want.host);
	if (found) {
		found->epoch = epoch;
		return;
	}
	vec_insert(&fabricd.acks, &want, by_host);
}

static void end(void *data)
{
	is_read = true;
	settle_soon();
}

/**
 * ack_is_of_host() - whether the topology has the host that acknowledged
 * @ack: the acknowledgement
 *
 * One that was taken out of the topology, or has another name there, may still run.
 */
bool ack_is_of_host(const struct ack *ack)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t node = srpol_fabric_node(f, ack->host);

	return node != SRPOL_NONE && f->nodes[node].tier == SRPOL_TIER_HOST;
}

/**
 * acks_ready() - whether all acknowledgements were read at least once
 */
bool acks_ready(void)
{
	return is_read;
}

/**
 * acks_start() - start following acknowledgements
 */
void acks_start(void)
{
	snprintf(prefix, sizeof(prefix), "ack/%s/", fabricd.config.shard);
	mirror = (struct mirror){
		.store = &fabricd.store, .key = prefix, .prefix = true,
		.poll_ns = POLL_NS, .begin = begin, .set = set, .end = end,
	};
	mirror_start(&mirror);
}

/**
 * acks_stop() - stop following acknowledgements
 */
void acks_stop(void)
{
	mirror_stop(&mirror);
	vec_free(&fabricd.acks);
}
