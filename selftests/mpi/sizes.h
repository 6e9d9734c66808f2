/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ranks send each other in an all-to-all-v of uneven sizes (Zipf), as a
 * mixture of experts does.
 */
#ifndef _MPI_SIZES_H
#define _MPI_SIZES_H

/* Rank @to is the k-th choice of rank @from: 1/k of what the first one gets. */
static inline int sizes_zipf(int from, int to, int n, int bytes)
{
	return bytes / ((to - from + n) % n + 1);
}

/* Displacements of @n @counts; returns their sum. */
static inline int sizes_layout(int n, const int *counts, int *at)
{
	int i, sum = 0;

	for (i = 0; i < n; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	return sum;
}

#endif /* _MPI_SIZES_H */
