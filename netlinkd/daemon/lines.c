// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "folder.h"
#include "lines.h"
#include "srpol_lib.h"

#define READ_SIZE	4096
#define NS_PER_SEC	1000000000ull

static void release(struct lines_client *client)
{
	free(client->in);
	free(client->out);
	free(client);
}

static void let_go(struct lines_client *client)
{
	struct lines *server = client->server;
	unsigned int i;

	if (client->gone)
		return;
	client->gone = true;
	for (i = 0; i < server->clients_max; i++)
		if (server->clients[i] == client)
			server->clients[i] = NULL;
	loop_remove(&client->source);
	close(client->source.fd);
	if (server->left)
		server->left(client);
	if (!client->busy)
		release(client);
}

static void drop(struct lines_client *client)
{
	client->server->dropped++;
	let_go(client);
}

/*
 * What to wait for. client_ready() lets go who has ended once everything was sent,
 * whoever has sent it; until then there is nothing to read, and that somebody leaves
 * altogether is heard in any case.
 */
static uint32_t awaited(const struct lines_client *client)
{
	if (!client->ended)
		return client->out_len ? EPOLLIN | EPOLLOUT : EPOLLIN;
	return client->out_len || !client->owed ? EPOLLOUT : 0;
}

/* Has it read everything that it will be told, and says no more? */
static bool is_done(const struct lines_client *client)
{
	return client->ended && !client->out_len && !client->owed;
}

