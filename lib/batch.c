// SPDX-License-Identifier: LGPL-2.1
/*
 * Transactions: requests collected into one message of operation apply.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "srpol_lib.h"

#define FIRST_SIZE	(64 * 1024)

static bool make_room(struct srpol_batch *batch, size_t more)
{
	size_t need = batch->len + more, size = batch->size;
	char *buf;

	if (need <= size)
		return true;
	size = size ? size : FIRST_SIZE;
	while (size < need)
		size *= 2;
	buf = realloc(batch->buf, size);
	if (!buf)
		return false;
	batch->buf = buf;
	batch->size = size;
	return true;
}

/* Append the header of an attribute; the message follows right behind it. */
static void append(struct srpol_batch *batch, uint16_t type, size_t len)
{
	struct nlattr *attr = (struct nlattr *)(batch->buf + batch->len);

	attr->nla_type = type;
	attr->nla_len = MNL_ATTR_HDRLEN + len;
	batch->len += MNL_ATTR_HDRLEN;
}

/**
 * srpol_batch_add() - add a request to a transaction
 * @batch: the transaction; must be zeroed before its first request
 * @nlh: the request, made by srpol_msg_start() and srpol_msg_put()
 *
 * Return: 0, or -EMSGSIZE or -ENOMEM.
 */
int srpol_batch_add(struct srpol_batch *batch, const struct nlmsghdr *nlh)
{
	size_t len = MNL_ALIGN(nlh->nlmsg_len);

	if (len + 2 * MNL_ATTR_HDRLEN > UINT16_MAX)
		return -EMSGSIZE;
	if (!batch->len)
		batch->len = NLMSG_HDRLEN + GENL_HDRLEN;
	if (!make_room(batch, len + 2 * MNL_ATTR_HDRLEN))
		return -ENOMEM;
	append(batch, SRPOL_A_TRANSACTION_REQUEST | NLA_F_NESTED,
	       MNL_ATTR_HDRLEN + len);
	append(batch, SRPOL_A_REQUEST_MESSAGE, nlh->nlmsg_len);
	memset(batch->buf + batch->len, 0, len);
	memcpy(batch->buf + batch->len, nlh, nlh->nlmsg_len);
	batch->len += len;
	batch->n++;
	return 0;
}

/**
 * srpol_batch_send() - send a transaction
 * @g: connection
 * @batch: the transaction; an empty one succeeds
 * @err: why it was refused; @err->request is the number of the request to blame
 *
 * Return: 0 or a negative errno; then nothing has changed.
 */
int srpol_batch_send(struct srpol_genl *g, struct srpol_batch *batch,
		     struct srpol_error *err)
{
	int fd = mnl_socket_get_fd(g->nl), size;
	struct srpol_msg head;

	if (!batch->n)
		return 0;
	/* the kernel keeps the whole message in the send buffer */
	size = 2 * batch->len;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	srpol_msg_start(g, &head, SRPOL_CMD_APPLY, 0);
	memcpy(batch->buf, head.nlh, head.nlh->nlmsg_len);
	((struct nlmsghdr *)batch->buf)->nlmsg_len = batch->len;
	return srpol_genl_talk(g, (struct nlmsghdr *)batch->buf, NULL, NULL,
			       err);
}

/**
 * srpol_batch_free() - free and empty a transaction
 * @batch: the transaction
 */
void srpol_batch_free(struct srpol_batch *batch)
{
	free(batch->buf);
	memset(batch, 0, sizeof(*batch));
}
