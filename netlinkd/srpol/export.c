// SPDX-License-Identifier: GPL-2.0
/*
 * srpol export: the configuration in other words. As srpol commands it is what
 * "srpol replace -f" reads. The other forms are for a switch or a host that
 * does the encapsulation itself; each says what it can not express.
 */
#include <string.h>

#include "export.h"

static const char usage[] =
"Usage: srpol export { srpol | frr | sonic | iproute2 }\n"
"srpol     commands for srpol -batch and srpol replace -f\n"
"frr       segment lists and policies for vtysh\n"
"sonic     SRV6_SID_LIST, SRV6_POLICY, SRV6_MY_LOCATORS and SRV6_MY_SIDS of\n"
"          CONFIG_DB, as JSON\n"
"iproute2  routes with seg6 encapsulation, and seg6local routes\n";

/* A name as a word of a command line. */
static void word(const char *key, const char *s)
{
	if (!*s)
		return;
	printf(" %s '", key);
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\"'\"'", stdout);
		else
			putchar(*s);
	putchar('\'');
}

static void origin(uint32_t value)
{
	if (value)
		printf(" origin %s", srpol_name_of(srpol_origins, value));
}

static void prefixes(const char *key, const struct prefix_list *list)
{
	uint32_t i;

	printf(" %s%s", key, list->n ? "" : " none");
	for (i = 0; i < list->n; i++)
		printf("%s%s", i ? "," : " ",
		       prefix(&list->entry[i].prefix, list->entry[i].len));
}

static void srpol_config(const struct config_info *c)
{
	printf("config set src %s hop-limit %u dscp %s",
	       IN6_IS_ADDR_UNSPECIFIED(&c->src) ? "auto" : addr(&c->src),
	       c->hop_limit, srpol_name_of(srpol_dscp_modes, c->dscp_mode));
	if (c->dscp_mode == SRPOL_DSCP_MODE_PIPE)
		printf(" %u", c->dscp);
	printf(" flow-label %s icmp-errors %s retry-interval %ums path-id %s",
	       srpol_name_of(srpol_flow_labels, c->flow_label),
	       srpol_name_of(srpol_switches, c->icmp_errors), c->retry_interval,
	       srpol_name_of(srpol_path_ids, c->path_id));
	printf(" psn-observer %s drop-events %u",
	       srpol_name_of(srpol_switches, c->psn_observer),
	       c->drop_events);
	prefixes("sr-domain", &c->domain);
	prefixes("sr-source", &c->source);
	prefixes("report-from", &c->report_from);
	puts("");
}

static void srpol_path(const struct path_info *path)
{
	uint32_t i, j;

	printf("path add %u", path->id);
	word("name", path->name);
	for (i = 0; i < path->n_sids; i++)
		printf("%s%s", i ? "," : " segs ", addr(&path->sids[i]));
	if (path->block_len)
		printf(" usid-block %s/%u usid-len %u", addr(&path->block),
		       path->block_len, path->csid_len);
	printf(" encap %s", srpol_name_of(srpol_encaps, path->encap));
	if (path->has_src)
		printf(" src %s", addr(&path->src));
	if (path->ifindex)
		printf(" dev %s", dev_name(path->ifindex));
	if (path->has_via)
		printf(" via %s", addr(&path->via));
	for (i = 0; i < path->n_tlvs; i++) {
		printf(" tlv %u:", path->tlvs[i].type);
		for (j = 0; j < path->tlvs[i].len; j++)
			printf("%02x", path->tlvs[i].value[j]);
	}
	if (path->timestamp)
		printf(" timestamp on");
	if (path->admin_down)
		printf(" admin down");
	origin(path->origin);
	puts("");
}

static void srpol_candidate(const struct candidate_info *cand)
{
	uint32_t i;

	printf(" candidate preference %u protocol-origin %s", cand->preference,
	       srpol_name_of(srpol_protocol_origins, cand->protocol_origin));
	if (cand->asn || !IN6_IS_ADDR_UNSPECIFIED(&cand->node))
		printf(" originator %u:%s", cand->asn, addr(&cand->node));
	printf(" discriminator %u", cand->discriminator);
	word("candidate-name", cand->name);
	for (i = 0; i < cand->n_lists; i++)
		printf(" segment-list %u weight %u", cand->lists[i].path,
		       cand->lists[i].weight);
}

static void srpol_policy(const struct policy_info *p)
{
	uint32_t i;

	printf("policy add color %u endpoint %s", p->color,
	       addr(&p->endpoint));
	word("name", p->name);
	if (p->has_bsid)
		printf(" bsid %s", addr(&p->bsid));
	printf(" mode %s symmetric %s spray %s flowlet-timeout %uns threshold %u",
	       srpol_name_of(srpol_modes, p->mode),
	       srpol_name_of(srpol_switches, p->symmetric),
	       srpol_name_of(srpol_sprays, p->spray), p->flowlet_timeout, p->threshold);
	printf(" dwell-time %ums wait-to-restore %ums buckets %u drop-upon-invalid %s",
	       p->dwell_time, p->wait_to_restore, p->buckets,
	       srpol_name_of(srpol_switches, p->drop_upon_invalid));
	if (p->backup_color)
		printf(" backup-color %u", p->backup_color);
	origin(p->origin);
	for (i = 0; i < p->n_candidates; i++)
		srpol_candidate(&p->candidates[i]);
	puts("");
}

static void range(const char *key, const uint32_t *r)
{
	printf(" %s %u", key, r[0]);
	if (r[0] != r[1])
		printf("-%u", r[1]);
}

