/* SPDX-License-Identifier: GPL-2.0 */
/* The operator's configuration of srpold; srpold(8) describes it. */
#ifndef _SRPOLD_CONFIG_H
#define _SRPOLD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "alg.h"
#include "fabric.h"
#include "follow.h"
#include "liveness.h"
#include "quality.h"

#define HOSTS_MAX	8
#define PEERS_MAX	64

/**
 * struct weights_config - how paths are weighted
 * @alg: algorithm of lib/alg
 * @interval_ns: weights change at most once in this time
 * @feed: file with the capacities of links, empty: none
 * @quality: when a link counts as working badly
 * @n_peers: hosts with an algorithm of their own
 * @peers: names and algorithms of these hosts
 */
struct weights_config {
	const struct srpol_alg *alg;
	uint64_t interval_ns;
	char feed[256];
	struct quality_config quality;
	uint32_t n_peers;
	struct {
		char name[SRPOL_NAME_LEN];
		const struct srpol_alg *alg;
	} peers[PEERS_MAX];
};

/**
 * struct fabric_config - how to follow the global engine
 * @is_set: the global engine is followed
 * @follow: configuration of follow/, except for the file
 * @load_ns: interval at which sent bytes are measured, 0: never
 * @demand_ns: interval at which demands are summed for forecasts, 0: never
 * @folder: where the latest plans are kept
 */
struct fabric_config {
	bool is_set;
	uint64_t load_ns;
	uint64_t demand_ns;
	struct follow_config follow;
	char folder[128];
};

/**
 * struct reflect_config - probes that peers reflect
 * @keys: file with the keys of pairs of hosts, empty: none
 * @interval_ns: time between two such probes of a path
 * @rate: probes of one peer that this host reflects in a second
 */
struct reflect_config {
	char keys[256];
	uint64_t interval_ns;
	uint32_t rate;
};

/**
 * struct segments_config - segment lists of paths and probes
 * @usid: of compressed SIDs
 * @top: those of paths name the switch at which a path turns down and no other,
 *	if no other path turns there and the peer is at one leaf
 */
struct segments_config {
	bool usid;
	bool top;
};

/* Of paths; the SRH of a probe is never reduced. */
static inline enum srpol_sid_form
segments_form(const struct segments_config *c)
{
	return c->usid ? SRPOL_SID_USID : SRPOL_SID_REDUCED;
}

/**
 * struct config - the operator's configuration
 * @topology: name of the topology file
 * @hosts: nodes of the topology whose NICs are in this network namespace
 * @n_hosts: number of them
 * @hosts_told: they are from the file; otherwise there is one, the name of this host
 * @color: color of the policies that the engine makes
 * @first_path: lowest id of a path that the engine makes
 * @job_prio: lowest priority of rules for jobs
 * @job_color: lowest color that a job gets if it asks for none
 * @rule_prio: priority of the rule for RoCEv2, 0: none is made
 * @interval_ns: time between two probes of a path
 * @timeout_ns: time after which a probe counts as lost
 * @budget: largest number of probes that the host sends in a second
 * @live: when a path goes down and comes back
 * @segments: what segment lists consist of
 * @weights: how paths are weighted
 * @fabric: how to follow the global engine
 * @reflect: probes that peers reflect
 * @glb_port: UDP port of messages about links between hosts, 0: none
 * @socket: UNIX socket of srpol engine
 * @demands: socket by which any user may announce demands, empty: none
 */
struct config {
	char topology[256];
	char hosts[HOSTS_MAX][SRPOL_NAME_LEN];
	uint32_t n_hosts;
	bool hosts_told;
	uint32_t color;
	uint32_t first_path;
	uint32_t job_prio;
	uint32_t job_color;
	uint32_t rule_prio;
	uint64_t interval_ns;
	uint64_t timeout_ns;
	uint32_t budget;
	struct liveness_config live;
	struct segments_config segments;
	struct weights_config weights;
	struct fabric_config fabric;
	struct reflect_config reflect;
	uint16_t glb_port;
	char socket[108];
	char demands[108];
};

int config_read(const char *file, struct config *config,
		struct srpol_error *err);

#endif /* _SRPOLD_CONFIG_H */
