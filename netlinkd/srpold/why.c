// SPDX-License-Identifier: GPL-2.0
/*
 * Explains why a packet takes its path: demand, algorithm, links, weights,
 * policy, path. It also tells what would change this, by running the same
 * algorithm on links in a different state.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "weights.h"

#define CHANGES_MAX	16	/* reported for a policy */
#define FLOWS_MAX	64	/* that are listed */

/**
 * struct question - what the user asks about
 * @addr: destination
 * @host: all GPUs of this node; SRPOL_NONE: only @addr
 * @has_qp: asks about a flow of RoCEv2
 * @qp: destination QP of that flow
 * @policies: policies of the module
 */
struct question {
	struct in6_addr addr;
	uint32_t host;
	bool has_qp;
	uint32_t qp;
	struct vec policies;
};

static void set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text));
}

static void set_number(json_t *o, const char *key, json_int_t number)
{
	json_object_set_new(o, key, json_integer(number));
}

/* An end of a demand: host, rail and address. */
static json_t *gpu_report(const struct engine *engine, uint32_t gpu)
{
	const struct srpol_gpu *g = &engine->fabric->gpus[gpu];
	char buf[SRPOL_ADDR_STRLEN];
	json_t *o = json_object();

	set_text(o, "host", engine->fabric->nodes[g->host].name);
	set_number(o, "rail", g->rail);
	set_text(o, "address",
		 srpol_addr_text(&engine->fabric->nics[g->nic].addr, buf));
	return o;
}

static const struct policy_info *module_policy(const struct question *q,
					const struct engine_policy *policy)
{
	const struct policy_info *have;

	vec_for_each(have, &q->policies)
		if (have->color == policy->color &&
		    !memcmp(&have->endpoint, &policy->endpoint,
			    sizeof(have->endpoint)))
			return have;
	return NULL;
}

/*
 * The link with the least capacity. The NICs' own links are left out, unless
 * there are no others: all paths share them.
 */
static uint32_t narrowest(const struct engine *engine,
			  const struct srpol_route *route)
{
	const struct srpol_link_state *links = engine->links.links->links;
	uint32_t nics = route->n > 2, i, least = route->link[nics];

	for (i = nics; i < route->n - nics; i++)
		if (links[route->link[i]].capacity < links[least].capacity)
			least = route->link[i];
	return least / 2;
}

static void list_report(const struct list_info *lists, uint32_t n, uint32_t id,
			json_t *o)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (lists[i].path == id)
			set_number(o, "buckets", lists[i].buckets);
}

static json_t *path_report(struct engine *engine, const struct question *q,
			   const struct engine_policy *policy,
			   const struct srpol_path_set *set, uint32_t i)
{
	struct engine_path *path = engine_path(engine, policy->first + i);
	const struct policy_info *have = module_policy(q, policy);
	const struct link_info *info;
	char name[LINK_NAME_LEN];
	struct srpol_route route;
	json_t *o = json_object();
	enum link_source source;
	uint32_t cable, c;

	srpol_path_get(engine->fabric, set, i, &route);
	cable = narrowest(engine, &route);
	info = &engine->links.cables[cable];
	source = linkstate_source(&engine->links, cable);
	link_name(engine->fabric, cable, name, sizeof(name));
	set_number(o, "path", path->id);
	set_text(o, "name", path->name);
	set_number(o, "weight", policy->weight[i]);
	for (c = 0; have && c < have->n_candidates; c++)
		if (have->candidates[c].active)
			list_report(have->candidates[c].lists,
				    have->candidates[c].n_lists, path->id, o);
	if (policy->planned)
		set_number(o, "planned", policy->planned[i]);
	set_text(o, "probes", liveness_name(
		&engine_path(engine, path->leader)->live));
	set_text(o, "narrowest", name);
	/* algorithms see this multiplied by the quality */
	set_number(o, "capacity_bps", info->capacity[source]);
	set_text(o, "capacity_from", link_source_name(source));
	set_number(o, "quality_percent", quality_percent(&info->quality));
	return o;
}

static json_t *numbers(const uint32_t *v, uint32_t n)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(array, json_integer(v[i]));
	return array;
}

