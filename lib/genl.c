// SPDX-License-Identifier: LGPL-2.1
/*
 * Generic netlink client of the srpol family, on libmnl.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "srpol_lib.h"

#define RECEIVE_BUFFER	(64 * 1024)

/**
 * srpol_msg_attrs() - table of the attributes of a message
 * @nlh: message
 * @tb: @max + 1 entries; the first attribute of each type, NULL if absent
 * @max: highest type of interest
 */
void srpol_msg_attrs(const struct nlmsghdr *nlh, const struct nlattr **tb,
		     unsigned int max)
{
	const struct nlattr *attr;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) <= max &&
		    !tb[mnl_attr_get_type(attr)])
			tb[mnl_attr_get_type(attr)] = attr;
}

/**
 * srpol_nest_attrs() - table of the attributes of a nest
 * @nest: the nest
 * @tb: see srpol_msg_attrs()
 * @max: see srpol_msg_attrs()
 */
void srpol_nest_attrs(const struct nlattr *nest, const struct nlattr **tb,
		      unsigned int max)
{
	const struct nlattr *attr;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) <= max &&
		    !tb[mnl_attr_get_type(attr)])
			tb[mnl_attr_get_type(attr)] = attr;
}

/**
 * srpol_msg_cmd() - operation number of a message
 * @nlh: message
 */
uint8_t srpol_msg_cmd(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *ghdr = mnl_nlmsg_get_payload(nlh);

	return ghdr->cmd;
}

static void start_msg(struct srpol_genl *g, struct srpol_msg *msg,
		      uint16_t family, uint8_t cmd, uint8_t version,
		      uint16_t flags)
{
	struct genlmsghdr *ghdr;

	msg->nlh = mnl_nlmsg_put_header(msg->buf);
	msg->nlh->nlmsg_type = family;
	msg->nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	msg->nlh->nlmsg_seq = ++g->seq;
	ghdr = mnl_nlmsg_put_extra_header(msg->nlh, sizeof(*ghdr));
	ghdr->cmd = cmd;
	ghdr->version = version;
}

/**
 * srpol_msg_start() - begin a request
 * @g: connection
 * @msg: the request
 * @cmd: operation
 * @flags: NLM_F_CREATE and the like
 */
void srpol_msg_start(struct srpol_genl *g, struct srpol_msg *msg, uint8_t cmd,
		     uint16_t flags)
{
	start_msg(g, msg, g->family, cmd, SRPOL_FAMILY_VERSION, flags);
}

/**
 * srpol_msg_put() - append an attribute
 * @msg: request
 * @type: attribute type
 * @len: length of the value
 * @data: the value
 *
 * Return: false if there is no room.
 */
bool srpol_msg_put(struct srpol_msg *msg, uint16_t type, size_t len,
		   const void *data)
{
	return mnl_attr_put_check(msg->nlh, sizeof(msg->buf), type, len, data);
}

bool srpol_msg_put_u8(struct srpol_msg *msg, uint16_t type, uint8_t v)
{
	return srpol_msg_put(msg, type, sizeof(v), &v);
}

bool srpol_msg_put_u16(struct srpol_msg *msg, uint16_t type, uint16_t v)
{
	return srpol_msg_put(msg, type, sizeof(v), &v);
}

bool srpol_msg_put_u32(struct srpol_msg *msg, uint16_t type, uint32_t v)
{
	return srpol_msg_put(msg, type, sizeof(v), &v);
}

bool srpol_msg_put_u64(struct srpol_msg *msg, uint16_t type, uint64_t v)
{
	return srpol_msg_put(msg, type, sizeof(v), &v);
}

/**
 * srpol_msg_nest() - open a nest
 * @msg: request
 * @type: attribute type
 *
 * Return: the nest, NULL if there is no room.
 */
struct nlattr *srpol_msg_nest(struct srpol_msg *msg, uint16_t type)
{
	return mnl_attr_nest_start_check(msg->nlh, sizeof(msg->buf), type);
}

void srpol_msg_nest_end(struct srpol_msg *msg, struct nlattr *nest)
{
	mnl_attr_nest_end(msg->nlh, nest);
}

/**
 * struct blame - the part of a request an error is about
 * @cmd: operation
 * @type: attribute, -1 none
 * @index: number of the request in a transaction, from 0
 */
