// SPDX-License-Identifier: GPL-2.0
/*
 * srpol path trace: which routers a path passes, and where it ends. Probes have
 * the headers of the path's packets and leave where these do, so that a path
 * that is down can be traced as well, as long as it has a next hop.
 *
 * The first round finds out how far it is: it sends one probe after another,
 * each with a hop limit larger by one, until the last SID answers, or a router
 * that knows no way or allows none. Each further
 * round sends to all these hops at once. Rounds take turns with the flow labels,
 * as switches may choose by them.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "srpol.h"
#include "trace.h"

#define HOPS_MAX	64
#define ROUNDS_MAX	1000
#define LABELS_MAX	256
#define FIRST_GAP	(10 * MSEC)	/* between probes of the first round */
#define LABEL_MASK	0xfffffu
#define LABEL_STEP	0x9e379u	/* odd: 2^20 labels before one returns */

_Static_assert(ROUNDS_MAX * HOPS_MAX <= UINT16_MAX, "trace_probe.seq");

/**
 * struct trace_options - what was asked for
 * @hops: largest hop limit
 * @rounds: number of rounds
 * @labels: number of flow labels
 * @interval_ms: from round to round
 * @wait_ms: for answers after the last probe of the first and the last round
 */
struct trace_options {
	uint32_t hops;
	uint32_t rounds;
	uint32_t labels;
	uint32_t interval_ms;
	uint32_t wait_ms;
};

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
 * struct sent - a probe that was sent
 * @hop: its hop limit
 * @answered: an answer has come
 * @at_ns: when, by now_ns()
 */
struct sent {
	uint32_t hop;
	bool answered;
	uint64_t at_ns;
};

/**
 * struct trace - a trace in progress
 * @o: options
 * @path: the path
 * @form: its headers, from the data plane
 * @probe: the probe sent last
 * @label: first flow label
 * @dev: where probes leave
 * @fd: packet socket that receives
 * @out: packet socket that sends
 * @sent: all probes, by sequence number
 * @n_sent: number of probes, by hop
 * @n_answered: number of those that were answered, by hop
 * @reached: least hop limit that came to the last SID, 0: none yet
 * @refused: least hop limit that was answered by an error which says that no
 *	other would do, 0: none yet
 * @responders: by hop, see by_hop()
 */
struct trace {
	struct trace_options o;
	const struct path_info *path;
	struct srpol_path_cfg form;
	struct trace_probe probe;
	uint32_t label;
	struct sockaddr_ll dev;
	int fd;
	int out;
	struct vec sent;
	uint32_t n_sent[HOPS_MAX + 1];
	uint32_t n_answered[HOPS_MAX + 1];
	uint32_t reached;
	uint32_t refused;
	struct vec responders;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

/* Reads what the data plane puts before packets of the path. */
static int read_form(struct trace *t)
{
	struct srpol_nexthop nexthop = {};
	struct srpol_error error = {};
	struct srpol_path path = {};
	struct srpol_state *state;
	uint32_t id = t->path->id, zero = 0;
	int fd, ret;

	state = calloc(1, sizeof(*state));
	if (!state)
		return refused(-ENOMEM, NULL);
	fd = srpol_map_open("state");
	ret = srpol_map_lookup(fd, &zero, state);
	srpol_map_close(fd);
	fd = srpol_map_open("paths");
	ret = ret ?: srpol_map_lookup(fd, &id, &path);
	srpol_map_close(fd);
	t->form = path.cfg[srpol_copy(path.ver, state->gen)];
	free(state);
	fd = srpol_map_open("nexthops");
	ret = ret ?: srpol_map_lookup(fd, &t->form.nexthop, &nexthop);
	srpol_map_close(fd);
	if (ret)
		return refused(ret, NULL);
	t->dev.sll_ifindex = nexthop.ifindex;
	if (path.present && nexthop.ifindex && t->path->compiled)
		return EXIT_OK;
	srpol_error_set(&error, -EHOSTUNREACH,
			"path %u does not know where to send to: %s", id,
			srpol_name_of(srpol_path_reasons, t->path->reason));
	return refused(-EHOSTUNREACH, &error);
}

/* Probes are answered by ICMPv6, all else stays with the kernel. */
static int open_sockets(struct trace *t)
{
	struct sock_filter icmp[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(icmp), icmp };
	const struct sockaddr_ll all = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IPV6),
	};

	t->dev.sll_family = AF_PACKET;
	t->out = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	t->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->out < 0 || t->fd < 0 ||
	    setsockopt(t->fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
		       sizeof(filter)) ||
	    bind(t->fd, (const void *)&all, sizeof(all)))
		return refused(-errno, NULL);
	return EXIT_OK;
}

