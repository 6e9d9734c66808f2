// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's policies in the module. In each of them the engine has one
 * candidate path with its own weights and one with the global engine's weights,
 * recognized by their originator. Other candidate paths are an operator's and
 * stay as they are, as does every attribute that the engine does not set (it sets
 * the backup color of jobs' policies). If
 * the policy changes while the transaction is prepared, the module refuses it
 * with -ESTALE.
 */
#include <errno.h>
#include <string.h>

#include "srpold.h"

#define PREFERENCE_LOCAL	50	/* an operator's default is 200 */
#define PREFERENCE_GLOBAL	100

/* Originator of the engine's candidate paths: this host. */
#define OWN_NODE		IN6ADDR_LOOPBACK_INIT

/* Discriminators of the engine's candidate paths */
#define OWN_LOCAL		1
#define OWN_GLOBAL		2

/**
 * struct own - a candidate path of the engine
 * @preference: its preference
 * @discriminator: its discriminator, unique among the engine's
 * @weight: weights of the policy's paths
 */
struct own {
	uint32_t preference;
	uint32_t discriminator;
	const uint32_t *weight;
};

static bool is_own(const struct candidate_info *cand)
{
	const struct in6_addr node = OWN_NODE;

	return !cand->asn && !memcmp(&cand->node, &node, sizeof(node)) &&
	       cand->protocol_origin == SRPOL_PROTOCOL_ORIGIN_CONFIG;
}

static uint32_t count_others(const struct policy_info *have)
{
	uint32_t n = 0, i;

	for (i = 0; have && i < have->n_candidates; i++)
		n += !is_own(&have->candidates[i]);
	return n;
}

/*
 * The candidate paths that the engine wants, by falling preference: if an
 * operator's candidate paths leave no room for both, the first one is made.
 */
static uint32_t wanted(const struct policy_info *have,
		       const struct engine_policy *policy, struct own own[2])
{
	uint32_t room = SRPOL_CANDIDATES_MAX - count_others(have), n = 0;

	if (policy->planned && n < room)
		own[n++] = (struct own){ PREFERENCE_GLOBAL, OWN_GLOBAL, policy->planned };
	if (n < room)
		own[n++] = (struct own){ PREFERENCE_LOCAL, OWN_LOCAL, policy->weight };
	return n;
}

/*
 * The @n-th segment list of a candidate path, from the policy's paths that the
 * module has; at most SRPOL_LISTS_MAX.
 */
static const struct engine_path *list_of(struct engine *engine,
					 const struct engine_policy *policy,
					 const uint32_t *weights, uint32_t n,
					 uint32_t *weight)
{
	const struct engine_path *path;
	uint32_t i;

	if (n >= SRPOL_LISTS_MAX)
		return NULL;
	for (i = 0; i < policy->n; i++) {
		path = engine_path(engine, policy->first + i);
		if (path->id && !n--) {
			*weight = weights[i];
			return path;
		}
	}
	return NULL;
}

static bool same_candidate(struct engine *engine,
			   const struct policy_info *have,
			   const struct engine_policy *policy,
			   const struct own *own)
{
	const struct candidate_info *cand = have->candidates;
	const struct engine_path *path;
	uint32_t n, weight;

	for (n = 0; n < have->n_candidates; n++, cand++)
		if (is_own(cand) && cand->discriminator == own->discriminator)
			break;
	if (n == have->n_candidates || cand->preference != own->preference)
		return false;
	for (n = 0; n < cand->n_lists; n++) {
		path = list_of(engine, policy, own->weight, n, &weight);
		if (!path || cand->lists[n].path != path->id ||
		    cand->lists[n].weight != weight)
			return false;
	}
	return !list_of(engine, policy, own->weight, n, &weight);
}

static bool same_policy(struct engine *engine,
			const struct policy_info *have,
			const struct engine_policy *policy)
{
	struct own own[2];
	uint32_t n = wanted(have, policy, own), i;

	if (have->n_candidates != count_others(have) + n ||
	    strcmp(have->name, policy->name) ||
	    (policy->of_job && have->backup_color != policy->backup))
		return false;
	for (i = 0; i < n; i++)
		if (!same_candidate(engine, have, policy, &own[i]))
			return false;
	return true;
}

static void put_list(struct srpol_msg *msg, uint32_t path, uint32_t weight)
{
	struct nlattr *list = srpol_msg_nest(msg, SRPOL_A_CANDIDATE_SEGMENT_LIST);

	srpol_msg_put_u32(msg, SRPOL_A_SEGMENT_LIST_PATH, path);
	srpol_msg_put_u32(msg, SRPOL_A_SEGMENT_LIST_WEIGHT, weight);
	srpol_msg_nest_end(msg, list);
}

static void put_own(struct engine *engine, struct srpol_msg *msg,
		    const struct engine_policy *policy, const struct own *own)
{
	const struct in6_addr node = OWN_NODE;
	const struct engine_path *path;
	uint32_t n, weight;
	struct nlattr *nest;

	nest = srpol_msg_nest(msg, SRPOL_A_POLICY_CANDIDATE);
	srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_PREFERENCE, own->preference);
	srpol_msg_put(msg, SRPOL_A_CANDIDATE_NODE, sizeof(node), &node);
	srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_DISCRIMINATOR,
			  own->discriminator);
	for (n = 0; (path = list_of(engine, policy, own->weight, n, &weight));
	     n++)
		put_list(msg, path->id, weight);
	srpol_msg_nest_end(msg, nest);
}

