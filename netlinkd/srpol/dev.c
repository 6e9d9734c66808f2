// SPDX-License-Identifier: GPL-2.0
/* srpol dev: attach srpol to a device and detach it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol dev add DEV [ role { uplink | port } ]\n"
"                  [ xdp { auto | native | generic | none } | hook { tc | xdp } ]\n"
"                  [ source { strict | loose | none } ]\n"
"       srpol dev add DEV role host [ address PREFIX ]... [ prefix PREFIX ]...\n"
"                  [ peer NAME ] [ mtu N ] [ table ID ] [ source { strict | none } ]\n"
"       srpol dev change DEV [ address PREFIX ]... [ prefix PREFIX ]...\n"
"       srpol dev del DEV\n"
"       srpol dev show [ DEV ]\n"
"       srpol dev watch\n"
"An uplink leads to the fabric; a port to a VM, pod or representor, and what\n"
"comes in there is steered, at TC ingress, and before that in XDP unless the\n"
"device is a veth, tap or bridge. \"hook tc\" is xdp none, \"hook xdp\" is xdp\n"
"native. Default role is uplink.\n"
"With role host DEV is made: a virtual port for this host's own applications,\n"
"which use its addresses, and reach the prefixes through it by whatever uplink\n"
"is up.\n"
"The first device loads the data plane, the last one takes it away.\n"
"\"watch\" keeps running, and gives a device that is created anew the role it had.\n";

/**
 * attach_dev() - attach srpol to a device
 * @wanted: device, role and options
 * @flags: NLM_F_* of the request
 *
 * This is done at once, as attaching cannot be part of a transaction.
 *
 * Return: an EXIT_*.
 */
int attach_dev(const struct wanted_dev *wanted, unsigned int flags)
{
	struct srpol_error error = {};
	int err, lock;

	lock = srpol_pins_lock(&error);
	if (lock < 0)
		return refused(lock, &error);
	err = srpol_role_add(&genl, wanted, flags, &error);
	srpol_pins_unlock(lock);
	return err ? refused(err, &error) : EXIT_OK;
}

static int (*deferred)(const struct wanted_dev *dev);

/**
 * dev_defer() - have the devices of "dev add" collected instead of attached
 * @take: takes each device; NULL: "dev add" attaches at once again
 */
void dev_defer(int (*take)(const struct wanted_dev *dev))
{
	deferred = take;
}

/* XDP modes by the hook that steers first. */
static const struct srpol_name hooks[] = {
	{ SRPOL_XDP_MODE_NONE, "tc" },
	{ SRPOL_XDP_MODE_NATIVE, "xdp" },
	{ 0, NULL },
};

/* Reads the words after "dev add DEV". */
static bool read_add(struct args *args, struct srpol_host_port *h,
		     struct wanted_dev *dev)
{
	bool ok = true, host = false, xdp = false, hook = false;

	while (ok && more(args)) {
		if (keyword(args, "role")) {
			ok = read_name(args, "role", srpol_dev_roles,
				       &dev->role);
		} else if (keyword(args, "xdp")) {
			ok = read_name(args, "xdp", srpol_xdp_modes,
				       &dev->xdp);
			xdp = true;
		} else if (keyword(args, "hook")) {
			ok = read_name(args, "hook", hooks, &dev->xdp);
			hook = true;
		} else if (keyword(args, "source")) {
			ok = read_name(args, "source", srpol_source_checks,
				       &dev->source);
		} else if (host_option(args, h, &ok)) {
			host = true;
		} else {
			return unknown(args);
		}
	}
	if (!ok)
		return false;
	if (host && dev->role != SRPOL_DEV_ROLE_HOST)
		return !complain("address, prefix, peer, mtu and table are for role host");
	if (xdp && hook)
		return !complain("xdp and hook are two words for one option");
	if ((xdp || hook) && dev->role == SRPOL_DEV_ROLE_HOST)
		return !complain("role host has no choice of hook: it is TC");
	return true;
}

static uint32_t role_of(unsigned int ifindex)
{
	struct dev_info dev;

	return srpol_role_find(&genl, ifindex, &dev) ? dev.role : 0;
}

/*
 * Updates the data plane for a virtual port that exists: only its addresses may
 * have changed.
 */
