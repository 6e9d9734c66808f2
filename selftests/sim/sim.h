/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulator: workloads on fabrics under schemes, and what comes of it. The
 * algorithms are those of lib/alg; what is here is no product code.
 */
#ifndef _SRPOL_SIM_H
#define _SRPOL_SIM_H

#include <stdio.h>

#include "alg.h"
#include "srpol_lib.h"

#define GBPS		UINT64_C(1000000000)
#define MIB		(UINT64_C(1) << 20)
#define SEEDS		20
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* rig.c: a fabric with its links and what is to be sent */

/**
 * struct rig - one scenario
 * @f: fabric
 * @links: what is known of it
 * @demands: what is to be sent
 * @n: number of them
 * @room: of @demands
 */
struct rig {
	struct srpol_fabric *f;
	struct srpol_links *links;
	struct srpol_demand *demands;
	uint32_t n;
	uint32_t room;
};

void rig_up(struct rig *r, struct srpol_shape shape);
void rig_down(struct rig *r);
void rig_clear(struct rig *r);
void rig_send(struct rig *r, uint32_t src, uint32_t dst, uint64_t bytes);
struct srpol_alg_input rig_input(const struct rig *r);
double rig_bound(const struct rig *r, struct srpol_bound *bound);
void rig_set_both(struct rig *r, uint32_t link, uint64_t capacity);
uint32_t rig_uplinks(const struct rig *r, uint32_t *links);
void die(const char *why);
double seconds(void);

/* random.c: the same numbers everywhere */
uint64_t rnd(uint64_t *seed);
uint32_t rnd_below(uint64_t *seed, uint32_t n);
double rnd_unit(uint64_t *seed);
void rnd_shuffle(uint64_t *seed, uint32_t *list, uint32_t n);

/* workload.c: collectives as demands; ranks are GPUs in a given order */
void ranks_in_order(uint32_t *ranks, uint32_t n);
void ranks_by_leaf(const struct rig *r, uint32_t *ranks, uint32_t leaves);
void work_ring(struct rig *r, const uint32_t *ranks, uint32_t n,
	       uint64_t bytes);
void work_all_gather(struct rig *r, const uint32_t *ranks, uint32_t n,
		     uint64_t bytes);
void work_tree(struct rig *r, const uint32_t *ranks, uint32_t n,
	       uint64_t bytes);
void work_halving(struct rig *r, const uint32_t *ranks, uint32_t n,
		  uint64_t bytes, uint32_t step);
void work_all_to_all(struct rig *r, const uint32_t *ranks, uint32_t n,
		     uint64_t bytes);
void work_moe(struct rig *r, const uint32_t *ranks, uint32_t n, uint64_t bytes,
	      double zipf, uint64_t seed);
void work_pipeline(struct rig *r, const uint32_t *ranks, uint32_t n,
		   uint64_t bytes);
void work_permutation(struct rig *r, uint64_t seed, uint64_t bytes);

/* scheme.c: what decides on paths */

/**
 * enum scheme - algorithms of lib/alg, and baselines that are not product code
 */
enum scheme {
	SCHEME_ECMP1,
	SCHEME_ECMP4,
	SCHEME_ECMP16,
	SCHEME_FLOWLET,
	SCHEME_SPRAY,
	SCHEME_ADAPTIVE,
	SCHEME_REPS,
	SCHEME_MRC,
	SCHEME_ETHEREAL,
	SCHEME_WECMP,
	SCHEME_MINMAX,
	SCHEME_MINMAX_QPS,	/* demands that are split: a QP per path */
	SCHEMES,
};

extern const char *const scheme_name[SCHEMES];
bool scheme_is_random(enum scheme s);
struct srpol_placement *scheme_place(const struct rig *r, enum scheme s,
				     uint64_t seed);
bool scheme_is_coupled(enum scheme s);
double scheme_time(const struct rig *r, enum scheme s, uint64_t seed);

/* epoch.c: schemes that change their paths while flows run */
double epoch_time(const struct rig *r, enum scheme s, uint64_t seed);

/* lp.c: GLPK */
double lp_bound(const struct rig *r);

/* pause.c: queues with pause frames; switch processors */
void case_incast(void);
void case_switch_cpu(void);

/* out.c: results, a JSON object per line */
void out_open(FILE *to);
void out_row(const char *in_case, const char *row, double value);
void out_stat(const char *in_case, const char *row, const double *values,
	      uint32_t n, double bound);
void out_note(const char *in_case, const char *key, const char *text);

/* case_*.c */
void case_fig1(bool check);
void case_fig2(void);
void case_ring(void);
void case_permutation(bool check);
void case_lp(bool check);
void case_planes(void);
void case_jobs(bool check);
void case_uneven(bool check);
void case_events(void);
void case_collectives(void);
void case_moe(void);
void case_glb(void);
void case_scale(bool check);

#endif /* _SRPOL_SIM_H */
