// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's rules: they give a color to RoCEv2, to messages between engines,
 * and to the traffic of jobs. If another program's rule has a priority, this is
 * logged, and that rule stays.
 */
#include <string.h>

#include "srpold.h"

#define ROCE_PORT	4791

static void add_udp(struct engine *engine, uint32_t priority, const char *name,
		    uint16_t port)
{
	struct rule_info *rule = vec_add(&engine->rules);

	rule->priority = priority;
	strcpy(rule->name, name);
	rule->color = engine->config.color;
	rule->match = SRPOL_MATCH_PROTO | SRPOL_MATCH_DPORT;
	rule->proto = IPPROTO_UDP;
	rule->dport[0] = port;
	rule->dport[1] = port;
}

/**
 * rules_own() - rules for RoCEv2 and for messages between engines, unless the
 * configuration turns them off
 * @engine: the engine
 */
void rules_own(struct engine *engine)
{
	const struct config *c = &engine->config;

	if (!c->rule_prio)
		return;
	add_udp(engine, c->rule_prio, "roce", ROCE_PORT);
	if (c->glb_port)
		add_udp(engine, c->rule_prio + 1, "glb", c->glb_port);
}

static bool same(const struct rule_info *a, const struct rule_info *b)
{
	return !strcmp(a->name, b->name) && a->action == b->action &&
	       a->color == b->color && a->match == b->match &&
	       a->ifindex == b->ifindex && a->proto == b->proto &&
	       a->cgroup == b->cgroup && a->src_len == b->src_len &&
	       !memcmp(&a->src, &b->src, sizeof(a->src)) &&
	       a->dst_len == b->dst_len && a->path == b->path &&
	       !memcmp(&a->dst, &b->dst, sizeof(a->dst)) &&
	       !memcmp(a->dport, b->dport, sizeof(a->dport)) &&
	       !memcmp(a->qp, b->qp, sizeof(a->qp));
}

static int put(struct engine *engine, const struct rule_info *rule,
	       struct srpol_batch *batch)
{
	struct srpol_msg msg;

	srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_RULE_NEW,
			NLM_F_CREATE | NLM_F_REPLACE);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_PRIORITY, rule->priority);
	srpol_msg_put(&msg, SRPOL_A_RULE_NAME, strlen(rule->name) + 1,
		      rule->name);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_ORIGIN, SRPOL_ORIGIN_ENGINE);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_ACTION,
			  SRPOL_RULE_ACTION_STEER);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_COLOR, rule->color);
	if (rule->match & SRPOL_MATCH_DEV)
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_IFINDEX, rule->ifindex);
	if (rule->match & SRPOL_MATCH_SRC) {
		srpol_msg_put(&msg, SRPOL_A_RULE_SRC, sizeof(rule->src),
			      &rule->src);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_SRC_LEN, rule->src_len);
	}
	if (rule->match & SRPOL_MATCH_DST) {
		srpol_msg_put(&msg, SRPOL_A_RULE_DST, sizeof(rule->dst),
			      &rule->dst);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_DST_LEN, rule->dst_len);
	}
	if (rule->match & SRPOL_MATCH_PROTO)
		srpol_msg_put_u8(&msg, SRPOL_A_RULE_PROTO, rule->proto);
	if (rule->match & SRPOL_MATCH_DPORT) {
		srpol_msg_put_u16(&msg, SRPOL_A_RULE_DPORT_MIN,
				  rule->dport[0]);
		srpol_msg_put_u16(&msg, SRPOL_A_RULE_DPORT_MAX,
				  rule->dport[1]);
	}
	if (rule->match & SRPOL_MATCH_QP) {
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_QP_MIN, rule->qp[0]);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_QP_MAX, rule->qp[1]);
	}
	if (rule->match & SRPOL_MATCH_CGROUP)
		srpol_msg_put_u64(&msg, SRPOL_A_RULE_CGROUP, rule->cgroup);
	if (rule->path)
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_PATH, rule->path);
	return srpol_batch_add(batch, msg.nlh);
}

static const struct rule_info *at(const struct vec *rules, uint32_t priority)
{
	const struct rule_info *rule;

	vec_for_each(rule, rules)
		if (rule->priority == priority)
			return rule;
	return NULL;
}

/**
 * struct making - rules being added to a transaction
 * @engine: the engine
 * @there: rules of the module
 * @batch: transaction
 * @room: number of further rules that fit into the module
 * @left: number of rules that did not fit
 * @foreign: number of rules at whose priority somebody else has one, which was not
 *	told yet
 * @first: priority of the first of these
 * @made: incremented for each rule that was missing or different
 */
