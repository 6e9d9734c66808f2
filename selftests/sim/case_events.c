// SPDX-License-Identifier: GPL-2.0
/*
 * Links that fail while flows run, and plans that were made from wrong numbers.
 * Mostly a ring over 128 GPUs, every hop between leaves: each flow meets the
 * fabric, NICs are full, and nothing can be made up for by spare capacity.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define RATE	(400 * GBPS)
#define RTT	10e-6
#define BYTES	(1024 * MIB)

static void ring(struct rig *r)
{
	uint32_t ranks[128];

	rig_up(r, srpol_shape_leaf_spine(8, 16, 16, RATE));
	ranks_by_leaf(r, ranks, 8);
	work_ring(r, ranks, 128, BYTES);
}

/* Bytes that are left of each demand after part of the time. */
static void run_until(const struct rig *r, const struct srpol_placement *p,
		      bool coupled, double until, double *left, double *end)
{
	struct srpol_alg_input in = rig_input(r);
	struct srpol_fluid *m = srpol_fluid_new(&in, p, coupled, NULL);
	struct srpol_maxmin_run run = { .until = until };
	uint32_t f, d;

	if (!m)
		die("no memory");
	run.left = m->left;
	run.finish = m->finish;
	if (srpol_maxmin_run(&m->net, &run))
		die("no memory");
	memset(left, 0, r->n * sizeof(*left));
	*end = 0;
	for (f = 0; f < m->net.n_flows; f++) {
		d = m->demand[f];
		left[d] += m->left[f];
		*end = fmax(*end, m->finish[f]);
	}
	srpol_fluid_free(m);
}

static void set_bytes(struct rig *r, const double *left)
{
	uint32_t d;

	for (d = 0; d < r->n; d++)
		r->demands[d].bytes = left[d] + 0.5;
}

/* What a scheme does about a link that went down, once it knows. */
static struct srpol_placement *place_again(const struct rig *r, enum scheme s,
					   const struct srpol_placement *before)
{
	struct srpol_alg_input in = rig_input(r);
	struct srpol_error err = {};
	struct srpol_placement *p;

	if (s != SCHEME_MINMAX)
		return scheme_place(r, s, 0);
	in.previous = before;
	if (srpol_alg_run(&srpol_alg_minmax, &in, &p, &err))
		die(err.text);
	return p;
}

/*
 * A link dies after a quarter of the time, and @delay seconds later it is
 * known. Meanwhile what is placed on it stands still; a spraying sender loses
 * one packet in 16 there and sends it again elsewhere, which is what its
 * weights without that path do.
 */
static double dead_link(enum scheme s, double delay)
{
	double left[128], bound, fail, end, t;
	struct srpol_placement *before, *after;
	bool coupled = scheme_is_coupled(s);
	uint32_t up, d;
	struct rig r;

	ring(&r);
	bound = rig_bound(&r, NULL);
	fail = bound / 4;
	up = srpol_node_up(r.f, r.f->nics[0].leaf, 3);
	before = scheme_place(&r, s, 1);
	run_until(&r, before, coupled, fail, left, &end);
	set_bytes(&r, left);
	rig_set_both(&r, up, 0);
	if (s == SCHEME_SPRAY) {
		srpol_placement_free(before);
		before = scheme_place(&r, s, 1);
	}
	run_until(&r, before, coupled, delay, left, &end);
	for (d = 0, t = 0; d < r.n; d++)
		t += left[d];
	if (t) {
		set_bytes(&r, left);
		after = place_again(&r, s, before);
		run_until(&r, after, coupled, INFINITY, left, &end);
		srpol_placement_free(after);
		end += delay;
	}
	srpol_placement_free(before);
	rig_down(&r);
	return (fail + end) / bound;
}

static void case_known(void)
{
	static const double delays[] = { 0, 1e-4, 1e-3, 1e-2, 1e-1 };
	static const enum scheme schemes[] = {
		SCHEME_MINMAX, SCHEME_SPRAY, SCHEME_ECMP16,
	};
	uint32_t i, s, monotone = 1;
	double t, before;
	char row[64];

	for (s = 0; s < ARRAY_SIZE(schemes); s++) {
		for (i = 0, before = 0; i < ARRAY_SIZE(delays); i++) {
			t = dead_link(schemes[s], delays[i]);
			snprintf(row, sizeof(row), "%s-%gms",
				 scheme_name[schemes[s]], 1e3 * delays[i]);
			out_row("known", row, t);
			if (schemes[s] == SCHEME_MINMAX && t < before * 0.999)
				monotone = 0;
			before = t;
		}
	}
	out_row("known", "monotone", monotone);
}

