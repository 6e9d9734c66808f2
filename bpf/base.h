/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every header of the data plane includes: the kernel's types, libbpf's
 * helpers, the contract with the module and the layout of the maps. It also
 * defines the constants and macros that vmlinux.h, which has types only, lacks.
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

/* The kernel's own structure behind the context of a program. */
extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

/*
 * The same for XDP, where it need not be fast. Behind a pointer that it trusts,
 * the verifier looks up each pointer several times by name among all types of the
 * kernel, in each state that it comes in. It does not trust this one, and its first
 * load takes some instructions more.
 */
static __always_inline const struct xdp_buff *srpol_xdp_buff(struct xdp_md *ctx)
{
	return bpf_rdonly_cast(ctx, bpf_core_type_id_kernel(struct xdp_buff));
}

/* Access a word exactly once that another CPU may be writing or reading. */
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))

/**
 * srpol_after - order a later load behind earlier ones
 * @v: any combination (such as OR) of the values that were loaded earlier
 *
 * BPF has no load-acquire on the kernels that srpol supports, and some
 * processors (arm64) reorder loads. They do keep the order of two loads if the
 * address of the second depends on the value of the first, even if the
 * dependency always adds 0: the compiler cannot see that the result is 0, and
 * the JIT keeps the instruction. x86 does not reorder loads, and there the
 * dependency would only make the second load wait for the first.
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
