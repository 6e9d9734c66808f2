// SPDX-License-Identifier: GPL-2.0
/*
 * Sends the probes of all paths, spread evenly over the interval and within
 * the budget of the host, and takes them back.
 *
 * A probe that is not back after the timeout is lost, but for one case: when
 * the prober itself was not there (stopped, starved, the machine suspended) it
 * knows nothing about the fabric, and what was under way is forgotten.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "srpold.h"

#define TICK_NS		NS_PER_MS
#define RTT_SHIFT	3
#define FRAME_MAX	(ETH_HLEN + MTU_MAX)
#define SEQ_LONG	(1u << 31)	/* marks a long probe */
#define LONG_TIMEOUTS	4		/* that a long one may take */
#define LONG_PATIENCE_NS	(100 * NS_PER_MS)
#define PATHS_MAX	65536		/* an SSID has 16 bits */

struct prober_stats prober_stats;

static struct engine *engine;
static struct source ticker = { .fd = -1 };
static uint64_t last_tick_ns;
static uint64_t interval_ns;

static void drain(void)
{
	struct uplink *up;
	uint32_t i;

	for (i = 0; i < engine->fabric->n_nics; i++) {
		up = uplink_of(i);
		if (up)
			up->source.ready(&up->source, 0);
	}
}

static void announce(const struct engine_path *path)
{
	const char *name = path->name[0] ? path->name : "without a name";

	if (liveness_usable(&path->live))
		log_notice("path %u %s answers again", path->id, name);
	else
		log_notice("path %u %s is down: %u probes lost in a row",
			   path->id, name, path->live.lost);
}

static void lose(struct engine_path *path, uint64_t now)
{
	path->stats.lost++;
	if (!liveness_lost(&path->live, &engine->config.live, now))
		return;
	verdicts_tell(engine);
	announce(path);
}

static void announce_mtu(const struct engine_path *path)
{
	const char *name = path->name[0] ? path->name : "without a name";

	if (mtu_is_narrow(&path->mtu))
		log_notice("path %u %s loses packets of %u bytes", path->id,
			   name, path->full);
	else
		log_notice("path %u %s takes packets of %u bytes", path->id,
			   name, path->full);
	verdicts_tell(engine);
}

static uint64_t slot_bit(uint32_t seq)
{
	return 1ull << seq % IN_FLIGHT;
}

/* What is under way and too old. It is remembered, in case it comes late. */
static void expire(struct engine_path *path, uint64_t now, bool forgive)
{
	uint64_t *sent;

	for (; path->oldest != path->seq; path->oldest++) {
		sent = &path->sent_ns[path->oldest % IN_FLIGHT];
		if (!*sent)
			continue;
		if (!forgive && now - *sent < engine->config.timeout_ns)
			return;
		if (forgive) {
			*sent = 0;
			continue;
		}
		path->given_up |= slot_bit(path->oldest);
		lose(path, now);
	}
}

/* @size: of the packet, 0: as short as can be */
static bool send_frame(struct engine_path *path, uint32_t seq, uint32_t size,
		       uint64_t now)
{
	const struct srpol_nic *nic = &engine->fabric->nics[path->nic];
	struct uplink *up = uplink_of(path->nic);
	struct probe probe = {
		.path = path - engine_path(engine, 0),
		.seq = seq,
		.sent_ns = now,
	};
	static uint8_t frame[FRAME_MAX];
	size_t len;

	len = probe_make(up, path, &nic->addr, &probe, size, frame);
	if (send(up->source.fd, frame, len, MSG_DONTWAIT) == (ssize_t)len)
		return true;
	/* a full queue or a device that goes down: not the fabric */
	prober_stats.unsent++;
	return false;
}

static void send_probe(struct engine_path *path, uint64_t now)
{
	if (path->seq - path->oldest >= IN_FLIGHT ||
	    !send_frame(path, path->seq, 0, now))
		return;
	path->sent_ns[path->seq % IN_FLIGHT] = now;
	path->given_up &= ~slot_bit(path->seq);
	path->seq = (path->seq + 1) & ~SEQ_LONG;
	path->stats.sent++;
}

/* Long probes say something while short ones come back. */
static void probe_mtu(struct engine_path *path, uint64_t now, bool forgive)
{
	uint64_t patience = LONG_TIMEOUTS * engine->config.timeout_ns;
	uint32_t full = path->full < MTU_MAX ? path->full : MTU_MAX, size;

	if (patience < LONG_PATIENCE_NS)
		patience = LONG_PATIENCE_NS;
	if (forgive || path->live.state != LIVENESS_UP ||
	    !path->stats.received) {
		mtu_forget(&path->mtu);
		return;
	}
	if (path->mtu.size && now - path->long_ns >= patience &&
	    mtu_lost(&path->mtu, now))
		announce_mtu(path);
	size = mtu_next(&path->mtu, full, now);
	if (!size)
		return;
	path->long_ns = now;
	if (!send_frame(path, SEQ_LONG, size, now))
		mtu_forget(&path->mtu);
}

/* A path is probed while the module could send over it, verdicts apart. */
static bool is_probed(const struct engine_path *path)
{
	return path->up && path->loop.n &&
	       path == engine_path(engine, path->leader);
}

