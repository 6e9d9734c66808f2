// SPDX-License-Identifier: GPL-2.0
/*
 * Candidate paths: reads their words, and changes one without restating the
 * policy.
 *
 * The module takes all candidate paths of a policy at once. To change one, all
 * are read, and sent back with the change and with the revision that was read.
 * The module refuses this if someone else has changed the policy in between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

/* Reads ASN:ADDR. */
static bool put_originator(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr node;
	const char *word, *colon;
	char number[16];
	uint32_t asn;

	if (!read_word(args, "originator", &word))
		return false;
	colon = strchrnul(word, ':');
	snprintf(number, sizeof(number), "%.*s", (int)(colon - word), word);
	if (*colon && colon - word < (ptrdiff_t)sizeof(number) &&
	    parse_u32(number, UINT32_MAX, &asn) &&
	    srpol_addr_parse(colon + 1, &node))
		return srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_ASN, asn) &&
		       srpol_msg_put(msg, SRPOL_A_CANDIDATE_NODE,
				     sizeof(node), &node);
	complain("originator: \"%s\" is not ASN:ADDR", word);
	return false;
}

static bool put_list(struct srpol_msg *msg, struct args *args)
{
	struct nlattr *nest = srpol_msg_nest(msg, SRPOL_A_CANDIDATE_SEGMENT_LIST);
	uint32_t v;

	if (!nest || !read_path_id(args, "segment-list", &v) ||
	    !srpol_msg_put_u32(msg, SRPOL_A_SEGMENT_LIST_PATH, v))
		return false;
	if (is(args, "weight") &&
	    (!read_u32(args, "weight", UINT16_MAX, &v) ||
	     !srpol_msg_put_u32(msg, SRPOL_A_SEGMENT_LIST_WEIGHT, v)))
		return false;
	srpol_msg_nest_end(msg, nest);
	return true;
}

static bool put_candidate_keyword(struct srpol_msg *msg, struct args *args,
				  bool *known)
{
	const char *word;
	uint32_t v;

	*known = true;
	if (keyword(args, "preference"))
		return read_u32(args, "preference", UINT32_MAX, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_PREFERENCE,
					 v);
	if (keyword(args, "protocol-origin"))
		return read_name(args, "protocol-origin", srpol_protocol_origins,
				 &v) &&
		       srpol_msg_put_u32(msg,
					 SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN, v);
	if (keyword(args, "originator"))
		return put_originator(msg, args);
	if (keyword(args, "discriminator"))
		return read_u32(args, "discriminator", UINT32_MAX, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_DISCRIMINATOR,
					 v);
	if (keyword(args, "candidate-name"))
		return read_label(args, "candidate-name", &word) &&
		       srpol_msg_put(msg, SRPOL_A_CANDIDATE_NAME,
				     strlen(word) + 1, word);
	if (is(args, "segment-list"))
		return put_list(msg, args);
	*known = false;
	return true;
}

/**
 * put_candidate() - read the words after "candidate" into a nested attribute
 * @msg: the request
 * @args: words; those that are not part of a candidate path are left
 *
 * Return: false after an error message.
 */
bool put_candidate(struct srpol_msg *msg, struct args *args)
{
	struct nlattr *nest = srpol_msg_nest(msg, SRPOL_A_POLICY_CANDIDATE);
	unsigned int n_seen = args->n_seen;
	bool known = true;

	if (!nest)
		return false;
	while (known && more(args))
		if (!put_candidate_keyword(msg, args, &known))
			return false;
	srpol_msg_nest_end(msg, nest);
	/* the next candidate path may have the same keywords again */
	args->n_seen = n_seen;
	return true;
}

static bool put_listed(struct srpol_msg *msg, const struct list_info *list)
{
	struct nlattr *nest = srpol_msg_nest(msg,
					     SRPOL_A_CANDIDATE_SEGMENT_LIST);

	if (!nest || !srpol_msg_put_u32(msg, SRPOL_A_SEGMENT_LIST_PATH,
					list->path) ||
	    !srpol_msg_put_u32(msg, SRPOL_A_SEGMENT_LIST_WEIGHT, list->weight))
		return false;
	srpol_msg_nest_end(msg, nest);
	return true;
}

