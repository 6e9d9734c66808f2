// SPDX-License-Identifier: GPL-2.0
/*
 * qps FROM GID-INDEX TO GID-INDEX N [threads]: N connected QPs from one RDMA
 * device to another one of this machine, which send when they are told; with
 * "threads" made by a thread "async" that goes on (FROM) and by one that has
 * ended (TO). Then, as lines of stdin:
 *
 *	write BYTES	each QP writes that much to its peer; "written" once all
 *			of it has been acknowledged
 *	(end)		it ends, and so do the QPs
 *
 * "ready" is printed once they can send. So whoever tests with it knows what
 * was sent when, however slow the machine is. Each step that fails is said, and
 * ends it with status 1.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_QPS		64
#define BUFFER		(1 << 20)

/**
 * struct end - one of both sides
 * @context: device
 * @pd: protection domain
 * @mr: memory that is read from, or written to
 * @cq: completions
 * @gid: address
 * @gid_index: its number
 * @n: queue pairs
 * @stays: a thread that makes them goes on
 * @made: they have been
 * @qp: they
 */
struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	union ibv_gid gid;
	int gid_index;
	int n;
	bool stays;
	pthread_barrier_t made;
	struct ibv_qp *qp[MAX_QPS];
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "qps: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return context;
}

static void open_end(struct end *end, const char *name, const char *gid, int n)
{
	void *buffer = calloc(1, BUFFER);

	end->n = n;
	end->context = open_device(name);
	if (!end->context)
		fail(name);
	end->gid_index = atoi(gid);
	if (ibv_query_gid(end->context, 1, end->gid_index, &end->gid))
		fail("gid");
	end->pd = ibv_alloc_pd(end->context);
	if (!buffer || !end->pd)
		fail("memory");
	end->mr = ibv_reg_mr(end->pd, buffer, BUFFER,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	end->cq = ibv_create_cq(end->context, n, NULL, NULL, 0);
	if (!end->mr || !end->cq)
		fail("memory region and completion queue");
}

static void make_qps(struct end *end)
{
	struct ibv_qp_init_attr init = {
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.send_cq = end->cq,
		.recv_cq = end->cq,
	};
	int i;

	for (i = 0; i < end->n; i++) {
		end->qp[i] = ibv_create_qp(end->pd, &init);
		if (!end->qp[i])
			fail("QP");
	}
}

static void *make_in_thread(void *arg)
{
	struct end *end = arg;

	pthread_setname_np(pthread_self(), "async");
	make_qps(end);
	if (end->stays) {
		pthread_barrier_wait(&end->made);
		pause();
	}
	return NULL;
}

static void make_by_threads(struct end *from, struct end *to)
{
	pthread_t thread;

	from->stays = true;
	pthread_barrier_init(&from->made, NULL, 2);
	if (pthread_create(&thread, NULL, make_in_thread, from))
		fail("thread");
	pthread_barrier_wait(&from->made);
	if (pthread_create(&thread, NULL, make_in_thread, to) ||
	    pthread_join(thread, NULL))
		fail("thread");
}

static void connect_qp(const struct end *from, const struct end *to, int i)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qp[i]->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.grh = {
				.dgid = to->gid,
				.sgid_index = from->gid_index,
				.hop_limit = 64,
			},
			.port_num = 1,
		},
	};
	/* 4.2 s: a guest that does much else is slow to acknowledge */
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 20,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(from->qp[i], &init,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		fail("QP to INIT");
	if (ibv_modify_qp(from->qp[i], &rtr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		fail("QP to RTR");
	if (ibv_modify_qp(from->qp[i], &rts,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		fail("QP to RTS");
}

static void post(const struct end *from, const struct end *to, int i,
		 unsigned int bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->mr->addr,
		.length = bytes,
		.lkey = from->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			.remote_addr = (uintptr_t)to->mr->addr,
			.rkey = to->mr->rkey,
		},
	};

	if (ibv_post_send(from->qp[i], &wr, &bad))
		fail("post");
}

/* One after the other: no queue on the way has to hold more than one of them. */
static void write_all(const struct end *from, const struct end *to, int n,
		      unsigned int bytes)
{
	struct ibv_wc wc;
	int i, got;

	for (i = 0; i < n; i++) {
		post(from, to, i, bytes);
		do
			got = ibv_poll_cq(from->cq, 1, &wc);
		while (!got);
		if (got < 0 || wc.status) {
			fprintf(stderr, "qps: QP %d: %s\n", i,
				got < 0 ? "poll" :
				ibv_wc_status_str(wc.status));
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	struct end from = {}, to = {};
	unsigned int bytes;
	char line[64];
	int i, n;

	n = argc == 6 || (argc == 7 && !strcmp(argv[6], "threads")) ?
	    atoi(argv[5]) : 0;
	if (n < 1 || n > MAX_QPS) {
		fprintf(stderr, "usage: qps FROM GID-INDEX TO GID-INDEX N [threads]\n");
		return 2;
	}
	open_end(&from, argv[1], argv[2], n);
	open_end(&to, argv[3], argv[4], n);
	if (argc == 7) {
		make_by_threads(&from, &to);
	} else {
		make_qps(&from);
		make_qps(&to);
	}
	for (i = 0; i < n; i++) {
		connect_qp(&to, &from, i);
		connect_qp(&from, &to, i);
	}
	setlinebuf(stdout);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "write %u", &bytes) != 1 || !bytes ||
		    bytes > BUFFER) {
			fprintf(stderr, "qps: what is %s", line);
			return 1;
		}
		write_all(&from, &to, n, bytes);
		printf("written\n");
	}
	return 0;
}