/* Sends what the socket takes. Returns false if the client is gone. */
static bool flush(struct lines_client *client)
{
	size_t done = 0;
	ssize_t n;

	while (done < client->out_len) {
		n = send(client->source.fd, client->out + done,
			 client->out_len - done, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return false;
		if (n < 0)
			break;
		done += n;
	}
	client->out_len -= done;
	memmove(client->out, client->out + done, client->out_len);
	loop_change(&client->source, awaited(client));
	return true;
}

/**
 * lines_send() - send a line
 * @client: receiver
 * @text: line without a newline
 * @len: bytes of @text
 *
 * Return: false if the client was disconnected. It is then freed at once, or,
 * during its line() callback, after that returns.
 */
bool lines_send(struct lines_client *client, const char *text, size_t len)
{
	char *out;

	if (client->gone)
		return false;
	if (client->out_len + len + 1 > client->server->out_max ||
	    !(out = realloc(client->out, client->out_len + len + 1))) {
		drop(client);
		return false;
	}
	client->out = out;
	memcpy(out + client->out_len, text, len);
	client->out_len += len + 1;
	out[client->out_len - 1] = '\n';
	if (flush(client))
		return true;
	drop(client);
	return false;
}

/* A second begins with the first line sent in it, not with one of the clock. */
static bool is_over(const struct lines_talk *talk, uint64_t now)
{
	return !talk->since_ns || now - talk->since_ns >= NS_PER_SEC;
}

static bool say(struct lines_talk *talk, uint64_t now, size_t cost, size_t max)
{
	if (is_over(talk, now)) {
		talk->since_ns = now;
		talk->said = 0;
	}
	talk->said += cost;
	return talk->said <= max;
}

/* Entry of a user; NULL if too many other users have sent within a second. */
static struct lines_talk *talk_of(struct lines *server, uint32_t uid,
				  uint64_t now)
{
	struct lines_talk *place = NULL, *talk;

	for (talk = server->users; talk < server->users + LINES_USERS; talk++) {
		if (talk->since_ns && talk->uid == uid)
			return talk;
		if (is_over(talk, now))
			place = talk;
	}
	if (place)
		*place = (struct lines_talk){ .uid = uid };
	return place;
}

static bool may_say(struct lines_client *client, size_t len)
{
	struct lines *server = client->server;
	size_t max = server->rate_max, cost = len + LINES_COST;
	uint64_t now = client->heard_ns;
	struct lines_talk *user;

	if (!max)
		return true;
	user = talk_of(server, client->uid, now);
	return say(&client->talk, now, cost, max) && user &&
	       say(user, now, cost, LINES_BY_USER * max) &&
	       say(&server->all, now, cost, LINES_BY_ALL * max);
}

static void take_lines(struct lines_client *client)
{
	char *at = client->in, *end;

	client->busy = true;
	while (!client->gone &&
	       (end = memchr(at, '\n', client->in + client->in_len - at))) {
		*end = '\0';
		if (may_say(client, end - at))
			client->server->line(client, at, end - at);
		else
			drop(client);
		at = end + 1;
	}
	client->busy = false;
	if (client->gone) {
		release(client);
		return;
	}
	client->in_len -= at - client->in;
	memmove(client->in, at, client->in_len);
	if (client->in_len >= client->server->line_max)
		drop(client);
}

static void read_client(struct lines_client *client)
{
	size_t room = client->in_len + READ_SIZE;
	ssize_t n;
	char *in;

	if (room > client->in_room) {
		in = realloc(client->in, 2 * room);
		if (!in) {
			drop(client);
			return;
		}
		client->in = in;
		client->in_room = 2 * room;
	}
	n = recv(client->source.fd, client->in + client->in_len,
		 client->in_room - client->in_len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (!n && (client->out_len || client->owed)) {
		/* it will say no more, and still reads what it is told */
		client->ended = true;
		loop_change(&client->source, awaited(client));
		return;
	}
	if (n <= 0) {
		let_go(client);
		return;
	}
	client->heard_ns = now_ns();
	client->in_len += n;
	take_lines(client);
}

static void client_ready(struct source *source, uint32_t events)
{
	struct lines_client *client = (struct lines_client *)source;
	void (*drained)(struct lines_client *client) = client->server->drained;

	if (events & EPOLLOUT && !flush(client)) {
		drop(client);
		return;
	}
	if (events & EPOLLOUT && !client->out_len && drained) {
		client->busy = true;
		drained(client);
		client->busy = false;
	}
	if (client->gone)
		release(client);
	else if (is_done(client) || (client->ended && events & ~EPOLLOUT))
		let_go(client);
	else if (events & ~EPOLLOUT)
		read_client(client);
}

/* How many clients of a user may be replaced. */
static unsigned int clients_of(const struct lines *server, uint32_t uid)
{
	const struct lines_client *client;
	unsigned int i, n = 0;

	for (i = 0; i < server->clients_max; i++) {
		client = server->clients[i];
		n += client && !client->kept && client->uid == uid;
	}
	return n;
}

/*
 * The client that has been quiet for longest, but for those that are kept; or NULL. It
 * is one of the user who has most: who connects again and again replaces no others.
 */
static struct lines_client *quietest(const struct lines *server)
{
	struct lines_client *found = NULL, *client;
	unsigned int i, n, most = 0;

	for (i = 0; i < server->clients_max; i++) {
		client = server->clients[i];
		if (!client || client->kept)
			continue;
		n = found && client->uid == found->uid ? most :
		    clients_of(server, client->uid);
		if (n > most || (n == most && client->heard_ns < found->heard_ns)) {
			found = client;
			most = n;
		}
	}
	return found;
}

/*
 * Index for a new client; disconnects the quietest one if all are in use. Not all
 * of them are kept.
 */
static unsigned int free_place(struct lines *server)
{
	unsigned int i = 0;

	while (i < server->clients_max && server->clients[i])
		i++;
	if (i < server->clients_max)
		return i;
	drop(quietest(server));
	return free_place(server);
}

static void accept_client(struct source *source, uint32_t events)
{
	struct lines *server = (struct lines *)((char *)source -
						offsetof(struct lines, listener));
	int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct ucred who = { .uid = -1 };
	socklen_t len = sizeof(who);
	struct lines_client *client;
	unsigned int i;

	if (fd < 0) {
		/* without room for it the loop would be told of it for ever */
		client = errno == EMFILE || errno == ENFILE ? quietest(server) :
							      NULL;
		if (client)
			drop(client);
		return;
	}
	i = free_place(server);
	client = calloc(1, sizeof(*client));
	if (!client) {
		close(fd);
		return;
	}
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	client->server = server;
	client->uid = who.uid;
	client->heard_ns = now_ns();
	client->source.fd = fd;
	client->source.ready = client_ready;
	if (loop_add(&client->source, EPOLLIN)) {
		close(fd);
		free(client);
		return;
	}
	server->clients[i] = client;
}

/*
 * Is another process serving this socket? A full backlog also means yes. @pid:
 * that process, 0: unknown, as it is too busy to accept a connection.
 */
static bool is_taken(const struct sockaddr_un *addr, pid_t *pid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who = {};
	socklen_t len = sizeof(who);
	bool taken;

	taken = fd >= 0 && (!connect(fd, (const struct sockaddr *)addr,
				     sizeof(*addr)) || errno == EAGAIN);
	if (taken)
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	*pid = who.pid;
	if (fd >= 0)
		close(fd);
	return taken;
}

/*
 * Removes a stale socket, which nobody serves, from @path. Any other file is
 * left alone and makes this fail.
 */
static int make_place(const char *path, struct srpol_error *err)
{
	struct stat is;

	if (lstat(path, &is))
		return errno == ENOENT ? 0 :
		       srpol_error_set(err, -errno, "%s: %s", path,
				       strerror(errno));
	if (!S_ISSOCK(is.st_mode))
		return srpol_error_set(err, -EEXIST,
				       "%s is there and no socket: it is left alone",
				       path);
	return unlink(path) ? srpol_error_set(err, -errno, "%s: %s", path,
					      strerror(errno)) : 0;
}

static int listen_at(struct lines *server, const struct sockaddr_un *addr,
		     struct srpol_error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const char *path = server->path;
	int ret;

	if (fd < 0 || bind(fd, (const struct sockaddr *)addr, sizeof(*addr))) {
		ret = srpol_error_set(err, -errno, "%s: %s", path,
				      strerror(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	server->listener.fd = fd;
	server->listener.ready = accept_client;
	ret = chmod(path, server->for_all ? 0666 : 0660) ||
	      listen(fd, server->clients_max) ?
	      srpol_error_set(err, -errno, "%s: %s", path, strerror(errno)) :
	      loop_add(&server->listener, EPOLLIN);
	if (!ret)
		return 0;
	close(fd);
	server->listener.fd = -1;
	unlink(path);
	return ret;
}

/**
 * lines_start() - start to serve
 * @server: @path, limits and callbacks are set; @path must fit into a socket
 *	address
 * @err: error message
 *
 * Return: 0, -EBUSY if another process serves this socket, -EEXIST if there is
 * a file at @path that is not a socket, or another negative errno.
 */
int lines_start(struct lines *server, struct srpol_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = server->path;
	pid_t pid;
	int ret;

	server->listener.fd = -1;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	folder_of(path);
	if (is_taken(&addr, &pid))
		return srpol_error_set(err, -EBUSY, "process %d has %s", pid,
				       path);
	server->clients = calloc(server->clients_max,
				 sizeof(struct lines_client *));
	if (!server->clients)
		return -ENOMEM;
	ret = make_place(path, err) ?: listen_at(server, &addr, err);
	if (ret)
		free(server->clients);
	return ret;
}

/**
 * lines_stop() - stop serving, and disconnect all clients
 * @server: started by lines_start(), or never started and listener.fd is -1
 */
void lines_stop(struct lines *server)
{
	unsigned int i;

	if (server->listener.fd < 0)
		return;
	for (i = 0; i < server->clients_max; i++)
		if (server->clients[i])
			let_go(server->clients[i]);
	free(server->clients);
	loop_remove(&server->listener);
	close(server->listener.fd);
	server->listener.fd = -1;
	unlink(server->path);
}
