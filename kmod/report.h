/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_REPORT_H
#define _SRPOL_REPORT_H

struct srpol_net;

/*
 * For a namespace. Packets may be in the hook for a grace period after the
 * stop.
 */
int srpol_report_net_start(struct srpol_net *sn);
void srpol_report_net_stop(struct srpol_net *sn);

#endif /* _SRPOL_REPORT_H */
