// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "liveness.h"

#define FLAPS_MAX	16
#define PATIENCE_NS	1000000ull
#define PATIENCE_RTTS	4

static const char * const names[] = {
	[LIVENESS_UP] = "up",
	[LIVENESS_SUSPECT] = "suspect",
	[LIVENESS_DOWN] = "down",
	[LIVENESS_RECOVERING] = "recovering",
};

static void enter(struct liveness *l, enum liveness_state state, uint64_t now)
{
	l->state = state;
	l->since_ns = now;
}

/**
 * liveness_init() - a path is up until its probes say otherwise
 * @l: the path
 * @now: time
 */
void liveness_init(struct liveness *l, uint64_t now)
{
	memset(l, 0, sizeof(*l));
	enter(l, LIVENESS_UP, now);
	l->up_since_ns = now;
}

/**
 * liveness_usable() - whether packets may take the path
 * @l: the path
 */
bool liveness_usable(const struct liveness *l)
{
	return l->state == LIVENESS_UP || l->state == LIVENESS_SUSPECT;
}

/**
 * liveness_name() - name of the state
 * @l: the path
 */
const char *liveness_name(const struct liveness *l)
{
	return names[l->state];
}

/**
 * liveness_restore_ns() - wait-to-restore of a path
 * @l: the path
 * @config: when a path goes down and comes back
 *
 * It doubles each time that the path goes down without having been calm in
 * between, up to the limit.
 */
uint64_t liveness_restore_ns(const struct liveness *l,
			     const struct liveness_config *config)
{
	uint64_t ns = config->restore_ns;
	uint32_t i;

	for (i = 1; i < l->flaps && ns < config->restore_max_ns; i++)
		ns *= 2;
	return ns < config->restore_max_ns ? ns : config->restore_max_ns;
}

/**
 * liveness_answer() - a probe came back
 * @l: the path
 * @config: when a path goes down and comes back
 * @now: time
 *
 * Return: true if that makes the path usable.
 */
bool liveness_answer(struct liveness *l, const struct liveness_config *config,
		     uint64_t now)
{
	l->lost = 0;
	switch (l->state) {
	case LIVENESS_SUSPECT:
		enter(l, LIVENESS_UP, now);
		return false;
	case LIVENESS_DOWN:
		l->good = 0;
		enter(l, LIVENESS_RECOVERING, now);
		break;
	}
	if (l->state != LIVENESS_RECOVERING)
		return false;
	if (++l->good < config->multiplier ||
	    now - l->since_ns < liveness_restore_ns(l, config))
		return false;
	enter(l, LIVENESS_UP, now);
	l->up_since_ns = now;
	return true;
}

/**
 * liveness_lost() - a probe did not come back in time
 * @l: the path
 * @config: when a path goes down and comes back
 * @now: time
 *
 * Return: true if that makes the path unusable.
 */
bool liveness_lost(struct liveness *l, const struct liveness_config *config,
		   uint64_t now)
{
	bool was = liveness_usable(l);

	if (l->lost < UINT32_MAX)
		l->lost++;
	if (l->state == LIVENESS_RECOVERING) {
		enter(l, LIVENESS_DOWN, now);
		return false;
	}
	if (!was)
		return false;
	if (l->lost < config->multiplier) {
		if (l->state == LIVENESS_UP)
			enter(l, LIVENESS_SUSPECT, now);
		return false;
	}
	if (now - l->up_since_ns >= config->calm_ns)
		l->flaps = 0;
	if (l->flaps < FLAPS_MAX)
		l->flaps++;
	enter(l, LIVENESS_DOWN, now);
	return true;
}

/**
 * liveness_patience_ns() - timeout of a probe that is one of several unanswered
 * @rtt_ns: smoothed round-trip time of the path, 0: not known
 * @timeout_ns: timeout of a single probe
 *
 * One late probe says little, since a queue may have grown. If all probes since
 * some time are missing, there is no need to wait that long for the last of
 * them.
 */
uint64_t liveness_patience_ns(uint64_t rtt_ns, uint64_t timeout_ns)
{
	uint64_t ns = PATIENCE_RTTS * rtt_ns;

	if (ns < PATIENCE_NS)
		ns = PATIENCE_NS;
	return ns < timeout_ns ? ns : timeout_ns;
}

/**
 * liveness_is_silent() - whether unanswered probes make a path unusable
 * @l: the path
 * @config: when a path goes down and comes back
 * @missing: number of consecutive probes that exceeded liveness_patience_ns()
 *	without an answer, are not counted as lost yet, and are followed by no
 *	probe with an answer
 *
 * These probes are spread over all but one of the intervals that a verdict
 * takes; a queue would have to grow by that much at once to look the same. A
 * multiplier of 1 is exempt, since one probe is no sequence.
 */
bool liveness_is_silent(const struct liveness *l,
			const struct liveness_config *config, uint32_t missing)
{
	return config->multiplier > 1 && missing && liveness_usable(l) &&
	       (uint64_t)l->lost + missing >= config->multiplier;
}