/* Adds an existing candidate path unchanged. */
static bool put_present(struct srpol_msg *msg,
			const struct candidate_info *cand)
{
	struct nlattr *nest = srpol_msg_nest(msg, SRPOL_A_POLICY_CANDIDATE);
	uint32_t i;

	if (!nest || !srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_PREFERENCE,
					cand->preference) ||
	    !srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN,
			       cand->protocol_origin) ||
	    !srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_ASN, cand->asn) ||
	    !srpol_msg_put(msg, SRPOL_A_CANDIDATE_NODE, sizeof(cand->node),
			   &cand->node) ||
	    !srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_DISCRIMINATOR,
			       cand->discriminator) ||
	    !srpol_msg_put(msg, SRPOL_A_CANDIDATE_NAME,
			   strlen(cand->name) + 1, cand->name))
		return false;
	for (i = 0; i < cand->n_lists; i++)
		if (!put_listed(msg, &cand->lists[i]))
			return false;
	srpol_msg_nest_end(msg, nest);
	return true;
}

/**
 * struct which - identifies candidate paths of a policy
 */
struct which {
	bool has_preference;
	bool has_discriminator;
	uint32_t preference;
	uint32_t discriminator;
	const char *name;
};

static bool is_which(const struct which *w, const struct candidate_info *cand)
{
	return (!w->has_preference || w->preference == cand->preference) &&
	       (!w->has_discriminator ||
		w->discriminator == cand->discriminator) &&
	       (!w->name || !strcmp(w->name, cand->name));
}

/*
 * Looks for the words that identify a candidate path, without taking them: they
 * are part of the new candidate path as well, where what is wrong with them is told.
 * Each keyword has one value, which may be a keyword itself.
 */
static void find_which(const struct args *line, struct which *which)
{
	struct args args = *line;
	const char *word, *value;

	memset(which, 0, sizeof(*which));
	while ((word = next(&args)) && (value = next(&args))) {
		if (!strcmp(word, "preference"))
			which->has_preference = parse_u32(value, UINT32_MAX,
							  &which->preference);
		else if (!strcmp(word, "discriminator"))
			which->has_discriminator =
				parse_u32(value, UINT32_MAX,
					  &which->discriminator);
		else if (!strcmp(word, "candidate-name"))
			which->name = value;
	}
}

/* Takes the words that identify the candidate path to be deleted, and no others. */
static bool read_which(struct args *args, struct which *which)
{
	memset(which, 0, sizeof(*which));
	while (more(args)) {
		if (keyword(args, "preference")) {
			which->has_preference = true;
			if (!read_u32(args, "preference", UINT32_MAX,
				      &which->preference))
				return false;
		} else if (keyword(args, "discriminator")) {
			which->has_discriminator = true;
			if (!read_u32(args, "discriminator", UINT32_MAX,
				      &which->discriminator))
				return false;
		} else if (keyword(args, "candidate-name")) {
			if (!read_word(args, "candidate-name", &which->name))
				return false;
		} else {
			return unknown(args);
		}
	}
	return true;
}

static const struct policy_info *get_policy(struct vec *policies,
					    uint32_t color,
					    const struct in6_addr *endpoint)
{
	const struct policy_info *policy;
	char buf[SRPOL_ADDR_STRLEN];

	vec_free(policies);
	if (fetch_policies(policies))
		return NULL;
	vec_for_each(policy, policies)
		if (policy->color == color &&
		    !memcmp(&policy->endpoint, endpoint, sizeof(*endpoint)))
			return policy;
	complain("no policy has color %u and endpoint %s", color,
		 srpol_addr_text(endpoint, buf));
	return NULL;
}

/*
 * Adds the candidate paths that stay; returns how many are replaced or deleted.
 */
static unsigned int put_others(struct srpol_msg *msg,
			       const struct policy_info *policy,
			       const struct which *which, bool *fits)
{
	unsigned int gone = 0;
	uint32_t i;

	*fits = true;
	for (i = 0; i < policy->n_candidates; i++) {
		if (which && is_which(which, &policy->candidates[i]))
			gone++;
		else if (!put_present(msg, &policy->candidates[i]))
			*fits = false;
	}
	return gone;
}

/*
 * Adds all that a policy has beside candidate paths. A change without a candidate path
 * leaves them as they are: to have none, the policy is replaced.
 */
