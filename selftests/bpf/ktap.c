// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "ktap.h"

unsigned int ktap_failures;

int ktap_main(const struct ktap_test *tests, unsigned int n)
{
	unsigned int i, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", n);
	for (i = 0; i < n; i++) {
		ktap_failures = 0;
		tests[i].run();
		if (ktap_failures > KTAP_SHOWN)
			printf("# and %u more failures\n",
			       ktap_failures - KTAP_SHOWN);
		failed += !!ktap_failures;
		printf("%sok %u %s\n", ktap_failures ? "not " : "", i + 1,
		       tests[i].name);
	}
	return failed ? 1 : 0;
}

void ktap_skip_all(const char *why)
{
	printf("KTAP version 1\n1..0 # SKIP %s\n", why);
	exit(4);
}
