// SPDX-License-Identifier: LGPL-2.1
/*
 * rtnetlink: requests, one at a time, and dumps.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "rtnl.h"

/**
 * rtnl_open() - connect
 * @r: to be closed, even if this fails
 * @err: for the reason of this failure and later ones
 */
int rtnl_open(struct rtnl *r, struct srpol_error *err)
{
	r->err = err;
	r->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (r->nl && !mnl_socket_bind(r->nl, 0, MNL_SOCKET_AUTOPID))
		return 0;
	return srpol_error_set(err, -errno, "rtnetlink: %s", strerror(errno));
}

/**
 * rtnl_close() - disconnect
 * @r: connection
 */
void rtnl_close(struct rtnl *r)
{
	if (r->nl)
		mnl_socket_close(r->nl);
}

/**
 * rtnl_start() - begin a request
 * @r: connection
 * @type: RTM_*
 * @flags: NLM_F_*
 * @len: bytes of the header of this type
 *
 * Return: that header, zeroed.
 */
void *rtnl_start(struct rtnl *r, uint16_t type, uint16_t flags, size_t len)
{
	r->nlh = mnl_nlmsg_put_header(r->buf);
	r->nlh->nlmsg_type = type;
	r->nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	return mnl_nlmsg_put_extra_header(r->nlh, len);
}

/* libmnl takes a dump for failed if something changed while it was made. */
static void accept_changes(void *buf, int len)
{
	struct nlmsghdr *nlh = buf;

	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		nlh->nlmsg_flags &= ~NLM_F_DUMP_INTR;
}

static int ask(struct rtnl *r, mnl_cb_t cb, void *data, bool may_change)
{
	char buf[32768];
	ssize_t n;
	int ret;

	if (mnl_socket_sendto(r->nl, r->nlh, r->nlh->nlmsg_len) < 0)
		return -errno;
	do {
		n = mnl_socket_recvfrom(r->nl, buf, sizeof(buf));
		if (n < 0)
			return -errno;
		if (may_change)
			accept_changes(buf, n);
		ret = mnl_cb_run(buf, n, 0, mnl_socket_get_portid(r->nl), cb,
				 data);
	} while (ret == MNL_CB_OK);
	return ret < 0 ? -errno : 0;
}

/**
 * rtnl_ask() - send the request, and wait for the answer
 * @r: connection
 * @cb: called for messages before the final one, may be NULL
 * @data: for @cb
 *
 * Return: 0; -EINTR if what is dumped has changed meanwhile; or another negative errno.
 */
int rtnl_ask(struct rtnl *r, mnl_cb_t cb, void *data)
{
	return ask(r, cb, data, false);
}

/**
 * rtnl_ask_changing() - the same, where something changes all the time
 * @r: connection
 * @cb: called for messages before the final one
 * @data: for @cb
 *
 * What changed while it was dumped may be missing, or be told twice.
 */
int rtnl_ask_changing(struct rtnl *r, mnl_cb_t cb, void *data)
{
	return ask(r, cb, data, true);
}

/**
 * rtnl_talk() - the same, for a request without an answer but success or
 * failure
 * @r: connection
 * @what: what is done, for the error message
 * @object: to which object it is done
 */
int rtnl_talk(struct rtnl *r, const char *what, const char *object)
{
	int ret = rtnl_ask(r, NULL, NULL);

	return ret ? srpol_error_set(r->err, ret, "%s %s: %s", what, object,
				     strerror(-ret)) : 0;
}

/**
 * rtnl_dump() - read all routes or rules of a family
 * @r: connection
 * @type: RTM_GETROUTE or RTM_GETRULE: their headers have the same length, and
 *	begin with the same fields
 * @family: AF_*
 * @cb: for each
 * @data: for @cb
 */
int rtnl_dump(struct rtnl *r, uint16_t type, uint8_t family, mnl_cb_t cb,
	      void *data)
{
	struct rtmsg *rtm;

	rtm = rtnl_start(r, type, NLM_F_DUMP, sizeof(*rtm));
	r->nlh->nlmsg_flags &= ~NLM_F_ACK;
	rtm->rtm_family = family;
	return rtnl_ask(r, cb, data);
}
