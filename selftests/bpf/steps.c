// SPDX-License-Identifier: GPL-2.0
/*
 * How many steps the kernel's verifier takes for each program. It takes no more
 * than a million, and a program near that loads on one kernel and not on the
 * next; nearly all of the time of the first "dev add" goes there, too.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "srpol.skel.h"

#define STEPS_MAX	60000
#define LOG_LEN		(1 << 20)
#define LOG_STATS	4	/* BPF_LOG_STATS */

/* What the verifier said of @prog; 0: nothing. */
static unsigned long steps_of(const struct bpf_program *prog)
{
	const char *log, *at;
	size_t len;

	log = bpf_program__log_buf(prog, &len);
	at = log ? strstr(log, "processed ") : NULL;
	return at ? strtoul(at + strlen("processed "), NULL, 10) : 0;
}

static bool is_ours(const struct bpf_program *prog)
{
	switch (bpf_program__type(prog)) {
	case BPF_PROG_TYPE_SYSCALL:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_SCHED_CLS:
		return true;
	default:
		/* those of the module, which is not here: each has a twin */
		return false;
	}
}

static struct srpol_bpf *load(void)
{
	struct srpol_bpf *skel = srpol_bpf__open();
	struct bpf_program *prog;

	if (!skel)
		return NULL;
	bpf_map__set_autocreate(skel->maps.srpol_dp, false);
	bpf_object__for_each_program(prog, skel->obj) {
		char *log = calloc(1, LOG_LEN);

		if (!log)
			abort();
		bpf_program__set_autoload(prog, is_ours(prog));
		bpf_program__set_log_level(prog, LOG_STATS);
		bpf_program__set_log_buf(prog, log, LOG_LEN);
	}
	return srpol_bpf__load(skel) ? NULL : skel;
}

static void test_steps(void)
{
	struct srpol_bpf *skel = load();
	struct bpf_program *prog;
	unsigned long steps;

	if (!CHECK(skel, "%s", strerror(errno)))
		return;
	bpf_object__for_each_program(prog, skel->obj) {
		if (!is_ours(prog))
			continue;
		steps = steps_of(prog);
		printf("# %s: %lu\n", bpf_program__name(prog), steps);
		CHECK(steps && steps <= STEPS_MAX, "%s: %lu",
		      bpf_program__name(prog), steps);
	}
}

static const struct ktap_test tests[] = {
	{ "no program takes more than 60,000 steps", test_steps },
};

int main(void)
{
	if (geteuid())
		ktap_skip_all("needs root");
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