struct blame {
	uint8_t cmd;
	int type;
	unsigned int index;
};

/*
 * The type of an attribute of the message itself; only these have names of a
 * command.
 */
static int top_level_type(const struct nlmsghdr *msg, const void *at)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, msg, sizeof(struct genlmsghdr))
		if (attr == at)
			return mnl_attr_get_type(attr);
	return -1;
}

/* Find the request of a transaction that contains an address. */
static void find_request(const struct nlmsghdr *transaction, const void *at,
			 struct blame *blame)
{
	const struct nlattr *nest, *inner;
	const struct nlmsghdr *msg;

	mnl_attr_for_each(nest, transaction, sizeof(struct genlmsghdr)) {
		if (at < (const void *)nest + nest->nla_len) {
			inner = mnl_attr_get_payload(nest);
			msg = mnl_attr_get_payload(inner);
			blame->cmd = srpol_msg_cmd(msg);
			blame->type = top_level_type(msg, at);
			return;
		}
		blame->index++;
	}
}

static void find_blame(const struct nlmsghdr *request, uint32_t offset,
		       struct blame *blame)
{
	const void *at = (const void *)request + offset;

	if (blame->cmd == SRPOL_CMD_APPLY)
		find_request(request, at, blame);
	else
		blame->type = top_level_type(request, at);
}

/*
 * A message of the module without the name in front that NL_SET_ERR_MSG_MOD
 * adds.
 */
static const char *without_module(const char *msg)
{
	const char *prefix = "srpol: ";

	return strncmp(msg, prefix, strlen(prefix)) ? msg :
						      msg + strlen(prefix);
}

/* Make one line of an error message with extended ack. */
static void read_extack(const struct nlmsghdr *nlh,
			const struct nlmsghdr *request,
			struct srpol_error *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	struct blame blame = { .cmd = srpol_msg_cmd(request), .type = -1 };
	const char *msg = NULL, *word = NULL, *name;
	size_t skip = sizeof(*e);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
	mnl_attr_for_each(attr, nlh, skip) {
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			msg = without_module(mnl_attr_get_str(attr));
			break;
		case NLMSGERR_ATTR_OFFS:
			find_blame(request, mnl_attr_get_u32(attr), &blame);
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			blame.type = mnl_attr_get_u32(attr);
			word = "missing ";
			break;
		}
	}
	name = blame.type < 0 ? NULL : srpol_attr_name(blame.cmd, blame.type);
	if (name)
		srpol_error_set(err, 0, "%s%s(%s%s)", msg ? msg : "",
				msg ? " " : "", word ? word : "", name);
	else if (msg)
		srpol_error_set(err, 0, "%s", msg);
	if (err)
		err->request = blame.index;
}

/*
 * The module explains each request that it refuses. One that it does not know is
 * refused by generic netlink, which does not.
 */
static void tell_version(const struct nlmsghdr *request, struct srpol_error *err)
{
	if (err && !err->text[0] && request->nlmsg_type != GENL_ID_CTRL)
		srpol_error_set(err, 0,
				"the loaded module does not know this request, as it is of another version: \"srpol dev del\" of all devices, then rmmod srpol and modprobe srpol");
}

/* Handle one message. Return: 1 to continue, 0 when the answer is complete. */
static int handle(const struct nlmsghdr *nlh, const struct nlmsghdr *request,
		  srpol_msg_cb cb, void *data, struct srpol_error *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	int ret;

	switch (nlh->nlmsg_type) {
	case NLMSG_ERROR:
		if (nlh->nlmsg_len < mnl_nlmsg_size(sizeof(*e)))
			return -EBADMSG;
		if (e->error)
			read_extack(nlh, request, err);
		if (e->error == -EOPNOTSUPP)
			tell_version(request, err);
		return e->error;
	case NLMSG_DONE:
		ret = *(const int *)mnl_nlmsg_get_payload(nlh);
		/* a change behind the last object is reported only here */
		return !ret && nlh->nlmsg_flags & NLM_F_DUMP_INTR ? -EINTR :
								    ret;
	default:
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			return -EINTR;
		ret = cb ? cb(nlh, data) : 0;
		return ret < 0 ? ret : 1;
	}
}

/**
 * srpol_genl_talk() - send a request and handle what comes back
 * @g: connection
 * @msg: request
 * @cb: for each message that is not an acknowledgement, may be NULL
 * @data: for @cb
 * @err: set if the kernel explains a refusal
 *
 * Return: 0, the negative errno of the kernel, or that of @cb.
 */
