// SPDX-License-Identifier: GPL-2.0
/*
 * ring ITERATIONS WORDS [FILE]: all-reduce of WORDS numbers of 8 bytes round a ring,
 * as collective libraries do it: in N - 1 steps each rank gets the sum of one part,
 * in N - 1 more all parts. Each rank checks every sum, and prints its number and how
 * many bytes it sent in all; with FILE it goes on until that disappears.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int self, n;
static uint64_t sent;

/* Step @step of one of the two rounds; @sums: what comes is added. */
static void step(uint64_t *all, uint64_t *in, int part, int step, int sums)
{
	int out = (self - step + !sums + n) % n;
	int i, at = (out - 1 + n) % n;

	MPI_Sendrecv(all + (size_t)out * part, part, MPI_UINT64_T, (self + 1) % n, 0,
		     sums ? in : all + (size_t)at * part, part, MPI_UINT64_T,
		     (self - 1 + n) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sent += (uint64_t)part * sizeof(*all);
	for (i = 0; sums && i < part; i++)
		all[(size_t)at * part + i] += in[i];
}

static int all_reduce(uint64_t *all, uint64_t *in, int part, int iteration)
{
	int i, wrong = 0;

	for (i = 0; i < part * n; i++)
		all[i] = (uint64_t)self * i + iteration;
	for (i = 0; i < n - 1; i++)
		step(all, in, part, i, 1);
	for (i = 0; i < n - 1; i++)
		step(all, in, part, i, 0);
	for (i = 0; i < part * n; i++)
		wrong |= all[i] != (uint64_t)n * (n - 1) / 2 * i +
				   (uint64_t)n * iteration;
	return wrong;
}

int main(int argc, char **argv)
{
	int part, k, more = 1, wrong = 0;
	uint64_t *all, *in;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	if (argc < 3 || n < 2) {
		fputs("usage: ring ITERATIONS WORDS [FILE], two ranks or more\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	part = atoi(argv[2]) / n;
	all = malloc(sizeof(*all) * part * n);
	in = malloc(sizeof(*in) * part);
	if (!all || !in)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (k = 0; k < atoi(argv[1]) || more; k++) {
		wrong |= all_reduce(all, in, part, k);
		more = argc > 3 && !access(argv[3], F_OK);
		/* all end after the same iteration */
		MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
		if (argc > 3 && !self) {
			printf("iteration %d\n", k);
			fflush(stdout);
		}
	}
	printf("rank %d of %d sent %llu%s\n", self, n, (unsigned long long)sent,
	       wrong ? ", sums are wrong" : "");
	fflush(stdout);
	MPI_Finalize();
	free(all);
	free(in);
	return wrong;
}