/*
 * Everyone sends to one other on another leaf, 1 to 64 MiB, at 2:1: on any leaf,
 * or all on the next one, so that every link has to be used to the last. With
 * many flows per link, or equal ones, there is nothing to be seen.
 */
static void uneven_sizes(struct rig *r, bool tight, uint64_t seed)
{
	uint32_t i, leaf;

	rig_up(r, srpol_shape_leaf_spine(8, 16, 8, RATE));
	for (i = 0; i < r->f->n_gpus; i++) {
		leaf = tight ? 1 : 1 + rnd_below(&seed, 7);
		rig_send(r, i, (i + 16 * leaf) % 128,
			 MIB * (1 + rnd_below(&seed, 64)));
	}
}

/* Planned with sizes that are off by up to @error, run with the true ones. */
static double wrong_sizes(bool tight, bool qps, double error, double skew,
			  uint64_t seed)
{
	double start[128], finish[128], last = 0, bound;
	struct srpol_alg_input in;
	struct srpol_placement *p;
	struct rig r, planned;
	uint32_t d;

	uneven_sizes(&r, tight, seed);
	uneven_sizes(&planned, tight, seed);
	for (d = 0; d < r.n; d++) {
		planned.demands[d].bytes *=
			1 + error * (2 * rnd_unit(&seed) - 1);
		start[d] = skew * rnd_unit(&seed);
	}
	bound = rig_bound(&r, NULL);
	p = scheme_place(&planned, SCHEME_MINMAX, 0);
	in = rig_input(&r);
	if (srpol_predict(&in, p, !qps, start, finish))
		die("no memory");
	for (d = 0; d < r.n; d++)
		last = fmax(last, finish[d]);
	srpol_placement_free(p);
	rig_down(&r);
	rig_down(&planned);
	return last / bound;
}

static double wrong_stat(const char *row, bool tight, bool qps, double error,
			 double skew)
{
	double v[SEEDS], mean = 0;
	uint32_t k;

	for (k = 0; k < SEEDS; k++) {
		v[k] = wrong_sizes(tight, qps, error, skew, k);
		mean += v[k] / SEEDS;
	}
	out_stat("wrong-sizes", row, v, SEEDS, 1);
	return mean;
}

/* What it is to be compared with: schemes that need no sizes. */
static void sizeless(bool tight)
{
	static const enum scheme schemes[] = {
		SCHEME_ECMP4, SCHEME_ECMP16, SCHEME_SPRAY, SCHEME_ETHEREAL,
	};
	double v[SEEDS];
	uint32_t i, k;
	struct rig r;
	char row[64];

	for (i = 0; i < ARRAY_SIZE(schemes); i++) {
		for (k = 0; k < SEEDS; k++) {
			uneven_sizes(&r, tight, k);
			v[k] = scheme_time(&r, schemes[i], k) /
			       rig_bound(&r, NULL);
			rig_down(&r);
		}
		snprintf(row, sizeof(row), "%s%s", tight ? "tight-" : "",
			 scheme_name[schemes[i]]);
		out_stat("wrong-sizes", row, v, SEEDS, 1);
	}
}

static void case_wrong(void)
{
	static const double errors[] = { 0, 0.05, 0.1, 0.2 };
	uint32_t i, mode, monotone = 1;
	double mean, before;
	char row[64];

	/* split demands as one flow, or as queue pairs */
	for (mode = 0; mode < 4; mode++) {
		for (i = 0, before = 0; i < ARRAY_SIZE(errors); i++) {
			snprintf(row, sizeof(row), "%s%serror-%g%%",
				 mode & 1 ? "tight-" : "",
				 mode & 2 ? "qps-" : "", 100 * errors[i]);
			mean = wrong_stat(row, mode & 1, mode & 2, errors[i],
					  0);
			if (mean < before * 0.999)
				monotone = 0;
			before = mean;
		}
	}
	sizeless(false);
	sizeless(true);
	out_row("wrong-sizes", "monotone", monotone);
	wrong_stat("skew-1rtt", false, false, 0, 2 * RTT);
	wrong_stat("tight-error-20%-skew-1rtt", true, false, 0.2, 2 * RTT);
}

