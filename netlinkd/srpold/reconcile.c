// SPDX-License-Identifier: GPL-2.0
/*
 * Dump, compare, apply: makes the module's objects of origin "engine" match the
 * topology. Objects of an operator or another program are never touched, even
 * if the engine would need the same key: this is logged. All changes are one
 * transaction, so packets see either all of them or none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "path_ids.h"
#include "probing.h"
#include "sids.h"
#include "srpold.h"

#define IPV6_HLEN	40
#define TRIES	5	/* if others change objects meanwhile */

/**
 * struct plan - a transaction being prepared
 */
struct plan {
	struct engine *engine;
	struct srpol_batch batch;
	struct vec paths;
	struct vec policies;
	struct vec endpoints;
	struct sids sids;
	struct vec rules;
	struct config_info config;
	bool *kept;
	unsigned int made;
	unsigned int deleted;
	struct srpol_error *err;
};

static int add(struct plan *plan, struct srpol_msg *msg)
{
	return srpol_batch_add(&plan->batch, msg->nlh);
}

static void start(struct plan *plan, struct srpol_msg *msg, uint8_t cmd,
		  uint16_t flags)
{
	srpol_msg_start(&plan->engine->genl, msg, cmd, flags);
}

/* Has the path the structure of the fabric's containers, or none? */
static bool same_structure(const struct engine *engine,
			   const struct path_info *have,
			   const struct srpol_sid_list *segs)
{
	const struct srpol_sid_plan *sids = &engine->fabric->sids;

	if (segs->form != SRPOL_SID_USID)
		return !have->block_len;
	return have->block_len == sids->block_len &&
	       have->csid_len == sids->csid_len &&
	       !memcmp(&have->block, &sids->block, sizeof(have->block));
}

static bool same_list(const struct engine *engine, const struct path_info *have,
		      const struct srpol_sid_list *segs)
{
	return have->n_sids == segs->n &&
	       !memcmp(have->sids, segs->sid,
		       segs->n * sizeof(have->sids[0])) &&
	       same_structure(engine, have, segs);
}

static bool same_path(const struct engine *engine, const struct path_info *have,
		      const struct engine_path *want, uint32_t ifindex,
		      const struct srpol_nic *nic)
{
	return have->origin == SRPOL_ORIGIN_ENGINE &&
	       same_list(engine, have, &want->segs) &&
	       have->ifindex == ifindex && have->has_src &&
	       !memcmp(&have->src, &nic->addr, sizeof(have->src)) &&
	       have->has_via && !memcmp(&have->via, &nic->gateway,
					sizeof(have->via)) &&
	       !strcmp(have->name, want->name);
}

/*
 * Take over what an earlier engine has said: that it is down. (That it loses packets
 * of full size one answer to a short probe does not contradict: such a verdict
 * expires.) The path may be down for another reason, too.
 */
static void inherit(const struct path_info *have, struct engine_path *path)
{
	if (path->told_ns || have->owner != VERDICT_OWNER ||
	    have->verdict_reason != SRPOL_PATH_REASON_PROBES_LOST)
		return;
	path->told_ns = 1;
	path->inherited = true;
}

/* Existing paths keep their ids, and so their counters and flows. */
static void match_paths(struct plan *plan)
{
	struct engine *engine = plan->engine;
	const struct path_info *have = plan->paths.data;
	struct engine_path *want;
	struct uplink *up;
	size_t i;

	vec_for_each(want, &engine->paths) {
		up = want->segs.n ? uplink_of(want->nic) : NULL;
		want->id = 0;
		want->installed = false;
		for (i = 0; up && i < plan->paths.n; i++) {
			if (plan->kept[i] ||
			    !same_path(engine, &have[i], want, up->ifindex,
				       &engine->fabric->nics[want->nic]))
				continue;
			plan->kept[i] = true;
			want->id = have[i].id;
			want->installed = true;
			inherit(&have[i], want);
			break;
		}
	}
}

/* The next id from the engine's range that no object has. */
static uint32_t free_id(struct plan *plan, uint32_t *next)
{
	while (find_path(&plan->paths, *next))
		++*next;
	return (*next)++;
}

/*
 * Full SIDs may be in the block, too: without its length they are not taken for
 * containers.
 */
static void put_structure(const struct engine *engine,
			  const struct srpol_sid_list *segs,
			  struct srpol_msg *msg)
{
	const struct srpol_sid_plan *sids = &engine->fabric->sids;

