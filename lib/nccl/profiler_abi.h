/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What NCCL's profiler interface of versions 4, 5 and 6 looks like in memory,
 * as far as it is used here. Declarations of our own: an event's description
 * begins with its type, which is one byte in version 4 and eight since 5, and
 * has the same places for all else in each of them. On a machine that keeps
 * the low byte first the former can be read out of the latter.
 */
#ifndef _SRPOL_NCCL_PROFILER_ABI_H
#define _SRPOL_NCCL_PROFILER_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Types of events, as bits. */
enum profiler_event {
	EVENT_GROUP	= 1 << 0,
	EVENT_COLL	= 1 << 1,
	EVENT_P2P	= 1 << 2,
	EVENT_PROXY_OP	= 1 << 3,
	EVENT_STEP	= 1 << 4,
	EVENT_CONTROL	= 1 << 5,
	EVENT_KERNEL	= 1 << 6,
	EVENT_NET	= 1 << 7,
	EVENT_GROUP_API	= 1 << 8,
	EVENT_COLL_API	= 1 << 9,
	EVENT_P2P_API	= 1 << 10,
	EVENT_CE_COLL	= 1 << 12,
	EVENT_CE_SYNC	= 1 << 13,
	EVENT_CE_BATCH	= 1 << 14,
	EVENTS_BELOW	= EVENT_STEP | EVENT_NET,	/* a proxy operation */
	EVENTS_V4	= (1 << 8) - 1,
	EVENTS_V5	= (1 << 12) - 1,
};

/**
 * struct profiler_coll - a collective
 * @seq: its number in the communicator
 * @func: "AllReduce" and the like
 * @send: buffer
 * @recv: buffer
 * @count: elements; per rank for gathers and scatters
 * @root: of a broadcast or a reduction
 * @datatype: "ncclFloat32" and the like
 * @channels: channels it uses
 * @warps: warps it uses
 * @algo: "RING", "TREE" and the like
 * @proto: "SIMPLE" and the like
 * @group: since version 5: its group, which was the parent before
 */
struct profiler_coll {
	uint64_t seq;
	const char *func;
	const void *send;
	void *recv;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels;
	uint8_t warps;
	const char *algo;
	const char *proto;
	void *group;
};

/**
 * struct profiler_p2p - a message
 * @func: "Send" or "Recv"
 * @buffer: buffer
 * @datatype: as above
 * @count: elements
 * @peer: rank
 * @channels: channels it uses
 * @group: since version 5: its group
 */
struct profiler_p2p {
	const char *func;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
	void *group;
};

/**
 * struct profiler_proxy_op - what a channel of a collective or message has to
 *	send or to receive by network
 * @pid: process it is done for
 * @channel: channel
 * @peer: rank at the other end
 * @steps: number of steps
 * @chunk: bytes of a step, at most
 * @sends: or receives
 */
struct profiler_proxy_op {
	pid_t pid;
	uint8_t channel;
	int peer;
	int steps;
	int chunk;
	int sends;
};

/**
 * struct profiler_descr - an event
 * @type: one of the bits; its first byte is all there is in version 4
 * @type_v4: that byte
 * @parent: handle of another event
 * @rank: whose
 */
struct profiler_descr {
	union {
		uint64_t type;
		uint8_t type_v4;
	};
	void *parent;
	int rank;
	union {
		struct profiler_coll coll;
		struct profiler_p2p p2p;
		struct profiler_proxy_op proxy_op;
		uint64_t room[16];
	};
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "see above");
_Static_assert(offsetof(struct profiler_descr, parent) == 8, "ABI");
_Static_assert(offsetof(struct profiler_descr, coll) == 24, "ABI");
_Static_assert(offsetof(struct profiler_coll, datatype) == 48, "ABI");
_Static_assert(offsetof(struct profiler_coll, algo) == 64, "ABI");

typedef void (*profiler_log)(int level, unsigned long flags, const char *file,
			     int line, const char *fmt, ...);

/**
 * struct profiler_v4 - what is exported as ncclProfiler_v4
 */
struct profiler_v4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *comm_name,
		    uint64_t comm_hash, int nodes, int ranks, int rank,
		    profiler_log log);
	int (*start)(void *context, void **handle, struct profiler_descr *e);
	int (*stop)(void *handle);
	int (*record)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

/**
 * struct profiler_v5 - what is exported as ncclProfiler_v5 and ncclProfiler_v6
 */
struct profiler_v5 {
	const char *name;
	int (*init)(void **context, uint64_t comm_id, int *mask,
		    const char *comm_name, int nodes, int ranks, int rank,
		    profiler_log log);
	int (*start)(void *context, void **handle, struct profiler_descr *e);
	int (*stop)(void *handle);
	int (*record)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

extern const struct profiler_v4 ncclProfiler_v4;
extern const struct profiler_v5 ncclProfiler_v5;
extern const struct profiler_v5 ncclProfiler_v6;

#endif /* _SRPOL_NCCL_PROFILER_ABI_H */
