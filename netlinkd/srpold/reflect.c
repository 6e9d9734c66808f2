// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that a peer reflects: one per path to a peer with which a key is
 * shared, at an interval of their own. They distinguish the direction to the
 * peer from the way back, test the last link, and report how many packets of
 * the path reached the peer with a mark. They do not decide the state of any
 * path, because results that need the peer's cooperation must not decide about
 * the fabric.
 *
 * Times are by the clocks of two hosts, whose offset is unknown, but it is the
 * same for all paths between the two hosts. So the least time of a path in an
 * interval is compared with that of the best path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"
#include "srpol_hash.h"

static struct engine *engine;
static struct vec probes_far = VEC_INIT(struct reflected);
static struct source ticker = { .fd = -1 };
static uint64_t epoch;

static struct reflected *at(size_t i)
{
	return (struct reflected *)probes_far.data + i;
}

/**
 * reflect_of() - a path's probe that the peer reflects
 * @path: the path
 *
 * Return: NULL if it has none.
 */
const struct reflected *reflect_of(const struct engine_path *path)
{
	return path->reflected ? at(path->reflected - 1) : NULL;
}

/*
 * Hash of the segment list in the SRH that packets of a path carry. That is reduced,
 * but a single SID is in it if the SRH is there for a TLV.
 */
static uint32_t list_hash(const struct engine_path *path)
{
	const struct srpol_sid_list *segs = &path->segs;
	uint32_t hash = 0, i, word, k;
	uint32_t end = segs->n == 1 && path->has_srh ? 0 : 1;

	for (i = segs->n; i > end; i--) {
		for (k = 0; k < 4; k++) {
			memcpy(&word, &segs->sid[i - 1].s6_addr[4 * k],
			       sizeof(word));
			hash = srpol_hash2(hash, word);
		}
	}
	return hash;
}

/* Set the map entries for XDP; no probe has come back yet. */
static void enter(struct reflected *r)
{
	struct engine_path *path = engine_path(engine, r->path);
	const struct srpol_nic *nic = &engine->fabric->nics[path->nic];
	const struct srpol_fabric *f = engine->fabric;
	struct srpol_far *far = reflect_map_at(r->ssid);
	const struct uplink *up = uplink_of(path->nic);
	uint32_t i;

	r->seq = 0;
	r->sent = 0;
	path->path_ce_known = false;
	memset(far, 0, sizeof(*far));
	far->epoch = epoch;
	far->there_ns = SRPOL_FAR_NONE;
	far->back_ns = SRPOL_FAR_NONE;
	for (i = 0; i < f->n_nics; i++) {
		if (f->nics[i].host != path->peer)
			continue;
		/* any of its addresses will do: they have the same key */
		memcpy(far->peer, &f->nics[i].addr, sizeof(far->peer));
		break;
	}
	probe_map_enter(r->ssid, up ? up->ifindex : 0, &nic->addr, &path->far);
}

/*
 * An epoch must be greater than all before it, even after a restart of the
 * machine, or peers take all probes for replayed ones. While the data plane
 * stays loaded this holds even if the clock was set back, since the maps
 * contain the previous epoch.
 */
static uint64_t next_epoch(void)
{
	uint64_t next, i;
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	next = ts.tv_sec * 1000 * NS_PER_MS + ts.tv_nsec;
	for (i = 0; i < SRPOL_MAX_PROBES; i++)
		if (reflect_map_at(i)->epoch >= next)
			next = reflect_map_at(i)->epoch + 1;
	return epoch >= next ? epoch + 1 : next;
}

/* A new epoch: answers to probes of the previous one no longer count. */
static void enter_all(void)
{
	struct reflected *r;

	epoch = next_epoch();
	vec_for_each(r, &probes_far)
		enter(r);
}