struct making {
	struct engine *engine;
	const struct vec *there;
	struct srpol_batch *batch;
	uint32_t room;
	uint32_t left;
	uint32_t foreign;
	uint32_t first;
	unsigned int *made;
};

/* Rules that the last rules_make() left out for lack of room */
static uint32_t left_out;

/*
 * Priorities at which somebody else has a rule, as was told. Rules of jobs come and go
 * with their QPs, while those of others stay.
 */
static struct vec told = VEC_INIT(uint32_t);

/**
 * rules_forget() - tell of each rule of somebody else's that is in the way once more
 */
void rules_forget(void)
{
	told.n = 0;
}

static bool was_told(uint32_t priority)
{
	const uint32_t *p;

	vec_for_each(p, &told)
		if (*p == priority)
			return true;
	return false;
}

/* Those that have gone are news if they come again. */
static void forget_gone(const struct vec *there)
{
	uint32_t *p = told.data;
	const struct rule_info *have;
	size_t i;

	for (i = 0; i < told.n;) {
		have = at(there, p[i]);
		if (have && have->origin != SRPOL_ORIGIN_ENGINE)
			i++;
		else
			p[i] = p[--told.n];
	}
}

static int make_one(struct making *making, const struct rule_info *want)
{
	const struct rule_info *have = at(making->there, want->priority);

	if (have && have->origin != SRPOL_ORIGIN_ENGINE) {
		if (was_told(want->priority))
			return 0;
		*(uint32_t *)vec_add(&told) = want->priority;
		if (!making->foreign++)
			making->first = want->priority;
		return 0;
	}
	if (have && same(have, want))
		return 0;
	if (!have && !making->room) {
		making->left++;
		return 0;
	}
	making->room -= !have;
	++*making->made;
	return put(making->engine, want, making->batch);
}

/**
 * rules_make() - make rules that are missing or different
 * @engine: the engine
 * @there: rules of the module
 * @max: number of rules that the module has room for
 * @batch: transaction
 * @made: incremented for each
 *
 * Rules that do not fit are left out, since otherwise the whole transaction
 * would fail. Rules for placed QPs are made last: without them the traffic is
 * hashed.
 */
int rules_make(struct engine *engine, const struct vec *there, uint32_t max,
	       struct srpol_batch *batch, unsigned int *made)
{
	struct making making = {
		.engine = engine, .there = there, .batch = batch,
		.room = there->n < max ? max - there->n : 0, .made = made,
	};
	const struct rule_info *want;
	int ret = 0;

	forget_gone(there);
	vec_for_each(want, &engine->rules)
		if (!ret && !want->path)
			ret = make_one(&making, want);
	vec_for_each(want, &engine->rules)
		if (!ret && want->path)
			ret = make_one(&making, want);
	if (making.left && !left_out)
		log_notice("%u rules are not made, there is room for %u of everybody's",
			   making.left, max);
	left_out = making.left;
	/* once: every change of anybody's makes the engine look */
	if (making.foreign)
		log_notice("rules that are not made, as somebody else has one of the same priority: %u, the first at %u",
			   making.foreign, making.first);
	return ret;
}

/**
 * rules_missing() - how many rules of a color the module does not have
 * @engine: the engine
 * @there: rules of the module
 * @color: the color
 *
 * There was no room for them, or somebody else has a rule of their priority.
 */
uint32_t rules_missing(const struct engine *engine, const struct vec *there, uint32_t color)
{
	const struct rule_info *want, *have;
	uint32_t n = 0;

	vec_for_each(want, &engine->rules) {
		if (want->color != color)
			continue;
		have = at(there, want->priority);
		n += !have || have->origin != SRPOL_ORIGIN_ENGINE;
	}
	return n;
}

/**
 * rules_are_left_out() - whether rules are missing for lack of room
 */
bool rules_are_left_out(void)
{
	return left_out;
}

/**
 * rules_delete() - delete rules that are no longer wanted
 * @engine: the engine
 * @there: rules of the module
 * @batch: transaction
 * @deleted: incremented for each
 */
int rules_delete(struct engine *engine, const struct vec *there,
		 struct srpol_batch *batch, unsigned int *deleted)
{
	const struct rule_info *have;
	struct srpol_msg msg;
	int ret = 0;

	vec_for_each(have, there) {
		if (ret || have->origin != SRPOL_ORIGIN_ENGINE ||
		    at(&engine->rules, have->priority))
			continue;
		srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_RULE_DEL, 0);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_PRIORITY,
				  have->priority);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_ORIGIN,
				  SRPOL_ORIGIN_ENGINE);
		++*deleted;
		ret = srpol_batch_add(batch, msg.nlh);
	}
	return ret;
}