/* Add the weights that would result if a cable had this capacity. */
static void add_change(struct engine *engine,
		       const struct engine_policy *policy, uint32_t cable,
		       uint64_t capacity, json_t *changes)
{
	struct srpol_links *links = srpol_links_copy(engine->links.links);
	struct weights_pair pair = {
		.src = policy->src, .dst = policy->dst, .alg = policy->alg,
		.color = policy->color, .slice = policy->slice,
		.n = policy->n,
		.weight = calloc(policy->n + 1, sizeof(uint32_t)),
	};
	struct weights_demands known = {};
	struct weights_input input = {
		.fabric = engine->fabric, .links = links, .known = &known,
		.memory = &engine->placed, .keep = true,
	};
	char name[LINK_NAME_LEN];
	struct srpol_error err = {};
	json_t *o;

	if (links && pair.weight && !balance_demands(engine, &known)) {
		srpol_links_set_capacity(links, 2 * cable, capacity);
		srpol_links_set_capacity(links, 2 * cable + 1, capacity);
		srpol_links_set_quality(links, 2 * cable, SRPOL_QUALITY_BEST);
		srpol_links_set_quality(links, 2 * cable + 1,
					SRPOL_QUALITY_BEST);
		if (!weights_run(&input, &pair, 1, &err) &&
		    memcmp(pair.weight, policy->weight,
			   policy->n * sizeof(uint32_t))) {
			o = json_object();
			link_name(engine->fabric, cable, name, sizeof(name));
			set_text(o, "link", name);
			set_text(o, "if", capacity ? "as good as new" :
				 "down");
			json_object_set_new(o, "weights",
					    numbers(pair.weight, policy->n));
			json_array_append_new(changes, o);
		}
	}
	free(known.demand);
	free(pair.weight);
	srpol_links_free(links);
}

/* First the repair of each bad link, then the failure of each link. */
static json_t *changes_report(struct engine *engine,
			      const struct engine_policy *policy,
			      const struct srpol_path_set *set)
{
	const struct srpol_fabric *f = engine->fabric;
	bool *seen = calloc(2 * engine->links.n + 1, sizeof(*seen));
	json_t *changes = json_array();
	struct srpol_route route;
	uint32_t i, k, cable, fails;
	uint64_t rate;

	for (fails = 0; seen && fails < 2; fails++) {
		for (i = 0; i < set->n; i++) {
			srpol_path_get(f, set, i, &route);
			for (k = 0; k < route.n; k++) {
				cable = route.link[k] / 2;
				if (seen[2 * cable + fails] ||
				    json_array_size(changes) == CHANGES_MAX)
					continue;
				seen[2 * cable + fails] = true;
				rate = srpol_link_rate(&f->links[2 * cable]);
				add_change(engine, policy, cable,
					   fails ? 0 : rate, changes);
			}
		}
	}
	free(seen);
	return changes;
}

/* Bytes that applications announced for a policy. */
static json_int_t announced(const struct engine *engine,
			    const struct engine_policy *policy)
{
	struct weights_demands known = {};
	json_int_t bytes = 0;
	uint32_t i;

	if (balance_demands(engine, &known))
		return 0;
	for (i = 0; i < known.n; i++)
		if (known.demand[i].src == policy->src &&
		    known.demand[i].dst == policy->dst &&
		    known.demand[i].color == policy->color)
			bytes += known.demand[i].bytes;
	free(known.demand);
	return bytes;
}

/* Whose weights the module has in force. */
static void active_report(const struct policy_info *have, json_t *o)
{
	uint32_t preference;
	const char *by = have ? policies_by(have, &preference) : NULL;

	if (!by)
		return;
	set_text(o, "by", by);
	set_number(o, "preference", preference);
}

static json_t *policy_report(struct engine *engine, const struct question *q,
			     const struct engine_policy *policy)
{
	const struct policy_info *have = module_policy(q, policy);
	json_t *o = json_object(), *paths = json_array();
	struct srpol_path_set set;
	uint32_t i;

	json_object_set_new(o, "from", gpu_report(engine, policy->src));
	json_object_set_new(o, "to", gpu_report(engine, policy->dst));
	set_number(o, "announced_bytes", announced(engine, policy));
	set_text(o, "algorithm", policy->alg->name);
	set_text(o, "source", policy->alg->source);
	set_number(o, "color", policy->color);
	set_text(o, "policy", !have ? "not in the module" :
		 have->origin != SRPOL_ORIGIN_ENGINE ? "somebody else's" :
		 "the engine's");
	active_report(have, o);
	if (srpol_path_set_init(engine->fabric, policy->src, policy->dst,
				&set)) {
		json_decref(o);
		json_decref(paths);
		return NULL;
	}
	for (i = 0; i < policy->n; i++)
		json_array_append_new(paths,
			path_report(engine, q, policy, &set, i));
	json_object_set_new(o, "paths", paths);
	json_object_set_new(o, "changes",
			    changes_report(engine, policy, &set));
	srpol_path_set_free(&set);
	return o;
}

/* The address of a peer's NIC stands for the GPU that it belongs to. */
static bool is_asked(const struct engine *engine, const struct question *q,
		     uint32_t gpu)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t nic = srpol_fabric_nic_at(f, &q->addr);

	if (q->host != SRPOL_NONE)
		return f->gpus[gpu].host == q->host;
	return nic != SRPOL_NONE && f->nics[nic].gpu == gpu;
}

