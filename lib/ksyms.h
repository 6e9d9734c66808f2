/* SPDX-License-Identifier: LGPL-2.1 */
/* Addresses of functions of the kernel. */
#ifndef _SRPOL_KSYMS_H
#define _SRPOL_KSYMS_H

#include <linux/types.h>
#include <netinet/in.h>
#include <stdint.h>

#include <linux/srpol.h>
#include <srpol/dp.h>
#include <srpol_maps.h>

void srpol_ksyms_lsm_hooks(uint64_t *addrs);

#endif /* _SRPOL_KSYMS_H */
