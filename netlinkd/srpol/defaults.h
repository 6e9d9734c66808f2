/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Default values of settings, as the netlink spec defines them.
 * selftests/vm/tests/cli_batch.py compares them with those of the module.
 */
#ifndef _SRPOL_DEFAULTS_H
#define _SRPOL_DEFAULTS_H

#define HOP_LIMIT_DEFAULT	64
#define RETRY_INTERVAL_DEFAULT	1000		/* ms */
#define DROP_EVENTS_DEFAULT	100		/* per second */
#define PREFERENCE_DEFAULT	100
#define FLOWLET_TIMEOUT_DEFAULT	500000		/* ns */
#define THRESHOLD_DEFAULT	3
#define DWELL_TIME_DEFAULT	100		/* ms */
#define WAIT_TO_RESTORE_DEFAULT	1000		/* ms */
#define BUCKETS_DEFAULT		128

#endif /* _SRPOL_DEFAULTS_H */
