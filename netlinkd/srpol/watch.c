// SPDX-License-Identifier: GPL-2.0
/*
 * srpol dev watch: gives a device that is created again under the same name the
 * role and the rules it had. The module restores paths by itself, but programs can
 * only be attached by a process. It also tells the data plane when a device starts or
 * stops to accept frames from XDP.
 *
 * Any notification of the module or of the kernel, or the loss of some, makes
 * this program compare the present devices with those it remembers. The contents
 * are ignored but for one: that a device left the namespace. It may be back by
 * now, with the same ifindex, and then does not differ from one whose role was
 * removed.
 *
 * A device that cannot have its role is tried again later, each time after twice as
 * long. The module tells of the attempts of this program as it does of others'
 * changes: what is compared meanwhile makes no attempt, unless another device has
 * the name.
 *
 * The module may be unloaded and loaded again meanwhile. It then has a new
 * netlink family, so all sockets are opened again.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "srpol.h"

#define RETRY_MS	1000	/* to attach, or to find the module */
#define RETRY_MAX_MS	64000	/* longest wait after repeated failures to attach */

/**
 * struct watched - a device that has or had a role
 * @name: its name
 * @ifindex: its ifindex when it was last seen with the role
 * @role: enum srpol_dev_role, 0: unused entry
 * @xdp: enum srpol_xdp_mode as configured
 * @source: enum srpol_source_check
 * @tried: ifindex of a device of this name that could not have the role, 0: none
 * @retry_ms: how long it waits for the next attempt
 * @retry_at: when that is, ns
 * @present: the module has the device
 * @left: the device has left this namespace since it was last present
 */
struct watched {
	char name[IF_NAMESIZE];
	unsigned int ifindex;
	uint32_t role;
	uint32_t xdp;
	uint32_t source;
	unsigned int tried;
	uint32_t retry_ms;
	uint64_t retry_at;
	bool present;
	bool left;
};

static struct vec all = VEC_INIT(struct watched);
static struct srpol_genl module;	/* notifications; nl NULL if absent */
static struct srpol_genl netdev;	/* kernel's, on XDP of devices */
static struct mnl_socket *links;	/* kernel's, on devices */

static void tell(const struct watched *w, const char *what)
{
	printf("%s: %s %s\n", w->name, what,
	       srpol_name_of(srpol_dev_roles, w->role));
	fflush(stdout);
}

/* Entry of a device by ifindex or name, else an unused or a new entry. */
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

	/* devices of a virtual port are only created by srpol */
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
	w->tried = 0;
	w->present = true;
	w->left = false;
	if (!known)
		tell(w, "role");
}

static int read_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(nlh);
	struct watched *w;

	/* not a port that has left its bridge */
	if (nlh->nlmsg_type != RTM_DELLINK || link->ifi_family != AF_UNSPEC)
		return MNL_CB_OK;
	vec_for_each(w, &all) {
		w->left |= w->ifindex == (unsigned int)link->ifi_index;
		/* the next one with this index is another one */
		if (w->tried == (unsigned int)link->ifi_index)
			w->tried = 0;
	}
	return MNL_CB_OK;
}

/* Reads which devices have left: it may be any if notifications were lost. */
static void read_links(void)
{
	struct watched *w;
	char buf[8192];
	ssize_t n;

	do {
		n = mnl_socket_recvfrom(links, buf, sizeof(buf));
		if (n > 0)
			mnl_cb_run(buf, n, 0, 0, read_link, NULL);
		else if (n < 0 && errno == ENOBUFS)
			vec_for_each(w, &all)
				w->left = true;
		/* one that does not fit is of a device with much to say, not gone */
	} while (n > 0 || (n < 0 && (errno == ENOBUFS || errno == ENOSPC)));
}

/*
 * Was the role of a device removed that the module has no more? The order matters:
 * that the device had left is known before it is back.
 */
static bool role_was_removed(const struct watched *w)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(w->ifindex, name))
		return false;
	read_links();
	return !w->left;
}

