// SPDX-License-Identifier: GPL-2.0
/*
 * srpol path trace: which routers a path passes, and where it ends. Probes have
 * the headers of the path's packets and leave where these do, so that a path
 * that is down can be traced as well, as long as it has a next hop.
 */
#include <errno.h>
#include <netinet/icmp6.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "srpol.h"
#include "trace.h"

#define IDS_SHOWN	16	/* of paths of one name */

/**
 * struct responder - who answered at a hop, and what
 * @hop: hop limit of the probes
 * @a: one of the answers
 * @n: number of the answers
 * @min_ns: least round-trip time
 * @max_ns: greatest round-trip time
 * @sum_ns: sum of the round-trip times
 */
struct responder {
	uint32_t hop;
	struct trace_answer a;
	uint32_t n;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t sum_ns;
};

/**
 * struct summary - a trace that is over
 * @responders: by hop, see by_hop()
 * @n_sent: number of probes, by hop
 * @last: furthest hop of which something is known
 * @reached: furthest hop at which the last SID answered
 * @n_ways: number of flow labels that were used
 * @n_reached: number of those by which the last SID was reached
 */
struct summary {
	struct vec responders;
	uint32_t n_sent[TRACE_HOPS_MAX + 1];
	uint32_t last;
	uint32_t reached;
	uint32_t n_ways;
	uint32_t n_reached;
};

static int by_hop(const void *a, const void *b)
{
	const struct responder *x = a, *y = b;

	return (int)x->hop - (int)y->hop ?: x->a.type - y->a.type ?:
	       x->a.code - y->a.code ?:
	       memcmp(&x->a.from, &y->a.from, sizeof(x->a.from)) ?:
	       memcmp(&x->a.to, &y->a.to, sizeof(x->a.to));
}

static struct responder *find_responder(const struct vec *responders,
					const struct responder *like)
{
	struct responder *r;

	vec_for_each(r, responders)
		if (!by_hop(r, like))
			return r;
	return NULL;
}

static void add_answer(struct summary *s, const struct sent *sent)
{
	const struct responder new = { .hop = sent->hop, .a = sent->a,
				       .min_ns = UINT64_MAX };
	struct responder *r = find_responder(&s->responders, &new);

	if (!r)
		r = vec_insert(&s->responders, &new, by_hop);
	r->n++;
	r->sum_ns += sent->rtt_ns;
	r->min_ns = sent->rtt_ns < r->min_ns ? sent->rtt_ns : r->min_ns;
	r->max_ns = sent->rtt_ns > r->max_ns ? sent->rtt_ns : r->max_ns;
}

static void summarize(const struct trace *t, struct summary *s)
{
	const struct sent *sent;
	const struct way *way;

	for (way = t->ways; way < t->ways + TRACE_LABELS_MAX; way++) {
		s->n_ways += way->used;
		s->n_reached += !!way->reached;
		if (way->reached > s->reached)
			s->reached = way->reached;
	}
	s->last = trace_furthest(t);
	vec_for_each(sent, &t->sent) {
		if (!trace_counts(t, sent))
			continue;
		s->n_sent[sent->hop]++;
		if (sent->answered)
			add_answer(s, sent);
	}
}

/* Returns a static buffer, or a constant. */
static const char *answer_text(const struct trace_answer *a)
{
	static const char * const unreachable[] = {
		"no-route", "prohibited", "beyond-scope", "address-unreachable",
		"port-unreachable", "source-refused", "route-rejected",
	};
	static char text[32];

	if (trace_reached(a->type, a->code))
		return "reached";
	if (a->type == ICMP6_TIME_EXCEEDED && !a->code)
		return "time-exceeded";
	if (a->type == ICMP6_DST_UNREACH && a->code < ARRAY_SIZE(unreachable))
		return unreachable[a->code];
	if (a->type == ICMP6_PACKET_TOO_BIG)
		return "too-big";
	snprintf(text, sizeof(text), "icmpv6-%u-%u", a->type, a->code);
	return text;
}

