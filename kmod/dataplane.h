/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls into the attached data plane. All succeed while none is attached.
 */
#ifndef _SRPOL_DATAPLANE_H
#define _SRPOL_DATAPLANE_H

#include <linux/netlink.h>

#include "netns.h"

/**
 * srpol_dp_call() - call a method of the attached data plane, if any
 * @sn: namespace, with the lock the method needs held
 * @method: name of the method
 *
 * Return: what the method returns, 0 if no data plane is attached.
 */
#define srpol_dp_call(sn, method, ...)					\
	((sn)->dp ? (sn)->dp->method(__VA_ARGS__) : 0)

int srpol_dp_err(int err, const char *table, u32 limit,
		 struct netlink_ext_ack *extack);
void srpol_dp_wait_gp(struct srpol_net *sn, unsigned long gp);

#endif /* _SRPOL_DATAPLANE_H */
