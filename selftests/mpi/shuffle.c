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

#include "sizes.h"

/* after so many iterations ranks wait to be told */
#define FIRST	20

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
	for (i = 0; i < n; i++) {
		out_n[i] = sizes_zipf(self, i, n, bytes);
		in_n[i] = sizes_zipf(i, self, n, bytes);
	}
	out_len = sizes_layout(n, out_n, out_at);
	in_len = sizes_layout(n, in_n, in_at);
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
