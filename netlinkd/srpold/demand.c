// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "demand.h"
#include "srpol_lib.h"

/* @host: node of that name, SRPOL_NONE if it is the address of a NIC, or unknown */
static uint32_t gpu_of(const struct srpol_fabric *f, const char *name,
		       uint32_t host, uint32_t rail)
{
	struct in6_addr addr;
	uint32_t nic;

	if (host != SRPOL_NONE)
		return srpol_fabric_gpu(f, host, rail);
	if (inet_pton(AF_INET6, name, &addr) != 1)
		return SRPOL_NONE;
	nic = srpol_fabric_nic_at(f, &addr);
	return nic == SRPOL_NONE ? SRPOL_NONE : f->nics[nic].gpu;
}

static uint32_t host_of(const struct srpol_fabric *f, const char *name)
{
	struct in6_addr addr;

	return inet_pton(AF_INET6, name, &addr) == 1 ? SRPOL_NONE :
	       srpol_fabric_node(f, name);
}

/**
 * demand_resolve() - find the GPUs of a demand
 * @fabric: finished fabric
 * @d: the demand
 * @err: message if a name or address is unknown
 *
 * Return: 0, -ENOENT.
 */
int demand_resolve(const struct srpol_fabric *fabric, struct demand *d,
		   struct srpol_error *err)
{
	d->demand.src = gpu_of(fabric, d->src, host_of(fabric, d->src),
			       d->rail);
	d->demand.dst = gpu_of(fabric, d->dst, host_of(fabric, d->dst),
			       d->dst_rail);
	if (d->demand.src == SRPOL_NONE || d->demand.dst == SRPOL_NONE)
		return srpol_error_set(err, -ENOENT,
				       "\"%s\": no host or address \"%s\"",
				       d->demand.src == SRPOL_NONE ? "src" :
				       "dst",
				       d->demand.src == SRPOL_NONE ? d->src :
				       d->dst);
	d->rail = fabric->gpus[d->demand.src].rail;
	d->dst_rail = fabric->gpus[d->demand.dst].rail;
	return 0;
}

/* False if @name is not the address of a NIC. */
static bool rail_at(const struct srpol_fabric *f, const char *name,
		    uint32_t *rail)
{
	uint32_t gpu = gpu_of(f, name, SRPOL_NONE, 0);

	if (gpu == SRPOL_NONE)
		return false;
	*rail = f->gpus[gpu].rail;
	return true;
}

/* @rail if the host has a GPU there, otherwise that of its first GPU. */
static uint32_t rail_of(const struct srpol_fabric *f, uint32_t host,
			uint32_t rail)
{
	uint32_t first;

	if (host == SRPOL_NONE ||
	    srpol_fabric_gpu(f, host, rail) != SRPOL_NONE)
		return rail;
	for (first = 0; first < SRPOL_RAILS_MAX; first++)
		if (srpol_fabric_gpu(f, host, first) != SRPOL_NONE)
			return first;
	return rail;
}

/* Rails on which both hosts have a GPU, a bit for each. */
static uint64_t common_rails(const struct srpol_fabric *f, uint32_t a,
			     uint32_t b)
{
	uint64_t rails = 0;
	uint32_t rail;

	for (rail = 0; rail < SRPOL_RAILS_MAX; rail++)
		if (srpol_fabric_gpu(f, a, rail) != SRPOL_NONE &&
		    srpol_fabric_gpu(f, b, rail) != SRPOL_NONE)
			rails |= 1ull << rail;
	return rails;
}

static int add_one(const struct srpol_fabric *f, struct demand *d,
		   uint32_t src, uint32_t dst, struct vec *to,
		   struct srpol_error *err)
{
	uint32_t rail = 0;
	int ret;

	if (!rail_at(f, d->src, &rail))
		rail_at(f, d->dst, &rail);
	d->rail = rail_of(f, src, rail);
	d->dst_rail = rail_of(f, dst, rail);
	ret = demand_resolve(f, d, err);
	if (!ret)
		*(struct demand *)vec_add(to) = *d;
	return ret;
}

/**
 * demand_add() - add a demand as it was announced
 * @fabric: finished fabric
 * @d: the demand, with names and bytes
 * @to: struct demand: what it is between GPUs
 * @err: message if a name or address is unknown; nothing is added then
 *
 * Two hosts share their bytes out evenly to the rails that both have, as collective
 * libraries do. Where an end is an address, its rail is that of the other end, too.
 *
 * Return: 0, -ENOENT.
 */
int demand_add(const struct srpol_fabric *fabric, const struct demand *d,
	       struct vec *to, struct srpol_error *err)
{
	uint32_t src = host_of(fabric, d->src), dst = host_of(fabric, d->dst);
	uint64_t rails = src == SRPOL_NONE || dst == SRPOL_NONE ? 0 :
			 common_rails(fabric, src, dst);
	uint64_t left = d->demand.bytes;
	struct demand one = *d;
	int ret = 0;

	if (!rails)
		return add_one(fabric, &one, src, dst, to, err);
	for (; rails && left && !ret; rails &= rails - 1) {
		one.rail = __builtin_ctzll(rails);
		one.dst_rail = one.rail;
		one.demand.bytes = left / __builtin_popcountll(rails) ?: 1;
		left -= one.demand.bytes;
		ret = demand_resolve(fabric, &one, err);
		if (!ret)
			*(struct demand *)vec_add(to) = one;
	}
	return ret;
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
 * demands_are_of() - does an owner have any demands?
 * @ds: demands
 * @owner: name of the owner
 * @uid: user
 */
bool demands_are_of(const struct demands *ds, const char *owner, uint32_t uid)
{
	const struct owner who = { .name = owner, .uid = uid };
	struct demand *d;

	vec_for_each(d, &ds->all)
		if (!of_another(d, &who))
			return true;
	return false;
}

/**
 * demands_limit() - how many demands a user may have
 * @uid: the user; the superuser has no limit of its own, as it may speak for all
 */
uint32_t demands_limit(uint32_t uid)
{
	return uid ? DEMANDS_PER_USER : DEMANDS_MAX;
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
	if (total > max || own > demands_limit(uid)) {
		ds->refused++;
		return srpol_error_set(err, -ENOSPC,
				       "%u demands are more than the %u there is room for",
				       total > max ? total : own,
				       total > max ? max : demands_limit(uid));
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
 * demands_recolor() - adapt demands to another color of the policies to all peers
 * @ds: demands
 * @from: what the color was; that of a demand without a job
 * @to: what it is
 */
void demands_recolor(struct demands *ds, uint32_t from, uint32_t to)
{
	struct demand *d;

	vec_for_each(d, &ds->all)
		if (d->demand.color == from)
			d->demand.color = to;
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
