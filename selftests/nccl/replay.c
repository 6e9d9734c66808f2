// SPDX-License-Identifier: GPL-2.0
/*
 * replay LIBRARY VERSION WHAT...: loads a profiler plugin as NCCL does and
 * tells it what NCCL would, in NCCL's order, as rank 2 of 8 on 4 nodes (2 a
 * node, so this is the second one). WHAT is done one after the other:
 *
 *	init		a communicator; the mask, which NCCL has one of for all of
 *			them, is printed; what follows is done in it
 *	init1		likewise, of one node; init3: of three
 *	ring N TIMES	all-reduces of N floats, algorithm RING
 *	tree N TIMES	likewise TREE
 *	gather N TIMES	all-gathers of N bytes
 *	send N PEER	a message of N bytes
 *	proxy N PEER	a proxy operation of a collective, of N bytes
 *	pxn N PEER	likewise one that another process has this one do (PXN), and
 *			a step of it: what NCCL has of that process are pointers
 *			that mean nothing here
 *	threads N TIMES	8 threads that do "ring N TIMES" at once
 *	fork WHAT...	the rest is done by a child, too, with a communicator of
 *			its own
 *	setenv NAME	the program gives a variable another value
 *	sleep MS	the program computes
 *	final		end of the communicator; the one before it goes on
 *	close		the library goes
 *
 * Then it says how long events took and what became of them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nccl_trace.h"

#define THREADS		8
#define COMMS		8

static void *library;
static int version;
static const struct plugin4 *v4;
static const struct plugin6 *v6;
static void *contexts[COMMS], *context;
static unsigned int comms;
static int mask;
static atomic_uint_fast64_t events, took_ns, worst_ns;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void ignore(int level, unsigned long flags, const char *file, int line,
		   const char *fmt, ...)
{
}

static void die(const char *why)
{
	fprintf(stderr, "replay: %s\n", why);
	_exit(1);
}

static void load(const char *path)
{
	char symbol[32];

	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		die(dlerror());
	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", version);
	v4 = version == 4 ? dlsym(library, symbol) : NULL;
	v6 = version > 4 ? dlsym(library, symbol) : NULL;
	if (!v4 && !v6)
		die("no such interface");
}

static void init(int nodes)
{
	int ranks = nodes == 1 ? 2 : 2 * nodes;

	if (comms == COMMS)
		die("too many communicators");
	if (v4 ? v4->init(&context, &mask, "", 7, nodes, ranks, nodes > 1 ? 2 : 0, ignore) :
	    v6->init(&context, 7, &mask, "", nodes, ranks, nodes > 1 ? 2 : 0, ignore))
		die("init failed");
	contexts[comms++] = context;
	printf("mask %d\n", mask);
}

static void final(void)
{
	if (v4 ? v4->finalize(context) : v6->finalize(context))
		die("finalize failed");
	comms--;
	context = comms ? contexts[comms - 1] : NULL;
}

static void stop(void *handle)
{
	if (handle && (v4 ? v4->stop(handle) : v6->stop(handle)))
		die("stop failed");
}

static void record(void *handle, int state)
{
	uint64_t args[2] = {};

	if (handle && (v4 ? v4->record(handle, state, args) :
		       v6->record(handle, state, args)))
		die("record failed");
}

/*
 * NCCL tells of events that are asked for, and of those above them: what has to
 * be asked for, one of it, to be told of a type.
 */
static int above(uint64_t type)
{
	static const int step = PROXY_STEP | NET_PLUGIN;
	static const int task = step | PROXY_OP | KERNEL_CH;

	return type == GROUP || type == GROUP_API ? task | COLL | P2P :
	       type == COLL_API ? task | COLL : type == COLL || type == P2P ?
	       task : type == PROXY_OP ? step : 0;
}

/* An event as NCCL has it; nothing beyond its description may be read. */
static void *start(const struct descr6 *from)
{
	struct descr4 *four = v4 ? malloc(sizeof(*four)) : NULL;
	struct descr6 *six = v4 ? NULL : malloc(sizeof(*six));
	void *handle = NULL;
	uint64_t begin, ns, worst;
	int ret;

	if (!(mask & ((int)from->type | above(from->type)))) {
		free(four);
		free(six);
		return NULL;
	}
	if (four) {
		/* the bytes behind the type are whatever was there */
		memset(four, 0xa5, sizeof(*four));
		four->type = from->type;
		four->parent = from->type == COLL ? from->coll.group :
			       from->type == P2P ? from->p2p.group :
			       from->parent;
		four->rank = from->rank;
		memcpy(&four->coll, &from->coll, sizeof(four->coll));
	} else {
		*six = *from;
	}
	begin = now();
	ret = v4 ? v4->start(context, &handle, four) :
	      v6->start(context, &handle, six);
	ns = now() - begin;
	events++;
	took_ns += ns;
	for (worst = worst_ns; ns > worst &&
	     !atomic_compare_exchange_weak(&worst_ns, &worst, ns);)
		;
	free(four);
	free(six);
	if (ret)
		die("start failed");
	return handle;
}

static void collective(const char *func, const char *algo, size_t count,
		       const char *datatype, uint64_t seq)
{
	struct descr6 group = { .type = GROUP, .rank = 2 };
	struct descr6 api = { .type = COLL_API, .rank = 2 };
	struct descr6 coll = { .type = COLL, .rank = 2 };
	struct descr6 proxy = { .type = PROXY_OP, .rank = 2 };
	void *g = start(&group), *a = start(&api), *c, *p;

	coll.parent = a;
	coll.coll.seq = seq;
	coll.coll.func = func;
	coll.coll.count = count;
	coll.coll.datatype = datatype;
	coll.coll.channels = 2;
	coll.coll.algo = algo;
	coll.coll.proto = "SIMPLE";
	coll.coll.group = g;
	c = start(&coll);
	stop(c);
	stop(g);
	stop(a);
	/* what it receives */
	proxy.parent = c;
	proxy.proxy.pid = getpid();
	proxy.proxy.peer = 0;
	proxy.proxy.steps = 4;
	proxy.proxy.chunk = 1000;
	p = start(&proxy);
	record(p, 19);
	stop(p);
}

