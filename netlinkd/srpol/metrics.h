/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metric families and their samples, on stdout.
 */
#ifndef _SRPOL_METRICS_H
#define _SRPOL_METRICS_H

#include <stdint.h>

void family(const char *name, const char *type, const char *unit,
	    const char *help);
void sample(const char *name, uint64_t value, ...);
void sample_real(const char *name, double value, ...);

/* metrics_engine.c */
void metrics_engine(void);

#endif /* _SRPOL_METRICS_H */
