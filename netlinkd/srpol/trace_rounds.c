// SPDX-License-Identifier: GPL-2.0
/*
 * The probes of "srpol path trace": when they are sent, and which are answered.
 *
 * Rounds take turns with the flow labels, as switches may choose by them. The
 * first round of each label finds out how far its way goes: it sends one probe
 * after another, each with a hop limit larger by one, until the last SID answers,
 * or a router that knows no way or allows none. Further rounds send to all these
 * hops at once.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "srpol.h"
#include "trace.h"

#define FIRST_GAP	(10 * MSEC)	/* between probes of a first round */
#define RECEIVE_MAX	256		/* packets before the clock is looked at */
#define LABEL_MASK	0xfffffu
#define LABEL_STEP	0x9e379u	/* odd: 2^20 labels before one returns */

_Static_assert(TRACE_ROUNDS_MAX * TRACE_HOPS_MAX * TRACE_FORMS <= UINT16_MAX,
	       "trace_probe.seq");

/* As of one generation: another transaction may commit while this reads. */
static int read_maps(struct trace *t, struct srpol_path *path,
		     struct srpol_nexthop *nexthop)
{
	int states = srpol_map_open("state"), paths = srpol_map_open("paths");
	int nexthops = srpol_map_open("nexthops");
	uint32_t id = t->path->id, zero = 0, gen;
	struct srpol_state state = {};
	int ret;

	ret = srpol_map_lookup(states, &zero, &state);
	do {
		gen = state.gen;
		ret = ret ?: srpol_map_lookup(paths, &id, path);
		t->form = path->cfg[srpol_copy(path->ver, gen)];
		t->config = state.cfg[srpol_copy(state.cfg_ver, gen)];
		ret = ret ?: srpol_map_lookup(nexthops, &t->form.nexthop,
					      nexthop);
		ret = ret ?: srpol_map_lookup(states, &zero, &state);
	} while (!ret && state.gen != gen);
	srpol_map_close(states);
	srpol_map_close(paths);
	srpol_map_close(nexthops);
	return ret;
}

/**
 * trace_read_form() - read what the data plane puts before packets of the path
 * @t: trace, of which @t->path is set
 *
 * Return: EXIT_OK, or EXIT_REFUSED after an error message.
 */
int trace_read_form(struct trace *t)
{
	struct srpol_nexthop nexthop = {};
	struct srpol_error error = {};
	struct srpol_path path = {};
	int ret = read_maps(t, &path, &nexthop);

	if (ret)
		return refused(ret, NULL);
	t->dev.sll_ifindex = nexthop.ifindex;
	if (path.present && nexthop.ifindex && t->path->compiled)
		return EXIT_OK;
	srpol_error_set(&error, -EHOSTUNREACH,
			"path %u does not know where to send to: %s",
			t->path->id,
			srpol_name_of(srpol_path_reasons, t->path->reason));
	return refused(-EHOSTUNREACH, &error);
}

/**
 * trace_open() - open the sockets of a trace
 * @t: trace
 *
 * Probes bypass programs and queues of the device: without an SRH, a rule could
 * match them. Only ICMPv6 is received.
 *
 * Return: EXIT_OK, or EXIT_REFUSED after an error message.
 */
int trace_open(struct trace *t)
{
	struct sock_filter icmp[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 40),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ICMP6_ECHO_REPLY, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, ICMP6_PARAM_PROB, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(icmp), icmp };
	const struct sockaddr_ll all = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IPV6),
	};
	struct srpol_error error = {};
	int one = 1;

	t->dev.sll_family = AF_PACKET;
	t->out = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	t->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->out >= 0 && t->fd >= 0 &&
	    !setsockopt(t->out, SOL_PACKET, PACKET_QDISC_BYPASS, &one,
			sizeof(one)) &&
	    !setsockopt(t->fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
			sizeof(filter)) &&
	    !bind(t->fd, (const void *)&all, sizeof(all)))
		return EXIT_OK;
	srpol_error_set(&error, -errno, "packet socket: %s", strerror(errno));
	return refused(-errno, &error);
}

/*
 * The destination address with which a packet arrives at its end. Of compressed
 * SIDs that is the last one, or the last two if these are a node and its
 * function; nothing tells which, so that probes of both forms are sent until one
 * is answered. Return: are there two forms?
 */
