// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor: finds what keeps srpol from working on this host, and gives
 * advice.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "doctor.h"

static const char usage[] =
"Usage: srpol doctor\n"
"Exit status 0: nothing is in the way, 1: there are warnings, 2: errors.\n";

#define BPFFS_MAGIC	0xcafe4a11

static enum verdict worst;

/**
 * report() - print what a check has found
 * @verdict: how bad it is; the worst one is the exit status
 * @check: name of the check, or of the device
 * @advice: what to do about it, not printed if all is well
 * @fmt: what was found
 */
void report(enum verdict verdict, const char *check, const char *advice,
	    const char *fmt, ...)
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

/**
 * read_sysctl() - read a number below /proc/sys
 * @fmt: path, with %s for @name
 * @name: the device, or the file
 *
 * Return: the number, -1 if there is no such file.
 */
int read_sysctl(const char *fmt, const char *name)
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

/* What cannot be read is not checked, which is not to pass for well. */
static bool unread(int err)
{
	if (err)
		report(BAD, "module", "run srpol doctor again",
		       "it does not tell all of its configuration, which is not checked");
	return err;
}

static void report_orphan(const char *dir, void *data)
{
	if (strcmp(dir, data))
		report(WARNING, "pins",
		       "the next \"srpol dev add\" removes it, or: rm -r",
		       "%s was left by a deleted network namespace", dir);
}

static bool is_other_version(void)
{
	struct srpol_flow_table table;
	int ret = srpol_flows_open(&table);

	if (!ret)
		srpol_flows_close(&table);
	return ret == -EPROTONOSUPPORT || srpol_dp_check_layout(NULL);
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
	if (unread(fetch_config(&config)))
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

/* Is a policy the backup of another one? That asks for its endpoint, then for ::. */
static bool is_backup(const struct policy_info *policy,
		      const struct vec *policies)
{
	const struct policy_info *other;

	vec_for_each(other, policies)
		if (other->backup_color && other->backup_color == policy->color &&
		    (IN6_IS_ADDR_UNSPECIFIED(&policy->endpoint) ||
		     !memcmp(&other->endpoint, &policy->endpoint,
			     sizeof(other->endpoint))))
			return true;
	return false;
}

/*
 * A policy steers packets to its own endpoint. Destinations behind the endpoint
 * need a steering prefix.
 */
static void check_policy(const struct policy_info *policy,
			 const struct vec *policies, const struct vec *rules,
			 const struct vec *endpoints)
{
	bool led = IN6_IS_ADDR_UNSPECIFIED(&policy->endpoint), ruled = false;
	const struct endpoint_info *ep;
	const struct rule_info *rule;
	char buf[SRPOL_ADDR_STRLEN];

	vec_for_each(ep, endpoints)
		led |= !memcmp(&ep->address, &policy->endpoint,
			       sizeof(ep->address));
	vec_for_each(rule, rules)
		ruled |= rule->action == SRPOL_RULE_ACTION_STEER &&
			 rule->color == policy->color;
	srpol_addr_text(&policy->endpoint, buf);
	if (policy->state != SRPOL_POLICY_STATE_UP)
		report(WARNING, "policy", "srpol policy show",
		       "the policy of color %u to %s is down: %s",
		       policy->color, buf,
		       srpol_name_of(srpol_policy_reasons, policy->reason));
	if (!ruled && !policy->has_bsid && !is_backup(policy, policies))
		report(NOTE, "policy", "srpol rule add",
		       "no rule gives color %u, so nothing takes the policy to %s",
		       policy->color, buf);
	else if (ruled && !led)
		report(NOTE, "policy",
		       "srpol endpoint add PREFIX to the endpoint, if there are addresses behind it",
		       "the policy of color %u takes packets to %s itself only",
		       policy->color, buf);
}

/* Without a policy at its endpoint, a steering prefix is left to that of ::. */
static void check_prefix(const struct endpoint_info *ep,
			 const struct vec *policies)
{
	const struct policy_info *policy;
	char buf[SRPOL_PREFIX_STRLEN], to[SRPOL_ADDR_STRLEN];

	vec_for_each(policy, policies)
		if (IN6_IS_ADDR_UNSPECIFIED(&policy->endpoint) ||
		    !memcmp(&policy->endpoint, &ep->address,
			    sizeof(ep->address)))
			return;
	report(NOTE, "endpoint", "srpol policy add with that endpoint",
	       "the steering prefix %s leads to %s, where no policy is",
	       srpol_prefix_text(&ep->prefix, ep->len, buf),
	       srpol_addr_text(&ep->address, to));
}

static void check_steering(const struct vec *rules)
{
	struct vec endpoints = VEC_INIT(struct endpoint_info);
	struct vec policies = VEC_INIT(struct policy_info);
	const struct policy_info *policy;
	const struct endpoint_info *ep;

	if (!unread(fetch_policies(&policies) ?: fetch_endpoints(&endpoints))) {
		vec_for_each(policy, &policies)
			check_policy(policy, &policies, rules, &endpoints);
		vec_for_each(ep, &endpoints)
			check_prefix(ep, &policies);
	}
	vec_free(&policies);
	vec_free(&endpoints);
}

/* Local SIDs choose the way of packets, which not every sender is meant to. */
static void check_domain(const struct vec *sids)
{
	struct config_info config;

	if (sids->n && !unread(fetch_config(&config)) && !config.domain.n &&
	    !config.source.n)
		report(NOTE, "sr-domain",
		       "srpol config set sr-domain and sr-source, unless the fabric keeps packets of others from SIDs",
		       "packets to local SIDs are accepted from any source");
}

/* A control group that is made again, as when its service restarts, is another one. */
static void check_rule(const struct rule_info *rule)
{
	if (rule->reason)
		report(WARNING, "rule", "srpol rule show", "rule %u steers nothing: %s",
		       rule->priority, srpol_name_of(srpol_rule_reasons, rule->reason));
	if ((rule->match & SRPOL_MATCH_CGROUP) && cgroup_is_gone(rule->cgroup))
		report(WARNING, "rule", "srpol rule change prio N cgroup PATH",
		       "rule %u matches nothing: its control group is gone",
		       rule->priority);
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

	if (unread(fetch_paths(&paths) ?: fetch_rules(&rules) ?:
		   fetch_devs(&devs) ?: fetch_sids(&sids)))
		goto out;
	check_devices(&devs, &paths, &sids);
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
	check_engine(&paths);
	vec_for_each(rule, &rules)
		check_rule(rule);
	check_steering(&rules);
	check_domain(&sids);
	check_forwarding(&sids, &devs);
	check_kernel_sids(&sids);
	check_ip_rules(&devs);
	check_firewall(&devs);
out:
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
	/* a file of commands may have it twice */
	worst = GOOD;
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
