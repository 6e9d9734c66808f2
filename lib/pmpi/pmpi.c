// SPDX-License-Identifier: LGPL-2.1
/*
 * libsrpol-pmpi.so: what an MPI program sends, told to srpold. To be preloaded;
 * the program itself is not changed:
 *
 *	LD_PRELOAD=libsrpol-pmpi.so SRPOL_DEMANDS=/run/srpold/default.demands
 *
 * Each rank counts the bytes that it sends to each host by the functions below,
 * and says at the end of an iteration that the next one will be as the last. An
 * iteration ends with MPI_Pcontrol(2), or where the program does not say so, with
 * the first call after SRPOL_ITERATION_MS. A collective that is large is announced
 * before it begins, as all its sizes are known by then.
 *
 * The program never waits: what the socket does not take at once is lost, and
 * counted. Hosts are known by SRPOL_HOST, or by the name of the machine, as
 * srpold's topology has them.
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hint.h"

#define HOST_LEN	48
#define ITERATION_MS	1000
#define LARGE_BYTES	(1u << 20)	/* announced before it begins */
#define BELIEVE		3		/* iterations that a forecast is good for */
#define BELIEVE_MS	10000		/* but no less */
#define MSEC		1000000ull
#define NOT_KNOWN	INT_MIN

/**
 * struct ranks - who is where
 * @n: ranks of MPI_COMM_WORLD
 * @rank: this one
 * @host: of each rank, index in @name
 * @n_hosts: number of different hosts
 * @name: their names
 */
static struct ranks {
	int n;
	int rank;
	int *host;
	int n_hosts;
	char (*name)[HOST_LEN];
} ranks;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *sent;		/* by host, in this iteration */
static uint64_t *said;		/* by host, of the last announcement */
static uint64_t begun_ns;
static uint64_t told_ns;	/* when it was */
static uint64_t iteration_ms = ITERATION_MS;
static bool marked;		/* the program says where iterations end */
static struct hint hint = HINT_INIT;
static int ranks_key;		/* of what communicators have of ours */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Hosts by name, of all ranks; which are the same? */
static bool index_hosts(const char (*all)[HOST_LEN])
{
	int i, h;

	ranks.host = calloc(ranks.n, sizeof(*ranks.host));
	ranks.name = calloc(ranks.n, sizeof(*ranks.name));
	if (!ranks.host || !ranks.name)
		return false;
	for (i = 0; i < ranks.n; i++) {
		for (h = 0; h < ranks.n_hosts; h++)
			if (!strcmp(ranks.name[h], all[i]))
				break;
		if (h == ranks.n_hosts)
			memcpy(ranks.name[ranks.n_hosts++], all[i], HOST_LEN);
		ranks.host[i] = h;
	}
	sent = calloc(ranks.n_hosts, sizeof(*sent));
	said = calloc(ranks.n_hosts, sizeof(*said));
	return sent && said;
}

/* MPI frees a communicator, or ends. */
static int forget_ranks(MPI_Comm comm, int key, void *known, void *extra)
{
	free(known);
	return MPI_SUCCESS;
}

static void begin(void)
{
	const char *name = getenv("SRPOL_HOST"), *ms;
	char own[HOST_LEN] = "", (*all)[HOST_LEN];

	PMPI_Comm_size(MPI_COMM_WORLD, &ranks.n);
	PMPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
	if (name)
		snprintf(own, sizeof(own), "%s", name);
	else
		gethostname(own, sizeof(own) - 1);
	all = calloc(ranks.n, sizeof(*all));
	if (!all)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	PMPI_Allgather(own, HOST_LEN, MPI_CHAR, all, HOST_LEN, MPI_CHAR,
		       MPI_COMM_WORLD);
	if (!index_hosts(all))
		PMPI_Abort(MPI_COMM_WORLD, 1);
	free(all);
	ms = getenv("SRPOL_ITERATION_MS");
	if (ms && atol(ms) > 0)
		iteration_ms = atol(ms);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_ranks, &ranks_key,
				NULL);
	begun_ns = now();
	hint_open(&hint);
}

