// SPDX-License-Identifier: GPL-2.0
/*
 * From the topology: every path from the NICs of this host to every other host,
 * its segment list, and the loop that its probe takes, which goes to the far
 * leaf and back the same way. Switches only forward the probe; no agent at the
 * far end is needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probing.h"
#include "srpold.h"

/**
 * engine_is_local() - whether a node is a host of this namespace
 * @engine: the engine
 * @node: the node
 */
bool engine_is_local(const struct engine *engine, uint32_t node)
{
	const struct config *c = &engine->config;
	uint32_t i;

	for (i = 0; i < c->n_hosts; i++)
		if (!strcmp(engine->fabric->nodes[node].name, c->hosts[i]))
			return true;
	return false;
}

/**
 * engine_sid() - a SID of a node
 * @engine: the engine
 * @node: the node
 * @function: bits after its locator
 */
struct in6_addr engine_sid(const struct engine *engine, uint32_t node,
			   const struct in6_addr *function)
{
	struct in6_addr sid = engine->fabric->nodes[node].locator;
	size_t i;

	for (i = 0; i < sizeof(sid); i++)
		sid.s6_addr[i] |= function->s6_addr[i];
	return sid;
}

/**
 * engine_path() - a path by its index
 * @engine: the engine
 * @index: below engine.paths.n
 */
struct engine_path *engine_path(struct engine *engine, uint32_t index)
{
	return (struct engine_path *)engine->paths.data + index;
}

/**
 * engine_sids_json() - SIDs as a list of texts
 * @list: the SIDs, in order of travel
 */
json_t *engine_sids_json(const struct srpol_sid_list *list)
{
	char buf[SRPOL_ADDR_STRLEN];
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(
			srpol_addr_text(&list->sid[i], buf)));
	return array;
}

/* Name a path HOST-TOP-PEER. */
static void name_path(const struct srpol_fabric *f, uint32_t host,
		      uint32_t top, uint32_t peer, char *name)
{
	char text[3 * SRPOL_NAME_LEN + 3];

	snprintf(text, sizeof(text), "%s-%s-%s", f->nodes[host].name,
		 f->nodes[top].name, f->nodes[peer].name);
	engine_name(name, text);
}

/* Cables of the way out; the way back uses the same ones. */
static void take_links(const struct srpol_route *route,
		       struct locate_probe *links)
{
	uint32_t i;

	/* the last one is the peer's, which the probe does not visit */
	for (i = 0; i + 1 < route->n && i < LOCATE_LINKS; i++)
		links->link[links->n++] = route->link[i] / 2;
}

/*
 * Add the list for a probe that goes to the peer itself and back, if the fabric
 * has a SID for that and the list is not too long.
 */
static void add_far(const struct engine *engine, struct engine_path *path,
		    const struct srpol_route *route,
		    const struct srpol_route *back, enum srpol_sid_form form)
{
	const struct srpol_fabric *f = engine->fabric;
	struct srpol_error err = {};
	struct in6_addr end;
	uint32_t i;

	if (IN6_IS_ADDR_UNSPECIFIED(&f->sids.reflect) ||
	    srpol_sids_of_loop(f, route, back, true, form, &path->far,
			       &err)) {
		path->far.n = 0;
		return;
	}
	end = engine_sid(engine, path->peer, &f->sids.end);
	for (i = 0; i < path->far.n; i++)
		if (!memcmp(&path->far.sid[i], &end, sizeof(end)))
			path->far.sid[i] = engine_sid(engine, path->peer,
						      &f->sids.reflect);
}

/* Are all NICs of the host, which share its SIDs, at this leaf? */
static bool all_at(const struct srpol_fabric *f, uint32_t host, uint32_t leaf)
{
	uint32_t i;

	for (i = 0; i < f->n_nics; i++)
		if (f->nics[i].host == host && f->nics[i].leaf != leaf)
			return false;
	return true;
}

/*
 * Which switches of a path its segment list has to name. If other paths turn
 * down at the same switch, or the peer is at several leaves, switches would choose.
 */
static enum srpol_sid_hops hops_for(const struct engine *engine,
				    const struct srpol_path_set *set,
				    const struct engine_path *path)
{
	const struct srpol_fabric *f = engine->fabric;

	return engine->config.segments.top &&
	       all_at(f, path->peer, f->links[path->last].from) &&
	       srpol_path_set_turning(f, set, path->top) == 1 ?
	       SRPOL_HOPS_TOP : SRPOL_HOPS_ALL;
}

