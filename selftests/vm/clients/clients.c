// SPDX-License-Identifier: GPL-2.0
/*
 * clients THREADS ROUNDS: a program of many threads, each with a connection of its
 * own, as libsrpol's documentation allows: they make and delete paths by
 * transactions, of which some are refused, and look. A child has one as well, and
 * a listener does not keep up.
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <pthread.h>
#include <srpol/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATHS	20	/* of a thread */
#define TRIES	1000

struct client {
	pthread_t thread;
	struct srpol_genl genl;
	uint32_t first;
	uint32_t rounds;
	uint32_t seen;
};

static void die(const char *what, int ret, const struct srpol_error *err)
{
	fprintf(stderr, "clients: %s: %d %s, request %u\n", what, ret,
		err->text, err->request);
	exit(EXIT_FAILURE);
}

static int count(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[SRPOL_A_PATH_MAX + 1];
	struct client *c = data;
	uint32_t id;

	srpol_msg_attrs(nlh, tb, SRPOL_A_PATH_MAX);
	id = tb[SRPOL_A_PATH_ID] ? mnl_attr_get_u32(tb[SRPOL_A_PATH_ID]) : 0;
	c->seen += id >= c->first && id < c->first + PATHS;
	return 0;
}

/* How many of its paths there are. */
static uint32_t look(struct client *c)
{
	struct srpol_error err = {};
	int ret = -EINTR, i;

	for (i = 0; ret == -EINTR && i < TRIES; i++) {
		c->seen = 0;
		ret = srpol_genl_dump(&c->genl, SRPOL_CMD_PATH_GET, count, c,
				      &err);
	}
	if (ret)
		die("dump", ret, &err);
	return c->seen;
}

static void add_one(struct client *c, struct srpol_batch *batch, uint32_t id,
		    bool there)
{
	struct in6_addr sid = { .s6_addr = { 0xfc, [15] = 1 } };
	struct srpol_error none = {};
	struct srpol_msg msg;
	struct nlattr *nest;

	srpol_msg_start(&c->genl, &msg, there ? SRPOL_CMD_PATH_NEW :
			SRPOL_CMD_PATH_DEL,
			there ? NLM_F_CREATE | NLM_F_EXCL : 0);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, id);
	if (there) {
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_ORIGIN,
				  SRPOL_ORIGIN_ENGINE);
		nest = srpol_msg_nest(&msg, SRPOL_A_PATH_SIDS);
		srpol_msg_put(&msg, SRPOL_A_SID_ENTRY_SID, sizeof(sid), &sid);
		srpol_msg_nest_end(&msg, nest);
	}
	if (srpol_batch_add(batch, msg.nlh))
		die("no memory", -ENOMEM, &none);
}

/* All of its paths are made, or deleted; @bad: and one that is not there. */
static int change(struct client *c, bool there, bool bad,
		  struct srpol_error *err)
{
	struct srpol_batch batch = {};
	uint32_t i;
	int ret;

	for (i = 0; i < PATHS; i++)
		add_one(c, &batch, c->first + i, there);
	if (bad)
		add_one(c, &batch, c->first + PATHS, false);
	ret = srpol_batch_send(&c->genl, &batch, err);
	srpol_batch_free(&batch);
	return ret;
}

static void *run(void *data)
{
	struct client *c = data;
	struct srpol_error err = {};
	uint32_t i;
	int ret;

	ret = srpol_genl_open(&c->genl, &err);
	if (ret)
		die("open", ret, &err);
	for (i = 0; i < c->rounds; i++) {
		ret = change(c, true, false, &err);
		if (ret || look(c) != PATHS)
			die("paths that were made", ret, &err);
		ret = change(c, false, true, &err);
		if (ret != -ENOENT || err.request != PATHS || look(c) != PATHS)
			die("a transaction that is refused", ret, &err);
		err = (struct srpol_error){};
		ret = change(c, false, false, &err);
		if (ret || look(c))
			die("paths that were deleted", ret, &err);
	}
	srpol_genl_close(&c->genl);
	return NULL;
}

static int note(const struct nlmsghdr *nlh, void *data)
{
	uint8_t cmd = srpol_msg_cmd(nlh);

	return cmd == SRPOL_CMD_PATH_NTF || cmd == SRPOL_CMD_PATH_DEL_NTF ?
	       count(nlh, data) : 0;
}

/* It was told of less than there was, learns so once, and hears on. */
static void listener_hears(struct srpol_genl *genl, struct client *c)
{
	struct srpol_error err = {};
	uint32_t lost = 0;
	int large = 1 << 20, ret;

	fcntl(srpol_genl_fd(genl), F_SETFL, O_NONBLOCK);
	do {
		ret = srpol_genl_receive(genl, note, c);
		lost += ret == -ENOBUFS;
	} while (!ret || ret == -ENOBUFS);
	if (ret != -EAGAIN || lost != 1)
		die("a listener that did not keep up", ret, &err);
	c->seen = 0;
	fcntl(srpol_genl_fd(genl), F_SETFL, 0);
	setsockopt(srpol_genl_fd(genl), SOL_SOCKET, SO_RCVBUFFORCE, &large,
		   sizeof(large));
	ret = change(c, true, false, &err) ?: change(c, false, false, &err);
	while (!ret && c->seen < 2 * PATHS)
		ret = srpol_genl_receive(genl, note, c);
	if (ret)
		die("a listener afterwards", ret, &err);
}

/* A connection of its own, as that of its parent is the parent's. */
static void child_runs(uint32_t first, uint32_t rounds)
{
	struct client c = { .first = first, .rounds = rounds };

	run(&c);
	exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 2 ? atoi(argv[1]) : 0, i;
	struct client *c = calloc(n + 1, sizeof(*c));
	struct srpol_error err = {};
	int small = 4096, status, ret;
	struct srpol_genl listener;
	pid_t child;

	ret = srpol_genl_open(&c[n].genl, &err) ?:
	      srpol_genl_open(&listener, &err) ?:
	      srpol_genl_listen(&listener, &err);
	if (!n || ret)
		die("open", ret, &err);
	setsockopt(srpol_genl_fd(&listener), SOL_SOCKET, SO_RCVBUF, &small,
		   sizeof(small));
	for (i = 0; i <= n; i++) {
		c[i].first = 10000 + 100 * i;
		c[i].rounds = atoi(argv[2]);
	}
	child = fork();
	if (!child)
		child_runs(9000, c[0].rounds);
	for (i = 0; i < n; i++)
		if (pthread_create(&c[i].thread, NULL, run, &c[i]))
			die("thread", 0, &err);
	for (i = 0; i < n; i++)
		pthread_join(c[i].thread, NULL);
	if (waitpid(child, &status, 0) != child || status)
		die("child", status, &err);
	/* whoever changes something beside them is to end that now */
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	listener_hears(&listener, &c[n]);
	srpol_genl_close(&listener);
	srpol_genl_close(&c[n].genl);
	free(c);
	return EXIT_SUCCESS;
}
