// SPDX-License-Identifier: LGPL-2.1
/*
 * QPs of this host from RDMA netlink: local and remote number, the network
 * device that they belong to, and the process.
 *
 * While it lives, RDMA netlink names the thread that made a QP (UCX and NCCL
 * make QPs in threads with names of their own). The process is that of this
 * thread or, if it has ended, that of the thread that made the QP's protection
 * domain.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpol_lib.h"
#include "vec.h"

#define RECEIVE_BUFFER	(64 * 1024)

/**
 * struct domain - a protection domain of a process
 * @number: its number
 * @thread: thread that made it
 */
struct domain {
	uint32_t number;
	uint32_t thread;
};

/**
 * struct maker - the process of a thread that made QPs
 * @thread: the thread
 * @process: its process, 0: this entry is empty
 */
struct maker {
	uint32_t thread;
	uint32_t process;
};

#define MAKERS	256	/* remembered threads */

/**
 * struct port - a port of an RDMA device
 * @number: its number
 * @ifindex: its network device, 0: none in this namespace
 */
struct port {
	uint32_t number;
	uint32_t ifindex;
};

/**
 * struct rdma_walk - a walk through all devices
 * @devs: uint32_t: indexes of RDMA devices
 * @ports: struct port: ports of the present RDMA device
 * @domains: its protection domains
 * @n_domains: number of them
 * @makers: threads that were looked up, indexed by their low bits
 * @cb: for each QP
 * @data: for @cb
 */
struct rdma_walk {
	struct vec devs;
	struct vec ports;
	struct domain *domains;
	unsigned int n_domains;
	struct maker makers[MAKERS];
	void (*cb)(const struct srpol_rdma_qp *qp, void *data);
	void *data;
};

static uint32_t get_u32(const struct nlattr *nest, uint16_t type,
			uint32_t absent)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == type &&
		    mnl_attr_get_payload_len(attr) >= sizeof(uint32_t))
			return mnl_attr_get_u32(attr);
	return absent;
}

static int on_dev(const struct nlmsghdr *nlh, void *data)
{
	struct rdma_walk *walk = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, 0)
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_INDEX)
			*(uint32_t *)vec_add(&walk->devs) = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int on_port(const struct nlmsghdr *nlh, void *data)
{
	struct rdma_walk *walk = data;
	struct port *port = vec_add(&walk->ports);
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, 0) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_PORT_INDEX)
			port->number = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_NDEV_INDEX)
			port->ifindex = mnl_attr_get_u32(attr);
	}
	return MNL_CB_OK;
}

/*
 * The network device of a QP is that of its port: a NIC in switchdev mode has a port
 * for each representor, others have one for each cable. @number 0: it has none yet.
 */
static uint32_t ifindex_of(const struct rdma_walk *walk, uint32_t number)
{
	const struct port *port;

	vec_for_each(port, &walk->ports)
		if (port->number == number || (!number && walk->ports.n == 1))
			return port->ifindex;
	return 0;
}

static int on_domains(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *table, *entry;
	struct rdma_walk *walk = data;
	struct domain domain, *more;

	mnl_attr_for_each(table, nlh, 0) {
		if (mnl_attr_get_type(table) != RDMA_NLDEV_ATTR_RES_PD)
			continue;
		mnl_attr_for_each_nested(entry, table) {
			domain.number = get_u32(entry, RDMA_NLDEV_ATTR_RES_PDN,
						UINT32_MAX);
			domain.thread = get_u32(entry, RDMA_NLDEV_ATTR_RES_PID,
						0);
			if (!domain.thread)
				continue;
			more = reallocarray(walk->domains, walk->n_domains + 1,
					    sizeof(*more));
			if (!more)
				return MNL_CB_ERROR;
			walk->domains = more;
			walk->domains[walk->n_domains++] = domain;
		}
	}
	return MNL_CB_OK;
}

static uint32_t thread_of_domain(const struct rdma_walk *walk, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < walk->n_domains; i++)
		if (walk->domains[i].number == number)
			return walk->domains[i].thread;
	return 0;
}

