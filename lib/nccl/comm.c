// SPDX-License-Identifier: BSD-2-Clause
/*
 * NCCL tells a profiler ranks, not hosts. Ranks are taken to be placed in
 * blocks: as many on each host, in the order of the list of hosts. Where a
 * communicator is not on as many hosts as the list has, it is not known where
 * its ranks are, and nothing is said of it.
 *
 * What a collective sends from this host: a rank says its part of what crosses
 * the host's border, so that the ranks of a host together say all of it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "comm.h"

#define HOSTS_MAX	65536

static bool add_host(struct hosts *h, const char *name, size_t len)
{
	void *more;

	if (!len || len >= HOST_LEN || h->n == HOSTS_MAX)
		return false;
	if (!(h->n & (h->n - 1))) {
		more = realloc(h->name, (h->n ? 2 * h->n : 1) * HOST_LEN);
		if (!more)
			return false;
		h->name = more;
	}
	memcpy(h->name[h->n], name, len);
	h->name[h->n++][len] = '\0';
	return true;
}

/* "01-12" of "node[01-12,20]", between @before and @after. */
static bool add_range(struct hosts *h, const char *before, size_t n_before,
		      const char *range, size_t len, const char *after,
		      size_t n_after)
{
	unsigned long from, to;
	char name[3 * HOST_LEN], *end;
	int width, n;

	if (!len || !isdigit((unsigned char)*range) || n_before > HOST_LEN ||
	    n_after > HOST_LEN)
		return false;
	from = to = strtoul(range, &end, 10);
	width = end - range;
	if (*end == '-')
		to = strtoul(end + 1, &end, 10);
	if (end != range + len || width > 9 || to < from ||
	    to - from >= HOSTS_MAX)
		return false;
	for (; from <= to; from++) {
		n = snprintf(name, sizeof(name), "%.*s%0*lu%.*s",
			     (int)n_before, before, width, from, (int)n_after,
			     after);
		if (!add_host(h, name, n))
			return false;
	}
	return true;
}

/* One element of the list: a name, or a name with a bracket in it. */
static bool add_element(struct hosts *h, const char *text, size_t len)
{
	const char *open = memchr(text, '[', len), *close, *at, *comma;

	if (!open)
		return add_host(h, text, len);
	close = memchr(open, ']', text + len - open);
	if (!close)
		return false;
	for (at = open + 1; at < close; at = comma + 1) {
		comma = memchr(at, ',', close - at);
		comma = comma ? comma : close;
		if (!add_range(h, text, open - text, at, comma - at, close + 1,
			       text + len - close - 1))
			return false;
	}
	return true;
}

/**
 * hosts_read() - read a list as Slurm writes it: "a,b" or "node[01-12,20]"
 * @hosts: result, empty if the list is not one
 * @list: list
 */
bool hosts_read(struct hosts *hosts, const char *list)
{
	const char *end;
	int depth;

	*hosts = (struct hosts){};
	for (; *list; list = *end ? end + 1 : end) {
		for (end = list, depth = 0; *end && (*end != ',' || depth);
		     end++)
			depth += (*end == '[') - (*end == ']');
		if (!add_element(hosts, list, end - list)) {
			hosts_free(hosts);
			return false;
		}
	}
	return hosts->n > 0;
}

/**
 * hosts_free() - forget them
 * @hosts: of hosts_read()
 */
void hosts_free(struct hosts *hosts)
{
	free(hosts->name);
	*hosts = (struct hosts){};
}

/**
 * comm_new() - a communicator
 * @hosts: that ranks are on
 * @nodes: so many NCCL says there are
 * @ranks: number of ranks
 * @rank: this one
 *
 * Return: NULL without memory.
 */
struct comm *comm_new(const struct hosts *hosts, int nodes, int ranks,
		      int rank)
{
	struct comm *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->ranks = ranks;
	c->rank = rank;
	c->nodes = nodes;
	c->node = -1;
	if (nodes < 2 || nodes != hosts->n || ranks % nodes || rank < 0 ||
	    rank >= ranks)
		return c;
	c->to = calloc(nodes, sizeof(*c->to));
	c->moved = calloc(nodes, sizeof(*c->moved));
	if (c->to && c->moved)
		c->node = rank / (ranks / nodes);
	return c;
}

/**
 * comm_free() - end of a communicator
 * @comm: it
 */
void comm_free(struct comm *comm)
{
	free(comm->to);
	free(comm->moved);
	free(comm);
}

