// SPDX-License-Identifier: GPL-2.0
#include "sim.h"

uint64_t rnd(uint64_t *seed)
{
	return srpol_mix((*seed)++);
}

uint32_t rnd_below(uint64_t *seed, uint32_t n)
{
	return (rnd(seed) >> 32) * (uint64_t)n >> 32;
}

double rnd_unit(uint64_t *seed)
{
	return (rnd(seed) >> 11) / (double)(UINT64_C(1) << 53);
}

void rnd_shuffle(uint64_t *seed, uint32_t *list, uint32_t n)
{
	uint32_t i, j, t;

	for (i = n; i > 1; i--) {
		j = rnd_below(seed, i);
		t = list[i - 1];
		list[i - 1] = list[j];
		list[j] = t;
	}
}