static void print_responder(const struct summary *s, const struct responder *r)
{
	bool passed = r->a.type == ICMP6_TIME_EXCEEDED;
	const char *text = answer_text(&r->a);
	char buf[SRPOL_ADDR_STRLEN];

	out_object(NULL);
	out_string("from", " %s", srpol_addr_text(&r->a.from, buf));
	if (!trace_reached(r->a.type, r->a.code))
		out_string("to", " to %s", srpol_addr_text(&r->a.to, buf));
	out_string("answer", passed ? NULL : " %s", text);
	out_uint("count", " %llu", r->n);
	out_text("/%u rtt %.3f/%.3f/%.3f ms", s->n_sent[r->hop],
		 r->min_ns / 1e6, r->sum_ns / 1e6 / r->n, r->max_ns / 1e6);
	out_uint("rtt_min_ns", NULL, r->min_ns);
	out_uint("rtt_avg_ns", NULL, r->sum_ns / r->n);
	out_uint("rtt_max_ns", NULL, r->max_ns);
	out_object_end();
}

static void print_hop(const struct summary *s, uint32_t hop)
{
	const struct responder *r;
	bool first = true;

	out_object(NULL);
	out_uint("hop", "\n\thop %llu", hop);
	out_uint("sent", NULL, s->n_sent[hop]);
	out_array("answers");
	vec_for_each(r, &s->responders) {
		if (r->hop != hop)
			continue;
		if (!first)
			out_text("\n\t   or");
		print_responder(s, r);
		first = false;
	}
	out_array_end();
	if (first)
		out_text(" no answer 0/%u", s->n_sent[hop]);
	out_object_end();
}

static void print_result(const struct trace *t, const struct summary *s)
{
	if (s->n_reached && s->n_reached == s->n_ways)
		out_text(" reached at hop %u", s->reached);
	else if (s->n_reached)
		out_text(" reached by %u of %u labels", s->n_reached, s->n_ways);
	else if (t->ways[0].refused)
		out_text(" not reached: refused at hop %u", t->ways[0].refused);
	else if (s->last)
		out_text(" not reached: nothing answers behind hop %u", s->last);
	else
		out_text(" not reached: nothing answers");
}

static int print_trace(const struct trace *t)
{
	struct summary s = { .responders = VEC_INIT(struct responder) };
	const struct path_info *path = t->path;
	bool reached;
	uint32_t hop;

	summarize(t, &s);
	reached = s.n_reached && s.n_reached == s.n_ways;
	out_begin();
	out_object(NULL);
	out_uint("id", "path %llu", path->id);
	out_string("name", path->name[0] ? " name %s" : NULL, path->name);
	out_string("state", " %s",
		   srpol_name_of(srpol_path_states, path->state));
	out_string("dev", " dev %s", dev_name(t->dev.sll_ifindex));
	out_uint("labels", t->o.labels > 1 ? " labels %llu" : NULL, s.n_ways);
	out_uint("labels_reached", NULL, s.n_reached);
	out_bool("reached", NULL, reached);
	print_result(t, &s);
	out_array("hops");
	for (hop = 1; hop <= s.last; hop++)
		print_hop(&s, hop);
	out_array_end();
	out_text("\n");
	out_object_end();
	out_end();
	vec_free(&s.responders);
	return reached ? EXIT_OK : EXIT_REFUSED;
}

static bool read_options(struct args *args, struct trace_options *o)
{
	const struct time_range range = { .min = 10, .max = 60000 };

	while (more(args)) {
		if (keyword(args, "count") ?
		    !read_number(args, "count", 1, TRACE_ROUNDS_MAX, &o->rounds) :
		    keyword(args, "labels") ?
		    !read_number(args, "labels", 1, TRACE_LABELS_MAX, &o->labels) :
		    keyword(args, "hops") ?
		    !read_number(args, "hops", 1, TRACE_HOPS_MAX, &o->hops) :
		    keyword(args, "interval") ?
		    !read_time(args, "interval", MSEC, range, &o->interval_ms) :
		    keyword(args, "wait") ?
		    !read_time(args, "wait", MSEC, range, &o->wait_ms) :
		    !unknown(args))
			return false;
	}
	if (!o->rounds)
		o->rounds = o->labels > 1 ? o->labels : 3;
	if (o->labels > o->rounds)
		complain("labels: %u take as many rounds, and count says %u",
			 o->labels, o->rounds);
	return o->labels <= o->rounds;
}

