/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_DEVICE_H
#define _SRPOL_DEVICE_H

#include "netns.h"

/**
 * struct srpol_dev - a device that srpol is attached to
 * @obj: for fill functions; devices are not part of transactions
 * @ifindex: the device
 * @role: enum srpol_dev_role
 * @xdp_mode: enum srpol_xdp_mode
 * @hook: enum srpol_hook
 * @source: enum srpol_source_check
 */
struct srpol_dev {
	struct srpol_obj obj;
	u32 ifindex;
	u32 role;
	u32 xdp_mode;
	u32 hook;
	u32 source;
};

bool srpol_dev_is_uplink(struct srpol_net *sn, int ifindex);
bool srpol_dev_mark_gone(struct srpol_net *sn, int ifindex);
void srpol_dev_remove_gone(struct srpol_net *sn);
int srpol_dev_replay(struct srpol_net *sn);
void srpol_dev_flush(struct srpol_net *sn);

#endif /* _SRPOL_DEVICE_H */