/*
 * The destination address with which a packet arrives at its end. Of compressed
 * SIDs that is the last one, or the last two if these are a node and its
 * function; nothing tells which, so that probes try both in turn.
 */
static void set_last(struct trace *t)
{
	const struct path_info *path = t->path;
	struct in6_addr *last = &t->probe.last;
	uint64_t csids[SRPOL_CSIDS_MAX];
	unsigned int n, keep = 1 + t->probe.seq % 2;
	struct in6_addr block = {};

	*last = path->sids[path->n_sids - 1];
	memcpy(&block, &path->block, path->block_len / 8);
	if (!path->block_len ||
	    !srpol_usid_in_block(last, &block, path->block_len))
		return;
	n = srpol_usid_unpack(last, path->block_len, path->csid_len, csids);
	if (n > keep)
		srpol_usid_pack(&block, path->block_len, path->csid_len,
				csids + n - keep, keep, last, 1);
}

static int send_probe(struct trace *t, uint32_t hop, uint32_t round)
{
	uint8_t frame[TRACE_FRAME_MAX];
	struct srpol_error error = {};
	struct sent *sent;
	size_t len;

	t->probe.seq = t->sent.n;
	t->probe.hops = hop;
	t->probe.label = (t->label + round % t->o.labels * LABEL_STEP) &
			 LABEL_MASK;
	set_last(t);
	len = trace_make(&t->form, &t->probe, frame);
	if (!len)
		return refused(-EINVAL, NULL);
	sent = vec_add(&t->sent);
	sent->hop = hop;
	sent->at_ns = now_ns();
	t->n_sent[hop]++;
	if (sendto(t->out, frame, len, 0, (const void *)&t->dev,
		   sizeof(t->dev)) >= 0 || errno == ENOBUFS)
		return EXIT_OK;
	srpol_error_set(&error, -errno, "device %s does not send: %s",
			dev_name(t->dev.sll_ifindex), strerror(errno));
	return refused(-errno, &error);
}

static int by_hop(const void *a, const void *b)
{
	const struct responder *x = a, *y = b;

	return (int)x->hop - (int)y->hop ?: x->a.type - y->a.type ?:
	       x->a.code - y->a.code ?:
	       memcmp(&x->a.from, &y->a.from, sizeof(x->a.from)) ?:
	       memcmp(&x->a.to, &y->a.to, sizeof(x->a.to));
}

static struct responder *find_responder(const struct trace *t,
					const struct responder *like)
{
	struct responder *r;

	vec_for_each(r, &t->responders)
		if (!by_hop(r, like))
			return r;
	return NULL;
}

static void account(struct trace *t, const struct trace_answer *a,
		    uint32_t hop, uint64_t rtt_ns)
{
	const struct responder new = { .hop = hop, .a = *a,
				       .min_ns = UINT64_MAX };
	struct responder *r = find_responder(t, &new);

	if (!r)
		r = vec_insert(&t->responders, &new, by_hop);
	r->n++;
	r->sum_ns += rtt_ns;
	r->min_ns = rtt_ns < r->min_ns ? rtt_ns : r->min_ns;
	r->max_ns = rtt_ns > r->max_ns ? rtt_ns : r->max_ns;
}

static void note_least(uint32_t *least, uint32_t hop)
{
	if (!*least || hop < *least)
		*least = hop;
}

