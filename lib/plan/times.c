// SPDX-License-Identifier: LGPL-2.1
/*
 * When a job sends, as the value of its key tells: "times": { "start_ms": T,
 * "duration_ms": D, "period_ms": P }. Each member is optional. T is in
 * milliseconds since 1970.
 */
#include <errno.h>
#include <string.h>

#include "srpol_lib.h"
#include "times.h"

#define MS_MAX	(INT64_C(1) << 53)

/**
 * srpol_times_read() - read when a job sends
 * @job: value of the job's key
 * @times: result; all members are 0 if @job has no "times"
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL.
 */
int srpol_times_read(const json_t *job, struct srpol_times *times,
		     struct srpol_error *err)
{
	const json_t *o = json_object_get(job, "times");
	json_int_t start = 0, duration = 0, period = 0;

	*times = (struct srpol_times){};
	if (!o)
		return 0;
	if (json_unpack((json_t *)o, "{s?I, s?I, s?I !}", "start_ms", &start,
			"duration_ms", &duration, "period_ms", &period))
		return srpol_error_set(err, -EINVAL,
				       "\"times\" is { start_ms, duration_ms, period_ms }");
	if (start < 0 || start >= MS_MAX || duration < 0 ||
	    duration > SRPOL_TIMES_MS_MAX || period < 0 ||
	    period > SRPOL_TIMES_MS_MAX)
		return srpol_error_set(err, -EINVAL,
				       "\"times\" has one that is none, or too long");
	*times = (struct srpol_times){ start, duration, period };
	return 0;
}
