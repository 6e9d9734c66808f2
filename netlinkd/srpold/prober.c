// SPDX-License-Identifier: GPL-2.0
/*
 * Sends the probes of all paths (probe_send.c), spread evenly over the interval
 * and within the budget of the host, collects those that came back
 * (probe_back.c), and gives up the others.
 *
 * A probe that is not back after the timeout is lost, with one exception: if
 * the prober itself did not run (stopped or starved), it knows nothing about the
 * fabric, and the probes under way are forgotten.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"

#define TICK_NS		NS_PER_MS
#define LOOK_NS		(1000 * NS_PER_MS)
#define FOLLOW_NS	(10 * NS_PER_MS)	/* addresses of NICs */
#define SEQ_LONG	SRPOL_PROBE_SEQ_LONG
#define LONG_TIMEOUTS	4		/* in which a long probe may return */
#define LONG_PATIENCE_NS	(100 * NS_PER_MS)

static struct engine *engine;
static struct source ticker = { .fd = -1 };
static uint64_t last_tick_ns;
static uint64_t looked_ns;
static uint64_t followed_ns;
static uint64_t interval_ns;
static bool news;		/* verdicts may be other than what was told */
static uint32_t leaders[SRPOL_MAX_PROBES];	/* indices of paths, by SSID */
static uint32_t n_leaders;
static uint32_t due[SRPOL_MAX_PROBES];	/* SSIDs to be probed in this tick */
static uint32_t n_due;

static struct engine_path *leader(uint32_t ssid)
{
	return engine_path(engine, leaders[ssid]);
}

/**
 * prober_path() - path that a probe belongs to
 * @ssid: SSID of the probe
 *
 * Return: NULL if no probe has that SSID.
 */
struct engine_path *prober_path(uint32_t ssid)
{
	return ssid < n_leaders ? leader(ssid) : NULL;
}

/**
 * prober_count() - number of segment lists that are probed
 */
uint32_t prober_count(void)
{
	return n_leaders;
}

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

/**
 * prober_news() - have verdicts told in this tick, or in the next one
 *
 * To tell them takes a look at all paths, and many may fail or return in a tick.
 */
void prober_news(void)
{
	news = true;
}

static void tell_news(void)
{
	if (!news)
		return;
	news = false;
	verdicts_tell(engine);
}

static void lose(struct engine_path *path, uint64_t now)
{
	path->stats.lost++;
	if (!liveness_lost(&path->live, &engine->config.live, now))
		return;
	prober_news();
	probes_announce(path);
}

/*
 * The number of consecutive probes, up to the last one sent, that are
 * unanswered for at least @patience.
 */
static uint32_t missing(const struct engine_path *path, uint64_t patience,
			uint64_t now)
{
	uint32_t seq, n = 0;
	uint64_t sent;

	for (seq = path->oldest; seq != path->seq; seq = probe_next_seq(seq)) {
		sent = path->sent_ns[seq % IN_FLIGHT];
		if (!sent)
			n = 0;
		else
			n += now - sent >= patience;
	}
	return n;
}

/*
 * How long a probe may be under way: less if so many are unanswered that the
 * path is silent. This does not apply if the prober itself is late, as answers
 * may then still be waiting for it.
 */
static uint64_t patience_of(const struct engine_path *path, uint64_t now,
			    uint64_t since_tick)
{
	const struct config *c = &engine->config;
	uint64_t patience;

	if (path->live.lost + probes_under_way(path) < c->live.multiplier)
		return c->timeout_ns;
	patience = liveness_patience_ns(probe_map_at(path->probe)->rtt_ns,
					c->timeout_ns);
	return since_tick <= 2 * TICK_NS + patience &&
	       liveness_is_silent(&path->live, &c->live,
				  missing(path, patience, now)) ?
	       patience : c->timeout_ns;
}

