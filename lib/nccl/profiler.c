// SPDX-License-Identifier: BSD-2-Clause
/*
 * libnccl-profiler-srpol.so: what NCCL is going to send, told to srpold. It is
 * loaded as a profiler, of whichever interface NCCL knows:
 *
 *	NCCL_PROFILER_PLUGIN=srpol SRPOL_HOSTS=a,b,c
 *
 * Threads of NCCL leave notes and go on: no lock, no system call but the one
 * that wakes a sender that sleeps. An event has no memory of its own; its
 * handle is that of the next profiler, SRPOL_NEXT_PROFILER, or one that says
 * that there is none.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler_abi.h"
#include "sender.h"

#define EXPORT		__attribute__((visibility("default")))
#define OWN_EVENTS	(EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP)
#define DESCR_V4	104	/* bytes of a description */
#define DESCR_V5	112
#define LOG_WARN	2
#define LOG_INFO	3
#define LOG_INIT	1

/* Of communicators: who begins or ends one may wait. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int users;
static struct hosts hosts;
static pid_t self;		/* as NCCL knows this process */
static int asked;		/* NCCL has one mask for all communicators */

/**
 * struct next_profiler - the one that is called after us
 * @library: handle
 * @version: of its interface, 0: there is none
 * @v4: it, if that is 4
 * @v5: it, if that is 5 or 6
 */
static struct next_profiler {
	void *library;
	int version;
	const struct profiler_v4 *v4;
	const struct profiler_v5 *v5;
} next;

/*
 * Events it wants. It may keep the address, as it may keep NCCL's, write there
 * once for all communicators, and write again at any time.
 */
static int next_mask;

/* Handles of events that the next profiler does not know. */
static char own_event, own_message;

static void after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	users = 0;
	asked = 0;
	/* what the parent's communicators are on is not freed: they may be used */
	hosts = (struct hosts){};
	sender_forked();
}

