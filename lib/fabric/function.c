// SPDX-License-Identifier: LGPL-2.1
/*
 * Functions of switches as waypoints. A function is a SID that a switch offers
 * in addition to its End SID, and at which the switch does something with
 * packets before they continue to the next SID. What it does is opaque to
 * srpol: a segment list has the SID of the function in place of the SID of the
 * switch, and nothing else changes. Kind, ratio and rate are used only by the
 * model (lib/alg/predict.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"

static const char * const kinds[SRPOL_FUNCTION_KINDS] = {
	[SRPOL_FUNCTION_AGGREGATE] = "aggregate",
	[SRPOL_FUNCTION_MULTICAST] = "multicast",
	[SRPOL_FUNCTION_COMPRESS] = "compress",
	[SRPOL_FUNCTION_OPAQUE] = "opaque",
};

/**
 * srpol_function_kind_name() - name of a kind
 * @kind: the kind
 */
const char *srpol_function_kind_name(enum srpol_function_kind kind)
{
	return kinds[kind];
}

/**
 * srpol_function_kind_find() - find a kind by name
 * @word: name of the kind
 *
 * Return: the kind, SRPOL_FUNCTION_KINDS if there is none of this name.
 */
enum srpol_function_kind srpol_function_kind_find(const char *word)
{
	unsigned int kind;

	for (kind = 0; kind < SRPOL_FUNCTION_KINDS; kind++)
		if (!strcmp(kinds[kind], word))
			break;
	return kind;
}

/**
 * srpol_fabric_add_function() - add a function to a switch
 * @f: fabric that is being built
 * @function: the function, which is copied
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_fabric_add_function(struct srpol_fabric *f,
			      const struct srpol_function *function,
			      struct srpol_error *err)
{
	size_t len = strnlen(function->name, SRPOL_NAME_LEN);
	struct srpol_function *list;

	if (!len || len == SRPOL_NAME_LEN)
		return srpol_error_set(err, -EINVAL,
				       "name of 1 to %d characters wanted",
				       SRPOL_NAME_LEN - 1);
	if (srpol_function_kind_find(function->name) != SRPOL_FUNCTION_KINDS)
		return srpol_error_set(err, -EINVAL,
				       "\"%s\" is a kind, not a name",
				       function->name);
	if (function->node >= f->n_nodes ||
	    f->nodes[function->node].tier == SRPOL_TIER_HOST)
		return srpol_error_set(err, -EINVAL, "switch wanted");
	if (function->kind >= SRPOL_FUNCTION_KINDS)
		return srpol_error_set(err, -EINVAL, "no such kind");
	if (!(function->ratio > 0 && function->ratio <= 1))
		return srpol_error_set(err, -EINVAL,
				       "ratio above 0, up to 1 wanted");
	if (function->kind == SRPOL_FUNCTION_OPAQUE && function->ratio != 1)
		return srpol_error_set(err, -EINVAL,
				       "nothing is known of what is opaque: it has no ratio");
	if (f->n_functions == f->room_functions) {
		f->room_functions = 2 * f->room_functions + 8;
		list = realloc(f->functions,
			       f->room_functions * sizeof(*list));
		if (!list)
			return srpol_error_set(err, -ENOMEM, "no memory");
		f->functions = list;
	}
	f->functions[f->n_functions++] = *function;
	return 0;
}

static int by_node(const void *a, const void *b)
{
	const struct srpol_function *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * Checks that a function's bits neither overlap the locator nor are those of
 * another SID of the node.
 */
static int check_bits(const struct srpol_fabric *f, uint32_t i,
		      struct srpol_error *err)
{
	const struct in6_addr *taken[] = { &f->sids.end, &f->sids.decap,
					   &f->sids.probe, &f->sids.reflect };
	const struct srpol_function *fn = &f->functions[i];
	const struct srpol_node *node = &f->nodes[fn->node];
	uint32_t bit, k;

	for (bit = 0; bit < node->locator_len; bit++)
		if (fn->bits.s6_addr[bit / 8] & 0x80 >> bit % 8)
			return srpol_error_set(err, -EINVAL,
					       "function \"%s\" of %s overlaps its locator",
					       fn->name, node->name);
	for (k = 0; k < sizeof(taken) / sizeof(*taken); k++)
		if (!memcmp(&fn->bits, taken[k], sizeof(fn->bits)))
			return srpol_error_set(err, -EEXIST,
					       "function \"%s\" of %s has bits of another SID",
					       fn->name, node->name);
	for (k = i; k-- && f->functions[k].node == fn->node; )
		if (!memcmp(&fn->bits, &f->functions[k].bits, sizeof(fn->bits)))
			return srpol_error_set(err, -EEXIST,
					       "functions \"%s\" and \"%s\" of %s are the same",
					       f->functions[k].name, fn->name,
					       node->name);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Checks that CSIDs are unique. Functions and nodes have CSIDs in the same
 * block.
 */
static int check_csids(const struct srpol_fabric *f, struct srpol_error *err)
{
	uint64_t *csids = calloc((size_t)f->n_nodes + f->n_functions,
				 sizeof(*csids));
	uint32_t i, n = 0;
	int rc = 0;

	if (!csids)
		return srpol_error_set(err, -ENOMEM, "no memory");
	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].csid)
			csids[n++] = f->nodes[i].csid;
	for (i = 0; i < f->n_functions; i++)
		if (f->functions[i].csid)
			csids[n++] = f->functions[i].csid;
	qsort(csids, n, sizeof(*csids), by_number);
	for (i = 1; i < n && !rc; i++)
		if (csids[i] == csids[i - 1])
			rc = srpol_error_set(err, -EEXIST,
					     "a function has the CSID %llx of another one, or of a node",
					     (unsigned long long)csids[i]);
	free(csids);
	return rc;
}

