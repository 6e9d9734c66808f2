// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "store.h"

/**
 * store_alloc() - memory, all 0; who has none is ended
 * @size: bytes
 */
void *store_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}
