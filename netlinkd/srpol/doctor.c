// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor: finds what keeps srpol from working on this host, and gives
 * advice.
 */
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol doctor\n"
"Exit status 0: nothing is in the way, 1: there are warnings, 2: errors.\n";

#define BPFFS_MAGIC	0xcafe4a11
#define RDMA_OVERHEAD	96	/* RoCEv2 headers around a payload, rounded up */

enum verdict {
	GOOD,
	NOTE,
	WARNING,
	BAD,
};

static enum verdict worst;

__attribute__((format(printf, 4, 5)))
static void report(enum verdict verdict, const char *check,
		   const char *advice, const char *fmt, ...)
{
	static const char * const words[] = {
		"ok", "note", "warning", "error"
	};
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (verdict > worst)
		worst = verdict;
	if (verdict == GOOD)
		advice = "";
	out_object(NULL);
	out_string("check", "%-12s", check);
	out_string("verdict", " %-8s", words[verdict]);
	out_string("text", "%s", text);
	out_string("advice", advice[0] ? "\n\t-> %s" : NULL, advice);
	out_text("\n");
	out_object_end();
}

static void check_kernel(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	report(major > 6 || (major == 6 && minor >= 12) ? GOOD : BAD,
	       "kernel", "boot Linux 6.12 or later", "%s", u.release);
	report(access("/sys/kernel/btf/vmlinux", R_OK) ? BAD : GOOD, "btf",
	       "use a kernel with CONFIG_DEBUG_INFO_BTF",
	       "kernel type information%s",
	       access("/sys/kernel/btf/vmlinux", R_OK) ? " is missing" : "");
}

static bool check_module(void)
{
	struct srpol_error error = {};

	if (!genl.nl && srpol_genl_open(&genl, &error)) {
		report(BAD, "module", "modprobe srpol", "%s", error.text);
		return false;
	}
	report(access("/sys/kernel/btf/srpol", R_OK) ? BAD : GOOD, "module",
	       "build it with pahole installed, so that it has BTF",
	       "srpol is loaded%s", access("/sys/kernel/btf/srpol", R_OK) ?
	       " but without type information" : "");
	return true;
}

static void check_bpffs(void)
{
	struct statfs fs;
	bool there = !statfs("/sys/fs/bpf", &fs) && fs.f_type == BPFFS_MAGIC;

	report(there ? GOOD : WARNING, "bpffs",
	       "mount -t bpf bpf /sys/fs/bpf (srpol dev add tries to); inside \"ip netns exec\" use \"srpol -n NAME\" from outside instead",
	       there ? "/sys/fs/bpf is mounted" : "/sys/fs/bpf is not mounted");
}

static void report_orphan(const char *dir, void *data)
{
	if (strcmp(dir, data))
		report(WARNING, "pins",
		       "the next \"srpol dev add\" removes it, or: rm -r",
		       "%s was left by a network namespace that is gone", dir);
}

static bool is_other_version(void)
{
	struct srpol_flow_table table;
	int ret = srpol_flows_open(&table);

	if (!ret)
		srpol_flows_close(&table);
	return ret == -EPROTONOSUPPORT;
}

/*
 * The pinned data plane has to belong to this network namespace, and has to be
 * the one that the module writes to. Otherwise its programs would silently
 * forward by maps that nobody updates.
 */
static void check_pins(void)
{
	struct srpol_error error = {};
	struct srpol_dp_status st;
	struct config_info config;
	bool registered;

	if (srpol_dp_status(&st, &error)) {
		report(NOTE, "pins", "run srpol doctor as root", "%s",
		       error.text);
		return;
	}
	srpol_pins_orphans(report_orphan, st.dir);
	if (fetch_config(&config))
		return;
	registered = config.data_plane[0];
	if (st.stale)
		report(BAD, "pins", "the next \"srpol dev add\" removes it",
		       "%s was left by another network namespace of this name, or by an attempt that was interrupted",
		       st.dir);
	else if (!st.loaded && srpol_dp_dir_in_use(st.dir))
		report(BAD, "pins",
		       "srpol dev del each device, then srpol dev add",
		       "%s/link_dp is missing: programs forward by maps that the module does not write",
		       st.dir);
	else if (st.loaded && !registered)
		report(BAD, "pins",
		       "srpol dev del each device, then srpol dev add",
		       "%s is not registered with the module: programs forward by maps that it does not write",
		       st.dir);
	else if (st.loaded && is_other_version())
		report(BAD, "pins",
		       "srpol dev del each device, then srpol dev add",
		       "%s was loaded by another version of srpol", st.dir);
	else if (st.loaded)
		report(GOOD, "pins", "", "%s is what the module writes to",
		       st.dir);
	else if (registered)
		report(NOTE, "pins", "bpftool struct_ops list",
		       "a data plane that is not pinned below " SRPOL_PIN_ROOT
		       " is registered: %s", config.data_plane);
}

