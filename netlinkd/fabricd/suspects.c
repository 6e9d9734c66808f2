// SPDX-License-Identifier: GPL-2.0
/*
 * Links that hosts suspect, held against what others' probes pass, see judge.h.
 *
 * A host tells at once which links its probes no longer pass. That others' probes
 * pass a link counts against a tie only WAIT_NS later, as they may not have
 * noticed yet that their probes are lost, too.
 */
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"

#define WAIT_NS		(1 * NS_PER_SEC)
#define NAMES_MAX	10	/* hosts named; others are counted */

/**
 * struct told - what was last logged of a link
 * @cable: its number
 * @down: the plan does without it
 */
struct told {
	uint32_t cable;
	bool down;
};

static void ring(void *data);

static struct alarm alarm = ALARM_INIT(ring, NULL);
static struct vec told = VEC_INIT(struct told);

static void ring(void *data)
{
	plan_soon();
}

/**
 * suspects_stop() - wait for nothing any more
 */
void suspects_stop(void)
{
	alarm_stop(&alarm);
	vec_free(&told);
	told = (struct vec)VEC_INIT(struct told);
}

/**
 * suspects_by() - whether a host suspects a cable
 * @report: the host's report
 * @cable: number of the cable
 */
bool suspects_by(const struct input *report, uint32_t cable)
{
	const struct input_suspicion *s;
	uint32_t i;

	vec_for_each(s, &report->suspicions)
		for (i = 0; i < s->n; i++)
			if (s->cable[i] == cable)
				return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static bool has(const struct vec *numbers, uint32_t number)
{
	return numbers->n && bsearch(&number, numbers->data, numbers->n,
				     numbers->size, by_number);
}

/* Do probes of a host pass a cable? Not if it suspects the cable as well. */
static bool is_passed_by(const struct input *report, uint32_t cable)
{
	const struct srpol_link *link = &fabricd.fabric->links[2 * cable];
	const struct srpol_node *nodes = fabricd.fabric->nodes;
	uint32_t lower = nodes[link->from].tier < nodes[link->to].tier ?
			 link->from : link->to;

	return has(&report->passes, lower) && !has(&report->but, cable) &&
	       !suspects_by(report, cable);
}

static uint32_t passing(uint32_t cable)
{
	const struct input *report;
	uint32_t n = 0;

	vec_for_each(report, &fabricd.reports)
		n += is_passed_by(report, cable);
	return n;
}

/**
 * suspects_get() - all suspected links, and which of them the plan does without
 * @links: result: struct judge_link, to be freed
 */
void suspects_get(struct vec *links)
{
	struct vec list = VEC_INIT(struct judge_suspicion);
	const struct input_suspicion *said;
	const struct input *report;
	struct judge_suspicion *s;
	uint64_t now = now_ns();

	*links = (struct vec)VEC_INIT(struct judge_link);
	vec_for_each(report, &fabricd.reports) {
		vec_for_each(said, &report->suspicions) {
			s = vec_add(&list);
			*s = (struct judge_suspicion){
				.host = report->host, .n = said->n,
				.confidence = said->confidence,
				.fresh = now - said->since_ns < WAIT_NS,
			};
			memcpy(s->cable, said->cable, sizeof(s->cable));
		}
	}
	judge(list.data, list.n, passing, links);
	vec_free(&list);
}

/**
 * suspects_apply() - take out the suspected links that the plan does without
 * @links: links as hosts report them
 */
void suspects_apply(struct srpol_links *links)
{
	const struct judge_link *l;
	struct vec judged;

	suspects_get(&judged);
	vec_for_each(l, &judged) {
		if (!l->down)
			continue;
		srpol_links_set_capacity(links, 2 * l->cable, 0);
		srpol_links_set_capacity(links, 2 * l->cable + 1, 0);
	}
	vec_free(&judged);
}

static const struct told *find_told(uint32_t cable)
{
	const struct told *t;

	vec_for_each(t, &told)
		if (t->cable == cable)
			return t;
	return NULL;
}

static void log_link(const struct judge_link *l)
{
	const struct srpol_link *link = &fabricd.fabric->links[2 * l->cable];
	const struct told *before = find_told(l->cable);

	if (before && before->down == l->down)
		return;
	log_notice("link %s-%s, which %u hosts suspect and probes of %u pass, %s: %s",
		   node_name(link->from), node_name(link->to), l->hosts,
		   l->passing, l->down ? "is taken for down" : "stays",
		   judge_word(l->reason));
}

/* Plan again when the next of the suspicions is no longer fresh. */
static void wait_for_fresh(void)
{
	const struct input_suspicion *said;
	uint64_t now = now_ns(), first = 0;
	const struct input *report;

	vec_for_each(report, &fabricd.reports)
		vec_for_each(said, &report->suspicions)
			if (now - said->since_ns < WAIT_NS &&
			    (!first || said->since_ns < first))
				first = said->since_ns;
	if (!first)
		return;
	alarm_stop(&alarm);
	alarm_set(&alarm, first + WAIT_NS - now);
}

/**
 * suspects_log() - a plan was made: log what is new about suspected links
 *
 * Those that it could not decide about yet are looked at again in time.
 */
void suspects_log(void)
{
	struct vec links, now = VEC_INIT(struct told);
	const struct judge_link *l;

	suspects_get(&links);
	vec_for_each(l, &links) {
		log_link(l);
		*(struct told *)vec_add(&now) = (struct told){
			.cable = l->cable, .down = l->down,
		};
	}
	vec_free(&links);
	vec_free(&told);
	told = now;
	wait_for_fresh();
}

/* Names of some of the hosts of which something about a cable is true. */
static json_t *hosts_json(uint32_t cable, bool (*is)(const struct input *report,
						     uint32_t cable))
{
	const struct input *report;
	json_t *list = json_array();

	vec_for_each(report, &fabricd.reports)
		if (json_array_size(list) < NAMES_MAX && is(report, cable))
			json_array_append_new(list, json_string(
				node_name(report->host)));
	return list;
}

/**
 * suspects_json() - all suspected links, what was decided of them, and why
 */
json_t *suspects_json(void)
{
	const struct srpol_link *link;
	const struct judge_link *l;
	json_t *list = json_array(), *o;
	struct vec links;

	suspects_get(&links);
	vec_for_each(l, &links) {
		link = &fabricd.fabric->links[2 * l->cable];
		o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}",
			      "from", node_name(link->from),
			      "to", node_name(link->to),
			      "state", l->down ? "down" : "kept",
			      "reason", judge_word(l->reason),
			      "suspected", (json_int_t)l->hosts,
			      "passed", (json_int_t)l->passing);
		json_object_set_new(o, "suspected_by",
				    hosts_json(l->cable, suspects_by));
		json_object_set_new(o, "passed_by",
				    hosts_json(l->cable, is_passed_by));
		json_array_append_new(list, o);
	}
	vec_free(&links);
	return list;
}
