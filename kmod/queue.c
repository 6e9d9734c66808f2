// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own workqueue, and when the work of a namespace is due.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "netns.h"
#include "queue.h"

static struct workqueue_struct *srpol_wq;

/*
 * The queue is unbound: compiling is for a CPU that has time for it. It has no
 * high priority, because packets have left what failed before; a high priority
 * would only keep threads from running that a holder of RTNL waits for, such as
 * those of RCU.
 */
int __init srpol_queue_init(void)
{
	srpol_wq = alloc_workqueue("srpol", WQ_UNBOUND, 0);
	return srpol_wq ? 0 : -ENOMEM;
}

void srpol_queue_destroy(void)
{
	destroy_workqueue(srpol_wq);
}

/**
 * srpol_queue_work() - queue the work, which processes what is stale
 * @sn: namespace
 */
void srpol_queue_work(struct srpol_net *sn)
{
	if (!test_bit(SRPOL_NET_DYING, &sn->flags))
		queue_work(srpol_wq, &sn->work);
}

/**
 * __srpol_queue_tick() - run the tick no later than this
 * @sn: namespace; @sn->state_lock is held
 * @delay: jiffies from now
 */
void __srpol_queue_tick(struct srpol_net *sn, unsigned long delay)
{
	unsigned long at = jiffies + delay;

	lockdep_assert_held(&sn->state_lock);
	if (test_bit(SRPOL_NET_DYING, &sn->flags) ||
	    (sn->tick_armed && !time_before(at, sn->tick_at)))
		return;
	sn->tick_armed = true;
	sn->tick_at = at;
	mod_delayed_work(srpol_wq, &sn->tick, delay);
}

/**
 * srpol_queue_tick() - run the tick no later than this; takes the lock
 * @sn: namespace
 * @delay: jiffies from now
 */
void srpol_queue_tick(struct srpol_net *sn, unsigned long delay)
{
	spin_lock_bh(&sn->state_lock);
	__srpol_queue_tick(sn, delay);
	spin_unlock_bh(&sn->state_lock);
}

/**
 * srpol_queue_tick_begins() - the tick runs: from now on, the next one can be
 * queued
 * @sn: namespace
 */
void srpol_queue_tick_begins(struct srpol_net *sn)
{
	spin_lock_bh(&sn->state_lock);
	sn->tick_armed = false;
	spin_unlock_bh(&sn->state_lock);
}

/**
 * srpol_queue_stop() - stop the work of a namespace; none can be queued
 * afterwards
 * @sn: namespace that ends; @sn->lock is not held
 */
void srpol_queue_stop(struct srpol_net *sn)
{
	/* a holder of the lock may have seen the bit clear and be queueing */
	spin_lock_bh(&sn->state_lock);
	set_bit(SRPOL_NET_DYING, &sn->flags);
	spin_unlock_bh(&sn->state_lock);
	cancel_work_sync(&sn->work);
	cancel_delayed_work_sync(&sn->tick);
}
