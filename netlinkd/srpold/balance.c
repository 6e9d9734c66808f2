// SPDX-License-Identifier: GPL-2.0
/*
 * Once per interval: read what probes tell about the links, and decide whether
 * weights have to follow. Weights change once per interval at most, except for
 * links that a plan reports again (plan_links.c); each change is one
 * transaction. Intervals differ from host to host and from time to time, so
 * that hosts that see the same link do not move together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "srpold.h"
#include "weights.h"

static struct engine *engine;
static struct source timer = { .fd = -1 };
static uint64_t seed;
static uint64_t applied_ns;
static uint64_t demanded_ns;	/* when demands were last followed at once */
static bool behind;		/* the module does not know yet what is new */

/**
 * balance_demands() - demands that have begun, or begin before the next look
 * @e: the engine
 * @known: result; its list is to be freed
 */
int balance_demands(const struct engine *e, struct weights_demands *known)
{
	uint64_t now = now_ns();

	demands_expire(&demands, now);
	known->demand = calloc(demands.all.n + 1, sizeof(*known->demand));
	if (!known->demand)
		return -ENOMEM;
	known->n = demands_due(&demands,
			       now + 2 * e->config.weights.interval_ns,
			       known->demand);
	return 0;
}

/**
 * balance_weigh() - compute weights of all policies for the current links
 * @e: the engine
 * @changed: result: whether any weight changed; may be NULL
 * @err: message on failure
 */
int balance_weigh(struct engine *e, bool *changed, struct srpol_error *err)
{
	struct vec pairs = VEC_INIT(struct weights_pair);
	struct weights_demands known = {};
	struct weights_input input = {
		.fabric = e->fabric, .links = e->links.links, .known = &known,
		.memory = &e->placed,
	};
	struct engine_policy *policy;
	struct weights_pair *pair;
	bool differs = false;
	int ret;

	ret = balance_demands(e, &known);

	vec_for_each(policy, &e->policies) {
		pair = vec_add(&pairs);
		*pair = (struct weights_pair){
			.src = policy->src, .dst = policy->dst,
			.alg = policy->alg, .color = policy->color,
			.slice = policy->slice, .n = policy->n,
			.weight = calloc(policy->n + 1, sizeof(uint32_t)),
		};
		ret = pair->weight ? ret : -ENOMEM;
	}
	ret = ret ?: weights_run(&input, pairs.data, pairs.n, err);
	pair = pairs.data;
	vec_for_each(policy, &e->policies) {
		if (!ret) {
			differs |= memcmp(policy->weight, pair->weight,
					  policy->n * sizeof(uint32_t)) != 0;
			memcpy(policy->weight, pair->weight,
			       policy->n * sizeof(uint32_t));
		}
		free(pair++->weight);
	}
	vec_free(&pairs);
	free(known.demand);
	e->changes += differs;
	if (changed)
		*changed = differs;
	return ret;
}

static void apply_now(void *data);
static struct alarm later = ALARM_INIT(apply_now, NULL);

static void apply(uint64_t now)
{
	struct srpol_error err = {};
	bool changed = false;
	int ret;

	/* this is what that was set for */
	alarm_stop(&later);
	ret = balance_weigh(engine, &changed, &err);
	changed |= plan_weigh();
	if (ret) {
		log_error("weights: %s", err.text[0] ? err.text : strerror(-ret));
		watch_look_later();
	} else if (changed || behind) {
		applied_ns = now;
		behind = reconcile(engine, &err);
		/* it tells of a refusal, once */
		if (behind)
			watch_look(true);
	}
}

static void apply_now(void *data)
{
	apply(now_ns());
}

/* Apply now, or once the interval since the last change is over. */
static void apply_soon(uint64_t now)
{
	uint64_t next = applied_ns + engine->config.weights.interval_ns;

	if (now >= next)
		apply(now);
	else if (alarm_set(&later, next - now))
		log_error("no timer for the weights; they follow at the next look");
}

/* Close the present window of a path's probe, and return what it tells. */
static struct quality_words close_window(struct engine_path *path)
{
	const struct probe_stats *s = &path->stats;
	uint64_t gone = s->lost - s->late, lost = 0;
	uint32_t sent = s->sent - path->closed_sent;

