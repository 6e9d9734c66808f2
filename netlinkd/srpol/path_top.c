// SPDX-License-Identifier: GPL-2.0
/*
 * srpol path show --top: what paths carry now and how well, again and again.
 * Rates and congestion signals are the data plane's; round-trip time, loss and
 * marks are what srpold's probes say, where it runs.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "srpol.h"
#include "top.h"

/**
 * struct row - a path at one time
 * @path: the path
 * @bps: bit/s over the interval, of packets without their outer headers
 * @pps: packets per second, likewise
 * @q: its quality; @q.level is as of now
 * @probe: what srpold says of it, NULL: nothing
 */
struct row {
	const struct path_info *path;
	uint64_t bps;
	uint64_t pps;
	struct srpol_quality q;
	const json_t *probe;
};

/**
 * struct top - the view
 * @word: id or name of the path to be shown, NULL: all
 * @cmp: order
 * @limit: largest number of lines
 * @interval_ms: from sample to sample
 * @count: number of tables, 0: no end
 * @before: counters as of the last sample, by path id
 * @taken_ns: when that was
 * @probes: what srpold says of paths, by path id
 */
struct top {
	const char *word;
	sort_cmp cmp;
	uint32_t limit;
	uint32_t interval_ms;
	uint32_t count;
	struct srpol_counter *before;
	uint64_t taken_ns;
	const json_t **probes;
};

static int larger_first(double a, double b)
{
	return a < b ? 1 : -(a > b);
}

static int by_id(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return larger_first(y->path->id, x->path->id);
}

static int by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return larger_first(x->bps, y->bps) ?: by_id(a, b);
}

static double signals(const struct srpol_quality *q)
{
	return ((double)q->level + q->penalty) / SRPOL_LEVEL_UNIT;
}

static int by_signals(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return larger_first(signals(&x->q), signals(&y->q)) ?: by_id(a, b);
}

/*
 * What probes say; negative, and last in any order, if they say nothing, as none
 * was answered.
 */
static double probed(const struct row *row, const char *key)
{
	const json_t *value = json_object_get(row->probe, key);

	return value && json_object_get(row->probe, "rtt_ms") ?
	       json_number_value(value) : -1;
}

static int by_rtt(const void *a, const void *b)
{
	return larger_first(probed(a, "rtt_ms"), probed(b, "rtt_ms")) ?:
	       by_id(a, b);
}

static int by_loss(const void *a, const void *b)
{
	return larger_first(probed(a, "loss_ppm"), probed(b, "loss_ppm")) ?:
	       by_id(a, b);
}

static int by_ce(const void *a, const void *b)
{
	return larger_first(probed(a, "ce_ppm"), probed(b, "ce_ppm")) ?:
	       by_id(a, b);
}

static const struct sort_key sort_keys[] = {
	{ "rate", by_rate },
	{ "rtt", by_rtt },
	{ "loss", by_loss },
	{ "ce", by_ce },
	{ "signals", by_signals },
	{ "id", by_id },
	{ }
};

/* The level as the data plane would read it now: half of it goes at a time. */
static void fade(struct srpol_quality *q, uint64_t now)
{
	uint64_t n = now > q->level_ns ? (now - q->level_ns) >>
					 SRPOL_LEVEL_SHIFT : 0;

	q->level = n < 32 ? q->level >> n : 0;
}

