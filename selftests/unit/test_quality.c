// SPDX-License-Identifier: GPL-2.0
/*
 * From probes to weights, with the engine's own code: what an interval says,
 * levels of links, which cable it is, weights of paths. At the end eight hosts
 * that see the same hot link.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "linkstate.h"
#include "quality.h"
#include "srpol_lib.h"
#include "weights.h"
#include "test.h"

#define US	1000ull
#define MS	1000000ull
#define SEC	1000000000ull
#define G	1000000000ull

static const struct quality_config config = {
	.loss_ppm = 5000, .delay_ns = 200 * US, .marks_ppm = { 50000, 1000, 50000 },
	.patience = 2, .calm = 5,
	.calm_max = 160,
};

static enum quality_word close_one(struct quality_window *w, u32 sent,
				   u32 lost)
{
	struct quality_words words = quality_close(w, sent, lost, &config);

	return quality_all(words);
}

/* @n intervals of 100 probes, @lost of each hundred lost. */
static enum quality_word close_n(struct quality_window *w, u32 n, u32 lost,
				 u64 rtt)
{
	enum quality_word word = QUALITY_UNSURE;

	while (n--) {
		if (rtt)
			quality_answer(w, rtt);
		word = close_one(w, 100, lost);
	}
	return word;
}

static void test_window(void **state)
{
	struct quality_window w = {};

	(void)state;
	assert_int_equal(close_n(&w, 1, 0, 20 * US), QUALITY_GOOD);
	/* a single loss is an accident */
	assert_int_not_equal(close_n(&w, 1, 1, 20 * US), QUALITY_LOSS);
	assert_int_equal(close_n(&w, 10, 1, 20 * US), QUALITY_LOSS);
	assert_in_range(quality_loss_ppm(&w), 6000, 10000);
	/* forgotten, by and by */
	assert_int_not_equal(close_n(&w, 1, 0, 20 * US), QUALITY_GOOD);
	assert_int_equal(close_n(&w, 20, 0, 20 * US), QUALITY_GOOD);
	/* no answer says nothing: liveness does */
	assert_int_equal(close_n(&w, 1, 0, 0), QUALITY_UNSURE);
}

static void test_delay(void **state)
{
	struct quality_window w = {};

	(void)state;
	close_n(&w, 1, 0, 20 * US);
	/* a burst: some answers are late, the best one is not */
	quality_answer(&w, 900 * US);
	quality_answer(&w, 25 * US);
	assert_int_equal(close_one(&w, 2, 0), QUALITY_GOOD);
	/* a queue that stays */
	quality_answer(&w, 900 * US);
	quality_answer(&w, 500 * US);
	assert_int_equal(close_one(&w, 2, 0), QUALITY_DELAY);
	assert_int_equal(w.queue_ns, 480 * US);
	assert_int_equal(close_n(&w, 1, 0, 180 * US), QUALITY_UNSURE);
	assert_int_equal(close_n(&w, 1, 0, 60 * US), QUALITY_GOOD);
}

static enum quality_word close_marks(struct quality_window *w,
				     enum quality_sort sort, u64 seen,
				     u64 marked)
{
	quality_answer(w, 20 * US);
	quality_marks(w, sort, seen, marked);
	return close_one(w, 100, 0);
}

