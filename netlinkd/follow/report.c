// SPDX-License-Identifier: GPL-2.0
/*
 * What a host reports of links. A link that got worse is reported at once, one that
 * got better only after it has stayed better for damp_ns.
 *
 * Links that carry less than they should are told as they are. Links that explain
 * lost probes are told with the others that explain the same probes, since
 * probes of other hosts may tell which of them it is. For this a host also tells
 * which links its own probes pass: of those that lead up from itself or from a
 * switch above it. Each link is near some hosts, and links are listed by exception
 * only, so that this is short in large fabrics, too.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define SUSPICIONS_MAX	32
#define BUT_MAX		64	/* exceptions of a node whose links pass */

static const char *node_name(const struct follow *f, uint32_t node)
{
	return f->fabric->nodes[node].name;
}

static json_t *cable_json(const struct follow *f, uint32_t cable)
{
	const struct srpol_link *link = &f->fabric->links[2 * cable];

	return json_pack("{s:s, s:s}", "from", node_name(f, link->from),
			 "to", node_name(f, link->to));
}

static bool is_own(const struct follow *f, uint32_t cable)
{
	const struct srpol_link *link = &f->fabric->links[2 * cable];

	return link->from == f->host || link->to == f->host;
}

/*
 * Some of the links, FOLLOW_LINKS at most: the host's own come first, as others may
 * report the rest. An engine would refuse a longer report as a whole. To be freed.
 */
static struct follow_link *choose(const struct follow *f,
				  const struct follow_link *links, size_t *n)
{
	size_t max = *n < FOLLOW_LINKS ? *n : FOLLOW_LINKS, i;
	struct follow_link *to = store_alloc((max + 1) * sizeof(*to));
	size_t own, chosen = 0;

	for (own = 0; own < 2; own++)
		for (i = 0; i < *n && chosen < max; i++)
			if (is_own(f, links[i].cable) == !own)
				to[chosen++] = links[i];
	*n = chosen;
	return to;
}

static json_t *links_json(const struct follow *f)
{
	size_t n = f->links.n, i;
	struct follow_link *said = choose(f, f->links.data, &n);
	json_t *list = json_array(), *o;

	for (i = 0; i < n; i++) {
		o = cable_json(f, said[i].cable);
		json_object_set_new(o, "capacity",
				    json_integer((json_int_t)said[i].capacity));
		json_array_append_new(list, o);
	}
	free(said);
	return list;
}

static json_t *suspects_json(const struct follow *f)
{
	json_t *list = json_array(), *links;
	const struct follow_suspicion *s;
	uint32_t i;

	vec_for_each(s, &f->suspicions) {
		links = json_array();
		for (i = 0; i < s->n; i++)
			json_array_append_new(links, cable_json(f, s->cable[i]));
		json_array_append_new(list, json_pack("{s:I, s:o}",
			"confidence", (json_int_t)s->confidence,
			"links", links));
	}
	return list;
}

static const char *upper_end(const struct follow *f,
			     const struct follow_near *near)
{
	const struct srpol_link *link = &f->fabric->links[2 * near->cable];

	return node_name(f, link->from == near->node ? link->to : link->from);
}

/* @n links up from one node; NULL if few of them pass. */
static json_t *node_json(const struct follow *f, const struct follow_near *near,
			 size_t n)
{
	json_t *but = json_array(), *o;
	size_t i, pass = 0;

	for (i = 0; i < n; i++) {
		pass += near[i].told;
		if (!near[i].told && json_array_size(but) <= BUT_MAX)
			json_array_append_new(but, json_string(
				upper_end(f, &near[i])));
	}
	if (!pass || json_array_size(but) > BUT_MAX) {
		json_decref(but);
		return NULL;
	}
	o = json_pack("{s:s}", "from", node_name(f, near->node));
	if (json_array_size(but))
		json_object_set(o, "but", but);
	json_decref(but);
	return o;
}