static bool is_flow_asked(const struct engine *engine, const struct question *q,
			  const struct srpol_flow *flow)
{
	struct in6_addr dst;
	uint32_t nic;

	memcpy(&dst, flow->key.daddr, sizeof(dst));
	if (q->has_qp)
		return flow->key.roce && flow->key.qp == q->qp;
	if (q->host == SRPOL_NONE)
		return !memcmp(&dst, &q->addr, sizeof(dst));
	nic = srpol_fabric_nic_at(engine->fabric, &dst);
	return nic != SRPOL_NONE && engine->fabric->nics[nic].host == q->host;
}

/*
 * Some flows to the destination in the data plane. If the question names a QP,
 * this also finds its destination address.
 */
static json_t *flows_report(const struct engine *engine, struct question *q,
			    bool *found)
{
	struct srpol_flow_table table;
	const struct policy_info *policy;
	json_t *array = json_array(), *o;
	char buf[SRPOL_ADDR_STRLEN];
	struct srpol_flow flow;
	uint32_t nr = 0;

	*found = false;
	if (srpol_flows_open(&table))
		return array;
	while (srpol_flows_next(&table, &nr, &flow, NULL)) {
		if (!is_flow_asked(engine, q, &flow))
			continue;
		*found = true;
		if (q->has_qp)
			memcpy(&q->addr, flow.key.daddr, sizeof(q->addr));
		if (json_array_size(array) == FLOWS_MAX)
			break;
		policy = find_policy(&q->policies, flow.cache.policy);
		o = json_object();
		set_text(o, "dst", srpol_addr_text(flow.key.daddr, buf));
		set_number(o, flow.key.roce ? "qp" : "dport", flow.key.qp);
		set_number(o, "sport", flow.key.sport);
		set_number(o, "rule", flow.rule_id);
		set_number(o, "color", policy ? policy->color : 0);
		set_number(o, "path", policy ? flow.path : 0);
		set_number(o, "bytes", flow.bytes);
		json_array_append_new(array, o);
	}
	srpol_flows_close(&table);
	return array;
}

static int read_question(struct engine *engine, const json_t *request,
			 struct question *q, struct srpol_error *err)
{
	const json_t *qp = json_object_get(request, "qp");
	const char *dst = json_string_value(json_object_get(request, "dst"));
	uint32_t node, i;

	if (json_is_integer(qp)) {
		q->has_qp = true;
		q->qp = json_integer_value(qp);
		return 0;
	}
	if (!dst)
		return srpol_error_set(err, -EINVAL,
				       "\"dst\" or \"qp\" is wanted");
	node = srpol_fabric_node(engine->fabric, dst);
	for (i = 0; node != SRPOL_NONE && i < engine->fabric->n_gpus; i++) {
		if (engine->fabric->gpus[i].host != node)
			continue;
		q->addr = engine->fabric->nics[
			engine->fabric->gpus[i].nic].addr;
		q->host = node;
		return 0;
	}
	if (srpol_addr_parse(dst, &q->addr))
		return 0;
	return srpol_error_set(err, -EINVAL,
			       "\"%s\" is neither a host nor an address", dst);
}

static json_t *answer(struct engine *engine, struct question *q,
		      struct srpol_error *err)
{
	json_t *o = json_object(), *policies = json_array();
	const struct engine_policy *policy;
	char buf[SRPOL_ADDR_STRLEN];
	bool found;

	json_object_set_new(o, "flows", flows_report(engine, q, &found));
	if (q->has_qp && !found) {
		srpol_error_set(err, -ENOENT, "no flow to QP %u was seen",
				q->qp);
		goto none;
	}
	vec_for_each(policy, &engine->policies)
		if (is_asked(engine, q, policy->dst))
			json_array_append_new(policies,
				policy_report(engine, q, policy));
	set_text(o, "dst", srpol_addr_text(&q->addr, buf));
	if (json_array_size(policies)) {
		json_object_set_new(o, "policies", policies);
		return o;
	}
	srpol_error_set(err, -ENOENT, "%s is no NIC of a peer", buf);
none:
	json_decref(policies);
	json_decref(o);
	return NULL;
}

/**
 * why_request() - handle srpol engine why
 * @engine: the engine
 * @request: "dst" or "qp"
 * @err: message on failure
 *
 * Return: the reply, NULL if it is refused.
 */
json_t *why_request(struct engine *engine, const json_t *request,
		    struct srpol_error *err)
{
	struct question q = {
		.host = SRPOL_NONE, .policies = VEC_INIT(struct policy_info),
	};
	json_t *reply = NULL;

	if (!read_question(engine, request, &q, err) &&
	    !srpol_fetch(&engine->genl, SRPOL_CMD_POLICY_GET, &q.policies,
			 err))
		reply = answer(engine, &q, err);
	vec_free(&q.policies);
	return reply;
}
