// SPDX-License-Identifier: GPL-2.0
/*
 * A profiler to be chained, with interface CHAINED only: it counts what it is
 * told, holds handles to be its own, and says so at the end. Like NCCL's own
 * example it says what it wants at the first communicator only, and may change
 * its mind later: after CHAINED_STOP collectives it wants nothing any more.
 * CHAINED_MASK says what it wants instead of the usual.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "nccl_trace.h"

#if CHAINED == 4
#define DESCR	struct descr4
#define PLUGIN	struct plugin4
#define NAME	ncclProfiler_v4
#else
#define DESCR	struct descr6
#define PLUGIN	struct plugin6
#define NAME	ncclProfiler_v6
#endif

struct event {
	uint64_t type;
	struct event *parent;
	struct event *before;
};

static struct event *last;	/* one thread begins events */

static atomic_int inits, colls, proxies, stops, records, wrong, finals;
static atomic_uint_fast64_t bytes;

static int *asked;
static int stop_at;

static int begin(void **context, int *mask)
{
	const char *wanted = getenv("CHAINED_MASK");

	*context = &inits;
	if (inits++)
		return 0;
	/* messages are not asked for, but are above proxy operations */
	*mask = GROUP | COLL | PROXY_OP | (CHAINED == 6 ? COLL_API : 0);
	if (wanted)
		*mask = atoi(wanted);
	asked = mask;
	stop_at = atoi(getenv("CHAINED_STOP") ?: "0");
	return 0;
}

#if CHAINED == 4
static int init(void **context, int *mask, const char *name, uint64_t hash,
		int nodes, int ranks, int rank, log_fn log)
{
	return begin(context, mask);
}
#else
static int init(void **context, uint64_t id, int *mask, const char *name,
		int nodes, int ranks, int rank, log_fn log)
{
	return begin(context, mask);
}
#endif

static int start(void *context, void **handle, DESCR *e)
{
	struct event *event = calloc(1, sizeof(*event));

	event->before = last;
	last = event;
	event->type = e->type;
	event->parent = e->parent;
	if (context != &inits || event->type > COLL_API ||
	    (event->type == P2P && !(*asked & (P2P | PROXY_OP | PROXY_STEP))))
		wrong++;
	if (e->type == COLL) {
		colls++;
		bytes += e->coll.count;
		if (colls == stop_at)
			__atomic_store_n(asked, 0, __ATOMIC_RELAXED);
		if (!event->parent || event->parent->type !=
		    (CHAINED == 4 ? GROUP : COLL_API))
			wrong++;
	} else if (e->type == PROXY_OP) {
		proxies++;
		if (event->parent && event->parent->type != COLL &&
		    event->parent->type != P2P)
			wrong++;
	}
	*handle = event;
	return 0;
}

static int stop(void *handle)
{
	stops++;
	return 0;
}

static int record(void *handle, int state, void *args)
{
	records++;
	return 0;
}

static int finalize(void *context)
{
	struct event *before;

	finals++;
	printf("chained inits %d colls %d count %llu proxies %d stops %d records %d finals %d wrong %d\n",
	       inits, colls, (unsigned long long)bytes, proxies, stops,
	       records, finals, wrong);
	fflush(stdout);
	for (; last; last = before) {
		before = last->before;
		free(last);
	}
	return 0;
}

__attribute__((visibility("default"))) PLUGIN NAME = {
	.name = "chained", .init = init, .start = start, .stop = stop,
	.record = record, .finalize = finalize,
};
