// SPDX-License-Identifier: GPL-2.0
/*
 * scale [-w WINDOWS] [-n PACKETS]: what the XDP programs cost on two processors
 * at the same time, each with flows of its own, over what they cost on each of
 * them while the other has nothing to do. One line of JSON per row:
 *
 *	{"row": NAME, "alone": NS, "both": NS, "scaling": RATIO}
 *
 * "scaling" is the median of alone / both, window by window: 1 if the two do not
 * disturb each other. That of the empty program is what the machine leaves: it
 * shares caches, memory and often a core between the two. Programs that write a
 * line of memory which the other processor writes, too, come out lower.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base.skel.h"
#include "harness.skel.h"
#include "plan.h"
#include "srpol.skel.h"

#define PROCESSORS	2
#define ROWS		5
#define POLICY		1

/**
 * struct processor - one of those that are measured
 * @nr: its number
 * @harness: makes its packets anew
 * @frame: what its next window runs on
 * @packet: the same
 * @ns: mean of its last window
 */
struct processor {
	unsigned int nr;
	struct harness_bpf *harness;
	__u32 frame;
	const struct pkt *packet;
	double ns;
};

/**
 * struct row - a program and its packets
 * @name: what it is
 * @packet: a frame
 * @alone: nanoseconds, mean of the processors, by window
 * @both: at the same time
 * @scaling: of each window
 */
struct row {
	const char *name;
	struct pkt packet;
	double *alone;
	double *both;
	double *scaling;
};

static struct processor processors[PROCESSORS];
static struct row rows[ROWS];
static unsigned int n_rows, windows = 100, packets = 100000;
static pthread_barrier_t start;

static void row_add(const char *name, struct bpf_program *prog,
		    const struct pkt *packet, unsigned int flows)
{
	struct row *r = &rows[n_rows];
	int fd = bpf_program__fd(prog);
	struct bench_frame f;
	unsigned int i;

	r->name = name;
	r->packet = *packet;
	r->alone = calloc(windows, sizeof(*r->alone));
	r->both = calloc(windows, sizeof(*r->both));
	r->scaling = calloc(windows, sizeof(*r->scaling));
	for (i = 0; i < PROCESSORS; i++) {
		struct harness_bpf *h = processors[i].harness;

		plan_renewal(&f, packet, POLICY, flows);
		f.qp += i * flows;
		f.target = n_rows;
		if (bpf_map_update_elem(bpf_map__fd(h->maps.targets), &n_rows,
					&fd, 0) ||
		    bpf_map_update_elem(bpf_map__fd(h->maps.frames), &n_rows,
					&f, 0))
			plan_die(name);
	}
	n_rows++;
}

/* One window, on the processor where the caller is. */
static void window(struct processor *p)
{
	struct harness_bpf__bss *bss = p->harness->bss;
	struct pkt out;
	int err;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = p->packet->b,
		    .data_size_in = p->packet->len, .data_out = out.b,
		    .data_size_out = sizeof(out.b), .repeat = packets);
	bss->frame_nr = p->frame;
	bss->runs_warm = packets / 10;
	bss->runs_wanted = packets;
	/* a signal ends a run: as a debugger stops and continues a process */
	do {
		bss->runs = 0;
		err = bpf_prog_test_run_opts(bpf_program__fd(p->harness->progs.again),
					     &opts);
	} while (err == -EINTR);
	if (err || !opts.retval || bss->runs != packets) {
		fprintf(stderr, "%s: %d, verdict %u\n", rows[p->frame].name,
			err, opts.retval);
		exit(1);
	}
	p->ns = (double)(bss->last_ns - bss->first_ns) /
		(packets - packets / 10 - 1);
}

static void go_to(unsigned int processor)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		plan_die("sched_setaffinity");
}

/* The other processor, while both are measured. */
static void *other(void *data)
{
	struct processor *p = data;
	unsigned int i;

	go_to(p->nr);
	for (i = 0; i < windows * n_rows; i++) {
		pthread_barrier_wait(&start);
		window(p);
		pthread_barrier_wait(&start);
	}
	return NULL;
}

static double mean(void)
{
	return (processors[0].ns + processors[1].ns) / PROCESSORS;
}

static void measure(struct row *r, unsigned int w)
{
	unsigned int i;

	for (i = 0; i < PROCESSORS; i++) {
		processors[i].frame = r - rows;
		processors[i].packet = &r->packet;
		go_to(processors[i].nr);
		window(&processors[i]);
	}
	r->alone[w] = mean();
	go_to(processors[0].nr);
	pthread_barrier_wait(&start);
	window(&processors[0]);
	pthread_barrier_wait(&start);
	r->both[w] = mean();
	r->scaling[w] = r->alone[w] / r->both[w];
}

static double median(double *values)
{
	qsort(values, windows, sizeof(*values), plan_by_value);
	return values[windows / 2];
}

static void open_all(void)
{
	static const struct plan_policy policy = {
		.id = POLICY, .mode = SRPOL_LB_MODE_HASH, .sids = 3,
		.ifindex = 1,
	};
	struct base_bpf *base;
	struct pkt v6, srv6;
	unsigned int i;

	rig_open();
	base = base_bpf__open_and_load();
	for (i = 0; base && i < PROCESSORS; i++) {
		processors[i].nr = plan_processor(i);
		processors[i].harness = harness_bpf__open();
		if (!processors[i].harness ||
		    bpf_map__reuse_fd(processors[i].harness->maps.probes,
				      rig_map("probes")) ||
		    harness_bpf__load(processors[i].harness))
			plan_die("load");
	}
	if (!base)
		plan_die("load");
	plan_templates(bpf_map__fd(base->maps.templates));
	plan_begin();
	plan_policy(&policy);
	plan_rules(1, 16, PLAN_BY_QP);
	rig_uplink_add(1);
	plan_frame(&v6, true, POLICY);
	plan_frame_srv6(&srv6, true, 2);
	row_add("empty", base->progs.xdp_empty, &v6, 1);
	row_add("floor of steering, 3 SIDs", base->progs.xdp_floor, &v6, 1);
	row_add("port, hash, 3 SIDs", rig->progs.srpol_port, &v6, 1);
	row_add("port, 64 flows", rig->progs.srpol_port, &v6, 64);
	row_add("uplink, End.DT46, IPv6", rig->progs.srpol_uplink, &srv6, 1);
}

int main(int argc, char **argv)
{
	unsigned int w, i;
	pthread_t thread;
	int opt;

	while ((opt = getopt(argc, argv, "w:n:")) != -1) {
		if (opt == 'w')
			windows = atoi(optarg);
		else if (opt == 'n')
			packets = atoi(optarg);
		else
			return 2;
	}
	if (!windows || packets < 100)
		return 2;
	if (plan_processor(PROCESSORS - 1) < 0) {
		fprintf(stderr, "scale: one processor only\n");
		return 1;
	}
	open_all();
	pthread_barrier_init(&start, NULL, PROCESSORS);
	if (pthread_create(&thread, NULL, other, &processors[1]))
		plan_die("pthread_create");
	for (w = 0; w < windows; w++)
		for (i = 0; i < n_rows; i++)
			measure(&rows[i], w);
	pthread_join(thread, NULL);
	for (i = 0; i < n_rows; i++)
		printf("{\"row\": \"%s\", \"alone\": %.1f, \"both\": %.1f, \"scaling\": %.3f}\n",
		       rows[i].name, median(rows[i].alone),
		       median(rows[i].both), median(rows[i].scaling));
	return 0;
}