/* Links down, any of them, known to all. */
static void case_links_down(void)
{
	static const enum scheme schemes[] = {
		SCHEME_MINMAX, SCHEME_WECMP, SCHEME_SPRAY, SCHEME_ECMP16,
		SCHEME_ETHEREAL,
	};
	double v[SEEDS], mean, before;
	uint32_t s, down, k, i, links[128], monotone = 1;
	double bound = 0, healthy;
	uint64_t seed;
	struct rig r;
	char row[64];

	ring(&r);
	healthy = rig_bound(&r, NULL);
	for (s = 0; s < ARRAY_SIZE(schemes); s++) {
		for (down = 0, before = 0; down <= 8; down++) {
			for (k = 0, mean = 0; k < SEEDS; k++) {
				for (i = 0; i < r.f->n_links; i++)
					srpol_links_set_capacity(r.links, i,
								 RATE);
				seed = k;
				rig_uplinks(&r, links);
				rnd_shuffle(&seed, links, 128);
				for (i = 0; i < down; i++)
					rig_set_both(&r, links[i], 0);
				bound = rig_bound(&r, NULL);
				v[k] = scheme_time(&r, schemes[s], k) / healthy;
				mean += v[k] / SEEDS;
			}
			snprintf(row, sizeof(row), "%s-%u",
				 scheme_name[schemes[s]], down);
			out_stat("links-down", row, v, SEEDS, bound / healthy);
			if (schemes[s] == SCHEME_MINMAX &&
			    mean < before * 0.999)
				monotone = 0;
			before = mean;
		}
	}
	out_row("links-down", "monotone", monotone);
	rig_down(&r);
}

/*
 * A link that silently drops 1 %: who uses it gets part of what is sent. With
 * selective repeat 1 - p, with go-back-N and W packets in flight
 * (1 - p) / (1 - p + p W) (Schwartz), both per packet that crosses the link.
 */
static void case_drop(void)
{
	static const char *const names[] = { "selective", "go-back-n" };
	const double p = 0.01, window = 64;
	uint32_t mode, d, i, hit;
	struct srpol_placement *at;
	double worst, loss, eff;
	struct rig r;
	char row[64];
	enum scheme s;

	ring(&r);
	for (mode = 0; mode < 2; mode++) {
		for (s = SCHEME_SPRAY; s <= SCHEME_MINMAX;
		     s += SCHEME_MINMAX - SCHEME_SPRAY) {
			at = scheme_place(&r, s, 0);
			for (d = 0, worst = 1, hit = 0; d < r.n; d++) {
				loss = 0;
				for (i = at->first[d]; i < at->first[d + 1]; i++)
					if (at->shares[i].path == 3 &&
					    r.f->nics[r.demands[d].src].leaf ==
					    r.f->nics[0].leaf)
						loss += p / (at->first[d + 1] -
							     at->first[d]);
				eff = mode ? (1 - loss) /
					     (1 - loss + loss * window) :
					     1 - loss;
				hit += loss > 0;
				worst = fmin(worst, eff);
			}
			snprintf(row, sizeof(row), "%s-%s", scheme_name[s],
				 names[mode]);
			out_row("silent-drop", row, 1 / worst);
			snprintf(row, sizeof(row), "%s-flows-hit",
				 scheme_name[s]);
			if (!mode)
				out_row("silent-drop", row, hit);
			srpol_placement_free(at);
		}
	}
	rig_down(&r);
}

/* A link that goes down and up: without hysteresis every change is a plan. */
static void case_flaps(void)
{
	static const double hysteresis[] = { 0, 0.02, 0.05, 0.1, 0.5 };
	uint32_t h, flap, up, moved;
	struct srpol_placement *p, *next;
	struct srpol_alg_input in;
	struct srpol_error err;
	struct rig r;
	char row[64];

	ring(&r);
	up = srpol_node_up(r.f, r.f->nics[0].leaf, 3);
	for (h = 0; h < ARRAY_SIZE(hysteresis); h++) {
		p = scheme_place(&r, SCHEME_MINMAX, 0);
		moved = 0;
		for (flap = 0; flap < 20; flap++) {
			rig_set_both(&r, up, flap % 2 ? RATE : 0);
			in = rig_input(&r);
			in.previous = p;
			in.options.hysteresis = hysteresis[h];
			if (srpol_alg_run(&srpol_alg_minmax, &in, &next, &err))
				die(err.text);
			moved += next->prediction.moved;
			srpol_placement_free(p);
			p = next;
		}
		snprintf(row, sizeof(row), "moves-hysteresis-%g%%",
			 100 * hysteresis[h]);
		out_row("flaps", row, moved);
		snprintf(row, sizeof(row), "after-hysteresis-%g%%",
			 100 * hysteresis[h]);
		out_row("flaps", row, p->prediction.seconds /
			rig_bound(&r, NULL));
		srpol_placement_free(p);
	}
	rig_down(&r);
}

void case_events(void)
{
	case_known();
	case_wrong();
	case_links_down();
	case_drop();
	case_flaps();
}