static int read_sysctl(const char *fmt, const char *name)
{
	char path[256], buf[32];
	FILE *file;
	int v = -1;

	snprintf(path, sizeof(path), fmt, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fgets(buf, sizeof(buf), file))
		v = atoi(buf);
	fclose(file);
	return v;
}

/* Decapsulated packets for other hosts need forwarding. */
static void check_forwarding(const struct vec *sids)
{
	const struct sid_info *sid;
	bool need6 = false, need4 = false;

	vec_for_each(sid, sids) {
		need6 |= sid->behavior != SRPOL_BEHAVIOR_END_DT4 &&
			 sid->behavior != SRPOL_BEHAVIOR_PROBE &&
			 sid->behavior != SRPOL_BEHAVIOR_REFLECT;
		need4 |= sid->behavior == SRPOL_BEHAVIOR_END_DT4 ||
			 sid->behavior == SRPOL_BEHAVIOR_END_DT46;
	}
	if (need6)
		report(read_sysctl("/proc/sys/net/ipv6/conf/%s/forwarding",
				   "all") > 0 ? GOOD : NOTE, "forwarding",
		       "sysctl net.ipv6.conf.all.forwarding=1, unless all decapsulated packets are for this host",
		       "IPv6, for local SIDs");
	if (need4)
		report(read_sysctl("/proc/sys/net/ipv4/%s", "ip_forward") > 0 ?
		       GOOD : NOTE, "forwarding",
		       "sysctl net.ipv4.ip_forward=1, unless all decapsulated packets are for this host",
		       "IPv4, for local SIDs");
}

static int effective(const char *fmt, const char *dev)
{
	int all = read_sysctl(fmt, "all"), one = read_sysctl(fmt, dev);

	return all > one ? all : one;
}

/*
 * Checks that a virtual port is as it was made: addresses may have been added
 * since that the data plane does not know, or paths with a smaller MTU.
 */
static void check_host(const struct dev_info *dev, const char *name,
		       const struct vec *paths)
{
	const struct path_info *path;
	struct srpol_host_port h;
	uint32_t inner = dev->mtu;
	char text[SRPOL_PREFIX_STRLEN];
	unsigned int i;

	if (srpol_host_read(dev->ifindex, &h))
		return;
	if (!h.n_addrs)
		report(WARNING, name, "srpol dev change with an address",
		       "a virtual port without an address");
	for (i = 0; i < h.n_addrs; i++)
		if (!srpol_dp_host_has(&h.addrs[i].addr))
			report(WARNING, name, "srpol dev change DEV",
			       "what comes for its address %s goes past it",
			       srpol_prefix_text(&h.addrs[i].addr,
						 h.addrs[i].len, text));
	if (!h.rule)
		report(WARNING, name, "srpol dev del, then srpol dev add",
		       "no rule keeps what srpol leaves alone from coming back to it in a circle: its other end, %s, was renamed, or \"ip rule iif %s\" was deleted",
		       h.peer, h.peer);
	vec_for_each(path, paths)
		if (path->mtu && path->mtu < inner)
			inner = path->mtu;
	if (inner < dev->mtu)
		report(WARNING, name,
		       "srpol dev del, then srpol dev add, with its applications stopped",
		       "MTU %u, but a path leaves %u for inner packets",
		       dev->mtu, inner);
}

#define SWEEP	"the next \"srpol dev\" add, change or del removes it"

static void report_stale(const char *peer, void *data)
{
	report(WARNING, "rules", SWEEP,
	       "\"ip rule iif %s\" was left by a virtual port that is gone",
	       peer);
}

