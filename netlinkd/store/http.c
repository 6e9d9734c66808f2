// SPDX-License-Identifier: GPL-2.0
/*
 * libcurl's multi interface in the event loop. The callbacks of libcurl only
 * record what arrived; those of requests are called afterwards, so that they
 * may start or cancel requests.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "http.h"
#include "store.h"

#define CONNECT_MS	1000L
#define IN_MAX		(64u << 20)	/* a response, or a line of a stream */
#define IN_FIRST	4096u
#define IN_KEPT		(1u << 20)	/* room that an idle stream keeps */
#define NS_PER_MS	1000000ull

struct socket {
	struct source source;
	struct http *http;
};

static void release(struct http_request *r)
{
	curl_multi_remove_handle(r->http->multi, r->easy);
	curl_easy_cleanup(r->easy);
	curl_slist_free_all(r->headers);
	free(r->body);
	free(r->in);
	free(r);
}

static void release_dead(struct http *http)
{
	struct http_request *r, **at;

	for (at = &http->requests; (r = *at);) {
		if (!r->dead) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		release(r);
	}
}

static void take_lines(struct http_request *r)
{
	char *at = r->in, *from = at + r->looked, *end;

	while (!r->dead &&
	       (end = memchr(from, '\n', r->in + r->in_len - from))) {
		*end = '\0';
		r->line(r->data, at, end - at);
		at = from = end + 1;
	}
	if (at != r->in) {
		r->in_len -= at - r->in;
		memmove(r->in, at, r->in_len);
	}
	r->looked = r->in_len;
	if (!r->in_len && r->in_room > IN_KEPT) {
		free(r->in);
		r->in = NULL;
		r->in_room = 0;
	}
}

/*
 * Makes the callbacks of all requests. New requests are put at the head of the
 * list, so this round does not visit them.
 */
static void tell_requests(struct http *http)
{
	struct http_request *r;

	if (http->busy)
		return;
	http->busy = true;
	for (r = http->requests; r; r = r->next) {
		if (!r->dead && r->line && r->in_len > r->looked)
			take_lines(r);
		if (!r->dead && r->over) {
			r->dead = true;
			r->done(r->data, r->status, r->in, r->in_len);
		}
	}
	http->busy = false;
	release_dead(http);
}

static void act(struct http *http, curl_socket_t fd, int what)
{
	struct http_request *r;
	CURLMsg *message;
	int n;

	curl_multi_socket_action(http->multi, fd, what, &n);
	while ((message = curl_multi_info_read(http->multi, &n))) {
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &r);
		r->over = true;
		if (message->data.result == CURLE_OK)
			curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE,
					  &r->status);
		else if (r->too_long ||
			 message->data.result == CURLE_FILESIZE_EXCEEDED)
			snprintf(http->error, sizeof(http->error),
				 "an answer of more than %u MiB", IN_MAX >> 20);
		else
			snprintf(http->error, sizeof(http->error), "%s",
				 r->error[0] ? r->error :
				 curl_easy_strerror(message->data.result));
	}
	tell_requests(http);
}

static void socket_ready(struct source *source, uint32_t events)
{
	int what = 0;

	if (events & (EPOLLIN | EPOLLHUP))
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		what |= CURL_CSELECT_ERR;
	act(((struct socket *)source)->http, source->fd, what);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *data,
		       void *assigned)
{
	struct socket *s = assigned;
	struct http *http = data;
	uint32_t events = 0;

	if (what == CURL_POLL_REMOVE) {
		if (s)
			loop_remove(&s->source);
		free(s);
		curl_multi_assign(http->multi, fd, NULL);
		return 0;
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	if (s)
		return loop_change(&s->source, events) ? -1 : 0;
	s = store_alloc(sizeof(*s));
	s->source.fd = fd;
	s->source.ready = socket_ready;
	s->http = http;
	curl_multi_assign(http->multi, fd, s);
	return loop_add(&s->source, events) ? -1 : 0;
}

static void timer_rings(void *data)
{
	act(data, CURL_SOCKET_TIMEOUT, 0);
}

static int want_timer(CURLM *multi, long ms, void *data)
{
	struct http *http = data;

	alarm_stop(&http->timer);
	return ms < 0 ? 0 : alarm_set(&http->timer, ms * NS_PER_MS) ? -1 : 0;
}

/*
 * Room is made for twice as much each time: to copy tens of megabytes for each
 * piece of an answer would keep this thread from all else for seconds.
 */
static bool make_room(struct http_request *r, size_t n)
{
	size_t room = r->in_room ?: IN_FIRST;
	char *in;

	while (room < r->in_len + n + 1)
		room *= 2;
	if (room == r->in_room)
		return true;
	in = realloc(r->in, room);
	if (!in)
		return false;
	r->in = in;
	r->in_room = room;
	return true;
}

static size_t take(char *from, size_t size, size_t n, void *data)
{
	struct http_request *r = data;

	r->too_long = r->in_len + n > IN_MAX;
	if (r->too_long || !make_room(r, n))
		return 0;
	memcpy(r->in + r->in_len, from, n);
	r->in_len += n;
	r->in[r->in_len] = '\0';
	return n;
}

/**
 * http_open() - get ready to take requests
 * @http: result
 * @config: certificates; must stay valid
 *
 * Return: 0 or a negative errno.
 */
int http_open(struct http *http, const struct store_config *config)
{
	*http = (struct http){
		.timer = ALARM_INIT(timer_rings, http), .config = config,
	};
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	http->multi = curl_multi_init();
	if (!http->multi)
		return -ENOMEM;
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, want_timer);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
	return 0;
}

