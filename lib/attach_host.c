// SPDX-License-Identifier: LGPL-2.1
/*
 * Virtual ports: the programs on the other end of the pair, and the addresses
 * for which uplinks redirect packets to it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach.h"
#include "srpol_lib.h"

static int next_addr(int map, struct in6_addr *addr, bool first)
{
	return bpf_map_get_next_key(map, first ? NULL : addr, addr);
}

/* As a key of map "host_addrs"; false: it has none, as link-local addresses have. */
static bool key_of(const struct sockaddr *sa, struct in6_addr *key)
{
	*key = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
	if (sa && sa->sa_family == AF_INET6)
		*key = ((const struct sockaddr_in6 *)sa)->sin6_addr;
	else if (sa && sa->sa_family == AF_INET)
		memcpy(&key->s6_addr[12],
		       &((const struct sockaddr_in *)sa)->sin_addr, 4);
	else
		return false;
	return !IN6_IS_ADDR_LINKLOCAL(key);
}

static bool has_addr(const struct ifaddrs *all, const char *name,
		     const struct in6_addr *addr)
{
	struct in6_addr key;

	for (; all; all = all->ifa_next)
		if (!strcmp(all->ifa_name, name) && key_of(all->ifa_addr, &key) &&
		    IN6_ARE_ADDR_EQUAL(&key, addr))
			return true;
	return false;
}

/*
 * Remove the addresses that lead to @ifindex, or to a device that is gone, but for those
 * that device @name has according to @kept. Removing one may cut the walk short, so it
 * starts again.
 */
static void forget_addrs(int map, unsigned int ifindex, const struct ifaddrs *kept,
			 const char *name)
{
	struct srpol_host h;
	struct in6_addr addr;
	char other[IF_NAMESIZE];
	bool first = true;

	while (!next_addr(map, &addr, first)) {
		first = false;
		if (bpf_map_lookup_elem(map, &addr, &h) ||
		    (h.ifindex == ifindex ? has_addr(kept, name, &addr) :
					    !!if_indextoname(h.ifindex, other)))
			continue;
		bpf_map_delete_elem(map, &addr);
		first = true;
	}
}

static int device_mac(const char *name, uint8_t *mac, uint32_t *mtu)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;
	struct ifreq req = {};

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &req))
		ret = -errno;
	memcpy(mac, req.ifr_hwaddr.sa_data, 6);
	if (!ret && ioctl(fd, SIOCGIFMTU, &req))
		ret = -errno;
	*mtu = req.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return ret;
}

/*
 * Packets go on meanwhile, so an address that stays is there all the time. What the
 * device does not have any more goes first, as it may be what the map has no room for.
 */
static int set_addrs(int map, const char *name, const struct srpol_host *h)
{
	struct ifaddrs *all, *a;
	struct in6_addr key;
	int ret = 0;

	if (getifaddrs(&all))
		return -errno;
	forget_addrs(map, h->ifindex, all, name);
	for (a = all; a && !ret; a = a->ifa_next)
		if (!strcmp(a->ifa_name, name) && key_of(a->ifa_addr, &key) &&
		    bpf_map_update_elem(map, &key, h, BPF_ANY))
			ret = -errno;
	freeifaddrs(all);
	return ret;
}

/*
 * Fill in how packets reach the workload's end of a pair: through its other
 * end.
 */
static int read_pair(unsigned int ifindex, char *name, struct srpol_host *h)
{
	char peer[IF_NAMESIZE];
	uint32_t mtu;

	h->workload = ifindex;
	h->ifindex = srpol_host_peer(ifindex);
	if (!h->ifindex || !if_indextoname(ifindex, name) ||
	    !if_indextoname(h->ifindex, peer))
		return -ENODEV;
	return device_mac(name, h->macs, &h->mtu) ?:
	       device_mac(peer, h->macs + 6, &mtu);
}

