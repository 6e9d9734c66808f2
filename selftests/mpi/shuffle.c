// SPDX-License-Identifier: GPL-2.0
/*
 * shuffle ITERATIONS BYTES [STAY [GO]]: all-to-all-v of uneven sizes (Zipf), as
 * a mixture of experts sends them, the same in each iteration. Each rank prints
 * "FROM TO BYTES" for what one iteration sends, and checks what it received. It
 * waits for a file GO to appear once it has done some, so that all of them are
 * connected, and for a file STAY to disappear before it ends.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* after so many iterations ranks wait to be told */
#define FIRST	20

/* Rank @to is the k-th choice of rank @from: 1/k of what the first one gets. */
static int count(int from, int to, int n, int bytes)
{
	return bytes / ((to - from + n) % n + 1);
}

/* Counts and displacements of rank @self's send or receive side. */
static int layout(int self, int n, int bytes, int send, int *counts, int *at)
{
	int i, sum = 0;

	for (i = 0; i < n; i++) {
		counts[i] = send ? count(self, i, n, bytes) :
				   count(i, self, n, bytes);
		at[i] = sum;
		sum += counts[i];
	}
	return sum;
}

/* A rank that only slept would leave the connections of others half made. */
static void wait_for(const char *file)
{
	int flag;

	while (access(file, F_OK)) {
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	int n, self, i, k, out_len, in_len, wrong = 0, times, bytes;
	int *out_n, *out_at, *in_n, *in_at;
	char *out, *in;

	MPI_Init(&argc, &argv);
	if (argc < 3) {
		fputs("usage: shuffle ITERATIONS BYTES [STAY [GO]]\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	times = atoi(argv[1]);
	bytes = atoi(argv[2]);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	out_n = calloc(4 * n, sizeof(int));
	out_at = out_n + n;
	in_n = out_n + 2 * n;
	in_at = out_n + 3 * n;
	out_len = layout(self, n, bytes, 1, out_n, out_at);
	in_len = layout(self, n, bytes, 0, in_n, in_at);
	out = malloc(out_len);
	in = malloc(in_len);
	for (i = 0; i < out_len; i++)
		out[i] = self;
	for (k = 0; k < times; k++) {
		if (k == FIRST && argc > 4)
			wait_for(argv[4]);
		MPI_Alltoallv(out, out_n, out_at, MPI_CHAR, in, in_n, in_at,
			      MPI_CHAR, MPI_COMM_WORLD);
		for (i = 0; i < n; i++)
			wrong += in[in_at[i]] != i;
		MPI_Pcontrol(2);
	}
	for (i = 0; i < n; i++)
		printf("%d %d %d\n", self, i, out_n[i]);
	fflush(stdout);
	while (argc > 3 && !access(argv[3], F_OK))
		usleep(10000);
	MPI_Finalize();
	free(out_n);
	free(out);
	free(in);
	return wrong != 0;
}
