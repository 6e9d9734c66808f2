// SPDX-License-Identifier: GPL-2.0
/*
 * The data plane on real devices without the module, for the scripts here:
 *
 *	attach [-f] [-o DEV] [-t VID] [-h PORT | -H PORT] [-F DEV[,DEV]] [-x MAC]
 *	       [-V DEV] [-B SID] [-v VID] -p PINS -s SOURCE -n MAC -l SID DEV[,DEV...]
 *	       SID...
 *
 * loads the object, steers everything over the SIDs, in order of travel, to
 * the neighbor with address MAC (by device -o, else the first DEV), ends SID
 * -l as End.DT46, attaches to the devices (-h: a host port with XDP and TC, -H:
 * TC alone; -V: a virtual port that hostdev made; -F: what is decapsulated is
 * forwarded to DEVs in XDP; -B: SID is the binding SID of that policy, and flow
 * labels are 0, so that others can be compared with, and its MTU 1900), pins the
 * links, the maps and srpol_egress, and exits. With -t a program before ours puts
 * a VLAN tag into the metadata of what leaves the first DEV.
 *
 *	attach -r PINS
 *
 * prints what was counted so far, a reason per line.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "srpol_lib.h"
#include "srpol.skel.h"

static void die(const char *what)
{
	fprintf(stderr, "attach: %s: %m\n", what);
	exit(1);
}

static int show_reasons(const char *pins)
{
	int cpus = libbpf_num_possible_cpus(), fd, cpu;
	char file[256];
	__u32 r;

	snprintf(file, sizeof(file), "%s/reasons", pins);
	fd = bpf_obj_get(file);
	if (fd < 0)
		die(file);
	for (r = 0; r < SRPOL_REASON_COUNT; r++) {
		__u64 v[cpus], sum = 0;

		if (bpf_map_lookup_elem(fd, &r, v))
			die("reasons");
		for (cpu = 0; cpu < cpus; cpu++)
			sum += v[cpu];
		printf("%s %llu\n", rig_reason_name(r), sum);
	}
	return 0;
}

static void device_mac(const char *dev, __u8 *mac)
{
	struct ifreq req = {};
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", dev);
	if (s < 0 || ioctl(s, SIOCGIFHWADDR, &req))
		die(dev);
	close(s);
	memcpy(mac, req.ifr_hwaddr.sa_data, 6);
}

static void parse_mac(const char *mac, __u8 *d)
{
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", d, d + 1, d + 2,
		   d + 3, d + 4, d + 5) != 6)
		die(mac);
}

static void set_path(const struct outer *o, const char *dev, const char *mac,
		     bool with_label, int vlan)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 1, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_config cfg = {
		.icmp_errors = 1,
		.flow_label = with_label ? 0 : SRPOL_FLOW_LABEL_ZERO,
	};
	struct srpol_dp_rule rule = {
		.color = 1, .vlan = vlan,
		.match = vlan ? SRPOL_MATCH_VLAN : 0,
	};
	struct srpol_dp_path path;

	rig_path_arg(&path, 1, o, 1, with_label ? 9000 : 1900);
	parse_mac(mac, path.rewrite);
	device_mac(dev, path.rewrite + 6);
	rig_reset();
	rig_config(cfg);
	rig_nexthop(1, if_nametoindex(dev), 1);
	if (rig_call("path_set", &path, sizeof(path)))
		FAIL("path_set");
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_rules(&rule, 1);
}

/* SID @local is End.DX6 to the host @mac at @port. */
static void set_adjacency(struct in6_addr local, const char *port,
			  const char *mac)
{
	struct srpol_dp_sid s = {
		.id = 1, .behavior = SRPOL_BEHAVIOR_END_DX6, .prefix_len = 128,
		.nexthop = 2,
	};

	memcpy(s.sid, &local, 16);
	parse_mac(mac, s.l2);
	device_mac(port, s.l2 + 6);
	rig_nexthop(2, if_nametoindex(port), 1);
	rig_sid_set(&s);
}