/* @bytes by host; @lock is held. */
static void announce(const uint64_t *bytes, uint64_t for_ms)
{
	int own = ranks.host[ranks.rank], h;

	if (for_ms < BELIEVE * iteration_ms)
		for_ms = BELIEVE * iteration_ms;
	if (for_ms < BELIEVE_MS)
		for_ms = BELIEVE_MS;
	hint_begin(&hint, "mpi", ranks.rank);
	for (h = 0; h < ranks.n_hosts; h++)
		if (h != own && bytes[h])
			hint_add(&hint, ranks.name[own], ranks.name[h],
				 bytes[h], for_ms);
	hint_send(&hint);
	memcpy(said, bytes, ranks.n_hosts * sizeof(*said));
	told_ns = now();
}

/* What was sent is what will be. What was said already need not be repeated. */
static void end_iteration(void)
{
	uint64_t at = now(), ms = (at - begun_ns) / MSEC + 1;

	if (memcmp(sent, said, ranks.n_hosts * sizeof(*said)) ||
	    at - told_ns >= BELIEVE_MS / 3 * MSEC)
		announce(sent, BELIEVE * ms);
	memset(sent, 0, ranks.n_hosts * sizeof(*sent));
	begun_ns = at;
}

/*
 * Ranks of a communicator, 0: nothing is counted for it. Here and below, what
 * MPI would call an error is not asked of MPI: it is reported once, by the
 * function that the program called, to the error handler that the program chose.
 */
static int ranks_of(MPI_Comm comm)
{
	int n = 0, inter = 0;

	if (!ranks.n || comm == MPI_COMM_NULL)
		return 0;
	PMPI_Comm_test_inter(comm, &inter);
	if (!inter)
		PMPI_Comm_size(comm, &n);
	return n;
}

/* What is known of a communicator's ranks in MPI_COMM_WORLD, NULL without memory. */
static int *known_ranks(MPI_Comm comm, int n)
{
	int *known = NULL, found = 0, i;

	PMPI_Comm_get_attr(comm, ranks_key, &known, &found);
	if (found)
		return known;
	known = malloc(n * sizeof(*known));
	for (i = 0; known && i < n; i++)
		known[i] = NOT_KNOWN;
	if (known && PMPI_Comm_set_attr(comm, ranks_key, known)) {
		free(known);
		known = NULL;
	}
	return known;
}

/* MPI searches all ranks, which for thousands takes longer than a message. */
static int world_rank(MPI_Comm comm, int n, int rank)
{
	MPI_Group group, world;
	int *known;

	if (rank < 0 || rank >= n)
		return MPI_UNDEFINED;
	if (comm == MPI_COMM_WORLD)
		return rank;
	known = known_ranks(comm, n);
	if (!known || known[rank] != NOT_KNOWN)
		return known ? known[rank] : MPI_UNDEFINED;
	PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, 1, &rank, world, &known[rank]);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return known[rank];
}

/* @n: ranks of @comm; MPI_PROC_NULL is none of them */
static void count_one(MPI_Comm comm, int n, int to, uint64_t bytes)
{
	int rank = world_rank(comm, n, to);

	if (rank >= 0 && rank < ranks.n)
		sent[ranks.host[rank]] += bytes;
}

static void lock_count(void)
{
	pthread_mutex_lock(&lock);
	if (!marked && now() - begun_ns >= iteration_ms * MSEC)
		end_iteration();
}

static uint64_t size_of(MPI_Datatype type, int count)
{
	int size = 0;

	if (count > 0 && type != MPI_DATATYPE_NULL)
		PMPI_Type_size(type, &size);
	return size > 0 ? (uint64_t)size * count : 0;
}

