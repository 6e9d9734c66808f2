// SPDX-License-Identifier: GPL-2.0
/*
 * Use of the data plane that is common to all objects, beside its methods.
 */
#include <linux/rcupdate.h>

#include "dataplane.h"

/**
 * srpol_dp_err() - explain why the data plane refused
 * @err: error that it returned
 * @table: name of the table that was to be changed
 * @limit: size of that table, 0 if it has none
 * @extack: where to explain, may be NULL
 *
 * Return: @err.
 */
int srpol_dp_err(int err, const char *table, u32 limit,
		 struct netlink_ext_ack *extack)
{
	if (err == -ENOSPC && limit)
		/* 79 characters with prefix, or the kernel cuts it off */
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "%s table is full (%u), with what this transaction deletes",
				       table, limit);
	else
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "data plane refused a change of its %s table",
				       table);
	return err;
}

/**
 * srpol_dp_wait_gp() - wait until readers have left what is to be rewritten
 * @sn: namespace, locked
 * @gp: from get_state_synchronize_rcu() when it was taken out of use
 *
 * The wait is expedited, because it delays an operator's commands one after the
 * other. The function returns at once in the usual case that the grace period
 * has passed long ago. A data plane that was attached a moment ago has been
 * told everything at that time, so that period counts as well.
 */
void srpol_dp_wait_gp(struct srpol_net *sn, unsigned long gp)
{
	if (!sn->dp)
		return;
	cond_synchronize_rcu_expedited(gp);
	cond_synchronize_rcu_expedited(sn->attach_gp);
}
