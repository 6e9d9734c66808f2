// SPDX-License-Identifier: BSD-2-Clause
/*
 * An iteration is SRPOL_ITERATION_MS long: at its end the next one is said to
 * be as this was. What is large and was not forecast is said at once.
 * Announcements go to srpold's socket for demands; what it does not take whole
 * and at once is lost, and counted: the next one has all there is anyway.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sender.h"

#define SOCKET_DEFAULT	"/run/srpold/default.demands"
#define ITERATION_MS	1000
#define LARGE_BYTES	(1u << 20)	/* announced before the iteration ends */
#define BELIEVE		3		/* iterations that a forecast is good for */
#define BELIEVE_MS	10000		/* but no less */
#define TEXT_MAX	(256 * 1024 - 1)	/* what srpold takes in one go */
#define NS_PER_MS	1000000ull

static pthread_t thread;
static atomic_bool running;
static atomic_bool ending;
static sem_t wake;
static const struct hosts *hosts;
static struct comm *comms;
static double *now_to, *said;	/* by host */
static int own = -1;		/* host, as communicators have it */
static uint64_t said_ns, iteration_ns;
static bool said_any;
static atomic_uint_fast64_t sent, lost, dropped;

static struct sockaddr_un address;
static char *job;		/* name of srpold's, NULL: none */
static int slurm;		/* number of Slurm's, 0: none */

static int fd = -1;
static char *text;
static size_t text_len;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

__attribute__((format(printf, 1, 2)))
static void append(const char *fmt, ...)
{
	va_list args;
	int n;

	if (text_len > TEXT_MAX)
		return;
	va_start(args, fmt);
	n = vsnprintf(text + text_len, TEXT_MAX + 1 - text_len, fmt, args);
	va_end(args);
	text_len += n < 0 ? TEXT_MAX + 1 : (size_t)n;
}

/* In quotes; what would have to be escaped is no name of a host. */
static void append_name(const char *name)
{
	append("\"");
	for (; *name; name++)
		append("%c", *name < ' ' || *name == '"' || *name == '\\' ?
		       '?' : *name);
	append("\"");
}

static bool connect_to(void)
{
	int size = TEXT_MAX + 1;

	if (fd >= 0)
		return true;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return true;
	close(fd);
	fd = -1;
	return false;
}

/* Read what srpold says about lines before; it may have been started anew. */
static void read_answers(void)
{
	char answer[512];
	ssize_t n = 1;

	while (fd >= 0 && n > 0)
		n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (n && (n > 0 || errno == EAGAIN || errno == EINTR))
		return;
	close(fd);
	fd = -1;
}

static void send_text(void)
{
	read_answers();
	if (text_len > TEXT_MAX || !connect_to()) {
		atomic_fetch_add(&lost, 1);
		return;
	}
	if (send(fd, text, text_len, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	    (ssize_t)text_len) {
		atomic_fetch_add(&sent, 1);
		return;
	}
	/* half of a line is of no use */
	atomic_fetch_add(&lost, 1);
	close(fd);
	fd = -1;
}

static void announce(const double *bytes)
{
	uint64_t ms = BELIEVE * iteration_ns / NS_PER_MS;
	const char *comma = "";
	int i;

	text_len = 0;
	append("{\"version\": 1, \"request\": \"demands\", \"owner\": \"nccl-%d-%d\", \"demands\": [",
	       slurm, (int)getpid());
	for (i = 0; bytes && i < hosts->n; i++) {
		if (bytes[i] < 1)
			continue;
		append("%s{\"src\": ", comma);
		append_name(hosts->name[own]);
		append(", \"dst\": ");
		append_name(hosts->name[i]);
		if (job) {
			append(", \"job\": ");
			append_name(job);
		}
		append(", \"bytes\": %.0f, \"for-ms\": %llu}", bytes[i],
		       (unsigned long long)(ms > BELIEVE_MS ? ms : BELIEVE_MS));
		comma = ", ";
	}
	append("]}\n");
	send_text();
	if (bytes)
		memcpy(said, bytes, hosts->n * sizeof(*said));
	said_ns = now();
	said_any = bytes;
}

/* What all communicators send in this iteration. */
static bool add_up(void)
{
	struct comm *c;
	bool any = false;
	int i;

	memset(now_to, 0, hosts->n * sizeof(*now_to));
	for (c = comms; c; c = c->after)
		for (i = 0; i < hosts->n; i++)
			now_to[i] += c->to[i];
	for (i = 0; i < hosts->n; i++)
		any |= now_to[i] >= 1;
	return any;
}

/* More than was said, by what is worth a word? */
static bool is_news(void)
{
	double more = 0;
	int i;

	for (i = 0; i < hosts->n; i++)
		if (now_to[i] > said[i])
			more += now_to[i] - said[i];
	return more >= LARGE_BYTES;
}

static void say_at_once(void)
{
	int i;

	if (!add_up() || !is_news())
		return;
	for (i = 0; i < hosts->n; i++)
		if (said[i] > now_to[i])
			now_to[i] = said[i];
	announce(now_to);
}

static bool is_same(void)
{
	int i;

	for (i = 0; i < hosts->n; i++)
		if (now_to[i] != said[i])
			return false;
	return true;
}

static void end_iteration(void)
{
	struct comm *c;
	int i;

	if (add_up() && (!is_same() ||
			 now() - said_ns >= BELIEVE_MS / 3 * NS_PER_MS))
		announce(now_to);
	for (c = comms; c; c = c->after)
		for (i = 0; i < hosts->n; i++) {
			c->to[i] = 0;
			/* what proxies did long ago counts less and less */
			c->moved[i] /= 2;
		}
}

static void forget(struct comm *comm)
{
	struct comm **at = &comms;

	while (*at && *at != comm)
		at = &(*at)->after;
	if (*at)
		*at = comm->after;
	comm_free(comm);
}

static void take_note(const struct note *note)
{
	struct comm *c = note->comm;

	if (note->kind == NOTE_END) {
		forget(c);
		return;
	}
	if (!c->listed) {
		c->listed = true;
		c->after = comms;
		comms = c;
		own = c->node;
	}
	comm_count(c, note);
}

static void wait_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000ull,
			       .tv_nsec = ns % 1000000000ull };

	sem_clockwait(&wake, CLOCK_MONOTONIC, &ts);
	while (!sem_trywait(&wake))
		;
}

