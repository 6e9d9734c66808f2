// SPDX-License-Identifier: GPL-2.0
/*
 * The engine does little at a time, and has to do it soon: a prober that waits for
 * its turn finds failures late. The scheduler (EEVDF, Linux 6.12) lets those run
 * first that ask for short slices; the share of the processor stays what the nice
 * value says.
 */
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "srpold.h"

#define SLICE_NS	100000	/* the shortest there is */

/**
 * latency_short() - ask for short slices
 *
 * Kernels that know nothing of slices let it be. With a policy for real time,
 * which an operator may have chosen, a slice is something else, or nothing.
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