static void test_marks(void **state)
{
	struct quality_window w = {};
	u32 i;

	(void)state;
	/* two marks are an accident */
	assert_int_not_equal(close_marks(&w, QUALITY_CE, 10, 2),
			     QUALITY_MARKS);
	assert_int_equal(close_marks(&w, QUALITY_CE, 100, 30), QUALITY_MARKS);
	assert_in_range(quality_marks_ppm(&w, QUALITY_CE), 250000, 300000);
	/* forgotten, by and by */
	for (i = 0; i < 30; i++)
		close_marks(&w, QUALITY_CE, 100, 0);
	assert_int_equal(close_marks(&w, QUALITY_CE, 100, 0), QUALITY_GOOD);
	/* half of the limit: neither */
	w = (struct quality_window){};
	for (i = 0; i < 20; i++)
		assert_int_not_equal(close_marks(&w, QUALITY_CE, 100, 3),
				     QUALITY_MARKS);
	assert_int_equal(close_marks(&w, QUALITY_CE, 100, 3), QUALITY_UNSURE);
	/* a CNP stands for many marks; billions of packets are no matter */
	w = (struct quality_window){};
	assert_int_equal(close_marks(&w, QUALITY_CNP, 10000000000ull, 1000),
			 QUALITY_GOOD);
	for (i = 0; i < 20; i++)
		close_marks(&w, QUALITY_CNP, 10000000000ull, 20000000);
	assert_int_equal(close_marks(&w, QUALITY_CNP, 10000000000ull,
				     20000000), QUALITY_MARKS);
	assert_in_range(quality_marks_ppm(&w, QUALITY_CNP), 1900, 2000);
	/* the traffic that brought CNPs ends: what it brought is forgotten */
	w = (struct quality_window){};
	for (i = 0; i < 5; i++)
		close_marks(&w, QUALITY_CNP, 1000000, 500000);
	for (i = 0; i < 150; i++)
		close_marks(&w, QUALITY_CNP, 0, 0);
	assert_int_equal(close_marks(&w, QUALITY_CNP, 0, 0), QUALITY_GOOD);
	/* nor is for ever what a peer made up: there are no more marks than packets */
	w = (struct quality_window){};
	assert_int_equal(close_marks(&w, QUALITY_PATH_CE, 100, 1ull << 40),
			 QUALITY_MARKS);
	close_marks(&w, QUALITY_PATH_CE, 100, ~0ull);
	for (i = 0; i < 30; i++)
		close_marks(&w, QUALITY_PATH_CE, 100, 0);
	assert_int_equal(close_marks(&w, QUALITY_PATH_CE, 100, 0),
			 QUALITY_GOOD);
	/* no packets, no CNPs: good */
	w = (struct quality_window){};
	assert_int_equal(close_marks(&w, QUALITY_CNP, 0, 0), QUALITY_GOOD);
	/* loss is worse than delay, and delay than marks */
	assert_int_equal(quality_all((struct quality_words){ QUALITY_LOSS,
			 QUALITY_DELAY, QUALITY_MARKS }), QUALITY_LOSS);
	assert_int_equal(quality_all((struct quality_words){ QUALITY_UNSURE,
			 QUALITY_DELAY, QUALITY_MARKS }), QUALITY_DELAY);
	assert_int_equal(quality_all((struct quality_words){ QUALITY_GOOD,
			 QUALITY_GOOD, QUALITY_MARKS }), QUALITY_MARKS);
	assert_int_equal(quality_all((struct quality_words){ QUALITY_GOOD,
			 QUALITY_GOOD, QUALITY_UNSURE }), QUALITY_UNSURE);
}

static void test_levels(void **state)
{
	struct quality q = {};
	u32 i, before = 101;

	(void)state;
	assert_false(quality_step(&q, QUALITY_LOSS, &config));
	assert_true(quality_step(&q, QUALITY_LOSS, &config));
	assert_int_equal(quality_percent(&q), 75);
	/* an interval that says nothing changes nothing */
	for (i = 0; i < 100; i++)
		assert_false(quality_step(&q, QUALITY_UNSURE, &config));
	for (i = 0; i < 100; i++) {
		assert_in_range(quality_percent(&q), 10, before);
		before = quality_percent(&q);
		quality_step(&q, QUALITY_LOSS, &config);
	}
	assert_int_equal(quality_percent(&q), 10);
	for (i = 0; i < 5 * (QUALITY_LEVELS - 1); i++)
		quality_step(&q, QUALITY_GOOD, &config);
	assert_int_equal(quality_percent(&q), 100);
}

/* A link that is bad whenever it is used more: ever longer between attempts. */
static void test_flaps(void **state)
{
	struct quality q = {};
	u32 i, first, steps;

	(void)state;
	for (i = 0; i < 1000; i++)
		quality_step(&q, q.level ? QUALITY_GOOD : QUALITY_LOSS,
			     &config);
	first = q.steps;
	assert_in_range(first, 2, 24);
	for (; i < 2000; i++)
		quality_step(&q, q.level ? QUALITY_GOOD : QUALITY_LOSS,
			     &config);
	assert_in_range(q.steps - first, 2, 14);
	/* a link that changes its mind every interval: nothing at all */
	steps = q.steps;
	for (i = 0; i < 1000; i++)
		quality_step(&q, i % 2 ? QUALITY_GOOD : QUALITY_LOSS,
			     &config);
	assert_int_equal(q.steps, steps);
	/* after a calm time it is as before */
	for (i = 0; i < 2000; i++)
		quality_step(&q, QUALITY_GOOD, &config);
	assert_int_equal(q.wait, config.calm);
	assert_int_equal(q.level, 0);
}

/* ---- weights */

