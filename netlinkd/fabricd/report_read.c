// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a host's report: what its devices, feed and operators say of links, what
 * explains the probes that it lost, and what its probes pass.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"
#include "hear.h"
#include "tenants.h"

/*
 * Suspected links of a report, each of which is held against all reports: the most
 * that srpold tells, FOLLOW_LINKS and 32 suspicions of JUDGE_CABLES links
 */
#define SUSPECTS_MAX	1472
#define LIST_MAX	1024	/* entries of each list of a report */
#define BUT_MAX		64
#define NUMBER_MAX	((INT64_C(1) << 53) - 1)

static uint32_t cable_between(const char *from, const char *to)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t a = srpol_fabric_node(f, from), link;
	uint32_t b = srpol_fabric_node(f, to);

	link = a == SRPOL_NONE || b == SRPOL_NONE ? SRPOL_NONE :
	       srpol_fabric_link(f, a, b);
	return link == SRPOL_NONE ? SRPOL_NONE : link / 2;
}

/* Names are of a host's choice, and the log may be shown in a terminal. */
static int no_link(const char *from, const char *to, struct srpol_error *err)
{
	if (job_has_control(from) || job_has_control(to))
		return srpol_error_set(err, -ENOENT, "no name of a link");
	return srpol_error_set(err, -ENOENT, "the topology has no link %.*s to %.*s",
			       SRPOL_NAME_LEN, from, SRPOL_NAME_LEN, to);
}

static bool is_own(const struct input *report, uint32_t cable)
{
	const struct srpol_link *link = &fabricd.fabric->links[2 * cable];

	return link->from == report->host || link->to == report->host;
}

/*
 * That a link of others is down is not more than a suspicion, of one who is sure,
 * whatever a host has it from.
 */
static int read_link(const json_t *o, struct input *report, struct srpol_error *err)
{
	struct input_suspicion *s;
	struct input_link *link;
	json_int_t capacity;
	const char *from, *to;
	uint32_t cable;

	if (json_unpack((json_t *)o, "{s:s, s:s, s:I !}", "from", &from, "to",
			&to, "capacity", &capacity) || capacity < 0 ||
	    capacity > NUMBER_MAX)
		return srpol_error_set(err, -EINVAL,
				       "a link has \"from\", \"to\" and \"capacity\"");
	cable = cable_between(from, to);
	if (cable == SRPOL_NONE)
		return no_link(from, to, err);
	if (!capacity && !is_own(report, cable)) {
		s = vec_add(&report->suspicions);
		*s = (struct input_suspicion){
			.confidence = 100, .n = 1, .cable[0] = cable,
		};
		return 0;
	}
	link = vec_add(&report->links);
	*link = (struct input_link){ .cable = cable, .capacity = capacity };
	return 0;
}

static int read_suspicion(const json_t *o, struct input *report, struct srpol_error *err)
{
	struct input_suspicion *s = vec_add(&report->suspicions);
	json_int_t confidence;
	const char *from, *to;
	json_t *links, *one;
	size_t i;

	*s = (struct input_suspicion){};
	if (json_unpack((json_t *)o, "{s:I, s:o !}", "confidence", &confidence,
			"links", &links) || confidence < 0 ||
	    confidence > 100 || !json_is_array(links) ||
	    !json_array_size(links) || json_array_size(links) > JUDGE_CABLES)
		return srpol_error_set(err, -EINVAL,
				       "a suspicion has \"confidence\", up to 100, and up to %u \"links\"",
				       JUDGE_CABLES);
	s->confidence = confidence;
	json_array_foreach(links, i, one) {
		if (json_unpack(one, "{s:s, s:s !}", "from", &from, "to", &to))
			return srpol_error_set(err, -EINVAL,
					       "a suspected link has \"from\" and \"to\"");
		s->cable[s->n] = cable_between(from, to);
		if (s->cable[s->n++] == SRPOL_NONE)
			return no_link(from, to, err);
	}
	return 0;
}

/* Is a node the host, or above it? A host can speak for such nodes only. */
static bool is_above(uint32_t node, uint32_t host)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t i;

	for (i = 0; i < f->nodes[node].down_n; i++)
		if (is_above(f->links[srpol_node_down(f, node, i)].to, host))
			return true;
	return node == host;
}

static bool is_in(const struct vec *numbers, uint32_t number)
{
	const uint32_t *n;

	vec_for_each(n, numbers)
		if (*n == number)
			return true;
	return false;
}

