// SPDX-License-Identifier: GPL-2.0
/* srpol export for other software: FRR, SONiC, iproute2. */
#include <stdlib.h>
#include <string.h>

#include "export.h"

#define INDEX_STEP	10	/* numbering of SIDs in FRR and SONiC */
#define IP_WEIGHT_MAX	256	/* largest weight of a next hop */
#define SID_DEVICE	"srpol-sids"	/* for routes to SIDs */

/* Text of an address in a static buffer; the last four remain valid. */
const char *addr(const void *a)
{
	static char buf[4][SRPOL_ADDR_STRLEN];
	static unsigned int turn;

	turn = (turn + 1) % ARRAY_SIZE(buf);
	return srpol_addr_text(a, buf[turn]);
}

const char *prefix(const void *a, uint32_t len)
{
	static char buf[4][SRPOL_PREFIX_STRLEN];
	static unsigned int turn;

	turn = (turn + 1) % ARRAY_SIZE(buf);
	return srpol_prefix_text(a, len, buf[turn]);
}

static const char *list_name(uint32_t path)
{
	static char buf[32];

	snprintf(buf, sizeof(buf), "srpol-%u", path);
	return buf;
}

/* FRR takes one word as a name. */
static void frr_name(const char *name)
{
	printf("   name ");
	for (; *name; name++)
		putchar(*name == ' ' ? '-' : *name);
	putchar('\n');
}

/*
 * One candidate-path line per segment list: in SONiC's FRR, several of the same
 * preference share the traffic by weight. Upstream FRR keeps only one of them.
 */
static void frr_policy(const struct policy_info *policy)
{
	const struct candidate_info *cand;
	uint32_t i, j;

	printf("  policy color %u endpoint %s\n", policy->color,
	       addr(&policy->endpoint));
	if (policy->name[0])
		frr_name(policy->name);
	for (i = 0; i < policy->n_candidates; i++) {
		cand = &policy->candidates[i];
		for (j = 0; j < cand->n_lists; j++)
			printf("   candidate-path preference %u name c%u-%u explicit segment-list %s weight %u\n",
			       cand->preference, i + 1, j + 1,
			       list_name(cand->lists[j].path),
			       cand->lists[j].weight);
	}
	puts("  exit");
}

void export_frr(const struct all *all)
{
	const struct policy_info *policy;
	const struct path_info *path;
	uint32_t i;

	puts("! rules, modes and TLVs have no counterpart in FRR");
	puts("segment-routing\n traffic-eng");
	vec_for_each(path, &all->paths) {
		printf("  segment-list %s\n", list_name(path->id));
		for (i = 0; i < path->n_sids; i++)
			printf("   index %u ipv6-address %s\n",
			       (i + 1) * INDEX_STEP, addr(&path->sids[i]));
		puts("  exit");
	}
	vec_for_each(policy, &all->policies)
		frr_policy(policy);
	puts(" exit\nexit");
}

static void sonic_lists(const struct vec *paths)
{
	const struct path_info *path;
	char index[16];
	uint32_t i;

	out_object("SRV6_SID_LIST");
	vec_for_each(path, paths) {
		out_object(list_name(path->id));
		for (i = 0; i < path->n_sids; i++) {
			snprintf(index, sizeof(index), "%u",
				 (i + 1) * INDEX_STEP);
			out_string(index, NULL, addr(&path->sids[i]));
		}
		out_object_end();
	}
	out_object_end();
}

static void sonic_candidate(const struct policy_info *policy,
			    const struct candidate_info *cand, uint32_t nr)
{
	char key[128], weight[16];
	uint32_t j;

	for (j = 0; j < cand->n_lists; j++) {
		snprintf(key, sizeof(key), "%u|%s|%u|c%u-%u", policy->color,
			 addr(&policy->endpoint), cand->preference, nr, j + 1);
		snprintf(weight, sizeof(weight), "%u", cand->lists[j].weight);
		out_object(key);
		out_string("seg_name", NULL, list_name(cand->lists[j].path));
		out_string("weight", NULL, weight);
		out_object_end();
	}
}

static void sonic_policies(const struct vec *policies)
{
	const struct policy_info *policy;
	char key[128];
	uint32_t i;

	out_object("SRV6_POLICY");
	vec_for_each(policy, policies) {
		snprintf(key, sizeof(key), "%u|%s", policy->color,
			 addr(&policy->endpoint));
		out_object(key);
		if (policy->has_bsid)
			out_string("binding_sid", NULL, addr(&policy->bsid));
		if (policy->name[0])
			out_string("name", NULL, policy->name);
		out_object_end();
		for (i = 0; i < policy->n_candidates; i++)
			sonic_candidate(policy, &policy->candidates[i], i + 1);
	}
	out_object_end();
}

/* bgpcfgd supports only these two behaviors; other SIDs are left out. */
static const char *sonic_action(uint32_t behavior)
{
	switch (behavior) {
	case SRPOL_BEHAVIOR_UN:
		return "uN";
	case SRPOL_BEHAVIOR_UDT46:
		return "uDT46";
	default:
		return NULL;
	}
}