int srpol_genl_talk(struct srpol_genl *g, const struct nlmsghdr *msg,
		    srpol_msg_cb cb, void *data, struct srpol_error *err)
{
	_Alignas(struct nlmsghdr) char buf[RECEIVE_BUFFER];
	int ret = 1, failed = 0, len;
	struct nlmsghdr *nlh;
	ssize_t n;

	if (mnl_socket_sendto(g->nl, msg, msg->nlmsg_len) < 0)
		return -errno;
	while (ret > 0) {
		n = mnl_socket_recvfrom(g->nl, buf, sizeof(buf));
		if (n < 0)
			return -errno;
		nlh = (struct nlmsghdr *)buf;
		len = n;
		for (; ret > 0 && mnl_nlmsg_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_seq != msg->nlmsg_seq)
				continue;
			ret = handle(nlh, msg, failed ? NULL : cb, data,
				     err);
			/* read the rest, or the next request would get it */
			if (ret < 0 && nlh->nlmsg_type != NLMSG_ERROR &&
			    nlh->nlmsg_type != NLMSG_DONE) {
				failed = ret;
				ret = 1;
			}
		}
	}
	return failed ? failed : ret;
}

/**
 * srpol_genl_dump() - read all objects of a type
 * @g: connection
 * @cmd: a -get operation
 * @cb: for each object
 * @data: for @cb
 * @err: set if the kernel explains a refusal
 *
 * Return: as srpol_genl_talk(); -EINTR if the objects changed meanwhile; @cb
 * has been called for some of them then.
 */
int srpol_genl_dump(struct srpol_genl *g, uint8_t cmd, srpol_msg_cb cb,
		    void *data, struct srpol_error *err)
{
	struct srpol_msg msg;

	srpol_msg_start(g, &msg, cmd, NLM_F_DUMP);
	return srpol_genl_talk(g, msg.nlh, cb, data, err);
}

static int read_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1], *grp[CTRL_ATTR_MCAST_GRP_MAX + 1];
	const struct nlattr *attr;
	struct srpol_genl *g = data;
	const char *name;
	uint32_t id;

	srpol_msg_attrs(nlh, tb, CTRL_ATTR_MAX);
	if (!tb[CTRL_ATTR_FAMILY_ID] || !tb[CTRL_ATTR_MCAST_GROUPS])
		return -EBADMSG;
	g->family = mnl_attr_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	mnl_attr_for_each_nested(attr, tb[CTRL_ATTR_MCAST_GROUPS]) {
		srpol_nest_attrs(attr, grp, CTRL_ATTR_MCAST_GRP_MAX);
		if (!grp[CTRL_ATTR_MCAST_GRP_NAME] ||
		    !grp[CTRL_ATTR_MCAST_GRP_ID])
			continue;
		name = mnl_attr_get_str(grp[CTRL_ATTR_MCAST_GRP_NAME]);
		id = mnl_attr_get_u32(grp[CTRL_ATTR_MCAST_GRP_ID]);
		if (!strcmp(name, "config") || !strcmp(name, "mgmt"))
			g->config_group = id;
		else if (!strcmp(name, "events"))
			g->events_group = id;
	}
	return 0;
}

static int open_family(struct srpol_genl *g, const char *family,
		       struct srpol_error *err)
{
	struct srpol_msg msg;
	int one = 1, ret;

