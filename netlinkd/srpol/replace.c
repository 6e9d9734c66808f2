// SPDX-License-Identifier: GPL-2.0
/*
 * srpol replace -f FILE: makes the configuration what a file says, in one
 * transaction. Static objects that are not in the file are deleted. Objects of
 * the engine and rules of pods stay, unless the file defines them.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "defaults.h"
#include "srpol.h"

static const char usage[] =
"Usage: srpol replace [ empty ] -f FILENAME\n"
"FILENAME holds commands \"path add\", \"policy add\", \"rule add\",\n"
"\"endpoint add\", \"sid add\", \"config set\" and \"dev add\", in any order, as\n"
"\"srpol export srpol\" prints them; \"-\" is standard input. Settings it does\n"
"not name get their defaults. Devices it names are attached afterwards, others\n"
"are left alone. A file without a single command is refused, as is the end of\n"
"a pipe whose writer failed, unless \"empty\" is given: then all is deleted.\n";

/**
 * struct wanted - a request read from the file
 * @nlh: copy of the request
 * @line: its line in the file
 */
struct wanted {
	struct nlmsghdr *nlh;
	unsigned int line;
};

static struct vec requests = VEC_INIT(struct wanted);
static struct vec devs = VEC_INIT(struct wanted_dev);

static int take_request(struct nlmsghdr *nlh)
{
	struct wanted *w;

	switch (srpol_msg_cmd(nlh)) {
	case SRPOL_CMD_PATH_NEW:
	case SRPOL_CMD_POLICY_NEW:
	case SRPOL_CMD_RULE_NEW:
	case SRPOL_CMD_ENDPOINT_NEW:
	case SRPOL_CMD_SID_NEW:
		if (!(nlh->nlmsg_flags & NLM_F_CREATE))
			return complain("the file says what there is to be, not what to change");
		nlh->nlmsg_flags &= ~NLM_F_EXCL;
		nlh->nlmsg_flags |= NLM_F_REPLACE;
		break;
	case SRPOL_CMD_CONFIG_SET:
		break;
	default:
		return complain("the file says what there is to be, not what to delete");
	}
	w = vec_add(&requests);
	w->line = batch_line();
	w->nlh = malloc(nlh->nlmsg_len);
	if (!w->nlh)
		return refused(-ENOMEM, NULL);
	memcpy(w->nlh, nlh, nlh->nlmsg_len);
	return EXIT_OK;
}

static int take_dev(const struct wanted_dev *dev)
{
	*(struct wanted_dev *)vec_add(&devs) = *dev;
	return EXIT_OK;
}

/* Identifies an object, and is compared byte by byte. */
struct key {
	uint32_t cmd;
	uint32_t number;
	uint8_t addr[16];
};

static uint32_t sid_prefix_len(uint32_t behavior)
{
	switch (behavior) {
	case SRPOL_BEHAVIOR_UA:
		return 64;
	case SRPOL_BEHAVIOR_UN:
	case SRPOL_BEHAVIOR_UN_PSP:
	case SRPOL_BEHAVIOR_UN_PSP_USD:
	case SRPOL_BEHAVIOR_UDT6:
	case SRPOL_BEHAVIOR_UDT4:
	case SRPOL_BEHAVIOR_UDT46:
		return 48;
	default:
		return 128;
	}
}

static void sid_key(const struct sid_info *sid, struct key *key)
{
	key->cmd = SRPOL_CMD_SID_NEW;
	key->number = sid->prefix_len ?: sid_prefix_len(sid->behavior);
	memcpy(key->addr, &sid->sid, sizeof(key->addr));
}

static void endpoint_key(const struct endpoint_info *ep, struct key *key)
{
	key->cmd = SRPOL_CMD_ENDPOINT_NEW;
	key->number = ep->len;
	memcpy(key->addr, &ep->prefix, sizeof(key->addr));
}

static void policy_key(const struct policy_info *policy, struct key *key)
{
	key->cmd = SRPOL_CMD_POLICY_NEW;
	key->number = policy->color;
	memcpy(key->addr, &policy->endpoint, sizeof(key->addr));
}

