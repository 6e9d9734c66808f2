// SPDX-License-Identifier: GPL-2.0
/*
 * Receives messages of hosts that may be lost: on the bus if there is one,
 * otherwise from the store. Each list has its own connection, so that a list
 * that is flooded, or whose subject is not permitted, does not harm another.
 */
#include <errno.h>
#include <string.h>

#include "hear.h"
#include "srpol_lib.h"

#define POLL_NS		(60 * NS_PER_SEC)

static struct hearing *on_bus;

static void take(void *data, const struct bus_message *message)
{
	struct hearing *h = data;
	char key[STORE_KEY_LEN];
	struct store_kv kv = {
		.key = key, .value = message->data, .len = message->len,
		.mod = ++h->number,
	};

	if (bus_key(&fabricd.config.bus, message->subject, key, sizeof(key)) &&
	    !strncmp(key, h->prefix, strlen(h->prefix)))
		h->set(h->data, &kv);
	else
		h->strange++;
}

static int listen_to_bus(struct hearing *h, struct srpol_error *err)
{
	char subject[BUS_SUBJECT_LEN];
	struct bus_user user = {
		.name = fabricd.config.name, .subject = subject, .take = take,
		.data = h,
	};
	int ret;

	if (!bus_subject(&fabricd.config.bus, h->prefix, subject,
			 sizeof(subject) - 1))
		return srpol_error_set(err, -EINVAL, "\"bus\": long prefix");
	strcat(subject, ">");
	ret = bus_open(&fabricd.config.bus, &user, &h->bus, err);
	if (ret)
		return ret;
	h->next = on_bus;
	on_bus = h;
	return 0;
}

/**
 * hear_start() - start receiving
 * @h: @set and @end are set, as for a mirror; @end is not called on the bus
 * @what: first component of the keys
 * @sweep: list that is filled, argument of @set and @end
 * @err: message on failure
 */
int hear_start(struct hearing *h, const char *what, struct sweep *sweep,
	       struct srpol_error *err)
{
	snprintf(h->prefix, sizeof(h->prefix), "%s/%s/", what,
		 fabricd.config.shard);
	h->data = sweep;
	if (fabricd.config.bus.servers.n)
		return listen_to_bus(h, err);
	h->mirror = (struct mirror){
		.store = &fabricd.store, .key = h->prefix, .prefix = true,
		.poll_ns = POLL_NS, .begin = sweep_begin, .set = h->set,
		.end = h->end, .data = sweep,
	};
	mirror_start(&h->mirror);
	return 0;
}

/**
 * hear_stop() - stop receiving
 * @h: receiver, started or not
 */
void hear_stop(struct hearing *h)
{
	struct hearing **at;

	if (h->mirror.store)
		mirror_stop(&h->mirror);
	for (at = &on_bus; *at; at = &(*at)->next) {
		if (*at == h) {
			*at = h->next;
			break;
		}
	}
	bus_close(h->bus);
	h->bus = NULL;
}

/**
 * hear_bus() - counters of all connections to the bus
 * @stats: result: sums; connected if all of them are
 */
void hear_bus(struct bus_stats *stats)
{
	struct bus_stats one;
	struct hearing *h;

	*stats = (struct bus_stats){ .connected = on_bus };
	for (h = on_bus; h; h = h->next) {
		bus_stats(h->bus, &one);
		stats->connected &= one.connected;
		stats->published += one.published;
		stats->unpublished += one.unpublished;
		stats->received += one.received;
		stats->dropped += one.dropped;
		stats->errors += one.errors;
	}
}

/**
 * hear_host() - find the host of a key
 * @key: such as demand/SHARD/LEAF/HOST
 * @leaf: result: its leaf; may be NULL
 *
 * Return: its node, SRPOL_NONE if it is unknown or not attached to that leaf.
 */
uint32_t hear_host(const char *key, uint32_t *leaf)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const char *name = strrchr(key, '/') + 1;
	char before[STORE_KEY_LEN];
	uint32_t host, at;

	snprintf(before, sizeof(before), "%.*s", (int)(name - 1 - key), key);
	if (strlen(name) >= SRPOL_NAME_LEN || !strchr(before, '/') ||
	    strlen(strrchr(before, '/')) > SRPOL_NAME_LEN)
		return SRPOL_NONE;
	host = srpol_fabric_node(f, name);
	at = srpol_fabric_node(f, strrchr(before, '/') + 1);
	if (host == SRPOL_NONE || f->nodes[host].tier != SRPOL_TIER_HOST ||
	    at == SRPOL_NONE || srpol_fabric_link(f, host, at) == SRPOL_NONE)
		return SRPOL_NONE;
	if (leaf)
		*leaf = at;
	return host;
}