static void tick(struct source *source, uint32_t events)
{
	uint64_t now;
	struct engine_path *path;
	bool late;

	timer_take(source);
	drain();
	now = now_ns();
	late = now - last_tick_ns > 2 * TICK_NS + engine->config.timeout_ns;
	prober_stats.late_ticks += late;
	last_tick_ns = now;
	vec_for_each(path, &engine->paths) {
		expire(path, now, late || !is_probed(path));
		if (!is_probed(path) || now < path->next_ns)
			continue;
		send_probe(path, now);
		probe_mtu(path, now, late);
		/* what could not be sent in time is not made up for */
		path->next_ns += interval_ns;
		if (path->next_ns <= now)
			path->next_ns = now + interval_ns;
	}
	verdicts_refresh(engine);
}

/* What was lost while it was down is no quality of the path that is up again. */
static void restart_window(struct engine_path *path)
{
	path->window = (struct quality_window){};
	path->closed_sent = path->stats.sent;
	path->closed_lost = path->stats.lost - path->stats.late;
}

static bool same_list(const struct srpol_sid_list *a,
		      const struct srpol_sid_list *b)
{
	return a->n == b->n &&
	       !memcmp(a->sid, b->sid, a->n * sizeof(a->sid[0]));
}

static void receive_long(struct engine_path *path, const struct probe *probe,
			 uint64_t now)
{
	if (!path->mtu.size || probe->sent_ns != path->long_ns)
		prober_stats.stale++;
	else if (mtu_answer(&path->mtu, now))
		announce_mtu(path);
}

/**
 * prober_receive() - a frame to the probe SID came in
 * @up: by this device
 * @frame: the frame
 * @len: its length
 */
void prober_receive(struct uplink *up, const uint8_t *frame, size_t len)
{
	struct srpol_sid_list list;
	struct engine_path *path;
	struct probe probe;
	uint64_t *sent, rtt, now = now_ns();

	if (!probe_read(frame, len, &probe, &list)) {
		prober_stats.forged++;
		return;
	}
	path = probe.path < engine->paths.n ?
	       engine_path(engine, probe.path) : NULL;
	if (!path || path->nic != up->nic || !same_list(&list, &path->loop)) {
		prober_stats.strange++;
		return;
	}
	if (probe.seq & SEQ_LONG) {
		receive_long(path, &probe, now);
		return;
	}
	sent = &path->sent_ns[probe.seq % IN_FLIGHT];
	if (!*sent || *sent != probe.sent_ns) {
		prober_stats.stale++;
		return;
	}
	*sent = 0;
	if (path->given_up & slot_bit(probe.seq)) {
		path->stats.late++;
		return;
	}
	rtt = now - probe.sent_ns;
	quality_answer(&path->window, rtt);
	path->stats.received++;
	path->stats.last_ns = now;
	if (!path->stats.rtt_min_ns || rtt < path->stats.rtt_min_ns)
		path->stats.rtt_min_ns = rtt;
	path->stats.rtt_ns = !path->stats.rtt_ns ? rtt :
			     path->stats.rtt_ns -
			     (path->stats.rtt_ns >> RTT_SHIFT) +
			     (rtt >> RTT_SHIFT);
	if (liveness_answer(&path->live, &engine->config.live, now)) {
		restart_window(path);
		verdicts_tell(engine);
		announce(path);
	}
}

/* Phases that spread the probes of all paths evenly over the interval. */
static void spread(uint32_t n)
{
	uint64_t now = now_ns(), i = 0;
	struct engine_path *path;

	vec_for_each(path, &engine->paths)
		if (path == engine_path(engine, path->leader))
			path->next_ns = now + interval_ns * i++ / n;
}

/**
 * prober_start() - begin to probe
 * @e: the engine
 * @err: why not
 */
int prober_start(struct engine *e, struct srpol_error *err)
{
	struct engine_path *path;
	uint64_t least;
	uint32_t n = 0;
	int ret;

	engine = e;
	vec_for_each(path, &engine->paths)
		n += path == engine_path(engine, path->leader);
	if (engine->paths.n > PATHS_MAX)
		return srpol_error_set(err, -E2BIG, "%zu paths, %u can be probed",
				       engine->paths.n, PATHS_MAX);
	interval_ns = engine->config.interval_ns;
	least = n * (1000 * NS_PER_MS / engine->config.budget);
	if (interval_ns < least) {
		log_notice("%u paths within %u probes per second: every %llu ms instead of %llu",
			   n, engine->config.budget,
			   (unsigned long long)(least / NS_PER_MS),
			   (unsigned long long)(interval_ns / NS_PER_MS));
		interval_ns = least;
	}
	spread(n ?: 1);
	ticker.ready = tick;
	last_tick_ns = now_ns();
	ret = timer_open(&ticker, TICK_NS, TICK_NS);
	return ret ? srpol_error_set(err, ret, "timer: %s", strerror(-ret)) :
	       0;
}

/**
 * prober_stop() - probe no more
 */
void prober_stop(void)
{
	if (ticker.fd < 0)
		return;
	loop_remove(&ticker);
	close(ticker.fd);
	ticker.fd = -1;
}
