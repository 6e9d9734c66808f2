// SPDX-License-Identifier: GPL-2.0
/*
 * Edge coloring: at every vertex the colors are as even as they can be,
 * whatever the graph and the number of colors.
 */
#include "alg.h"
#include "test.h"

static void is_equitable(const uint32_t *end, const uint32_t *color, uint32_t n,
			 uint32_t vertices, uint32_t k)
{
	uint32_t *count = calloc((size_t)vertices * k, sizeof(*count));
	uint32_t *degree = calloc(vertices, sizeof(*degree));
	uint32_t i, v, c;

	for (i = 0; i < n; i++) {
		assert_true(color[i] < k);
		count[end[i] * k + color[i]]++;
		degree[end[i]]++;
	}
	for (v = 0; v < vertices; v++)
		for (c = 0; c < k; c++)
			assert_true(count[v * k + c] <=
				    (degree[v] + k - 1) / k);
	free(count);
	free(degree);
}

static void random_graphs(void **state)
{
	(void)state;
	uint32_t left[2000], right[2000], color[2000], k, n, i, a, b;
	u64 seed = 3;

	for (k = 1; k <= 33; k++) {
		a = test_random(&seed) % 40 + 1;
		b = test_random(&seed) % 40 + 1;
		n = test_random(&seed) % 2000;
		for (i = 0; i < n; i++) {
			left[i] = test_random(&seed) % a;
			/* some vertices have many edges, some none */
			right[i] = test_random(&seed) % b;
			right[i] = right[i] * right[i] / b;
		}
		assert_int_equal(srpol_edge_color(a, b, left, right, n, k,
						  color), 0);
		is_equitable(left, color, n, a, k);
		is_equitable(right, color, n, b, k);
	}
}

/* Koenig: k edges at each vertex, k colors, each once. */
static void regular_graphs(void **state)
{
	(void)state;
	uint32_t left[64 * 31], right[64 * 31], color[64 * 31], perm[64];
	uint32_t k, i, j, t, n;
	u64 seed = 5;

	for (k = 1; k <= 31; k++) {
		for (n = 0, i = 0; i < k; i++) {
			for (j = 0; j < 64; j++)
				perm[j] = j;
			for (j = 63; j; j--) {
				t = test_random(&seed) % (j + 1);
				uint32_t other = perm[t];

				perm[t] = perm[j];
				perm[j] = other;
			}
			for (j = 0; j < 64; j++) {
				left[n] = j;
				right[n++] = perm[j];
			}
		}
		assert_int_equal(srpol_edge_color(64, 64, left, right, n, k,
						  color), 0);
		is_equitable(left, color, n, 64, k);
		is_equitable(right, color, n, 64, k);
	}
}

static void nothing(void **state)
{
	(void)state;
	uint32_t none = 0;

	assert_int_equal(srpol_edge_color(0, 0, &none, &none, 0, 3, &none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(regular_graphs),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