/**
 * srpol_dp_host_sync() - write the addresses of a virtual port to the data
 * plane
 * @ifindex: the workload's end
 * @err: for the reason
 *
 * The addresses are those that the device has now.
 */
int srpol_dp_host_sync(unsigned int ifindex, struct srpol_error *err)
{
	struct srpol_dp_status st;
	char name[IF_NAMESIZE];
	struct srpol_host h;
	int map, ret;

	ret = srpol_dp_status(&st, err) ?: srpol_dp_check_layout(err);
	if (ret)
		return ret;
	ret = read_pair(ifindex, name, &h);
	if (ret)
		return srpol_error_set(err, ret,
				       "device %u is no veth whose other end is in this namespace",
				       ifindex);
	map = srpol_map_open("host_addrs");
	if (map < 0)
		return srpol_error_set(err, map, "%s/host_addrs: %s", st.dir,
				       strerror(-map));
	ret = set_addrs(map, name, &h);
	srpol_map_close(map);
	return ret ? srpol_error_set(err, ret, "addresses of %s: %s", name,
				     strerror(-ret)) : 0;
}

/**
 * srpol_attach_host() - attach the programs to a virtual port
 * @dir: folder of pins
 * @ifindex: the workload's end
 * @err: for the reason
 *
 * They are attached to the other end, at TC, as its packets are skbs whose
 * properties XDP cannot see.
 */
int srpol_attach_host(const char *dir, unsigned int ifindex,
		      struct srpol_error *err)
{
	unsigned int peer = srpol_host_peer(ifindex);
	int ret = 0;

	if (peer)
		ret = srpol_attach_port(dir, peer, SRPOL_XDP_MODE_NONE, err);
	if (ret)
		return ret;
	ret = srpol_dp_host_sync(ifindex, err);
	if (ret && peer)
		srpol_dp_detach(peer, NULL);
	return ret;
}

/**
 * srpol_dp_detach_host() - detach the programs from a virtual port
 * @ifindex: the workload's end
 * @err: for the reason
 *
 * In a data plane of another version, its addresses stay until the last device
 * is deleted, as their entries cannot be read.
 */
int srpol_dp_detach_host(unsigned int ifindex, struct srpol_error *err)
{
	unsigned int peer = srpol_host_peer(ifindex);
	struct srpol_dp_status st;
	int map, ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	map = srpol_map_open("host_addrs");
	if (map >= 0)
		forget_addrs(map, peer, NULL, NULL);
	srpol_map_close(map);
	return peer ? srpol_dp_detach(peer, err) : 0;
}

/**
 * srpol_dp_host_sweep() - remove the addresses of virtual ports that are gone
 *
 * To be called with the lock of the pins held.
 */
void srpol_dp_host_sweep(void)
{
	int map = srpol_map_open("host_addrs");

	if (map < 0)
		return;
	forget_addrs(map, 0, NULL, NULL);
	srpol_map_close(map);
}

/**
 * srpol_dp_host_stale() - do any addresses lead to virtual ports that are gone
 */
bool srpol_dp_host_stale(void)
{
	int map = srpol_map_open("host_addrs");
	struct in6_addr addr;
	char name[IF_NAMESIZE];
	struct srpol_host h;
	bool stale = false, first = true;

	while (map >= 0 && !stale && !next_addr(map, &addr, first)) {
		first = false;
		stale = !srpol_map_lookup(map, &addr, &h) &&
			!if_indextoname(h.ifindex, name);
	}
	if (map >= 0)
		srpol_map_close(map);
	return stale;
}

/**
 * srpol_dp_host_has() - does an address lead to a virtual port
 * @addr: IPv4 as v4-mapped
 *
 * Return: true also if the caller may not read the map.
 */
bool srpol_dp_host_has(const struct in6_addr *addr)
{
	struct srpol_host h;
	int map = srpol_map_open("host_addrs");
	bool has;

	if (map < 0)
		return true;
	has = !srpol_map_lookup(map, addr, &h);
	srpol_map_close(map);
	return has;
}
