// SPDX-License-Identifier: GPL-2.0
/* srpol export: reads the whole configuration. */
#include "export.h"

#define FETCH_TRIES	64

/**
 * fetch_all() - read the whole configuration as it is at one time
 * @all: result, for free_all() whatever this returns
 *
 * It is read again if something has changed meanwhile: a policy would be without its
 * paths. What is read of a type replaces what was read before.
 *
 * Return: an EXIT_*.
 */
int fetch_all(struct all *all)
{
	struct config_info after;
	int tries = 0, err;

	*all = (struct all){
		.paths = VEC_INIT(struct path_info),
		.policies = VEC_INIT(struct policy_info),
		.rules = VEC_INIT(struct rule_info),
		.endpoints = VEC_INIT(struct endpoint_info),
		.sids = VEC_INIT(struct sid_info),
		.devs = VEC_INIT(struct dev_info),
	};
	do {
		if (tries++ == FETCH_TRIES) {
			complain("the configuration changes too often to be read at one time; try again");
			return EXIT_REFUSED;
		}
		err = fetch_config(&all->config) ?: fetch_paths(&all->paths) ?:
		      fetch_policies(&all->policies) ?:
		      fetch_rules(&all->rules) ?:
		      fetch_endpoints(&all->endpoints) ?:
		      fetch_sids(&all->sids) ?: fetch_devs(&all->devs) ?:
		      fetch_config(&after);
	} while (!err && after.generation != all->config.generation);
	return err;
}

/**
 * free_all() - free what fetch_all() has read
 * @all: the configuration
 */
void free_all(struct all *all)
{
	vec_free(&all->paths);
	vec_free(&all->policies);
	vec_free(&all->rules);
	vec_free(&all->endpoints);
	vec_free(&all->sids);
	vec_free(&all->devs);
}
