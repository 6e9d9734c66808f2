// SPDX-License-Identifier: LGPL-2.1
/* Do packets wait at a device until their departure time? */
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "rtnl.h"

struct look {
	int ifindex;
	bool paced;
	bool other;
};

static int look_at(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	const char *kind = "";
	const struct nlattr *a;
	struct look *look = data;

	/* qdiscs that are not of a queue, such as clsact, do not count */
	if (nlh->nlmsg_type != RTM_NEWQDISC ||
	    tcm->tcm_ifindex != look->ifindex ||
	    tcm->tcm_parent == TC_H_CLSACT)
		return MNL_CB_OK;
	mnl_attr_for_each(a, nlh, sizeof(*tcm))
		if (mnl_attr_get_type(a) == TCA_KIND &&
		    mnl_attr_validate(a, MNL_TYPE_NUL_STRING) >= 0)
			kind = mnl_attr_get_str(a);
	if (!strcmp(kind, "fq"))
		look->paced = true;
	else if (strcmp(kind, "mq"))
		look->other = true;
	return MNL_CB_OK;
}

/**
 * srpol_dev_paced() - is each queue of a device an fq?
 * @ifindex: device
 * @err: for the reason
 *
 * Return: 1, 0, or a negative errno.
 */
int srpol_dev_paced(unsigned int ifindex, struct srpol_error *err)
{
	struct look look = { .ifindex = ifindex };
	struct tcmsg *tcm;
	struct rtnl r;
	int ret;

	ret = rtnl_open(&r, err);
	if (!ret) {
		tcm = rtnl_start(&r, RTM_GETQDISC, NLM_F_DUMP, sizeof(*tcm));
		r.nlh->nlmsg_flags &= ~NLM_F_ACK;
		tcm->tcm_family = AF_UNSPEC;
		tcm->tcm_ifindex = ifindex;
		ret = rtnl_ask(&r, look_at, &look);
		if (ret)
			srpol_error_set(err, ret, "queues of device %u: %s",
					ifindex, strerror(-ret));
	}
	rtnl_close(&r);
	return ret ?: look.paced && !look.other;
}