	if (segs->form != SRPOL_SID_USID) {
		srpol_msg_put_u32(msg, SRPOL_A_PATH_BLOCK_LEN, 0);
		return;
	}
	srpol_msg_put_u32(msg, SRPOL_A_PATH_BLOCK_LEN, sids->block_len);
	srpol_msg_put(msg, SRPOL_A_PATH_BLOCK, sizeof(sids->block),
		      &sids->block);
	srpol_msg_put_u32(msg, SRPOL_A_PATH_CSID_LEN, sids->csid_len);
}

/* Several paths that turn at one switch have the same name. */
static bool is_only_one(const struct plan *plan, const struct engine_path *path)
{
	const struct engine_path *want;
	uint32_t n = 0;

	vec_for_each(want, &plan->engine->paths)
		n += want->segs.n && want->nic == path->nic &&
		     !strcmp(want->name, path->name);
	return n == 1;
}

/* A device that was made again has the same name, and another index. */
static bool is_over(const struct path_info *have, const struct uplink *up,
		    const struct srpol_nic *nic)
{
	return have->ifindex == up->ifindex || !strcmp(have->ifname, nic->name);
}

/*
 * The path that takes the same way by a segment list of another form, or a device that
 * was made again: that changes in place. So ids suffice, and counters go on. One that is
 * in a candidate of somebody else's stays as it is.
 */
static const struct path_info *to_renew(struct plan *plan,
					const struct engine_path *path,
					const struct uplink *up)
{
	const struct srpol_nic *nic = &plan->engine->fabric->nics[path->nic];
	const struct path_info *have = plan->paths.data;
	size_t i, n = 0, at = 0;

	for (i = 0; i < plan->paths.n; i++) {
		if (have[i].origin != SRPOL_ORIGIN_ENGINE ||
		    !is_over(&have[i], up, nic) || !have[i].has_via ||
		    memcmp(&have[i].via, &nic->gateway, sizeof(nic->gateway)) ||
		    strcmp(have[i].name, path->name))
			continue;
		n++;
		at = i;
	}
	if (n != 1 || plan->kept[at] || !is_only_one(plan, path) ||
	    policies_keep(&plan->policies, have[at].id))
		return NULL;
	plan->kept[at] = true;
	return &have[at];
}

static int put_path(struct plan *plan, const struct engine_path *path,
		    const struct uplink *up, uint16_t flags)
{
	const struct srpol_nic *nic = &plan->engine->fabric->nics[path->nic];
	struct srpol_msg msg;
	struct nlattr *nest;
	uint32_t i;

	start(plan, &msg, SRPOL_CMD_PATH_NEW, flags);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, path->id);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ORIGIN, SRPOL_ORIGIN_ENGINE);
	srpol_msg_put(&msg, SRPOL_A_PATH_NAME, strlen(path->name) + 1,
		      path->name);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_IFINDEX, up->ifindex);
	srpol_msg_put(&msg, SRPOL_A_PATH_VIA, sizeof(nic->gateway),
		      &nic->gateway);
	srpol_msg_put(&msg, SRPOL_A_PATH_SRC, sizeof(nic->addr), &nic->addr);
	for (i = 0; i < path->segs.n; i++) {
		nest = srpol_msg_nest(&msg, SRPOL_A_PATH_SIDS);
		srpol_msg_put(&msg, SRPOL_A_SID_ENTRY_SID,
			      sizeof(path->segs.sid[i]), &path->segs.sid[i]);
		srpol_msg_nest_end(&msg, nest);
	}
	put_structure(plan->engine, &path->segs, &msg);
	return add(plan, &msg);
}

/*
 * The next object that nobody wants any more: it is replaced where no id is left, instead
 * of being deleted by the transaction that would need its id.
 */
static const struct path_info *to_replace(struct plan *plan, size_t *next)
{
	const struct path_info *have = plan->paths.data;
	size_t i;

	while (*next < plan->paths.n) {
		i = (*next)++;
		if (have[i].origin != SRPOL_ORIGIN_ENGINE || plan->kept[i] ||
		    policies_keep(&plan->policies, have[i].id))
			continue;
		plan->kept[i] = true;
		return &have[i];
	}
	return NULL;
}

static int renew_paths(struct plan *plan)
{
	const struct path_info *have;
	struct engine_path *path;
	struct uplink *up;
	int ret = 0;

	vec_for_each(path, &plan->engine->paths) {
		up = path->segs.n ? uplink_of(path->nic) : NULL;
		have = ret || path->id || !up ? NULL : to_renew(plan, path, up);
		if (!have)
			continue;
		plan->made++;
		path->id = have->id;
		path->installed = same_list(plan->engine, have, &path->segs);
		if (path->installed)
			inherit(have, path);
		else
			/* what was said is about the former list */
			path->told_ns = 1;
		ret = put_path(plan, path, up, NLM_F_REPLACE);
	}
	return ret;
}

