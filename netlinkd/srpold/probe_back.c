// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that came back. XDP records them in the map "probes" (probe_map.c), in
 * the slot of their sequence number, where this file finds them. Probes that
 * come by a packet socket, where XDP does not take them, are recorded first.
 */
#include <string.h>

#include "probing.h"
#include "srpold.h"

#define TELL_NS		(1000 * NS_PER_MS)	/* between two messages of a
						 * kind */

struct prober_stats prober_stats;

/**
 * probes_announce() - log a path's new liveness
 * @path: the path
 */
void probes_announce(const struct engine_path *path)
{
	const char *name = path->name[0] ? path->name : "without a name";

	if (liveness_usable(&path->live))
		log_notice("path %u %s answers again", path->id, name);
	else
		log_notice("path %u %s is down: %u probes lost in a row",
			   path->id, name, path->live.lost);
}

/**
 * probes_announce_mtu() - log whether a path takes packets of full size
 * @path: the path
 */
void probes_announce_mtu(const struct engine_path *path)
{
	const char *name = path->name[0] ? path->name : "without a name";

	if (mtu_is_narrow(&path->mtu))
		log_notice("path %u %s loses packets of %u bytes", path->id,
			   name, path->full);
	else
		log_notice("path %u %s takes packets of %u bytes", path->id,
			   name, path->full);
	prober_news();
}

/* Loss while the path was down is not part of its quality once it is up. */
static void restart_window(struct engine_path *path)
{
	path->window = (struct quality_window){};
	path->closed_sent = path->stats.sent;
	path->closed_lost = path->stats.lost - path->stats.late;
}

static void take_answer(struct engine *engine, struct engine_path *path,
			uint64_t rtt, uint64_t now)
{
	quality_answer(&path->window, rtt);
	path->stats.received++;
	path->heard = true;
	if (!liveness_answer(&path->live, &engine->config.live, now))
		return;
	restart_window(path);
	prober_news();
	probes_announce(path);
}

/* Whether the probe with a sequence number came back. */
static bool is_back(const struct srpol_probe_slot *slot, uint32_t seq)
{
	return __atomic_load_n(&slot->back, __ATOMIC_ACQUIRE) == seq;
}

/* Count probes that came back after they were given up. */
static void take_late(struct engine_path *path, struct srpol_probe *p)
{
	uint64_t bits = path->given_up;
	uint32_t i, seq;

	for (; bits; bits &= bits - 1) {
		i = __builtin_ctzll(bits);
		/* the last number below @oldest that uses this slot */
		seq = path->oldest - 1 - (path->oldest - 1 - i) % IN_FLIGHT;
		if (!is_back(&p->slot[i], seq & ~SRPOL_PROBE_SEQ_LONG))
			continue;
		path->given_up &= ~probe_slot_bit(i);
		path->stats.late++;
	}
}

static void take_long(struct engine_path *path, struct srpol_probe *p,
		      uint64_t now)
{
	if (path->mtu.size &&
	    is_back(&p->slot[SRPOL_PROBE_LONG], path->long_seq) &&
	    mtu_answer(&path->mtu, now))
		probes_announce_mtu(path);
}

/**
 * probes_harvest() - take a path's probes that came back since the last call
 * @engine: the engine
 * @path: the path, which is its own leader
 * @now: time
 */
void probes_harvest(struct engine *engine, struct engine_path *path,
		    uint64_t now)
{
	struct srpol_probe *p = probe_map_at(path->probe);
	const struct srpol_probe_slot *slot;
	uint32_t seq;
	uint64_t *sent;

	if (path->oldest == path->seq && !path->given_up && !path->mtu.size)
		return;
	for (seq = path->oldest; seq != path->seq; seq = probe_next_seq(seq)) {
		slot = &p->slot[seq % IN_FLIGHT];
		sent = &path->sent_ns[seq % IN_FLIGHT];
		if (!*sent || !is_back(slot, seq))
			continue;
		*sent = 0;
		take_answer(engine, path, slot->rtt_ns, now);
	}
	if (path->given_up)
		take_late(path, p);
	take_long(path, p, now);
}

static bool same_list(const struct srpol_sid_list *a,
		      const struct srpol_sid_list *b)
{
	return a->n == b->n &&
	       !memcmp(a->sid, b->sid, a->n * sizeof(a->sid[0]));
}

/**
 * prober_receive() - take a frame to the probe SID that came by packet socket
 * @up: device that it came in by
 * @frame: frame with its Ethernet header
 * @len: its length in bytes
 */
void prober_receive(struct uplink *up, const uint8_t *frame, size_t len)
{
	struct srpol_sid_list list;
	struct engine_path *path;
	struct probe probe;
	uint64_t now = now_ns();

	if (!probe_read(frame, len, &probe, &list)) {
		prober_stats.forged++;
		return;
	}
	path = prober_path(probe.ssid);
	if (!path || path->nic != up->nic || !same_list(&list, &path->loop)) {
		prober_stats.strange++;
		return;
	}
	if (srpol_probe_came(probe_map_at(probe.ssid), probe.seq,
			     probe.sent_ns, now, probe.ce,
			     probe.hop_limit) < 0) {
		prober_stats.stale++;
		return;
	}
	prober_stats.by_socket++;
	probes_harvest(up->engine, path, now);
}

/**
 * prober_anomaly() - a probe did not come back to XDP as it should
 * @event: event from the ring buffer
 *
 * XDP counts all such events and reports some; of these, one per second and
 * reason is logged.
 */
void prober_anomaly(const struct srpol_probe_event *event)
{
	static uint64_t told[SRPOL_REASON_COUNT];
	char from[SRPOL_ADDR_STRLEN], seg[SRPOL_ADDR_STRLEN] = "none";
	const struct engine_path *path;
	uint64_t now = now_ns();

	path = prober_path(event->probe);
	if (event->reason == SRPOL_REASON_PROBE) {
		log_debug("path %u: a gap before probe %u",
			  path ? path->id : 0, event->seq);
		return;
	}
	if (event->reason >= SRPOL_REASON_COUNT ||
	    (told[event->reason] && now - told[event->reason] < TELL_NS))
		return;
	told[event->reason] = now;
	if (event->segs && event->segs <= SRPOL_PROBE_SEGS)
		srpol_addr_text(&event->list[16 * (event->segs - 1)], seg);
	log_notice("%s: from %s, %u segments, first %s, hop limit %u, path %u",
		   srpol_reason_name(event->reason),
		   srpol_addr_text(event->saddr, from), event->segs, seg,
		   event->hop_limit, path ? path->id : 0);
}
