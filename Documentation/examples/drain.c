// SPDX-License-Identifier: LGPL-2.1
/*
 * drain ID...: take paths out of service, all or none, before work on a switch;
 * then print how each path of this network namespace is.
 *
 *	cc drain.c -o drain $(pkg-config --cflags --libs libsrpol)
 */
#include <libmnl/libmnl.h>
#include <srpol/client.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_path(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[SRPOL_A_PATH_MAX + 1];

	srpol_msg_attrs(nlh, tb, SRPOL_A_PATH_MAX);
	if (!tb[SRPOL_A_PATH_ID] || !tb[SRPOL_A_PATH_STATE])
		return 0;
	printf("path %u %s\n", mnl_attr_get_u32(tb[SRPOL_A_PATH_ID]),
	       mnl_attr_get_u32(tb[SRPOL_A_PATH_STATE]) == SRPOL_PATH_STATE_UP ?
	       "up" : "down");
	return 0;
}

int main(int argc, char **argv)
{
	struct srpol_batch batch = {};
	struct srpol_error err = {};
	struct srpol_genl genl;
	struct srpol_msg msg;
	int i, ret;

	ret = srpol_genl_open(&genl, &err);
	for (i = 1; !ret && i < argc; i++) {
		srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_NEW,
				NLM_F_REPLACE);
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, strtoul(argv[i], NULL, 10));
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_ADMIN_DOWN, 1);
		ret = srpol_batch_add(&batch, msg.nlh);
	}
	if (!ret && batch.n)
		ret = srpol_batch_send(&genl, &batch, &err);
	if (!ret)
		ret = srpol_genl_dump(&genl, SRPOL_CMD_PATH_GET, print_path, NULL, &err);
	if (ret)
		fprintf(stderr, "drain: %s\n", err.text[0] ? err.text : strerror(-ret));
	srpol_batch_free(&batch);
	srpol_genl_close(&genl);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
