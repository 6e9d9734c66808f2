/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_EVENTS_H
#define _SRPOL_EVENTS_H

struct srpol_net;

/* Register and unregister the notifiers of the module. */
int srpol_events_init(void);
void srpol_events_exit(void);

/* For a namespace, in the order in which they are called. */
void srpol_events_net_init(struct srpol_net *sn);
int srpol_events_net_start(struct srpol_net *sn);
void srpol_events_net_unlisten(struct srpol_net *sn);
void srpol_events_net_stop(struct srpol_net *sn);

#endif /* _SRPOL_EVENTS_H */