/* Candidate paths of others, unchanged. */
static void put_others(struct srpol_msg *msg, const struct policy_info *have)
{
	const struct candidate_info *cand;
	struct nlattr *nest;
	uint32_t i, n;

	for (i = 0; have && i < have->n_candidates; i++) {
		cand = &have->candidates[i];
		if (is_own(cand))
			continue;
		nest = srpol_msg_nest(msg, SRPOL_A_POLICY_CANDIDATE);
		srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_PREFERENCE,
				  cand->preference);
		srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN,
				  cand->protocol_origin);
		srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_ASN, cand->asn);
		srpol_msg_put(msg, SRPOL_A_CANDIDATE_NODE, sizeof(cand->node),
			      &cand->node);
		srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_DISCRIMINATOR,
				  cand->discriminator);
		srpol_msg_put(msg, SRPOL_A_CANDIDATE_NAME,
			      strlen(cand->name) + 1, cand->name);
		for (n = 0; n < cand->n_lists; n++)
			put_list(msg, cand->lists[n].path,
				 cand->lists[n].weight);
		srpol_msg_nest_end(msg, nest);
	}
}

/* Begin a new policy or a change of @have; attributes not named stay. */
static void start(struct engine *engine, struct srpol_msg *msg,
		  const struct policy_info *have, uint32_t color,
		  const struct in6_addr *endpoint)
{
	srpol_msg_start(&engine->genl, msg, SRPOL_CMD_POLICY_NEW,
			have ? NLM_F_REPLACE : NLM_F_CREATE | NLM_F_EXCL);
	srpol_msg_put_u32(msg, SRPOL_A_POLICY_COLOR, color);
	srpol_msg_put(msg, SRPOL_A_POLICY_ENDPOINT, sizeof(*endpoint),
		      endpoint);
	srpol_msg_put_u32(msg, SRPOL_A_POLICY_ORIGIN, SRPOL_ORIGIN_ENGINE);
	if (have)
		srpol_msg_put_u32(msg, SRPOL_A_POLICY_REVISION, have->revision);
	put_others(msg, have);
}

static int put_policy(struct engine *engine, struct srpol_batch *batch,
		      const struct policy_info *have,
		      const struct engine_policy *policy)
{
	struct srpol_msg msg;
	struct own own[2];
	uint32_t n = wanted(have, policy, own);

	start(engine, &msg, have, policy->color, &policy->endpoint);
	srpol_msg_put(&msg, SRPOL_A_POLICY_NAME, strlen(policy->name) + 1,
		      policy->name);
	if (policy->of_job)
		srpol_msg_put_u32(&msg, SRPOL_A_POLICY_BACKUP_COLOR,
				  policy->backup);
	while (n)
		put_own(engine, &msg, policy, &own[--n]);
	return srpol_batch_add(batch, msg.nlh);
}

static bool same_key(const struct policy_info *have,
		     const struct engine_policy *policy)
{
	return have->color == policy->color &&
	       !memcmp(&have->endpoint, &policy->endpoint,
		       sizeof(have->endpoint));
}

static const struct policy_info *find_key(const struct vec *there,
					  const struct engine_policy *policy)
{
	const struct policy_info *have;

	vec_for_each(have, there)
		if (same_key(have, policy))
			return have;
	return NULL;
}

/* What is in force beside the engine's own weights, for watch_paths.c. */
static void read_rest(const struct policy_info *have,
		      struct engine_policy *policy)
{
	uint32_t i;

	policy->is_others = have && have->origin != SRPOL_ORIGIN_ENGINE;
	policy->drops = have && have->drop_upon_invalid;
	policy->has_backup = policy->of_job && !policy->is_others ?
			     policy->backup : have && have->backup_color;
	for (i = 0; have && i < have->n_candidates; i++)
		policy->is_others |= have->candidates[i].active &&
				     !is_own(&have->candidates[i]);
}

