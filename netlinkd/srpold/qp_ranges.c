// SPDX-License-Identifier: GPL-2.0
/*
 * Represents QPs of a job as ranges of numbers, since a job has few rules.
 * Consecutive numbers form a range. If there are too many ranges, those with
 * the smallest gaps between them are merged, provided that no other owner's QP
 * is in the gap. A QP that appears there later counts as the job's until the
 * next look.
 */
#include <stdlib.h>

#include "srpold.h"

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Largest gap to be bridged so that at most @max ranges remain; *@n: how many
 * gaps of exactly that size to bridge.
 */
static uint32_t limit_of(const struct vec *ranges, uint32_t max, uint32_t *n)
{
	struct vec gaps = VEC_INIT(uint32_t);
	const struct qp_range *range;
	uint32_t wanted = ranges->n - max, limit = 0;
	const uint32_t *gap;

	*n = 0;
	vec_for_each(range, ranges)
		if (range->gap)
			*(uint32_t *)vec_add(&gaps) = range->gap;
	if (gaps.n) {
		qsort(gaps.data, gaps.n, gaps.size, by_size);
		wanted = wanted < gaps.n ? wanted : gaps.n;
		limit = ((uint32_t *)gaps.data)[wanted - 1];
	}
	vec_for_each(gap, &gaps)
		*n += *gap < limit;
	*n = wanted - *n;
	vec_free(&gaps);
	return limit;
}

static void bridge(struct vec *ranges, uint32_t max)
{
	struct qp_range *range, *last = NULL;
	uint32_t left, limit = limit_of(ranges, max, &left), n = 0;

	vec_for_each(range, ranges) {
		if (range->gap && (range->gap < limit ||
				   (range->gap == limit && left))) {
			left -= range->gap == limit;
			last->hi = range->hi;
			last->qps += range->qps;
			continue;
		}
		last = (struct qp_range *)ranges->data + n++;
		*last = *range;
	}
	ranges->n = n;
}

/**
 * qp_ranges() - represent an owner's QPs as ranges
 * @qps: struct srpol_rdma_qp of all owners, by device and destination QP number
 * @own: whether a QP is the owner's
 * @data: argument of @own
 * @max: number of ranges that there is room for
 * @ranges: struct qp_range, result; more than @max if that cannot be avoided
 */
void qp_ranges(const struct vec *qps,
	       bool (*own)(const struct srpol_rdma_qp *qp, const void *data),
	       const void *data, uint32_t max, struct vec *ranges)
{
	const struct srpol_rdma_qp *qp;
	struct qp_range *range = NULL;
	bool other = false;
	uint32_t gap;

	ranges->n = 0;
	vec_for_each(qp, qps) {
		if (!own(qp, data)) {
			other = true;
			continue;
		}
		if (range && range->ifindex == qp->ifindex &&
		    qp->remote <= range->hi + 1) {
			range->hi = qp->remote;
			range->qps++;
			other = false;
			continue;
		}
		gap = range && range->ifindex == qp->ifindex && !other ?
		      qp->remote - range->hi - 1 : 0;
		range = vec_add(ranges);
		*range = (struct qp_range){
			.ifindex = qp->ifindex, .lo = qp->remote,
			.hi = qp->remote, .qps = 1, .gap = gap,
		};
		other = false;
	}
	if (ranges->n > max)
		bridge(ranges, max);
}
