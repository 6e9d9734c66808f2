// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "demand.h"
#include "srpol_lib.h"

static uint32_t gpu_of(const struct srpol_fabric *f, const char *name)
{
	struct in6_addr addr;
	uint32_t node, nic;

	if (inet_pton(AF_INET6, name, &addr) != 1) {
		node = srpol_fabric_node(f, name);
		return node == SRPOL_NONE ? SRPOL_NONE :
		       srpol_fabric_gpu(f, node, 0);
	}
	nic = srpol_fabric_nic_at(f, &addr);
	return nic == SRPOL_NONE ? SRPOL_NONE : f->nics[nic].gpu;
}

/**
 * demand_resolve() - find the GPUs of a demand
 * @fabric: finished fabric
 * @d: the demand
 * @err: message if a name or address is unknown
 */
int demand_resolve(const struct srpol_fabric *fabric, struct demand *d,
		   struct srpol_error *err)
{
	d->demand.src = gpu_of(fabric, d->src);
	d->demand.dst = gpu_of(fabric, d->dst);
	if (d->demand.src == SRPOL_NONE || d->demand.dst == SRPOL_NONE)
		return srpol_error_set(err, -ENOENT,
				       "\"%s\": no host or address \"%s\"",
				       d->demand.src == SRPOL_NONE ? "src" :
				       "dst",
				       d->demand.src == SRPOL_NONE ? d->src :
				       d->dst);
	return 0;
}

/* Keep the demands for which @stays is true. */
static void filter(struct demands *ds,
		   bool (*stays)(struct demand *d, const void *data),
		   const void *data)
{
	struct demand *to = ds->all.data, *d;
	size_t n = 0;

	vec_for_each(d, &ds->all) {
		if (!stays(d, data))
			continue;
		if (to + n != d)
			to[n] = *d;
		n++;
	}
	ds->all.n = n;
}

/**
 * struct owner - owner of demands
 * @name: its name
 * @uid: its user
 */
struct owner {
	const char *name;
	uint32_t uid;
};

static bool of_another(struct demand *d, const void *data)
{
	const struct owner *owner = data;

	return d->uid != owner->uid || strcmp(d->owner, owner->name);
}

/**
 * demands_replace() - an owner announces what it will send
 * @ds: demands
 * @owner: name of the owner
 * @uid: user
 * @new: all that it will send; owner and user are filled in
 * @n: number of demands, 0: it will send nothing any more
 * @err: message on failure; nothing has changed then
 */
int demands_replace(struct demands *ds, const char *owner, uint32_t uid,
		    const struct demand *new, uint32_t n,
		    struct srpol_error *err)
{
	const struct owner who = { .name = owner, .uid = uid };
	/* leave room for root: others may have any number of user ids */
	uint32_t max = uid ? DEMANDS_MAX - DEMANDS_PER_USER : DEMANDS_MAX;
	uint32_t own = n, total = n, i;
	struct demand *d;

	vec_for_each(d, &ds->all) {
		if (!of_another(d, &who))
			continue;
		total++;
		own += d->uid == uid;
	}
	/* the superuser has no limit per user, as it may speak for all */
	if (total > max || (uid && own > DEMANDS_PER_USER)) {
		ds->refused++;
		return srpol_error_set(err, -ENOSPC,
				       "%u demands are more than the %u there is room for",
				       total > max ? total : own,
				       total > max ? max : DEMANDS_PER_USER);
	}
	filter(ds, of_another, &who);
	for (i = 0; i < n; i++) {
		d = vec_add(&ds->all);
		*d = new[i];
		strcpy(d->owner, owner);
		d->uid = uid;
	}
	ds->accepted++;
	return 0;
}

static bool not_over(struct demand *d, const void *data)
{
	return d->until_ns > *(const uint64_t *)data;
}

/**
 * demands_expire() - delete demands that are over
 * @ds: demands
 * @now: current time
 */
void demands_expire(struct demands *ds, uint64_t now)
{
	filter(ds, not_over, &now);
}

static bool is_there(struct demand *d, const void *data)
{
	struct srpol_error none;

	return !demand_resolve(data, d, &none);
}

/**
 * demands_resolve() - adapt demands to a new fabric
 * @ds: demands; those of hosts that no longer exist are deleted
 * @fabric: the new fabric
 */
void demands_resolve(struct demands *ds, const struct srpol_fabric *fabric)
{
	filter(ds, is_there, fabric);
}

/**
 * demands_due() - demands that have begun by a given time
 * @ds: demands
 * @by: that time
 * @due: result, with room for all demands
 *
 * Return: their number; a pair of GPUs may occur several times.
 */
uint32_t demands_due(const struct demands *ds, uint64_t by,
		     struct srpol_demand *due)
{
	const struct demand *d;
	uint32_t n = 0;

	vec_for_each(d, &ds->all)
		if (d->from_ns <= by)
			due[n++] = d->demand;
	return n;
}
