/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes that return by their own segment list (probe_*.c, prober.c), and
 * probes that peers reflect (reflect*.c).
 */
#ifndef _SRPOLD_PROBING_H
#define _SRPOLD_PROBING_H

#include "srpold.h"

/* probe_packet.c */

#define PROBE_HOP_LIMIT	64	/* with which probes leave */
#define PROBE_MAX	(14 + 40 + 8 + 16 * SEGMENTS_MAX + 8 + 44 + 44)

/**
 * struct probe - contents of a probe
 * @ssid: identifies the segment list that it tests
 * @seq: sequence number
 * @sent_ns: CLOCK_MONOTONIC when it was sent
 * @ce: it arrived with a congestion mark
 * @hop_limit: hop limit with which it arrived
 */
struct probe {
	uint32_t ssid;
	uint32_t seq;
	uint64_t sent_ns;
	bool ce;
	uint8_t hop_limit;
};

/**
 * struct reflect_ask - additional contents of a probe that is reflected
 * @epoch: epoch of the prober
 * @path: id of the path whose marks the peer is to report
 * @list: hash of that path's segment list, as in srpol_ce_key
 */
struct reflect_ask {
	uint64_t epoch;
	uint32_t path;
	uint32_t list;
};

int probe_init(void);
const uint8_t *probe_key(void);
size_t probe_make(const struct uplink *up, const struct engine_path *path,
		  const struct in6_addr *src, const struct probe *probe,
		  uint32_t size, uint8_t *frame);
size_t probe_make_reflect(const struct uplink *up,
			  const struct engine_path *path,
			  const struct srpol_sid_list *list,
			  const struct in6_addr *src, const struct probe *probe,
			  const struct reflect_ask *ask, const uint8_t *key,
			  uint8_t *frame);
bool probe_read(const uint8_t *frame, size_t len, struct probe *probe,
		struct srpol_sid_list *list);

/* probe_map.c */
int probe_map_open(struct srpol_error *err);
void probe_map_close(void);
bool probe_map_follow(void);
bool probe_map_is_xdp(void);
bool probe_map_is_whole(void);
struct srpol_probe *probe_map_at(uint32_t index);
uint64_t probe_map_count(enum srpol_reason reason);

/* probe_entry.c */
void probe_map_enter(uint32_t index, uint32_t ifindex,
		     const struct in6_addr *saddr,
		     const struct srpol_sid_list *list);

/* reflect_keys.c */

#define REFLECT_KEY_LEN	16

/**
 * struct host_key - secret that two hosts share
 * @host: host in this namespace
 * @peer: the other host
 * @key: key for the tags of reflected probes and of messages between the hosts
 * @both: @also is set
 * @also: second key that is accepted, but not used for sending
 */
struct host_key {
	uint32_t host;
	uint32_t peer;
	uint8_t key[REFLECT_KEY_LEN];
	bool both;
	uint8_t also[REFLECT_KEY_LEN];
};

int reflect_keys_read(struct engine *engine, struct srpol_error *err);
const struct host_key *reflect_key(const struct engine *engine, uint32_t host,
				   uint32_t peer);

/* reflect_map.c */
void reflect_map_open(void);
void reflect_map_close(void);
bool reflect_map_is_there(void);
bool reflect_map_is_lost(void);
struct srpol_far *reflect_map_at(uint32_t index);
int reflect_map_pairs(const struct engine *engine, struct srpol_error *err);

/* reflect.c */

/**
 * struct reflected - a path's probe that the peer reflects
 * @path: index of the path
 * @ssid: SSID of the probe
 * @seq: sequence number of the next one
 * @sent: number of probes sent
 * @next_ns: when the next one is due
 * @there_ns: least time to the peer in the last interval, by the clocks of both
 *	hosts; SRPOL_FAR_NONE: no probe came back
 * @back_ns: likewise for the way back
 * @queue_there_ns: @there_ns minus that of the best path to that peer
 * @queue_back_ns: likewise for the way back
 */
struct reflected {
	uint32_t path;
	uint32_t ssid;
	uint32_t seq;
	uint64_t sent;
	uint64_t next_ns;
	int64_t there_ns;
	int64_t back_ns;
	int64_t queue_there_ns;
	int64_t queue_back_ns;
};

int reflect_start(struct engine *engine, struct srpol_error *err);
void reflect_stop(void);
int reflect_begin_anew(struct srpol_error *err);
void reflect_look(void);
const struct reflected *reflect_of(const struct engine_path *path);
json_t *reflect_report(const struct engine_path *path);

/* prober.c */

/**
 * struct prober_stats - counters of frames that came by packet sockets, and of
 * errors
 * @by_socket: valid probes
 * @forged: probes without a valid tag
 * @strange: probes whose segment list is not the path's
 * @stale: probes that came back before, or are older than what is remembered
 * @unsent: probes that the kernel did not accept for sending
 * @late_ticks: ticks so late that no probe was counted as lost
 */
struct prober_stats {
	uint64_t by_socket;
	uint64_t forged;
	uint64_t strange;
	uint64_t stale;
	uint64_t unsent;
	uint64_t late_ticks;
};

extern struct prober_stats prober_stats;

int prober_check(const struct engine *engine, struct srpol_error *err);
int prober_start(struct engine *engine, struct srpol_error *err);
uint64_t prober_interval(void);
void prober_stop(void);
void prober_follow(void);
void prober_news(void);
struct engine_path *prober_path(uint32_t ssid);
uint32_t prober_count(void);

/* probe_send.c */
void probe_send_start(struct engine *engine, uint32_t n);
void probe_send(struct engine_path *path);
bool probe_send_long(struct engine_path *path, uint32_t size);
void probes_flush(void);

/* probe_back.c */
void prober_receive(struct uplink *up, const uint8_t *frame, size_t len);
void prober_anomaly(const struct srpol_probe_event *event);
void probes_announce(const struct engine_path *path);
void probes_announce_mtu(const struct engine_path *path);
void probes_harvest(struct engine *engine, struct engine_path *path,
		    uint64_t now);

/*
 * When the probe is due after the one that was due at @due. Probes that could not be sent
 * in time are not made up for, and the next one keeps its place in the interval: else all
 * that a late prober owes would leave together from then on.
 */
static inline uint64_t probe_next_due(uint64_t due, uint64_t interval,
				      uint64_t now)
{
	return due + ((now - due) / interval + 1) * interval;
}

/* Sequence numbers of short probes have 31 bits. */
static inline uint32_t probe_next_seq(uint32_t seq)
{
	return (seq + 1) & ~SRPOL_PROBE_SEQ_LONG;
}

/* Number of probes from the oldest unanswered one on. */
static inline uint32_t probes_under_way(const struct engine_path *path)
{
	return (path->seq - path->oldest) & ~SRPOL_PROBE_SEQ_LONG;
}

/* Bit of a sequence number in engine_path.given_up. */
static inline uint64_t probe_slot_bit(uint32_t seq)
{
	return 1ull << seq % IN_FLIGHT;
}

#endif /* _SRPOLD_PROBING_H */