/**
 * http_close() - end all requests without calling their callbacks
 * @http: context of http_open()
 */
void http_close(struct http *http)
{
	struct http_request *r;

	while ((r = http->requests)) {
		http->requests = r->next;
		release(r);
	}
	curl_multi_cleanup(http->multi);
	free(http->token);
	alarm_stop(&http->timer);
}

static void set_identity(struct http_request *r)
{
	const struct servers *s = &r->http->config->servers;
	char *header;

	if (s->cacert[0])
		curl_easy_setopt(r->easy, CURLOPT_CAINFO, s->cacert);
	if (s->cert[0]) {
		curl_easy_setopt(r->easy, CURLOPT_SSLCERT, s->cert);
		curl_easy_setopt(r->easy, CURLOPT_SSLKEY, s->key);
	}
	if (!r->http->token)
		return;
	/* a signed token (JWT) may be longer than a kilobyte */
	if (asprintf(&header, "Authorization: %s", r->http->token) < 0)
		abort();
	r->headers = curl_slist_append(r->headers, header);
	free(header);
}

/**
 * http_post() - start a POST request
 * @http: context of http_open()
 * @url: where to send it
 * @body: JSON text, allocated; freed with the request
 * @ms: how many milliseconds it may take; 0 for a stream
 * @line: called for each line of a stream; NULL: not a stream
 * @done: called when the request has ended
 * @data: argument of the callbacks
 *
 * A stream has a connection of its own and no time limit. Other requests share
 * connections.
 *
 * Return: the request, valid until @done returns or it is cancelled.
 */
struct http_request *http_post(struct http *http, const char *url, char *body,
			       long ms,
			       void (*line)(void *data, char *line, size_t len),
			       void (*done)(void *data, long status,
					    const char *in, size_t len),
			       void *data)
{
	struct http_request *r = store_alloc(sizeof(*r));

	r->easy = curl_easy_init();
	if (!r->easy)
		abort();
	r->http = http;
	r->body = body;
	r->line = line;
	r->done = done;
	r->data = data;
	r->headers = curl_slist_append(NULL, "Content-Type: application/json");
	/* no "Expect: 100-continue" and its round trip */
	r->headers = curl_slist_append(r->headers, "Expect:");
	set_identity(r);
	curl_easy_setopt(r->easy, CURLOPT_URL, url);
	curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(r->easy, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r);
	curl_easy_setopt(r->easy, CURLOPT_ERRORBUFFER, r->error);
	/* HTTP/2 would multiplex streams on one connection */
	curl_easy_setopt(r->easy, CURLOPT_HTTP_VERSION,
			 (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(r->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(r->easy, CURLOPT_NOPROXY, "*");
	/*
	 * A thread resolves names. Whoever gives up, also by a time-out, would wait for it,
	 * for as long as resolvers are silent; so it is detached, and frees what it has.
	 */
	curl_easy_setopt(r->easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(r->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(r->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(r->easy, CURLOPT_TCP_KEEPIDLE, 5L);
	curl_easy_setopt(r->easy, CURLOPT_TCP_KEEPINTVL, 2L);
	if (line) {
		curl_easy_setopt(r->easy, CURLOPT_FRESH_CONNECT, 1L);
		curl_easy_setopt(r->easy, CURLOPT_FORBID_REUSE, 1L);
	} else {
		/* refuse a larger announced length before reading */
		curl_easy_setopt(r->easy, CURLOPT_MAXFILESIZE, (long)IN_MAX);
		curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, ms);
	}
	r->next = http->requests;
	http->requests = r;
	/* libcurl sets its timer and starts when that fires */
	curl_multi_add_handle(http->multi, r->easy);
	return r;
}

/**
 * http_cancel() - cancel a request; no callback is made after that
 * @request: request of http_post()
 */
void http_cancel(struct http_request *request)
{
	request->dead = true;
	if (!request->http->busy)
		release_dead(request->http);
}
