// SPDX-License-Identifier: GPL-2.0
/*
 * before_apply.so: to be preloaded into srpold. If the file that SRPOL_RACE names
 * is there when srpold is about to send a transaction, srpold renames it to
 * FILE.now and waits until the test has deleted that. So the test can change
 * something after srpold has read the module's objects, each time.
 */
#include <dlfcn.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/srpol.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_apply(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);

	return nlh->nlmsg_type > GENL_ID_CTRL && genl->cmd == SRPOL_CMD_APPLY;
}

static void wait_for_test(const char *file)
{
	char *now;

	if (asprintf(&now, "%s.now", file) < 0)
		abort();
	if (!rename(file, now))
		while (!access(now, F_OK))
			usleep(10000);
	free(now);
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
			  size_t len)
{
	static ssize_t (*send)(const struct mnl_socket *nl, const void *req,
			       size_t len);
	const char *file = getenv("SRPOL_RACE");

	if (!send)
		send = dlsym(RTLD_NEXT, "mnl_socket_sendto");
	if (file && is_apply(req))
		wait_for_test(file);
	return send(nl, req, len);
}