/* Give up older probes, but remember them in case they come late. */
static void expire(struct engine_path *path, uint64_t now, uint64_t patience,
		   bool forgive)
{
	uint64_t *sent;

	for (; path->oldest != path->seq;
	     path->oldest = probe_next_seq(path->oldest)) {
		sent = &path->sent_ns[path->oldest % IN_FLIGHT];
		if (!*sent)
			continue;
		if (!forgive && now - *sent < patience)
			return;
		if (forgive) {
			*sent = 0;
			continue;
		}
		path->given_up |= probe_slot_bit(path->oldest);
		lose(path, now);
	}
}

/* Long probes are meaningful only while short ones come back. */
static void probe_mtu(struct engine_path *path, uint64_t now, bool forgive)
{
	uint64_t patience = LONG_TIMEOUTS * engine->config.timeout_ns;
	uint32_t full = path->full < MTU_MAX ? path->full : MTU_MAX, size;

	if (patience < LONG_PATIENCE_NS)
		patience = LONG_PATIENCE_NS;
	if (forgive || path->live.state != LIVENESS_UP ||
	    !path->heard) {
		mtu_forget(&path->mtu);
		return;
	}
	if (path->mtu.size && now - path->long_ns >= patience &&
	    mtu_lost(&path->mtu, now))
		probes_announce_mtu(path);
	size = mtu_next(&path->mtu, full, now);
	if (!size)
		return;
	path->long_ns = now;
	path->long_seq = SEQ_LONG | probe_next_seq(path->long_seq);
	if (!probe_send_long(path, size))
		mtu_forget(&path->mtu);
}

/* A path is probed if the module could send over it, verdicts aside. */
static bool is_probed(const struct engine_path *path)
{
	return path->up && path->loop.n;
}

/*
 * The data plane may be loaded long after its device was announced, and no path whose
 * verdict is "down" changes its state then: there may be no event to follow.
 */
static void look_at_map(uint64_t now)
{
	if (now - looked_ns < LOOK_NS)
		return;
	looked_ns = now;
	prober_follow();
}

static void follow_addresses(uint64_t now)
{
	if (now - followed_ns < FOLLOW_NS)
		return;
	followed_ns = now;
	uplinks_follow();
}

/* Take what came back, and give up what did not; find out who is to be probed. */
static void collect(uint64_t now, uint64_t since, bool late)
{
	struct engine_path *path;
	uint32_t i;

	n_due = 0;
	for (i = 0; i < n_leaders; i++) {
		path = leader(i);
		probes_harvest(engine, path, now);
		expire(path, now, patience_of(path, now, since),
		       late || !is_probed(path));
		if (is_probed(path) && now >= path->next_ns)
			due[n_due++] = i;
	}
}

static void send_due(uint64_t now, bool late)
{
	struct engine_path *path;
	uint32_t i;

	for (i = 0; i < n_due; i++) {
		path = leader(due[i]);
		probe_send(path);
		probe_mtu(path, now, late);
		path->next_ns = probe_next_due(path->next_ns, interval_ns, now);
	}
	probes_flush();
}

static void tick(struct source *source, uint32_t events)
{
	uint64_t now, since;
	bool late;

	timer_take(source);
	drain();
	now = now_ns();
	since = now - last_tick_ns;
	late = since > 2 * TICK_NS + engine->config.timeout_ns;
	prober_stats.late_ticks += late;
	last_tick_ns = now;
	collect(now, since, late);
	/* all may be due at once, after a stop, and a verdict waits for none of them */
	tell_news();
	follow_addresses(now);
	send_due(now, late);
	verdicts_refresh(engine);
	look_at_map(now);
}

/* Stagger the probes of all paths evenly over the interval. */
static void spread(void)
{
	uint64_t now = now_ns();
	uint32_t i;

	for (i = 0; i < n_leaders; i++)
		leader(i)->next_ns = now + interval_ns * i / n_leaders;
}

/**
 * prober_check() - whether there is room for the probes of an engine
 * @e: the engine
 * @err: message
 */