static void request_key(const struct nlmsghdr *nlh, struct key *key)
{
	static struct policy_info policy;
	struct endpoint_info endpoint;
	struct rule_info rule;
	struct path_info path;
	struct sid_info sid;

	memset(key, 0, sizeof(*key));
	key->cmd = srpol_msg_cmd(nlh);
	switch (key->cmd) {
	case SRPOL_CMD_PATH_NEW:
		read_path(nlh, &path);
		key->number = path.id;
		break;
	case SRPOL_CMD_POLICY_NEW:
		read_policy(nlh, &policy);
		policy_key(&policy, key);
		break;
	case SRPOL_CMD_RULE_NEW:
		read_rule(nlh, &rule);
		key->number = rule.priority;
		break;
	case SRPOL_CMD_ENDPOINT_NEW:
		read_endpoint(nlh, &endpoint);
		endpoint_key(&endpoint, key);
		break;
	case SRPOL_CMD_SID_NEW:
		read_sid(nlh, &sid);
		sid_key(&sid, key);
		break;
	}
}

/**
 * struct keyed - a request of the file with its key, which comes first
 */
struct keyed {
	struct key key;
	unsigned int line;
	const struct nlmsghdr *nlh;
};

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct key));
}

/* Sorts the keys; refuses an object that is defined twice. */
static int index_requests(struct vec *keys)
{
	const struct keyed *k, *prev = NULL;
	const struct wanted *w;
	struct keyed *new;

	vec_for_each(w, &requests) {
		if (srpol_msg_cmd(w->nlh) == SRPOL_CMD_CONFIG_SET)
			continue;
		new = vec_add(keys);
		request_key(w->nlh, &new->key);
		new->line = w->line;
		new->nlh = w->nlh;
	}
	if (keys->n)
		qsort(keys->data, keys->n, keys->size, by_key);
	vec_for_each(k, keys) {
		if (prev && !by_key(prev, k))
			return complain("lines %u and %u define the same object",
					prev->line < k->line ? prev->line :
					k->line, prev->line < k->line ?
					k->line : prev->line);
		prev = k;
	}
	return EXIT_OK;
}

static const struct keyed *in_file(const struct vec *keys,
				   const struct key *key)
{
	return keys->n ? bsearch(key, keys->data, keys->n, keys->size,
				 by_key) : NULL;
}

static int add_requests(uint8_t cmd)
{
	const struct wanted *w;
	int err;

	vec_for_each(w, &requests) {
		if (srpol_msg_cmd(w->nlh) != cmd)
			continue;
		err = batch_add(w->nlh, w->line);
		if (err)
			return err;
	}
	return EXIT_OK;
}

/* The last "config set" line that has an attribute of a type, NULL: none has. */
static const struct nlmsghdr *last_setting(uint16_t type)
{
	const struct nlmsghdr *last = NULL;
	const struct nlattr *attr;
	const struct wanted *w;

	vec_for_each(w, &requests) {
		if (srpol_msg_cmd(w->nlh) != SRPOL_CMD_CONFIG_SET)
			continue;
		mnl_attr_for_each(attr, w->nlh, GENL_HDRLEN)
			if (mnl_attr_get_type(attr) == type)
				last = w->nlh;
	}
	return last;
}

/* Copies the attributes of a type from a line. */
static bool copy_setting(struct srpol_msg *msg, const struct nlmsghdr *line,
			 uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, line, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == type &&
		    !srpol_msg_put(msg, attr->nla_type,
				   mnl_attr_get_payload_len(attr),
				   mnl_attr_get_payload(attr)))
			return false;
	return true;
}

/* Adds a number as the file has it, or else this one. */
static bool put_number(struct srpol_msg *msg, uint16_t type, uint32_t value)
{
	const struct nlmsghdr *line = last_setting(type);

	return line ? copy_setting(msg, line, type) :
		      srpol_msg_put_u32(msg, type, value);
}

static bool put_src(struct srpol_msg *msg)
{
	const struct nlmsghdr *line = last_setting(SRPOL_A_CONFIG_SRC);
	const struct in6_addr automatic = {};

	return line ? copy_setting(msg, line, SRPOL_A_CONFIG_SRC) :
	       srpol_msg_put(msg, SRPOL_A_CONFIG_SRC, sizeof(automatic),
			     &automatic);
}