static void set_binding(struct in6_addr bsid)
{
	struct srpol_dp_sid s = {
		.id = 2, .behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS,
		.prefix_len = 128, .policy = 1,
	};

	memcpy(s.sid, &bsid, 16);
	rig_sid_set(&s);
}

/* TC ingress always, XDP before it if asked for, as srpol_dp_attach() has it. */
/* Pin what can be looked at, by the names that srpol gives to the pins. */
static void pin_objects(const char *pins)
{
	struct bpf_map *map;
	char file[256];

	bpf_object__for_each_map(map, rig->obj) {
		if (map == rig->maps.srpol_dp || bpf_map__is_internal(map))
			continue;
		snprintf(file, sizeof(file), "%s/%s", pins, bpf_map__name(map));
		if (bpf_map__pin(map, file))
			die(file);
	}
	snprintf(file, sizeof(file), "%s/prog_egress", pins);
	if (bpf_program__pin(rig->progs.srpol_egress, file))
		die(file);
}

static void attach_port(const char *port, bool with_xdp, const char *pins)
{
	struct bpf_link *link;
	char file[256];

	if (srpol_dev_takes_frames(if_nametoindex(port)))
		rig_forward_to(if_nametoindex(port));
	link = bpf_program__attach_tcx(rig->progs.srpol_port_tc,
				       if_nametoindex(port), NULL);
	snprintf(file, sizeof(file), "%s/port-tc-%s", pins, port);
	if (!link || bpf_link__pin(link, file))
		die(file);
	if (!with_xdp)
		return;
	link = bpf_program__attach_xdp(rig->progs.srpol_port,
				       if_nametoindex(port));
	snprintf(file, sizeof(file), "%s/port-%s", pins, port);
	if (!link || bpf_link__pin(link, file))
		die(file);
}

