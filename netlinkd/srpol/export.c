// SPDX-License-Identifier: GPL-2.0
/*
 * srpol export: the configuration in several forms. In form srpol it is
 * commands that "srpol replace -f" reads. The other forms are for a switch or a
 * host that encapsulates by itself; each states what it cannot express.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "defaults.h"
#include "export.h"

#define SAVE_DIR	"/etc/srpol"

static const char usage[] =
"Usage: srpol export { srpol | frr | sonic | iproute2 | rte-flow }\n"
"       srpol export gobgp target ADDRESS\n"
"srpol     commands for srpol -batch and srpol replace -f\n"
"frr       segment lists and policies for vtysh\n"
"sonic     SRV6_SID_LIST, SRV6_POLICY, SRV6_MY_LOCATORS and SRV6_MY_SIDS of\n"
"          CONFIG_DB, as JSON\n"
"iproute2  routes with seg6 encapsulation, and seg6local routes\n"
"rte-flow  active policies as rules of DPDK's testpmd, for a NIC that encapsulates\n"
"gobgp     policies as BGP SR-policy routes (RFC 9830) for the headend of this BGP\n"
"          identifier: requests of GoBGP's API, binary\n";

static const char save_usage[] =
"Usage: srpol save [ FILE ]\n"
"Writes what \"srpol export srpol\" prints to FILE, by default\n"
SAVE_DIR "/NETNS.srpol, which srpol@NETNS.service restores at boot.\n";

#define PATH_LEN	256

/* Prints a keyword and a name, quoted as a word of a command line. */
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

/* Names of devices may have any character but spaces and slashes. */
static void device_name(const char *key, const char *name)
{
	if (strpbrk(name, "'\"\\#"))
		word(key, name);
	else
		printf(" %s %s", key, name);
}

static void device(uint32_t ifindex, const char *name)
{
	device_name("dev", set_dev_name(ifindex, name));
}

static void origin(uint32_t value)
{
	if (value)
		printf(" origin %s", srpol_name_of(srpol_origins, value));
}

static void prefixes(const char *key, const struct prefix_list *list)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		printf("%s%s%s", i ? "," : key, i ? "" : " ",
		       prefix(&list->entry[i].prefix, list->entry[i].len));
	if (list->n)
		putchar(' ');
}

/* Prints the settings that differ from their defaults, if there are any. */
static void srpol_config(const struct config_info *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = stdout;

	stdout = open_memstream(&text, &len);
	if (!stdout)
		exit(EXIT_REFUSED);
	if (!IN6_IS_ADDR_UNSPECIFIED(&c->src))
		printf("src %s ", addr(&c->src));
	if (c->hop_limit != HOP_LIMIT_DEFAULT)
		printf("hop-limit %u ", c->hop_limit);
	if (c->dscp_mode == SRPOL_DSCP_MODE_PIPE)
		printf("dscp pipe %u ", c->dscp);
	if (c->flow_label != SRPOL_FLOW_LABEL_HASH_QP)
		printf("flow-label %s ",
		       srpol_name_of(srpol_flow_labels, c->flow_label));
	if (!c->icmp_errors)
		printf("icmp-errors off ");
	if (c->retry_interval != RETRY_INTERVAL_DEFAULT)
		printf("retry-interval %ums ", c->retry_interval);
	if (c->path_id != SRPOL_PATH_ID_NONE)
		printf("path-id %s ", srpol_name_of(srpol_path_ids,
						     c->path_id));
	if (c->psn_observer)
		printf("psn-observer on ");
	if (!c->remembered_routes)
		printf("remembered-routes off ");
	if (c->drop_events != DROP_EVENTS_DEFAULT)
		printf("drop-events %u ", c->drop_events);
	prefixes("sr-domain", &c->domain);
	prefixes("sr-source", &c->source);
	prefixes("report-from", &c->report_from);
	fclose(stdout);
	stdout = out;
	if (len)
		printf("config set %.*s\n", (int)len - 1, text);
	free(text);
}

