// SPDX-License-Identifier: GPL-2.0
/*
 * errors [fatal]: an MPI program of one rank that makes mistakes and handles
 * them. Prints for each the class of the error, and how often the handler of its
 * communicator was called. With "fatal" the handler of MPI_COMM_WORLD stays the
 * one that ends the program; it is not the handler of that communicator. Then it
 * changes its environment, as programs do.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int called;

static void handle(MPI_Comm *comm, int *code, ...)
{
	called += *comm && *code;
}

static void say(const char *what, int ret)
{
	int class = -1;

	MPI_Error_class(ret, &class);
	printf("%s %d handled %d\n", what, class, called);
	called = 0;
}

int main(int argc, char **argv)
{
	int counts[1] = { 1 }, at[1] = { 0 }, in[1] = { 0 }, out[1];
	MPI_Comm null = MPI_COMM_NULL, own;
	MPI_Errhandler handler;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Comm_set_errhandler(own, handler);
	if (argc < 2) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
		say("alltoall null", MPI_Alltoall(in, 1, MPI_INT, out, 1,
						  MPI_INT, null));
		say("alltoallv null", MPI_Alltoallv(in, counts, at, MPI_INT,
						    out, counts, at, MPI_INT,
						    null));
		say("allreduce null", MPI_Allreduce(in, out, 1, MPI_INT,
						    MPI_SUM, null));
		say("send null", MPI_Send(in, 1, MPI_INT, 0, 0, null));
	}
	say("send type", MPI_Send(in, 1, MPI_DATATYPE_NULL, 0, 0, own));
	say("send rank", MPI_Send(in, 1, MPI_INT, 7, 0, own));
	say("isend rank", MPI_Isend(in, 1, MPI_INT, 7, 0, own, &request));
	say("send count", MPI_Send(in, -1, MPI_INT, 0, 0, own));
	say("alltoall type", MPI_Alltoall(in, 1, MPI_DATATYPE_NULL, out, 1,
					  MPI_INT, own));
	say("allgather type", MPI_Allgather(in, 1, MPI_INT, out, 1,
					    MPI_DATATYPE_NULL, own));
	say("allreduce type", MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL,
					    MPI_SUM, own));
	say("allreduce good", MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, own));
	setenv("SLURM_JOB_ID", "99", 1);
	MPI_Finalize();
	return 0;
}