static struct srpol_fabric *generate(const struct srpol_shape *shape)
{
	struct srpol_error err;
	struct srpol_fabric *f = srpol_fabric_generate(shape, &err);

	assert_non_null(f);
	return f;
}

static void run_by(const char *alg, const struct srpol_fabric *f,
		   const struct linkstate *ls, u32 src, u32 dst,
		   const bool *slice, u32 n, u32 *weight)
{
	struct weights_pair pair = {
		.src = src, .dst = dst, .alg = srpol_alg_find(alg),
		.color = 1, .slice = slice, .n = n, .weight = weight,
	};
	struct weights_demands none = {};
	struct weights_input input = {
		.fabric = f, .links = ls->links, .known = &none,
	};
	struct srpol_error err;

	assert_int_equal(weights_run(&input, &pair, 1, &err), 0);
}

static void run(const struct srpol_fabric *f, const struct linkstate *ls,
		u32 src, u32 dst, const bool *slice, u32 n, u32 *weight)
{
	run_by("wecmp", f, ls, src, dst, slice, n, weight);
}

static void assert_weights(const u32 *weight, u32 a, u32 b, u32 c, u32 d)
{
	const u32 want[4] = { a, b, c, d };

	assert_memory_equal(weight, want, sizeof(want));
}

/* A host tells us of a link far from here: glb takes it, the others do not. */
static void test_heard(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 4, 100 * G);
	struct srpol_fabric *f = generate(&shape);
	struct srpol_path_set set;
	struct srpol_route route;
	struct linkstate ls;
	u32 weight[4], cable;

	(void)state;
	assert_int_equal(linkstate_init(&ls, f, 0), 0);
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	assert_int_equal(set.n, 4);
	srpol_path_get(f, &set, 2, &route);
	cable = route.link[route.n - 2] / 2;
	srpol_path_set_free(&set);
	run_by("glb", f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 1);
	assert_true(linkstate_hear(&ls, cable, 25));
	assert_false(linkstate_hear(&ls, cable, 25));
	run_by("glb", f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 4, 4, 1, 4);
	run(f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 1);
	assert_true(linkstate_hear(&ls, cable, 100));
	run_by("glb", f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 1);
	linkstate_free(&ls);
	srpol_fabric_free(f);
}

/* What several say of a pair of GPUs and a color is one demand. */
static void test_merged(void **state)
{
	const u64 most = (1ull << 53) - 1;
	struct srpol_demand d[] = {
		{ .src = 0, .dst = 1, .color = 1, .bytes = 5 },
		{ .src = 1, .dst = 0, .color = 1, .bytes = most },
		{ .src = 0, .dst = 1, .color = 2, .bytes = 9 },
		{ .src = 0, .dst = 1, .color = 1, .bytes = 7 },
		{ .src = 1, .dst = 0, .color = 1, .bytes = most },
	};
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 4, 100 * G);
	struct weights_demands known = { .demand = d, .n = ARRAY_SIZE(d) };
	struct srpol_fabric *f = generate(&shape);
	struct linkstate ls;
	struct srpol_error err;
	u32 weight[4];
	struct weights_pair pair = {
		.src = 0, .dst = 1, .alg = srpol_alg_find("minmax"),
		.color = 1, .n = 4, .weight = weight,
	};
	struct weights_input input = { .fabric = f, .known = &known };

	(void)state;
	assert_int_equal(linkstate_init(&ls, f, 0), 0);
	input.links = ls.links;
	assert_int_equal(weights_run(&input, &pair, 1, &err), 0);
	assert_int_equal(known.n, 3);
	assert_true(d[0].dst == 1 && d[0].color == 1 && d[0].bytes == 12);
	assert_true(d[1].dst == 1 && d[1].color == 2 && d[1].bytes == 9);
	assert_true(d[2].dst == 0 && d[2].color == 1 && d[2].bytes == most);
	linkstate_free(&ls);
	srpol_fabric_free(f);
}

