// SPDX-License-Identifier: GPL-2.0
/* srpol doctor: devices, their drivers, programs and MTU. */
#include <net/if.h>
#include <string.h>

#include "doctor.h"

#define RDMA_OVERHEAD	96	/* RoCEv2 headers around a payload, rounded up */

static int effective(const char *fmt, const char *dev)
{
	int all = read_sysctl(fmt, "all"), one = read_sysctl(fmt, dev);

	return all > one ? all : one;
}

/*
 * Checks that a virtual port is as it was made: addresses may have been added
 * since that the data plane does not know, or paths with a smaller MTU.
 */
static void check_host(const struct dev_info *dev, const char *name,
		       const struct vec *paths)
{
	const struct path_info *path;
	struct srpol_host_port h;
	uint32_t inner = dev->mtu;
	char text[SRPOL_PREFIX_STRLEN];
	unsigned int i;

	if (srpol_host_read(dev->ifindex, &h))
		return;
	if (!h.n_addrs)
		report(WARNING, name, "srpol dev change with an address",
		       "a virtual port without an address");
	for (i = 0; i < h.n_addrs; i++)
		if (!srpol_dp_host_has(&h.addrs[i].addr))
			report(WARNING, name, "srpol dev change DEV",
			       "packets for its address %s bypass it",
			       srpol_prefix_text(&h.addrs[i].addr,
						 h.addrs[i].len, text));
	if (!h.rule)
		report(WARNING, name, "srpol dev del, then srpol dev add",
		       "packets that srpol does not steer are in a routing loop: its other end, %s, was renamed, or \"ip rule iif %s\" was deleted",
		       h.peer, h.peer);
	vec_for_each(path, paths)
		if (path->mtu && path->mtu < inner)
			inner = path->mtu;
	if (inner < dev->mtu)
		report(WARNING, name,
		       "srpol dev del, then srpol dev add, with its applications stopped",
		       "MTU %u, but a path leaves %u for inner packets",
		       dev->mtu, inner);
}

#define SWEEP	"the next \"srpol dev\" add, change or del removes it"

static void report_stale(const char *peer, void *data)
{
	report(WARNING, "rules", SWEEP,
	       "\"ip rule iif %s\" was left by a deleted virtual port",
	       peer);
}

/* Finds what is left of virtual ports that were not deleted by srpol. */
static void check_hosts_gone(void)
{
	srpol_host_stale(report_stale, NULL);
	if (srpol_dp_host_stale())
		report(WARNING, "addresses", SWEEP,
		       "packets for an address of a deleted virtual port are dropped");
}

/* Describes a device by what its driver can do at present. */
static void check_driver(const struct dev_info *dev, const char *name,
			 const struct srpol_dev_status *st)
{
	struct srpol_dev_driver drv;

	srpol_dev_read_driver(dev->ifindex, &drv);
	report(GOOD, name, "",
	       "driver %s, native XDP %s, target of XDP redirect %s, VLAN stripping %s, MTU %u",
	       drv.name, drv.native_xdp ? "yes" : "no",
	       drv.xdp_target ? "yes" : "no", drv.vlan_strip ? "on" : "off",
	       drv.mtu);
	if (dev->role == SRPOL_DEV_ROLE_UPLINK && !strcmp(drv.name, "ipvlan"))
		report(WARNING, name, "make its parent the uplink, or use macvlan",
		       "ipvlan gives packets for SIDs to its parent, as SIDs are no addresses: none of them is decapsulated");
	if (dev->xdp_mode == SRPOL_XDP_MODE_AUTO && st->ingress &&
	    !strcmp(st->xdp_mode, "generic") && drv.native_xdp)
		report(NOTE, name,
		       "compare the MTU and ethtool -k with what the driver takes, see dmesg, then srpol dev del and dev add",
		       "XDP is generic, which is slow: driver %s has native XDP, but refused it when the device was added",
		       drv.name);
}

