// SPDX-License-Identifier: GPL-2.0
/*
 * change DEV VIA ROUNDS: how long one change takes, from sendmsg() to the
 * acknowledgement. A change of srpol is in the maps by then, which is looked
 * up, outside of the time, after each. For comparison a route with seg6
 * encapsulation is replaced. The three take turns. OBJECTS of each kind are
 * there and change in turn, at least GAP apart, so that none waits for a grace
 * period after its own last change. "again" is one path that changes all the
 * time, and so does wait.
 *
 * Prints lines "KIND NANOSECONDS", one for each change.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/lwtunnel.h>
#include <linux/rtnetlink.h>
#include <linux/seg6_iptunnel.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <srpol_lib.h>

#include "clock.h"

#define OBJECTS		64
#define LISTS		8
#define SIDS		3
#define COLOR		1000
#define TABLE		999
#define GAP_US		2000
#define BUFFER		8192

static struct srpol_genl genl;
static struct mnl_socket *route;
static unsigned int route_seq;
static unsigned int ifindex;
static struct in6_addr via;
static int state_map, path_map, policy_map, row_map;

static struct in6_addr sid(unsigned int path, unsigned int i,
			   unsigned int value)
{
	struct in6_addr addr = {};

	addr.s6_addr16[0] = htons(0xfc00);
	addr.s6_addr16[1] = htons(i);
	addr.s6_addr16[2] = htons(path);
	addr.s6_addr16[7] = htons(value);
	return addr;
}

static struct in6_addr endpoint(unsigned int i)
{
	struct in6_addr addr = {};

	addr.s6_addr16[0] = htons(0xfd02);
	addr.s6_addr16[7] = htons(i);
	return addr;
}

static uint64_t talk(struct srpol_msg *msg)
{
	struct srpol_error error = {};
	uint64_t start = now_ns();
	int ret;

	ret = srpol_genl_talk(&genl, msg->nlh, NULL, NULL, &error);
	start = now_ns() - start;
	if (ret)
		errx(1, "%s: %s", strerror(-ret), error.text);
	return start;
}

static uint32_t generation(void)
{
	static struct srpol_state st;
	uint32_t zero = 0;

	if (srpol_map_lookup(state_map, &zero, &st))
		errx(1, "no map state");
	return st.gen;
}

/* The last SID is the last of the rewrite string that differs, reduced. */
static void check_path(uint32_t id, const struct in6_addr *last)
{
	const struct srpol_path_cfg *cfg;
	struct srpol_path path;

	if (srpol_map_lookup(path_map, &id, &path))
		errx(1, "no map paths");
	cfg = &path.cfg[srpol_copy(path.ver, generation())];
	if (!path.present ||
	    !memmem(cfg->rewrite, sizeof(cfg->rewrite), last, sizeof(*last)))
		errx(1, "path %u is not what it was set to", id);
}

static void check_policy(uint32_t id, uint32_t first, unsigned int weight)
{
	const struct srpol_policy_cfg *cfg;
	struct srpol_policy policy;
	unsigned int n = 0, i;
	struct srpol_row row;

	if (srpol_map_lookup(policy_map, &id, &policy))
		errx(1, "no map policies");
	cfg = &policy.cfg[srpol_copy(policy.ver, generation())];
	if (srpol_map_lookup(row_map, &cfg->row, &row))
		errx(1, "no map bucket_rows");
	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		n += row.path[i] == first;
	if (n * (LISTS - 1 + weight) < SRPOL_ROW_BUCKETS * weight * 9 / 10)
		errx(1, "policy %u has %u buckets of path %u", id, n, first);
}

static uint64_t change_path(unsigned int i, unsigned int value)
{
	static struct srpol_msg msg;
	struct in6_addr addr;
	struct nlattr *nest;
	unsigned int s;
	uint64_t ns;

	srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_NEW,
			NLM_F_CREATE | NLM_F_REPLACE);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, i + 1);
	for (s = 0; s < SIDS; s++) {
		addr = sid(i, s, value);
		nest = srpol_msg_nest(&msg, SRPOL_A_PATH_SIDS);
		srpol_msg_put(&msg, SRPOL_A_SID_ENTRY_SID, sizeof(addr),
			      &addr);
		srpol_msg_nest_end(&msg, nest);
	}
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_IFINDEX, ifindex);
	srpol_msg_put(&msg, SRPOL_A_PATH_VIA, sizeof(via), &via);
	ns = talk(&msg);
	check_path(i + 1, &addr);
	return ns;
}

