// SPDX-License-Identifier: GPL-2.0
/*
 * srpol policy: SR policies.
 */
#include <string.h>

#include "srpol.h"

#define BUCKETS_MIN	128
#define THRESHOLD_MAX	1000000

static const char usage[] =
"Usage: srpol policy { add | replace | change } color N endpoint ADDR\n"
"                    [ name NAME ] [ bsid SID ] [ mode MODE ] [ buckets N ]\n"
"                    [ symmetric { on | off } ]\n"
"                    [ spray { round-robin | random } ]\n"
"                    [ flowlet-timeout TIME ]\n"
"                    [ threshold N ] [ dwell-time TIME ]\n"
"                    [ wait-to-restore TIME ]\n"
"                    [ backup-color N ] [ drop-upon-invalid { on | off } ]\n"
"                    [ origin { static | engine } ] [ CANDIDATE ]...\n"
"       srpol policy del color N endpoint ADDR\n"
"       srpol policy candidate { add | replace } color N endpoint ADDR\n"
"                        [ CANDIDATE-WORD ]...\n"
"       srpol policy candidate del color N endpoint ADDR WHICH\n"
"       srpol policy show [ color N ] [ endpoint ADDR ] [ NAME ]\n"
"CANDIDATE := candidate [ preference N ]\n"
"             [ protocol-origin { config | bgp | pcep } ]\n"
"             [ originator ASN:ADDR ] [ discriminator N ]\n"
"             [ candidate-name NAME ]\n"
"             { segment-list PATH [ weight N ] }...\n"
"MODE := { hash | weighted | active-backup | flowlet | spray | adaptive |\n"
"          on-congestion }\n"
"        hash and weighted are the same: weights count in every mode\n"
"TIME := NUMBER{ ns | us | ms | s }\n"
"CANDIDATE-WORD is a word of CANDIDATE after \"candidate\"; the other candidate\n"
"paths of the policy stay. WHICH := { preference N | candidate-name NAME |\n"
"discriminator N }, and has to match exactly one.\n"
"Endpoint :: is the null endpoint: the policy for destinations without one.\n";

#define KEY_STRLEN	(SRPOL_ADDR_STRLEN + 32)

static const struct time_range up_to_an_hour = { 0, 3600000 };

static bool read_buckets(struct args *args, uint32_t *n)
{
	const char *word;

	if (!read_word(args, "buckets", &word))
		return false;
	if (parse_u32(word, SRPOL_BUCKETS_MAX, n) && *n >= BUCKETS_MIN &&
	    !(*n & (*n - 1)))
		return true;
	complain("buckets: \"%s\" is not a power of two from %u to %u", word,
		 BUCKETS_MIN, SRPOL_BUCKETS_MAX);
	return false;
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr addr;
	const char *word;
	uint32_t v;

	if (keyword(args, "name"))
		return read_label(args, "name", &word) &&
		       srpol_msg_put(msg, SRPOL_A_POLICY_NAME,
				     strlen(word) + 1, word);
	if (keyword(args, "bsid"))
		return read_addr6(args, "bsid", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_POLICY_BSID, sizeof(addr),
				     &addr);
	if (keyword(args, "mode"))
		return read_name(args, "mode", srpol_modes, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_MODE, v);
	if (keyword(args, "symmetric"))
		return read_name(args, "symmetric", srpol_switches, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_SYMMETRIC, v);
	if (keyword(args, "spray"))
		return read_name(args, "spray", srpol_sprays, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_SPRAY, v);
	if (keyword(args, "flowlet-timeout"))
		return read_time(args, "flowlet-timeout", NSEC,
				 (struct time_range){ 1, UINT32_MAX }, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_FLOWLET_TIMEOUT, v);
	if (keyword(args, "threshold"))
		return read_number(args, "threshold", 1, THRESHOLD_MAX, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_THRESHOLD, v);
	if (keyword(args, "dwell-time"))
		return read_time(args, "dwell-time", MSEC, up_to_an_hour,
				 &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_DWELL_TIME, v);
	if (keyword(args, "wait-to-restore"))
		return read_time(args, "wait-to-restore", MSEC, up_to_an_hour,
				 &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_WAIT_TO_RESTORE, v);
	if (keyword(args, "buckets"))
		return read_buckets(args, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_BUCKETS, v);
	if (keyword(args, "backup-color"))
		return read_u32(args, "backup-color", UINT32_MAX, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_BACKUP_COLOR, v);
	if (keyword(args, "drop-upon-invalid"))
		return read_name(args, "drop-upon-invalid", srpol_switches, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_DROP_UPON_INVALID, v);
	if (keyword(args, "origin"))
		return read_name(args, "origin", srpol_origins, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_POLICY_ORIGIN, v);
	if (is(args, "candidate"))
		return put_candidate(msg, args);
	return unknown(args);
}

