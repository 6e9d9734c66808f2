/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_RESOLVE_H
#define _SRPOL_RESOLVE_H

#include "netns.h"

struct srpol_path;

struct net_device *srpol_resolve_dev(struct srpol_net *sn, u32 ifindex,
				     const char *name,
				     netdevice_tracker *tracker);
int srpol_path_stage(struct srpol_net *sn, struct srpol_obj *obj,
		     struct netlink_ext_ack *extack);
int srpol_path_push(struct srpol_net *sn, struct srpol_path *path);

#endif /* _SRPOL_RESOLVE_H */
