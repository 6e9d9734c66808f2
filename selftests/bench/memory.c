// SPDX-License-Identifier: GPL-2.0
/*
 * memory: what the maps take at their default sizes, as the kernel accounts for
 * it. One line of JSON per map, the largest first:
 *
 *	{"row": MAP, "bytes": N}
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rig.h"
#include "srpol.skel.h"

#define MAPS_MAX	64

struct row {
	const char *name;
	unsigned long long bytes;
};

static unsigned long long memlock(int fd)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

int main(void)
{
	struct row rows[MAPS_MAX];
	unsigned int n = 0, i;
	struct bpf_map *map;

	rig_open();
	bpf_object__for_each_map(map, rig->obj) {
		if (bpf_map__fd(map) < 0 || n == MAPS_MAX)
			continue;
		rows[n].name = bpf_map__name(map);
		rows[n++].bytes = memlock(bpf_map__fd(map));
	}
	qsort(rows, n, sizeof(rows[0]), by_bytes);
	for (i = 0; i < n; i++)
		printf("{\"row\": \"%s\", \"bytes\": %llu}\n", rows[i].name,
		       rows[i].bytes);
	return 0;
}
