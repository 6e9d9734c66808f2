// SPDX-License-Identifier: GPL-2.0
/*
 * srpol flow: flows the data plane has seen, read from its map.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol flow show\n"
"Counters of a flow that several CPUs send at a time are approximate.\n";

static uint64_t coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static const struct policy_info *find_policy(const struct vec *policies,
					     uint32_t id)
{
	const struct policy_info *policy;

	vec_for_each(policy, policies)
		if (policy->id == id)
			return policy;
	return NULL;
}

static void print_flow(const struct srpol_flow_key *key,
		       const struct srpol_flow *flow,
		       const struct vec *policies, uint64_t now)
{
	const struct policy_info *policy = find_policy(policies, flow->policy);
	char buf[SRPOL_ADDR_STRLEN];

	out_object(NULL);
	out_string("src", "flow src %s", srpol_addr_text(key->saddr, buf));
	out_string("dst", " dst %s", srpol_addr_text(key->daddr, buf));
	out_uint("proto", " proto %llu", key->proto);
	out_uint("sport", " sport %llu", key->sport);
	out_bool("roce", NULL, key->roce);
	out_uint(key->roce ? "qp" : "dport",
		 key->roce ? " qp %llu" : " dport %llu", key->qp);
	out_uint("class", flow->class_id ? " class-id %llu" : NULL,
		 flow->class_id);
	out_uint("color", policy ? " color %llu" : NULL,
		 policy ? policy->color : 0);
	out_string("endpoint", policy ? " endpoint %s" : NULL,
		   policy ? srpol_addr_text(&policy->endpoint, buf) : "");
	out_uint("path", policy ? " path %llu" : NULL,
		 policy ? flow->path : 0);
	out_string("verdict", policy ? NULL : " %s", policy ? "steered" :
		   flow->policy ? "policy-deleted" :
		   flow->verdict < SRPOL_REASON_COUNT ?
		   srpol_reason_name(flow->verdict) : "?");
	out_uint("packets", " packets %llu", flow->packets);
	out_uint("bytes", " bytes %llu", flow->bytes);
	out_uint("idle_ms", " idle %llums", now > flow->last_ns ?
		 (now - flow->last_ns) / 1000000 : 0);
	out_text("\n");
	out_object_end();
}

static int flow_show(struct args *args, unsigned int flags)
{
	struct vec policies = VEC_INIT(struct policy_info);
	struct srpol_flow_key key;
	struct srpol_flow flow;
	uint64_t now = coarse_ns();
	bool first = true;
	unsigned int n;
	int err, fd;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_policies(&policies);
	if (err)
		return err;
	fd = srpol_map_open("flows");
	if (fd < 0)
		return complain("no data plane is attached in this network namespace");
	out_begin();
	/* eviction can send the walk back to the start: never go on for ever */
	for (n = 0; n < SRPOL_MAX_FLOWS; n++, first = false) {
		err = srpol_flow_next(fd, &key, first, &flow);
		if (err)
			break;
		print_flow(&key, &flow, &policies, now);
	}
	out_end();
	vec_free(&policies);
	return err && err != -ENOENT ? refused(err, NULL) : EXIT_OK;
}

int do_flow(struct args *args)
{
	static const struct command commands[] = {
		{ "show", flow_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