static json_t *passes_json(const struct follow *f)
{
	const struct follow_near *near = f->near.data;
	json_t *list = json_array(), *o;
	size_t i, n;

	for (i = 0; i < f->near.n; i += n) {
		for (n = 1; i + n < f->near.n &&
			    near[i + n].node == near[i].node; n++)
			;
		o = node_json(f, &near[i], n);
		if (o)
			json_array_append_new(list, o);
	}
	return list;
}

/* Members that an engine may not know are left out when they are empty. */
static void set_list(json_t *o, const char *name, json_t *list)
{
	if (json_array_size(list))
		json_object_set(o, name, list);
	json_decref(list);
}

/**
 * report_text() - the report as it is written to the store
 * @f: follower
 *
 * Return: to be freed.
 */
char *report_text(const struct follow *f)
{
	json_t *o = json_pack("{s:I, s:o}", "number", (json_int_t)f->number,
			      "links", links_json(f));
	char *text;

	set_list(o, "suspects", suspects_json(f));
	set_list(o, "passes", passes_json(f));
	text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	return text ?: (abort(), NULL);
}

static void find_near(struct follow *f)
{
	bool *met = store_alloc(f->fabric->n_nodes * sizeof(*met));
	struct vec nodes = VEC_INIT(uint32_t);
	uint32_t link, node, upper, i;
	size_t at;

	*(uint32_t *)vec_add(&nodes) = f->host;
	for (at = 0; at < nodes.n; at++) {
		node = ((uint32_t *)nodes.data)[at];
		for (i = 0; i < f->fabric->nodes[node].up_n; i++) {
			link = srpol_node_up(f->fabric, node, i);
			upper = f->fabric->links[link].to;
			*(struct follow_near *)vec_add(&f->near) =
				(struct follow_near){
					.node = node, .cable = link / 2,
				};
			if (!met[upper])
				*(uint32_t *)vec_add(&nodes) = upper;
			met[upper] = true;
		}
	}
	vec_free(&nodes);
	free(met);
}

/**
 * report_init() - nothing is known yet
 * @f: follower
 */
void report_init(struct follow *f)
{
	f->links = (struct vec)VEC_INIT(struct follow_link);
	f->suspicions = (struct vec)VEC_INIT(struct follow_suspicion);
	f->near = (struct vec)VEC_INIT(struct follow_near);
	find_near(f);
}

/**
 * report_free() - free what was reported
 * @f: follower
 */
void report_free(struct follow *f)
{
	vec_free(&f->links);
	vec_free(&f->suspicions);
	vec_free(&f->near);
}

static const struct follow_link *find(const struct follow_link *links, size_t n,
				      uint32_t cable)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (links[i].cable == cable)
			return &links[i];
	return NULL;
}

/* Has what is better than last reported stayed so for damp_ns? */
static bool is_settled(struct follow *f, uint64_t *better_ns)
{
	uint64_t now = now_ns();

	if (!*better_ns)
		*better_ns = now;
	return now - *better_ns >= f->config.damp_ns;
}

static bool update_links(struct follow *f, const struct follow_link *links,
			 size_t n)
{
	struct follow_link *r = f->links.data;
	const struct follow_link *is;
	bool changed = false;
	uint64_t capacity;
	size_t i;

	for (i = 0; i < f->links.n;) {
		is = find(links, n, r[i].cable);
		capacity = is ? is->capacity : UINT64_MAX;
		if (capacity == r[i].capacity) {
			r[i].better_ns = 0;
		} else if (capacity < r[i].capacity ||
			   is_settled(f, &r[i].better_ns)) {
			changed = true;
			r[i].better_ns = 0;
			if (is)
				r[i].capacity = capacity;
			else
				r[i--] = r[--f->links.n];
		}
		i++;
	}
	return changed;
}

static bool take_links(struct follow *f, const struct follow_link *all,
		       size_t n)
{
	struct follow_link *links = choose(f, all, &n);
	bool changed = update_links(f, links, n);
	struct follow_link *new;
	size_t i;

	for (i = 0; i < n; i++) {
		if (find(f->links.data, f->links.n, links[i].cable))
			continue;
		new = vec_add(&f->links);
		*new = links[i];
		new->better_ns = 0;
		changed = true;
	}
	free(links);
	return changed;
}