static bool set_last(struct trace *t, uint32_t form)
{
	const struct path_info *path = t->path;
	struct in6_addr *last = &t->probe.last;
	uint64_t csids[SRPOL_CSIDS_MAX];
	struct in6_addr block = {};
	unsigned int n, keep = 1 + form;

	*last = path->sids[path->n_sids - 1];
	memcpy(&block, &path->block, path->block_len / 8);
	if (!path->block_len ||
	    !srpol_usid_in_block(last, &block, path->block_len))
		return false;
	n = srpol_usid_unpack(last, path->block_len, path->csid_len, csids);
	if (n > keep)
		srpol_usid_pack(&block, path->block_len, path->csid_len,
				csids + n - keep, keep, last, 1);
	return n > 1;
}

/* The outer flow label, as the settings make it for packets of other flows. */
static uint32_t label_of(const struct trace *t, uint32_t label)
{
	uint32_t flow = t->label + label * LABEL_STEP;

	if (t->config.path_id == SRPOL_PATH_ID_LABEL)
		return (t->path->id << TRACE_ID_SHIFT |
			(flow & (TRACE_ID_LABELS - 1))) & LABEL_MASK;
	return t->config.flow_label == SRPOL_FLOW_LABEL_ZERO ? 0 :
	       flow & LABEL_MASK;
}

static int send_form(struct trace *t, uint32_t hop, uint32_t label,
		     uint32_t form)
{
	uint8_t frame[TRACE_FRAME_MAX];
	struct srpol_error error = {};
	struct sent *sent;
	size_t len;

	t->probe.seq = t->sent.n;
	t->probe.hops = hop;
	t->probe.label = label_of(t, label);
	t->probe.dscp = t->config.dscp_mode == SRPOL_DSCP_MODE_PIPE ?
			t->config.dscp : 0;
	set_last(t, form);
	len = trace_make(&t->form, &t->probe, frame);
	if (!len)
		return refused(-EINVAL, NULL);
	sent = vec_add(&t->sent);
	sent->hop = hop;
	sent->label = label;
	sent->form = form;
	sent->at_ns = clock_ns(CLOCK_MONOTONIC);
	t->ways[label].used = true;
	if (sendto(t->out, frame, len, 0, (const void *)&t->dev,
		   sizeof(t->dev)) >= 0 || errno == ENOBUFS)
		return EXIT_OK;
	srpol_error_set(&error, -errno, "device %s does not send: %s",
			dev_name(t->dev.sll_ifindex), strerror(errno));
	return refused(-errno, &error);
}

static int send_probe(struct trace *t, uint32_t hop, uint32_t label)
{
	if (!t->two_forms)
		return send_form(t, hop, label, t->right);
	return send_form(t, hop, label, 0) ?: send_form(t, hop, label, 1);
}

static void note_least(uint32_t *least, uint32_t hop)
{
	if (!*least || hop < *least)
		*least = hop;
}

static void take(struct trace *t, const struct trace_answer *a)
{
	struct sent *sent = (struct sent *)t->sent.data + a->seq;
	struct way *way = &t->ways[sent->label];

	if (sent->answered)
		return;
	sent->answered = true;
	sent->a = *a;
	sent->rtt_ns = clock_ns(CLOCK_MONOTONIC) - sent->at_ns;
	if (trace_reached(a->type, a->code)) {
		note_least(&way->reached, sent->hop);
		if (t->two_forms)
			t->right = sent->form;
		t->two_forms = false;
	} else if (a->type != ICMP6_TIME_EXCEEDED) {
		note_least(&way->refused, sent->hop);
	}
}

static void receive(struct trace *t)
{
	struct trace_answer a;
	uint8_t packet[2048];
	ssize_t len;
	uint32_t n;

	for (n = 0; n < RECEIVE_MAX; n++) {
		len = recv(t->fd, packet, sizeof(packet), 0);
		if (len < 0)
			break;
		if (trace_read(packet, len, &t->probe, &a) && a.seq < t->sent.n)
			take(t, &a);
	}
}

/* The hop behind which there is nothing to ask, 0: not known */
static uint32_t end_of(const struct way *way)
{
	return way->reached ?: way->refused;
}

/**
 * trace_counts() - does a probe say something, now that the end of its way is known
 * @t: trace
 * @sent: probe
 */
