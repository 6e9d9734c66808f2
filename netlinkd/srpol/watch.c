// SPDX-License-Identifier: GPL-2.0
/*
 * srpol dev watch: a device that is created anew under its name gets the role
 * it had. The module brings back paths by itself; attaching programs takes a
 * process, and this is it.
 *
 * Nothing is read from the notifications of module and kernel: each of them,
 * and the loss of some, only has what there is compared with what there was.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "srpol.h"

#define RETRY_MS	1000	/* what could not be attached */

/**
 * struct watched - a device that has, or had, a role
 * @name: its name
 * @ifindex: its index then, of which there is never another
 * @role: enum srpol_dev_role
 * @xdp: enum srpol_xdp_mode, as it was asked for
 * @source: enum srpol_source_check
 * @present: the module knows it
 */
struct watched {
	char name[IF_NAMESIZE];
	unsigned int ifindex;
	uint32_t role;
	uint32_t xdp;
	uint32_t source;
	bool present;
};

static struct vec all = VEC_INIT(struct watched);

static void tell(const struct watched *w, const char *what)
{
	printf("%s: %s %s\n", w->name, what,
	       srpol_name_of(srpol_dev_roles, w->role));
	fflush(stdout);
}

/* Where a device is kept, or may be: a place that was given up, or a new one. */
static struct watched *place(unsigned int ifindex, const char *name)
{
	struct watched *w, *unused = NULL;

	vec_for_each(w, &all) {
		if (w->role && (w->ifindex == ifindex || !strcmp(w->name, name)))
			return w;
		if (!w->role)
			unused = w;
	}
	return unused ?: vec_add(&all);
}

static void remember(const struct dev_info *dev)
{
	char name[IF_NAMESIZE];
	struct watched *w;
	bool known;

	/* a virtual port is made by srpol itself */
	if (dev->role == SRPOL_DEV_ROLE_HOST ||
	    !if_indextoname(dev->ifindex, name))
		return;
	w = place(dev->ifindex, name);
	known = w->role == dev->role && w->ifindex == dev->ifindex;
	strcpy(w->name, name);
	w->ifindex = dev->ifindex;
	w->role = dev->role;
	w->xdp = dev->xdp_mode;
	w->source = dev->source;
	w->present = true;
	if (!known)
		tell(w, "role");
}

/* Return: false if it has to be tried again. */
static bool come_back(struct watched *w)
{
	const struct wanted_dev dev = {
		.ifindex = if_nametoindex(w->name), .role = w->role,
		.xdp = w->xdp, .source = w->source,
	};
	int err;

	if (!dev.ifindex)
		return true;
	err = attach_dev(&dev, NLM_F_CREATE | NLM_F_EXCL);
	tell(w, err ? "is back, but cannot have role" : "is back with role");
	if (err)
		return false;
	w->ifindex = dev.ifindex;
	return true;
}

/* Return: false if something has to be tried again. */
static bool compare(void)
{
	struct vec devs = VEC_INIT(struct dev_info);
	const struct dev_info *dev;
	char name[IF_NAMESIZE];
	struct watched *w;
	bool done = true;

	if (fetch_devs(&devs))
		return false;
	vec_for_each(w, &all)
		w->present = false;
	vec_for_each(dev, &devs)
		remember(dev);
	vec_free(&devs);
	vec_for_each(w, &all) {
		if (!w->role || w->present)
			continue;
		/* the device is there: somebody took the role away */
		if (if_indextoname(w->ifindex, name)) {
			tell(w, "no more role");
			memset(w, 0, sizeof(*w));
		} else {
			done &= come_back(w);
		}
	}
	return done;
}

static int listen_links(struct mnl_socket **links)
{
	*links = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!*links || mnl_socket_bind(*links, RTMGRP_LINK, MNL_SOCKET_AUTOPID))
		return refused(-errno, NULL);
	return EXIT_OK;
}

static int forget(const struct nlmsghdr *nlh, void *data)
{
	return 0;
}

static int follow(struct srpol_genl *module, struct mnl_socket *links)
{
	struct pollfd fds[] = {
		{ .fd = srpol_genl_fd(module), .events = POLLIN },
		{ .fd = mnl_socket_get_fd(links), .events = POLLIN },
	};
	char buf[8192];
	int err;

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), compare() ? -1 : RETRY_MS) < 0 &&
		    errno != EINTR)
			return refused(-errno, NULL);
		if (fds[1].revents)
			while (mnl_socket_recvfrom(links, buf, sizeof(buf)) > 0)
				;
		if (!fds[0].revents)
			continue;
		err = srpol_genl_receive(module, forget, NULL);
		if (err && err != -EINTR && err != -ENOBUFS)
			return refused(err, NULL);
	}
}

/**
 * dev_watch() - srpol dev watch, until it is told to end
 * @args: the line behind "watch"
 * @flags: not used
 *
 * Return: an EXIT_*; it ends only if it cannot go on.
 */
int dev_watch(struct args *args, unsigned int flags)
{
	struct srpol_error error = {};
	struct srpol_genl module;
	struct mnl_socket *links;
	int err;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_module() ?: batch_flush();
	if (err)
		return err;
	/* a socket of its own: answers and notifications do not mix */
	err = srpol_genl_open(&module, &error) ?:
	      srpol_genl_listen(&module, &error);
	if (err)
		return refused(err, &error);
	return listen_links(&links) ?: follow(&module, links);
}
