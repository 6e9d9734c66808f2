/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which suspected links the plan does without. A host sees only the probes of its
 * own, so what it suspects is held against what other hosts say:
 *
 *	1. Down is a link that a host is sure of and that probes of no other host
 *	   pass, or that two hosts are sure of.
 *	2. A suspicion that names a link that is down is explained.
 *	3. If others' probes pass all links of a suspicion but one, that one is down.
 *	4. Of the rest, the links that most hosts suspect are down, if they are two or
 *	   more. What others' probes pass counts here only if a host is sure of it.
 *
 * All other links stay. Pure.
 */
#ifndef _SRPOL_FABRICD_JUDGE_H
#define _SRPOL_FABRICD_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

#define JUDGE_CABLES	16	/* of a suspicion */
#define JUDGE_SURE	75	/* percent from which a host is sure */

/**
 * struct judge_suspicion - cables of which one explains what a host lost
 * @host: number of the host
 * @confidence: percent for the first cable; from JUDGE_SURE on only that one counts
 * @fresh: other hosts may not have noticed yet that their probes are lost, too
 * @n: number of entries of @cable
 * @cable: the cables
 */
struct judge_suspicion {
	uint32_t host;
	uint32_t confidence;
	bool fresh;
	uint32_t n;
	uint32_t cable[JUDGE_CABLES];
};

/**
 * enum judge_reason - why a link is down, or stays
 * @JUDGE_CERTAIN: down: a host is sure, and no other host's probes pass it
 * @JUDGE_SEVERAL: down: several hosts suspect it
 * @JUDGE_ELIMINATED: down: others' probes pass all other links that explain the loss
 * @JUDGE_PASSED: stays: others' probes pass it
 * @JUDGE_EXPLAINED: stays: a link that is down explains the loss
 * @JUDGE_WAITS: stays: others may not have noticed yet
 * @JUDGE_UNSURE: stays: one host suspects it, and is not sure
 */
enum judge_reason {
	JUDGE_CERTAIN,
	JUDGE_SEVERAL,
	JUDGE_ELIMINATED,
	JUDGE_PASSED,
	JUDGE_EXPLAINED,
	JUDGE_WAITS,
	JUDGE_UNSURE,
	JUDGE_REASONS,
};

/**
 * struct judge_link - a suspected cable
 * @cable: its number
 * @hosts: number of hosts that suspect it
 * @sure: number of those that are sure
 * @passing: number of hosts whose probes pass it
 * @open: number of hosts with a suspicion of it that nothing explains yet
 * @last: last host that was counted, for each of @hosts, @sure and @open
 * @down: the plan does without it
 * @reason: why
 */
struct judge_link {
	uint32_t cable;
	uint32_t hosts;
	uint32_t sure;
	uint32_t passing;
	uint32_t open;
	uint32_t last[3];
	bool down;
	enum judge_reason reason;
};

void judge(const struct judge_suspicion *list, size_t n,
	   uint32_t (*passing)(uint32_t cable), struct vec *links);
struct judge_link *judge_find(const struct vec *links, uint32_t cable);
const char *judge_word(enum judge_reason reason);

#endif /* _SRPOL_FABRICD_JUDGE_H */