/* A device that was moved to another namespace still has its programs. */
static void detach(unsigned int ifindex)
{
	int lock = srpol_pins_lock(NULL);

	if (lock < 0)
		return;
	srpol_dp_detach(ifindex, NULL);
	srpol_pins_unlock(lock);
}

/*
 * Rules for a device name it by the index that it had. Those of an operator are
 * changed to the new one; the engine has its own follow. Returns false if that has
 * to be tried again.
 */
static bool move_rules(const struct watched *w, unsigned int ifindex)
{
	struct vec rules = VEC_INIT(struct rule_info);
	struct srpol_error error = {};
	const struct rule_info *rule;
	struct srpol_msg msg;
	int err;

	err = srpol_fetch(&genl, SRPOL_CMD_RULE_GET, &rules, &error);
	vec_for_each(rule, &rules) {
		if (err || !(rule->match & SRPOL_MATCH_DEV) ||
		    rule->ifindex != w->ifindex ||
		    rule->origin != SRPOL_ORIGIN_STATIC)
			continue;
		srpol_msg_start(&genl, &msg, SRPOL_CMD_RULE_NEW,
				NLM_F_REPLACE);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_PRIORITY, rule->priority);
		srpol_msg_put_u32(&msg, SRPOL_A_RULE_IFINDEX, ifindex);
		err = srpol_genl_talk(&genl, msg.nlh, NULL, NULL, &error);
		/* whoever has deleted it meanwhile wants none */
		if (err == -ENOENT)
			err = 0;
	}
	vec_free(&rules);
	if (err)
		refused(err, &error);
	return !err;
}

/* Is the device that has the name now one that could not have the role just now? */
static bool has_to_wait(const struct watched *w)
{
	return w->tried && w->tried == if_nametoindex(w->name) &&
	       clock_ns(CLOCK_MONOTONIC) < w->retry_at;
}

static void try_later(struct watched *w, unsigned int ifindex)
{
	if (w->tried != ifindex)
		w->retry_ms = RETRY_MS;
	else if (w->retry_ms < RETRY_MAX_MS)
		w->retry_ms *= 2;
	w->tried = ifindex;
	w->retry_at = clock_ns(CLOCK_MONOTONIC) + w->retry_ms * MSEC;
}

/* Gives the role back, or has that tried again later. */
static void come_back(struct watched *w)
{
	const struct wanted_dev dev = {
		.ifindex = if_nametoindex(w->name), .role = w->role,
		.xdp = w->xdp, .source = w->source,
	};
	int err;

	if (!dev.ifindex) {
		w->tried = 0;
		return;
	}
	/* before packets come by it */
	if (dev.ifindex != w->ifindex && !move_rules(w, dev.ifindex)) {
		try_later(w, dev.ifindex);
		return;
	}
	err = attach_dev(&dev, NLM_F_CREATE | NLM_F_EXCL);
	tell(w, err ? "is back, but cannot have role" : "is back with role");
	if (err) {
		try_later(w, dev.ifindex);
		return;
	}
	w->ifindex = dev.ifindex;
	w->tried = 0;
}

/* Opens two sockets, so that replies and notifications do not mix. */
static int reach(struct srpol_error *error)
{
	int err;

	srpol_genl_close(&genl);
	err = srpol_genl_open(&genl, error) ?:
	      srpol_genl_open(&module, error) ?:
	      srpol_genl_listen(&module, error);
	if (err) {
		srpol_genl_close(&genl);
		srpol_genl_close(&module);
	}
	return err;
}

/*
 * The module does not answer any more: prints that once and closes the sockets.
 */
static bool lose(int err, const struct srpol_error *error)
{
	srpol_genl_close(&genl);
	srpol_genl_close(&module);
	refused(err, error);
	return false;
}

static bool is_reached(void)
{
	struct srpol_error error = {};
	struct watched *w;

	if (module.nl)
		return true;
	if (reach(&error))
		return false;
	/* it may be another one, which takes what that one did not */
	vec_for_each(w, &all)
		w->tried = 0;
	printf("module srpol is back\n");
	fflush(stdout);
	return true;
}

