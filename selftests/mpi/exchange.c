// SPDX-License-Identifier: GPL-2.0
/*
 * exchange: all-to-alls between the same ranks, when the first one is told. Lines
 * of its stdin, each answered by a line of its stdout:
 *
 *	even TIMES BYTES	each rank sends as much to each other one
 *	zipf TIMES BYTES	uneven, as a mixture of experts does
 *				both: "took SECONDS", by the slowest rank
 *	(end)			they end
 *
 * What ranks receive is checked; what is wrong ends all of them with status 1.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sizes.h"

enum { END, EVEN, ZIPF };

static int n, self;

/* A line of stdin, for all ranks. */
static void told(int order[3])
{
	char line[64], word[8];

	if (!self) {
		order[0] = END;
		if (fgets(line, sizeof(line), stdin)) {
			if (sscanf(line, "%7s %d %d", word, order + 1,
				   order + 2) != 3)
				MPI_Abort(MPI_COMM_WORLD, 1);
			order[0] = !strcmp(word, "even") ? EVEN :
				   !strcmp(word, "zipf") ? ZIPF : END;
		}
	}
	MPI_Bcast(order, 3, MPI_INT, 0, MPI_COMM_WORLD);
}

static int size(int kind, int from, int to, int bytes)
{
	return kind == EVEN ? bytes : sizes_zipf(from, to, n, bytes);
}

static void *buffer(size_t len)
{
	void *p = malloc(len);

	if (!p)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return p;
}

/* Seconds until the last rank was done. */
static double exchange(int kind, int times, int bytes)
{
	int out_n[n], out_at[n], in_n[n], in_at[n];
	int i, j, out_len, in_len;
	double start, took, slowest;
	char *out, *in;

	for (i = 0; i < n; i++) {
		out_n[i] = size(kind, self, i, bytes);
		in_n[i] = size(kind, i, self, bytes);
	}
	out_len = sizes_layout(n, out_n, out_at);
	in_len = sizes_layout(n, in_n, in_at);
	out = buffer(out_len);
	in = buffer(in_len);
	memset(out, self, out_len);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	while (times--)
		MPI_Alltoallv(out, out_n, out_at, MPI_CHAR, in, in_n, in_at,
			      MPI_CHAR, MPI_COMM_WORLD);
	took = MPI_Wtime() - start;
	for (i = 0; i < n; i++)
		for (j = 0; j < in_n[i]; j++)
			if (in[in_at[i] + j] != i)
				MPI_Abort(MPI_COMM_WORLD, 1);
	free(out);
	free(in);
	MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	return slowest;
}

int main(int argc, char **argv)
{
	double seconds;
	int order[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	for (told(order); order[0] != END; told(order)) {
		seconds = exchange(order[0], order[1], order[2]);
		if (!self) {
			printf("took %.3f\n", seconds);
			fflush(stdout);
		}
	}
	MPI_Finalize();
	return 0;
}