/* FARE: four planes, one of them with half of its bandwidth, and back. */
static void test_planes(void **state)
{
	struct srpol_shape shape = srpol_shape_plane(4, 4, 200 * G);
	struct srpol_fabric *f = generate(&shape);
	struct linkstate ls, next;
	u32 weight[4], cable = 0, i;
	bool slice[4] = { true, true, false, false };

	(void)state;
	assert_int_equal(linkstate_init(&ls, f, 0), 0);
	run(f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 1);
	for (i = 0; i < f->n_nics; i++)
		if (f->nics[i].gpu == 1 && f->nics[i].plane == 3)
			cable = f->nics[i].link / 2;
	linkstate_say(&ls, cable, LINK_FEED,
		      srpol_link_rate(&f->links[2 * cable]) / 2, 1);
	run(f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 2, 2, 2, 1);
	/* the peer's plane, nobody else's */
	run(f, &ls, 0, 2, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 1);
	/* an operator knows better; that outlives a reload, as does the same feed */
	linkstate_say(&ls, cable, LINK_OPERATOR, 0, 2);
	run(f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 0);
	assert_int_equal(linkstate_init(&next, f, 3), 0);
	linkstate_carry(&next, &ls, false);
	assert_int_equal(linkstate_source(&next, cable), LINK_OPERATOR);
	linkstate_unsay(&next, cable, LINK_OPERATOR);
	assert_int_equal(linkstate_source(&next, cable), LINK_TOPOLOGY);
	linkstate_free(&next);
	assert_int_equal(linkstate_init(&next, f, 3), 0);
	linkstate_carry(&next, &ls, true);
	assert_int_equal(linkstate_source(&next, cable), LINK_OPERATOR);
	linkstate_unsay(&next, cable, LINK_OPERATOR);
	assert_int_equal(linkstate_source(&next, cable), LINK_FEED);
	assert_int_equal(next.cables[cable].since_ns[LINK_FEED], 1);
	run(f, &next, 0, 1, NULL, 4, weight);
	assert_weights(weight, 2, 2, 2, 1);
	linkstate_free(&next);
	linkstate_unsay(&ls, cable, LINK_OPERATOR);
	linkstate_unsay(&ls, cable, LINK_FEED);
	run(f, &ls, 0, 1, NULL, 4, weight);
	assert_weights(weight, 1, 1, 1, 1);
	/* part of the paths; and if none of these is left, all of them */
	run(f, &ls, 0, 1, slice, 4, weight);
	assert_weights(weight, 1, 1, 0, 0);
	for (i = 0; i < f->n_nics; i++)
		linkstate_say(&ls, f->nics[i].link / 2, LINK_FEED, 0, 4);
	run(f, &ls, 0, 1, slice, 4, weight);
	assert_weights(weight, 1, 1, 0, 0);
	linkstate_free(&ls);
	srpol_fabric_free(f);
}

/* ---- hosts that look at one fabric */

#define HOSTS	8
#define SPINES	4
#define PEERS	3	/* leaves to probe */

/**
 * struct host - a host of leaf 0 that sends to one of leaf 1
 * @ls: its own DB
 * @seed: of its jitter
 * @next_ns: when it looks next
 * @weight: of its paths
 * @window: of its probes
 * @way: of its probes: to leaf 1, 2 and 3 over each spine
 * @changes: of its weights
 */
struct host {
	struct linkstate ls;
	u64 seed;
	u64 next_ns;
	u32 weight[SPINES];
	struct quality_window window[PEERS * SPINES];
	struct locate_probe way[PEERS * SPINES];
	u32 changes;
};

/**
 * struct world - what hosts share
 * @capacity: of cables, in bit/s
 * @queue_ns: in front of cables
 * @lossy: a cable that loses one packet in a hundred, SRPOL_NONE: none
 */
struct world {
	struct srpol_fabric *f;
	double *capacity;
	double *load;
	double *queue_ns;
	u32 lossy;
	u64 random;
	struct host host[HOSTS];
};

/* GPU @k of the hosts below leaf @leaf: one GPU per host. */
static u32 gpu_of(const struct srpol_fabric *f, u32 leaf, u32 k)
{
	u32 i;

	for (i = 0; i < f->n_gpus; i++)
		if (f->nics[f->gpus[i].nic].leaf ==
		    f->nics[f->gpus[leaf * HOSTS].nic].leaf && !k--)
			return i;
	fail();
	return 0;
}

static void make_ways(struct world *w, u32 h)
{
	struct srpol_path_set set;
	struct srpol_route route;
	struct locate_probe *way;
	u32 peer, i, k;

	for (peer = 0; peer < PEERS; peer++) {
		assert_int_equal(srpol_path_set_init(w->f, gpu_of(w->f, 0, h),
				 gpu_of(w->f, 1 + peer, h), &set), 0);
		assert_int_equal(set.n, SPINES);
		for (i = 0; i < SPINES; i++) {
			srpol_path_get(w->f, &set, i, &route);
			way = &w->host[h].way[peer * SPINES + i];
			for (k = 0; k + 1 < route.n; k++)
				way->link[way->n++] = route.link[k] / 2;
		}
		srpol_path_set_free(&set);
	}
}