/* Compares present and remembered devices; false: the module does not answer. */
static bool compare(void)
{
	struct vec devs = VEC_INIT(struct dev_info);
	struct srpol_error error = {};
	const struct dev_info *dev;
	struct watched *w;
	int err;

	if (!is_reached())
		return false;
	err = srpol_fetch(&genl, SRPOL_CMD_DEV_GET, &devs, &error);
	if (err) {
		vec_free(&devs);
		return lose(err, &error);
	}
	vec_for_each(w, &all)
		w->present = false;
	vec_for_each(dev, &devs)
		remember(dev);
	vec_free(&devs);
	vec_for_each(w, &all) {
		if (!w->role || w->present)
			continue;
		if (role_was_removed(w)) {
			tell(w, "no more role");
			memset(w, 0, sizeof(*w));
		} else if (!has_to_wait(w)) {
			detach(w->ifindex);
			come_back(w);
		}
	}
	return true;
}

/* Updates which devices accept frames from XDP. */
static void sync_frames(void)
{
	const struct watched *w;
	int lock = srpol_pins_lock(NULL);

	if (lock < 0)
		return;
	vec_for_each(w, &all)
		if (w->role && w->present)
			srpol_dp_frames_sync(w->ifindex, w->role);
	srpol_pins_unlock(lock);
}

static int listen_links(void)
{
	links = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!links || mnl_socket_bind(links, RTMGRP_LINK, MNL_SOCKET_AUTOPID))
		return refused(-errno, NULL);
	return EXIT_OK;
}

static int forget(const struct nlmsghdr *nlh, void *data)
{
	return 0;
}

/* Compares, and returns for how long to wait (ms), -1: until a notification. */
static int patience(void)
{
	uint64_t at = UINT64_MAX, now;
	const struct watched *w;

	/* checking for the module is cheap and prints nothing */
	if (!compare())
		return RETRY_MS;
	vec_for_each(w, &all)
		if (w->tried && w->retry_at < at)
			at = w->retry_at;
	if (at == UINT64_MAX)
		return -1;
	now = clock_ns(CLOCK_MONOTONIC);
	return at > now ? (at - now) / MSEC + 1 : 0;
}

static int follow(void)
{
	struct pollfd fds[3];
	int err, ms;

	compare();
	sync_frames();
	for (;;) {
		ms = patience();
		fds[0] = (struct pollfd){
			.fd = module.nl ? srpol_genl_fd(&module) : -1,
			.events = POLLIN,
		};
		fds[1] = (struct pollfd){
			.fd = mnl_socket_get_fd(links), .events = POLLIN,
		};
		fds[2] = (struct pollfd){
			.fd = srpol_genl_fd(&netdev), .events = POLLIN,
		};
		if (poll(fds, ARRAY_SIZE(fds), ms) < 0 && errno != EINTR)
			return refused(-errno, NULL);
		if (fds[1].revents)
			read_links();
		if (fds[2].revents) {
			/* the contents do not matter, nor does a loss */
			srpol_genl_receive(&netdev, forget, NULL);
			sync_frames();
		}
		if (!fds[0].revents)
			continue;
		err = srpol_genl_receive(&module, forget, NULL);
		/* that the module is gone is seen, and said, by what compares */
		if (err && err != -EINTR && err != -ENOBUFS && err != -ENODEV)
			return refused(err, NULL);
	}
}

/**
 * dev_watch() - srpol dev watch
 * @args: the words after "watch"
 * @flags: not used
 *
 * Return: an EXIT_*; it only returns if it cannot go on.
 */
int dev_watch(struct args *args, unsigned int flags)
{
	struct srpol_error error = {};
	int err;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_module() ?: batch_flush();
	if (err)
		return err;
	err = reach(&error) ?: srpol_genl_netdev(&netdev, &error);
	if (err)
		return refused(err, &error);
	return listen_links() ?: follow();
}