static int read_passes(const json_t *o, struct input *report, struct srpol_error *err)
{
	json_t *but = NULL, *one;
	const char *from;
	uint32_t node, cable;
	size_t i;

	if (json_unpack((json_t *)o, "{s:s, s?o !}", "from", &from, "but",
			&but) || (but && !json_is_array(but)) ||
	    json_array_size(but) > BUT_MAX)
		return srpol_error_set(err, -EINVAL,
				       "what passes has \"from\", and up to %u names in \"but\"",
				       BUT_MAX);
	node = srpol_fabric_node(fabricd.fabric, from);
	/* a search for each, so a node is there once */
	if (is_in(&report->passes, node))
		return srpol_error_set(err, -EINVAL, "\"passes\" has a node twice");
	if (node == SRPOL_NONE || !is_above(node, report->host))
		return srpol_error_set(err, -ENOENT,
				       "\"passes\" has a node that is not above the host");
	*(uint32_t *)vec_add(&report->passes) = node;
	json_array_foreach(but, i, one) {
		if (!json_is_string(one))
			return srpol_error_set(err, -EINVAL, "\"but\" has names");
		cable = cable_between(from, json_string_value(one));
		if (cable == SRPOL_NONE)
			return no_link(from, json_string_value(one), err);
		*(uint32_t *)vec_add(&report->but) = cable;
	}
	return 0;
}

static int read_list(const json_t *list, struct input *report,
		     int (*read)(const json_t *o, struct input *report,
				 struct srpol_error *err),
		     struct srpol_error *err)
{
	int ret = 0;
	size_t i;

	if (list && !json_is_array(list))
		return srpol_error_set(err, -EINVAL,
				       "\"links\", \"suspects\" and \"passes\" are lists");
	if (json_array_size(list) > LIST_MAX)
		return srpol_error_set(err, -E2BIG, "a list has more than %u entries",
				       LIST_MAX);
	for (i = 0; !ret && i < json_array_size(list); i++)
		ret = read(json_array_get(list, i), report, err);
	return ret;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort(struct vec *numbers)
{
	if (numbers->n)
		qsort(numbers->data, numbers->n, numbers->size, by_number);
}

/**
 * report_read() - read a report
 * @kv: its key and value
 * @report: result: host, number, links, suspicions, passes, but
 * @err: message on failure
 *
 * Return: 0, or a negative errno: then there is no result.
 */
int report_read(const struct store_kv *kv, struct input *report,
		struct srpol_error *err)
{
	json_t *o = json_loadb(kv->value, kv->len, JSON_REJECT_DUPLICATES,
			       NULL);
	json_t *links, *suspects = NULL, *passes = NULL;
	const struct input_suspicion *s;
	uint32_t n_suspects = 0;
	json_int_t n = 0;
	int ret;

	report->links = (struct vec)VEC_INIT(struct input_link);
	report->suspicions = (struct vec)VEC_INIT(struct input_suspicion);
	report->passes = (struct vec)VEC_INIT(uint32_t);
	report->but = (struct vec)VEC_INIT(uint32_t);
	report->host = hear_host(kv->key, NULL);
	if (report->host == SRPOL_NONE)
		ret = srpol_error_set(err, -EINVAL,
				      "the topology has no such host below that leaf");
	else if (json_unpack(o, "{s:I, s:o, s?o, s?o !}", "number", &n, "links",
			     &links, "suspects", &suspects, "passes", &passes) ||
		 n <= 0 || n > NUMBER_MAX)
		ret = srpol_error_set(err, -EINVAL,
				      "a report is JSON with \"number\", \"links\", perhaps \"suspects\" and \"passes\"");
	else
		ret = read_list(links, report, read_link, err) ?:
		      read_list(suspects, report, read_suspicion, err) ?:
		      read_list(passes, report, read_passes, err);
	vec_for_each(s, &report->suspicions)
		n_suspects += s->n;
	if (!ret && n_suspects > SUSPECTS_MAX)
		ret = srpol_error_set(err, -E2BIG, "more than %u suspected links",
				      SUSPECTS_MAX);
	report->number = n;
	sort(&report->passes);
	sort(&report->but);
	json_decref(o);
	if (ret)
		report_clear(report);
	return ret;
}

/**
 * report_clear() - free what was read
 * @report: the report
 */
void report_clear(struct input *report)
{
	vec_free(&report->links);
	vec_free(&report->suspicions);
	vec_free(&report->passes);
	vec_free(&report->but);
}
