/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the forms of srpol export. */
#ifndef _SRPOL_EXPORT_H
#define _SRPOL_EXPORT_H

#include "srpol.h"

/**
 * struct all - the whole configuration and its state
 * @target: gobgp only: BGP identifier of the headend that the routes are for
 */
struct all {
	struct vec paths;
	struct vec policies;
	struct vec rules;
	struct vec endpoints;
	struct vec sids;
	struct vec devs;
	struct config_info config;
	const char *target;
};

/* export_fetch.c */
int fetch_all(struct all *all);
void free_all(struct all *all);

const char *addr(const void *a);
const char *prefix(const void *a, uint32_t len);

void export_frr(const struct all *all);
void export_sonic(const struct all *all);
void export_iproute2(const struct all *all);
void export_rte_flow(const struct all *all);
int export_gobgp(const struct all *all);
bool read_gobgp_target(struct args *args, const char **target);

#endif /* _SRPOL_EXPORT_H */
