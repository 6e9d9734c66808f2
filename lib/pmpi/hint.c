// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hint.h"

#define DEFAULT_PATH	"/run/srpold/default.demands"

/**
 * hint_open() - where srpold is; it need not be there yet
 * @h: result
 *
 * The environment is read here and never again: later, another thread of the
 * program may change it, and getenv() is not safe meanwhile.
 */
void hint_open(struct hint *h)
{
	const char *path = getenv("SRPOL_DEMANDS"), *job = getenv("SRPOL_JOB");
	const char *slurm = getenv("SLURM_JOB_ID");

	snprintf(h->path, sizeof(h->path), "%s", path ?: DEFAULT_PATH);
	h->job = job ? strdup(job) : NULL;
	h->slurm = slurm ? atoi(slurm) : 0;
	h->fd = -1;
	if (!h->text)
		h->text = malloc(HINT_ROOM + 1);
}

/**
 * hint_close() - nothing more will be said
 * @h: the way to srpold
 */
void hint_close(struct hint *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
	free(h->text);
	free(h->job);
	h->text = h->job = NULL;
}

__attribute__((format(printf, 2, 3)))
static void append(struct hint *h, const char *fmt, ...)
{
	va_list args;
	int n;

	if (!h->text || h->len > HINT_ROOM)
		return;
	va_start(args, fmt);
	n = vsnprintf(h->text + h->len, HINT_ROOM + 1 - h->len, fmt, args);
	va_end(args);
	h->len += n < 0 ? HINT_ROOM + 1 : (size_t)n;
}

/* In quotes; what would have to be escaped is no name of a host. */
static void append_name(struct hint *h, const char *name)
{
	append(h, "\"");
	for (; *name; name++)
		append(h, "%c", *name < ' ' || *name == '"' || *name == '\\' ?
		       '?' : *name);
	append(h, "\"");
}

/**
 * hint_begin() - begin an announcement
 * @h: the way to srpold
 * @what: kind of owner
 * @number: which one
 *
 * Two programs of a user do not take each other's owners, nor do two steps of a
 * job that run at the same time: the number of the process is in them.
 */
void hint_begin(struct hint *h, const char *what, int number)
{
	h->len = 0;
	append(h, "{\"version\": 1, \"request\": \"demands\", \"owner\": \"%s-%d-%d-%d\", \"demands\": [",
	       what, h->slurm, (int)getpid(), number);
}

/**
 * hint_add() - add a demand to it
 * @h: the way to srpold
 * @src: host
 * @dst: host
 * @bytes: not 0
 * @for_ms: how long that is to be believed
 */
void hint_add(struct hint *h, const char *src, const char *dst, uint64_t bytes,
	      uint64_t for_ms)
{
	if (h->text && h->len <= HINT_ROOM && h->text[h->len - 1] != '[')
		append(h, ",");
	append(h, "{\"src\": ");
	append_name(h, src);
	append(h, ", \"dst\": ");
	append_name(h, dst);
	if (h->job) {
		append(h, ", \"job\": ");
		append_name(h, h->job);
	}
	append(h, ", \"bytes\": %llu, \"for-ms\": %llu}",
	       (unsigned long long)bytes, (unsigned long long)for_ms);
}

/* Read what srpold says about lines before; it may have been started anew. */
static void read_answers(struct hint *h)
{
	char answer[512];
	ssize_t n = 1;

	while (h->fd >= 0 && n > 0)
		n = recv(h->fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (n && (n > 0 || errno == EAGAIN || errno == EINTR))
		return;
	close(h->fd);
	h->fd = -1;
}

static void connect_to(struct hint *h)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int size = HINT_ROOM + 1;

	if (h->fd >= 0 && h->pid == getpid())
		return;
	if (h->fd >= 0)
		close(h->fd);
	h->pid = getpid();
	h->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd < 0)
		return;
	setsockopt(h->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	strcpy(addr.sun_path, h->path);
	if (!connect(h->fd, (struct sockaddr *)&addr, sizeof(addr)))
		return;
	close(h->fd);
	h->fd = -1;
}

/**
 * hint_send() - end the announcement and send it
 * @h: the way to srpold
 *
 * Does not wait. What is not taken whole and at once is lost and counted.
 */
void hint_send(struct hint *h)
{
	append(h, "]}\n");
	if (!h->text || h->len > HINT_ROOM) {
		h->lost++;
		return;
	}
	read_answers(h);
	connect_to(h);
	if (h->fd < 0) {
		h->lost++;
		return;
	}
	if (send(h->fd, h->text, h->len, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	    (ssize_t)h->len)
		return;
	/* half of a line is of no use */
	h->lost++;
	close(h->fd);
	h->fd = -1;
}