static int sync_host(unsigned int ifindex)
{
	struct srpol_error error = {};
	int err, lock = srpol_pins_lock(&error);

	if (lock < 0)
		return refused(lock, &error);
	err = srpol_dp_host_sync(ifindex, &error);
	srpol_pins_unlock(lock);
	return err ? refused(err, &error) : EXIT_OK;
}

/*
 * Does a device lack programs of its role? Whoever is attaching them holds the
 * lock meanwhile.
 */
static bool is_half(const struct dev_info *dev)
{
	int lock = srpol_pins_lock(NULL);
	bool half = srpol_role_is_half(dev);

	if (lock >= 0)
		srpol_pins_unlock(lock);
	return half;
}

/**
 * put_dev() - attach srpol to a device as a file says
 * @dev: what the file says
 * @there: what the module knows of it, NULL if it does not
 *
 * Return: an EXIT_*.
 */
int put_dev(const struct wanted_dev *dev, const struct dev_info *there)
{
	if (!there || is_half(there))
		return host_fit(dev->ifindex) ?:
		       attach_dev(dev, NLM_F_CREATE | NLM_F_EXCL);
	return dev->role == SRPOL_DEV_ROLE_HOST ? sync_host(dev->ifindex) :
						  EXIT_OK;
}

/*
 * "dev add" of a virtual port that exists: its source check must be the same.
 */
static int same_host(const struct wanted_dev *dev, const struct dev_info *is)
{
	if (dev->source != SOURCE_AUTO && dev->source != is->source)
		return complain("%s is there with source %s; srpol dev del first",
				dev_name(dev->ifindex),
				srpol_name_of(srpol_source_checks,
					      is->source));
	return sync_host(dev->ifindex);
}

static int add_device(const char *name, struct wanted_dev *dev,
		      unsigned int flags)
{
	struct dev_info is;
	int err;

	dev->ifindex = if_nametoindex(name);
	if (!dev->ifindex)
		return complain("no device \"%s\" in this network namespace",
				name);
	err = host_end(dev->ifindex);
	if (err)
		return err;
	if (deferred)
		return deferred(dev);
	if (dev->role == SRPOL_DEV_ROLE_HOST &&
	    srpol_role_find(&genl, dev->ifindex, &is) && is.role == dev->role &&
	    !is_half(&is))
		return same_host(dev, &is);
	return attach_dev(dev, flags);
}

static int dev_add(struct args *args, unsigned int flags)
{
	struct wanted_dev dev = {
		.role = SRPOL_DEV_ROLE_UPLINK,
		.xdp = SRPOL_XDP_MODE_AUTO,
		.source = SOURCE_AUTO,
	};
	struct srpol_host_port host;
	const char *name;
	int err = need_module();

	if (err)
		return err;
	if (!read_word(args, "dev", &name))
		return EXIT_USAGE;
	host_start(&host, name);
	if (!read_add(args, &host, &dev))
		return EXIT_USAGE;
	if (dev.role == SRPOL_DEV_ROLE_HOST && !host_name_ok("dev", name))
		return EXIT_USAGE;
	if (!deferred)
		err = batch_flush();
	if (err)
		return err;
	host_sweep();
	if (dev.role == SRPOL_DEV_ROLE_HOST)
		err = host_make(&host, deferred);
	if (!err)
		err = add_device(name, &dev, flags);
	if (!deferred)
		host_settle(!err);
	return err;
}

static int change_host(const struct srpol_host_port *host,
		       unsigned int ifindex)
{
	struct srpol_host_done done;
	struct srpol_error error = {};
	int err;

	err = srpol_host_change(host, &done, &error);
	if (err)
		return refused(err, &error);
	err = sync_host(ifindex);
	if (err) {
		srpol_host_undo(host, &done);
		srpol_dp_host_sync(ifindex, NULL);
	}
	return err;
}

static int dev_change(struct args *args, unsigned int flags)
{
	struct srpol_host_port host;
	unsigned int ifindex;
	bool ok = true;
	int err = need_module();

	if (err)
		return err;
	if (!read_dev(args, &ifindex))
		return EXIT_USAGE;
	host_start(&host, dev_name(ifindex));
	host.peer[0] = '\0';
	while (ok && more(args))
		if (!host_option(args, &host, &ok))
			ok = unknown(args);
	if (!ok)
		return EXIT_USAGE;
	if (host.mtu || host.table || host.peer[0])
		return complain("peer, mtu and table are not changed; see \"srpol dev add\"");
	err = batch_flush();
	if (err)
		return err;
	host_sweep();
	if (role_of(ifindex) != SRPOL_DEV_ROLE_HOST)
		return complain("%s is no virtual port; see \"srpol dev show\"",
				host.name);
	return change_host(&host, ifindex);
}

