// SPDX-License-Identifier: GPL-2.0
/*
 * The engine does little work at a time, but must do it promptly: a prober that
 * waits for the processor detects failures late. The scheduler (EEVDF, Linux
 * 6.12) runs tasks earlier that ask for short slices; the nice value still
 * determines their share of the processor.
 */
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "srpold.h"

#define SLICE_NS	100000	/* the shortest possible */

/**
 * latency_short() - ask the scheduler for short slices
 *
 * Kernels without this feature ignore the request. Under a real-time policy,
 * which an operator may have chosen, the attribute has another meaning or none,
 * so it is left alone.
 */
void latency_short(void)
{
	struct sched_attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) ||
	    (attr.sched_policy != SCHED_NORMAL &&
	     attr.sched_policy != SCHED_BATCH))
		return;
	attr.sched_runtime = SLICE_NS;
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		log_notice("no short slices of the processor: %m");
}