static void srpol_path(const struct path_info *path)
{
	uint32_t i, j;

	printf("path add %u", path->id);
	word("name", path->name);
	for (i = 0; i < path->n_sids; i++)
		printf("%s%s", i ? "," : " segs ", addr(&path->sids[i]));
	if (path->block_len)
		printf(" usid-block %s/%u", addr(&path->block),
		       path->block_len);
	if (path->block_len && path->csid_len != SRPOL_CSID_LEN_DEFAULT)
		printf(" usid-len %u", path->csid_len);
	if (path->encap != SRPOL_ENCAP_REDUCED)
		printf(" encap %s", srpol_name_of(srpol_encaps, path->encap));
	if (path->has_src)
		printf(" src %s", addr(&path->src));
	if (path->ifindex)
		device(path->ifindex, path->ifname);
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

static void srpol_candidate(const struct candidate_info *cand,
			    uint32_t position)
{
	uint32_t i;

	printf(" candidate");
	if (cand->preference != PREFERENCE_DEFAULT)
		printf(" preference %u", cand->preference);
	if (cand->protocol_origin != SRPOL_PROTOCOL_ORIGIN_CONFIG)
		printf(" protocol-origin %s",
		       srpol_name_of(srpol_protocol_origins,
				     cand->protocol_origin));
	if (cand->asn || !IN6_IS_ADDR_UNSPECIFIED(&cand->node))
		printf(" originator %u:%s", cand->asn, addr(&cand->node));
	if (cand->discriminator != position)
		printf(" discriminator %u", cand->discriminator);
	word("candidate-name", cand->name);
	for (i = 0; i < cand->n_lists; i++) {
		printf(" segment-list %u", cand->lists[i].path);
		if (cand->lists[i].weight != 1)
			printf(" weight %u", cand->lists[i].weight);
	}
}

static void srpol_policy(const struct policy_info *p)
{
	uint32_t i;

	printf("policy add color %u endpoint %s", p->color,
	       addr(&p->endpoint));
	word("name", p->name);
	if (p->has_bsid)
		printf(" bsid %s", addr(&p->bsid));
	if (p->mode != SRPOL_LB_MODE_HASH)
		printf(" mode %s", srpol_name_of(srpol_modes, p->mode));
	if (p->symmetric)
		printf(" symmetric on");
	if (p->spray != SRPOL_SPRAY_ROUND_ROBIN)
		printf(" spray %s", srpol_name_of(srpol_sprays, p->spray));
	if (p->flowlet_timeout != FLOWLET_TIMEOUT_DEFAULT)
		printf(" flowlet-timeout %uns", p->flowlet_timeout);
	if (p->threshold != THRESHOLD_DEFAULT)
		printf(" threshold %u", p->threshold);
	if (p->dwell_time != DWELL_TIME_DEFAULT)
		printf(" dwell-time %ums", p->dwell_time);
	if (p->wait_to_restore != WAIT_TO_RESTORE_DEFAULT)
		printf(" wait-to-restore %ums", p->wait_to_restore);
	if (p->buckets != BUCKETS_DEFAULT)
		printf(" buckets %u", p->buckets);
	if (p->drop_upon_invalid)
		printf(" drop-upon-invalid on");
	if (p->backup_color)
		printf(" backup-color %u", p->backup_color);
	origin(p->origin);
	for (i = 0; i < p->n_candidates; i++)
		srpol_candidate(&p->candidates[i], i + 1);
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

/*
 * By path, as the number of a cgroup changes at a reboot. Nobody knows the path of one
 * that is gone; the module would refuse its number, and with it the whole file.
 */
static void rule_cgroup(uint64_t id)
{
	const char *path = cgroup_path(id);

	if (path)
		word("cgroup", path);
	else
		printf(" cgroup %llu", (unsigned long long)id);
}

static void rule_proto(uint32_t proto)
{
	const char *name = srpol_find_name(srpol_protos, proto);

	if (name)
		printf(" proto %s", name);
	else
		printf(" proto %u", proto);
}

static void srpol_rule(const struct rule_info *r)
{
	uint32_t m = r->match;

	if ((m & SRPOL_MATCH_CGROUP) && cgroup_is_gone(r->cgroup))
		printf("# its control group is gone: ");
	printf("rule add prio %u", r->priority);
	word("name", r->name);
	if (m & SRPOL_MATCH_DEV)
		device(r->ifindex, r->ifname);
	if (m & SRPOL_MATCH_MARK)
		printf(" mark 0x%x/0x%x", r->mark, r->mark_mask);
	if (m & SRPOL_MATCH_VLAN)
		printf(" vlan %u", r->vlan);
	if (m & SRPOL_MATCH_CGROUP)
		rule_cgroup(r->cgroup);
	if (m & SRPOL_MATCH_SRC)
		printf(" src %s", prefix(&r->src, r->src_len));
	if (m & SRPOL_MATCH_DST)
		printf(" dst %s", prefix(&r->dst, r->dst_len));
	if (m & SRPOL_MATCH_PROTO)
		rule_proto(r->proto);
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
	if (r->path)
		printf(" path %u", r->path);
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
	if (sid->block_len && sid->block_len != SRPOL_BLOCK_LEN_DEFAULT)
		printf(" block-len %u", sid->block_len);
	if (sid->ifindex)
		device(sid->ifindex, sid->ifname);
	if (sid->has_via)
		printf(" via %s", addr(&sid->via));
	if (sid->decaps && sid->dscp_mode != SRPOL_DSCP_MODE_PIPE)
		printf(" dscp %s",
		       srpol_name_of(srpol_dscp_modes, sid->dscp_mode));
	origin(sid->origin);
	puts("");
}

static void srpol_host(const struct dev_info *dev)
{
	struct srpol_host_port h;
	unsigned int i;

	if (srpol_host_read(dev->ifindex, &h))
		return;
	for (i = 0; i < h.n_addrs; i++)
		printf(" address %s", prefix(&h.addrs[i].addr,
					     h.addrs[i].len));
	for (i = 0; i < h.n_prefixes; i++)
		printf(" prefix %s", prefix(&h.prefixes[i].addr,
					    h.prefixes[i].len));
	device_name("peer", h.peer);
	printf(" mtu %u", dev->mtu);
	if (h.table)
		printf(" table %u", h.table);
}

static void srpol_dev(const struct dev_info *dev)
{
	printf("dev");
	device_name("add", dev_name(dev->ifindex));
	printf(" role %s", srpol_name_of(srpol_dev_roles, dev->role));
	if (dev->role == SRPOL_DEV_ROLE_HOST)
		srpol_host(dev);
	if (dev->role != SRPOL_DEV_ROLE_UPLINK)
		printf(" source %s", srpol_name_of(srpol_source_checks,
						   dev->source));
	if (dev->xdp_mode != SRPOL_XDP_MODE_AUTO)
		printf(" xdp %s", srpol_name_of(srpol_xdp_modes,
						 dev->xdp_mode));
	puts("");
}

/*
 * Is this the port of a pod, which the CNI plugin adds and deletes? One of a bridge it
 * only adds, but the bridge often comes with its first pod.
 */
static bool is_pods_port(const struct all *all, const struct dev_info *dev)
{
	const struct rule_info *rule;

	vec_for_each(rule, &all->rules)
		if (rule_is_pods(rule) && rule->match & SRPOL_MATCH_DEV &&
		    rule->ifindex == dev->ifindex)
			return dev->role == SRPOL_DEV_ROLE_PORT;
	return false;
}

/* Leaves out rules and ports of pods, which would not fit later pods. */
static void export_srpol(const struct all *all)
{
	const struct endpoint_info *ep;
	const struct policy_info *policy;
	const struct rule_info *rule;
	const struct path_info *path;
	const struct sid_info *sid;
	const struct dev_info *dev;

	srpol_config(&all->config);
	/* virtual ports first: other lines may name their devices */
	vec_for_each(dev, &all->devs)
		if (dev->role == SRPOL_DEV_ROLE_HOST)
			srpol_dev(dev);
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
	/* a binding SID is part of its policy */
	vec_for_each(sid, &all->sids)
		if (!sid->color)
			srpol_sid(sid);
	vec_for_each(rule, &all->rules)
		if (!rule_is_pods(rule))
			srpol_rule(rule);
	vec_for_each(dev, &all->devs) {
		if (dev->role == SRPOL_DEV_ROLE_HOST)
			continue;
		if (is_pods_port(all, dev)) {
			/* one of a bridge may be there for others, too */
			if (!srpol_dev_is_bridge(dev->ifindex))
				continue;
			printf("# pods are at it: ");
		}
		srpol_dev(dev);
	}
}

/* What others have added to a virtual port is saved with it. */
static int check_hosts(const struct all *all)
{
	const struct dev_info *dev;
	struct srpol_host_port h;

	vec_for_each(dev, &all->devs)
		if (dev->role == SRPOL_DEV_ROLE_HOST &&
		    !srpol_host_read(dev->ifindex, &h) && h.more)
			return complain("%s has more than %u addresses or %u prefixes, which are the most that can be saved",
					h.name, SRPOL_HOST_ADDRS, SRPOL_HOST_PREFIXES),
			       EXIT_REFUSED;
	return EXIT_OK;
}

/**
 * do_export() - srpol export
 * @args: name of the form, and its options
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
		{ "rte-flow", export_rte_flow },
		{ "gobgp", NULL },
	};
	const char *form = more(args) ? next(args) : "srpol", *target = NULL;
	struct all all;
	size_t i;
	int err;

	if (!strcmp(form, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(form, forms[i].name))
			break;
	if (!strcmp(form, "gobgp") && !read_gobgp_target(args, &target))
		return EXIT_USAGE;
	if (i == ARRAY_SIZE(forms)) {
		fputs(usage, stderr);
		return complain("\"%s\" is not a form of export", form);
	}
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_all(&all);
	all.target = target;
	if (!err && i == 0)
		err = check_hosts(&all);
	if (!err && target)
		err = export_gobgp(&all);
	else if (!err)
		forms[i].run(&all);
	free_all(&all);
	return err;
}

/*
 * Replaces the file as a whole, or not at all. Others may save it at the same time, so
 * each writes to a file of its own first.
 */
static int save_to(const char *path, const struct all *all)
{
	FILE *out = stdout;
	int err = 0;
	char *new;

	if (asprintf(&new, "%s.%d.new", path, getpid()) < 0)
		return -ENOMEM;
	stdout = fopen(new, "we");
	if (!stdout) {
		err = -errno;
		stdout = out;
		free(new);
		return err;
	}
	printf("# saved by srpol save; read by srpol replace -f\n");
	export_srpol(all);
	if (fflush(stdout) || fsync(fileno(stdout)))
		err = -errno;
	/* it may have been full in the middle alone */
	else if (ferror(stdout))
		err = -EIO;
	if (fclose(stdout) && !err)
		err = -errno;
	stdout = out;
	if (!err && rename(new, path))
		err = -errno;
	if (err)
		unlink(new);
	free(new);
	return err;
}

/*
 * What a link leads to is replaced, not the link. Anything else, /dev/null say, must not
 * become a file.
 */
static int save_at(const char *path, const struct all *all)
{
	char real[PATH_MAX];
	struct stat st;
	int err;

	if (lstat(path, &st) && errno == ENOENT)
		snprintf(real, sizeof(real), "%s", path);
	else if (!realpath(path, real) || stat(real, &st))
		return complain("%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		return complain("%s is not a file: \"srpol export\" writes to standard output",
				path);
	err = save_to(real, all);
	return err ? complain("%s: %s", path, strerror(-err)) : EXIT_OK;
}

/**
 * do_save() - srpol save
 * @args: name of the file, optional
 *
 * Return: an EXIT_*.
 */
int do_save(struct args *args)
{
	char path[PATH_LEN + sizeof(SAVE_DIR) + 8], name[PATH_LEN];
	const char *to = path;
	struct all all;
	int err;

	if (is(args, "help")) {
		fputs(save_usage, stdout);
		return EXIT_OK;
	}
	err = srpol_netns_name(name, sizeof(name));
	if (err)
		return refused(err, NULL);
	snprintf(path, sizeof(path), SAVE_DIR "/%s.srpol", name);
	if (is(args, "-"))
		return complain("save writes a file, \"srpol export\" writes to standard output");
	if (more(args))
		to = next(args);
	else if (mkdir(SAVE_DIR, 0755) && errno != EEXIST)
		return complain(SAVE_DIR ": %s", strerror(errno)), EXIT_REFUSED;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_all(&all) ?: check_hosts(&all) ?: save_at(to, &all);
	free_all(&all);
	return err ? EXIT_REFUSED : EXIT_OK;
}