static void *run(void *data)
{
	uint64_t until = now() + iteration_ns;
	struct note note;

	while (!atomic_load(&ending)) {
		wait_until(until);
		while (ring_take(&note))
			take_note(&note);
		if (now() >= until) {
			end_iteration();
			until = now() + iteration_ns;
		} else {
			say_at_once();
		}
	}
	while (ring_take(&note))
		take_note(&note);
	if (said_any)
		announce(NULL);
	return NULL;
}

static bool start_thread(void)
{
	sigset_t all, before;
	int err;

	/* signals are the program's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !err;
}

static void release(void)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
	free(text);
	free(now_to);
	free(said);
	free(job);
	text = job = NULL;
	now_to = said = NULL;
	comms = NULL;
}

/*
 * Before the thread is there: threads of the program may change the environment
 * at any later time, and getenv() is not safe meanwhile.
 */
static void read_environment(void)
{
	const char *ms = getenv("SRPOL_ITERATION_MS");
	const char *path = getenv("SRPOL_DEMANDS"), *id = getenv("SLURM_JOB_ID");
	const char *name = getenv("SRPOL_JOB");

	iteration_ns = (ms && atol(ms) > 0 ? atol(ms) : ITERATION_MS) *
		       NS_PER_MS;
	address.sun_family = AF_UNIX;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 path ? path : SOCKET_DEFAULT);
	slurm = id ? atoi(id) : 0;
	job = name ? strdup(name) : NULL;
}

/**
 * sender_start() - start it
 * @known: hosts, which have to stay
 *
 * Return: false without memory or threads: everything is dropped then.
 */
bool sender_start(const struct hosts *known)
{
	hosts = known;
	read_environment();
	text = malloc(TEXT_MAX + 1);
	now_to = calloc(hosts->n + 1, sizeof(*now_to));
	said = calloc(hosts->n + 1, sizeof(*said));
	said_any = false;
	ring_reset();
	atomic_store(&ending, false);
	sem_init(&wake, 0, 0);
	if (!text || !now_to || !said || !start_thread()) {
		release();
		return false;
	}
	atomic_store(&running, true);
	return true;
}

/**
 * sender_stop() - have it end; nobody leaves notes any more
 */
void sender_stop(void)
{
	if (!atomic_exchange(&running, false))
		return;
	atomic_store(&ending, true);
	sem_post(&wake);
	pthread_join(thread, NULL);
	sem_destroy(&wake);
	release();
}

/**
 * sender_forked() - this is a child: the thread and the connection are the
 *	parent's
 */
void sender_forked(void)
{
	if (!atomic_exchange(&running, false))
		return;
	release();
}

/**
 * sender_note() - leave a note; any thread, never waits
 * @note: it is copied
 *
 * Return: false if it was dropped.
 */
bool sender_note(const struct note *note)
{
	if (!atomic_load_explicit(&running, memory_order_acquire) ||
	    !ring_put(note)) {
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
		return false;
	}
	sem_post(&wake);
	return true;
}

/**
 * sender_stats() - what happened
 */
struct sender_stats sender_stats(void)
{
	return (struct sender_stats){ .dropped = atomic_load(&dropped),
				      .sent = atomic_load(&sent),
				      .lost = atomic_load(&lost) };
}