/*
 * A locator for each SID, as a SID does not tell where its locator ends: all
 * behind the block is the node. SONiC's defaults are 32 and 16 bits.
 */
static void sonic_locators(const struct vec *sids)
{
	const struct sid_info *sid;
	char name[32], len[16];

	out_object("SRV6_MY_LOCATORS");
	vec_for_each(sid, sids) {
		if (!sonic_action(sid->behavior))
			continue;
		snprintf(name, sizeof(name), "srpol-%u", sid->id);
		out_object(name);
		out_string("prefix", NULL, addr(&sid->sid));
		snprintf(len, sizeof(len), "%u", sid->block_len);
		out_string("block_len", NULL, len);
		snprintf(len, sizeof(len), "%u",
			 sid->prefix_len - sid->block_len);
		out_string("node_len", NULL, len);
		out_string("func_len", NULL, "0");
		out_object_end();
	}
	out_object_end();
}

static void sonic_sids(const struct vec *sids)
{
	const struct sid_info *sid;
	char key[128];

	out_object("SRV6_MY_SIDS");
	vec_for_each(sid, sids) {
		if (!sonic_action(sid->behavior))
			continue;
		snprintf(key, sizeof(key), "srpol-%u|%s/%u", sid->id,
			 addr(&sid->sid), sid->prefix_len);
		out_object(key);
		out_string("action", NULL, sonic_action(sid->behavior));
		out_string("decap_dscp_mode", NULL,
			   srpol_name_of(srpol_dscp_modes, sid->decaps ?
					 sid->dscp_mode :
					 SRPOL_DSCP_MODE_PIPE));
		out_object_end();
	}
	out_object_end();
}

void export_sonic(const struct all *all)
{
	out_options.json = true;
	out_options.pretty = true;
	out_begin_object();
	sonic_lists(&all->paths);
	sonic_policies(&all->policies);
	sonic_locators(&all->sids);
	sonic_sids(&all->sids);
	out_end();
}

