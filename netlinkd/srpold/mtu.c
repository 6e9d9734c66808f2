// SPDX-License-Identifier: GPL-2.0
#include "mtu.h"

#define LEAST		1280		/* RFC 8200 5 */
#define CLOSE		8		/* bytes: near enough */
#define TRIES		3
#define RECHECK_NS	1000000000ull

/**
 * mtu_is_narrow() - is it known that packets of full size do not pass
 * @s: the path
 */
bool mtu_is_narrow(const struct mtu_search *s)
{
	return s->bad;
}

static bool is_found(const struct mtu_search *s)
{
	return !s->bad || s->bad - s->good <= CLOSE;
}

/**
 * mtu_next() - the size to try now
 * @s: the path
 * @want: bytes of a full packet
 * @now: time
 *
 * Return: 0 if it is not time to, or one is under way.
 */
uint32_t mtu_next(struct mtu_search *s, uint32_t want, uint64_t now)
{
	if (s->size || now < s->next_ns || want <= LEAST)
		return 0;
	/* the device takes less than before */
	if (s->bad > want || s->good > want)
		*s = (struct mtu_search){};
	s->size = is_found(s) ? want : (s->good + s->bad) / 2;
	return s->size;
}

/**
 * mtu_answer() - the one under way came back
 * @s: the path
 * @now: time
 *
 * Return: true if mtu_is_narrow() is another one now.
 */
bool mtu_answer(struct mtu_search *s, uint64_t now)
{
	bool was = mtu_is_narrow(s);

	if (s->bad && s->size >= s->bad)
		s->bad = 0;
	s->good = s->size;
	s->size = 0;
	s->lost = 0;
	s->next_ns = is_found(s) ? now + RECHECK_NS : now;
	return was != mtu_is_narrow(s);
}

/**
 * mtu_lost() - the one under way is lost, and short probes are not
 * @s: the path
 * @now: time
 *
 * Return: true if mtu_is_narrow() is another one now.
 */
bool mtu_lost(struct mtu_search *s, uint64_t now)
{
	bool was = mtu_is_narrow(s);
	uint32_t size = s->size;

	s->size = 0;
	if (++s->lost < TRIES) {
		s->next_ns = now;
		return false;
	}
	s->lost = 0;
	if (!s->bad || size < s->bad)
		s->bad = size;
	if (s->good >= s->bad || s->good < LEAST)
		s->good = LEAST;
	s->next_ns = is_found(s) ? now + RECHECK_NS : now;
	return was != mtu_is_narrow(s);
}

/**
 * mtu_forget() - the one under way says nothing: all probes are lost
 * @s: the path
 */
void mtu_forget(struct mtu_search *s)
{
	s->size = 0;
	s->lost = 0;
}