/* Policy i has the paths i to i + 7; the weight of its first one changes. */
static uint64_t change_policy(unsigned int i, unsigned int weight)
{
	struct in6_addr addr = endpoint(i);
	struct nlattr *nest, *list;
	static struct srpol_msg msg;
	unsigned int l;
	uint64_t ns;

	srpol_msg_start(&genl, &msg, SRPOL_CMD_POLICY_NEW,
			NLM_F_CREATE | NLM_F_REPLACE);
	srpol_msg_put_u32(&msg, SRPOL_A_POLICY_COLOR, COLOR);
	srpol_msg_put(&msg, SRPOL_A_POLICY_ENDPOINT, sizeof(addr), &addr);
	nest = srpol_msg_nest(&msg, SRPOL_A_POLICY_CANDIDATE);
	for (l = 0; l < LISTS; l++) {
		list = srpol_msg_nest(&msg, SRPOL_A_CANDIDATE_SEGMENT_LIST);
		srpol_msg_put_u32(&msg, SRPOL_A_SEGMENT_LIST_PATH,
				  (i + l) % OBJECTS + 1);
		srpol_msg_put_u32(&msg, SRPOL_A_SEGMENT_LIST_WEIGHT,
				  l ? 1 : weight);
		srpol_msg_nest_end(&msg, list);
	}
	srpol_msg_nest_end(&msg, nest);
	ns = talk(&msg);
	check_policy(i + 1, i + 1, weight);
	return ns;
}

static void put_seg6(struct nlmsghdr *nlh, unsigned int i, unsigned int value)
{
	const size_t len = sizeof(struct seg6_iptunnel_encap) +
			   sizeof(struct ipv6_sr_hdr) +
			   SIDS * sizeof(struct in6_addr);
	struct seg6_iptunnel_encap *encap;
	struct nlattr *nest;
	unsigned int s;
	char buf[256] = {};

	encap = (struct seg6_iptunnel_encap *)buf;
	encap->mode = SEG6_IPTUN_MODE_ENCAP;
	encap->srh->hdrlen = 2 * SIDS;
	encap->srh->type = 4;
	encap->srh->segments_left = SIDS - 1;
	encap->srh->first_segment = SIDS - 1;
	for (s = 0; s < SIDS; s++)
		encap->srh->segments[SIDS - 1 - s] = sid(i, s, value);
	nest = mnl_attr_nest_start(nlh, RTA_ENCAP | NLA_F_NESTED);
	mnl_attr_put(nlh, SEG6_IPTUNNEL_SRH, len, buf);
	mnl_attr_nest_end(nlh, nest);
	mnl_attr_put_u16(nlh, RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6);
}

static uint64_t change_route(unsigned int i, unsigned int value)
{
	static char buf[BUFFER];
	struct in6_addr addr = endpoint(i);
	struct nlmsghdr *nlh;
	struct rtmsg *rtm;
	uint64_t start;
	ssize_t n;

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_NEWROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
			   NLM_F_REPLACE;
	nlh->nlmsg_seq = ++route_seq;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = AF_INET6;
	rtm->rtm_dst_len = 128;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_type = RTN_UNICAST;
	mnl_attr_put(nlh, RTA_DST, sizeof(addr), &addr);
	mnl_attr_put_u32(nlh, RTA_TABLE, TABLE);
	mnl_attr_put_u32(nlh, RTA_OIF, ifindex);
	put_seg6(nlh, i, value);

	start = now_ns();
	if (mnl_socket_sendto(route, nlh, nlh->nlmsg_len) < 0)
		err(1, "sendto");
	n = mnl_socket_recvfrom(route, buf, sizeof(buf));
	start = now_ns() - start;
	if (n < 0 || mnl_cb_run(buf, n, route_seq,
				mnl_socket_get_portid(route), NULL, NULL) < 0)
		err(1, "route");
	return start;
}

static void open_all(void)
{
	struct srpol_error error = {};

	if (srpol_genl_open(&genl, &error))
		errx(1, "%s", error.text);
	route = mnl_socket_open(NETLINK_ROUTE);
	if (!route || mnl_socket_bind(route, 0, MNL_SOCKET_AUTOPID))
		err(1, "rtnetlink");
	state_map = srpol_map_open("state");
	path_map = srpol_map_open("paths");
	policy_map = srpol_map_open("policies");
	row_map = srpol_map_open("bucket_rows");
}

static void show(const char *kind, uint64_t ns)
{
	printf("%s %llu\n", kind, (unsigned long long)ns);
}

int main(int argc, char **argv)
{
	unsigned int i, n, value;
	uint64_t ns;

	if (argc != 4 || inet_pton(AF_INET6, argv[2], &via) != 1)
		errx(1, "usage: change DEV VIA ROUNDS");
	ifindex = if_nametoindex(argv[1]);
	n = atoi(argv[3]) * OBJECTS;
	open_all();
	for (i = 0; i < OBJECTS; i++) {
		change_path(i, 1);
		change_route(i, 1);
	}
	for (i = 0; i < OBJECTS; i++)
		change_policy(i, 1);
	for (i = 0; i < n; i++) {
		value = 2 + i / OBJECTS % 2;
		show("path", change_path(i % OBJECTS, value));
		usleep(GAP_US);
		show("policy", change_policy(i % OBJECTS, value));
		usleep(GAP_US);
		show("route", change_route(i % OBJECTS, value));
		usleep(GAP_US);
	}
	for (i = 0; i < n; i++) {
		ns = change_path(0, 2 + i % 2);
		if (i)
			show("again", ns);
	}
	return 0;
}