/* Prints a word of a command line for a shell: a device may have almost any name. */
static void shell_word(const char *word)
{
	if (word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@%+-")] ==
	    '\0') {
		printf("%s", word);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			printf("'\\''");
		else
			putchar(*word);
	putchar('\'');
}

/*
 * Prints a next hop. An IPv6 multipath route needs a gateway: the kernel takes
 * no device alone there.
 */
static void ip_nexthop(const struct path_info *path, bool many, bool v4,
		       uint32_t weight)
{
	const struct in6_addr *via = path->resolved ? &path->out_via :
				     path->has_via ? &path->via : NULL;
	uint32_t i;

	printf("%s encap seg6 mode encap%s segs ", many ? " nexthop" : "",
	       path->encap == SRPOL_ENCAP_REDUCED ? ".red" : "");
	for (i = 0; i < path->n_sids; i++)
		printf("%s%s", i ? "," : "", addr(&path->sids[i]));
	if (many && !v4 && via)
		printf(" via %s", addr(via));
	if (path->out_ifindex) {
		printf(" dev ");
		shell_word(dev_name(path->out_ifindex));
	}
	if (many)
		printf(" weight %u", weight);
}

/*
 * Scales a weight so that the largest one is IP_WEIGHT_MAX, if that is
 * exceeded.
 */
static uint32_t ip_weight(const struct candidate_info *cand, uint32_t weight)
{
	uint32_t most = 0, i;
	uint64_t part;

	for (i = 0; i < cand->n_lists; i++)
		if (cand->lists[i].weight > most)
			most = cand->lists[i].weight;
	if (most <= IP_WEIGHT_MAX)
		return weight;
	part = ((uint64_t)weight * IP_WEIGHT_MAX + most / 2) / most;
	return part ?: 1;
}

/* Says of a segment list that it cannot be used now, as no route would find out. */
static bool ip_is_down(const struct path_info *path)
{
	if (path->state == SRPOL_PATH_STATE_UP)
		return false;
	printf("# segment list %u left out: %s\n", path->id,
	       srpol_name_of(srpol_path_reasons, path->reason));
	return true;
}

/*
 * Packets are looked up again once they are encapsulated: says that a route would lead
 * these to itself, which that to a locator, if it is longer, does not let happen.
 */
static bool ip_is_circular(const struct endpoint_info *ep,
			   const struct policy_info *policy, const struct vec *paths)
{
	const struct path_info *path;

	vec_for_each(path, paths) {
		if (!srpol_addr_in_prefix(&path->sids[0], &ep->prefix, ep->len))
			continue;
		printf("# no route to %s for color %u, the first SID of segment list %u is there%s\n",
		       prefix(&ep->prefix, ep->len), policy->color, path->id,
		       ep->len == 128 ? "" : "; if that has a longer route:");
		return true;
	}
	return false;
}

/* Prints the active candidate path of a policy as a route to the prefix. */
static void ip_route(const struct endpoint_info *ep,
		     const struct policy_info *policy, const struct vec *paths)
{
	const struct candidate_info *cand = NULL;
	const struct path_info *path;
	bool v4 = IN6_IS_ADDR_V4MAPPED(&ep->prefix);
	uint32_t i, n = 0;
	bool is_circular = ip_is_circular(ep, policy, paths);
	bool *is_used;

	if (is_circular && ep->len == 128)
		return;
	for (i = 0; i < policy->n_candidates; i++)
		if (policy->candidates[i].active)
			cand = &policy->candidates[i];
	is_used = calloc(cand ? cand->n_lists + 1 : 1, sizeof(*is_used));
	if (!is_used)
		abort();
	for (i = 0; cand && i < cand->n_lists; i++) {
		path = find_path(paths, cand->lists[i].path);
		is_used[i] = path && cand->lists[i].weight && !ip_is_down(path);
		n += is_used[i];
	}
	if (n)
		printf("%sip %s route replace %s", is_circular ? "# " : "",
		       v4 ? "-4" : "-6", prefix(&ep->prefix, ep->len));
	else
		printf("# no route to %s: no segment list is up", prefix(&ep->prefix, ep->len));
	for (i = 0; cand && i < cand->n_lists; i++)
		if (is_used[i])
			ip_nexthop(find_path(paths, cand->lists[i].path), n > 1, v4,
				   ip_weight(cand, cand->lists[i].weight));
	printf(n ? " # color %u\n" : ", color %u\n", policy->color);
	free(is_used);
}

/* Name of a behavior in "ip route", NULL if the kernel does not have it. */
static const char *ip_action(const struct sid_info *sid)
{
	switch (sid->behavior) {
	case SRPOL_BEHAVIOR_END:
		return "End";
	case SRPOL_BEHAVIOR_END_PSP:
		return "End flavors psp";
	case SRPOL_BEHAVIOR_END_DT6:
		return "End.DT6 table 255";
	case SRPOL_BEHAVIOR_UN:
		return "End flavors next-csid";
	case SRPOL_BEHAVIOR_UN_PSP:
		return "End flavors next-csid,psp";
	default:
		return NULL;
	}
}

/*
 * A route to a SID needs a device, no matter which: but by lo, packets are rejected as
 * unreachable.
 */
static void ip_sid_device(void)
{
	puts("ip link show dev " SID_DEVICE " >/dev/null 2>&1 ||"
	     " ip link add " SID_DEVICE " type dummy");
	puts("ip link set " SID_DEVICE " up");
}

/* What seg6local does not do as srpol does it. */
static void ip_sid_lacks(const struct sid_info *sid)
{
	if (sid->behavior == SRPOL_BEHAVIOR_END_DT6)
		printf(" # only for addresses of this host");
	if (sid->decaps && sid->dscp_mode == SRPOL_DSCP_MODE_UNIFORM)
		printf(" # seg6local keeps the inner DSCP");
}

static void ip_sid(const struct sid_info *sid)
{
	const char *action = ip_action(sid);

	if (!action) {
		printf("# no seg6local route for %s %s\n",
		       srpol_name_of(srpol_behaviors, sid->behavior),
		       addr(&sid->sid));
		return;
	}
	printf("ip -6 route replace %s encap seg6local action %s",
	       prefix(&sid->sid, sid->prefix_len), action);
	if (sid->block_len)
		printf(" lblen %u nflen %u", sid->block_len,
		       sid->prefix_len - sid->block_len);
	printf(" dev " SID_DEVICE);
	ip_sid_lacks(sid);
	puts("");
}

/*
 * A policy's own endpoint is one of its destinations, unless a steering prefix says
 * otherwise; a route for all that has no other would be the default route.
 */
static void ip_own_route(const struct policy_info *policy, const struct all *all)
{
	struct endpoint_info own = { .prefix = policy->endpoint, .len = 128 };
	const struct endpoint_info *ep;

	if (IN6_IS_ADDR_UNSPECIFIED(&policy->endpoint)) {
		printf("# no route for color %u endpoint ::, it would be the default route\n",
		       policy->color);
		return;
	}
	vec_for_each(ep, &all->endpoints)
		if (ep->len == own.len &&
		    !memcmp(&ep->prefix, &own.prefix, sizeof(own.prefix)))
			return;
	ip_route(&own, policy, &all->paths);
}

void export_iproute2(const struct all *all)
{
	const struct endpoint_info *ep;
	const struct policy_info *policy;
	const struct sid_info *sid;
	bool has_sids = false;

	puts("# routes know no rules: of several colors the last one counts");
	puts("# weights above 256 are a part of the greatest one");
	if (!IN6_IS_ADDR_UNSPECIFIED(&all->config.src))
		printf("ip sr tunsrc set %s\n", addr(&all->config.src));
	vec_for_each(ep, &all->endpoints)
		vec_for_each(policy, &all->policies)
			if (!memcmp(&ep->address, &policy->endpoint,
				    sizeof(ep->address)))
				ip_route(ep, policy, &all->paths);
	vec_for_each(policy, &all->policies)
		ip_own_route(policy, all);
	vec_for_each(sid, &all->sids)
		has_sids |= ip_action(sid) != NULL;
	if (has_sids)
		ip_sid_device();
	vec_for_each(sid, &all->sids)
		ip_sid(sid);
}
