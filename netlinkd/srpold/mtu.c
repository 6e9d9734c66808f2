// SPDX-License-Identifier: GPL-2.0
#include "mtu.h"

#define LEAST		1280		/* RFC 8200 5 */
#define CLOSE		8		/* bytes: end of the search */
#define TRIES		3
#define RECHECK_NS	1000000000ull

/**
 * mtu_is_narrow() - whether packets of full size are known not to pass
 * @s: search on the path
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
 * mtu_next() - size to try now
 * @s: search on the path
 * @want: bytes of a full packet
 * @now: time
 *
 * Return: bytes; 0 if none is due, or one is under way.
 */
uint32_t mtu_next(struct mtu_search *s, uint32_t want, uint64_t now)
{
	if (s->size || now < s->next_ns || want <= LEAST)
		return 0;
	/* the device now takes less than before */
	if (s->bad > want || s->good > want)
		*s = (struct mtu_search){};
	s->size = is_found(s) ? want : (s->good + s->bad) / 2;
	return s->size;
}

/**
 * mtu_answer() - the long probe under way came back
 * @s: search on the path
 * @now: time
 *
 * Return: true if mtu_is_narrow() changed.
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
 * mtu_lost() - the long probe under way is lost, short probes are not
 * @s: search on the path
 * @now: time
 *
 * Return: true if mtu_is_narrow() changed.
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
 * mtu_forget() - ignore the probe under way: short probes are lost too
 * @s: search on the path
 */
void mtu_forget(struct mtu_search *s)
{
	s->size = 0;
	s->lost = 0;
}