	/* probes that came late were counted as lost in an earlier interval */
	if (gone > path->closed_lost) {
		lost = gone - path->closed_lost;
		path->closed_lost = gone;
	}
	path->closed_sent = s->sent;
	/* a path that is down is not rated: other code takes care of it */
	if (!path->up || !liveness_usable(&path->live)) {
		path->window = (struct quality_window){};
		return (struct quality_words){};
	}
	return quality_close(&path->window, sent, lost,
			     &engine->config.weights.quality);
}

static void tell_changes(const uint8_t *before)
{
	const struct linkstate *ls = &engine->links;
	char name[LINK_NAME_LEN];
	const struct quality *q;
	uint32_t i;

	for (i = 0; i < ls->n; i++) {
		q = &ls->cables[i].quality;
		if (q->level == before[i])
			continue;
		link_name(engine->fabric, i, name, sizeof(name));
		log_notice("link %s: %s, used at %u %%", name,
			   quality_name(q->word), quality_percent(q));
	}
}

static void look_at_links(void)
{
	struct vec ways = VEC_INIT(struct locate_probe);
	struct vec words = VEC_INIT(struct quality_words);
	struct linkstate *ls = &engine->links;
	uint8_t *before = calloc(ls->n + 1, 1);
	struct engine_path *path;
	uint32_t i;

	marks_read(engine);
	wiring_look(engine);
	for (i = 0; before && i < ls->n; i++)
		before[i] = ls->cables[i].quality.level;
	vec_for_each(path, &engine->paths) {
		if (path != engine_path(engine, path->leader))
			continue;
		*(struct locate_probe *)vec_add(&ways) = path->links;
		*(struct quality_words *)vec_add(&words) = close_window(path);
	}
	linkstate_judge(ls, ways.data, words.data, ways.n,
			&engine->config.weights.quality);
	if (before)
		tell_changes(before);
	glb_look();
	vec_free(&ways);
	vec_free(&words);
	free(before);
}

/*
 * Follow QPs and control groups of jobs that come or go or have to take other
 * paths.
 */
static void look_at_jobs(void)
{
	struct vec before = engine->rules;

	if (!jobs.n)
		return;
	engine->rules = (struct vec)VEC_INIT(struct rule_info);
	job_qps_read();
	job_place_look(engine);
	job_rules(engine);
	behind |= rules_are_left_out() || before.n != engine->rules.n ||
		  memcmp(before.data, engine->rules.data,
			 before.n * before.size);
	vec_free(&before);
}

static void arm(void);

static void look(struct source *source, uint32_t events)
{
	loop_remove(source);
	close(source->fd);
	source->fd = -1;
	speeds_look();
	look_at_links();
	look_at_jobs();
	apply_soon(now_ns());
	arm();
}

static void arm(void)
{
	uint64_t ns = quality_jitter(engine->config.weights.interval_ns,
				     &seed);

	timer.ready = look;
	if (timer_open(&timer, ns, 0)) {
		log_error("no timer for the weights; they stay as they are");
		timer.fd = -1;
	}
}

/**
 * balance_soon() - links changed: update weights soon
 *
 * Weights are updated at once, or at the end of the interval if they have just
 * changed.
 */
void balance_soon(void)
{
	apply_soon(now_ns());
}

/**
 * balance_demanded() - demands changed: update weights soon
 *
 * Unlike balance_soon(), this happens once in an interval at most, whether
 * weights change or not: any user may announce demands, at any rate.
 */
void balance_demanded(void)
{
	uint64_t now = now_ns();

	if (now - demanded_ns < engine->config.weights.interval_ns)
		return;
	demanded_ns = now;
	balance_soon();
}

/**
 * balance_apply() - make the module match new weights
 */
void balance_apply(void)
{
	behind = true;
	apply(now_ns());
}

/**
 * balance_start() - start checking the links
 * @e: the engine
 * @err: message on failure
 */
int balance_start(struct engine *e, struct srpol_error *err)
{
	engine = e;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = now_ns();
	applied_ns = 0;
	arm();
	return timer.fd < 0 ? srpol_error_set(err, -ENOMEM, "no timer") : 0;
}

/**
 * balance_stop() - stop checking; weights stay as they are
 */
void balance_stop(void)
{
	alarm_stop(&later);
	if (timer.fd < 0)
		return;
	loop_remove(&timer);
	close(timer.fd);
	timer.fd = -1;
}