static void message(size_t bytes, int peer)
{
	struct descr6 e = { .type = P2P, .rank = 2 };
	struct descr6 proxy = { .type = PROXY_OP, .rank = 2 };
	void *h;

	e.p2p.func = "Recv";
	e.p2p.datatype = "ncclInt8";
	e.p2p.count = bytes;
	e.p2p.peer = peer;
	stop(start(&e));
	e.p2p.func = "Send";
	h = start(&e);
	stop(h);
	/* its proxy says nothing of collectives */
	proxy.parent = h;
	proxy.proxy.pid = getpid();
	proxy.proxy.peer = peer;
	proxy.proxy.steps = 1;
	proxy.proxy.chunk = bytes;
	proxy.proxy.is_send = 1;
	stop(start(&proxy));
}

static void proxy(int bytes, int peer)
{
	struct descr6 e = { .type = PROXY_OP, .rank = 2 };

	e.proxy.pid = getpid();
	e.proxy.peer = peer;
	e.proxy.steps = 1;
	e.proxy.chunk = bytes;
	e.proxy.is_send = 1;
	stop(start(&e));
}

static void pxn(int bytes, int peer)
{
	struct descr6 op = { .type = PROXY_OP, .rank = 3, .parent = (void *)24 };
	struct descr6 step = { .type = PROXY_STEP, .rank = 3 };
	void *own = context;

	context = (void *)40;
	op.proxy.pid = getpid() + 1;
	op.proxy.peer = peer;
	op.proxy.steps = 1;
	op.proxy.chunk = bytes;
	op.proxy.is_send = 1;
	step.parent = start(&op);
	stop(start(&step));
	stop(step.parent);
	context = own;
}

static long thread_count, thread_times;

static void *thread(void *data)
{
	long i;

	for (i = 0; i < thread_times; i++)
		collective("AllReduce", "RING", thread_count, "ncclFloat32", i);
	return NULL;
}

static void threads(long count, long times)
{
	pthread_t t[THREADS];
	int i;

	thread_count = count;
	thread_times = times;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, NULL))
			die("no thread");
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void say_stats(const char *who)
{
	void (*stats)(uint64_t *dropped, uint64_t *sent, uint64_t *lost);
	uint64_t dropped = 0, sent = 0, lost = 0;

	*(void **)&stats = dlsym(library, "srpol_profiler_stats");
	if (stats)
		stats(&dropped, &sent, &lost);
	printf("%s events %llu dropped %llu sent %llu lost %llu mean-ns %llu worst-ns %llu\n",
	       who, (unsigned long long)events, (unsigned long long)dropped,
	       (unsigned long long)sent, (unsigned long long)lost,
	       (unsigned long long)(events ? took_ns / events : 0),
	       (unsigned long long)worst_ns);
	fflush(stdout);
}

static void do_all(char **what);

static void forked(char **what)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("no fork");
	if (!pid) {
		/* the parent's communicator: nobody is there, nothing breaks */
		collective("AllReduce", "RING", 1, "ncclFloat32", 0);
		init(4);
		do_all(what);
		_exit(0);
	}
	do_all(what);
	if (waitpid(pid, &status, 0) != pid || status)
		die("the child died");
}

static void many(char **w, const char *func, const char *algo,
		 const char *datatype)
{
	long i, times = atol(w[2]);

	for (i = 0; i < times; i++)
		collective(func, algo, atol(w[1]), datatype, i);
}

static void do_all(char **w)
{
	for (; *w; w++) {
		if (!strcmp(*w, "init")) {
			init(4);
		} else if (!strcmp(*w, "init1") || !strcmp(*w, "init3")) {
			init((*w)[4] - '0');
		} else if (!strcmp(*w, "ring") || !strcmp(*w, "tree")) {
			many(w, "AllReduce", **w == 'r' ? "RING" : "TREE",
			     "ncclFloat32");
			w += 2;
		} else if (!strcmp(*w, "gather")) {
			many(w, "AllGather", "RING", "ncclInt8");
			w += 2;
		} else if (!strcmp(*w, "send")) {
			message(atol(w[1]), atoi(w[2]));
			w += 2;
		} else if (!strcmp(*w, "proxy")) {
			proxy(atol(w[1]), atoi(w[2]));
			w += 2;
		} else if (!strcmp(*w, "pxn")) {
			pxn(atol(w[1]), atoi(w[2]));
			w += 2;
		} else if (!strcmp(*w, "threads")) {
			threads(atol(w[1]), atol(w[2]));
			w += 2;
		} else if (!strcmp(*w, "sleep")) {
			usleep(1000 * atol(*++w));
		} else if (!strcmp(*w, "setenv")) {
			setenv(*++w, "other", 1);
		} else if (!strcmp(*w, "final")) {
			final();
			say_stats("stats");
		} else if (!strcmp(*w, "close")) {
			dlclose(library);
		} else if (!strcmp(*w, "fork")) {
			forked(w + 1);
			return;
		} else {
			die(*w);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("replay LIBRARY VERSION WHAT...");
	version = atoi(argv[2]);
	load(argv[1]);
	do_all(argv + 3);
	return 0;
}
