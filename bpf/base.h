/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every header of the data plane stands on: the kernel's types, libbpf's
 * helpers, the contract with the module, the layout of the maps. Also what
 * vmlinux.h, which has types and no macros, leaves out of the language.
 */
#ifndef _SRPOL_BASE_H
#define _SRPOL_BASE_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include <linux/srpol.h>
#include <srpol/dp.h>
#include "srpol_maps.h"

#define ENOENT			2
#define E2BIG			7
#define EFAULT			14
#define EINVAL			22
#define ENOSPC			28
#define EALREADY		114
#define ENOTSUPP		524

/* Exactly one access to what somebody else may be changing or reading. */
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))

/**
 * srpol_after - order a load behind earlier ones
 * @v: combination of what was loaded
 *
 * BPF has no load-acquire on the kernels srpol is for, and some processors
 * reorder loads (arm64). They keep the order of a load and one whose address
 * depends on it, also if the dependence comes to nothing: the compiler does not
 * see that this is 0, and the JIT keeps the instruction. x86 does not reorder
 * loads, and would wait for the first one for nothing.
 *
 * Return: 0, to be added to the address of the later load.
 */
static __always_inline __u64 srpol_after(__u64 v)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	return 0;
#else
	asm volatile("%0 &= 0" : "+r"(v));
	return v;
#endif
}

#endif /* _SRPOL_BASE_H */
