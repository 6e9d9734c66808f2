// SPDX-License-Identifier: GPL-2.0
/*
 * QPs as RDMA netlink tells them, for devices that a test machine does not have: with
 * several ports, and so many that few hosts have them.
 */
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/types.h>

#include "srpol_lib.h"
#include "test.h"

#define FIRST_IFINDEX	100

static unsigned int n_devs, n_ports;
static bool has_port;			/* the kernel says which a QP has */
static struct nlmsghdr request;
static uint32_t asked;			/* device of the request */
static bool answered;
static char fake;

struct mnl_socket *__wrap_mnl_socket_open(int bus);
int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid);
unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl);
int __wrap_mnl_socket_close(struct mnl_socket *nl);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t len);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t len);

struct mnl_socket *__wrap_mnl_socket_open(int bus)
{
	assert_int_equal(bus, NETLINK_RDMA);
	return (struct mnl_socket *)&fake;
}

int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups, pid_t pid)
{
	(void)nl;
	(void)groups;
	(void)pid;
	return 0;
}

unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl)
{
	(void)nl;
	return 0;
}

int __wrap_mnl_socket_close(struct mnl_socket *nl)
{
	(void)nl;
	return 0;
}

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req, size_t len)
{
	const struct nlattr *attr;

	(void)nl;
	request = *(const struct nlmsghdr *)req;
	asked = UINT32_MAX;
	mnl_attr_for_each(attr, (const struct nlmsghdr *)req, 0)
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_INDEX)
			asked = mnl_attr_get_u32(attr);
	answered = false;
	return len;
}

static struct nlmsghdr *put(char **at, uint16_t type)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(*at);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_MULTI;
	nlh->nlmsg_seq = request.nlmsg_seq;
	return nlh;
}

static void end(char **at, const struct nlmsghdr *nlh)
{
	*at += NLMSG_ALIGN(nlh->nlmsg_len);
}

/* Devices of a few at a time, as their names and so on fill a message. */
static void put_dev(char **at, uint32_t dev)
{
	struct nlmsghdr *nlh = put(at, request.nlmsg_type);

	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, dev);
	end(at, nlh);
}

static void put_port(char **at, uint32_t port)
{
	struct nlmsghdr *nlh = put(at, request.nlmsg_type);

	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, asked);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_NDEV_INDEX, FIRST_IFINDEX + 10 * asked + port);
	end(at, nlh);
}

/* One for each port, whose remote number tells device and port. */
static void put_qps(char **at)
{
	struct nlmsghdr *nlh = put(at, request.nlmsg_type);
	struct nlattr *table, *entry;
	uint32_t port;

	table = mnl_attr_nest_start(nlh, RDMA_NLDEV_ATTR_RES_QP);
	for (port = 1; port <= n_ports; port++) {
		entry = mnl_attr_nest_start(nlh, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
		if (has_port)
			mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_PORT_INDEX, port);
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_RES_LQPN, port);
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_RES_RQPN, 10 * asked + port);
		mnl_attr_nest_end(nlh, entry);
	}
	mnl_attr_nest_end(nlh, table);
	end(at, nlh);
}

ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf, size_t len)
{
	int op = RDMA_NL_GET_OP(request.nlmsg_type);
	struct nlmsghdr *nlh;
	char *at = buf;
	uint32_t i;

	(void)nl;
	assert_false(answered);
	answered = true;
	if (op == RDMA_NLDEV_CMD_GET)
		for (i = 0; i < n_devs; i++)
			put_dev(&at, i);
	else if (op == RDMA_NLDEV_CMD_PORT_GET)
		for (i = 1; i <= n_ports; i++)
			put_port(&at, i);
	else if (op == RDMA_NLDEV_CMD_RES_QP_GET)
		put_qps(&at);
	nlh = put(&at, NLMSG_DONE);
	memset(mnl_nlmsg_put_extra_header(nlh, sizeof(int)), 0, sizeof(int));
	end(&at, nlh);
	assert_true(at - (char *)buf <= (ssize_t)len);
	return at - (char *)buf;
}

static unsigned int seen, right, unknown;

static void take(const struct srpol_rdma_qp *qp, void *data)
{
	assert_ptr_equal(data, &seen);
	seen++;
	right += qp->ifindex == FIRST_IFINDEX + qp->remote;
	unknown += !qp->ifindex;
}

static void walk(unsigned int devs, unsigned int ports, bool says_port)
{
	n_devs = devs;
	n_ports = ports;
	has_port = says_port;
	seen = right = unknown = 0;
	assert_int_equal(srpol_rdma_for_each_qp(take, &seen), 0);
}

/* A QP is of the network device that its port has. */
static void test_ports(void **state)
{
	(void)state;
	walk(1, 1, true);
	assert_int_equal(right, 1);
	walk(1, 2, true);
	assert_int_equal(seen, 2);
	assert_int_equal(right, 2);
	walk(3, 4, true);
	assert_int_equal(right, 12);
}

/* Without its port the device is known only if there is no other. */
static void test_no_port(void **state)
{
	(void)state;
	walk(2, 1, false);
	assert_int_equal(right, 2);
	walk(2, 2, false);
	assert_int_equal(seen, 4);
	assert_int_equal(unknown, 4);
}

/* Eight NICs with sixteen virtual functions each */
static void test_many(void **state)
{
	(void)state;
	walk(136, 1, true);
	assert_int_equal(seen, 136);
	assert_int_equal(right, 136);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_no_port),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