static int dev_del(struct args *args, unsigned int flags)
{
	struct srpol_error error = {};
	int err = need_module(), lock;
	unsigned int ifindex;

	if (err)
		return err;
	host_sweep();
	if (!read_dev(args, &ifindex))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = host_end(ifindex) ?: batch_flush();
	if (err)
		return err;
	lock = srpol_pins_lock(&error);
	if (lock < 0)
		return refused(lock, &error);
	err = srpol_role_del(&genl, ifindex, &error);
	srpol_pins_unlock(lock);
	return err ? refused(err, &error) : EXIT_OK;
}

static void print_programs(const struct dev_info *dev,
			   const struct srpol_dev_status *st)
{
	bool uplink = dev->role == SRPOL_DEV_ROLE_UPLINK;

	out_bool("egress_attached", NULL, st->egress);
	out_bool("ingress_attached", NULL, uplink ?
		 st->ingress && st->tc_ingress : st->ingress || st->tc_ingress);
	if (!uplink)
		out_string("hook", " hook %s", st->ingress ? "xdp, tc" : "tc");
	if (!st->egress && uplink)
		out_text(" EGRESS NOT ATTACHED");
	if (!st->tc_ingress || (uplink && !st->ingress))
		out_text(" INGRESS NOT ATTACHED");
}

/* The programs of a virtual port are on the other end of its veth pair. */
static int dev_status(const struct dev_info *dev, struct srpol_dev_status *st)
{
	unsigned int peer = 0;

	if (dev->role == SRPOL_DEV_ROLE_HOST)
		peer = srpol_host_peer(dev->ifindex);
	return srpol_dp_dev_status(peer ?: dev->ifindex, st);
}

void print_dev(const struct dev_info *dev)
{
	struct srpol_dev_status st;
	struct srpol_dp_status dp;
	int err;

	err = dev_status(dev, &st);
	out_object(NULL);
	out_string("dev", "dev %s", dev_name(dev->ifindex));
	out_uint("ifindex", NULL, dev->ifindex);
	out_string("role", " role %s",
		   srpol_name_of(srpol_dev_roles, dev->role));
	out_bool("running", NULL, dev->running);
	out_text(dev->running ? " up" : " down");
	out_uint("mtu", " mtu %llu", dev->mtu);
	out_string("xdp", " xdp %s", srpol_name_of(srpol_xdp_modes,
						   dev->xdp_mode));
	out_string("xdp_used", " (%s)", st.xdp_mode);
	if (dev->role != SRPOL_DEV_ROLE_UPLINK)
		out_string("source", " source %s",
			   srpol_name_of(srpol_source_checks, dev->source));
	if (err)
		out_text(" programs not shown: %s", strerror(-err));
	else
		print_programs(dev, &st);
	if (dev->role == SRPOL_DEV_ROLE_HOST)
		print_host(dev->ifindex);
	if (!srpol_dp_status(&dp, NULL) && dp.loaded) {
		out_string("pins", "\n\tpinned in %s", dp.dir);
		out_bool("holds_module",
			 ", which holds module srpol until \"srpol dev del\"",
			 true);
	}
	out_text("\n");
	out_object_end();
}

static int dev_show(struct args *args, unsigned int flags)
{
	struct vec devs = VEC_INIT(struct dev_info);
	const struct dev_info *dev;
	unsigned int ifindex = 0, n = 0;
	int err;

	if (more(args) && !read_dev(args, &ifindex))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_devs(&devs);
	if (err)
		return err;
	out_begin();
	vec_for_each(dev, &devs) {
		if (ifindex && dev->ifindex != ifindex)
			continue;
		print_dev(dev);
		n++;
	}
	err = out_found(n, ifindex, "srpol is not on this device");
	vec_free(&devs);
	return err;
}

int do_dev(struct args *args)
{
	static const struct command commands[] = {
		{ "add", dev_add, NLM_F_CREATE | NLM_F_EXCL },
		{ "change", dev_change, 0 },
		{ "delete", dev_del, 0 },
		{ "show", dev_show, 0 },
		{ "watch", dev_watch, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
