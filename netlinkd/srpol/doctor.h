/* SPDX-License-Identifier: GPL-2.0 */
/* srpol doctor: declarations shared by its files. */
#ifndef _SRPOL_DOCTOR_H
#define _SRPOL_DOCTOR_H

#include "srpol.h"

enum verdict {
	GOOD,
	NOTE,
	WARNING,
	BAD,
};

/* doctor.c */
__attribute__((format(printf, 4, 5)))
void report(enum verdict verdict, const char *check, const char *advice,
	    const char *fmt, ...);
int read_sysctl(const char *fmt, const char *name);

/* doctor_dev.c: devices */
void check_devices(const struct vec *devs, const struct vec *paths,
		   const struct vec *sids);

/* doctor_master.c: what devices belong to */
void check_master(const struct dev_info *dev, const char *name);

/* doctor_net.c: what else routes packets on this host */
void check_forwarding(const struct vec *sids, const struct vec *devs);
void check_kernel_sids(const struct vec *sids);
void check_ip_rules(const struct vec *devs);

/* doctor_engine.c: what srpold knows of its paths */
void check_engine(const struct vec *paths);

/* doctor_netfilter.c: firewalls */
void check_firewall(const struct vec *devs);

#endif /* _SRPOL_DOCTOR_H */
