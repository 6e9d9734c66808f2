/* SPDX-License-Identifier: GPL-2.0 */
/* How paths perform: congestion signals and load, both of which decay. */
#ifndef _SRPOL_QUALITY_H
#define _SRPOL_QUALITY_H

#include "base.h"
#include "maps.h"

/* After so many half-lives nothing is left. */
#define SRPOL_FADED		64

static __always_inline struct srpol_quality *srpol_quality_get(__u32 path)
{
	return bpf_map_lookup_elem(&path_quality, &path);
}

/* Whole half-lives from @then to @now; 0 if another CPU's clock is ahead. */
static __always_inline __u64 srpol_half_lives(__u64 now, __u64 then,
					      __u32 shift)
{
	__s64 passed = now - then;

	return passed > 0 ? (__u64)passed >> shift : 0;
}

static __always_inline __u64 srpol_fade(__u64 v, __u64 half_lives)
{
	return half_lives < SRPOL_FADED ? v >> half_lives : 0;
}

/* Nothing speaks against the path. This can be told without reading a clock. */
static __always_inline bool srpol_quality_clean(const struct srpol_quality *q)
{
	return !(q->level | q->penalty);
}

/**
 * srpol_quality_score - how bad a path is: 0 is good
 * @path: path id
 * @now: CLOCK_MONOTONIC in ns
 *
 * A level that has decayed to 0 is cleared, so that the path reads as clean
 * from then on, unless a signal arrives at this moment.
 */
static __always_inline __u64 srpol_quality_score(__u32 path, __u64 now)
{
	struct srpol_quality *q = srpol_quality_get(path);
	__u32 level, left;

	if (!q)
		return 0;
	level = READ_ONCE(q->level);
	if (!level)
		return q->penalty;
	left = srpol_fade(level, srpol_half_lives(now, q->level_ns,
						  SRPOL_LEVEL_SHIFT));
	if (!left)
		__sync_val_compare_and_swap(&q->level, level, 0);
	return (__u64)left + q->penalty;
}

/**
 * srpol_quality_signal - count a congestion signal for a path
 * @q: quality of the path
 * @now: CLOCK_MONOTONIC in ns
 *
 * @level_ns advances by whole half-lives, so that the level also decays when
 *	signals come faster than that.
 */
static __always_inline void srpol_quality_signal(struct srpol_quality *q,
						 __u64 now)
{
	__u64 n = srpol_half_lives(now, q->level_ns, SRPOL_LEVEL_SHIFT);
	__u32 level = srpol_fade(q->level, n);

	if (level)
		q->level_ns += n << SRPOL_LEVEL_SHIFT;
	else
		q->level_ns = now;
	WRITE_ONCE(q->level, level + SRPOL_LEVEL_UNIT);
}

/* Bytes that flows sent over a path recently, decayed. */
static __always_inline __u64 srpol_quality_load(__u32 path, __u64 now)
{
	struct srpol_quality *q = srpol_quality_get(path);

	if (!q)
		return 0;
	return srpol_fade(q->load, srpol_half_lives(now, q->load_ns,
						    SRPOL_LOAD_SHIFT));
}

/**
 * srpol_quality_send - count a packet of a flow that chooses by quality
 * @path: path it takes
 * @bytes: its length
 * @now: CLOCK_MONOTONIC in ns, may be coarse
 *
 * If several CPUs send over one path at once, some bytes may not be counted.
 */
static __always_inline void srpol_quality_send(__u32 path, __u32 bytes,
					       __u64 now)
{
	struct srpol_quality *q = srpol_quality_get(path);
	__u64 n;

	if (!q)
		return;
	n = srpol_half_lives(now, q->load_ns, SRPOL_LOAD_SHIFT);
	if (n) {
		q->load = srpol_fade(q->load, n);
		q->load_ns += n << SRPOL_LOAD_SHIFT;
	}
	q->load += bytes;
}

#endif /* _SRPOL_QUALITY_H */
