/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_REPORT_H
#define _SRPOL_REPORT_H

struct srpol_net;
struct srpol_path;
struct srpol_quote_node;

/* Of a namespace; a grace period passes between stop and free. */
int srpol_report_net_start(struct srpol_net *sn);
void srpol_report_net_stop(struct srpol_net *sn);
void srpol_report_net_free(struct srpol_net *sn);

/* How reports find a path; the last two with srpol_net.state_lock held. */
int srpol_report_stage(struct srpol_net *sn, struct srpol_path *path);
void srpol_report_unstage(struct srpol_path *path);
struct srpol_quote_node *srpol_report_link(struct srpol_net *sn,
					   struct srpol_path *path);
void srpol_report_unlink(struct srpol_path *path);

#endif /* _SRPOL_REPORT_H */
