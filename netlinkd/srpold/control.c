// SPDX-License-Identifier: GPL-2.0
/*
 * The Unix sockets of the engine: one of srpol engine, for who may configure,
 * and one for demands, for everybody if there is to be one. A request is one line of JSON,
 * {"version": 1, "request": NAME} and what else it needs, and so is the answer,
 * {"version": 1, "reply": ...} or {"version": 1, "error": TEXT}. A client that
 * sends too much or does not read is let go. So many may be connected at a
 * time; one more takes the place of the one that was quiet for longest, so
 * that nobody can keep others out by doing nothing; so each socket has its own.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "srpold.h"

#define VERSION		1
#define CLIENTS_MAX	64
#define LINE_CONTROL	4096
#define LINE_DEMANDS	262144

/* One of @answer and @answer_user, which wants to know who asks. */
static const struct {
	const char *name;
	json_t *(*answer)(struct engine *engine, const json_t *request,
			  struct srpol_error *err);
	json_t *(*answer_user)(struct engine *engine, uint32_t uid,
			       const json_t *request, struct srpol_error *err);
} requests[] = {
	{ "demands", .answer_user = demand_request },
	{ "demands-show", .answer_user = demand_show_request },
	{ "show", .answer = report_show },
	{ "paths", .answer = report_paths },
	{ "topology", .answer = report_topology },
	{ "link", .answer = link_request },
	{ "why", .answer = why_request },
	{ "job-add", .answer = job_add_request },
	{ "job-del", .answer = job_del_request },
	{ "jobs", .answer = job_show_request },
};

#define N_REQUESTS	(sizeof(requests) / sizeof(requests[0]))
#define N_FOR_ALL	1	/* of these, by the socket for demands */

/**
 * struct door - a socket
 * @source: listens
 * @path: where, empty: nowhere
 * @mode: of the file
 * @n_requests: the first so many of requests[] may come by it
 * @line_max: bytes of a request
 * @clients: who is connected
 */
struct door {
	struct source source;
	const char *path;
	mode_t mode;
	size_t n_requests;
	size_t line_max;
	struct client *clients[CLIENTS_MAX];
};

/**
 * struct client - somebody who is connected
 * @source: the connection
 * @door: by which
 * @uid: user
 * @heard_ns: when something came last
 * @len: bytes of @line
 * @line: what came so far
 */
struct client {
	struct source source;
	struct door *door;
	uint32_t uid;
	uint64_t heard_ns;
	size_t len;
	char line[];
};

static struct door doors[] = {
	{ .source.fd = -1, .mode = 0660, .n_requests = N_REQUESTS,
	  .line_max = LINE_CONTROL },
	{ .source.fd = -1, .mode = 0666, .n_requests = N_FOR_ALL,
	  .line_max = LINE_DEMANDS },
};

#define N_DOORS		(sizeof(doors) / sizeof(doors[0]))

static struct engine *engine;
uint64_t control_dropped;

static void let_go(struct client *client)
{
	struct client **clients = client->door->clients;
	int i;

	for (i = 0; i < CLIENTS_MAX; i++)
		if (clients[i] == client)
			clients[i] = NULL;
	loop_remove(&client->source);
	close(client->source.fd);
	free(client);
}

static json_t *answer_request(const struct client *client,
			      const json_t *request, struct srpol_error *err)
{
	size_t i, n = client->door->n_requests;
	json_int_t version = -1;
	const char *name;
	json_t *body;

	if (!request || json_unpack((json_t *)request, "{s:I, s:s}",
				    "version", &version, "request", &name)) {
		srpol_error_set(err, -EINVAL,
				"a request is {\"version\": 1, \"request\": NAME}");
		return NULL;
	}
	if (version != VERSION) {
		srpol_error_set(err, -EINVAL, "this is version 1");
		return NULL;
	}
	for (i = 0; i < n && strcmp(requests[i].name, name); i++)
		;
	if (i == n) {
		srpol_error_set(err, -EINVAL, "request \"%s\" is unknown",
				name);
		return NULL;
	}
	body = requests[i].answer ?
	       requests[i].answer(engine, request, err) :
	       requests[i].answer_user(engine, client->uid, request, err);
	if (!body && !err->text[0])
		srpol_error_set(err, -ENOMEM, "no memory");
	return body;
}

static json_t *answer(const struct client *client)
{
	json_t *request = json_loads(client->line, JSON_REJECT_DUPLICATES, NULL);
	json_t *reply = json_object(), *body;
	struct srpol_error err = {};

	body = answer_request(client, request, &err);
	json_object_set_new(reply, "version", json_integer(VERSION));
	if (body)
		json_object_set_new(reply, "reply", body);
	else
		json_object_set_new(reply, "error", json_string(err.text));
	json_decref(request);
	return reply;
}

/*
 * An answer is written at once, with a limit on how long that may take: the
 * socket's buffer holds all but the largest, and probes do not wait.
 */
