// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "store.h"

/**
 * store_alloc() - allocate zeroed memory; aborts the process if there is none
 * @size: bytes
 */
void *store_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}
