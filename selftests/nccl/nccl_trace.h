/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NCCL's side of its profiler interface, declared apart from the plugin's own
 * declarations, by versions, so that a mistake in one of them shows.
 */
#ifndef _NCCL_TRACE_H
#define _NCCL_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { GROUP = 1, COLL = 2, P2P = 4, PROXY_OP = 8, PROXY_STEP = 16,
       KERNEL_CH = 64, NET_PLUGIN = 128, GROUP_API = 256, COLL_API = 512,
       CE_COLL = 4096 };

struct descr4 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels, warps;
			const char *algo, *proto;
		} coll;
		struct {
			const char *func;
			void *buff;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t channels;
		} p2p;
		struct {
			pid_t pid;
			uint8_t channel;
			int peer, steps, chunk, is_send;
		} proxy;
	};
};

struct descr6 {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool captured;
		} coll_api;
		struct {
			uint64_t seq;
			const char *func;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels, warps;
			const char *algo, *proto;
			void *group;
		} coll;
		struct {
			const char *func;
			void *buff;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t channels;
			void *group;
		} p2p;
		struct {
			pid_t pid;
			uint8_t channel;
			int peer, steps, chunk, is_send;
		} proxy;
	};
};

typedef void (*log_fn)(int level, unsigned long flags, const char *file,
		       int line, const char *fmt, ...);

struct plugin4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *name, uint64_t hash,
		    int nodes, int ranks, int rank, log_fn log);
	int (*start)(void *context, void **handle, struct descr4 *e);
	int (*stop)(void *handle);
	int (*record)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

struct plugin6 {
	const char *name;
	int (*init)(void **context, uint64_t id, int *mask, const char *name,
		    int nodes, int ranks, int rank, log_fn log);
	int (*start)(void *context, void **handle, struct descr6 *e);
	int (*stop)(void *handle);
	int (*record)(void *handle, int state, void *args);
	int (*finalize)(void *context);
};

#endif /* _NCCL_TRACE_H */