/* Checks which programs are attached, and how. */
static void check_programs(const struct dev_info *dev, const char *name,
			   unsigned int peer)
{
	bool port = dev->role != SRPOL_DEV_ROLE_UPLINK;
	struct srpol_dev_status st;

	if (srpol_dp_dev_status(peer ?: dev->ifindex, &st)) {
		report(NOTE, name, "run srpol doctor as root",
		       "no permission to see which programs are attached");
		check_driver(dev, name, &st);
		return;
	}
	report(st.tc_ingress && (port || (st.egress && st.ingress)) ?
	       GOOD : BAD, name,
	       "srpol dev del, then srpol dev add; see also: bpftool net show",
	       "programs attached: egress %s, ingress %s (XDP %s, TC %s)",
	       port ? "not needed" : st.egress ? "yes" : "NO",
	       st.tc_ingress && (port || st.ingress) ? "yes" : "NO",
	       st.xdp_mode, st.tc_ingress ? "yes" : "no");
	check_driver(dev, name, &st);
	if (port && st.ingress && srpol_dev_is_soft(dev->ifindex))
		report(WARNING, name, "srpol dev add with hook tc",
		       "XDP on a veth, tap or bridge loses checksums that are pending and tags in metadata");
	if (!st.ingress && st.xdp_id)
		report(BAD, name, "detach it or run it elsewhere",
		       "XDP program %u belongs to someone else", st.xdp_id);
}

/* The MTU of RDMA that fits into an MTU: a power of two, 0 if none does. */
static uint32_t rdma_mtu(uint32_t mtu)
{
	uint32_t size = 4096;

	while (size >= 256 && size + RDMA_OVERHEAD > mtu)
		size /= 2;
	return size >= 256 ? size : 0;
}

/*
 * RDMA derives its MTU from that of the device and knows nothing of the outer
 * header. So its packets are too big if the paths leave less.
 */
static void check_mtu(const struct dev_info *dev, const char *name,
		      const struct vec *paths)
{
	const struct path_info *path;
	uint32_t inner = dev->mtu;

	vec_for_each(path, paths)
		if (path->out_ifindex == dev->ifindex && path->mtu &&
		    path->mtu < inner)
			inner = path->mtu;
	if (inner == dev->mtu)
		return;
	report(rdma_mtu(inner) == rdma_mtu(dev->mtu) ? GOOD : WARNING, name,
	       "raise the MTU of the fabric, or lower that of RDMA",
	       "MTU %u leaves %u for inner packets: RDMA MTU %u, without a path %u",
	       dev->mtu, inner, rdma_mtu(inner), rdma_mtu(dev->mtu));
}

static void check_dev(const struct dev_info *dev, const struct vec *paths,
		      const struct vec *sids)
{
	const char *rp = "/proc/sys/net/ipv4/conf/%s/rp_filter";
	bool host = dev->role == SRPOL_DEV_ROLE_HOST;
	char name[IF_NAMESIZE] = "?";
	unsigned int peer = 0;

	if_indextoname(dev->ifindex, name);
	if (host) {
		peer = srpol_host_peer(dev->ifindex);
		if (!peer)
			report(BAD, name, "srpol dev del, then srpol dev add",
			       "a virtual port whose other end was deleted or is in another namespace");
	}
	check_programs(dev, name, peer);
	check_master(dev, name);
	if (dev->role == SRPOL_DEV_ROLE_PORT && dev->source &&
	    !srpol_dev_forwards(dev->ifindex))
		report(WARNING, name,
		       "sysctl net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1, or srpol dev add with source none",
		       "sources are checked, but forwarding is off: what comes in is dropped in the family that does not forward");
	if (host && peer)
		check_host(dev, name, paths);
	if (!dev->running)
		report(WARNING, name, "ip link set up, check the cable",
		       "device is down or has no carrier");
	if (dev->role == SRPOL_DEV_ROLE_UPLINK &&
	    read_sysctl("/proc/sys/net/ipv6/conf/%s/disable_ipv6", name) == 1)
		report(WARNING, name, "sysctl net.ipv6.conf.DEV.disable_ipv6=0, then its addresses and routes again",
		       "IPv6 is disabled on the uplink: decapsulated IPv6 packets are dropped, and neighbors are not resolved");
	if (sids->n && effective(rp, name) == 1)
		report(WARNING, name, "sysctl rp_filter to 0 or 2",
		       "strict reverse-path filter may drop decapsulated IPv4");
	check_mtu(dev, name, paths);
}

