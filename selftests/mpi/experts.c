// SPDX-License-Identifier: GPL-2.0
/*
 * experts ITERATIONS BYTES STEP FOLDER: all-to-all-v as a mixture of experts sends
 * it, an expert a rank, a step of training an iteration. What an expert is sent
 * drifts by up to 3 percent an iteration, and what each rank sends it differs by up
 * to 1 percent more; in iteration STEP another expert becomes the busiest one. Each
 * rank sends about BYTES. Iteration K, from 1 on, begins when file FOLDER/go-K is
 * there; then each rank prints "K FROM TO BYTES" for what it sent. What ranks
 * receive is checked; all end when FOLDER/end is there.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sizes.h"

#define DRIFT	0.03
#define NOISE	0.01

static int n, self;

/* From -1 to 1, the same on each rank. */
static double chance(int a, int b, int c)
{
	uint64_t x = ((a * 1000ull + b) * 1000 + c) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ull;
	x ^= x >> 29;
	return (x >> 11) / (double)(1ull << 52) - 1;
}

/* The first expert of the second half is the busiest one, or, later, of the first. */
static double load_of(int expert, int iteration, int step)
{
	int place = (expert + (iteration < step ? n / 2 : 0)) % n, k;
	double load = 1.0 / (place + 1);

	for (k = 1; k <= iteration; k++)
		load *= 1 + DRIFT * chance(0, expert, k);
	return load;
}

static int size_of(int from, int to, int iteration, int step, int bytes)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += load_of(i, iteration, step);
	return bytes * load_of(to, iteration, step) / sum *
	       (1 + NOISE * chance(from + 1, to, iteration));
}

static void wait_for(const char *folder, const char *name, int number)
{
	char file[256];

	snprintf(file, sizeof(file), number ? "%s/%s-%d" : "%s/%s", folder, name,
		 number);
	while (access(file, F_OK))
		usleep(1000);
}

static int iterate(int iteration, int step, int bytes)
{
	int out_n[n], out_at[n], in_n[n], in_at[n], i, j, out_len, in_len;
	int wrong = 0;
	char *out, *in;

	for (i = 0; i < n; i++) {
		out_n[i] = size_of(self, i, iteration, step, bytes);
		in_n[i] = size_of(i, self, iteration, step, bytes);
	}
	out_len = sizes_layout(n, out_n, out_at);
	in_len = sizes_layout(n, in_n, in_at);
	out = malloc(out_len);
	in = malloc(in_len);
	if (!out || !in)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (i = 0; i < out_len; i++)
		out[i] = self;
	MPI_Alltoallv(out, out_n, out_at, MPI_CHAR, in, in_n, in_at, MPI_CHAR,
		      MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		for (j = 0; j < in_n[i]; j++)
			wrong += in[in_at[i] + j] != i;
	MPI_Pcontrol(2);
	for (i = 0; i < n; i++)
		printf("%d %d %d %d\n", iteration, self, i, out_n[i]);
	fflush(stdout);
	free(out);
	free(in);
	return wrong;
}

int main(int argc, char **argv)
{
	int k, wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	if (argc != 5) {
		fputs("usage: experts ITERATIONS BYTES STEP FOLDER\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (k = 1; k <= atoi(argv[1]); k++) {
		wait_for(argv[4], "go", k);
		wrong |= iterate(k, atoi(argv[3]), atoi(argv[2]));
	}
	wait_for(argv[4], "end", 0);
	MPI_Finalize();
	return wrong != 0;
}
