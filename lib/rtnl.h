/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * rtnetlink, for the files of the library that make and read virtual ports.
 */
#ifndef _SRPOL_RTNL_H
#define _SRPOL_RTNL_H

#include <libmnl/libmnl.h>
#include <stdint.h>

#include "srpol_lib.h"

/**
 * struct rtnl - a connection, and a request under construction
 * @nl: connection
 * @err: for the reason of failures
 * @nlh: the request
 * @buf: memory for it
 */
struct rtnl {
	struct mnl_socket *nl;
	struct srpol_error *err;
	struct nlmsghdr *nlh;
	char buf[2048];
};

int rtnl_open(struct rtnl *r, struct srpol_error *err);
void rtnl_close(struct rtnl *r);
void *rtnl_start(struct rtnl *r, uint16_t type, uint16_t flags, size_t len);
int rtnl_ask(struct rtnl *r, mnl_cb_t cb, void *data);
int rtnl_ask_changing(struct rtnl *r, mnl_cb_t cb, void *data);
int rtnl_talk(struct rtnl *r, const char *what, const char *object);
int rtnl_dump(struct rtnl *r, uint16_t type, uint8_t family, mnl_cb_t cb,
	      void *data);

/* host_rules.c */
int srpol_host_rules_add(struct rtnl *r, const char *peer, uint32_t table);
void srpol_host_rules_del(struct rtnl *r, const char *peer);

#endif /* _SRPOL_RTNL_H */
