// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of a pod: one for each of its addresses, which matches packets from
 * there that come in at the pod's port. All have the same name, by which they
 * are found again. If a rule is left behind it does no harm: without its port
 * it matches nothing, so it does not color packets of another pod that gets the
 * address. The next ADD removes it.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "cni.h"

/* attempts, as others change rules at the same time */
#define TRIES	10

static int fetch(struct cni_pod *pod, struct vec *rules,
		 struct srpol_error *why)
{
	return srpol_fetch(&pod->genl, SRPOL_CMD_RULE_GET, rules, why);
}

static bool is_pods(const struct cni_pod *pod, const struct rule_info *rule)
{
	return !strcmp(rule->name, pod->name);
}

static int add_del(struct cni_pod *pod, const struct rule_info *rule,
		   struct srpol_batch *batch)
{
	struct srpol_msg msg;

	srpol_msg_start(&pod->genl, &msg, SRPOL_CMD_RULE_DEL, 0);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_PRIORITY, rule->priority);
	return srpol_batch_add(batch, msg.nlh);
}

/* Is this a rule of a pod that went away without a DEL? */
static bool is_left(const struct cni_pod *pod, const struct rule_info *rule)
{
	char name[IF_NAMESIZE];

	return rule_is_pods(rule) && rule->match & SRPOL_MATCH_DEV &&
	       !if_indextoname(rule->ifindex, name);
}

static int add_dels(struct cni_pod *pod, const struct vec *rules,
		    bool (*wanted)(const struct cni_pod *pod,
				   const struct rule_info *rule),
		    struct srpol_batch *batch)
{
	const struct rule_info *rule;
	int ret = 0;

	vec_for_each(rule, rules)
		if (!ret && wanted(pod, rule))
			ret = add_del(pod, rule, batch);
	return ret;
}

static bool is_old(const struct cni_pod *pod, const struct rule_info *rule)
{
	return is_pods(pod, rule) || is_left(pod, rule);
}

static int add_new(struct cni_pod *pod, const struct in6_addr *addr,
		   uint32_t prio, struct srpol_batch *batch)
{
	struct srpol_msg msg;

	srpol_msg_start(&pod->genl, &msg, SRPOL_CMD_RULE_NEW,
			NLM_F_CREATE | NLM_F_EXCL);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_PRIORITY, prio);
	srpol_msg_put(&msg, SRPOL_A_RULE_NAME, strlen(pod->name) + 1,
		      pod->name);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_IFINDEX, pod->port);
	srpol_msg_put(&msg, SRPOL_A_RULE_SRC, sizeof(*addr), addr);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_SRC_LEN, 128);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_ACTION,
			  SRPOL_RULE_ACTION_STEER);
	srpol_msg_put_u32(&msg, SRPOL_A_RULE_COLOR, pod->color);
	return srpol_batch_add(batch, msg.nlh);
}

static bool taken(const struct vec *rules, uint32_t prio)
{
	const struct rule_info *rule;

	vec_for_each(rule, rules)
		if (rule->priority == prio)
			return true;
	return false;
}

/* Each address gets the lowest priority number that is free. */
static int add_news(struct cni_pod *pod, const struct vec *rules,
		    struct srpol_batch *batch, struct srpol_error *why)
{
	const uint32_t *range = pod->config->prio;
	uint64_t prio = range[0];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < pod->addrs.n && !ret; i++, prio++) {
		while (prio <= range[1] && taken(rules, prio))
			prio++;
		if (prio > range[1])
			return srpol_error_set(why, -ENOSPC,
					       "all priorities from %u to %u are taken; see \"prio\" of the configuration",
					       range[0], range[1]);
		ret = add_new(pod, &pod->addrs.addr[i], prio, batch);
	}
	return ret;
}

static int try_put(struct cni_pod *pod, struct srpol_error *why)
{
	struct vec rules = VEC_INIT(struct rule_info);
	struct srpol_batch batch = {};
	int ret;

	ret = fetch(pod, &rules, why) ?: add_dels(pod, &rules, is_old, &batch) ?:
	      add_news(pod, &rules, &batch, why) ?:
	      srpol_batch_send(&pod->genl, &batch, why);
	srpol_batch_free(&batch);
	vec_free(&rules);
	return ret;
}

/**
 * cni_rules_put() - replace all rules of the pod's name by those it needs
 * @pod: the pod
 * @err: error; nothing has changed then
 */