/* The mode of the DSCP, with the value that belongs to it. */
static bool put_dscp(struct srpol_msg *msg)
{
	const struct nlmsghdr *line = last_setting(SRPOL_A_CONFIG_DSCP_MODE);

	return put_number(msg, SRPOL_A_CONFIG_DSCP_MODE,
			  SRPOL_DSCP_MODE_UNIFORM) &&
	       (!line || copy_setting(msg, line, SRPOL_A_CONFIG_DSCP));
}

/* Adds a list as the file has it, or else an empty one. */
static bool put_list(struct srpol_msg *msg, uint16_t type)
{
	const struct nlmsghdr *line = last_setting(type);
	struct nlattr *nest;

	if (line)
		return copy_setting(msg, line, type);
	nest = srpol_msg_nest(msg, type);
	if (nest)
		srpol_msg_nest_end(msg, nest);
	return nest;
}

/* Sets all settings in one request, so that none is reset temporarily. */
static int add_config(void)
{
	static const struct {
		uint16_t type;
		uint32_t value;
	} numbers[] = {
		{ SRPOL_A_CONFIG_HOP_LIMIT, HOP_LIMIT_DEFAULT },
		{ SRPOL_A_CONFIG_FLOW_LABEL, SRPOL_FLOW_LABEL_HASH_QP },
		{ SRPOL_A_CONFIG_ICMP_ERRORS, 1 },
		{ SRPOL_A_CONFIG_RETRY_INTERVAL, RETRY_INTERVAL_DEFAULT },
		{ SRPOL_A_CONFIG_PATH_ID, SRPOL_PATH_ID_NONE },
		{ SRPOL_A_CONFIG_PSN_OBSERVER, 0 },
		{ SRPOL_A_CONFIG_REMEMBERED_ROUTES, 1 },
		{ SRPOL_A_CONFIG_DROP_EVENTS, DROP_EVENTS_DEFAULT },
	};
	static const uint16_t lists[] = {
		SRPOL_A_CONFIG_SR_DOMAIN, SRPOL_A_CONFIG_SR_SOURCE,
		SRPOL_A_CONFIG_REPORT_FROM,
	};
	struct srpol_msg msg;
	bool fits;
	size_t i;

	srpol_msg_start(&genl, &msg, SRPOL_CMD_CONFIG_SET, 0);
	fits = put_src(&msg) && put_dscp(&msg);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		fits = fits && put_number(&msg, numbers[i].type,
					  numbers[i].value);
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		fits = fits && put_list(&msg, lists[i]);
	return fits ? batch_add(msg.nlh, 0) :
	       complain("the lists of prefixes have more than fits into a request");
}

static int del_rules(const struct vec *keys)
{
	struct vec rules = VEC_INIT(struct rule_info);
	const struct rule_info *rule;
	struct srpol_msg msg;
	int err = fetch_rules(&rules);

	vec_for_each(rule, &rules) {
		struct key key = { .cmd = SRPOL_CMD_RULE_NEW,
				   .number = rule->priority };

		if (err || rule->origin || rule_is_pods(rule) ||
		    in_file(keys, &key))
			continue;
		srpol_msg_start(&genl, &msg, SRPOL_CMD_RULE_DEL, 0);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_PRIORITY,
				  rule->priority);
		err = batch_add(msg.nlh, 0);
	}
	vec_free(&rules);
	return err;
}

static int del_endpoints(const struct vec *keys)
{
	struct vec endpoints = VEC_INIT(struct endpoint_info);
	const struct endpoint_info *ep;
	struct srpol_msg msg;
	int err = fetch_endpoints(&endpoints);

	vec_for_each(ep, &endpoints) {
		struct key key = {};

		endpoint_key(ep, &key);
		if (err || ep->origin || in_file(keys, &key))
			continue;
		srpol_msg_start(&genl, &msg, SRPOL_CMD_ENDPOINT_DEL, 0);
		srpol_msg_put(&msg, SRPOL_A_ENDPOINT_PREFIX,
			      sizeof(ep->prefix), &ep->prefix);
		srpol_msg_put_u32(&msg, SRPOL_A_ENDPOINT_PREFIX_LEN, ep->len);
		err = batch_add(msg.nlh, 0);
	}
	vec_free(&endpoints);
	return err;
}

