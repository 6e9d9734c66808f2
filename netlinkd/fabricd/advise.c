// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric advise: problems, what to do about them, and the evidence. It
 * uses what this engine knows itself: reports of hosts, acknowledgements, its
 * plan and reservations. It does not use measured traffic.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "srpol_lib.h"
#include "tenants.h"

#define NAMES_MAX	10	/* hosts named; others are counted */
#define UNEVEN		1.1	/* times the mean: worth advice */
#define BETTER		0.95	/* factor that makes another algorithm worth
				 * it */

static void say(json_t *list, const char *symptom, const char *advice,
		json_t *evidence)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:o}",
		"symptom", symptom, "advice", advice, "evidence", evidence));
}

/* Hosts that report at most this capacity for a cable, or suspect it if that is 0. */
static json_t *reporters(uint32_t cable, uint64_t capacity)
{
	json_t *list = json_array();
	const struct input_link *said;
	const struct input *report;

	vec_for_each(report, &fabricd.reports) {
		said = inputs_said(report, cable);
		if ((said && said->capacity <= capacity) ||
		    (!capacity && suspects_by(report, cable)))
			json_array_append_new(list, json_string(
				strrchr(report->key, '/') + 1));
	}
	return list;
}

static void advise_links(json_t *list)
{
	struct srpol_links *links = inputs_links();
	const struct srpol_link *link;
	uint64_t capacity, rate;
	uint32_t i;

	for (i = 0; links && i < links->n; i += 2) {
		link = &fabricd.fabric->links[i];
		capacity = links->links[i].capacity;
		rate = srpol_link_rate(link);
		if (capacity >= rate)
			continue;
		say(list, capacity ? "link-degraded" : "link-down", capacity ?
		    "look at the cable and its ports; the plan uses what is left of it" :
		    "repair the cable or its ports; the plan does without it",
		    json_pack("{s:s, s:s, s:I, s:I, s:o}",
			      "from", node_name(link->from),
			      "to", node_name(link->to),
			      "capacity", (json_int_t)capacity,
			      "rate", (json_int_t)rate, "reported_by",
			      reporters(i / 2, capacity)));
	}
	srpol_links_free(links);
}

/* Links that hosts suspect, and that the plan uses although nothing else explains it. */
static void advise_suspects(json_t *list)
{
	json_t *suspects = suspects_json(), *o;
	const char *state, *reason;
	size_t i;

	json_array_foreach(suspects, i, o) {
		state = json_string_value(json_object_get(o, "state"));
		reason = json_string_value(json_object_get(o, "reason"));
		if (!strcmp(state, "kept") &&
		    strcmp(reason, judge_word(JUDGE_EXPLAINED)))
			say(list, "link-suspected",
			    "look at the cable and its ports, and at srpol engine show on the hosts that suspect it; the plan goes on using it",
			    json_incref(o));
	}
	json_decref(suspects);
}

static void advise_reports(json_t *list)
{
	const struct input *report;

	vec_for_each(report, &fabricd.reports)
		if (report->outdated)
			say(list, "stale-report",
			    "look at srpold of that host: its newest report cannot be read, and the one before is used",
			    json_pack("{s:s, s:I}",
				      "host", strrchr(report->key, '/') + 1,
				      "number", (json_int_t)report->number));
}

/* Null if another engine published the epoch. */
static json_t *published_ago(void)
{
	if (!fabricd.published_ns)
		return json_null();
	return json_integer((now_ns() - fabricd.published_ns) / NS_PER_SEC);
}

/**
 * struct names - names of hosts for which the same is said
 * @n: how many hosts
 * @list: the first of them
 */
struct names {
	json_int_t n;
	json_t *list;
};

static void add_name(struct names *names, const char *host)
{
	if (names->n++ < NAMES_MAX)
		json_array_append_new(names->list, json_string(host));
}

static void say_names(json_t *list, const char *symptom, const char *advice,
		      struct names *names)
{
	if (names->n)
		say(list, symptom, advice, json_pack("{s:I, s:O}", "n", names->n,
						     "hosts", names->list));
	json_decref(names->list);
}

/*
 * An epoch that is higher than what comes next is one of a store that was lost, where epochs
 * were counted anew since. The next one may be in force, and the answer that said so be lost.
 */