/* Takes counters of all paths, and makes rows of those to be shown. */
static void sample(struct top *t, const struct vec *paths, struct vec *rows)
{
	/* opened again: after an upgrade the data plane has others */
	int stats = srpol_map_open("path_stats");
	int quality = srpol_map_open("path_quality");
	uint64_t now = clock_ns(CLOCK_MONOTONIC), passed = now - t->taken_ns;
	const struct path_info *path;
	struct srpol_counter c, old;
	struct row *row;

	vec_for_each(path, paths) {
		if (path->id >= SRPOL_MAX_PATHS)
			continue;
		srpol_map_sum(stats, path->id, &c, sizeof(c));
		old = t->before[path->id];
		t->before[path->id] = c;
		if (!path_matches(path, t->word))
			continue;
		row = vec_add(rows);
		row->path = path;
		/* another path may have the id now */
		if (t->taken_ns && c.bytes >= old.bytes &&
		    c.packets >= old.packets) {
			row->bps = (c.bytes - old.bytes) * 8.0 * SEC / passed;
			row->pps = (c.packets - old.packets) * 1.0 * SEC / passed;
		}
		srpol_map_lookup(quality, &path->id, &row->q);
		fade(&row->q, now);
		row->probe = t->probes[path->id];
	}
	t->taken_ns = now;
	srpol_map_close(stats);
	srpol_map_close(quality);
}

/* @reply: of srpold, NULL where it does not run */
static void index_probes(struct top *t, const json_t *reply)
{
	const json_t *path;
	json_int_t id;
	size_t i;

	memset(t->probes, 0, SRPOL_MAX_PATHS * sizeof(*t->probes));
	json_array_foreach(reply, i, path) {
		id = json_integer_value(json_object_get(path, "path"));
		if (id > 0 && id < SRPOL_MAX_PATHS)
			t->probes[id] = path;
	}
}

static const char *path_dev(const struct path_info *path)
{
	return path->out_ifindex ? dev_name(path->out_ifindex) :
	       path->ifindex ? set_dev_name(path->ifindex, path->ifname) : "";
}

static void print_row(const struct row *row)
{
	const struct path_info *path = row->path;

	out_object(NULL);
	out_uint("id", NULL, path->id);
	out_string("name", NULL, path->name);
	out_string("state", NULL,
		   srpol_name_of(srpol_path_states, path->state));
	out_string("reason", NULL,
		   srpol_name_of(srpol_path_reasons, path->reason));
	out_string("dev", NULL, path_dev(path));
	out_uint("rate_bps", NULL, row->bps);
	out_uint("rate_pps", NULL, row->pps);
	out_uint("level", NULL, row->q.level);
	out_uint("penalty", NULL, row->q.penalty);
	out_uint("cnp", NULL, row->q.cnp);
	out_uint("nak", NULL, row->q.nak);
	if (probed(row, "rtt_ms") >= 0) {
		out_uint("rtt_ns", NULL, probed(row, "rtt_ms") * MSEC);
		out_uint("queue_ns", NULL, probed(row, "queue_ms") * MSEC);
		out_uint("loss_ppm", NULL, probed(row, "loss_ppm"));
		out_uint("ce_ppm", NULL, probed(row, "ce_ppm"));
	}
	out_object_end();
}

/* @key, in units of which there are @scale, or a dash. Return: @buf */
static const char *probed_text(const struct row *row, const char *key,
			       double scale, const char *unit, char *buf,
			       size_t len)
{
	double value = probed(row, key);

	if (value < 0)
		return "-";
	snprintf(buf, len, "%.3f%s", value / scale, unit);
	return buf;
}

/* The state, and why it is not up. Return: @buf */
static const char *state_text(const struct path_info *path, char *buf,
			      size_t len)
{
	const char *state = srpol_name_of(srpol_path_states, path->state);

	if (!path->reason)
		return state;
	snprintf(buf, len, "%s (%s)", state,
		 srpol_name_of(srpol_path_reasons, path->reason));
	return buf;
}

