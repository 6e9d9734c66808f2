/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef _SRPOL_TIMES_H
#define _SRPOL_TIMES_H

#include <jansson.h>
#include <stdint.h>

struct srpol_error;

#define SRPOL_TIMES_MS_MAX	INT64_C(4294967000)	/* 49 days */

/**
 * struct srpol_times - when a job sends
 * @start_ms: milliseconds since 1970, 0: it has begun
 * @duration_ms: it is over after so long, 0: nobody knows
 * @period_ms: its bytes are sent again after so long, 0: once
 */
struct srpol_times {
	uint64_t start_ms;
	uint64_t duration_ms;
	uint64_t period_ms;
};

int srpol_times_read(const json_t *job, struct srpol_times *times,
		     struct srpol_error *err);

#endif /* _SRPOL_TIMES_H */