static void weigh(struct world *w, u32 h)
{
	u32 weight[SPINES];

	run(w->f, &w->host[h].ls, gpu_of(w->f, 0, h), gpu_of(w->f, 1, h), NULL,
	    SPINES, weight);
	w->host[h].changes += memcmp(weight, w->host[h].weight,
				     sizeof(weight)) != 0;
	memcpy(w->host[h].weight, weight, sizeof(weight));
}

static void make_world(struct world *w)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(1 + PEERS, HOSTS,
							  SPINES, 100 * G);
	u32 h, i;

	memset(w, 0, sizeof(*w));
	w->f = generate(&shape);
	w->lossy = SRPOL_NONE;
	w->random = 7;
	w->capacity = calloc(w->f->n_links / 2, sizeof(double));
	w->load = calloc(w->f->n_links / 2, sizeof(double));
	w->queue_ns = calloc(w->f->n_links / 2, sizeof(double));
	for (i = 0; i < w->f->n_links / 2; i++)
		w->capacity[i] = srpol_link_rate(&w->f->links[2 * i]);
	for (h = 0; h < HOSTS; h++) {
		assert_int_equal(linkstate_init(&w->host[h].ls, w->f, 0), 0);
		w->host[h].seed = h;
		make_ways(w, h);
		weigh(w, h);
		w->host[h].changes = 0;
	}
}

static void free_world(struct world *w)
{
	u32 h;

	for (h = 0; h < HOSTS; h++)
		linkstate_free(&w->host[h].ls);
	free(w->capacity);
	free(w->load);
	free(w->queue_ns);
	srpol_fabric_free(w->f);
}

/* Each host sends @rate by its weights; what does not fit waits, 1 ms at most. */
static void flow(struct world *w, double rate, u64 ns)
{
	u32 h, i, k, sum, c;
	double more;

	for (c = 0; c < w->f->n_links / 2; c++)
		w->load[c] = 0;
	for (h = 0; h < HOSTS; h++) {
		for (i = sum = 0; i < SPINES; i++)
			sum += w->host[h].weight[i];
		for (i = 0; i < SPINES; i++)
			for (k = 0; k < w->host[h].way[i].n; k++)
				w->load[w->host[h].way[i].link[k]] +=
					rate * w->host[h].weight[i] / sum;
	}
	for (c = 0; c < w->f->n_links / 2; c++) {
		more = (w->load[c] - w->capacity[c]) / w->capacity[c] * ns;
		w->queue_ns[c] += more;
		if (w->queue_ns[c] < 0)
			w->queue_ns[c] = 0;
		if (w->queue_ns[c] > MS)
			w->queue_ns[c] = MS;
	}
}

/* A hundred probes of each way, then one look at the links. */
static void look(struct world *w, struct host *host)
{
	struct quality_words words[PEERS * SPINES];
	u32 i, k, n, lost;
	u64 rtt;

	for (i = 0; i < PEERS * SPINES; i++) {
		rtt = 20 * US + test_random(&w->random) % (5 * US);
		lost = 0;
		for (k = 0; k < host->way[i].n; k++) {
			rtt += w->queue_ns[host->way[i].link[k]];
			for (n = 0; n < 200 &&
			     host->way[i].link[k] == w->lossy; n++)
				lost += !(test_random(&w->random) % 100);
		}
		quality_answer(&host->window[i], rtt);
		words[i] = quality_close(&host->window[i], 100, lost, &config);
	}
	linkstate_judge(&host->ls, host->way, words, PEERS * SPINES, &config);
}

/* The range of a cable's load until @until, and how often weights changed. */
struct range {
	double least;
	double most;
	double sum;
	u32 n;
	u32 changes;
};

static struct range simulate(struct world *w, double rate, u64 from, u64 until,
			     u32 cable)
{
	struct range range = { .least = 1e18 };
	const u64 tick = 50 * MS;
	struct host *host;
	u32 h, before[HOSTS];

	for (h = 0; h < HOSTS; h++)
		before[h] = w->host[h].changes;
	for (; from < until; from += tick) {
		flow(w, rate, tick);
		if (w->load[cable] < range.least)
			range.least = w->load[cable];
		if (w->load[cable] > range.most)
			range.most = w->load[cable];
		range.sum += w->load[cable];
		range.n++;
		for (h = 0; h < HOSTS; h++) {
			host = &w->host[h];
			if (from < host->next_ns)
				continue;
			host->next_ns = from + quality_jitter(SEC, &host->seed);
			look(w, host);
			weigh(w, h);
		}
	}
	for (h = 0; h < HOSTS; h++)
		range.changes += w->host[h].changes - before[h];
	return range;
}