static bool put_settings(struct srpol_msg *msg, const struct policy_info *p)
{
	const struct {
		uint16_t attr;
		uint32_t value;
	} settings[] = {
		{ SRPOL_A_POLICY_ORIGIN, p->origin },
		{ SRPOL_A_POLICY_MODE, p->mode },
		{ SRPOL_A_POLICY_SYMMETRIC, p->symmetric },
		{ SRPOL_A_POLICY_SPRAY, p->spray },
		{ SRPOL_A_POLICY_FLOWLET_TIMEOUT, p->flowlet_timeout },
		{ SRPOL_A_POLICY_THRESHOLD, p->threshold },
		{ SRPOL_A_POLICY_DWELL_TIME, p->dwell_time },
		{ SRPOL_A_POLICY_WAIT_TO_RESTORE, p->wait_to_restore },
		{ SRPOL_A_POLICY_BUCKETS, p->buckets },
		{ SRPOL_A_POLICY_BACKUP_COLOR, p->backup_color },
		{ SRPOL_A_POLICY_DROP_UPON_INVALID, p->drop_upon_invalid },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (!srpol_msg_put_u32(msg, settings[i].attr, settings[i].value))
			return false;
	return (!p->name[0] || srpol_msg_put(msg, SRPOL_A_POLICY_NAME,
					     strlen(p->name) + 1, p->name)) &&
	       (!p->has_bsid || srpol_msg_put(msg, SRPOL_A_POLICY_BSID, sizeof(p->bsid),
					      &p->bsid));
}

/* The discriminator of the replaced candidate path, else one that is unused. */
static uint32_t new_discriminator(const struct policy_info *policy,
				  const struct which *which)
{
	uint32_t top = 0, i;

	for (i = 0; i < policy->n_candidates; i++) {
		if (which && is_which(which, &policy->candidates[i]))
			return policy->candidates[i].discriminator;
		if (policy->candidates[i].discriminator > top)
			top = policy->candidates[i].discriminator;
	}
	return top + 1;
}

/*
 * Adds the new candidate path, which is the last one of the policy, with this
 * discriminator unless its words give one.
 */
static bool put_new(struct srpol_msg *msg, struct args *args,
		    const struct which *which, uint32_t discriminator)
{
	struct nlattr *nest = srpol_msg_nest(msg, SRPOL_A_POLICY_CANDIDATE);
	bool known = true;

	if (!nest)
		return false;
	while (more(args)) {
		if (!put_candidate_keyword(msg, args, &known))
			return false;
		if (!known)
			return unknown(args);
	}
	if (!which->has_discriminator &&
	    !srpol_msg_put_u32(msg, SRPOL_A_CANDIDATE_DISCRIMINATOR,
			       discriminator))
		return false;
	srpol_msg_nest_end(msg, nest);
	return true;
}

/**
 * policy_candidate() - srpol policy candidate
 * @args: words with the command, the policy and the candidate path
 * @flags: not used
 *
 * Return: an EXIT_*.
 */
int policy_candidate(struct args *args, unsigned int flags)
{
	bool add = is(args, "add"), replace = !add && is(args, "replace");
	bool del = !add && !replace && (is(args, "del") || is(args, "delete"));
	struct vec policies = VEC_INIT(struct policy_info);
	const struct policy_info *policy;
	struct in6_addr endpoint;
	struct which which;
	unsigned int gone;
	struct srpol_msg msg;
	uint32_t color;
	bool fits, last;
	int err;

	if (!add && !replace && !del)
		return complain("\"policy candidate\" takes add, replace or del, not \"%s\"",
				more(args) ? *args->argv : "");
	err = need_module();
	if (err)
		return err;
	if (!read_policy_key(args, &color, &endpoint))
		return EXIT_USAGE;
	if (!del)
		find_which(args, &which);
	else if (!read_which(args, &which))
		return EXIT_USAGE;
	if (!add && !which.has_preference && !which.has_discriminator &&
	    !which.name)
		return complain("which candidate path: preference N, candidate-name NAME or discriminator N");
	policy = get_policy(&policies, color, &endpoint);
	if (!policy)
		return EXIT_REFUSED;
	last = del && policy->n_candidates == 1;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_POLICY_NEW,
			last ? NLM_F_CREATE | NLM_F_REPLACE : NLM_F_REPLACE);
	put_policy_key(&msg, color, &endpoint);
	srpol_msg_put_u32(&msg, SRPOL_A_POLICY_REVISION, policy->revision);
	gone = put_others(&msg, policy, add ? NULL : &which, &fits);
	if (!add && gone != 1)
		err = complain("%u candidate paths of the policy match; name exactly one",
			       gone);
	else if (!fits || (last && !put_settings(&msg, policy)))
		err = complain("too many candidate paths");
	else if (!del &&
		 !put_new(&msg, args, &which,
			  new_discriminator(policy, add ? NULL : &which)))
		err = EXIT_USAGE;
	err = err ?: send_request(&msg);
	vec_free(&policies);
	return err;
}
