/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef _SRPOL_TIMES_H
#define _SRPOL_TIMES_H

#include <jansson.h>
#include <stdint.h>

struct srpol_error;

#define SRPOL_TIMES_MS_MAX	INT64_C(4294967000)	/* 49 days */

/**
 * struct srpol_times - when a job sends
 * @start_ms: milliseconds since 1970; 0: the job has begun already
 * @duration_ms: the job ends after this time; 0: unknown
 * @period_ms: the job sends its bytes again after this time; 0: it sends them
 *	once
 */
struct srpol_times {
	uint64_t start_ms;
	uint64_t duration_ms;
	uint64_t period_ms;
};

int srpol_times_read(const json_t *job, struct srpol_times *times,
		     struct srpol_error *err);

#endif /* _SRPOL_TIMES_H */