/* The others, once it is known which objects go on. */
static int make_paths(struct plan *plan)
{
	uint32_t next = plan->engine->config.first_path;
	const struct path_info *have;
	struct engine_path *path;
	struct uplink *up;
	size_t old = 0;
	int ret = 0;

	vec_for_each(path, &plan->engine->paths) {
		up = path->segs.n ? uplink_of(path->nic) : NULL;
		if (ret || path->id || !up)
			continue;
		plan->made++;
		/* what was said went with a former object, as did its counters */
		path->told_ns = path->told_ns != 0;
		path->closed_known = false;
		path->id = free_id(plan, &next);
		if (path->id < plan->config.limits.paths) {
			ret = put_path(plan, path, up, NLM_F_CREATE | NLM_F_EXCL);
			continue;
		}
		have = to_replace(plan, &old);
		if (!have)
			return path_ids_lack(plan->engine, plan->config.limits.paths,
					     plan->err);
		path->id = have->id;
		/* what was said of the former path */
		path->told_ns = 1;
		/* nothing else of it is to stay */
		ret = put_path(plan, path, up, NLM_F_CREATE | NLM_F_REPLACE);
	}
	return ret;
}

/*
 * Done after the policies: a path that a policy still refers to cannot be
 * deleted and stays.
 */
static int del_paths(struct plan *plan)
{
	const struct path_info *have = plan->paths.data;
	struct srpol_msg msg;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < plan->paths.n; i++) {
		if (have[i].origin != SRPOL_ORIGIN_ENGINE || plan->kept[i] ||
		    policies_keep(&plan->policies, have[i].id))
			continue;
		start(plan, &msg, SRPOL_CMD_PATH_DEL, 0);
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, have[i].id);
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_ORIGIN,
				  SRPOL_ORIGIN_ENGINE);
		plan->deleted++;
		ret = add(plan, &msg);
	}
	return ret;
}

static int fetch_all(struct plan *plan)
{
	struct srpol_genl *g = &plan->engine->genl;

	return srpol_fetch(g, SRPOL_CMD_PATH_GET, &plan->paths, plan->err) ?:
	       srpol_fetch(g, SRPOL_CMD_POLICY_GET, &plan->policies,
			   plan->err) ?:
	       srpol_fetch(g, SRPOL_CMD_ENDPOINT_GET, &plan->endpoints,
			   plan->err) ?:
	       srpol_fetch(g, SRPOL_CMD_SID_GET, &plan->sids.there, plan->err) ?:
	       srpol_fetch(g, SRPOL_CMD_RULE_GET, &plan->rules, plan->err) ?:
	       srpol_fetch_config(g, &plan->config, plan->err);
}

/*
 * In order of dependence: referenced objects are made first and deleted last.
 */
static int fill(struct plan *plan)
{
	plan->kept = calloc(plan->paths.n + 1, sizeof(*plan->kept));
	plan->sids.wanted = calloc(plan->sids.there.n + 1, sizeof(*plan->sids.wanted));
	if (!plan->kept || !plan->sids.wanted)
		return -ENOMEM;
	match_paths(plan);
	return renew_paths(plan) ?: make_paths(plan) ?:
	       policies_make(plan->engine, &plan->policies, &plan->batch,
			     &plan->made) ?:
	       endpoints_make(plan->engine, &plan->endpoints, &plan->batch,
			      &plan->made, &plan->deleted) ?:
	       sids_make(&plan->sids) ?:
	       rules_make(plan->engine, &plan->rules,
			  plan->config.limits.rules - 1, &plan->batch,
			  &plan->made) ?:
	       rules_delete(plan->engine, &plan->rules, &plan->batch,
			    &plan->deleted) ?:
	       policies_delete(plan->engine, &plan->policies, &plan->batch,
			       &plan->deleted) ?:
	       del_paths(plan) ?: sids_delete(&plan->sids);
}

