// SPDX-License-Identifier: GPL-2.0
/*
 * Whether the engine that leads has the topology of this one. If not, no host that has
 * the leader's follows a plan of this engine: better known before it leads.
 */
#include <string.h>

#include "fabricd.h"
#include "mirror.h"

#define POLL_NS		(60 * NS_PER_SEC)
#define WRITE_NS	(3 * NS_PER_SEC)	/* that who leads has for writing its own */

static void end(void *data);

static struct mirror mirror;
static struct alarm later = ALARM_INIT(end, NULL);
static char leader[sizeof(fabricd.leader)];
static uint64_t since_ns;	/* when this one was first heard of */
static char key[STORE_KEY_LEN];
static char theirs[SRPOL_DIGEST_LEN];	/* of who led last, empty: nobody did */
static char told[SRPOL_DIGEST_LEN];

static void begin(void *data, uint64_t cluster)
{
	theirs[0] = '\0';
}

static void set(void *data, const struct store_kv *kv)
{
	json_t *o = kv->value ? json_loadb(kv->value, kv->len, 0, NULL) : NULL;
	const char *digest = json_string_value(json_object_get(o, "digest"));

	snprintf(theirs, sizeof(theirs), "%s", digest ?: "");
	json_decref(o);
}

/* Said once of each topology, as long as it is another one. */
static void end(void *data)
{
	const char *other = other_topology();

	if (other && strcmp(other, told))
		log_notice("%s leads with another topology, %s; this engine has %s",
			   fabricd.leader, other, fabricd.topology);
	strcpy(told, other ?: "");
}

/**
 * other_topology() - topology of the engine that leads, if it is another one
 *
 * Return: its digest; NULL if it is the same one, this engine leads, or nobody does.
 */
const char *other_topology(void)
{
	/* an earlier process of this name may not be over yet */
	if (fabricd.term || !fabricd.leader[0] ||
	    !strcmp(fabricd.leader, fabricd.config.name))
		return NULL;
	/* what is there may be of who led before */
	if (strcmp(fabricd.leader, leader) || now_ns() - since_ns < WRITE_NS)
		return NULL;
	return theirs[0] && strcmp(theirs, fabricd.topology) ? theirs : NULL;
}

/**
 * other_topology_look() - perhaps another engine leads
 */
void other_topology_look(void)
{
	if (!strcmp(fabricd.leader, leader))
		return;
	strcpy(leader, fabricd.leader);
	since_ns = now_ns();
	alarm_stop(&later);
	alarm_set(&later, WRITE_NS);
	mirror_look(&mirror);
}

/**
 * other_topology_start() - start following the leader's topology
 */
void other_topology_start(void)
{
	key_topology(key);
	mirror = (struct mirror){
		.store = &fabricd.store, .key = key, .poll_ns = POLL_NS,
		.begin = begin, .set = set, .end = end,
	};
	mirror_start(&mirror);
}

/**
 * other_topology_stop() - stop following it
 */
void other_topology_stop(void)
{
	alarm_stop(&later);
	mirror_stop(&mirror);
}