/*
 * What XDP of a host port steers is sent by XDP transmission of the uplink, so
 * the uplink has to accept frames from XDP.
 */
static void check_ports(const struct vec *devs)
{
	const struct dev_info *dev;
	struct srpol_dev_status st;
	bool with_xdp = false;

	vec_for_each(dev, devs)
		with_xdp |= dev->role == SRPOL_DEV_ROLE_PORT &&
			    !srpol_dp_dev_status(dev->ifindex, &st) &&
			    st.ingress;
	vec_for_each(dev, devs) {
		if (!with_xdp || dev->role != SRPOL_DEV_ROLE_UPLINK ||
		    srpol_dev_takes_frames(dev->ifindex))
			continue;
		if (srpol_dp_by_xdp(dev->ifindex))
			report(WARNING, dev_name(dev->ifindex),
			       "srpol dev watch, or dev del and dev add of a host port, or of a veth: ethtool -K PEER gro on",
			       "takes no frames from XDP any more: packets that the XDP of host ports steers to it are dropped");
		else
			report(NOTE, dev_name(dev->ifindex),
			       "of a veth: ethtool -K PEER gro on, then srpol dev del and dev add of a host port",
			       "takes no frames from XDP: packets that host ports steer to it go by TC");
	}
}

static bool is_uplink(const struct vec *devs, unsigned int ifindex)
{
	const struct dev_info *dev;

	vec_for_each(dev, devs)
		if (dev->ifindex == ifindex)
			return dev->role == SRPOL_DEV_ROLE_UPLINK;
	return false;
}

/* Is it the first path by its device? Then @n is how many there are. */
static bool is_first(const struct path_info *path, const struct vec *paths,
		     unsigned int *n)
{
	const struct path_info *other, *first = NULL;

	*n = 0;
	vec_for_each(other, paths) {
		if (other->out_ifindex != path->out_ifindex)
			continue;
		first = first ?: other;
		if (first != path)
			return false;
		++*n;
	}
	return true;
}

/* Finds paths by devices that nothing is steered at: there may be thousands. */
static void check_paths(const struct vec *devs, const struct vec *paths)
{
	const struct path_info *path;
	char more[32] = "";
	unsigned int n;

	vec_for_each(path, paths) {
		if (!path->out_ifindex ||
		    is_uplink(devs, path->out_ifindex) ||
		    !is_first(path, paths, &n))
			continue;
		if (n > 1)
			snprintf(more, sizeof(more), " and %u more", n - 1);
		report(WARNING, dev_name(path->out_ifindex),
		       "srpol dev add DEV role uplink",
		       "path %u%s by it, but it is no uplink: what routes send by it is not steered, and what ports send by such a path is dropped",
		       path->id, more);
		more[0] = '\0';
	}
}

/**
 * check_devices() - check devices that have a role
 * @devs: the devices
 * @paths: all paths
 * @sids: all local SIDs
 */
void check_devices(const struct vec *devs, const struct vec *paths,
		   const struct vec *sids)
{
	const struct dev_info *dev;
	bool has_uplink = false;

	vec_for_each(dev, devs)
		has_uplink |= dev->role == SRPOL_DEV_ROLE_UPLINK;
	if (!has_uplink)
		report(WARNING, "devices", "srpol dev add DEV role uplink",
		       "no uplink: no packet is steered or decapsulated");
	vec_for_each(dev, devs)
		check_dev(dev, paths, sids);
	if (has_uplink)
		check_paths(devs, paths);
	check_hosts_gone();
	check_ports(devs);
}