/* Finds what is left of virtual ports that were not deleted by srpol. */
static void check_hosts_gone(void)
{
	srpol_host_stale(report_stale, NULL);
	if (srpol_dp_host_stale())
		report(WARNING, "addresses", SWEEP,
		       "what comes for an address of a virtual port that is gone is lost");
}

static void check_dev(const struct dev_info *dev, const struct vec *paths,
		      const struct vec *sids)
{
	const char *rp = "/proc/sys/net/ipv4/conf/%s/rp_filter";
	char name[IF_NAMESIZE] = "?";
	const struct path_info *path;
	bool host = dev->role == SRPOL_DEV_ROLE_HOST;
	bool port = dev->role == SRPOL_DEV_ROLE_PORT || host;
	struct srpol_dev_status st;
	unsigned int peer = 0;
	uint32_t inner = 0;
	int err;

	if_indextoname(dev->ifindex, name);
	if (host) {
		peer = srpol_host_peer(dev->ifindex);
		if (!peer)
			report(BAD, name, "srpol dev del, then srpol dev add",
			       "a virtual port whose other end is gone or in another namespace");
	}
	err = srpol_dp_dev_status(peer ?: dev->ifindex, &st);
	if (err)
		report(NOTE, name, "run srpol doctor as root",
		       "its programs may not be looked at");
	else
		report(st.tc_ingress && (port || (st.egress && st.ingress)) ?
		       GOOD : BAD, name,
		       "srpol dev del, then srpol dev add; see also: bpftool net show",
		       "programs attached: egress %s, ingress %s (XDP %s, TC %s)",
		       port ? "not needed" : st.egress ? "yes" : "NO",
		       st.tc_ingress && (port || st.ingress) ? "yes" : "NO",
		       st.xdp_mode, st.tc_ingress ? "yes" : "no");
	if (!err && port && st.ingress && srpol_dev_is_soft(dev->ifindex))
		report(WARNING, name, "srpol dev add with hook tc",
		       "XDP on a veth, tap or bridge loses checksums that are pending and tags in metadata");
	if (dev->role == SRPOL_DEV_ROLE_PORT && dev->source &&
	    !srpol_dev_forwards(dev->ifindex))
		report(WARNING, name,
		       "sysctl net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1, or srpol dev add with source none",
		       "sources are checked, but forwarding is off: what comes in is dropped in the family that does not forward");
	if (!err && !st.ingress && st.xdp_id)
		report(BAD, name, "detach it or run it elsewhere",
		       "XDP program %u belongs to someone else", st.xdp_id);
	if (host && peer)
		check_host(dev, name, paths);
	if (!dev->running)
		report(WARNING, name, "ip link set up, check the cable",
		       "device is down or has no carrier");
	if (sids->n && effective(rp, name) == 1)
		report(WARNING, name, "sysctl rp_filter to 0 or 2",
		       "strict reverse-path filter may drop decapsulated IPv4");
	vec_for_each(path, paths)
		if (path->out_ifindex == dev->ifindex && path->mtu &&
		    (!inner || path->mtu < inner))
			inner = path->mtu;
	if (inner)
		report(inner >= 1024 + RDMA_OVERHEAD && inner <= dev->mtu ?
		       GOOD : WARNING, name,
		       "raise the MTU of the fabric, or lower that of the workload",
		       "MTU %u leaves %u for inner packets: RDMA MTU %s",
		       dev->mtu, inner,
		       inner >= 4096 + RDMA_OVERHEAD ? "4096" :
		       inner >= 2048 + RDMA_OVERHEAD ? "2048" :
		       inner >= 1024 + RDMA_OVERHEAD ? "1024" : "below 1024");
}

/*
 * What XDP of a host port steers is sent by XDP transmission of the uplink, so
 * the uplink has to accept frames from XDP.
 */
static void check_ports(const struct vec *devs)
{
	const struct dev_info *dev;
	struct srpol_dev_status st;
	bool with_xdp = false;

	vec_for_each(dev, devs)
		with_xdp |= dev->role == SRPOL_DEV_ROLE_PORT &&
			    !srpol_dp_dev_status(dev->ifindex, &st) &&
			    st.ingress;
	vec_for_each(dev, devs) {
		if (!with_xdp || dev->role != SRPOL_DEV_ROLE_UPLINK ||
		    srpol_dev_takes_frames(dev->ifindex))
			continue;
		if (srpol_dp_by_xdp(dev->ifindex))
			report(WARNING, dev_name(dev->ifindex),
			       "srpol dev watch, or dev del and dev add of a host port, or of a veth: ethtool -K PEER gro on",
			       "takes no frames from XDP any more: what host ports steer to it there is lost");
		else
			report(NOTE, dev_name(dev->ifindex),
			       "of a veth: ethtool -K PEER gro on, then srpol dev del and dev add of a host port",
			       "takes no frames from XDP: what host ports steer to it goes by TC");
	}
}

