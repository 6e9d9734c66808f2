/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included in front of every file of the module in a build for tests: any
 * allocation of the module itself can be made to fail. Debian's kernel has no
 * failslab.
 */
#ifndef _SRPOL_FAULT_H
#define _SRPOL_FAULT_H

#include <linux/bitmap.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/genetlink.h>
#include <net/neighbour.h>

/* Is it this allocation's turn? */
bool srpol_fault(void);

#undef kmalloc
#define kmalloc(...)							\
	(srpol_fault() ? NULL : alloc_hooks(kmalloc_noprof(__VA_ARGS__)))

#undef kzalloc
#define kzalloc(...)							\
	(srpol_fault() ? NULL : alloc_hooks(kzalloc_noprof(__VA_ARGS__)))

#undef kcalloc
#define kcalloc(n, size, flags)						\
	(srpol_fault() ? NULL : alloc_hooks(				\
	 kmalloc_array_noprof(n, size, (flags) | __GFP_ZERO)))

#undef kvmalloc_array
#define kvmalloc_array(...)						\
	(srpol_fault() ? NULL :						\
	 alloc_hooks(kvmalloc_array_noprof(__VA_ARGS__)))

static inline void *srpol_fault_kmemdup(const void *from, size_t size,
					gfp_t flags)
{
	return srpol_fault() ? NULL : kmemdup(from, size, flags);
}

#undef kmemdup
#define kmemdup		srpol_fault_kmemdup

#undef kmem_cache_zalloc
#define kmem_cache_zalloc(cache, flags)					\
	(srpol_fault() ? NULL :						\
	 alloc_hooks(kmem_cache_alloc_noprof(cache,			\
					     (flags) | __GFP_ZERO)))

#define rhashtable_insert_fast(...)					\
	(srpol_fault() ? -ENOMEM : (rhashtable_insert_fast)(__VA_ARGS__))
#define rhltable_insert(...)						\
	(srpol_fault() ? -ENOMEM : (rhltable_insert)(__VA_ARGS__))

/* Not xa_store(): the module uses it where it can not or may fail. */
#define bitmap_zalloc(...)						\
	(srpol_fault() ? NULL : (bitmap_zalloc)(__VA_ARGS__))
#define xa_insert(...)							\
	(srpol_fault() ? -ENOMEM : (xa_insert)(__VA_ARGS__))
#define xa_alloc(...)							\
	(srpol_fault() ? -ENOMEM : (xa_alloc)(__VA_ARGS__))
#define genlmsg_new(...)						\
	(srpol_fault() ? NULL : (genlmsg_new)(__VA_ARGS__))
#define neigh_create(...)						\
	(srpol_fault() ? ERR_PTR(-ENOBUFS) : (neigh_create)(__VA_ARGS__))

#endif /* _SRPOL_FAULT_H */
