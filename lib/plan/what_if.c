// SPDX-License-Identifier: LGPL-2.1
/* What other links would do to demands. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan.h"

static double last(const double *finish, uint32_t n)
{
	double end = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		end = fmax(end, finish[i]);
	return end;
}

/**
 * srpol_what_if() - what other links would do
 * @f: finished fabric
 * @demands: all that is sent
 * @n: number of them
 * @now: what there is
 * @then: what would follow
 * @result: result, to be freed
 *
 * Return: 0, -ENOMEM.
 */
int srpol_what_if(const struct srpol_fabric *f,
		  const struct srpol_demand *demands, uint32_t n,
		  const struct srpol_situation *now,
		  const struct srpol_situation *then,
		  struct srpol_what_if *result)
{
	int i, ret = 0;
	uint32_t d;

	*result = (struct srpol_what_if){};
	for (i = 0; i < 3; i++) {
		result->finish[i] = calloc(n + 1UL, sizeof(double));
		if (!result->finish[i])
			ret = -ENOMEM;
	}
	ret = ret ?:
	      srpol_completion(f, now->links, now->plan, demands, n,
			       result->finish[0]) ?:
	      srpol_completion(f, then->links, now->plan, demands, n,
			       result->finish[1]) ?:
	      srpol_completion(f, then->links, then->plan, demands, n,
			       result->finish[2]);
	if (ret) {
		srpol_what_if_free(result);
		return ret;
	}
	result->now = last(result->finish[0], n);
	result->local = last(result->finish[1], n);
	result->planned = last(result->finish[2], n);
	for (d = 0; d < n; d++)
		result->unplaced += isinf(result->finish[2][d]) != 0;
	return 0;
}

/**
 * srpol_what_if_free() - end of a result
 * @result: it
 */
void srpol_what_if_free(struct srpol_what_if *result)
{
	int i;

	for (i = 0; i < 3; i++)
		free(result->finish[i]);
	*result = (struct srpol_what_if){};
}