/*
 * A policy steers packets to its own endpoint. Destinations behind the endpoint
 * need a steering prefix.
 */
static void check_steering(const struct vec *rules)
{
	struct vec endpoints = VEC_INIT(struct endpoint_info);
	struct vec policies = VEC_INIT(struct policy_info);
	const struct policy_info *policy;
	const struct endpoint_info *ep;
	const struct rule_info *rule;
	char buf[SRPOL_ADDR_STRLEN];
	bool wanted, led;

	if (fetch_policies(&policies) || fetch_endpoints(&endpoints))
		return;
	vec_for_each(policy, &policies) {
		led = IN6_IS_ADDR_UNSPECIFIED(&policy->endpoint);
		vec_for_each(ep, &endpoints)
			led |= !memcmp(&ep->address, &policy->endpoint,
				       sizeof(ep->address));
		wanted = false;
		vec_for_each(rule, rules)
			wanted |= rule->action == SRPOL_RULE_ACTION_STEER &&
				  rule->color == policy->color;
		srpol_addr_text(&policy->endpoint, buf);
		if (!wanted)
			report(NOTE, "policy", "srpol rule add",
			       "no rule gives color %u, so nothing takes the policy to %s",
			       policy->color, buf);
		else if (!led)
			report(NOTE, "policy",
			       "srpol endpoint add PREFIX to the endpoint, if there are addresses behind it",
			       "the policy of color %u takes packets to %s itself only",
			       policy->color, buf);
	}
	vec_free(&policies);
	vec_free(&endpoints);
}

/*
 * Checks the objects of the module: devices, SIDs, paths, rules and policies.
 */
static void check_objects(void)
{
	struct vec paths = VEC_INIT(struct path_info);
	struct vec rules = VEC_INIT(struct rule_info);
	struct vec devs = VEC_INIT(struct dev_info);
	struct vec sids = VEC_INIT(struct sid_info);
	const struct rule_info *rule;
	const struct path_info *path;
	const struct sid_info *sid;
	const struct dev_info *dev;

	if (fetch_paths(&paths) || fetch_rules(&rules) ||
	    fetch_devs(&devs) || fetch_sids(&sids))
		return;
	if (!devs.n)
		report(WARNING, "devices", "srpol dev add DEV role uplink",
		       "no uplink: no packet is steered or decapsulated");
	vec_for_each(dev, &devs)
		check_dev(dev, &paths, &sids);
	check_hosts_gone();
	check_ports(&devs);
	vec_for_each(sid, &sids)
		if (sid->state != SRPOL_PATH_STATE_UP)
			report(WARNING, "sid", "srpol sid show",
			       "the adjacency of a SID is not up: %s",
			       srpol_name_of(srpol_path_reasons, sid->reason));
	vec_for_each(path, &paths)
		if (path->state != SRPOL_PATH_STATE_UP)
			report(WARNING, "path", "srpol path show",
			       "path %u is not up: %s", path->id,
			       srpol_name_of(srpol_path_reasons,
					     path->reason));
	vec_for_each(rule, &rules)
		if (rule->reason)
			report(WARNING, "rule", "srpol rule show",
			       "rule %u steers nothing: %s", rule->priority,
			       srpol_name_of(srpol_rule_reasons,
					     rule->reason));
	check_steering(&rules);
	check_forwarding(&sids);
	vec_free(&paths);
	vec_free(&rules);
	vec_free(&devs);
	vec_free(&sids);
}

int do_doctor(struct args *args)
{
	if (is(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (more(args))
		return unknown(args), EXIT_USAGE;
	out_begin();
	check_kernel();
	check_bpffs();
	if (check_module()) {
		check_pins();
		check_objects();
	}
	out_end();
	return worst == BAD ? 2 : worst == WARNING;
}