/*
 * Does the file give the policy's binding SID to others? Then the policy is
 * deleted first, and added again by the file's request. As both are in one
 * transaction, packets see this as any other change.
 */
static bool gives_bsid_up(const struct policy_info *policy,
			  const struct nlmsghdr *wanted)
{
	static struct policy_info next;

	if (!policy->has_bsid)
		return false;
	read_policy(wanted, &next);
	return !next.has_bsid || memcmp(&next.bsid, &policy->bsid,
					sizeof(next.bsid));
}

static int del_policies(const struct vec *keys)
{
	struct vec policies = VEC_INIT(struct policy_info);
	const struct policy_info *policy;
	const struct keyed *wanted;
	struct srpol_msg msg;
	int err = fetch_policies(&policies);

	vec_for_each(policy, &policies) {
		struct key key = {};

		policy_key(policy, &key);
		wanted = in_file(keys, &key);
		if (err || policy->origin ||
		    (wanted && !gives_bsid_up(policy, wanted->nlh)))
			continue;
		srpol_msg_start(&genl, &msg, SRPOL_CMD_POLICY_DEL, 0);
		srpol_msg_put_u32(&msg, SRPOL_A_POLICY_COLOR, policy->color);
		srpol_msg_put(&msg, SRPOL_A_POLICY_ENDPOINT,
			      sizeof(policy->endpoint), &policy->endpoint);
		err = batch_add(msg.nlh, 0);
	}
	vec_free(&policies);
	return err;
}

static int del_paths(const struct vec *keys)
{
	struct vec paths = VEC_INIT(struct path_info);
	const struct path_info *path;
	struct srpol_msg msg;
	int err = fetch_paths(&paths);

	vec_for_each(path, &paths) {
		struct key key = { .cmd = SRPOL_CMD_PATH_NEW,
				   .number = path->id };

		if (err || path->origin || in_file(keys, &key))
			continue;
		srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_DEL, 0);
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, path->id);
		err = batch_add(msg.nlh, 0);
	}
	vec_free(&paths);
	return err;
}

static int del_sids(const struct vec *keys)
{
	struct vec sids = VEC_INIT(struct sid_info);
	const struct sid_info *sid;
	struct srpol_msg msg;
	int err = fetch_sids(&sids);

	vec_for_each(sid, &sids) {
		struct key key = {};

		sid_key(sid, &key);
		/* a binding SID is deleted with its policy */
		if (err || sid->origin || sid->color || in_file(keys, &key))
			continue;
		srpol_msg_start(&genl, &msg, SRPOL_CMD_SID_DEL, 0);
		srpol_msg_put(&msg, SRPOL_A_SID_SID, sizeof(sid->sid),
			      &sid->sid);
		srpol_msg_put_u32(&msg, SRPOL_A_SID_PREFIX_LEN,
				  sid->prefix_len);
		err = batch_add(msg.nlh, 0);
	}
	vec_free(&sids);
	return err;
}

/*
 * Adds all requests to the transaction in order of dependence: objects that
 * others refer to are added first and deleted last. Nothing refers to policies
 * and local SIDs, but one may use an address that another one gives up, so
 * these are deleted first.
 */
static int add_all(const struct vec *keys)
{
	return del_policies(keys) ?:
	       del_sids(keys) ?:
	       add_config() ?:
	       add_requests(SRPOL_CMD_PATH_NEW) ?:
	       add_requests(SRPOL_CMD_POLICY_NEW) ?:
	       add_requests(SRPOL_CMD_ENDPOINT_NEW) ?:
	       add_requests(SRPOL_CMD_SID_NEW) ?:
	       add_requests(SRPOL_CMD_RULE_NEW) ?:
	       del_rules(keys) ?:
	       del_endpoints(keys) ?:
	       del_paths(keys);
}