static void advise_epoch(json_t *list, const struct ack *ack)
{
	if (ack->epoch >= plan_epoch() && ack->epoch <= fabricd.next_epoch)
		return;
	say(list, "host-behind", ack->epoch < plan_epoch() ?
	    "look at srpol engine show on that host: whether it is connected, and why it refused the plan" :
	    "look at srpol engine show on that host: it follows a later epoch than there is, of a store of before perhaps",
	    json_pack("{s:s, s:I, s:I, s:o}", "host", ack->host,
		      "epoch", (json_int_t)ack->epoch,
		      "in_force", (json_int_t)plan_epoch(),
		      "published_s_ago", published_ago()));
}

static void advise_topology(json_t *list)
{
	const char *other = other_topology();

	if (other)
		say(list, "topology-differs",
		    "give all engines of the shard the same topology file: should this one lead, hosts that have the other one follow no plan of it",
		    json_pack("{s:s, s:s, s:s}", "leader", fabricd.leader,
			      "topology", other, "own", fabricd.topology));
}

static void advise_hosts(json_t *list)
{
	const struct srpol_fabric *f = fabricd.fabric;
	struct names silent = { .list = json_array() };
	struct names unknown = { .list = json_array() };
	const struct ack *ack;
	uint32_t i;

	for (i = 0; i < f->n_nodes; i++) {
		if (f->nodes[i].tier != SRPOL_TIER_HOST)
			continue;
		ack = acks_find(f->nodes[i].name);
		if (!ack || !ack->epoch)
			add_name(&silent, f->nodes[i].name);
		else if (plan_in_force(NULL))
			advise_epoch(list, ack);
	}
	vec_for_each(ack, &fabricd.acks)
		if (ack->epoch && !ack_is_of_host(ack))
			add_name(&unknown, ack->host);
	say_names(list, "host-silent",
		  "start srpold with \"fabric\" in its configuration there: these hosts acknowledge no plan, and follow none",
		  &silent);
	say_names(list, "host-unknown",
		  "stop srpold there, or give this engine a topology with these hosts: until then reservations that begin, move or end wait for them",
		  &unknown);
}

/**
 * struct heat - planned load of links between switches
 */
struct heat {
	double hottest_s;
	double mean_s;
	uint32_t link;
};

static int heat_of(const struct srpol_plan *plan, const struct workload *w,
		   struct heat *heat)
{
	const struct srpol_fabric *f = fabricd.fabric;
	double *load = calloc(f->n_links + 1UL, sizeof(*load)), s, sum = 0;
	uint32_t i, n = 0;
	int ret;

	*heat = (struct heat){ .link = SRPOL_NONE };
	ret = load ? srpol_planned_load(f, fabricd.links, plan,
					w->demands.list, w->demands.n, load) :
	      -ENOMEM;
	for (i = 0; i < f->n_links && !ret; i++) {
		if (f->nodes[f->links[i].from].tier == SRPOL_TIER_HOST ||
		    f->nodes[f->links[i].to].tier == SRPOL_TIER_HOST ||
		    !fabricd.links->links[i].capacity)
			continue;
		s = 8 * load[i] / fabricd.links->links[i].capacity;
		sum += s;
		n++;
		if (s > heat->hottest_s) {
			heat->hottest_s = s;
			heat->link = i;
		}
	}
	heat->mean_s = n ? sum / n : 0;
	free(load);
	return ret;
}

/* The busiest link if "minmax" replaced the algorithm. */
static int try_minmax(const struct workload *w, struct heat *heat)
{
	const struct srpol_planner *p = &fabricd.planner;
	struct srpol_planner trial = {
		.fabric = p->fabric, .alg = srpol_alg_find("minmax"),
		.options = p->options,
	};
	struct srpol_links *part = reservable(fabricd.links);
	struct srpol_ledger ledger = {};
	struct srpol_plan *plan = NULL;
	int ret;

	ret = part ? reservations_ledger(part, &ledger) : -ENOMEM;
	ret = ret ?: srpol_planner_run(&trial, p->links, p->demands, p->n,
				       NULL) ?:
	      whole_plan(&trial, fabricd.links, &ledger, &plan) ?:
	      heat_of(plan, w, heat);
	srpol_planner_free(&trial);
	srpol_plan_free(plan);
	ledger_free(&ledger);
	srpol_links_free(part);
	return ret;
}

