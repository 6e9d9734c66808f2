// SPDX-License-Identifier: GPL-2.0
/*
 * sim [-c] [-o FILE] [CASE...]: run all cases, or those named, and write rows
 * of results, a JSON object per line. -c: what "make check" has time for.
 */
#include <string.h>
#include <unistd.h>

#include "sim.h"

static bool check;

static void fig1(void)
{
	case_fig1(check);
}

static void jobs(void)
{
	case_jobs(check);
}

static void permutation(void)
{
	case_permutation(check);
}

static void lp(void)
{
	case_lp(check);
}

static void scale(void)
{
	case_scale(check);
}

static void uneven(void)
{
	case_uneven(check);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool in_check;
} cases[] = {
	{ "fig1", fig1, true },
	{ "fig2", case_fig2, true },
	{ "ring", case_ring, true },
	{ "permutation", permutation, true },
	{ "lp", lp, true },
	{ "planes", case_planes, true },
	{ "jobs", jobs, true },
	{ "events", case_events, true },
	{ "scale", scale, true },
	{ "uneven", uneven, true },
	{ "collectives", case_collectives, true },
	{ "moe", case_moe, true },
	{ "glb", case_glb, true },
	{ "incast", case_incast, false },
	{ "switch-cpu", case_switch_cpu, false },
};

static bool is_wanted(uint32_t i, char **names)
{
	if (!*names)
		return !check || cases[i].in_check;
	while (*names && strcmp(*names, cases[i].name))
		names++;
	return *names;
}

int main(int argc, char **argv)
{
	FILE *out = stdout;
	double start;
	uint32_t i;
	int opt;

	while ((opt = getopt(argc, argv, "co:")) != -1) {
		if (opt == 'c')
			check = true;
		else if (opt == 'o')
			out = fopen(optarg, "w");
		else
			die("usage: sim [-c] [-o FILE] [CASE...]");
	}
	if (!out)
		die("cannot write there");
	out_open(out);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!is_wanted(i, argv + optind))
			continue;
		start = seconds();
		cases[i].run();
		fprintf(stderr, "sim: %s: %.1f s\n", cases[i].name,
			seconds() - start);
	}
	return fclose(out) ? 1 : 0;
}