static void receive(struct trace *t)
{
	struct trace_answer a;
	uint8_t packet[2048];
	struct sent *sent;
	ssize_t len;

	while ((len = recv(t->fd, packet, sizeof(packet), 0)) >= 0) {
		if (!trace_read(packet, len, &t->probe, &a) ||
		    a.seq >= t->sent.n)
			continue;
		sent = (struct sent *)t->sent.data + a.seq;
		if (sent->answered)
			continue;
		sent->answered = true;
		t->n_answered[sent->hop]++;
		account(t, &a, sent->hop, now_ns() - sent->at_ns);
		if (trace_reached(a.type, a.code))
			note_least(&t->reached, sent->hop);
		else if (a.type != ICMP6_TIME_EXCEEDED)
			note_least(&t->refused, sent->hop);
	}
}

/* The hop behind which there is nothing to ask, 0: not known */
static uint32_t end_of(const struct trace *t)
{
	return t->reached ?: t->refused;
}

/* Has every probe been answered that can be? */
static bool all_answered(const struct trace *t)
{
	uint32_t hop, end = end_of(t);

	if (!end)
		return false;
	for (hop = 1; hop <= end; hop++)
		if (t->n_answered[hop] < t->n_sent[hop])
			return false;
	return true;
}

/* The user has seen enough: what was found until now is shown. */
static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	interrupted = sig;
}

/* Takes answers, for @ns at most. @early: until all are there */
static void take_answers(struct trace *t, uint64_t ns, bool early)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	uint64_t now = now_ns(), end = now + ns;
	struct timespec left;

	while (now < end && !interrupted && !(early && all_answered(t))) {
		left.tv_sec = (end - now) / SEC;
		left.tv_nsec = (end - now) % SEC;
		if (ppoll(&p, 1, &left, NULL) > 0)
			receive(t);
		now = now_ns();
	}
}

static uint32_t furthest(const struct trace *t)
{
	uint32_t hop = end_of(t) ?: HOPS_MAX;

	while (hop && !t->n_answered[hop])
		hop--;
	return hop;
}

static int first_round(struct trace *t)
{
	uint32_t hop;
	int err;

	for (hop = 1; hop <= t->o.hops && !end_of(t) && !interrupted;
	     hop++) {
		err = send_probe(t, hop, 0);
		if (err)
			return err;
		take_answers(t, FIRST_GAP, true);
	}
	take_answers(t, t->o.wait_ms * MSEC, true);
	return EXIT_OK;
}

static int further_round(struct trace *t, uint32_t round)
{
	uint32_t hop, last = end_of(t) ?: furthest(t) + 1;
	int err;

	for (hop = 1; hop <= last && hop <= t->o.hops; hop++) {
		err = send_probe(t, hop, round);
		if (err)
			return err;
	}
	if (round + 1 < t->o.rounds)
		take_answers(t, t->o.interval_ms * MSEC, false);
	else
		take_answers(t, t->o.wait_ms * MSEC, true);
	return EXIT_OK;
}

static int run(struct trace *t)
{
	const struct sigaction on_interrupt = { .sa_handler = interrupt };
	struct sigaction before;
	uint32_t round;
	int err;

	if (sigaction(SIGINT, &on_interrupt, &before) ||
	    getrandom(&t->probe.nonce, sizeof(t->probe.nonce), 0) < 0 ||
	    getrandom(&t->label, sizeof(t->label), 0) < 0)
		return refused(-errno, NULL);
	t->probe.id = t->probe.nonce;
	err = first_round(t);
	for (round = 1; !err && !interrupted && round < t->o.rounds; round++)
		err = further_round(t, round);
	sigaction(SIGINT, &before, NULL);
	return err;
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

static void print_responder(const struct trace *t, const struct responder *r)
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
	out_text("/%u rtt %.3f/%.3f/%.3f ms", t->n_sent[r->hop],
		 r->min_ns / 1e6, r->sum_ns / 1e6 / r->n, r->max_ns / 1e6);
	out_uint("rtt_min_ns", NULL, r->min_ns);
	out_uint("rtt_avg_ns", NULL, r->sum_ns / r->n);
	out_uint("rtt_max_ns", NULL, r->max_ns);
	out_object_end();
}