/* To each rank of a communicator; sizes from @counts, or all @count. */
static void count_all(MPI_Comm comm, const int *counts, int count,
		      MPI_Datatype type)
{
	uint64_t *before, total = 0, bytes;
	int n = ranks_of(comm), i;

	if (!n)
		return;
	lock_count();
	before = malloc(ranks.n_hosts * sizeof(*before));
	if (before)
		memcpy(before, sent, ranks.n_hosts * sizeof(*before));
	for (i = 0; i < n; i++) {
		bytes = size_of(type, counts ? counts[i] : count);
		total += bytes;
		count_one(comm, n, i, bytes);
	}
	/* this collective alone, unless the forecast knew it */
	if (before && total >= LARGE_BYTES) {
		for (i = 0; i < ranks.n_hosts; i++)
			before[i] = sent[i] > said[i] ? sent[i] : said[i];
		if (memcmp(before, said, ranks.n_hosts * sizeof(*said)))
			announce(before, BELIEVE * iteration_ms);
	}
	free(before);
	pthread_mutex_unlock(&lock);
}

/* To the next rank of a ring of @n. */
static void count_ring(MPI_Comm comm, int n, uint64_t bytes)
{
	int rank;

	PMPI_Comm_rank(comm, &rank);
	lock_count();
	if (n > 1)
		count_one(comm, n, (rank + 1) % n, bytes);
	pthread_mutex_unlock(&lock);
}

static void count_message(MPI_Comm comm, int to, int count, MPI_Datatype type)
{
	int n = ranks_of(comm);

	if (!n)
		return;
	lock_count();
	count_one(comm, n, to, size_of(type, count));
	pthread_mutex_unlock(&lock);
}

int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (ret == MPI_SUCCESS)
		begin();
	return ret;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int ret = PMPI_Init_thread(argc, argv, required, provided);

	if (ret == MPI_SUCCESS)
		begin();
	return ret;
}

int MPI_Pcontrol(const int level, ...)
{
	if (level != 2 || !ranks.n)
		return MPI_SUCCESS;
	pthread_mutex_lock(&lock);
	marked = true;
	end_iteration();
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}

/* Nothing will be sent any more. */
int MPI_Finalize(void)
{
	pthread_mutex_lock(&lock);
	if (ranks.n) {
		hint_begin(&hint, "mpi", ranks.rank);
		hint_send(&hint);
		hint_close(&hint);
		ranks.n = 0;
	}
	pthread_mutex_unlock(&lock);
	return PMPI_Finalize();
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[],
		  const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
		  const int recvcounts[], const int rdispls[],
		  MPI_Datatype recvtype, MPI_Comm comm)
{
	if (sendbuf != MPI_IN_PLACE)
		count_all(comm, sendcounts, 0, sendtype);
	else
		count_all(comm, recvcounts, 0, recvtype);
	return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
			      recvcounts, rdispls, recvtype, comm);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		 void *recvbuf, int recvcount, MPI_Datatype recvtype,
		 MPI_Comm comm)
{
	if (sendbuf != MPI_IN_PLACE)
		count_all(comm, NULL, sendcount, sendtype);
	else
		count_all(comm, NULL, recvcount, recvtype);
	return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount,
			     recvtype, comm);
}

/* A ring sends 2 (n - 1) / n of the vector, whatever the library chooses. */
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
		  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	int n = ranks_of(comm);

	if (n)
		count_ring(comm, n, 2 * (uint64_t)(n - 1) *
			   size_of(datatype, count) / n);
	return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		  void *recvbuf, int recvcount, MPI_Datatype recvtype,
		  MPI_Comm comm)
{
	int n = ranks_of(comm);

	if (n)
		count_ring(comm, n, (n - 1) * size_of(recvtype, recvcount));
	return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
			      recvtype, comm);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
	     int tag, MPI_Comm comm)
{
	count_message(comm, dest, count, datatype);
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest,
	      int tag, MPI_Comm comm, MPI_Request *request)
{
	count_message(comm, dest, count, datatype);
	return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}
