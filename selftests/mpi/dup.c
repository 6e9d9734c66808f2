// SPDX-License-Identifier: GPL-2.0
/*
 * dup [wait]: an MPI program of one rank that sends 1000 messages in each of three
 * communicators, of which it frees one before it makes the next. Prints how often
 * it was looked up which ranks those of a communicator are in MPI_COMM_WORLD: with
 * thousands of ranks each time takes longer than a message. With "wait" an iteration
 * ends before, and it goes on when it gets a line.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int lookups;

/* Before that of the MPI library, for the library that is preloaded. */
int PMPI_Group_translate_ranks(MPI_Group group, int n, const int *ranks,
			       MPI_Group other, int *result)
{
	int (*real)(MPI_Group group, int n, const int *ranks, MPI_Group other,
		    int *result);

	*(void **)&real = dlsym(RTLD_NEXT, "PMPI_Group_translate_ranks");
	lookups++;
	return real(group, n, ranks, other, result);
}

int main(int argc, char **argv)
{
	int i, k, in = 0, out;
	MPI_Request request;
	MPI_Comm own;

	MPI_Init(&argc, &argv);
	if (argc > 1) {
		MPI_Pcontrol(2);
		in = getchar() == EOF;
	}
	for (k = 0; k < 3; k++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &own);
		for (i = 0; i < 1000; i++) {
			MPI_Irecv(&out, 1, MPI_INT, 0, 0, own, &request);
			MPI_Send(&in, 1, MPI_INT, 0, 0, own);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		MPI_Comm_free(&own);
	}
	printf("lookups %d\n", lookups);
	MPI_Finalize();
	return 0;
}