static int node_of(const struct comm *c, int rank)
{
	return rank < 0 || rank >= c->ranks ? -1 : rank / (c->ranks / c->nodes);
}

/*
 * Bytes that cross from one host to its neighbors in a collective. Of gathers,
 * scatters and all-to-alls the note has what a rank has for one other, of which the
 * buffer is one for each rank.
 */
static double crossing(const struct comm *c, const struct note *n)
{
	uint64_t all = n->bytes * c->ranks;
	double here = c->ranks / c->nodes;

	switch (n->func) {
	case FUNC_ALL_REDUCE:
		return srpol_collective_bytes(SRPOL_ALL_REDUCE, c->ranks,
					      n->bytes);
	case FUNC_ALL_GATHER:
	case FUNC_REDUCE_SCATTER:
		return srpol_collective_bytes(SRPOL_ALL_GATHER, c->ranks, all);
	case FUNC_ALL_TO_ALL:
		return here * (c->ranks - here) *
		       srpol_collective_bytes(SRPOL_ALL_TO_ALL, c->ranks, all);
	default:
		return srpol_collective_bytes(SRPOL_BROADCAST, c->ranks,
					      n->bytes);
	}
}

/* As proxies of this communicator were told to send, whatever it was for. */
static bool share_as_moved(struct comm *c, double bytes)
{
	double sum = 0;
	int i;

	for (i = 0; i < c->nodes; i++)
		sum += c->moved[i];
	for (i = 0; sum > 0 && i < c->nodes; i++)
		c->to[i] += bytes * c->moved[i] / sum;
	return sum > 0;
}

static void count_coll(struct comm *c, const struct note *n)
{
	double bytes = crossing(c, n) / (c->ranks / c->nodes);
	int i;

	if (n->func != FUNC_ALL_TO_ALL && share_as_moved(c, bytes))
		return;
	if (n->algo == ALGO_RING && n->func != FUNC_ALL_TO_ALL) {
		c->to[(c->node + 1) % c->nodes] += bytes;
		return;
	}
	for (i = 0; i < c->nodes; i++)
		if (i != c->node)
			c->to[i] += bytes / (c->nodes - 1);
}

/**
 * comm_count() - something will be sent
 * @comm: communicator whose hosts are known
 * @note: what was said of it
 */
void comm_count(struct comm *comm, const struct note *note)
{
	int node = node_of(comm, note->peer);

	if (note->kind == NOTE_COLL)
		count_coll(comm, note);
	else if (node < 0 || node == comm->node)
		return;
	else if (note->kind == NOTE_SEND)
		comm->to[node] += note->bytes;
	else
		comm->moved[node] += note->bytes;
}

/**
 * func_of() - a collective
 * @name: as NCCL has it, or NULL
 */
enum func func_of(const char *name)
{
	static const char * const names[] = {
		[FUNC_ALL_REDUCE] = "AllReduce",
		[FUNC_ALL_GATHER] = "AllGather",
		[FUNC_REDUCE_SCATTER] = "ReduceScatter",
		[FUNC_BROADCAST] = "Broadcast",
		[FUNC_REDUCE] = "Reduce",
		[FUNC_ALL_TO_ALL] = "AlltoAll",
	};
	unsigned int i;

	for (i = 1; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return i;
	return FUNC_OTHER;
}

/**
 * algo_of() - an algorithm
 * @name: as NCCL has it, or NULL
 */
enum algo algo_of(const char *name)
{
	return !name ? ALGO_OTHER : !strcmp(name, "RING") ? ALGO_RING :
	       !strcmp(name, "TREE") ? ALGO_TREE : ALGO_OTHER;
}

/**
 * datatype_bytes() - bytes of an element
 * @name: "ncclFloat32" and the like, or NULL
 */
unsigned int datatype_bytes(const char *name)
{
	const char *end = name ? name + strlen(name) : "";
	unsigned int bits = 0;

	if (!name)
		return 1;
	if (!strcmp(name, "ncclDouble"))
		return 8;
	if (!strcmp(name, "ncclHalf"))
		return 2;
	if (!strncmp(name, "ncclFloat8", 10))
		return 1;
	while (end > name && isdigit((unsigned char)end[-1]))
		end--;
	bits = strtoul(end, NULL, 10);
	if (bits >= 8 && bits <= 128)
		return bits / 8;
	return !strcmp(name, "ncclInt") || !strcmp(name, "ncclFloat") ? 4 : 1;
}
