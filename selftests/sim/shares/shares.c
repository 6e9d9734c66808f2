// SPDX-License-Identifier: GPL-2.0
/*
 * From a topology file to packets on the real data plane, without the module:
 *
 *	shares [-a ALG] [-w WEIGHT,...] [-m hash|spray] [-f] -p PINS -s SOURCE
 *		-n MAC TOPOLOGY DEV
 *
 * places a demand from the file's first GPU to its second by ALG (wecmp),
 * loads the object, makes paths of the segment lists and buckets of the
 * weights (kmod/bucket.c), attaches to DEV, pins, and exits. It prints, per
 * path, the switch where it turns and the part of the bytes that lib/alg
 * predicts for the link there. With -w the paths have these weights instead.
 * With -f it does not exit: each line of its input has weights, which come to count
 * at one point, as those of the module do; it is answered by a line.
 *
 *	shares -c PACKETS -r MBIT [-o] ADDRESS
 *
 * sends datagrams of 400 bytes, each a flow of its own, or with -o all of one, to
 * ADDRESS. In mode spray one flow's packets are spread evenly; where each is the
 * first one of a flow, chance spreads them.
 */
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#include "alg.h"
#include "bucket.h"
#include "srpol_lib.h"

#define BUCKETS		128
#define PATHS_MAX	64
#define PAYLOAD		400
#define PORTS		60000

static const char *given;	/* weights */
static uint32_t n_paths;

static void die(const char *what)
{
	fprintf(stderr, "shares: %s\n", what);
	exit(1);
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

static __u32 bucket_path(__u32 bucket, const void *arg)
{
	return 1 + ((const __u8 *)arg)[bucket];
}

/* Path @i + 1 of the data plane. */
static void set_path(const struct srpol_fabric *f,
		     const struct srpol_route *route, uint32_t i,
		     const char *source, const char *dev, const char *mac)
{
	struct outer o = { .src = source };
	struct srpol_sid_list list;
	struct srpol_dp_path path;
	struct srpol_error err;

	if (srpol_sids_of_path(f, route, SRPOL_HOPS_ALL, NULL,
			       SRPOL_SID_REDUCED, &list, &err))
		die(err.text);
	o.sids = list.sid;
	o.n = list.n;
	rig_path_arg(&path, i + 1, &o, 1, 9000);
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", path.rewrite,
		   path.rewrite + 1, path.rewrite + 2, path.rewrite + 3,
		   path.rewrite + 4, path.rewrite + 5) != 6)
		die(mac);
	device_mac(dev, path.rewrite + 6);
	if (rig_call("path_set", &path, sizeof(path)))
		die("path_set");
}

/* All paths, and a policy with the weights for everything. */
static void set_policy(const struct srpol_alg_input *in,
		       const struct srpol_placement *p, __u32 mode,
		       const char *source, const char *dev, const char *mac)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 1, .row = 1, .n_buckets = BUCKETS,
		.mode = mode,
	};
	struct srpol_dp_rule all = {
		.color = 1, .mode = SRPOL_MODE_INHERIT,
		.ordering = SRPOL_ORDERING_WEAK,
	};
	struct srpol_dp_config cfg = { .icmp_errors = 1 };
	__u32 weight[PATHS_MAX] = {}, i;
	struct srpol_path_set set;
	struct srpol_route route;
	__u8 primary[BUCKETS];
	char *end;

	rig_open();
	rig_reset();
	rig_config(cfg);
	rig_nexthop(1, if_nametoindex(dev), 1);
	if (srpol_path_set_init(in->fabric, 0, 1, &set) || set.n > PATHS_MAX)
		die("no paths");
	n_paths = set.n;
	for (i = 0; i < set.n; i++) {
		srpol_path_get(in->fabric, &set, i, &route);
		set_path(in->fabric, &route, i, source, dev, mac);
	}
	for (i = 0; i < p->first[1]; i++)
		weight[p->shares[i].path] = p->shares[i].weight;
	for (i = 0; given && i < set.n; i++) {
		weight[i] = strtoul(given, &end, 10);
		if (end == given || *end != (i + 1 < set.n ? ',' : '\0'))
			die("-w: one weight per path");
		given = end + 1;
	}
	memset(primary, 0xff, sizeof(primary));
	srpol_bucket_primary(primary, BUCKETS, weight, set.n);
	rig_row(1, bucket_path, primary);
	rig_policy(&policy);
	rig_rules(&all, 1);
	srpol_path_set_free(&set);
}

/* Lines of weights, each into the row that is not in use, then one commit. */
static void follow(uint32_t n)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 1, .row = 1, .n_buckets = BUCKETS,
	};
	__u32 weight[PATHS_MAX], i;
	__u8 primary[BUCKETS];
	char line[1024], *at, *end;

	while (fgets(line, sizeof(line), stdin)) {
		for (i = 0, at = line; i < n; i++, at = end + 1) {
			weight[i] = strtoul(at, &end, 10);
			if (end == at || *end != (i + 1 < n ? ',' : '\n'))
				die("one weight per path");
		}
		memset(primary, 0xff, sizeof(primary));
		srpol_bucket_primary(primary, BUCKETS, weight, n);
		policy.row ^= 3;
		rig_row(policy.row, bucket_path, primary);
		rig_policy(&policy);
		puts("done");
		fflush(stdout);
	}
}