static bool is_sure(const struct follow_suspicion *s)
{
	return s->confidence >= FOLLOW_SURE;
}

/* Confidence grows while probes get lost; only whether it suffices is news. */
static bool is_same(const struct follow_suspicion *a,
		    const struct follow_suspicion *b)
{
	return is_sure(a) == is_sure(b) && a->n == b->n &&
	       !memcmp(a->cable, b->cable, a->n * sizeof(a->cable[0]));
}

static bool is_among(const struct follow_suspicion *s,
		     const struct follow_suspicion *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_same(s, &list[i]))
			return true;
	return false;
}

/*
 * Do suspicions in a list have a cable of this one? Then more is known of it now;
 * but to be less sure is better news, which has to last.
 */
static bool is_replaced(const struct follow_suspicion *s,
			const struct follow_suspicion *list, size_t n)
{
	uint32_t a, b;
	size_t i;

	for (i = 0; i < n; i++)
		for (a = 0; a < list[i].n &&
			    (is_sure(&list[i]) || !is_sure(s)); a++)
			for (b = 0; b < s->n; b++)
				if (list[i].cable[a] == s->cable[b])
					return true;
	return false;
}

static bool take_suspicions(struct follow *f, const struct follow_suspicion *list,
			    size_t n)
{
	struct follow_suspicion *r = f->suspicions.data, *new;
	bool changed = false;
	size_t i;

	for (i = 0; i < f->suspicions.n;) {
		if (is_among(&r[i], list, n)) {
			r[i++].better_ns = 0;
		} else if (is_replaced(&r[i], list, n) ||
			   is_settled(f, &r[i].better_ns)) {
			r[i] = r[--f->suspicions.n];
			changed = true;
		} else {
			i++;
		}
	}
	for (i = 0; i < n && f->suspicions.n < SUSPICIONS_MAX; i++) {
		if (is_among(&list[i], f->suspicions.data, f->suspicions.n))
			continue;
		new = vec_add(&f->suspicions);
		*new = list[i];
		new->better_ns = 0;
		changed = true;
	}
	return changed;
}

static bool take_passes(struct follow *f, const bool *passes)
{
	bool worse = false, better = false, is;
	struct follow_near *near;
	uint64_t now = now_ns();

	vec_for_each(near, &f->near) {
		is = passes && passes[near->cable];
		if (is != near->passes)
			f->near_ns = now;
		near->passes = is;
		worse |= near->told && !is;
		better |= is && !near->told;
		near->told &= is;
	}
	if (!better || now - f->near_ns < f->config.damp_ns)
		return worse;
	vec_for_each(near, &f->near)
		near->told = near->passes;
	return true;
}

/**
 * follow_report() - update the link report from what the host knows now
 * @f: follower
 * @known: what it knows
 *
 * Call it periodically even when nothing has changed: an improvement is only
 * reported by a later call, when it has lasted for damp_ns.
 *
 * Return: whether a plan has to take something new into account.
 */
bool follow_report(struct follow *f, const struct follow_known *known)
{
	bool news = take_links(f, known->links, known->n_links);
	uint64_t seen = f->now ? f->now->seen : 0;

	news |= take_suspicions(f, known->suspicions, known->n_suspicions);
	if (!take_passes(f, known->passes) && !news)
		return false;
	if (news || !f->number) {
		f->number = (f->number > seen ? f->number : seen) + 1;
		last_save(f);
	}
	f->said++;
	tell_soon(f);
	return news;
}

/**
 * follow_overrides() - does the host report a cable that a plan has not seen?
 * @f: follower
 * @plan: the plan, in force or being applied: while it is, @f->now is the one before
 * @cable: index of the cable
 *
 * Return: true if the cable is in the host's report, and the plan does not take the
 * latest report into account yet.
 */
bool follow_overrides(const struct follow *f, const struct follow_plan *plan,
		      uint32_t cable)
{
	const struct follow_suspicion *s;

	if (plan->seen >= f->number)
		return false;
	vec_for_each(s, &f->suspicions)
		if (s->cable[0] == cable)
			return true;
	return find(f->links.data, f->links.n, cable);
}