int cni_rules_put(struct cni_pod *pod, struct cni_error *err)
{
	struct srpol_error why = {};
	int tries = 0, ret;

	do {
		ret = try_put(pod, &why);
	} while ((ret == -EEXIST || ret == -ENOENT) && ++tries < TRIES);
	if (ret)
		return cni_fail(err, CNI_REFUSED,
				why.text[0] ? why.text : strerror(-ret),
				"the rules of the pod are refused");
	return 0;
}

/* The port that the pod's rules are for; @port if it has none. */
static unsigned int port_of(const struct cni_pod *pod, const struct vec *rules,
			    unsigned int port)
{
	const struct rule_info *rule;

	vec_for_each(rule, rules)
		if (is_pods(pod, rule) && rule->match & SRPOL_MATCH_DEV)
			port = rule->ifindex;
	return port;
}

static bool is_others(const struct cni_pod *pod, const struct vec *rules,
		      unsigned int port)
{
	const struct rule_info *rule;

	vec_for_each(rule, rules)
		if (rule_is_pods(rule) && !is_pods(pod, rule) &&
		    rule->match & SRPOL_MATCH_DEV && rule->ifindex == port)
			return true;
	return false;
}

static int try_del(struct cni_pod *pod, unsigned int *port,
		   struct srpol_error *why)
{
	struct vec rules = VEC_INIT(struct rule_info);
	struct srpol_batch batch = {};
	int ret;

	ret = fetch(pod, &rules, why) ?:
	      add_dels(pod, &rules, is_pods, &batch) ?:
	      srpol_batch_send(&pod->genl, &batch, why);
	*port = port_of(pod, &rules, *port);
	if (is_others(pod, &rules, *port))
		*port = 0;
	srpol_batch_free(&batch);
	vec_free(&rules);
	return ret;
}

/**
 * cni_rules_del() - delete the rules of a pod
 * @pod: the pod, of which only the name and the connection are used
 * @port: port that the path of the pod's namespace leads to; result: that its
 *	rules were for, if there were any; 0 if it is another pod's: the path
 *	may be that of a namespace that came later
 * @err: error
 */
int cni_rules_del(struct cni_pod *pod, unsigned int *port,
		  struct cni_error *err)
{
	struct srpol_error why = {};
	int tries = 0, ret;

	do {
		ret = try_del(pod, port, &why);
	} while (ret == -ENOENT && ++tries < TRIES);
	if (ret)
		return cni_fail(err, CNI_REFUSED,
				why.text[0] ? why.text : strerror(-ret),
				"the rules of the pod are not deleted");
	return 0;
}

static bool steers(const struct cni_pod *pod, const struct rule_info *rule,
		   const struct in6_addr *addr)
{
	return is_pods(pod, rule) &&
	       rule->match == (SRPOL_MATCH_DEV | SRPOL_MATCH_SRC) &&
	       rule->ifindex == pod->port && rule->src_len == 128 &&
	       !memcmp(&rule->src, addr, sizeof(*addr)) &&
	       rule->action == SRPOL_RULE_ACTION_STEER &&
	       rule->color == pod->color;
}

static int check(struct cni_pod *pod, const struct vec *rules,
		 struct cni_error *err)
{
	const struct rule_info *rule;
	char buf[SRPOL_ADDR_STRLEN];
	unsigned int i, n = 0;
	bool found;

	for (i = 0; i < pod->addrs.n; i++) {
		found = false;
		vec_for_each(rule, rules)
			found |= steers(pod, rule, &pod->addrs.addr[i]);
		if (!found)
			return cni_fail(err, CNI_MISSING, NULL,
					"no rule %s gives color %u to what %s sends",
					pod->name, pod->color,
					srpol_addr_text(&pod->addrs.addr[i],
							buf));
	}
	vec_for_each(rule, rules)
		n += is_pods(pod, rule);
	if (n != pod->addrs.n)
		return cni_fail(err, CNI_MISSING, NULL,
				"there are %u rules %s, not %u", n, pod->name,
				pod->addrs.n);
	return 0;
}

/**
 * cni_rules_check() - check that the rules of a pod exist
 * @pod: the pod
 * @err: error: which one is missing
 */
int cni_rules_check(struct cni_pod *pod, struct cni_error *err)
{
	struct vec rules = VEC_INIT(struct rule_info);
	struct srpol_error why = {};
	int ret = fetch(pod, &rules, &why);

	if (ret)
		ret = cni_fail(err, CNI_REFUSED, why.text,
			       "the rules are not told");
	else
		ret = check(pod, &rules, err);
	vec_free(&rules);
	return ret;
}