static int nic_lacks(const struct engine *engine, const struct srpol_nic *nic,
		     const char *key, struct srpol_error *err)
{
	return srpol_error_set(err, -EINVAL, "%s: NIC %s of host %s has no \"%s\"",
			       engine->config.topology, nic->name,
			       engine->fabric->nodes[nic->host].name, key);
}

static int add_path(struct engine *engine, const struct srpol_path_set *set,
		    uint32_t index, uint32_t src, uint32_t dst,
		    struct srpol_error *err)
{
	enum srpol_sid_form loop = engine->config.segments.usid ?
				   SRPOL_SID_USID : SRPOL_SID_FULL;
	const struct srpol_fabric *f = engine->fabric;
	struct srpol_route route, back;
	struct engine_path *path;
	uint32_t pair;

	srpol_path_get(f, set, index, &route);
	srpol_route_reverse(&route, &back);
	for (pair = 0; pair + 1 < set->pairs &&
	     set->pair[pair + 1].first <= index; pair++)
		;
	path = vec_add(&engine->paths);
	path->nic = set->pair[pair].src;
	if (IN6_IS_ADDR_UNSPECIFIED(&f->nics[path->nic].gateway))
		return nic_lacks(engine, &f->nics[path->nic], "gateway", err);
	path->peer = dst;
	path->top = srpol_route_top(f, &route);
	name_path(f, src, path->top, dst, path->name);
	take_links(&route, &path->links);
	path->last = route.link[route.n - 1];
	liveness_init(&path->live, now_ns());
	add_far(engine, path, &route, &back, loop);
	return srpol_sids_of_path(f, &route, hops_for(engine, set, path),
				  NULL, segments_form(&engine->config.segments),
				  &path->segs, err) ?:
	       srpol_sids_of_loop(f, &route, &back, false, loop, &path->loop,
				  err);
}

static const struct srpol_alg *alg_for(const struct engine *engine,
				       const char *peer)
{
	const struct weights_config *c = &engine->config.weights;
	uint32_t i;

	for (i = 0; i < c->n_peers; i++)
		if (!strcmp(c->peers[i].name, peer))
			return c->peers[i].alg;
	return c->alg;
}

/* Add a policy to one GPU of a peer: one address, with all paths to it. */
static int add_policy(struct engine *engine, uint32_t src_gpu,
		      uint32_t dst_gpu, struct srpol_error *err)
{
	const struct srpol_fabric *f = engine->fabric;
	const struct srpol_gpu *src = &f->gpus[src_gpu];
	const struct srpol_gpu *dst = &f->gpus[dst_gpu];
	struct engine_policy *policy;
	struct srpol_path_set set;
	uint32_t i;
	int ret;

	ret = srpol_path_set_init(f, src_gpu, dst_gpu, &set);
	if (ret)
		return srpol_error_set(err, ret, "paths from %s to %s: %s",
				       f->nodes[src->host].name,
				       f->nodes[dst->host].name,
				       strerror(-ret));
	policy = vec_add(&engine->policies);
	policy->endpoint = f->nics[dst->nic].addr;
	policy->color = engine->config.color;
	policy->src = src_gpu;
	policy->dst = dst_gpu;
	policy->alg = alg_for(engine, f->nodes[dst->host].name);
	policy->first = engine->paths.n;
	policy->n = set.n;
	policy->weight = calloc(set.n + 1, sizeof(*policy->weight));
	ret = policy->weight ? 0 : -ENOMEM;
	if (strlen(f->nodes[dst->host].name) < sizeof(policy->name))
		strcpy(policy->name, f->nodes[dst->host].name);
	for (i = 0; !ret && i < set.n; i++)
		ret = add_path(engine, &set, i, src->host, dst->host, err);
	srpol_path_set_free(&set);
	return ret;
}

static int by_loop(const void *a, const void *b)
{
	const struct engine_path *x = *(struct engine_path * const *)a;
	const struct engine_path *y = *(struct engine_path * const *)b;
	int order = memcmp(x->loop.sid, y->loop.sid, sizeof(x->loop.sid));

	if (x->nic != y->nic)
		return x->nic < y->nic ? -1 : 1;
	return order ?: (x > y) - (x < y);
}

/*
 * Paths to several hosts of a leaf share a probe, as it can only see what they
 * have in common. So the cost of probes depends on the number of links, not of
 * hosts.
 */
