/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Demands: what applications announce that they will send. An owner, such as a
 * rank of a job, has one set of demands; each set that it announces replaces
 * the one before. Pure.
 */
#ifndef _SRPOLD_DEMAND_H
#define _SRPOLD_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "alg.h"
#include "forecast.h"
#include "vec.h"

#define DEMAND_OWNER_LEN	64
#define DEMANDS_PER_USER	4096
#define DEMANDS_MAX		65536	/* of these the last ones are for the superuser */
#define DEMAND_MS_DEFAULT	60000
#define DEMAND_MS_MAX		86400000

/**
 * struct demand - bytes that somebody will send
 * @owner: who says so, unique for a user
 * @uid: user
 * @src: name of a host, or address of one of its NICs
 * @dst: likewise
 * @demand: between which GPUs that is, how much, of which color
 * @from_ns: when it begins
 * @until_ns: when it is over, or not worth believing any more
 * @period_ms: it is sent again after so long, until then; 0: once
 */
struct demand {
	char owner[DEMAND_OWNER_LEN];
	uint32_t uid;
	char src[SRPOL_NAME_LEN];
	char dst[SRPOL_NAME_LEN];
	struct srpol_demand demand;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t period_ms;
};

/**
 * struct demands - all there are
 * @all: struct demand
 * @accepted: announcements that were taken
 * @refused: that were not
 */
struct demands {
	struct vec all;
	uint64_t accepted;
	uint64_t refused;
};

int demand_resolve(const struct srpol_fabric *fabric, struct demand *d,
		   struct srpol_error *err);
int demands_replace(struct demands *ds, const char *owner, uint32_t uid,
		    const struct demand *new, uint32_t n,
		    struct srpol_error *err);
void demands_expire(struct demands *ds, uint64_t now);
void demands_resolve(struct demands *ds, const struct srpol_fabric *fabric);
uint32_t demands_due(const struct demands *ds, uint64_t by,
		     struct srpol_demand *due);


/* demand_sum.c */
void demands_sum(const struct demands *ds, const struct srpol_fabric *fabric,
		 uint32_t host, uint64_t now_ns, uint64_t now_ms,
		 struct srpol_forecasts *sum);

#endif /* _SRPOLD_DEMAND_H */
