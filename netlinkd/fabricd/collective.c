// SPDX-License-Identifier: GPL-2.0
/*
 * A collective that a request announces becomes demands, or an all-to-all, before
 * anything else sees it. So what is stored and planned is what other engines know,
 * of whatever age they are.
 */
#include <errno.h>
#include <string.h>

#include "collective.h"
#include "srpol_lib.h"
#include "tenants.h"
#include "words.h"

#define RAIL_MAX	63
#define BYTES_MAX	((INT64_C(1) << 53) - 1)
#define KIND_LEN	32

/* At least two hosts by name, each once. */
static int check_hosts(const json_t *hosts, struct srpol_error *err)
{
	json_t *names = json_object();
	const json_t *host;
	int ret = 0;
	size_t i;

	if (json_array_size(hosts) < 2)
		ret = srpol_error_set(err, -EINVAL,
				      "\"hosts\" is not a list of two hosts or more");
	json_array_foreach(hosts, i, host) {
		if (ret)
			break;
		if (!json_is_string(host))
			ret = srpol_error_set(err, -EINVAL,
					      "\"hosts\" is not a list of names");
		else if (json_object_get(names, json_string_value(host)))
			ret = srpol_error_set(err, -EINVAL,
					      "\"hosts\": \"%s\" is there twice",
					      json_string_value(host));
		else
			json_object_set_new(names, json_string_value(host),
					    json_true());
	}
	json_decref(names);
	return ret;
}

/* What each host sends to the next one, in the order of the list. */
static json_t *to_next(json_t *hosts, bool is_ring, json_int_t rail,
		       uint64_t bytes)
{
	size_t n = json_array_size(hosts), i;
	json_t *demands = json_array();

	for (i = 0; i < n - !is_ring; i++)
		json_array_append_new(demands, json_pack("{s:O, s:O, s:I, s:I}",
			"src", json_array_get(hosts, i),
			"dst", json_array_get(hosts, (i + 1) % n),
			"rail", rail, "bytes", (json_int_t)bytes));
	return demands;
}

/**
 * collective_expand() - turn a collective into the traffic of a job
 * @collective: "kind", "hosts", "rail", "bytes": size of the buffer
 * @job: gets a member "demands" or "all-to-all", as in a job's key
 * @err: message on failure
 *
 * Hosts are not looked up here. Bytes of a demand may be too many.
 */
int collective_expand(const json_t *collective, json_t *job,
		      struct srpol_error *err)
{
	static const char * const keys[] = {
		"kind", "hosts", "rail", "bytes", NULL
	};
	json_t *hosts = json_object_get(collective, "hosts");
	json_int_t rail, buffer;
	enum srpol_collective kind;
	char name[KIND_LEN];
	uint64_t bytes;
	int ret;

	if (!json_is_object(collective))
		return srpol_error_set(err, -EINVAL,
				       "\"collective\" is { kind, hosts, rail, bytes }");
	ret = words_check(collective, keys, " in \"collective\"", err) ?:
	      words_text(collective, "kind", "", name, sizeof(name), err) ?:
	      words_number(collective, "rail", 0, RAIL_MAX, 0, &rail, err) ?:
	      words_number(collective, "bytes", 1, BYTES_MAX, 0, &buffer,
			   err) ?:
	      check_hosts(hosts, err);
	if (ret)
		return ret;
	if (!srpol_collective_find(name, &kind))
		return srpol_error_set(err, -EINVAL,
				       "\"kind\" is none of all-reduce, all-gather, reduce-scatter, broadcast and all-to-all");
	if (!buffer)
		return srpol_error_set(err, -EINVAL, "\"bytes\" is missing");
	bytes = srpol_collective_bytes(kind, json_array_size(hosts), buffer);
	if (srpol_collective_to(kind) == SRPOL_TO_OTHERS)
		json_object_set_new(job, "all-to-all",
				    json_pack("{s:O, s:I, s:I}", "hosts", hosts,
					      "rail", rail, "bytes",
					      (json_int_t)bytes));
	else
		json_object_set_new(job, "demands",
				    to_next(hosts, srpol_collective_to(kind) ==
					    SRPOL_TO_NEXT, rail, bytes));
	return 0;
}
