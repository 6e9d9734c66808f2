/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of probes of both forms share: STAMP test packets, RFC 8762. */
#ifndef _SRPOL_TEST_STAMP_H
#define _SRPOL_TEST_STAMP_H

#include <stdint.h>

#include "packet.h"
#include "rig.h"

#define STAMP_SEC	1000000000ull	/* in ns */

/* CLOCK_MONOTONIC */
uint64_t stamp_now(void);
/* A UDP header for @len bytes, itself included, and the base of a test packet. */
void stamp_add(struct pkt *p, uint32_t len, uint32_t seq, uint64_t sent_ns,
	       uint16_t ssid);
/* Entry of map "probes": @n segments, the list left empty; nothing has come. */
void stamp_enter(struct srpol_probe *probe, const char *src, uint32_t ifindex,
		 unsigned int n);

#endif /* _SRPOL_TEST_STAMP_H */