/* Reads color and endpoint, in either order. Both are optional here. */
static bool read_key(struct args *args, bool *has_color, uint32_t *color,
		     bool *has_endpoint, struct in6_addr *endpoint)
{
	*has_color = false;
	*has_endpoint = false;
	for (;;) {
		if (keyword(args, "color")) {
			if (!read_id(args, "color", color))
				return false;
			*has_color = true;
		} else if (keyword(args, "endpoint")) {
			if (!read_addr(args, "endpoint", endpoint))
				return false;
			*has_endpoint = true;
		} else {
			return true;
		}
	}
}

/**
 * read_policy_key() - read color and endpoint, which are both required
 * @args: words
 * @color: result
 * @endpoint: result
 *
 * Return: false after an error message.
 */
bool read_policy_key(struct args *args, uint32_t *color,
		     struct in6_addr *endpoint)
{
	bool has_color, has_endpoint;

	if (!read_key(args, &has_color, color, &has_endpoint, endpoint))
		return false;
	if (has_color && has_endpoint)
		return true;
	complain("a policy is named by \"color N endpoint ADDR\"");
	return false;
}

/**
 * put_policy_key() - add the attributes that identify a policy
 * @msg: the request
 * @color: its color
 * @endpoint: its endpoint
 */
bool put_policy_key(struct srpol_msg *msg, uint32_t color,
		    const struct in6_addr *endpoint)
{
	return srpol_msg_put_u32(msg, SRPOL_A_POLICY_COLOR, color) &&
	       srpol_msg_put(msg, SRPOL_A_POLICY_ENDPOINT, sizeof(*endpoint),
			     endpoint);
}

static bool put_key(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr endpoint;
	uint32_t color;

	return read_policy_key(args, &color, &endpoint) &&
	       put_policy_key(msg, color, &endpoint);
}

static int policy_set(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_POLICY_NEW, flags);
	if (!put_key(&msg, args))
		return EXIT_USAGE;
	while (more(args))
		if (!put_keyword(&msg, args))
			return EXIT_USAGE;
	return send_request(&msg);
}

static int policy_del(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_POLICY_DEL, 0);
	if (!put_key(&msg, args))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	return send_request(&msg);
}

/* Prints a segment list of a candidate path, with its SIDs and next hop. */
static void print_list(const struct list_info *list, const struct vec *paths)
{
	const struct path_info *path = find_path(paths, list->path);
	char buf[SRPOL_ADDR_STRLEN];
	uint32_t i;

	out_object(NULL);
	out_uint("path", "\n\t\tsegment-list %llu", list->path);
	out_string("name", path && path->name[0] ? " (%s)" : NULL,
		   path ? path->name : "");
	out_uint("weight", " weight %llu", list->weight);
	out_string("state", " %s",
		   srpol_name_of(srpol_policy_states, list->state));
	out_string("reason", list->reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_policy_reasons, list->reason));
	out_string("path_reason",
		   list->reason == SRPOL_POLICY_REASON_PATH_NOT_UP ? ": %s" :
		   NULL, path ? srpol_name_of(srpol_path_reasons,
					      path->reason) : "");
	out_uint("buckets", " buckets %llu", list->buckets);
	out_text(" segs ");
	out_array("segments");
	for (i = 0; path && i < path->n_sids; i++)
		out_string(NULL, i ? ",%s" : "%s",
			   srpol_addr_text(&path->sids[i], buf));
	out_array_end();
	out_string("dev", path && path->out_ifindex ? " dev %s" : NULL,
		   path && path->out_ifindex ? dev_name(path->out_ifindex) :
		   "");
	out_string("via", path && path->resolved ? " via %s" : NULL,
		   path && path->resolved ?
		   srpol_addr_text(&path->out_via, buf) : "");
	out_object_end();
}

static void print_candidate(const struct candidate_info *cand,
			    const struct vec *paths)
{
	char buf[SRPOL_ADDR_STRLEN];
	bool originator;
	uint32_t i;

	out_object(NULL);
	out_uint("preference", "\n\tcandidate preference %llu",
		 cand->preference);
	out_string("protocol_origin", " protocol-origin %s",
		   srpol_name_of(srpol_protocol_origins,
				 cand->protocol_origin));
	originator = cand->asn || !IN6_IS_ADDR_UNSPECIFIED(&cand->node);
	out_uint("asn", originator ? " originator %llu" : NULL, cand->asn);
	out_string("node", originator ? ":%s" : NULL,
		   srpol_addr_text(&cand->node, buf));
	out_uint("discriminator", " discriminator %llu",
		 cand->discriminator);
	out_string("name", cand->name[0] ? " candidate-name %s" : NULL, cand->name);
	out_bool("active", " active", cand->active);
	out_string("state", cand->active ? NULL : " %s",
		   srpol_name_of(srpol_policy_states, cand->state));
	out_string("reason", cand->reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_policy_reasons, cand->reason));
	out_array("segment_lists");
	for (i = 0; i < cand->n_lists; i++)
		print_list(&cand->lists[i], paths);
	out_array_end();
	out_object_end();
}

/*
 * Text only has the options that the policy's mode uses. A rule may choose
 * another mode, so JSON has all of them.
 */
