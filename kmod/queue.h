/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_QUEUE_H
#define _SRPOL_QUEUE_H

struct srpol_net;

int srpol_queue_init(void);
void srpol_queue_destroy(void);

/* With or without srpol_net.state_lock held, in any context. */
void srpol_queue_work(struct srpol_net *sn);

/* srpol_net.state_lock is held; or not, for the second. */
void __srpol_queue_tick(struct srpol_net *sn, unsigned long delay);
void srpol_queue_tick(struct srpol_net *sn, unsigned long delay);
void srpol_queue_tick_begins(struct srpol_net *sn);
void srpol_queue_stop(struct srpol_net *sn);

#endif /* _SRPOL_QUEUE_H */
