// SPDX-License-Identifier: GPL-2.0
/*
 * Which allocation fails: parameter fault_nth counts down to it, fault_hits
 * counts those that did.
 */
#include <linux/atomic.h>
#include <linux/module.h>

static int fault_nth;
module_param(fault_nth, int, 0600);
MODULE_PARM_DESC(fault_nth, "fail this allocation from now on, 0 for none");

static int fault_hits;
module_param(fault_hits, int, 0600);
MODULE_PARM_DESC(fault_hits, "number of failed allocations");

static DEFINE_SPINLOCK(fault_lock);

bool srpol_fault(void)
{
	unsigned long flags;
	bool hit = false;

	spin_lock_irqsave(&fault_lock, flags);
	if (fault_nth && !--fault_nth) {
		fault_hits++;
		hit = true;
	}
	spin_unlock_irqrestore(&fault_lock, flags);
	return hit;
}