static int once(struct engine *engine, struct srpol_error *err)
{
	struct plan plan = {
		.engine = engine,
		.paths = VEC_INIT(struct path_info),
		.policies = VEC_INIT(struct policy_info),
		.endpoints = VEC_INIT(struct endpoint_info),
		.sids = {
			.engine = engine, .batch = &plan.batch,
			.there = VEC_INIT(struct sid_info),
		},
		.rules = VEC_INIT(struct rule_info),
		.err = err,
	};
	struct engine_path *path;
	int ret;

	prober_follow();
	ret = fetch_all(&plan) ?: fill(&plan);
	if (!ret && plan.batch.n)
		ret = srpol_batch_send(&engine->genl, &plan.batch, err);
	vec_for_each(path, &engine->paths)
		path->installed |= !ret && path->id;
	if (!ret)
		log_info("%u objects made or changed, %u deleted, %zu paths to %zu endpoints",
			 plan.made + plan.sids.made, plan.deleted + plan.sids.deleted,
			 engine->paths.n,
			 engine->policies.n);
	srpol_batch_free(&plan.batch);
	free(plan.kept);
	free(plan.sids.wanted);
	vec_free(&plan.paths);
	vec_free(&plan.policies);
	vec_free(&plan.endpoints);
	vec_free(&plan.sids.there);
	vec_free(&plan.rules);
	return ret;
}

/*
 * Was the transaction refused because something changed after it was prepared:
 * a policy has another revision, a path got a user, an object came or went?
 */
static bool is_outdated(int ret)
{
	return ret == -ESTALE || ret == -EBUSY || ret == -ENOENT ||
	       ret == -EEXIST || ret == -EPERM;
}

/*
 * Somebody may have made another path with that id meanwhile, or the transaction for
 * this one was refused.
 */
static const struct path_info *find_installed(const struct engine *engine,
					      const struct vec *paths,
					      const struct engine_path *path)
{
	const struct path_info *have = find_path(paths, path->id);

	return have && have->origin == SRPOL_ORIGIN_ENGINE &&
	       same_list(engine, have, &path->segs) ? have : NULL;
}

/**
 * reconcile_states() - read from the module which paths can forward
 * @engine: the engine
 * @err: message on failure; what was read last holds then
 *
 * Verdicts that follow from that are told.
 */
int reconcile_states(struct engine *engine, struct srpol_error *err)
{
	struct vec paths = VEC_INIT(struct path_info);
	const struct path_info *have;
	struct engine_path *path;
	int ret;

	prober_follow();
	ret = srpol_fetch(&engine->genl, SRPOL_CMD_PATH_GET, &paths, err);
	if (ret) {
		vec_free(&paths);
		return ret;
	}
	vec_for_each(path, &engine->paths) {
		have = find_installed(engine, &paths, path);
		path->installed = have;
		/* not there any more, perhaps as the object was made again */
		if (path->told_ns && have && have->owner != VERDICT_OWNER)
			path->told_ns = 1;
		path->up = have && have->compiled && uplink_of(path->nic);
		path->stopped = have && have->state != SRPOL_PATH_STATE_UP;
		path->state = have ? have->state : SRPOL_PATH_STATE_UNRESOLVED;
		path->reason = have ? have->reason : SRPOL_PATH_REASON_NONE;
		if (!path->up)
			continue;
		memcpy(path->lladdr, have->out_lladdr, sizeof(path->lladdr));
		path->full = have->mtu + have->overhead;
		/* the peer counts its marks by what is in the SRH */
		if (path->has_srh != (have->overhead > IPV6_HLEN))
			path->path_ce_known = false;
		path->has_srh = have->overhead > IPV6_HLEN;
	}
	vec_free(&paths);
	engine->changes++;
	verdicts_tell(engine);
	return 0;
}

static bool done;

/**
 * reconcile_done() - whether the module is known to match the engine
 *
 * It was made to, and nothing has happened since that it may not match any more.
 */
bool reconcile_done(void)
{
	return done;
}

/**
 * reconcile_undone() - the module, or what the engine wants of it, may have changed
 */
void reconcile_undone(void)
{
	done = false;
}

/**
 * reconcile() - make the module's objects match the engine's
 * @engine: the engine
 * @err: message on failure; nothing has changed then
 *
 * What paths can do is read in any case; if that fails it is tried again.
 */
int reconcile(struct engine *engine, struct srpol_error *err)
{
	static bool told;
	struct srpol_error unread = {};
	int ret = -ESTALE, failed, i;

	for (i = 0; is_outdated(ret) && i < TRIES; i++)
		ret = once(engine, err);
	done = !ret;
	if (!ret) {
		/* of an earlier try */
		err->text[0] = '\0';
		uplinks_undo(engine);
	}
	failed = reconcile_states(engine, &unread);
	if (failed)
		watch_look_later();
	/* if all was refused, the caller tells that */
	if (failed && !ret && !told)
		log_error("states of paths: %s", unread.text[0] ? unread.text :
			  strerror(-failed));
	told = failed && (told || !ret);
	return ret;
}
