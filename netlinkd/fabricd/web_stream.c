// SPDX-License-Identifier: GPL-2.0
/*
 * Streams of changes: the page receives server-sent events with the whole
 * state, programs receive lines with the differences. While there are clients,
 * the state is computed every LOOK_NS. Its text is kept once for all clients; a
 * slow client gets the newest state once it has read the previous one. An idle
 * stream is suspended; a periodic beat shows the client that the stream is
 * alive, and shows the engine when the client has gone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpol_lib.h"
#include "web.h"

#define LOOK_NS		(NS_PER_SEC / 2)
#define BEAT_NS		(5 * NS_PER_SEC)
#define STREAMS_MAX	200
#define PIECE		32768

/**
 * struct told - text that streams send; freed with its last user
 * @users: number of streams that send it, plus one while it is the newest
 * @len: length in bytes
 * @text: the text
 */
struct told {
	unsigned int users;
	size_t len;
	char text[];
};

/**
 * struct stream - a client that receives changes
 * @connection: its connection
 * @suspended: the connection is suspended
 * @lines: it receives lines, not events
 * @known: a state was sent to it
 * @version: version of the last state that was sent
 * @beat: number of the last beat that was sent
 * @now: text being sent, NULL: none
 * @at: bytes of it that were sent
 * @next: next client
 */
struct stream {
	struct MHD_Connection *connection;
	bool suspended;
	bool lines;
	bool known;
	uint64_t version;
	uint64_t beat;
	struct told *now;
	size_t at;
	struct stream *next;
};

static struct stream *streams;
static unsigned int n_streams;
static struct told *newest;
static struct told *changed;	/* line for clients that know the state
				 * before */
static struct told *whole;	/* for those that do not; NULL: not made yet */
static json_t *paths;		/* values of the state by path */
static uint64_t version, beats, looked_ns, beat_ns;
static char *state;
static size_t state_len;
static bool ending;

static void look_again(void *data);
static struct alarm looker = ALARM_INIT(look_again, NULL);

static struct told *told_new(const char *before, const char *text, size_t len,
			     const char *after)
{
	struct told *t = store_alloc(sizeof(*t) + strlen(before) + len +
				     strlen(after) + 1);

	t->users = 1;
	t->len = sprintf(t->text, "%s%s%s", before, text, after);
	return t;
}

static struct told *told_get(struct told *t)
{
	t->users++;
	return t;
}

static void told_put(struct told *t)
{
	if (t && !--t->users)
		free(t);
}

static struct told *told_line(char *text)
{
	struct told *t = text ? told_new("", text, strlen(text), "\n") : NULL;

	free(text);
	return t;
}

static bool has_lines(void)
{
	const struct stream *s;

	for (s = streams; s; s = s->next)
		if (s->lines)
			return true;
	return false;
}

/*
 * Differences are computed from the text as sent, so that values are rounded
 * the same way.
 */
static void look_at_paths(void)
{
	json_t *now, *o;

	told_put(changed);
	told_put(whole);
	changed = whole = NULL;
	if (!has_lines()) {
		json_decref(paths);
		paths = NULL;
		return;
	}
	o = json_loads(state, 0, NULL);
	now = web_paths(o);
	json_decref(o);
	if (paths)
		changed = told_line(web_paths_changed(paths, now));
	json_decref(paths);
	paths = now;
}

/*
 * A line with all values, for a client that is new or was too slow. Whoever connects
 * again and again gets the same one: to make it takes long, and no reply's time is
 * counted for it.
 */
static struct told *whole_line(void)
{
	char *text;

	if (!paths)
		look_at_paths();
	if (!whole) {
		text = web_paths_all(paths);
		whole = text ? told_new("", text, strlen(text),
					"\n{\"sync_response\":true}\n") : NULL;
		free(text);
	}
	return whole ? told_get(whole) : NULL;
}