static bool send_answer(const struct client *client)
{
	json_t *reply = answer(client);
	char *text = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(9));
	size_t len = text ? strlen(text) : 0;
	bool sent = false;

	json_decref(reply);
	if (text) {
		text[len] = '\n';
		sent = send(client->source.fd, text, len + 1,
			    MSG_NOSIGNAL | MSG_DONTWAIT) ==
		       (ssize_t)(len + 1);
	}
	free(text);
	return sent;
}

static void read_client(struct source *source, uint32_t events)
{
	struct client *client = (struct client *)source;
	size_t room = client->door->line_max;
	ssize_t n;
	char *end;

	n = recv(source->fd, client->line + client->len,
		 room - client->len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		let_go(client);
		return;
	}
	client->heard_ns = now_ns();
	client->len += n;
	client->line[client->len] = '\0';
	while ((end = memchr(client->line, '\n', client->len))) {
		*end++ = '\0';
		if (!send_answer(client)) {
			control_dropped++;
			let_go(client);
			return;
		}
		client->len -= end - client->line;
		memmove(client->line, end, client->len + 1);
	}
	if (client->len == room) {
		control_dropped++;
		let_go(client);
	}
}

/* Where a client may stand. */
static int free_place(struct client **clients)
{
	int i, quiet = 0;

	for (i = 0; i < CLIENTS_MAX && clients[i]; i++)
		if (clients[i]->heard_ns < clients[quiet]->heard_ns)
			quiet = i;
	if (i < CLIENTS_MAX)
		return i;
	control_dropped++;
	let_go(clients[quiet]);
	return quiet;
}

static void accept_client(struct source *source, uint32_t events)
{
	struct door *door = (struct door *)source;
	int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct ucred who = { .uid = -1 };
	socklen_t len = sizeof(who);
	int size = 8 << 20;
	struct client *client;

	if (fd < 0)
		return;
	/* for a byte behind the line */
	client = calloc(1, sizeof(*client) + door->line_max + 1);
	if (!client) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	client->door = door;
	client->uid = who.uid;
	client->heard_ns = now_ns();
	client->source.fd = fd;
	client->source.ready = read_client;
	if (loop_add(&client->source, EPOLLIN)) {
		close(fd);
		free(client);
		return;
	}
	door->clients[free_place(door->clients)] = client;
}

/* Somebody answers there: it is another srpold of this namespace. */
static bool is_taken(const struct sockaddr_un *addr, pid_t *pid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred who = {};
	socklen_t len = sizeof(who);
	bool taken;

	taken = fd >= 0 && !connect(fd, (const struct sockaddr *)addr,
				    sizeof(*addr));
	if (taken)
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	*pid = who.pid;
	if (fd >= 0)
		close(fd);
	return taken;
}

static void make_folder(const char *path)
{
	char folder[sizeof(engine->config.socket)];
	char *slash;

	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash && slash != folder) {
		*slash = '\0';
		/* if that does not do, bind() says why */
		if (mkdir(folder, 0755) && errno != EEXIST)
			log_debug("%s: %s", folder, strerror(errno));
	}
}

static int open_door(struct door *door, struct srpol_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = door->path;
	pid_t pid;
	int fd, ret = 0;

	memcpy(addr.sun_path, path, strlen(path) + 1);
	make_folder(path);
	if (is_taken(&addr, &pid))
		return srpol_error_set(err, -EBUSY,
				       "another srpold, process %d, has %s",
				       pid, path);
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    chmod(path, door->mode) || listen(fd, CLIENTS_MAX))
		ret = srpol_error_set(err, -errno, "%s: %s", path,
				      strerror(errno));
	door->source.fd = fd;
	door->source.ready = accept_client;
	ret = ret ?: loop_add(&door->source, EPOLLIN);
	if (ret && fd >= 0) {
		close(fd);
		door->source.fd = -1;
	}
	return ret;
}

/**
 * control_start() - answer srpol engine, and take demands
 * @e: the engine
 * @err: why not: -EBUSY if another srpold does
 */
int control_start(struct engine *e, struct srpol_error *err)
{
	size_t i;
	int ret = 0;

	engine = e;
	doors[0].path = e->config.socket;
	doors[1].path = e->config.demands;
	for (i = 0; !ret && i < N_DOORS; i++)
		if (doors[i].path[0])
			ret = open_door(&doors[i], err);
	if (ret)
		control_stop();
	return ret;
}

static void close_door(struct door *door)
{
	int i;

	for (i = 0; i < CLIENTS_MAX; i++)
		if (door->clients[i])
			let_go(door->clients[i]);
	loop_remove(&door->source);
	close(door->source.fd);
	door->source.fd = -1;
	unlink(door->path);
}

/**
 * control_stop() - answer no more
 */
void control_stop(void)
{
	size_t i;

	for (i = 0; i < N_DOORS; i++)
		if (doors[i].source.fd >= 0)
			close_door(&doors[i]);
}