static void print_hop(const struct trace *t, uint32_t hop)
{
	const struct responder *r;
	bool first = true;

	out_object(NULL);
	out_uint("hop", "\n\thop %llu", hop);
	out_uint("sent", NULL, t->n_sent[hop]);
	out_array("answers");
	vec_for_each(r, &t->responders) {
		if (r->hop != hop)
			continue;
		if (!first)
			out_text("\n\t   or");
		print_responder(t, r);
		first = false;
	}
	out_array_end();
	if (first)
		out_text(" no answer 0/%u", t->n_sent[hop]);
	out_object_end();
}

static int print_trace(const struct trace *t)
{
	const struct path_info *path = t->path;
	uint32_t hop, last = furthest(t);

	out_begin();
	out_object(NULL);
	out_uint("id", "path %llu", path->id);
	out_string("name", path->name[0] ? " name %s" : NULL, path->name);
	out_string("state", " %s",
		   srpol_name_of(srpol_path_states, path->state));
	out_string("dev", " dev %s", dev_name(t->dev.sll_ifindex));
	out_uint("labels", t->o.labels > 1 ? " labels %llu" : NULL,
		 t->o.labels);
	out_bool("reached", NULL, t->reached);
	out_text(t->reached ? " reached at hop %u" :
		 t->refused ? " not reached: refused at hop %u" :
		 last ? " not reached: nothing answers behind hop %u" :
		 " not reached: nothing answers", last);
	out_array("hops");
	for (hop = 1; hop <= last; hop++)
		print_hop(t, hop);
	out_array_end();
	out_text("\n");
	out_object_end();
	out_end();
	return t->reached ? EXIT_OK : EXIT_REFUSED;
}

static bool read_number(struct args *args, const char *what, uint32_t max,
			uint32_t *value)
{
	if (!read_u32(args, what, max, value))
		return false;
	if (!*value)
		complain("%s: at least 1", what);
	return *value;
}

static bool read_options(struct args *args, struct trace_options *o)
{
	const struct time_range range = { .min = 10, .max = 60000 };

	while (more(args)) {
		if (keyword(args, "count") ?
		    !read_number(args, "count", ROUNDS_MAX, &o->rounds) :
		    keyword(args, "labels") ?
		    !read_number(args, "labels", LABELS_MAX, &o->labels) :
		    keyword(args, "hops") ?
		    !read_number(args, "hops", HOPS_MAX, &o->hops) :
		    keyword(args, "interval") ?
		    !read_time(args, "interval", MSEC, range, &o->interval_ms) :
		    keyword(args, "wait") ?
		    !read_time(args, "wait", MSEC, range, &o->wait_ms) :
		    !unknown(args))
			return false;
	}
	if (!o->rounds)
		o->rounds = o->labels > 1 ? o->labels : 3;
	return true;
}

static const struct path_info *select_path(const struct vec *paths,
					   const char *word)
{
	const struct path_info *path;
	uint32_t id;

	if (parse_u32(word, UINT32_MAX, &id) && find_path(paths, id))
		return find_path(paths, id);
	vec_for_each(path, paths)
		if (!strcmp(path->name, word))
			return path;
	return NULL;
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
		.responders = VEC_INIT(struct responder),
	};
	struct vec paths = VEC_INIT(struct path_info);
	struct srpol_error error = {};
	const char *word;
	int err;

	if (!is(args, "id"))
		is(args, "name");
	if (!read_word(args, "path", &word) || !read_options(args, &t.o))
		return EXIT_USAGE;
	err = fetch_paths(&paths) ?: need_data_plane();
	if (err)
		goto out;
	t.path = select_path(&paths, word);
	if (t.path) {
		err = read_form(&t) ?: open_sockets(&t) ?: run(&t) ?:
		      print_trace(&t);
	} else {
		srpol_error_set(&error, -ENOENT,
				"no path has the id or name \"%s\"", word);
		err = refused(-ENOENT, &error);
	}
	if (t.fd >= 0)
		close(t.fd);
	if (t.out >= 0)
		close(t.out);
out:
	vec_free(&t.sent);
	vec_free(&t.responders);
	vec_free(&paths);
	return err;
}
