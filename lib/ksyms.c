// SPDX-License-Identifier: LGPL-2.1
/*
 * Addresses of functions of the kernel. libbpf could look them up, but parses all
 * 200,000 symbols for that, which takes as long as the verifier for a program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ksyms.h"

static const char *const hooks[SRPOL_LSM_HOOKS] = {
	"apparmor_ip_postroute",
	"selinux_ip_forward",
	"selinux_ip_postroute",
};

/* Which of @hooks a line is about, SRPOL_LSM_HOOKS: none of them. */
static unsigned int find_hook(const char *line)
{
	const char *name = strchr(line, ' ');	/* behind the address */
	unsigned int i;
	size_t len;

	if (!name || strlen(name) < 4)
		return SRPOL_LSM_HOOKS;
	name += 3;				/* and the type */
	for (i = 0; i < SRPOL_LSM_HOOKS; i++) {
		len = strlen(hooks[i]);
		if (!strncmp(name, hooks[i], len) && name[len] == '\n')
			break;
	}
	return i;
}

/**
 * srpol_ksyms_lsm_hooks() - which netfilter hooks are no firewall
 * @addrs: addresses for "srpol_lsm_hooks" of bpf/forward.h, SRPOL_LSM_HOOKS of
 *	them; 0: there is no such function, or its address may not be known
 *	(kptr_restrict)
 */
void srpol_ksyms_lsm_hooks(uint64_t *addrs)
{
	unsigned int found = 0, i;
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	memset(addrs, 0, SRPOL_LSM_HOOKS * sizeof(*addrs));
	f = fopen("/proc/kallsyms", "re");
	while (f && found < SRPOL_LSM_HOOKS && getline(&line, &size, f) > 0) {
		i = find_hook(line);
		if (i == SRPOL_LSM_HOOKS || addrs[i])
			continue;
		addrs[i] = strtoull(line, NULL, 16);
		found++;
	}
	free(line);
	if (f)
		fclose(f);
}