static const struct dev_info *find_dev(const struct vec *present,
				       unsigned int ifindex)
{
	const struct dev_info *dev;

	vec_for_each(dev, present)
		if (dev->ifindex == ifindex)
			return dev;
	return NULL;
}

static bool is_twice(const struct wanted_dev *dev)
{
	const struct wanted_dev *w;

	vec_for_each(w, &devs)
		if (w != dev && w->ifindex == dev->ifindex)
			return true;
	return false;
}

/*
 * Role, source check and a hook that is asked for cannot change while srpol is
 * attached. This is found before the transaction, as devices are attached after it.
 */
static int check_devs(const struct vec *present)
{
	const struct dev_info *dev;
	const struct wanted_dev *w;

	vec_for_each(w, &devs) {
		if (is_twice(w))
			return complain("the file has %s twice",
					dev_name(w->ifindex));
		dev = find_dev(present, w->ifindex);
		if (dev && dev->role != w->role)
			return complain("%s is there with role %s, not %s; srpol dev del first",
					dev_name(w->ifindex),
					srpol_name_of(srpol_dev_roles,
						      dev->role),
					srpol_name_of(srpol_dev_roles,
						      w->role));
		if (dev && w->source != SOURCE_AUTO &&
		    dev->source != w->source)
			return complain("%s is there with source %s, not %s; srpol dev del first",
					dev_name(w->ifindex),
					srpol_name_of(srpol_source_checks,
						      dev->source),
					srpol_name_of(srpol_source_checks,
						      w->source));
		if (dev && w->xdp != SRPOL_XDP_MODE_AUTO &&
		    dev->xdp_mode != w->xdp)
			return complain("%s is there with xdp %s, not %s; srpol dev del first",
					dev_name(w->ifindex),
					srpol_name_of(srpol_xdp_modes,
						      dev->xdp_mode),
					srpol_name_of(srpol_xdp_modes, w->xdp));
	}
	return EXIT_OK;
}

/*
 * Attaches either the virtual ports or all other devices. Virtual ports have to
 * be last, as their MTU depends on the others. Says which one was refused, as
 * the file may name many.
 */
static int attach_devs(const struct vec *present, bool hosts)
{
	const struct wanted_dev *w;
	int err = EXIT_OK;

	vec_for_each(w, &devs) {
		if (err || hosts != (w->role == SRPOL_DEV_ROLE_HOST))
			continue;
		err = put_dev(w, find_dev(present, w->ifindex));
		if (err)
			complain("that was %s: nothing has changed for it and the devices after it, all else is as the file says",
				 dev_name(w->ifindex));
	}
	return err;
}

/**
 * do_replace() - srpol replace
 * @args: words after "replace"
 *
 * Return: an EXIT_*.
 */
int do_replace(struct args *args)
{
	struct vec present = VEC_INIT(struct dev_info);
	struct vec keys = VEC_INIT(struct keyed);
	const struct wanted *w;
	const char *name;
	bool empty;
	int err;

	if (is(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	/* it would send what the file has had so far, and end that transaction */
	if (batch_collects())
		return complain("replace is a transaction of its own, and has no place in one");
	empty = is(args, "empty");
	if (!is(args, "-f") || !read_word(args, "-f", &name)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_module();
	if (err)
		return err;
	dev_defer(take_dev);
	err = collect_file(name, take_request);
	dev_defer(NULL);
	if (!err && !empty && !requests.n && !devs.n)
		err = complain("%s has no command; \"srpol replace empty -f %s\" removes everything",
			       name, name);
	err = err ?: fetch_devs(&present) ?: check_devs(&present) ?:
	      index_requests(&keys) ?: add_all(&keys) ?: batch_commit();
	if (err) {
		/* a file may have another "replace" after this one */
		batch_discard();
		host_settle(false);
	} else {
		/* the transaction is done, so the virtual ports stay */
		err = attach_devs(&present, false) ?:
		      attach_devs(&present, true);
		host_settle(true);
	}
	vec_free(&present);
	vec_for_each(w, &requests)
		free(w->nlh);
	vec_free(&requests);
	vec_free(&devs);
	vec_free(&keys);
	return err;
}