/**
 * policies_by() - whose weights a policy of the module has in force
 * @have: the policy
 * @preference: set to the preference of the active candidate path
 *
 * Return: "engine", "plan" or "operator", as watchers are told it; NULL if no candidate
 * path is active.
 */
const char *policies_by(const struct policy_info *have, uint32_t *preference)
{
	const struct candidate_info *cand;
	uint32_t i;

	for (i = 0; i < have->n_candidates; i++) {
		cand = &have->candidates[i];
		if (!cand->active)
			continue;
		*preference = cand->preference;
		if (have->origin != SRPOL_ORIGIN_ENGINE || !is_own(cand))
			return "operator";
		return cand->discriminator == OWN_GLOBAL ? "plan" : "engine";
	}
	return NULL;
}

/**
 * policies_make() - make policies that are missing or different
 * @engine: the engine, whose paths have ids
 * @there: policies of the module
 * @batch: transaction
 * @made: incremented for each
 */
int policies_make(struct engine *engine, const struct vec *there,
		  struct srpol_batch *batch, unsigned int *made)
{
	struct engine_policy *policy;
	const struct policy_info *have;
	char buf[SRPOL_ADDR_STRLEN];
	bool was_foreign;
	int ret = 0;

	vec_for_each(policy, &engine->policies) {
		have = find_key(there, policy);
		read_rest(have, policy);
		was_foreign = policy->is_foreign;
		policy->is_foreign = have && have->origin != SRPOL_ORIGIN_ENGINE;
		if (policy->is_foreign && was_foreign)
			continue;
		if (policy->is_foreign) {
			/* once: every change of anybody's makes the engine look */
			log_notice("policy color %u endpoint %s is somebody else's and stays as it is",
				   have->color,
				   srpol_addr_text(&policy->endpoint, buf));
			continue;
		}
		if (ret || (have && same_policy(engine, have, policy)))
			continue;
		++*made;
		ret = put_policy(engine, batch, have, policy);
	}
	return ret;
}

static bool is_wanted(struct engine *engine,
		      const struct policy_info *have)
{
	const struct engine_policy *policy;

	vec_for_each(policy, &engine->policies)
		if (same_key(have, policy))
			return true;
	return false;
}

static int delete(struct engine *engine, const struct policy_info *have,
		  struct srpol_batch *batch)
{
	struct srpol_msg msg;

	srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_POLICY_DEL, 0);
	srpol_msg_put_u32(&msg, SRPOL_A_POLICY_COLOR, have->color);
	srpol_msg_put(&msg, SRPOL_A_POLICY_ENDPOINT, sizeof(have->endpoint),
		      &have->endpoint);
	srpol_msg_put_u32(&msg, SRPOL_A_POLICY_ORIGIN, SRPOL_ORIGIN_ENGINE);
	return srpol_batch_add(batch, msg.nlh);
}

/**
 * policies_delete() - delete policies that are no longer wanted
 * @engine: the engine
 * @there: policies of the module
 * @batch: transaction
 * @deleted: incremented for each
 *
 * A policy with others' candidate paths stays, and keeps only these.
 */
int policies_delete(struct engine *engine, const struct vec *there,
		    struct srpol_batch *batch, unsigned int *deleted)
{
	const struct policy_info *have;
	struct srpol_msg msg;
	uint32_t others;
	int ret = 0;

	vec_for_each(have, there) {
		others = count_others(have);
		if (ret || have->origin != SRPOL_ORIGIN_ENGINE ||
		    is_wanted(engine, have) ||
		    (others && others == have->n_candidates))
			continue;
		++*deleted;
		/*
		 * Also before a deletion, which has no revision: this changes
		 * nothing then, unless the policy has changed meanwhile.
		 */
		start(engine, &msg, have, have->color, &have->endpoint);
		ret = srpol_batch_add(batch, msg.nlh);
		if (!ret && !others)
			ret = delete(engine, have, batch);
	}
	return ret;
}

/**
 * policies_keep() - whether a candidate path that is not the engine's uses a
 * path
 * @there: policies of the module
 * @path: id of the path
 */
bool policies_keep(const struct vec *there, uint32_t path)
{
	const struct candidate_info *cand;
	const struct policy_info *have;
	uint32_t i, n;

	vec_for_each(have, there) {
		for (i = 0; i < have->n_candidates; i++) {
			cand = &have->candidates[i];
			if (have->origin == SRPOL_ORIGIN_ENGINE && is_own(cand))
				continue;
			for (n = 0; n < cand->n_lists; n++)
				if (cand->lists[n].path == path)
					return true;
		}
	}
	return false;
}