static void send_one(struct reflected *r)
{
	struct engine_path *path = engine_path(engine, r->path);
	const struct srpol_nic *nic = &engine->fabric->nics[path->nic];
	const struct host_key *key = reflect_key(engine, nic->host, path->peer);
	struct uplink *up = uplink_of(path->nic);
	struct probe probe = {
		.ssid = r->ssid, .seq = r->seq, .sent_ns = now_ns(),
	};
	struct reflect_ask ask = {
		.epoch = epoch, .path = path->id,
		.list = list_hash(path),
	};
	struct srpol_probe_slot *slot;
	uint8_t frame[PROBE_MAX];
	size_t len;

	if (!up || !key)
		return;
	len = probe_make_reflect(up, path, &path->far, &nic->addr, &probe, &ask,
				 key->key, frame);
	slot = srpol_probe_slot_of(probe_map_at(r->ssid), r->seq);
	__atomic_store_n(&slot->sent_ns, probe.sent_ns, __ATOMIC_RELEASE);
	if (send(up->source.fd, frame, len, MSG_DONTWAIT) != (ssize_t)len) {
		/*
		 * the number is used again, so that no probe seems to be lost
		 */
		slot->sent_ns = 0;
		return;
	}
	r->seq = probe_next_seq(r->seq);
	r->sent++;
	/* numbers wrapped: peers would take new probes for old ones */
	if (!r->seq)
		enter_all();
}

static void tick(struct source *source, uint32_t events)
{
	uint64_t now = now_ns(), interval = engine->config.reflect.interval_ns;
	struct reflected *r;

	timer_take(source);
	vec_for_each(r, &probes_far) {
		if (!engine_path(engine, r->path)->up || now < r->next_ns)
			continue;
		send_one(r);
		r->next_ns = probe_next_due(r->next_ns, interval, now);
	}
}

/*
 * Their SSIDs are the highest ones, counted down. If there are not enough for
 * all paths, some paths do without; srpold starts nevertheless.
 */
static void number_probes(void)
{
	uint32_t room = SRPOL_MAX_PROBES - prober_count(), n = 0, i;
	struct engine_path *path;
	struct reflected *r;

	for (i = 0; i < engine->paths.n; i++) {
		path = engine_path(engine, i);
		if (!path->far.n ||
		    !reflect_key(engine, engine->fabric->nics[path->nic].host,
				 path->peer))
			continue;
		if (++n > room)
			continue;
		path->reflected = n;
		r = vec_add(&probes_far);
		*r = (struct reflected){
			.path = i, .ssid = SRPOL_MAX_PROBES - n,
			.there_ns = SRPOL_FAR_NONE, .back_ns = SRPOL_FAR_NONE,
		};
	}
	if (n > room)
		log_notice("peers turn probes of %u paths round, there is room for %u",
			   n, room);
}

static void spread(void)
{
	uint64_t now = now_ns(), interval = engine->config.reflect.interval_ns;
	struct reflected *r;
	uint32_t i = 0;

	vec_for_each(r, &probes_far)
		r->next_ns = now + interval * i++ / probes_far.n;
}

/**
 * reflect_begin_anew() - switch to the maps of a data plane that was loaded
 * anew
 * @err: message on failure
 */
int reflect_begin_anew(struct srpol_error *err)
{
	struct engine *e = engine;

	if (!e)
		return 0;
	reflect_map_close();
	reflect_map_open();
	/* perhaps it could not start with the maps of before, or cannot with these */
	reflect_stop();
	return reflect_start(e, err);
}

/**
 * reflect_start() - start sending probes, and reflecting probes of peers
 * @e: the engine
 * @err: message on failure
 */
int reflect_start(struct engine *e, struct srpol_error *err)
{
	struct engine_path *path;
	uint64_t period;
	int ret;

	engine = e;
	/* it may have been in force before */
	vec_for_each(path, &e->paths)
		path->reflected = 0;
	/*
	 * even without keys, to delete those of an earlier srpold, and without the
	 * other map, as peers' probes are reflected nevertheless
	 */
	ret = reflect_map_pairs(e, err);
	if (ret == -ENOENT && (!e->keys.n || !reflect_map_is_there())) {
		if (reflect_map_is_there())
			log_notice("%s; nor is any key needed", err->text);
		err->text[0] = '\0';
		ret = 0;
	}
	if (ret)
		return ret;
	if (!reflect_map_is_there()) {
		if (e->keys.n)
			log_notice("the data plane turns no probes round: none are sent to peers");
		return 0;
	}
	number_probes();
	if (!probes_far.n)
		return 0;
	enter_all();
	spread();
	period = e->config.reflect.interval_ns / probes_far.n;
	ticker.ready = tick;
	ret = timer_open(&ticker, period < NS_PER_MS ? NS_PER_MS : period,
			 period < NS_PER_MS ? NS_PER_MS : period);
	return ret ? srpol_error_set(err, ret, "timer: %s", strerror(-ret)) :
	       0;
}