static int share_probes(struct engine *engine)
{
	struct engine_path **sorted, *path;
	size_t i, n = engine->paths.n;

	sorted = calloc(n + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sorted[i] = engine_path(engine, i);
	qsort(sorted, n, sizeof(*sorted), by_loop);
	for (i = 0; i < n; i++) {
		path = sorted[i];
		path->leader = path - engine_path(engine, 0);
		if (i && path->nic == sorted[i - 1]->nic &&
		    !memcmp(path->loop.sid, sorted[i - 1]->loop.sid,
			    sizeof(path->loop.sid)))
			path->leader = sorted[i - 1]->leader;
	}
	free(sorted);
	return 0;
}

/*
 * Add policies from each rail of a local host to the same rail of every other
 * host.
 */
static int add_policies(struct engine *engine, struct srpol_error *err)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t src, dst;
	int ret = 0;

	for (src = 0; !ret && src < f->n_gpus; src++) {
		if (!engine_is_local(engine, f->gpus[src].host))
			continue;
		for (dst = 0; !ret && dst < f->n_gpus; dst++)
			if (f->gpus[dst].host != f->gpus[src].host &&
			    f->gpus[dst].rail == f->gpus[src].rail)
				ret = add_policy(engine, src, dst, err);
	}
	return ret;
}

static int check_peers(const struct engine *engine, struct srpol_error *err)
{
	const struct weights_config *c = &engine->config.weights;
	uint32_t i, node;

	for (i = 0; i < c->n_peers; i++) {
		node = srpol_fabric_node(engine->fabric, c->peers[i].name);
		if (node == SRPOL_NONE)
			return srpol_error_set(err, -ENOENT,
					       "%s: no host \"%s\", which is named in \"peers\"",
					       engine->config.topology,
					       c->peers[i].name);
	}
	return 0;
}

static int no_such_host(const struct config *c, const char *host, struct srpol_error *err)
{
	return srpol_error_set(err, -ENOENT, c->hosts_told ?
			       "%s: no host \"%s\", which is named in \"hosts\"" :
			       "%s: no host \"%s\"; name it in \"hosts\"",
			       c->topology, host);
}

static int check_hosts(const struct engine *engine, struct srpol_error *err)
{
	const struct srpol_fabric *f = engine->fabric;
	const struct config *c = &engine->config;
	const struct srpol_nic *nic;
	uint32_t i, node;

	for (i = 0; i < c->n_hosts; i++) {
		node = srpol_fabric_node(f, c->hosts[i]);
		if (node == SRPOL_NONE || f->nodes[node].tier != SRPOL_TIER_HOST)
			return no_such_host(c, c->hosts[i], err);
	}
	for (nic = f->nics; nic < f->nics + f->n_nics; nic++)
		if (IN6_IS_ADDR_UNSPECIFIED(&nic->addr))
			return nic_lacks(engine, nic, "address", err);
	return 0;
}

/**
 * engine_build() - read the topology and make the paths and policies for it
 * @engine: result; connections are left alone
 * @config: the operator's configuration
 * @err: message on failure
 *
 * On failure nothing of @engine has changed.
 */
int engine_build(struct engine *engine, const struct config *config,
		 struct srpol_error *err)
{
	struct engine new = {
		.config = *config,
		.paths = VEC_INIT(struct engine_path),
		.policies = VEC_INIT(struct engine_policy),
		.rules = VEC_INIT(struct rule_info),
		.keys = VEC_INIT(struct host_key),
	};
	int ret;

	new.fabric = srpol_topology_read(config->topology, err);
	if (!new.fabric)
		return -EINVAL;
	ret = check_hosts(&new, err) ?: check_peers(&new, err) ?:
	      linkstate_init(&new.links, new.fabric, now_ns()) ?:
	      add_policies(&new, err) ?:
	      share_probes(&new) ?:
	      reflect_keys_read(&new, err);
	if (ret) {
		engine_free(&new);
		return ret;
	}
	new.n_own = new.policies.n;
	new.n_own_paths = new.paths.n;
	new.genl = engine->genl;
	new.events = engine->events;
	engine_free(engine);
	*engine = new;
	return 0;
}

/**
 * engine_free() - free what engine_build() allocated
 * @engine: the engine
 */
void engine_free(struct engine *engine)
{
	struct engine_policy *policy;

	vec_for_each(policy, &engine->policies) {
		free(policy->weight);
		free(policy->slice);
		free(policy->planned);
	}
	vec_free(&engine->paths);
	vec_free(&engine->policies);
	vec_free(&engine->rules);
	vec_free(&engine->keys);
	weights_forget(&engine->placed);
	linkstate_free(&engine->links);
	srpol_fabric_free(engine->fabric);
	engine->fabric = NULL;
}
