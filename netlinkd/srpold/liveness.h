/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Liveness of a path: what its probes say. Pure: time and events come in,
 * states go out.
 *
 *		     lost			lost @multiplier in a row
 *	UP ---------------------> SUSPECT ---------------------> DOWN
 *	^ ^------------------------'				  |  ^
 *	|	      answer				   answer |  | lost
 *	|						          v  |
 *	`--------- @multiplier answers in a row and ---------- RECOVERING
 *		   wait-to-restore since the first
 */
#ifndef _SRPOLD_LIVENESS_H
#define _SRPOLD_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

enum liveness_state {
	LIVENESS_UP,
	LIVENESS_SUSPECT,
	LIVENESS_DOWN,
	LIVENESS_RECOVERING,
};

/**
 * struct liveness_config - when a path goes down and comes back
 * @multiplier: probes lost in a row after which a path is down, at least 1
 * @restore_ns: wait-to-restore: how long a path must answer before it is up
 * @restore_max_ns: limit of @restore_ns, which doubles when a path flaps
 * @calm_ns: a path that stays up for this long no longer counts as flapping
 */
struct liveness_config {
	uint32_t multiplier;
	uint64_t restore_ns;
	uint64_t restore_max_ns;
	uint64_t calm_ns;
};

/**
 * struct liveness - liveness of one path
 * @state: enum liveness_state
 * @lost: probes lost in a row
 * @good: answers in a row while RECOVERING
 * @flaps: times it went down without @calm_ns in between, bounded
 * @since_ns: when it entered @state
 * @up_since_ns: when it last became UP, 0: never
 */
struct liveness {
	uint8_t state;
	uint32_t lost;
	uint32_t good;
	uint32_t flaps;
	uint64_t since_ns;
	uint64_t up_since_ns;
};

void liveness_init(struct liveness *l, uint64_t now);
bool liveness_answer(struct liveness *l, const struct liveness_config *config,
		     uint64_t now);
bool liveness_lost(struct liveness *l, const struct liveness_config *config,
		   uint64_t now);
uint64_t liveness_restore_ns(const struct liveness *l,
			     const struct liveness_config *config);
uint64_t liveness_patience_ns(uint64_t rtt_ns, uint64_t timeout_ns);
bool liveness_is_silent(const struct liveness *l,
			const struct liveness_config *config, uint32_t missing);
bool liveness_usable(const struct liveness *l);
const char *liveness_name(const struct liveness *l);

#endif /* _SRPOLD_LIVENESS_H */
