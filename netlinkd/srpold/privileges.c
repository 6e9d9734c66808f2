// SPDX-License-Identifier: GPL-2.0
/*
 * Capabilities that the engine keeps, whoever started it: fewer than root has.
 * Another network namespace must be entered before.
 */
#include <cap-ng.h>
#include <errno.h>
#include <sys/prctl.h>

#include "srpold.h"

static const unsigned int needed[] = {
	CAP_NET_ADMIN,		/* the module, routes */
	CAP_NET_RAW,		/* packet sockets */
	CAP_BPF,		/* programs that dereference pointers */
	CAP_PERFMON,		/* programs that follow pointers */
	CAP_SYS_ADMIN,		/* the module's BTF, links and programs by id */
	CAP_SYSLOG,		/* addresses of LSM hooks: bpf/forward.h */
};

/**
 * privileges_drop() - drop all capabilities but those needed, for good
 * @err: message on failure
 *
 * If one of them is missing, nothing is dropped; the operation that needs the
 * missing one fails later.
 */
int privileges_drop(struct srpol_error *err)
{
	capng_select_t both = CAPNG_SELECT_BOTH;
	unsigned int i;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return srpol_error_set(err, -errno, "no new privileges: %m");
	capng_get_caps_process();
	/* only CAP_SETPCAP allows changing the bounding set */
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