static uint32_t process_of(struct rdma_walk *walk, uint32_t thread)
{
	struct maker *known = &walk->makers[thread % MAKERS];
	uint32_t process = 0;
	char path[64], *line = NULL;
	size_t len = 0;
	FILE *f;

	if (known->process && known->thread == thread)
		return known->process;
	snprintf(path, sizeof(path), "/proc/%u/status", thread);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!process && getline(&line, &len, f) > 0)
		if (sscanf(line, "Tgid: %u", &process) != 1)
			process = 0;
	free(line);
	fclose(f);
	*known = (struct maker){ thread, process };
	return process;
}

/* The process that made a QP; 0: the kernel, or it is not known. */
static uint32_t made_by(struct rdma_walk *walk, const struct nlattr *entry)
{
	uint32_t thread = get_u32(entry, RDMA_NLDEV_ATTR_RES_PID, 0);
	uint32_t domain = get_u32(entry, RDMA_NLDEV_ATTR_RES_PDN, UINT32_MAX);
	uint32_t process = thread ? process_of(walk, thread) : 0;

	/* the thread may have ended since it was listed */
	if (process)
		return process;
	thread = thread_of_domain(walk, domain);
	return thread ? process_of(walk, thread) : 0;
}

static int on_qps(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *table, *entry;
	struct rdma_walk *walk = data;
	struct srpol_rdma_qp qp = {};

	mnl_attr_for_each(table, nlh, 0) {
		if (mnl_attr_get_type(table) != RDMA_NLDEV_ATTR_RES_QP)
			continue;
		mnl_attr_for_each_nested(entry, table) {
			qp.local = get_u32(entry, RDMA_NLDEV_ATTR_RES_LQPN, 0);
			qp.remote = get_u32(entry, RDMA_NLDEV_ATTR_RES_RQPN,
					    0);
			/* only connected QPs have a remote one */
			if (!qp.remote)
				continue;
			qp.ifindex = ifindex_of(walk, get_u32(entry,
						RDMA_NLDEV_ATTR_PORT_INDEX, 0));
			qp.pid = made_by(walk, entry);
			walk->cb(&qp, walk->data);
		}
	}
	return MNL_CB_OK;
}

static int dump(struct mnl_socket *nl, uint16_t cmd, const uint32_t *dev,
		mnl_cb_t cb, struct rdma_walk *walk)
{
	static char buf[RECEIVE_BUFFER];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	uint32_t seq = time(NULL);
	ssize_t n;
	int ret;

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP;
	nlh->nlmsg_seq = seq;
	if (dev)
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, *dev);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			return -errno;
		ret = mnl_cb_run(buf, n, seq, mnl_socket_get_portid(nl), cb,
				 walk);
	} while (ret > 0);
	return ret < 0 ? -errno : 0;
}

/**
 * srpol_rdma_for_each_qp() - all connected QPs of this network namespace
 * @cb: for each
 * @data: for @cb
 *
 * Return: 0 or a negative errno.
 */
int srpol_rdma_for_each_qp(void (*cb)(const struct srpol_rdma_qp *qp, void *data),
		     void *data)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_RDMA);
	struct rdma_walk walk = {
		.devs = VEC_INIT(uint32_t), .ports = VEC_INIT(struct port),
		.cb = cb, .data = data,
	};
	const uint32_t *dev;
	int err;

	if (!nl)
		return -errno;
	err = mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) ? -errno :
	      dump(nl, RDMA_NLDEV_CMD_GET, NULL, on_dev, &walk);
	vec_for_each(dev, &walk.devs) {
		if (err)
			break;
		vec_free(&walk.ports);
		walk.n_domains = 0;
		err = dump(nl, RDMA_NLDEV_CMD_PORT_GET, dev, on_port, &walk) ?:
		      dump(nl, RDMA_NLDEV_CMD_RES_PD_GET, dev, on_domains,
			   &walk) ?:
		      dump(nl, RDMA_NLDEV_CMD_RES_QP_GET, dev, on_qps, &walk);
	}
	vec_free(&walk.devs);
	vec_free(&walk.ports);
	free(walk.domains);
	mnl_socket_close(nl);
	return err;
}