/* As srpol_dp_attach() has it for a virtual port. */
static void attach_virtual(const char *dev, const char *pins)
{
	struct srpol_host h = {};
	char peer[IF_NAMESIZE];
	struct ifaddrs *all, *a;

	h.workload = if_nametoindex(dev);
	h.ifindex = srpol_host_peer(h.workload);
	h.mtu = 8900;
	if (!if_indextoname(h.ifindex, peer) || getifaddrs(&all))
		die(dev);
	device_mac(dev, h.macs);
	device_mac(peer, h.macs + 6);
	for (a = all; a; a = a->ifa_next) {
		struct in6_addr key = { .s6_addr = { [10] = 255, [11] = 255 } };

		if (!a->ifa_addr || strcmp(a->ifa_name, dev))
			continue;
		if (a->ifa_addr->sa_family == AF_INET6)
			key = ((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr;
		else if (a->ifa_addr->sa_family == AF_INET)
			memcpy(&key.s6_addr[12], &((struct sockaddr_in *)
						   a->ifa_addr)->sin_addr, 4);
		else
			continue;
		if (bpf_map_update_elem(rig_map("host_addrs"), &key, &h, 0))
			die("host_addrs");
	}
	freeifaddrs(all);
	attach_port(peer, false, pins);
}

static void attach_uplink_tc(const char *dev, const char *pins)
{
	struct bpf_link *tc;
	char file[256];

	tc = bpf_program__attach_tcx(rig->progs.srpol_uplink_tc,
				     if_nametoindex(dev), NULL);
	snprintf(file, sizeof(file), "%s/uplink-tc-%s", pins, dev);
	if (!tc || bpf_link__pin(tc, file))
		die(file);
}

static void attach_to(const char *dev, const char *pins)
{
	int ifindex = if_nametoindex(dev);
	struct bpf_link *tcx, *xdp;
	char file[256];

	if (srpol_dev_takes_frames(ifindex))
		rig_uplink_add(ifindex);
	else
		rig_uplink_add_tc(ifindex);
	tcx = bpf_program__attach_tcx(rig->progs.srpol_egress, ifindex, NULL);
	snprintf(file, sizeof(file), "%s/tcx-%s", pins, dev);
	if (!tcx || bpf_link__pin(tcx, file))
		die(file);
	xdp = bpf_program__attach_xdp(rig->progs.srpol_uplink, ifindex);
	snprintf(file, sizeof(file), "%s/xdp-%s", pins, dev);
	if (!xdp || bpf_link__pin(xdp, file))
		die(file);
	attach_uplink_tc(dev, pins);
}

/* What comes in by a device is forwarded to others in XDP. */
static void forward_to(const char *from, const char *devs)
{
	char list[64], *rest = list, *dev;

	snprintf(list, sizeof(list), "%s", devs);
	while ((dev = strsep(&rest, ",")))
		rig_forward(if_nametoindex(from), if_nametoindex(dev));
}

/* return bpf_skb_vlan_push(skb, htons(ETH_P_8021Q), vid), TCX_NEXT; */
static void attach_tagger(const char *dev, const char *pins, int vid)
{
	const struct bpf_insn insns[] = {
		{ .code = 0xb7, .dst_reg = 2, .imm = 0x0081 },
		{ .code = 0xb7, .dst_reg = 3, .imm = vid },
		{ .code = 0x85, .imm = BPF_FUNC_skb_vlan_push },
		{ .code = 0xb7, .dst_reg = 0, .imm = -1 },
		{ .code = 0x95 },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, load,
		    .expected_attach_type = BPF_TCX_EGRESS);
	LIBBPF_OPTS(bpf_link_create_opts, before, .flags = BPF_F_BEFORE);
	char file[256];
	int prog, link;

	prog = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "tagger", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &load);
	if (prog < 0)
		die("tagger");
	link = bpf_link_create(prog, if_nametoindex(dev), BPF_TCX_EGRESS,
			       &before);
	snprintf(file, sizeof(file), "%s/tagger", pins);
	if (link < 0 || bpf_obj_pin(link, file))
		die(file);
}

int main(int argc, char **argv)
{
	const char *pins = NULL, *mac = NULL, *local = NULL, *out = NULL;
	const char *port = NULL, *host = NULL, *forward = NULL;
	const char *virtual = NULL, *binding = NULL;
	struct in6_addr sids[SRPOL_SEGS_MAX];
	struct outer o = { .sids = sids };
	char *dev;
	bool with_xdp = false;
	int c, vid = 0, vlan = 0;

	while ((c = getopt(argc, argv, "fo:t:v:h:H:V:F:x:p:s:n:l:r:B:")) != -1) {
		switch (c) {
		case 'f':
			o.full = true;
			break;
		case 'o':
			out = optarg;
			break;
		case 't':
			vid = atoi(optarg);
			break;
		case 'v':
			vlan = atoi(optarg);
			break;
		case 'h':
		case 'H':
			port = optarg;
			with_xdp = c == 'h';
			break;
		case 'V':
			virtual = optarg;
			break;
		case 'F':
			forward = optarg;
			break;
		case 'x':
			host = optarg;
			break;
		case 'B':
			binding = optarg;
			break;
		case 'p':
			pins = optarg;
			break;
		case 's':
			o.src = optarg;
			break;
		case 'n':
			mac = optarg;
			break;
		case 'l':
			local = optarg;
			break;
		case 'r':
			return show_reasons(optarg);
		default:
			return 2;
		}
	}
	if (!pins || !mac || !local || !o.src || (host && !port) ||
	    argc - optind < 2 || argc - optind > 1 + SRPOL_SEGS_MAX)
		return 2;
	for (c = optind + 1; c < argc; c++)
		sids[o.n++] = addr(argv[c]);

	rig_salt = (__u64)getpid() << 32;
	rig_open();
	dev = strtok(argv[optind], ",");
	set_path(&o, out ? out : dev, mac, !binding, vlan);
	if (binding)
		set_binding(addr(binding));
	if (host)
		set_adjacency(addr(local), port, host);
	else
		rig_sid(1, addr(local), SRPOL_BEHAVIOR_END_DT46);
	if (vid)
		attach_tagger(dev, pins, vid);
	for (; dev; dev = strtok(NULL, ",")) {
		attach_to(dev, pins);
		if (forward)
			forward_to(dev, forward);
	}
	if (virtual)
		attach_virtual(virtual, pins);
	if (port)
		attach_port(port, with_xdp, pins);
	pin_objects(pins);
	return ktap_failures ? 1 : 0;
}