__attribute__((constructor))
static void loaded(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

/* The newest interface of it that is not newer than the one NCCL uses. */
static void load_next(int version, profiler_log log)
{
	const char *path = getenv("SRPOL_NEXT_PROFILER");

	if (!path || !*path)
		return;
	next.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (next.library && version >= 6)
		next.v5 = dlsym(next.library, "ncclProfiler_v6");
	next.version = next.v5 ? 6 : 0;
	if (next.library && !next.version && version >= 5) {
		next.v5 = dlsym(next.library, "ncclProfiler_v5");
		next.version = next.v5 ? 5 : 0;
	}
	if (next.library && !next.version) {
		next.v4 = dlsym(next.library, "ncclProfiler_v4");
		next.version = next.v4 ? 4 : 0;
	}
	if (!next.version && log)
		log(LOG_WARN, LOG_INIT, __FILE__, __LINE__,
		    "srpol: SRPOL_NEXT_PROFILER %s is not used: %s", path,
		    next.library ? "it has no interface from 4 on that fits" :
		    dlerror());
}

static void unload_next(void)
{
	if (next.library)
		dlclose(next.library);
	next = (struct next_profiler){};
	next_mask = 0;
}

static void read_hosts(void)
{
	const char *list = getenv("SRPOL_HOSTS");

	list = list ? list : getenv("SLURM_JOB_NODELIST");
	if (list)
		hosts_read(&hosts, list);
}

/* Events the next profiler wants, of those that its interface has. */
static int events_of_next(void)
{
	int mask = __atomic_load_n(&next_mask, __ATOMIC_RELAXED);

	return next.version == 4 ? mask & EVENTS_V4 :
	       next.version == 5 ? mask & EVENTS_V5 : mask;
}

/*
 * Whoever asks for an event is told of those above it as well, by NCCL and so by
 * us: it may have to hang the event below them.
 */
static int with_parents(int mask)
{
	static const struct {
		int any;
		int parents;
	} of[] = {
		{ EVENT_NET, EVENT_STEP },
		{ EVENT_STEP, EVENT_PROXY_OP },
		{ EVENT_PROXY_OP | EVENT_KERNEL, EVENT_COLL | EVENT_P2P },
		{ EVENT_CE_SYNC | EVENT_CE_BATCH, EVENT_CE_COLL },
		{ EVENT_COLL | EVENT_P2P, EVENT_GROUP },
		{ EVENT_COLL | EVENT_CE_COLL, EVENT_COLL_API },
		{ EVENT_P2P, EVENT_P2P_API },
		{ ~EVENT_CONTROL, EVENT_GROUP_API },
	};
	size_t i;

	for (i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (mask & of[i].any)
			mask |= of[i].parents;
	return mask;
}

static void init_next(struct comm *c, uint64_t id, const char *name, int nodes,
		      int ranks, int rank, profiler_log log)
{
	if (!next.version)
		return;
	c->chained = !(next.v4 ?
		       next.v4->init(&c->next, &next_mask, name, id, nodes,
				     ranks, rank, log) :
		       next.v5->init(&c->next, id, &next_mask, name, nodes,
				     ranks, rank, log));
}

static int init(void **context, int version, uint64_t id, int *mask,
		const char *name, int nodes, int ranks, int rank,
		profiler_log log)
{
	struct comm *c;

	pthread_mutex_lock(&lock);
	if (!users++) {
		read_hosts();
		load_next(version, log);
		sender_start(&hosts);
		self = getpid();
	}
	c = comm_new(&hosts, nodes, ranks, rank);
	*context = c;
	if (c)
		init_next(c, id, name, nodes, ranks, rank, log);
	asked |= (c && c->node >= 0 ? OWN_EVENTS : 0) | events_of_next();
	*mask = asked;
	pthread_mutex_unlock(&lock);
	if (log && c && c->node < 0 && nodes > 1)
		log(LOG_INFO, LOG_INIT, __FILE__, __LINE__,
		    "srpol: where the ranks of this communicator are is not known: %d nodes, %d in SRPOL_HOSTS or SLURM_JOB_NODELIST",
		    nodes, hosts.n);
	return 0;
}

static void tell_coll(struct comm *c, const struct profiler_coll *coll)
{
	struct note note = {
		.kind = NOTE_COLL, .comm = c, .peer = -1,
		.func = func_of(coll->func), .algo = algo_of(coll->algo),
		.bytes = coll->count * datatype_bytes(coll->datatype),
	};

	sender_note(&note);
}

static void tell_message(struct comm *c, const struct profiler_p2p *p2p)
{
	struct note note = {
		.kind = NOTE_SEND, .comm = c, .peer = p2p->peer,
		.bytes = p2p->count * datatype_bytes(p2p->datatype),
	};

	if (p2p->func && !strcmp(p2p->func, "Send"))
		sender_note(&note);
}

static void tell_proxy(struct comm *c, const struct profiler_descr *e)
{
	const struct profiler_proxy_op *op = &e->proxy_op;
	struct note note = {
		.kind = NOTE_PROXY, .comm = c, .peer = op->peer,
		.bytes = (uint64_t)op->steps * op->chunk,
	};

	if (op->sends && op->steps > 0 && op->chunk > 0 &&
	    e->parent != &own_message)
		sender_note(&note);
}

static bool is_own(const void *handle)
{
	return handle == &own_event || handle == &own_message;
}

/* The same event in the words of the next profiler's interface. */
static int start_next(struct comm *c, void **handle,
		      const struct profiler_descr *e, uint64_t type,
		      int version)
{
	struct profiler_descr copy = {};

	memcpy(&copy, e, version == 4 ? DESCR_V4 : DESCR_V5);
	/* version 4 hangs them below their group */
	if (next.version == 4 && version > 4 && type == EVENT_COLL)
		copy.parent = copy.coll.group;
	if (next.version == 4 && version > 4 && type == EVENT_P2P)
		copy.parent = copy.p2p.group;
	if (is_own(copy.parent))
		copy.parent = NULL;
	return next.v4 ? next.v4->start(c->next, handle, &copy) :
	       next.v5->start(c->next, handle, &copy);
}

/*
 * With PXN a proxy works for other processes, too. What NCCL has of these are
 * their pointers, the context among them: nothing behind it may be read. Steps
 * do not say whose they are, but come after an operation that got our handle.
 */
static bool is_elsewhere(const struct profiler_descr *e, uint64_t type)
{
	return type == EVENT_PROXY_OP ? e->proxy_op.pid != self :
	       type & EVENTS_BELOW && is_own(e->parent);
}

static int start(void *context, void **handle, const struct profiler_descr *e,
		 uint64_t type, int version)
{
	struct comm *c = context;

	*handle = type == EVENT_P2P ? &own_message : &own_event;
	if (!c || is_elsewhere(e, type))
		return 0;
	if (c->node < 0)
		;
	else if (type == EVENT_COLL)
		tell_coll(c, &e->coll);
	else if (type == EVENT_P2P)
		tell_message(c, &e->p2p);
	else if (type == EVENT_PROXY_OP)
		tell_proxy(c, e);
	if (!c->chained || !(with_parents(events_of_next()) & type))
		return 0;
	return start_next(c, handle, e, type, version);
}

static int stop(void *handle)
{
	if (!handle || is_own(handle) || !next.version)
		return 0;
	return next.v4 ? next.v4->stop(handle) : next.v5->stop(handle);
}

static int record(void *handle, int state, void *args)
{
	if (!handle || is_own(handle) || !next.version)
		return 0;
	return next.v4 ? next.v4->record(handle, state, args) :
	       next.v5->record(handle, state, args);
}

/* The sender frees it, after what it may still have to say of it. */
static void end_comm(struct comm *c)
{
	struct note note = { .kind = NOTE_END, .comm = c };
	int tries;

	if (c->node < 0) {
		comm_free(c);
		return;
	}
	for (tries = 0; tries < 1000 && !sender_note(&note); tries++)
		sched_yield();
}

static int finalize(void *context)
{
	struct comm *c = context;

	pthread_mutex_lock(&lock);
	if (c && c->chained) {
		if (next.v4)
			next.v4->finalize(c->next);
		else
			next.v5->finalize(c->next);
	}
	if (c)
		end_comm(c);
	if (users && !--users) {
		sender_stop();
		unload_next();
		hosts_free(&hosts);
		asked = 0;
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int init_v4(void **context, int *mask, const char *name, uint64_t hash,
		   int nodes, int ranks, int rank, profiler_log log)
{
	return init(context, 4, hash, mask, name, nodes, ranks, rank, log);
}

static int init_v5(void **context, uint64_t id, int *mask, const char *name,
		   int nodes, int ranks, int rank, profiler_log log)
{
	return init(context, 5, id, mask, name, nodes, ranks, rank, log);
}

static int init_v6(void **context, uint64_t id, int *mask, const char *name,
		   int nodes, int ranks, int rank, profiler_log log)
{
	return init(context, 6, id, mask, name, nodes, ranks, rank, log);
}

static int start_v4(void *context, void **handle, struct profiler_descr *e)
{
	return start(context, handle, e, e->type_v4, 4);
}

static int start_v5(void *context, void **handle, struct profiler_descr *e)
{
	return start(context, handle, e, e->type, 5);
}

static int start_v6(void *context, void **handle, struct profiler_descr *e)
{
	return start(context, handle, e, e->type, 6);
}

EXPORT const struct profiler_v4 ncclProfiler_v4 = {
	.name = "srpol", .init = init_v4, .start = start_v4, .stop = stop,
	.record = record, .finalize = finalize,
};

EXPORT const struct profiler_v5 ncclProfiler_v5 = {
	.name = "srpol", .init = init_v5, .start = start_v5, .stop = stop,
	.record = record, .finalize = finalize,
};

EXPORT const struct profiler_v5 ncclProfiler_v6 = {
	.name = "srpol", .init = init_v6, .start = start_v6, .stop = stop,
	.record = record, .finalize = finalize,
};

/**
 * srpol_profiler_stats() - what became of what NCCL said
 * @dropped: events for which there was no room
 * @sent: announcements that srpold's socket took
 * @lost: those that it did not take
 */
EXPORT void srpol_profiler_stats(uint64_t *dropped, uint64_t *sent,
				 uint64_t *lost);

void srpol_profiler_stats(uint64_t *dropped, uint64_t *sent, uint64_t *lost)
{
	struct sender_stats s = sender_stats();

	*dropped = s.dropped;
	*sent = s.sent;
	*lost = s.lost;
}
