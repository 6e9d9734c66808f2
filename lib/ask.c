// SPDX-License-Identifier: LGPL-2.1
/* Requests to an engine at its Unix socket: one line of JSON each way. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ask.h"

#define VERSION		1

/*
 * With a limit of time, calls of sockets are not begun again after a signal or a stop, as
 * others are. The limit counts anew then.
 */
static bool is_interrupted(ssize_t ret)
{
	return ret < 0 && errno == EINTR;
}

static int connect_fd(int fd, const struct sockaddr_un *addr)
{
	int ret;

	do
		ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
	while (is_interrupted(ret));
	return ret;
}

static int connect_to(const char *path, unsigned int limit_ms)
{
	struct timeval limit = { .tv_sec = limit_ms / 1000,
				 .tv_usec = limit_ms % 1000 * 1000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) &&
	    !connect_fd(fd, &addr))
		return fd;
	/* the engine accepts nobody: its backlog is full */
	ret = errno == EAGAIN ? -ETIMEDOUT : -errno;
	close(fd);
	return ret;
}

/*
 * Send a line, without SIGPIPE: the process may belong to a program that uses
 * this. Return: 1, 0 if the engine does not take it, or -ETIMEDOUT.
 */
static int send_line(int fd, const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len = text ? strlen(text) : 0, at = 0;
	ssize_t n = 0;

	if (text)
		text[len++] = '\n';	/* in place of the 0 */
	while (at < len && (n >= 0 || is_interrupted(n))) {
		n = send(fd, text + at, len - at, MSG_NOSIGNAL);
		at += n > 0 ? n : 0;
	}
	n = n < 0 && errno == EAGAIN ? -ETIMEDOUT : len && at == len;
	free(text);
	return n;
}

static ssize_t read_some(void *fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = recv(*(int *)fd, buf, size, 0);
	while (is_interrupted(n));
	return n;
}

/*
 * Closes @fd at the end, or when @take has had enough. After the first line there is
 * no limit of time. Return: 0, or -ETIMEDOUT.
 */
static int read_lines(int fd, bool (*take)(const json_t *line, void *data),
		      void *data)
{
	static const struct timeval none;
	FILE *engine = fopencookie(&fd, "r", (cookie_io_functions_t){ .read = read_some });
	json_t *answer = NULL;
	char *line = NULL;
	size_t size = 0;
	bool more = true;
	int ret = 0;

	if (!engine) {
		close(fd);
		return 0;
	}
	while (more) {
		more = getline(&line, &size, engine) > 0;
		/* what there is of a line then is not whole */
		if (ferror(engine) && errno == EAGAIN) {
			ret = -ETIMEDOUT;
			break;
		}
		answer = more ? json_loads(line, 0, NULL) : NULL;
		more = answer && take(answer, data);
		json_decref(answer);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	}
	free(line);
	fclose(engine);
	close(fd);
	return ret;
}

static bool take_one(const json_t *line, void *answer)
{
	*(json_t **)answer = json_incref((json_t *)line);
	return false;
}

static int ask(const char *path, json_t *request, unsigned int limit_ms,
	       bool (*take)(const json_t *line, void *data), void *data)
{
	int fd = connect_to(path, limit_ms), ret;

	if (fd < 0)
		return fd;
	json_object_set_new(request, "version", json_integer(VERSION));
	ret = send_line(fd, request);
	if (ret > 0)
		return read_lines(fd, take, data);
	close(fd);
	return ret;
}

/**
 * srpol_ask() - send a request to an engine
 * @path: path of its Unix socket
 * @request: "request" and its arguments; the version is added here
 * @limit_ms: longest wait for each step in ms, 0: no limit
 * @answer: result, to be released: object with "reply" or "error"; NULL if no
 *	answer came
 *
 * Return: 0, -ETIMEDOUT if a step took longer than @limit_ms, or another negative
 * errno if the engine cannot be reached.
 */
int srpol_ask(const char *path, json_t *request, unsigned int limit_ms,
	      json_t **answer)
{
	*answer = NULL;
	return ask(path, request, limit_ms, take_one, answer);
}

/**
 * srpol_ask_each() - send a request to an engine that answers by many lines
 * @path: path of its Unix socket
 * @request: "request" and its arguments; the version is added here
 * @limit_ms: longest wait for each step until the first line came, in ms, 0: no limit
 * @take: called with each line; returns whether to go on
 * @data: argument of @take
 *
 * Return: 0 once the engine ends the connection, sends what is not JSON, or @take
 * has had enough; -ETIMEDOUT if no line came in time; or another negative errno if
 * the engine cannot be reached.
 */
int srpol_ask_each(const char *path, json_t *request, unsigned int limit_ms,
		   bool (*take)(const json_t *line, void *data), void *data)
{
	return ask(path, request, limit_ms, take, data);
}