static void print_table(const struct row *rows, uint32_t n)
{
	int name = strlen("NAME"), state = strlen("STATE"), dev = strlen("DEV");
	char rate[32], rtt[32], queue[32], loss[32], ce[32], buf[64];
	const struct row *r;

	for (r = rows; r < rows + n; r++) {
		name = widest(name, r->path->name);
		state = widest(state, state_text(r->path, buf, sizeof(buf)));
		dev = widest(dev, path_dev(r->path));
	}
	out_text("%5s %-*s %-*s %-*s %12s %9s %10s %10s %8s %8s %7s %7s %7s\n",
		 "PATH", name, "NAME", state, "STATE", dev, "DEV", "RATE",
		 "PKT/S", "RTT", "QUEUE", "LOSS", "CE", "SIGNALS", "CNP", "NAK");
	for (r = rows; r < rows + n; r++)
		out_text("%5u %-*s %-*s %-*s %12s %9llu %10s %10s %8s %8s %7.2f %7llu %7llu\n",
			 r->path->id, name, r->path->name, state,
			 state_text(r->path, buf, sizeof(buf)), dev,
			 path_dev(r->path), rate_text(rate, sizeof(rate), r->bps),
			 (unsigned long long)r->pps,
			 probed_text(r, "rtt_ms", 1, "ms", rtt, sizeof(rtt)),
			 probed_text(r, "queue_ms", 1, "ms", queue, sizeof(queue)),
			 probed_text(r, "loss_ppm", 1e4, "%", loss, sizeof(loss)),
			 probed_text(r, "ce_ppm", 1e4, "%", ce, sizeof(ce)),
			 signals(&r->q),
			 (unsigned long long)r->q.cnp,
			 (unsigned long long)r->q.nak);
}

static void print_rows(const struct top *t, struct vec *rows)
{
	uint32_t n = rows->n < t->limit ? rows->n : t->limit;
	const struct row *row;

	if (n)
		qsort(rows->data, rows->n, rows->size, t->cmp);
	out_begin();
	if (!out_options.json)
		print_table(rows->data, n);
	else
		for (row = rows->data; row && row < (struct row *)rows->data + n; row++)
			print_row(row);
	out_end();
}

static int show(struct top *t)
{
	struct vec paths = VEC_INIT(struct path_info);
	struct vec rows = VEC_INIT(struct row);
	uint32_t n = 0;
	json_t *reply;
	int err;

	err = fetch_paths(&paths);
	if (!err)
		sample(t, &paths, &rows);
	if (!err && t->word && !rows.n)
		err = no_path(t->word);
	/* of what is not written main() tells */
	while (!err && !ferror(stdout) && (!t->count || n++ < t->count)) {
		top_wait(t->interval_ms);
		vec_free(&rows);
		err = fetch_paths(&paths);
		if (err)
			break;
		reply = engine_reply("paths");
		index_probes(t, reply);
		sample(t, &paths, &rows);
		top_clear();
		print_rows(t, &rows);
		if (t->word && !rows.n)
			err = no_path(t->word);
		json_decref(reply);
	}
	vec_free(&rows);
	vec_free(&paths);
	return err;
}

static bool read_options(struct args *args, struct top *t)
{
	static const struct time_range range = { 1, UINT32_MAX };

	while (more(args)) {
		if (keyword(args, "sort") ?
		    !read_sort(args, sort_keys, &t->cmp) :
		    keyword(args, "limit") ?
		    !read_u32(args, "limit", UINT32_MAX, &t->limit) :
		    keyword(args, "interval") ?
		    !read_time(args, "interval", MSEC, range, &t->interval_ms) :
		    keyword(args, "count") ?
		    !read_u32(args, "count", UINT32_MAX, &t->count) :
		    !unknown(args))
			return false;
	}
	return true;
}

/**
 * path_top() - srpol path show --top
 * @args: options
 * @word: id or name of the path to be shown, NULL: all
 *
 * Return: an EXIT_*.
 */
int path_top(struct args *args, const char *word)
{
	struct top t = { .word = word, .cmp = by_rate, .limit = TOP_LINES,
			 .interval_ms = TOP_MS };
	int err;

	if (!read_options(args, &t))
		return EXIT_USAGE;
	t.limit = t.limit ?: TOP_LINES;
	err = need_data_plane();
	if (err)
		return err;
	t.before = calloc(SRPOL_MAX_PATHS, sizeof(*t.before));
	t.probes = calloc(SRPOL_MAX_PATHS, sizeof(*t.probes));
	err = t.before && t.probes ? show(&t) : refused(-ENOMEM, NULL);
	free(t.probes);
	free(t.before);
	return err;
}
