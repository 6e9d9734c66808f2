// SPDX-License-Identifier: GPL-2.0
/*
 * What the engine may do, whoever started it: less than root. Entering another
 * namespace comes before.
 */
#include <cap-ng.h>
#include <errno.h>
#include <sys/prctl.h>

#include "srpold.h"

static const unsigned int needed[] = {
	CAP_NET_ADMIN,		/* the module, routes */
	CAP_NET_RAW,		/* packet sockets */
	CAP_BPF,		/* programs, maps */
	CAP_PERFMON,		/* programs that follow pointers */
	CAP_SYS_ADMIN,		/* the module's types, links of programs, by id */
	CAP_SYSLOG,		/* where LSMs have their hooks: bpf/forward.h */
};

/**
 * privileges_drop() - keep what is needed, for good
 * @err: why not
 *
 * Who has not even that is told when it is needed.
 */
int privileges_drop(struct srpol_error *err)
{
	capng_select_t both = CAPNG_SELECT_BOTH;
	unsigned int i;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return srpol_error_set(err, -errno, "no new privileges: %m");
	capng_get_caps_process();
	/* bounds can be set by who may do so only */
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP))
		both = CAPNG_SELECT_CAPS;
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!capng_have_capability(CAPNG_PERMITTED, needed[i]))
			return 0;
	capng_clear(both);
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
			     needed[i]);
	if (capng_apply(both))
		return srpol_error_set(err, -EPERM,
				       "capabilities cannot be dropped");
	return 0;
}