/**
 * srpol_fabric_index_functions() - sort functions by switch and name, and check
 *	them
 * @f: fabric that is being finished; its nodes have been checked
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL, -EEXIST, -ENOMEM.
 */
int srpol_fabric_index_functions(struct srpol_fabric *f,
				 struct srpol_error *err)
{
	struct srpol_function *fn = f->functions;
	uint32_t i;
	int rc;

	if (!f->n_functions)
		return 0;
	qsort(fn, f->n_functions, sizeof(*fn), by_node);
	for (i = 0; i < f->n_functions; i++) {
		if (i && !by_node(&fn[i - 1], &fn[i]))
			return srpol_error_set(err, -EEXIST,
					       "%s has two functions \"%s\"",
					       f->nodes[fn[i].node].name,
					       fn[i].name);
		rc = check_bits(f, i, err);
		if (rc)
			return rc;
		if (!f->nodes[fn[i].node].fn_n++)
			f->nodes[fn[i].node].fn_first = i;
	}
	return check_csids(f, err);
}

/**
 * srpol_fabric_via() - find the function that a word asks for
 * @f: finished fabric
 * @word: name of a function, or name of a kind
 *
 * Return: value for srpol_demand.via; 0 if no switch offers such a function.
 */
uint32_t srpol_fabric_via(const struct srpol_fabric *f, const char *word)
{
	enum srpol_function_kind kind = srpol_function_kind_find(word);
	uint32_t i;

	for (i = 0; i < f->n_functions; i++) {
		if (kind != SRPOL_FUNCTION_KINDS &&
		    f->functions[i].kind == kind)
			return 1 + kind;
		if (!strcmp(f->functions[i].name, word))
			return 1 + SRPOL_FUNCTION_KINDS + i;
	}
	return 0;
}

/**
 * srpol_via_name() - the word that srpol_fabric_via() was given
 * @f: finished fabric
 * @via: return value of srpol_fabric_via(), not 0
 */
const char *srpol_via_name(const struct srpol_fabric *f, uint32_t via)
{
	return via <= SRPOL_FUNCTION_KINDS ? kinds[via - 1] :
	       f->functions[via - 1 - SRPOL_FUNCTION_KINDS].name;
}

/**
 * srpol_function_is() - is a function one that was asked for?
 * @f: finished fabric
 * @function: number of the function
 * @via: return value of srpol_fabric_via(), not 0
 */
bool srpol_function_is(const struct srpol_fabric *f, uint32_t function,
		       uint32_t via)
{
	const struct srpol_function *fn = &f->functions[function];

	if (via <= SRPOL_FUNCTION_KINDS)
		return fn->kind == via - 1;
	return !strcmp(fn->name, srpol_via_name(f, via));
}

/**
 * srpol_route_function() - find the function that a path passes
 * @f: finished fabric
 * @route: the path
 * @via: return value of srpol_fabric_via(), not 0
 *
 * Return: number of the first matching function on the way, SRPOL_NONE if no
 * switch of the path offers one.
 */
uint32_t srpol_route_function(const struct srpol_fabric *f,
			      const struct srpol_route *route, uint32_t via)
{
	const struct srpol_node *node;
	uint32_t i, k;

	for (i = 0; i + 1 < route->n; i++) {
		node = &f->nodes[f->links[route->link[i]].to];
		for (k = node->fn_first; k < node->fn_first + node->fn_n; k++)
			if (srpol_function_is(f, k, via))
				return k;
	}
	return SRPOL_NONE;
}

/**
 * srpol_route_offers() - may a demand that asks for a function take a path?
 * @f: finished fabric
 * @route: the path
 * @via: return value of srpol_fabric_via(); 0: no function is asked for
 */
bool srpol_route_offers(const struct srpol_fabric *f,
			const struct srpol_route *route, uint32_t via)
{
	return !via || srpol_route_function(f, route, via) != SRPOL_NONE;
}

/**
 * srpol_function_sid() - the SID of a function
 * @f: finished fabric
 * @function: number of the function
 */
struct in6_addr srpol_function_sid(const struct srpol_fabric *f,
				   uint32_t function)
{
	const struct srpol_function *fn = &f->functions[function];
	struct in6_addr sid = f->nodes[fn->node].locator;
	size_t i;

	for (i = 0; i < sizeof(sid); i++)
		sid.s6_addr[i] |= fn->bits.s6_addr[i];
	return sid;
}