static void print_mode_options(const struct policy_info *policy)
{
	bool hashes = policy->mode != SRPOL_LB_MODE_ACTIVE_BACKUP;
	bool quality = policy->mode == SRPOL_LB_MODE_ADAPTIVE;
	bool gaps = quality || policy->mode == SRPOL_LB_MODE_FLOWLET;
	bool holds = policy->mode == SRPOL_LB_MODE_ACTIVE_BACKUP ||
		     policy->mode == SRPOL_LB_MODE_ON_CONGESTION;

	out_bool("symmetric", hashes ? " symmetric on" : NULL,
		 policy->symmetric);
	out_string("spray", policy->mode == SRPOL_LB_MODE_SPRAY ? " spray %s" :
		   NULL, srpol_name_of(srpol_sprays, policy->spray));
	out_uint("flowlet_timeout_ns", gaps ? " flowlet-timeout %lluns" : NULL, policy->flowlet_timeout);
	out_uint("threshold", quality ? " threshold %llu" : NULL,
		 policy->threshold);
	out_uint("dwell_time_ms", quality ? " dwell-time %llums" : NULL,
		 policy->dwell_time);
	out_uint("wait_to_restore_ms", holds ? " wait-to-restore %llums" : NULL,
		 policy->wait_to_restore);
}

void print_policy(const struct policy_info *policy, const struct vec *paths)
{
	char buf[SRPOL_ADDR_STRLEN];
	uint32_t i;

	out_object(NULL);
	out_uint("color", "policy color %llu", policy->color);
	out_string("endpoint", " endpoint %s",
		   srpol_addr_text(&policy->endpoint, buf));
	out_string("name", policy->name[0] ? " name %s" : NULL, policy->name);
	out_string("bsid", policy->has_bsid ? " bsid %s" : NULL,
		   policy->has_bsid ? srpol_addr_text(&policy->bsid, buf) :
		   "");
	out_string("origin", policy->origin ? " origin %s" : NULL,
		   srpol_name_of(srpol_origins, policy->origin));
	out_string("state", " %s",
		   srpol_name_of(srpol_policy_states, policy->state));
	out_string("reason", policy->reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_policy_reasons, policy->reason));
	out_string("mode", "\n\tmode %s",
		   srpol_name_of(srpol_modes, policy->mode));
	print_mode_options(policy);
	out_uint("buckets", " buckets %llu", policy->buckets);
	out_bool("drop_upon_invalid", " drop-upon-invalid on",
		 policy->drop_upon_invalid);
	if (policy->backup_color)
		out_uint("backup_color", " backup-color %llu",
			 policy->backup_color);
	out_uint("id", NULL, policy->id);
	if (show_stats) {
		out_object("stats");
		print_counter("policy_stats", policy->id);
		print_errors(SRPOL_ERROR_POLICY, policy->id);
		out_object_end();
	}
	out_array("candidates");
	for (i = 0; i < policy->n_candidates; i++)
		print_candidate(&policy->candidates[i], paths);
	out_array_end();
	out_text("\n");
	out_object_end();
}

/* Writes those that are given. */
static const char *key_text(const uint32_t *color, const struct in6_addr *endpoint,
			    char *buf)
{
	char addr[SRPOL_ADDR_STRLEN];
	size_t len = 0;

	buf[0] = '\0';
	if (color)
		len = snprintf(buf, KEY_STRLEN, " color %u", *color);
	if (endpoint)
		snprintf(buf + len, KEY_STRLEN - len, " endpoint %s",
			 srpol_addr_text(endpoint, addr));
	return buf;
}

static int policy_show(struct args *args, unsigned int flags)
{
	struct vec policies = VEC_INIT(struct policy_info);
	struct vec paths = VEC_INIT(struct path_info);
	const struct policy_info *policy;
	bool has_color, has_endpoint;
	const char *name = NULL;
	struct in6_addr endpoint;
	char key[KEY_STRLEN];
	unsigned int n = 0;
	uint32_t color;
	int err;

	if (!read_key(args, &has_color, &color, &has_endpoint, &endpoint))
		return EXIT_USAGE;
	if ((is(args, "name") || more(args)) && !read_word(args, "name", &name))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_policies(&policies) ?: fetch_paths(&paths);
	if (err)
		return err;
	out_begin();
	vec_for_each(policy, &policies) {
		if ((has_color && policy->color != color) ||
		    (name && strcmp(policy->name, name)) ||
		    (has_endpoint && memcmp(&policy->endpoint, &endpoint,
					    sizeof(endpoint))))
			continue;
		print_policy(policy, &paths);
		n++;
	}
	err = out_found(n, has_color || has_endpoint || name, "no policy has%s%s%s%s",
			key_text(has_color ? &color : NULL,
				 has_endpoint ? &endpoint : NULL, key),
			name ? " name \"" : "", name ?: "", name ? "\"" : "");
	vec_free(&policies);
	vec_free(&paths);
	return err;
}

int do_policy(struct args *args)
{
	static const struct command commands[] = {
		{ "add", policy_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", policy_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", policy_set, NLM_F_REPLACE },
		{ "delete", policy_del, 0 },
		{ "show", policy_show, 0 },
		{ "candidate", policy_candidate, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
