// SPDX-License-Identifier: GPL-2.0
/*
 * The Unix socket of srpol engine: a request is one line of JSON,
 * {"version": 1, "request": NAME} and what else it needs, and so is the answer,
 * {"version": 1, "reply": ...} or {"version": 1, "error": TEXT}. A client that
 * sends too much or does not read is let go. So many may be connected at a
 * time; one more takes the place of the one that was quiet for longest, so
 * that nobody can keep others out by doing nothing.
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
#define LINE_MAX_LEN	4096

static const struct {
	const char *name;
	json_t *(*answer)(struct engine *engine, const json_t *request,
			  struct srpol_error *err);
} requests[] = {
	{ "show", report_show },
	{ "paths", report_paths },
	{ "topology", report_topology },
	{ "link", link_request },
	{ "why", why_request },
	{ "job-add", job_add_request },
	{ "job-del", job_del_request },
	{ "jobs", job_show_request },
};

#define N_REQUESTS	(sizeof(requests) / sizeof(requests[0]))

struct client {
	struct source source;
	uint64_t heard_ns;
	char line[LINE_MAX_LEN];
	size_t len;
};

static struct source listener = { .fd = -1 };
static struct engine *engine;
static struct client *clients[CLIENTS_MAX];
uint64_t control_dropped;

static void let_go(struct client *client)
{
	int i;

	for (i = 0; i < CLIENTS_MAX; i++)
		if (clients[i] == client)
			clients[i] = NULL;
	loop_remove(&client->source);
	close(client->source.fd);
	free(client);
}

static json_t *answer_request(const json_t *request, struct srpol_error *err)
{
	json_int_t version = -1;
	const char *name;
	json_t *body;
	size_t i;

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
	for (i = 0; i < N_REQUESTS && strcmp(requests[i].name, name); i++)
		;
	if (i == N_REQUESTS) {
		srpol_error_set(err, -EINVAL, "request \"%s\" is unknown",
				name);
		return NULL;
	}
	body = requests[i].answer(engine, request, err);
	if (!body && !err->text[0])
		srpol_error_set(err, -ENOMEM, "no memory");
	return body;
}

static json_t *answer(const char *line)
{
	json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	json_t *reply = json_object(), *body;
	struct srpol_error err = {};

	body = answer_request(request, &err);
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
static bool send_answer(struct client *client, const char *line)
{
	json_t *reply = answer(line);
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
	ssize_t n;
	char *end;

	n = recv(source->fd, client->line + client->len,
		 sizeof(client->line) - 1 - client->len, MSG_DONTWAIT);
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
		if (!send_answer(client, client->line)) {
			control_dropped++;
			let_go(client);
			return;
		}
		client->len -= end - client->line;
		memmove(client->line, end, client->len + 1);
	}
	if (client->len == sizeof(client->line) - 1) {
		control_dropped++;
		let_go(client);
	}
}

/* Where a client may stand. */
static int free_place(void)
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
	int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int size = 8 << 20;
	struct client *client;
	int i;

	if (fd < 0)
		return;
	i = free_place();
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	client->heard_ns = now_ns();
	client->source.fd = fd;
	client->source.ready = read_client;
	if (loop_add(&client->source, EPOLLIN)) {
		close(fd);
		free(client);
		return;
	}
	clients[i] = client;
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

/**
 * control_start() - answer srpol engine
 * @e: the engine
 * @err: why not: -EBUSY if another srpold does
 */
int control_start(struct engine *e, struct srpol_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = e->config.socket;
	pid_t pid;
	int fd, ret = 0;

	engine = e;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	make_folder(path);
	if (is_taken(&addr, &pid))
		return srpol_error_set(err, -EBUSY,
				       "another srpold, process %d, has %s",
				       pid, path);
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    chmod(path, 0660) || listen(fd, CLIENTS_MAX))
		ret = srpol_error_set(err, -errno, "%s: %s", path,
				      strerror(errno));
	listener.fd = fd;
	listener.ready = accept_client;
	ret = ret ?: loop_add(&listener, EPOLLIN);
	if (ret && fd >= 0)
		close(fd);
	return ret;
}

/**
 * control_stop() - answer no more
 */
void control_stop(void)
{
	int i;

	if (listener.fd < 0)
		return;
	for (i = 0; i < CLIENTS_MAX; i++)
		if (clients[i])
			let_go(clients[i]);
	loop_remove(&listener);
	close(listener.fd);
	listener.fd = -1;
	unlink(engine->config.socket);
}
