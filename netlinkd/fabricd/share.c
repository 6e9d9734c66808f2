// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "fabricd.h"
#include "share.h"

/* Without the time in which others have the processor. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_SEC + t.tv_nsec;
}

/**
 * share_begin() - an answer begins
 *
 * Return: the time, for share_is_left() and share_take().
 */
struct share_begin share_begin(void)
{
	return (struct share_begin){ .cpu_ns = cpu_ns(), .ns = now_ns() };
}

/**
 * share_is_left() - whether there is time for an answer
 * @s: the share
 * @now: the time
 *
 * What took more than its second's share is paid in those that follow: whole seconds,
 * so that it is not paid later because somebody asked in between.
 */
bool share_is_left(struct share *s, const struct share_begin *now)
{
	uint64_t seconds = (now->ns - s->since_ns) / NS_PER_SEC;
	unsigned __int128 paid = (unsigned __int128)seconds * s->per_s;

	if (seconds && s->worked_ns > paid) {
		s->worked_ns -= paid;
		s->since_ns += seconds * NS_PER_SEC;
	} else if (seconds) {
		s->worked_ns = 0;
		s->since_ns = now->ns;
	}
	return s->worked_ns < s->per_s;
}

/**
 * share_wait_s() - when there is time again
 * @s: the share
 * @now: the time, for which share_is_left() was false
 *
 * Return: seconds after which share_is_left() is true, if nothing is taken before.
 */
uint32_t share_wait_s(const struct share *s, const struct share_begin *now)
{
	uint64_t unpaid = s->worked_ns - s->per_s + 1;
	uint64_t ns = (unpaid + s->per_s - 1) / s->per_s * NS_PER_SEC;

	ns -= now->ns - s->since_ns;
	return (ns + NS_PER_SEC - 1) / NS_PER_SEC;
}

/**
 * share_take() - an answer ends
 * @s: the share that it is taken from
 * @since: when it began
 */
void share_take(struct share *s, const struct share_begin *since)
{
	uint64_t cpu = cpu_ns() - since->cpu_ns, wall = 0;

	if (s->clock_part)
		wall = (now_ns() - since->ns) / s->clock_part;
	s->worked_ns += cpu > wall ? cpu : wall;
	if (s->worked_ns > s->owed_s * s->per_s)
		s->worked_ns = s->owed_s * s->per_s;
}