/*
 * Eight hosts, one link that lost half of its bandwidth and tells nobody: they
 * leave it to what it can carry, and then rest.
 */
static void test_hot_link(void **state)
{
	static struct world w;
	struct range calm, reaction, rest;
	u32 hot, h, c;

	(void)state;
	make_world(&w);
	hot = w.host[0].way[2].link[1];
	calm = simulate(&w, 35 * G, 0, 60 * SEC, hot);
	assert_int_equal(calm.changes, 0);
	w.capacity[hot] /= 2;
	reaction = simulate(&w, 35 * G, 60 * SEC, 120 * SEC, hot);
	rest = simulate(&w, 35 * G, 120 * SEC, 720 * SEC, hot);
	print_message("hot link: %u changes in the first minute, %u in ten more; load %.2f to %.2f, mean %.2f of its capacity\n",
		      reaction.changes, rest.changes,
		      rest.least / w.capacity[hot],
		      rest.most / w.capacity[hot],
		      rest.sum / rest.n / w.capacity[hot]);
	/* of each host: a few steps down, then an attempt now and then */
	assert_in_range(reaction.changes, HOSTS, 8 * HOSTS);
	assert_in_range(rest.changes, 0, 12 * HOSTS);
	assert_true(rest.most < 1.2 * w.capacity[hot]);
	assert_true(rest.sum / rest.n > 0.6 * w.capacity[hot]);
	/* it is that link, and no other one, for all of them */
	for (h = 0; h < HOSTS; h++)
		for (c = 0; c < w.host[h].ls.n; c++)
			assert_int_equal(c != hot &&
					 w.host[h].ls.cables[c].quality.level,
					 0);
	w.capacity[hot] *= 2;
	simulate(&w, 35 * G, 720 * SEC, 3000 * SEC, hot);
	for (h = 0; h < HOSTS; h++)
		assert_int_equal(w.host[h].ls.cables[hot].quality.level, 0);
	free_world(&w);
}

/* One packet in a hundred is lost on a link: it is that one, and used less. */
static void test_lossy_link(void **state)
{
	u32 h, c, bad, named = 0;
	static struct world w;

	(void)state;
	make_world(&w);
	bad = w.host[0].way[1].link[1];
	w.lossy = bad;
	simulate(&w, 10 * G, 0, 60 * SEC, bad);
	for (h = 0; h < HOSTS; h++) {
		for (c = 0; c < w.host[h].ls.n; c++)
			if (c != bad)
				assert_int_equal(
					w.host[h].ls.cables[c].quality.level,
					0);
		named += w.host[h].ls.cables[bad].quality.word == QUALITY_LOSS;
		assert_in_range(w.host[h].weight[1] * 100 /
				w.host[h].weight[0], 9, 40);
	}
	assert_int_equal(named, HOSTS);
	w.lossy = SRPOL_NONE;
	simulate(&w, 10 * G, 60 * SEC, 400 * SEC, bad);
	for (h = 0; h < HOSTS; h++)
		assert_weights(w.host[h].weight, 1, 1, 1, 1);
	free_world(&w);
}

/* A host that is too busy to tell delays still finds the link that loses. */
static void test_noise(void **state)
{
	static struct world w;
	u32 c, bad, round;

	(void)state;
	make_world(&w);
	bad = w.host[0].way[1].link[1];
	w.lossy = bad;
	for (round = 0; round < 100; round++) {
		for (c = 0; c < PEERS * SPINES; c++)
			w.host[0].window[c].base_ns = 1;
		w.queue_ns[w.host[0].way[0].link[0]] =
			(60 + test_random(&w.random) % 100) * US;
		look(&w, &w.host[0]);
	}
	for (c = 0; c < w.host[0].ls.n; c++)
		assert_int_equal(c != bad &&
				 w.host[0].ls.cables[c].quality.word ==
				 QUALITY_LOSS, 0);
	assert_int_equal(w.host[0].ls.cables[bad].quality.word, QUALITY_LOSS);
	free_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_flaps),
		cmocka_unit_test(test_heard),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_planes),
		cmocka_unit_test(test_hot_link),
		cmocka_unit_test(test_lossy_link),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
