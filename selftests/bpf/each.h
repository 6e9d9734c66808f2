/* SPDX-License-Identifier: GPL-2.0 */
/* An object of each kind, for tests of the methods that write them. */
#ifndef _SRPOL_TEST_EACH_H
#define _SRPOL_TEST_EACH_H

#include "packet.h"
#include "rig.h"

extern struct in6_addr each_sids[SRPOL_SEGS_MAX];
extern const struct outer each_two;	/* segment lists: of two of them */
extern const struct outer each_six;	/* of six, with the full SRH */

/* Next hop, path, row, policy, endpoint, SID and rule 1. */
void each_set_up(void);

#endif /* _SRPOL_TEST_EACH_H */
