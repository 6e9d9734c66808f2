// SPDX-License-Identifier: GPL-2.0
/*
 * Steering prefixes of the engine: the address of every NIC of a peer leads to the
 * policies for the peer's GPU, whose endpoint is the address of its first NIC.
 */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

/**
 * struct wanted - a prefix of full length that is wanted
 * @prefix: address of a NIC
 * @address: endpoint of the policies that it leads to
 * @there: the module has an object for it
 */
struct wanted {
	struct in6_addr prefix;
	struct in6_addr address;
	bool there;
};

static int compare(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return memcmp(&x->prefix, &y->prefix, sizeof(x->prefix));
}

static void want(struct vec *all, const struct in6_addr *prefix,
		 const struct in6_addr *address)
{
	*(struct wanted *)vec_add(all) = (struct wanted){
		.prefix = *prefix, .address = *address,
	};
}

/*
 * What is wanted, each once, in order. (Older modules need a prefix for the
 * policies' own endpoint, too.)
 */
static void want_all(const struct engine *engine, struct vec *all)
{
	const struct srpol_fabric *f = engine->fabric;
	const struct engine_policy *policy;
	const struct srpol_gpu *gpu;
	struct wanted *at;
	size_t i, n = 0;

	vec_for_each(policy, &engine->policies)
		want(all, &policy->endpoint, &policy->endpoint);
	for (i = 0; i < f->n_nics; i++) {
		if (f->nics[i].gpu == SRPOL_NONE)
			continue;
		gpu = &f->gpus[f->nics[i].gpu];
		if (gpu->nic != i)
			want(all, &f->nics[i].addr, &f->nics[gpu->nic].addr);
	}
	at = all->data;
	if (all->n)
		qsort(at, all->n, sizeof(*at), compare);
	for (i = 0; i < all->n; i++)
		if (!n || compare(&at[n - 1], &at[i]))
			at[n++] = at[i];
	all->n = n;
}

static int put(struct engine *engine, struct srpol_batch *batch,
	       const struct wanted *wanted, uint16_t flags)
{
	struct srpol_msg msg;

	srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_ENDPOINT_NEW, flags);
	srpol_msg_put(&msg, SRPOL_A_ENDPOINT_PREFIX, sizeof(wanted->prefix),
		      &wanted->prefix);
	srpol_msg_put_u32(&msg, SRPOL_A_ENDPOINT_PREFIX_LEN, 128);
	srpol_msg_put(&msg, SRPOL_A_ENDPOINT_ADDRESS, sizeof(wanted->address),
		      &wanted->address);
	srpol_msg_put_u32(&msg, SRPOL_A_ENDPOINT_ORIGIN, SRPOL_ORIGIN_ENGINE);
	return srpol_batch_add(batch, msg.nlh);
}

static int del(struct engine *engine, struct srpol_batch *batch,
	       const struct endpoint_info *have)
{
	struct srpol_msg msg;

	srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_ENDPOINT_DEL, 0);
	srpol_msg_put(&msg, SRPOL_A_ENDPOINT_PREFIX, sizeof(have->prefix),
		      &have->prefix);
	srpol_msg_put_u32(&msg, SRPOL_A_ENDPOINT_PREFIX_LEN, have->len);
	srpol_msg_put_u32(&msg, SRPOL_A_ENDPOINT_ORIGIN, SRPOL_ORIGIN_ENGINE);
	return srpol_batch_add(batch, msg.nlh);
}

/**
 * endpoints_make() - make, correct and delete steering prefixes
 * @engine: the engine
 * @there: endpoints of the module
 * @batch: transaction
 * @made: incremented for each that is made or changed
 * @deleted: incremented for each that is deleted
 *
 * Prefixes of an operator stay, wherever they lead.
 */
int endpoints_make(struct engine *engine, const struct vec *there,
		   struct srpol_batch *batch, unsigned int *made,
		   unsigned int *deleted)
{
	struct vec all = VEC_INIT(struct wanted);
	const struct endpoint_info *have;
	struct wanted key, *wanted;
	int ret = 0;

	want_all(engine, &all);
	vec_for_each(have, there) {
		key.prefix = have->prefix;
		wanted = have->len == 128 && all.n ?
			 bsearch(&key, all.data, all.n, sizeof(key), compare) :
			 NULL;
		if (wanted)
			wanted->there = true;
		if (ret || have->origin != SRPOL_ORIGIN_ENGINE)
			continue;
		if (!wanted) {
			++*deleted;
			ret = del(engine, batch, have);
		} else if (memcmp(&wanted->address, &have->address,
				  sizeof(have->address))) {
			++*made;
			ret = put(engine, batch, wanted, NLM_F_REPLACE);
		}
	}
	vec_for_each(wanted, &all) {
		if (ret || wanted->there)
			continue;
		++*made;
		ret = put(engine, batch, wanted, NLM_F_CREATE | NLM_F_EXCL);
	}
	vec_free(&all);
	return ret;
}
