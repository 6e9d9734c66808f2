/* SPDX-License-Identifier: BSD-2-Clause */
/* Communicators: which rank is on which host, and what will be sent where. */
#ifndef _SRPOL_NCCL_COMM_H
#define _SRPOL_NCCL_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

#define HOST_LEN	48

enum func {
	FUNC_OTHER, FUNC_ALL_REDUCE, FUNC_ALL_GATHER, FUNC_REDUCE_SCATTER,
	FUNC_BROADCAST, FUNC_REDUCE, FUNC_ALL_TO_ALL,
};

enum algo { ALGO_OTHER, ALGO_RING, ALGO_TREE };

/**
 * struct hosts - names of hosts, in order of their ranks
 * @n: number of them
 * @name: names
 */
struct hosts {
	int n;
	char (*name)[HOST_LEN];
};

bool hosts_read(struct hosts *hosts, const char *list);
void hosts_free(struct hosts *hosts);

/**
 * struct comm - a communicator, or the context of one whose hosts are unknown
 * @ranks: number of them
 * @rank: this one
 * @nodes: hosts that they are on
 * @node: this one, -1: unknown where ranks are, nothing is said of it
 * @next: context of the next profiler
 * @chained: it was begun there, too
 * @listed: the sender knows it
 * @to: by node: bytes since the last announcement ended an iteration
 * @moved: by node: bytes that proxies were to send there
 * @after: next one in the sender's list
 */
struct comm {
	int ranks;
	int rank;
	int nodes;
	int node;
	void *next;
	bool chained;
	bool listed;
	double *to;
	double *moved;
	struct comm *after;
};

struct comm *comm_new(const struct hosts *hosts, int nodes, int ranks,
		      int rank);
void comm_free(struct comm *comm);
void comm_count(struct comm *comm, const struct note *note);
enum func func_of(const char *name);
enum algo algo_of(const char *name);
unsigned int datatype_bytes(const char *name);

#endif /* _SRPOL_NCCL_COMM_H */