static void attach(const char *dev, const char *pins)
{
	int ifindex = if_nametoindex(dev);
	struct bpf_link *tcx;
	char file[256];

	rig_uplink_add(ifindex);
	tcx = bpf_program__attach_tcx(rig->progs.srpol_egress, ifindex, NULL);
	snprintf(file, sizeof(file), "%s/tcx-%s", pins, dev);
	if (!tcx || bpf_link__pin(tcx, file))
		die(file);
}

/* What lib/alg says of the links over which the paths leave the leaf. */
static void print_shares(const struct srpol_alg_input *in,
			 const struct srpol_placement *p)
{
	double *load = calloc(in->fabric->n_links + 1, sizeof(*load));
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i;

	if (!load || srpol_placement_load(in, p, load) ||
	    srpol_path_set_init(in->fabric, 0, 1, &set))
		die("no memory");
	for (i = 0; i < set.n; i++) {
		srpol_path_get(in->fabric, &set, i, &route);
		printf("%s %.6f\n",
		       in->fabric->nodes[in->fabric->links[route.link[1]].to]
		       .name, load[route.link[1]] / in->demands[0].bytes);
	}
	srpol_path_set_free(&set);
	free(load);
}

static int steer(const char *alg, const char *file, __u32 mode,
		 const char *source, const char *dev, const char *mac,
		 const char *pins, bool stay)
{
	struct srpol_demand demand = { .dst = 1, .bytes = 1 << 30 };
	struct srpol_alg_input in = { .demands = &demand, .n = 1 };
	struct srpol_placement *p;
	struct srpol_error err;
	struct srpol_fabric *f;
	struct srpol_links *links;

	f = srpol_topology_read(file, &err);
	if (!f)
		die(err.text);
	links = srpol_links_new(f);
	in.fabric = f;
	in.links = links;
	if (!links || !srpol_alg_find(alg) ||
	    srpol_alg_run(srpol_alg_find(alg), &in, &p, &err))
		die(alg);
	set_policy(&in, p, mode, source, dev, mac);
	attach(dev, pins);
	print_shares(&in, p);
	fflush(stdout);
	if (stay)
		follow(n_paths);
	srpol_placement_free(p);
	srpol_links_free(links);
	srpol_fabric_free(f);
	return ktap_failures ? 1 : 0;
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/*
 * A packet per flow, or all in one, no faster than told; what was not sent in time is not made
 * up for, as a burst would be TBF's to drop.
 */
static int send_packets(const char *address, long packets, double mbit,
			bool one)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6 };
	double gap = PAYLOAD * 8 / (mbit * 1e6), next, now;
	static char data[PAYLOAD];
	int s = -1;
	long i;

	if (inet_pton(AF_INET6, address, &to.sin6_addr) != 1)
		die(address);
	next = now_seconds();
	for (i = 0; i < packets; i++) {
		if (one ? s < 0 : i % PORTS == 0) {
			/* another source port */
			if (s >= 0)
				close(s);
			s = socket(AF_INET6, SOCK_DGRAM, 0);
			if (s < 0)
				die("socket");
		}
		do {
			now = now_seconds();
		} while (now < next);
		next = (now > next + 10 * gap ? now : next) + gap;
		to.sin6_port = htons(1024 + (one ? 0 : i % PORTS));
		/* nobody listens there: its answers are no news */
		if (sendto(s, data, sizeof(data), 0, (void *)&to,
			   sizeof(to)) < 0 && errno != ECONNREFUSED)
			die("sendto");
	}
	close(s);
	return 0;
}

int main(int argc, char **argv)
{
	const char *alg = "wecmp", *pins = NULL, *source = NULL, *mac = NULL;
	__u32 mode = SRPOL_LB_MODE_HASH;
	long packets = 0;
	bool stay = false, one = false;
	double mbit = 0;
	int c;

	while ((c = getopt(argc, argv, "a:w:m:fop:s:n:c:r:")) != -1) {
		switch (c) {
		case 'a':
			alg = optarg;
			break;
		case 'w':
			given = optarg;
			break;
		case 'm':
			mode = strcmp(optarg, "spray") ? SRPOL_LB_MODE_HASH :
							 SRPOL_LB_MODE_SPRAY;
			break;
		case 'f':
			stay = true;
			break;
		case 'o':
			one = true;
			break;
		case 'p':
			pins = optarg;
			break;
		case 's':
			source = optarg;
			break;
		case 'n':
			mac = optarg;
			break;
		case 'c':
			packets = atol(optarg);
			break;
		case 'r':
			mbit = atof(optarg);
			break;
		default:
			return 2;
		}
	}
	if (packets && mbit > 0 && argc - optind == 1)
		return send_packets(argv[optind], packets, mbit, one);
	if (!pins || !source || !mac || argc - optind != 2)
		return 2;
	return steer(alg, argv[optind], mode, source, argv[optind + 1], mac,
		     pins, stay);
}
