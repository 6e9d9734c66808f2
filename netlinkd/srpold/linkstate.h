/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link-state DB: what every cable can carry, which source said so and when,
 * and how well the cable works according to probes. Algorithms see the product
 * of capacity and quality. Pure.
 *
 * Probes go out and back over the same cables, so both directions of a cable
 * are one entry. What other hosts report about a cable only matters to
 * algorithms that look at its quality ("glb").
 */
#ifndef _SRPOLD_LINKSTATE_H
#define _SRPOLD_LINKSTATE_H

#include "fabric.h"
#include "locate.h"
#include "quality.h"

/**
 * enum link_source - source of a cable's capacity; a later one takes precedence
 * @LINK_TOPOLOGY: the topology file
 * @LINK_DEVICE: the speed of the NIC's device
 * @LINK_FEED: the feed file
 * @LINK_OPERATOR: srpol engine link set
 */
enum link_source {
	LINK_TOPOLOGY,
	LINK_DEVICE,
	LINK_FEED,
	LINK_OPERATOR,
	LINK_SOURCES,
};

/**
 * struct link_info - what is known of a cable
 * @said: bit set of enum link_source: sources that gave a capacity
 * @capacity: bit/s by source, 0: down
 * @since_ns: when each source first gave that capacity
 * @quality: as measured
 * @heard: percentage of it to be used according to other hosts, 100: no report
 */
struct link_info {
	uint32_t said;
	uint64_t capacity[LINK_SOURCES];
	uint64_t since_ns[LINK_SOURCES];
	struct quality quality;
	uint8_t heard;
};

/**
 * struct linkstate - state of all cables
 * @fabric: the fabric
 * @cables: by cable number, which is half the number of its links
 * @n: number of cables
 * @links: input of the algorithms; its version grows with every change
 */
struct linkstate {
	const struct srpol_fabric *fabric;
	struct link_info *cables;
	uint32_t n;
	struct srpol_links *links;
};

int linkstate_init(struct linkstate *ls, const struct srpol_fabric *fabric,
		   uint64_t now);
void linkstate_free(struct linkstate *ls);
void linkstate_say(struct linkstate *ls, uint32_t cable,
		   enum link_source source, uint64_t capacity, uint64_t now);
void linkstate_unsay(struct linkstate *ls, uint32_t cable,
		     enum link_source source);
enum link_source linkstate_source(const struct linkstate *ls, uint32_t cable);
bool linkstate_hear(struct linkstate *ls, uint32_t cable, uint32_t percent);
void linkstate_carry(struct linkstate *ls, const struct linkstate *old, bool feed);
void linkstate_judge(struct linkstate *ls, const struct locate_probe *probes,
		     const struct quality_words *words, size_t n,
		     const struct quality_config *config);
const char *link_source_name(enum link_source source);

#endif /* _SRPOLD_LINKSTATE_H */
