// SPDX-License-Identifier: GPL-2.0
/*
 * What "srpol export gobgp target 192.0.2.2" writes for some policies, by its own
 * object, without a module. An argument is the second policy's preference; with
 * a second one there is nothing but a policy of so many lists, and a small one.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

/* ---- what it needs of the rest of the command */

bool keyword(struct args *args, const char *word)
{
	abort();
}

bool read_word(struct args *args, const char *key, const char **word)
{
	abort();
}

int complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	return EXIT_USAGE;
}

static void add_path(struct all *all, uint32_t id, uint32_t n,
		     const char *const *sids)
{
	struct path_info *path = vec_add(&all->paths);
	uint32_t i;

	*path = (struct path_info){ .id = id, .n_sids = n };
	for (i = 0; i < n; i++)
		inet_pton(AF_INET6, sids[i], &path->sids[i]);
}

static struct policy_info *add_policy(struct all *all, uint32_t color,
				      const char *endpoint)
{
	struct policy_info *policy = vec_add(&all->policies);

	*policy = (struct policy_info){ .color = color };
	inet_pton(AF_INET6, endpoint, &policy->endpoint);
	return policy;
}

static void add_list(struct candidate_info *cand, uint32_t path,
		     uint32_t weight)
{
	cand->lists[cand->n_lists++] = (struct list_info){
		.path = path, .weight = weight,
	};
}

/* Colors 8, with that many lists in its second candidate path, and 9. */
static void add_large(struct all *all, uint32_t lists)
{
	struct policy_info *policy = add_policy(all, 8, "fd00:b::1");
	uint32_t i;

	policy->n_candidates = 2;
	policy->candidates[0].preference = 200;
	add_list(&policy->candidates[0], 1, 1);
	policy->candidates[1].preference = 100;
	strcpy(policy->candidates[1].name, "much");
	for (i = 0; i < lists; i++)
		add_list(&policy->candidates[1], 1 + i % 2, 1 + i);
	policy = add_policy(all, 9, "fd00:b::1");
	policy->n_candidates = 1;
	add_list(&policy->candidates[0], 1, 1);
}

static void add_usual(struct all *all, uint32_t preference)
{
	struct policy_info *policy;

	policy = add_policy(all, 99, "fd00:b::1");
	policy->has_bsid = true;
	inet_pton(AF_INET6, "fc00:0:b6:1:2:3:4:5", &policy->bsid);
	policy->n_candidates = 3;
	policy->candidates[0].preference = 200;
	strcpy(policy->candidates[0].name, "train");
	add_list(&policy->candidates[0], 1, 3);
	add_list(&policy->candidates[0], 2, 1);
	policy->candidates[1].preference = 100;
	add_list(&policy->candidates[1], 3, 65535);
	/* nothing of this one can be told */
	policy->candidates[2].preference = 50;
	add_list(&policy->candidates[2], 1, 0);
	add_list(&policy->candidates[2], 9, 1);
	policy = add_policy(all, 4294967295u, "::");
	policy->n_candidates = 1;
	policy->candidates[0].preference = preference;
	add_list(&policy->candidates[0], 2, 1);
	policy = add_policy(all, 7, "::ffff:10.0.0.1");
	policy->n_candidates = 1;
	policy->candidates[0].preference = 100;
	add_list(&policy->candidates[0], 3, 1);
}

int main(int argc, char **argv)
{
	static const char *const over1[] = { "fc00:0:21::1", "fc00:0:12::1",
					     "fc00:0:b::d6" };
	static const char *const over2[] = { "fc00:0:22::a1", "fc00:0:12::1",
					     "fc00:0:b::d6" };
	static const char *const usids[] = { "fcbb:bb00:22:12:b::" };
	struct all all = {
		.paths = VEC_INIT(struct path_info),
		.policies = VEC_INIT(struct policy_info),
		.target = "192.0.2.2",
	};
	int ret;

	add_path(&all, 1, 3, over1);
	add_path(&all, 2, 3, over2);
	add_path(&all, 3, 1, usids);
	if (argc > 2)
		add_large(&all, atoi(argv[2]));
	else
		add_usual(&all, argc > 1 ? atoi(argv[1]) : 0);
	ret = export_gobgp(&all);
	vec_free(&all.paths);
	vec_free(&all.policies);
	return ret;
}