int prober_check(const struct engine *e, struct srpol_error *err)
{
	const struct engine_path *path;
	uint32_t index = 0, n = 0;

	vec_for_each(path, &e->paths)
		n += path->leader == index++;
	return n <= SRPOL_MAX_PROBES ? 0 :
	       srpol_error_set(err, -E2BIG,
			       "%u segment lists to probe, %u are possible", n,
			       SRPOL_MAX_PROBES);
}

/* Number the paths to be probed: they use the first entries of the map. */
static int number_probes(struct srpol_error *err)
{
	struct engine_path *path;
	uint32_t index = 0;
	int ret;

	n_leaders = 0;
	ret = prober_check(engine, err);
	if (ret)
		return ret;
	vec_for_each(path, &engine->paths) {
		if (path->leader != index++)
			continue;
		path->probe = n_leaders;
		leaders[n_leaders++] = index - 1;
	}
	return 0;
}

/* Set the map entry of a path's probes; none has come back yet. */
static void enter(const struct engine_path *path)
{
	const struct uplink *up = uplink_of(path->nic);

	probe_map_enter(path->probe, up ? up->ifindex : 0,
			&engine->fabric->nics[path->nic].addr, &path->loop);
}

/*
 * Set the entries of all probed paths and clear the others; probes under way
 * are forgotten.
 */
static void enter_all(void)
{
	struct engine_path *path;
	uint32_t i;

	for (i = 0; i < n_leaders; i++) {
		path = leader(i);
		expire(path, 0, 0, true);
		path->given_up = 0;
		mtu_forget(&path->mtu);
		enter(path);
	}
	for (; i < SRPOL_MAX_PROBES; i++)
		if (probe_map_at(i)->ifindex)
			probe_map_at(i)->ifindex = 0;
}

/* Forget losses of a time in which no program could take the probes. */
static void begin_anew(void)
{
	uint64_t now = now_ns();
	uint32_t i;

	enter_all();
	verdicts_keep(engine);
	for (i = 0; i < n_leaders; i++)
		liveness_init(&leader(i)->live, now);
	verdicts_tell(engine);
}

/**
 * prober_follow() - switch to the data plane's new maps, if it was loaded anew
 */
void prober_follow(void)
{
	struct srpol_error err = {};

	if (ticker.fd < 0 || !probe_map_follow())
		return;
	log_notice("the data plane was loaded anew");
	begin_anew();
	if (reflect_begin_anew(&err))
		log_error("%s; no probes are sent to peers", err.text);
	/* which SIDs are there depends on the maps */
	watch_look(true);
}

static void set_interval(void)
{
	uint64_t least = n_leaders * (1000 * NS_PER_MS /
				      engine->config.budget);

	interval_ns = engine->config.interval_ns;
	if (interval_ns >= least)
		return;
	log_notice("%u paths within %u probes per second: every %llu ms instead of %llu",
		   n_leaders, engine->config.budget,
		   (unsigned long long)(least / NS_PER_MS),
		   (unsigned long long)(interval_ns / NS_PER_MS));
	interval_ns = least;
}

/**
 * prober_interval() - ns between two probes of a path
 *
 * It is longer than the configured one if the budget has no room for that, and 0
 * before there was a start.
 */
uint64_t prober_interval(void)
{
	return interval_ns;
}

/**
 * prober_start() - start probing
 * @e: the engine
 * @err: message on failure
 */
int prober_start(struct engine *e, struct srpol_error *err)
{
	int ret;

	engine = e;
	ret = number_probes(err);
	if (ret)
		return ret;
	set_interval();
	probe_send_start(engine, n_leaders * TICK_NS / interval_ns);
	enter_all();
	spread();
	news = false;
	ticker.ready = tick;
	last_tick_ns = now_ns();
	ret = timer_open(&ticker, TICK_NS, TICK_NS);
	return ret ? srpol_error_set(err, ret, "timer: %s", strerror(-ret)) :
	       0;
}

/**
 * prober_stop() - stop probing
 */
void prober_stop(void)
{
	if (ticker.fd < 0)
		return;
	loop_remove(&ticker);
	close(ticker.fd);
	ticker.fd = -1;
}
