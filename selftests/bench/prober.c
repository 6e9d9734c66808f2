// SPDX-License-Identifier: GPL-2.0
/*
 * prober [PATHS [INTERVAL-MS [SECONDS]]]: what srpold's prober takes of a
 * processor. It is the engine's own, with its clock and its packet socket, on a
 * veth whose other end drops all it gets by XDP, at once and on the same
 * processor. Answers are entered between the ticks, as XDP at the uplink does on
 * some other processor, and are not counted.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "net.h"
#include "probing.h"
#include "srpold.h"

#define UPLINK		10
#define PEER		11
#define NS_PER_SEC	1000000000ull
#define SIDS		6

static struct source *ticker;
static struct uplink uplink;
static struct srpol_nic nic = { .name = "v10" };
static struct srpol_fabric fabric = { .nics = &nic, .n_nics = 1 };
static struct engine engine;
static struct srpol_probe *table;
static uint64_t verdicts;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "prober: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- what the prober needs of the rest */

bool log_verbose;

void log_notice(const char *fmt __attribute__((unused)), ...)
{
}

void log_error(const char *fmt __attribute__((unused)), ...)
{
}

void log_debug(const char *fmt __attribute__((unused)), ...)
{
}

bool probe_map_follow(void)
{
	return false;
}

struct srpol_probe *probe_map_at(uint32_t index)
{
	return &table[index];
}

int reflect_begin_anew(struct srpol_error *err __attribute__((unused)))
{
	return 0;
}

const char *srpol_reason_name(unsigned int reason __attribute__((unused)))
{
	return "";
}

const char *srpol_addr_text(const void *addr __attribute__((unused)),
			    char *buf __attribute__((unused)))
{
	return "";
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

int timer_open(struct source *source,
	       uint64_t first_ns __attribute__((unused)),
	       uint64_t every_ns __attribute__((unused)))
{
	source->fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ticker = source;
	return 0;
}

uint64_t timer_take(const struct source *source __attribute__((unused)))
{
	return 1;
}

void loop_remove(struct source *source __attribute__((unused)))
{
}

struct uplink *uplink_of(uint32_t number)
{
	return number ? NULL : &uplink;
}

void uplinks_follow(void)
{
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

void verdicts_tell(struct engine *e __attribute__((unused)))
{
	verdicts++;
}

void verdicts_refresh(struct engine *e __attribute__((unused)))
{
}

void verdicts_keep(struct engine *e __attribute__((unused)))
{
}

void watch_look(bool whole __attribute__((unused)))
{
}

int srpol_error_set(struct srpol_error *err __attribute__((unused)), int code,
		    const char *fmt __attribute__((unused)), ...)
{
	return code;
}

/* ---- the bench */

static void nothing(struct source *source __attribute__((unused)),
		    uint32_t events __attribute__((unused)))
{
}

/* Drop all that comes in. */
static void drop_at(unsigned int ifindex)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_DROP },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_XDP_HAS_FRAGS);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "drop", "GPL", code, 2, &opts);

	if (fd < 0 || bpf_xdp_attach(ifindex, fd, XDP_FLAGS_DRV_MODE, NULL))
		die("XDP");
}

static void open_uplink(void)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_ifindex = UPLINK,
	};

	uplink = (struct uplink){
		.ifindex = UPLINK,
		.engine = &engine,
		.source = {
			.fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0),
			.ready = nothing,
		},
	};
	if (uplink.source.fd < 0 ||
	    bind(uplink.source.fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("packet socket");
}

static void make_paths(uint32_t n)
{
	struct engine_path *path;
	uint32_t i, k;

	table = calloc(SRPOL_MAX_PROBES, sizeof(*table));
	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	for (i = 0; i < n; i++) {
		path = vec_add(&engine.paths);
		path->up = true;
		path->leader = i;
		path->loop.n = SIDS;
		for (k = 0; k < SIDS; k++) {
			path->loop.sid[k].s6_addr[0] = 0xfc;
			path->loop.sid[k].s6_addr[4] = i >> 8;
			path->loop.sid[k].s6_addr[5] = i;
			path->loop.sid[k].s6_addr[15] = k + 1;
		}
		liveness_init(&path->live, now_ns());
	}
}

/* As XDP does when they come back. */
static void answer_all(void)
{
	struct engine_path *path;
	struct srpol_probe *p;
	uint32_t seq;

	vec_for_each(path, &engine.paths) {
		p = &table[path->probe];
		for (seq = path->oldest; seq != path->seq;
		     seq = probe_next_seq(seq))
			srpol_probe_came(p, seq,
					 srpol_probe_slot_of(p, seq)->sent_ns,
					 now_ns(), 0, 60);
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

static void wait_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_SEC,
			       .tv_nsec = ns % NS_PER_SEC };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void run(uint32_t seconds)
{
	uint64_t begin = now_ns(), next = begin, now, spent = 0, before;
	uint64_t ticks = 0, sent = 0, received = 0, lost = 0;
	const struct engine_path *path;

	do {
		next += NS_PER_MS;
		wait_until(next);
		before = cpu_ns();
		ticker->ready(ticker, 0);
		spent += cpu_ns() - before;
		ticks++;
		answer_all();
		now = now_ns();
		if (next < now)
			next = now;
	} while (now - begin < seconds * NS_PER_SEC);
	vec_for_each(path, &engine.paths) {
		sent += path->stats.sent;
		received += path->stats.received;
		lost += path->stats.lost;
	}
	now -= begin;
	printf("%zu paths: %llu probes/s, %llu ns each, %.1f %% of a processor; %llu ticks/s, lost %llu, unsent %llu, late %llu\n",
	       engine.paths.n, (unsigned long long)(sent * NS_PER_SEC / now),
	       (unsigned long long)(sent ? spent / sent : 0),
	       100.0 * spent / now,
	       (unsigned long long)(ticks * NS_PER_SEC / now),
	       (unsigned long long)lost,
	       (unsigned long long)prober_stats.unsent,
	       (unsigned long long)prober_stats.late_ticks);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? atoi(argv[1]) : 1000;
	uint32_t ms = argc > 2 ? atoi(argv[2]) : 10;
	int here = net_new(), there = net_new();

	if (!n || n > SRPOL_MAX_PROBES || !ms) {
		fprintf(stderr, "usage: prober [PATHS [INTERVAL-MS [SECONDS]]]\n");
		return 2;
	}
	net_enter(here);
	net_veth(UPLINK, PEER, there);
	net_enter(there);
	drop_at(PEER);
	net_enter(here);
	engine.config = (struct config){
		.interval_ns = ms * NS_PER_MS, .timeout_ns = ms * NS_PER_MS,
		.budget = 10000000, .live = { .multiplier = 3 },
	};
	engine.fabric = &fabric;
	if (probe_init())
		die("key");
	open_uplink();
	make_paths(n);
	if (prober_start(&engine, NULL))
		die("prober");
	run(argc > 3 ? atoi(argv[3]) : 5);
	return 0;
}
