/* SPDX-License-Identifier: GPL-2.0 */
/* What kmod/pure.h takes from kernel headers, for user space. */
#ifndef _SRPOL_KERNEL_SHIM_H
#define _SRPOL_KERNEL_SHIM_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

static inline void put_unaligned_be16(u16 value, void *p)
{
	u8 *byte = p;

	byte[0] = value >> 8;
	byte[1] = value;
}

#endif /* _SRPOL_KERNEL_SHIM_H */
