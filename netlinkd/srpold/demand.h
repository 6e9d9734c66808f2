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
#define DEMANDS_MAX		65536	/* the last ones are for the
					 * superuser */
#define DEMAND_MS_DEFAULT	60000
#define DEMAND_MS_MAX		86400000

/**
 * struct demand - data that an application will send
 * @owner: name of the owner that announced it, unique for a user
 * @uid: user of the owner
 * @src: name of a host, or address of one of its NICs
 * @dst: the same for the destination
 * @rail: of the GPU of @src, which is one of several where @src is a host
 * @dst_rail: the same for @dst
 * @demand: GPUs, bytes and color
 * @from_ns: when the transfer begins
 * @until_ns: when it is over, or the announcement expires
 * @period_ms: it repeats with this period until then; 0: it happens once
 */
struct demand {
	char owner[DEMAND_OWNER_LEN];
	uint32_t uid;
	char src[SRPOL_NAME_LEN];
	char dst[SRPOL_NAME_LEN];
	uint32_t rail;
	uint32_t dst_rail;
	struct srpol_demand demand;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t period_ms;
};

/**
 * struct demands - all announced demands
 * @all: struct demand
 * @accepted: announcements that were accepted
 * @refused: announcements that were refused
 */
struct demands {
	struct vec all;
	uint64_t accepted;
	uint64_t refused;
};

int demand_resolve(const struct srpol_fabric *fabric, struct demand *d,
		   struct srpol_error *err);
int demand_add(const struct srpol_fabric *fabric, const struct demand *d,
	       struct vec *to, struct srpol_error *err);
bool demands_are_of(const struct demands *ds, const char *owner, uint32_t uid);
uint32_t demands_limit(uint32_t uid);
int demands_replace(struct demands *ds, const char *owner, uint32_t uid,
		    const struct demand *new, uint32_t n,
		    struct srpol_error *err);
void demands_expire(struct demands *ds, uint64_t now);
void demands_resolve(struct demands *ds, const struct srpol_fabric *fabric);
void demands_recolor(struct demands *ds, uint32_t from, uint32_t to);
uint32_t demands_due(const struct demands *ds, uint64_t by,
		     struct srpol_demand *due);

/* demand_sum.c */
void demands_sum(const struct demands *ds, const struct srpol_fabric *fabric,
		 uint32_t host, uint64_t now_ns, uint64_t now_ms,
		 struct srpol_forecasts *sum);

#endif /* _SRPOLD_DEMAND_H */