static void advise_balance(json_t *list)
{
	const struct srpol_link *link;
	struct heat now, then = {};
	struct workload w;
	bool better;
	json_t *o;

	if (!plan_in_force(NULL) || workload_read(WORKLOAD_ALL, NULL, &w))
		return;
	if (!heat_of(fabricd.plan, &w, &now) && now.link != SRPOL_NONE &&
	    now.hottest_s > UNEVEN * now.mean_s &&
	    !try_minmax(&w, &then)) {
		better = then.hottest_s < BETTER * now.hottest_s;
		link = &fabricd.fabric->links[now.link];
		o = json_pack("{s:s, s:s, s:f, s:f, s:f, s:s}",
			      "from", node_name(link->from),
			      "to", node_name(link->to),
			      "hottest_s", now.hottest_s,
			      "mean_s", now.mean_s,
			      "with_minmax_s", then.hottest_s,
			      "algorithm", fabricd.config.alg->name);
		say(list, "imbalance", better ?
		    "set \"algorithm\" to \"minmax\": its hottest link would be done sooner" :
		    "no other algorithm would help: it follows from what jobs send, and from the paths tenants may use",
		    o);
	}
	workload_free(&w);
}

static void advise_tenants(json_t *list, const char *own)
{
	const struct tenant *t;
	uint64_t sum;

	vec_for_each(t, tenants_all()) {
		sum = reservations_sum(t->name);
		if (sum <= t->guaranteed || (own && strcmp(own, t->name)))
			continue;
		say(list, "above-guarantee",
		    "raise what the tenant is guaranteed, or delete one of its jobs: new ones are rejected",
		    json_pack("{s:s, s:I, s:I}", "tenant", t->name,
			      "reserved", (json_int_t)sum,
			      "guaranteed", (json_int_t)t->guaranteed));
	}
}

static void advise_lost(json_t *list, const char *own)
{
	struct srpol_links *links = inputs_links(), *part;
	const struct reservation *r;
	struct srpol_ledger ledger = {};
	struct srpol_offer offer;
	uint32_t i = 0;

	part = links ? reservable(links) : NULL;
	if (part && !reservations_ledger(part, &ledger)) {
		vec_for_each(r, reservations_all()) {
			struct srpol_hold want = ledger.holds[i++];

			if (r->weights || r->ends ||
			    (own && strcmp(own, r->tenant)) ||
			    srpol_ledger_offer(&ledger, &want, &offer))
				continue;
			srpol_plan_free(offer.weights);
			say(list, "reservation-lost",
			    "repair the link, or delete the job and add it with what fits now; it is tried again whenever links change",
			    json_pack("{s:s, s:s, s:I, s:s, s:I}",
				      "tenant", r->tenant, "job", r->job,
				      "guaranteed", (json_int_t)r->guaranteed,
				      "reason", r->lost, "fits_now",
				      (json_int_t)offer.most));
		}
	}
	ledger_free(&ledger);
	srpol_links_free(part);
	srpol_links_free(links);
}

/**
 * advise_request() - handle srpol fabric advise
 * @request: no further members; a tenant's user sees its own jobs only
 * @err: message if the user has no tenant
 */
json_t *advise_request(const json_t *request, struct srpol_error *err)
{
	const char *own = access_tenant();
	json_t *list;

	if (access_check(err))
		return NULL;
	list = json_array();
	if (tenant_request_check(NULL) || !acks_ready()) {
		say(list, "store-silent",
		    "look at the store, and at \"store\" in the configuration of this engine: it has not answered all that this engine asks for, so nothing is advised",
		    json_pack("{s:s}", "store", fabricd.store.ops->name));
		return list;
	}
	if (!own) {
		advise_links(list);
		advise_suspects(list);
		advise_reports(list);
		advise_topology(list);
		advise_hosts(list);
		advise_balance(list);
	}
	advise_tenants(list, own);
	advise_lost(list, own);
	return list;
}