/**
 * reflect_stop() - stop sending; the data plane still reflects peers' probes
 */
void reflect_stop(void)
{
	if (ticker.fd >= 0) {
		loop_remove(&ticker);
		close(ticker.fd);
	}
	ticker.fd = -1;
	vec_free(&probes_far);
	probes_far = (struct vec)VEC_INIT(struct reflected);
	engine = NULL;
}

/*
 * Take the least value since the last call; a concurrent update by XDP may
 * survive or be lost.
 */
static int64_t take(int64_t *least)
{
	return __atomic_exchange_n(least, SRPOL_FAR_NONE, __ATOMIC_RELAXED);
}

static bool same_hosts(const struct reflected *a, const struct reflected *b)
{
	const struct engine_path *x = engine_path(engine, a->path);
	const struct engine_path *y = engine_path(engine, b->path);

	return x->peer == y->peer && engine->fabric->nics[x->nic].host ==
				     engine->fabric->nics[y->nic].host;
}

static int64_t more_than(int64_t ns, int64_t best)
{
	return ns == SRPOL_FAR_NONE || best == SRPOL_FAR_NONE ? 0 : ns - best;
}

/*
 * Compare with the best of the paths between the same hosts, which are
 * consecutive.
 */
static void compare(struct reflected *first, size_t n)
{
	int64_t there = SRPOL_FAR_NONE, back = SRPOL_FAR_NONE;
	size_t i;

	for (i = 0; i < n; i++) {
		if (first[i].there_ns < there)
			there = first[i].there_ns;
		if (first[i].back_ns < back)
			back = first[i].back_ns;
	}
	for (i = 0; i < n; i++) {
		first[i].queue_there_ns = more_than(first[i].there_ns, there);
		first[i].queue_back_ns = more_than(first[i].back_ns, back);
	}
}

/**
 * reflect_look() - evaluate an interval
 */
void reflect_look(void)
{
	struct srpol_far *far;
	struct reflected *r;
	size_t i, k;

	vec_for_each(r, &probes_far) {
		far = reflect_map_at(r->ssid);
		r->there_ns = take((int64_t *)&far->there_ns);
		r->back_ns = take((int64_t *)&far->back_ns);
	}
	for (i = 0; i < probes_far.n; i = k) {
		for (k = i + 1; k < probes_far.n && same_hosts(at(i), at(k));
		     k++)
			;
		compare(at(i), k - i);
	}
}

/*
 * Counters are read while probes come, and some are reported by a peer, so a
 * negative difference counts as 0.
 */
static json_t *missing(uint64_t of, uint64_t there)
{
	return json_integer(of > there ? of - there : 0);
}

/**
 * reflect_report() - results of a path's reflected probe
 * @path: the path, which has such a probe
 *
 * Loss is counted up to the last probe that came back; the fate of later ones
 * is not known yet.
 */
json_t *reflect_report(const struct engine_path *path)
{
	const struct reflected *r = reflect_of(path);
	const struct srpol_far *far = reflect_map_at(r->ssid);
	const struct srpol_probe *p = probe_map_at(r->ssid);
	json_t *o = json_object();

	json_object_set_new(o, "sent", json_integer(r->sent));
	json_object_set_new(o, "reached", json_integer(far->reached));
	json_object_set_new(o, "returned", json_integer(p->received));
	if (!p->received)
		return o;
	json_object_set_new(o, "lost_there", missing(
		(uint64_t)p->last_seq + 1, far->reached));
	json_object_set_new(o, "lost_back", missing(far->reached,
						    p->received));
	json_object_set_new(o, "ce_there", json_integer(far->ce));
	json_object_set_new(o, "ce_back", json_integer(p->ce));
	json_object_set_new(o, "path_ce", json_integer(far->path_ce));
	json_object_set_new(o, "queue_there_ms",
			    json_real(r->queue_there_ns / 1000 / 1000.0));
	json_object_set_new(o, "queue_back_ms",
			    json_real(r->queue_back_ns / 1000 / 1000.0));
	json_object_set_new(o, "hops_there", missing(PROBE_HOP_LIMIT,
						     far->hop_limit));
	json_object_set_new(o, "hops", missing(PROBE_HOP_LIMIT,
					       p->hop_limit));
	json_object_set_new(o, "rtt_ms",
			    json_real(p->rtt_ns / 1000 / 1000.0));
	return o;
}