/* Compute the state; if its text differs, it is a new version. */
static void look(void)
{
	json_t *o = view_state();
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(5));

	json_decref(o);
	looked_ns = now_ns();
	if (!text || (state && !strcmp(text, state))) {
		free(text);
		return;
	}
	free(state);
	state = text;
	state_len = strlen(text);
	version++;
	told_put(newest);
	newest = told_new("event: state\ndata: ", state, state_len, "\n\n");
	look_at_paths();
}

/**
 * web_stream_state() - the state as JSON, at most LOOK_NS old
 * @len: result: its length in bytes
 *
 * Return: valid until the next call; NULL without memory.
 */
const char *web_stream_state(size_t *len)
{
	if (!state || now_ns() - looked_ns >= LOOK_NS)
		look();
	*len = state_len;
	return state;
}

static struct told *beat_text(void)
{
	char text[64];

	snprintf(text, sizeof(text), "%lld", (long long)time(NULL));
	return told_new("event: time\ndata: ", text, strlen(text), "\n\n");
}

/* Choose the next text to send, if any. */
static bool take_next(struct stream *s)
{
	told_put(s->now);
	s->now = NULL;
	s->at = 0;
	if (s->version != version && s->lines) {
		s->now = s->version + 1 == version && s->known && changed ?
			 told_get(changed) : whole_line();
		s->version = version;
		s->known = true;
	} else if (s->version != version && newest) {
		s->now = told_get(newest);
		s->version = version;
	} else if (s->beat != beats) {
		s->now = s->lines ? told_line(web_paths_nothing()) :
			 beat_text();
		s->beat = beats;
	}
	return s->now;
}

static ssize_t read_stream(void *data, uint64_t pos, char *buf, size_t max)
{
	struct stream *s = data;
	size_t n;

	if (ending)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if ((!s->now || s->at == s->now->len) && !take_next(s)) {
		MHD_suspend_connection(s->connection);
		s->suspended = true;
		return 0;
	}
	n = s->now->len - s->at;
	n = n < max ? n : max;
	memcpy(buf, s->now->text + s->at, n);
	s->at += n;
	return n;
}

static void end_stream(void *data)
{
	struct stream *s = data, **at = &streams;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	n_streams--;
	told_put(s->now);
	free(s);
}

static bool wake_all(bool all)
{
	struct stream *s;
	bool woken = false;

	for (s = streams; s; s = s->next) {
		if (!s->suspended || (!all && s->version == version &&
				      s->beat == beats))
			continue;
		s->suspended = false;
		MHD_resume_connection(s->connection);
		woken = true;
	}
	return woken;
}

static void look_again(void *data)
{
	if (!streams)
		return;
	look();
	if (now_ns() - beat_ns >= BEAT_NS) {
		beats++;
		beat_ns = now_ns();
	}
	if (wake_all(false))
		web_run();
	alarm_set(&looker, LOOK_NS);
}

/**
 * web_stream_new() - start a stream
 * @connection: connection of the client
 * @lines: send differences as lines of JSON; otherwise states as server-sent
 *	events
 *
 * Return: NULL if there are too many streams.
 */
struct MHD_Response *web_stream_new(struct MHD_Connection *connection,
				    bool lines)
{
	struct MHD_Response *response;
	struct stream *s;

	if (n_streams == STREAMS_MAX)
		return NULL;
	s = store_alloc(sizeof(*s));
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE,
						     read_stream, s,
						     end_stream);
	if (!response) {
		free(s);
		return NULL;
	}
	s->connection = connection;
	s->lines = lines;
	s->beat = beats - 1;
	s->next = streams;
	streams = s;
	n_streams++;
	if (!state || now_ns() - looked_ns >= LOOK_NS)
		look();
	s->version = version - 1;
	alarm_set(&looker, LOOK_NS);
	return response;
}

/**
 * web_stream_stop() - end all streams
 *
 * Return: whether libmicrohttpd has to run for this.
 */
bool web_stream_stop(void)
{
	ending = true;
	alarm_stop(&looker);
	told_put(newest);
	told_put(changed);
	told_put(whole);
	newest = changed = whole = NULL;
	json_decref(paths);
	paths = NULL;
	free(state);
	state = NULL;
	return wake_all(true);
}
