// SPDX-License-Identifier: LGPL-2.1
/* Predicts how a change of links would delay demands. */
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
 * srpol_what_if() - predict how a change of links would delay demands
 * @f: finished fabric
 * @demands: all demands
 * @n: number of @demands
 * @now: present links and plan
 * @then: links after the change, and the plan that would follow
 * @result: result, to be freed; empty after an error
 *
 * Return: 0, -EINVAL for a plan of another fabric or a GPU that does not exist,
 * -ENOMEM, -E2BIG if it would take too long.
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
 * srpol_what_if_free() - free a result of srpol_what_if()
 * @result: result
 */
void srpol_what_if_free(struct srpol_what_if *result)
{
	int i;

	for (i = 0; i < 3; i++)
		free(result->finish[i]);
	*result = (struct srpol_what_if){};
}