	memset(g, 0, sizeof(*g));
	g->seq = time(NULL);
	g->nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!g->nl || mnl_socket_bind(g->nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		ret = srpol_error_set(err, -errno, "generic netlink: %s",
				      strerror(errno));
		goto out;
	}
	g->portid = mnl_socket_get_portid(g->nl);
	mnl_socket_setsockopt(g->nl, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(g->nl, NETLINK_CAP_ACK, &one, sizeof(one));

	start_msg(g, &msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	mnl_attr_put_strz(msg.nlh, CTRL_ATTR_FAMILY_NAME, family);
	ret = srpol_genl_talk(g, msg.nlh, read_family, g, NULL);
	if (ret)
		srpol_error_set(err, ret, "family %s: %s", family,
				strerror(-ret));
out:
	if (ret)
		srpol_genl_close(g);
	return ret;
}

/**
 * srpol_genl_open() - connect to the module in this network namespace
 * @g: connection
 * @err: for the reason
 */
int srpol_genl_open(struct srpol_genl *g, struct srpol_error *err)
{
	int ret = open_family(g, SRPOL_FAMILY_NAME, err);

	if (ret == -ENOENT)
		srpol_error_set(err, ret,
				"module srpol is not loaded (modprobe srpol)");
	return ret;
}

/**
 * srpol_genl_netdev() - subscribe to what the kernel says of its devices' XDP
 * @g: connection, used for nothing else
 * @err: for the reason
 */
int srpol_genl_netdev(struct srpol_genl *g, struct srpol_error *err)
{
	int ret = open_family(g, "netdev", err);

	if (ret)
		return ret;
	if (!mnl_socket_setsockopt(g->nl, NETLINK_ADD_MEMBERSHIP,
				   &g->config_group, sizeof(g->config_group)))
		return 0;
	ret = srpol_error_set(err, -errno, "multicast group of netdev: %s",
			      strerror(errno));
	srpol_genl_close(g);
	return ret;
}

/**
 * srpol_genl_close() - disconnect
 * @g: connection
 */
void srpol_genl_close(struct srpol_genl *g)
{
	if (g->nl)
		mnl_socket_close(g->nl);
	g->nl = NULL;
}

/**
 * srpol_genl_listen() - subscribe to changes, events, and the end of the module
 * @g: connection; it can be used for nothing else from now on
 * @err: for the reason
 */
int srpol_genl_listen(struct srpol_genl *g, struct srpol_error *err)
{
	int fd = mnl_socket_get_fd(g->nl), size = 4 << 20;
	uint32_t controller = GENL_ID_CTRL;	/* also the number of its group */

	/* privileged listeners may have more than the default maximum */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (mnl_socket_setsockopt(g->nl, NETLINK_ADD_MEMBERSHIP,
				  &controller, sizeof(controller)) ||
	    mnl_socket_setsockopt(g->nl, NETLINK_ADD_MEMBERSHIP,
				  &g->config_group, sizeof(g->config_group)) ||
	    mnl_socket_setsockopt(g->nl, NETLINK_ADD_MEMBERSHIP,
				  &g->events_group, sizeof(g->events_group)))
		return srpol_error_set(err, -errno, "multicast groups: %s",
				       strerror(errno));
	return 0;
}

/**
 * srpol_genl_fd() - file descriptor to poll for notifications
 * @g: connection that listens
 */
int srpol_genl_fd(const struct srpol_genl *g)
{
	return mnl_socket_get_fd(g->nl);
}

/* Does generic netlink say that the family of the module is gone? */
static bool is_end_of_family(const struct srpol_genl *g,
			     const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1];

	if (nlh->nlmsg_type != GENL_ID_CTRL ||
	    mnl_nlmsg_get_payload_len(nlh) < GENL_HDRLEN ||
	    srpol_msg_cmd(nlh) != CTRL_CMD_DELFAMILY)
		return false;
	srpol_msg_attrs(nlh, tb, CTRL_ATTR_MAX);
	return tb[CTRL_ATTR_FAMILY_ID] &&
	       mnl_attr_get_u16(tb[CTRL_ATTR_FAMILY_ID]) == g->family;
}

/**
 * srpol_genl_receive() - wait for notifications and call the callback for each
 * @g: connection that listens
 * @cb: for each
 * @data: for @cb
 *
 * Return: 0, -ENOBUFS if some were lost, -ENODEV if the module was unloaded, after
 * which nothing more comes by this connection, or a negative errno.
 */
int srpol_genl_receive(struct srpol_genl *g, srpol_msg_cb cb, void *data)
{
	_Alignas(struct nlmsghdr) char buf[RECEIVE_BUFFER];
	struct nlmsghdr *nlh;
	ssize_t n;
	int len, ret;

	n = mnl_socket_recvfrom(g->nl, buf, sizeof(buf));
	if (n < 0)
		return -errno;
	nlh = (struct nlmsghdr *)buf;
	len = n;
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (is_end_of_family(g, nlh))
			return -ENODEV;
		if (nlh->nlmsg_type != g->family)
			continue;
		ret = cb(nlh, data);
		if (ret < 0)
			return ret;
	}
	return 0;
}