static void srpol_opcodes(const uint64_t *set)
{
	const char *sep = " opcode ";
	unsigned int i;

	for (i = 0; i < SRPOL_OPCODES; i++) {
		if (!(set[i / 64] & 1ull << i % 64))
			continue;
		printf("%s0x%02x", sep, i);
		sep = ",";
	}
}

static void srpol_rule(const struct rule_info *r)
{
	uint32_t m = r->match;

	printf("rule add prio %u", r->priority);
	word("name", r->name);
	if (m & SRPOL_MATCH_DEV)
		printf(" dev %s", dev_name(r->ifindex));
	if (m & SRPOL_MATCH_MARK)
		printf(" mark 0x%x/0x%x", r->mark, r->mark_mask);
	if (m & SRPOL_MATCH_VLAN)
		printf(" vlan %u", r->vlan);
	if (m & SRPOL_MATCH_CGROUP)
		printf(" cgroup %llu", (unsigned long long)r->cgroup);
	if (m & SRPOL_MATCH_SRC)
		printf(" src %s", prefix(&r->src, r->src_len));
	if (m & SRPOL_MATCH_DST)
		printf(" dst %s", prefix(&r->dst, r->dst_len));
	if (m & SRPOL_MATCH_PROTO)
		printf(" proto %u", r->proto);
	if (m & SRPOL_MATCH_SPORT)
		range("sport", r->sport);
	if (m & SRPOL_MATCH_DPORT)
		range("dport", r->dport);
	if (m & SRPOL_MATCH_QP)
		range("qp", r->qp);
	if (m & SRPOL_MATCH_OPCODE)
		srpol_opcodes(r->opcodes);
	if (m & SRPOL_MATCH_DSCP)
		printf(" dscp %u", r->dscp);
	if (m & SRPOL_MATCH_PKEY)
		printf(" pkey 0x%x", r->pkey);
	if (r->ordering)
		printf(" ordering %s", srpol_name_of(srpol_orderings,
						     r->ordering));
	if (r->has_mode)
		printf(" mode %s", srpol_name_of(srpol_modes, r->mode));
	if (r->action == SRPOL_RULE_ACTION_STEER)
		printf(" color %u", r->color);
	else
		printf(" bypass");
	origin(r->origin);
	puts("");
}

static void srpol_sid(const struct sid_info *sid)
{
	printf("sid add %s behavior %s", prefix(&sid->sid, sid->prefix_len),
	       srpol_name_of(srpol_behaviors, sid->behavior));
	if (sid->block_len)
		printf(" block-len %u", sid->block_len);
	if (sid->ifindex)
		printf(" dev %s", dev_name(sid->ifindex));
	if (sid->has_via)
		printf(" via %s", addr(&sid->via));
	origin(sid->origin);
	puts("");
}

static void export_srpol(const struct all *all)
{
	const struct endpoint_info *ep;
	const struct policy_info *policy;
	const struct rule_info *rule;
	const struct path_info *path;
	const struct sid_info *sid;
	const struct dev_info *dev;

	srpol_config(&all->config);
	vec_for_each(path, &all->paths)
		srpol_path(path);
	vec_for_each(policy, &all->policies)
		srpol_policy(policy);
	vec_for_each(ep, &all->endpoints) {
		printf("endpoint add %s to %s", prefix(&ep->prefix, ep->len),
		       addr(&ep->address));
		origin(ep->origin);
		puts("");
	}
	vec_for_each(sid, &all->sids)
		srpol_sid(sid);
	vec_for_each(rule, &all->rules)
		srpol_rule(rule);
	vec_for_each(dev, &all->devs)
		printf("dev add %s role %s xdp %s\n", dev_name(dev->ifindex),
		       srpol_name_of(srpol_dev_roles, dev->role),
		       srpol_name_of(srpol_xdp_modes, dev->xdp_mode));
}

/**
 * do_export() - srpol export
 * @args: the form
 *
 * Return: an EXIT_*.
 */
int do_export(struct args *args)
{
	static const struct {
		const char *name;
		void (*run)(const struct all *all);
	} forms[] = {
		{ "srpol", export_srpol },
		{ "frr", export_frr },
		{ "sonic", export_sonic },
		{ "iproute2", export_iproute2 },
	};
	struct all all = {
		.paths = VEC_INIT(struct path_info),
		.policies = VEC_INIT(struct policy_info),
		.rules = VEC_INIT(struct rule_info),
		.endpoints = VEC_INIT(struct endpoint_info),
		.sids = VEC_INIT(struct sid_info),
		.devs = VEC_INIT(struct dev_info),
	};
	const char *form = more(args) ? next(args) : "srpol";
	size_t i;
	int err;

	if (!strcmp(form, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(form, forms[i].name))
			break;
	if (i == ARRAY_SIZE(forms) || more(args)) {
		fputs(usage, stderr);
		return complain("\"%s\" is not a form of export", form);
	}
	err = fetch_config(&all.config) ?: fetch_paths(&all.paths) ?:
	      fetch_policies(&all.policies) ?: fetch_rules(&all.rules) ?:
	      fetch_endpoints(&all.endpoints) ?: fetch_sids(&all.sids) ?:
	      fetch_devs(&all.devs);
	if (!err)
		forms[i].run(&all);
	vec_free(&all.paths);
	vec_free(&all.policies);
	vec_free(&all.rules);
	vec_free(&all.endpoints);
	vec_free(&all.sids);
	vec_free(&all.devs);
	return err;
}