/* srpold gives one name to paths of the same segments in several policies. */
static int refuse_name(const struct vec *paths, const char *name, unsigned int n)
{
	const struct path_info *path;
	struct srpol_error error = {};
	char ids[8 * IDS_SHOWN] = "";
	unsigned int shown = 0;
	size_t used = 0;

	vec_for_each(path, paths)
		if (!strcmp(path->name, name) && shown < IDS_SHOWN)
			used += snprintf(ids + used, sizeof(ids) - used, "%s%u",
					 shown++ ? ", " : "", path->id);
	srpol_error_set(&error, -ENOTUNIQ, "%u paths have the name \"%s\", give an id: %s%s",
			n, name, ids, n > shown ? ", ..." : "");
	return refused(-ENOTUNIQ, &error);
}

/*
 * @id, @name: the word is this, and not the other. Return: EXIT_OK, or EXIT_REFUSED
 * after an error message.
 */
static int select_path(const struct vec *paths, const char *word, bool id, bool name,
		       const struct path_info **found)
{
	const struct path_info *path;
	unsigned int n = 0;
	uint32_t number;

	*found = !name && parse_u32(word, UINT32_MAX, &number) ?
		 find_path(paths, number) : NULL;
	if (*found)
		return EXIT_OK;
	vec_for_each(path, paths) {
		if (id || strcmp(path->name, word))
			continue;
		*found = path;
		n++;
	}
	return n > 1 ? refuse_name(paths, word, n) : n ? EXIT_OK : no_path(word);
}

/* Are there so many flow labels? Return: EXIT_OK, or EXIT_REFUSED after an error message */
static int check_labels(const struct trace *t)
{
	struct srpol_error error = {};

	if (t->config.path_id == SRPOL_PATH_ID_LABEL) {
		if (t->o.labels <= TRACE_ID_LABELS)
			return EXIT_OK;
		srpol_error_set(&error, -EINVAL,
				"labels: packets of a path have %u at most, as config path-id says",
				TRACE_ID_LABELS);
	} else {
		if (t->config.flow_label != SRPOL_FLOW_LABEL_ZERO || t->o.labels == 1)
			return EXIT_OK;
		srpol_error_set(&error, -EINVAL,
				"labels: all packets have flow label 0, as config says");
	}
	return refused(-EINVAL, &error);
}

/* Return: EXIT_OK if the last SID was reached by all labels, else another EXIT_* */
static int trace(struct trace *t)
{
	int err, shown;

	err = trace_read_form(t) ?: check_labels(t) ?: trace_open(t);
	if (err)
		return err;
	/* what was found before an error counts as well */
	err = trace_run(t);
	shown = t->sent.n ? print_trace(t) : err;
	return err ?: shown;
}

/**
 * path_trace() - srpol path trace
 * @args: the path, and options
 * @flags: not used
 *
 * Return: EXIT_OK if the last SID was reached, else another EXIT_*.
 */
int path_trace(struct args *args, unsigned int flags)
{
	struct trace t = {
		.o = { .hops = 16, .labels = 1, .interval_ms = 250,
		       .wait_ms = 1000 },
		.fd = -1, .out = -1,
		.sent = VEC_INIT(struct sent),
	};
	struct vec paths = VEC_INIT(struct path_info);
	bool id = is(args, "id"), name = !id && is(args, "name");
	const char *word;
	int err;

	if (!read_word(args, "path", &word) || !read_options(args, &t.o))
		return EXIT_USAGE;
	err = fetch_paths(&paths) ?: need_data_plane();
	if (err)
		goto out;
	err = select_path(&paths, word, id, name, &t.path) ?: trace(&t);
	if (t.fd >= 0)
		close(t.fd);
	if (t.out >= 0)
		close(t.out);
out:
	vec_free(&t.sent);
	vec_free(&paths);
	return err;
}