bool trace_counts(const struct trace *t, const struct sent *sent)
{
	uint32_t end = end_of(&t->ways[sent->label]);

	return (!end || sent->hop <= end) &&
	       (sent->form == t->right || t->two_forms);
}

/* Has every probe of a way been answered that can be? @label: TRACE_LABELS_MAX: of all */
static bool all_answered(const struct trace *t, uint32_t label)
{
	const struct sent *sent;

	vec_for_each(sent, &t->sent) {
		if (label != TRACE_LABELS_MAX && sent->label != label)
			continue;
		if (!end_of(&t->ways[sent->label]) ||
		    (trace_counts(t, sent) && !sent->answered))
			return false;
	}
	return true;
}

/* The user has seen enough: what was found until now is shown. */
static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	interrupted = sig;
}

/*
 * Takes answers, for @ns at most. @label: until all of that way are there,
 * TRACE_LABELS_MAX: of all ways, beyond that: to the end
 */
static void take_answers(struct trace *t, uint64_t ns, uint32_t label)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	uint64_t now = clock_ns(CLOCK_MONOTONIC), end = now + ns;
	struct timespec left;

	while (now < end && !interrupted &&
	       !(label <= TRACE_LABELS_MAX && all_answered(t, label))) {
		left.tv_sec = (end - now) / SEC;
		left.tv_nsec = (end - now) % SEC;
		if (ppoll(&p, 1, &left, NULL) > 0)
			receive(t);
		now = clock_ns(CLOCK_MONOTONIC);
	}
}

/**
 * trace_furthest() - the furthest hop that has answered, by any flow label
 * @t: trace
 *
 * Return: its number, 0 if nothing has answered.
 */
uint32_t trace_furthest(const struct trace *t)
{
	const struct sent *sent;
	uint32_t hop = 0;

	vec_for_each(sent, &t->sent)
		if (sent->answered && trace_counts(t, sent) && sent->hop > hop)
			hop = sent->hop;
	return hop;
}

static int first_round(struct trace *t, uint32_t label)
{
	const struct way *way = &t->ways[label];
	uint32_t hop;
	int err = EXIT_OK;

	for (hop = 1; !err && hop <= t->o.hops && !end_of(way) && !interrupted;
	     hop++) {
		err = send_probe(t, hop, label);
		if (!err)
			take_answers(t, FIRST_GAP, label);
	}
	return err;
}

static int further_round(struct trace *t, uint32_t label)
{
	uint32_t hop, last = end_of(&t->ways[label]) ?: trace_furthest(t) + 1;
	int err = EXIT_OK;

	for (hop = 1; !err && hop <= last && hop <= t->o.hops; hop++) {
		err = send_probe(t, hop, label);
		/* what is back already has not been on its way for longer */
		receive(t);
	}
	return err;
}

static int run_rounds(struct trace *t)
{
	uint32_t round, label;
	int err = EXIT_OK;

	for (round = 0; !err && !interrupted && round < t->o.rounds; round++) {
		label = round % t->o.labels;
		err = t->ways[label].used ? further_round(t, label) :
					    first_round(t, label);
		if (err || round + 1 == t->o.rounds)
			break;
		/* where it goes is known then, if it goes anywhere */
		if (!round)
			take_answers(t, t->o.wait_ms * MSEC, label);
		else
			take_answers(t, t->o.interval_ms * MSEC, TRACE_LABELS_MAX + 1);
	}
	if (!err)
		take_answers(t, t->o.wait_ms * MSEC, TRACE_LABELS_MAX);
	return err;
}

/**
 * trace_run() - send all probes, and take the answers
 * @t: trace with open sockets
 *
 * An interrupt by the user ends it early.
 *
 * Return: EXIT_OK, or EXIT_REFUSED after an error message; what is in @t counts
 * all the same.
 */
int trace_run(struct trace *t)
{
	const struct sigaction on_interrupt = { .sa_handler = interrupt };
	struct sigaction before;
	int err;

	if (getrandom(&t->probe.nonce, sizeof(t->probe.nonce), 0) < 0 ||
	    getrandom(&t->label, sizeof(t->label), 0) < 0 ||
	    sigaction(SIGINT, &on_interrupt, &before))
		return refused(-errno, NULL);
	t->probe.id = t->probe.nonce;
	t->two_forms = set_last(t, 0);
	interrupted = 0;
	err = run_rounds(t);
	sigaction(SIGINT, &before, NULL);
	return err;
}
