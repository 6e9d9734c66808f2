/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The whole of libsrpol, for the programs of this tree: the client of the
 * module, which other programs have as a shared library, and also words,
 * attachment and the maps of the data plane. The latter change with the
 * programs.
 */
#ifndef _SRPOL_LIB_H
#define _SRPOL_LIB_H

#include <linux/types.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/srpol.h>
#include <srpol/dp.h>
#include <srpol_maps.h>

#include "client.h"

/* names.c: words for numbers */

/**
 * struct srpol_name - an entry of a table of words
 */
struct srpol_name {
	uint32_t value;
	const char *name;
};

extern const struct srpol_name srpol_encaps[];
extern const struct srpol_name srpol_origins[];
extern const struct srpol_name srpol_path_states[];
extern const struct srpol_name srpol_path_reasons[];
extern const struct srpol_name srpol_modes[];
extern const struct srpol_name srpol_sprays[];
extern const struct srpol_name srpol_orderings[];
extern const struct srpol_name srpol_path_ids[];
extern const struct srpol_name srpol_switches[];
extern const struct srpol_name srpol_protocol_origins[];
extern const struct srpol_name srpol_policy_states[];
extern const struct srpol_name srpol_policy_reasons[];
extern const struct srpol_name srpol_rule_reasons[];
extern const struct srpol_name srpol_behaviors[];
extern const struct srpol_name srpol_dev_roles[];
extern const struct srpol_name srpol_xdp_modes[];
extern const struct srpol_name srpol_source_checks[];
extern const struct srpol_name srpol_dscp_modes[];
extern const struct srpol_name srpol_flow_labels[];
extern const struct srpol_name srpol_protos[];
extern const struct srpol_name srpol_dscps[];

const char *srpol_find_name(const struct srpol_name *table, uint32_t value);
const char *srpol_name_of(const struct srpol_name *table, uint32_t value);
bool srpol_value_of(const struct srpol_name *table, const char *name,
		    uint32_t *value);
const char *srpol_attr_name(uint8_t cmd, uint16_t type);
const char *srpol_reason_name(unsigned int reason);
const char *srpol_reason_text(unsigned int reason);
bool srpol_reason_is_drop(unsigned int reason);

/* opcode.c: BTH opcodes */

const char *srpol_opcode_name(uint8_t opcode);
bool srpol_opcodes_of(const char *name, uint64_t *set);

/* netns.c */

#define SRPOL_NETNS_DEFAULT	"default"	/* that of process 1 */
#define SRPOL_NETNS_UNNAMED	"netns-"	/* and the number of its inode */

int srpol_netns_enter(const char *name, struct srpol_error *err);
int srpol_netns_name(char *buf, size_t len);

/* dataplane.c: the pinned eBPF data plane of this namespace */

#define SRPOL_PATH_LEN	256

/**
 * struct srpol_dp_status - state of the data plane of a namespace
 * @dir: folder of the pins
 * @loaded: programs and maps are there
 * @stale: the folder was made for a former namespace of this name, or by an
 *	attempt that was interrupted
 */
struct srpol_dp_status {
	char dir[SRPOL_PATH_LEN];
	bool loaded;
	bool stale;
};

/**
 * struct srpol_dev_status - what is attached to a device
 * @egress: the egress program is attached by srpol
 * @ingress: the XDP program is attached by srpol
 * @tc_ingress: the program at TC ingress is attached by srpol
 * @xdp_mode: "native", "generic", "offload" or "none": how XDP runs there
 * @xdp_id: id of the XDP program on the device, whoever it belongs to
 */
struct srpol_dev_status {
	bool egress;
	bool ingress;
	bool tc_ingress;
	const char *xdp_mode;
	uint32_t xdp_id;
};

/* host.c: the devices of a virtual port */

#define SRPOL_HOST_ADDRS	128
#define SRPOL_HOST_PREFIXES	256

/**
 * struct srpol_host_prefix - an address with its prefix length, or a prefix
 * @addr: IPv4 as v4-mapped
 * @len: 96 + n for IPv4
 */
struct srpol_host_prefix {
	struct in6_addr addr;
	uint32_t len;
};

/**
 * struct srpol_host_port - a virtual port
 * @name: the workload's end
 * @peer: the other end
 * @mtu: MTU of both ends
 * @table: routing table for packets that are not steered; 0: none, they are
 *	refused
 * @rule: the rule for this exists; set by srpol_host_read()
 * @more: there are more addresses or prefixes than these; set by srpol_host_read()
 * @n_addrs: number of @addrs
 * @n_prefixes: number of @prefixes
 * @addrs: addresses of the workload's end
 * @prefixes: prefixes that are routed through it
 */
struct srpol_host_port {
	char name[IF_NAMESIZE];
	char peer[IF_NAMESIZE];
	uint32_t mtu;
	uint32_t table;
	bool rule;
	bool more;
	unsigned int n_addrs;
	unsigned int n_prefixes;
	struct srpol_host_prefix addrs[SRPOL_HOST_ADDRS];
	struct srpol_host_prefix prefixes[SRPOL_HOST_PREFIXES];
};

/**
 * struct srpol_host_done - what a change has added, so that it can be undone
 * @new_addr: which of the addresses were added
 * @n_prefixes: number of routes that were added, the first ones
 */
struct srpol_host_done {
	bool new_addr[SRPOL_HOST_ADDRS];
	unsigned int n_prefixes;
};

int srpol_host_make(const struct srpol_host_port *h, struct srpol_error *err);
int srpol_host_change(const struct srpol_host_port *h,
		      struct srpol_host_done *done, struct srpol_error *err);
void srpol_host_undo(const struct srpol_host_port *h,
		     const struct srpol_host_done *done);
int srpol_host_set_mtu(const struct srpol_host_port *h,
		       struct srpol_error *err);
int srpol_host_remove(const char *name, struct srpol_error *err);
unsigned int srpol_host_peer(unsigned int ifindex);

/* qdisc.c */
int srpol_dev_paced(unsigned int ifindex, struct srpol_error *err);
bool srpol_host_is_ours(unsigned int ifindex);

/* pod.c */

/**
 * struct srpol_pod_veth - the end of a pod's veth pair that is on the host
 * @ifindex: its ifindex
 * @bridge: bridge that it is a port of; 0: none
 */
struct srpol_pod_veth {
	unsigned int ifindex;
	unsigned int bridge;
};

int srpol_pod_veth_find(const char *path, const char *name,
			struct srpol_pod_veth *veth, struct srpol_error *err);
bool srpol_dev_is_bridge(unsigned int ifindex);

/* host_rules.c */
unsigned int srpol_host_stale(void (*cb)(const char *peer, void *data),
			      void *data);
void srpol_host_sweep(void);

/* host_read.c */
int srpol_host_read(unsigned int ifindex, struct srpol_host_port *h);

/* dataplane.c */

int srpol_dp_status(struct srpol_dp_status *st, struct srpol_error *err);
int srpol_dp_load(struct srpol_error *err);
int srpol_dp_unload(struct srpol_error *err);
int srpol_explain(const void *frame, size_t len, unsigned int ifindex,
		  uint32_t mark, struct srpol_explain *result,
		  struct srpol_error *err);
void srpol_dp_verbose(bool on);

/* attach.c */

int srpol_dp_can_attach(unsigned int ifindex, enum srpol_dev_role role,
			enum srpol_xdp_mode mode, struct srpol_error *err);
int srpol_dp_attach(unsigned int ifindex, enum srpol_dev_role role,
		    enum srpol_xdp_mode mode, struct srpol_error *err);
int srpol_dp_detach(unsigned int ifindex, struct srpol_error *err);
int srpol_dp_dev_status(unsigned int ifindex, struct srpol_dev_status *st);

/* attach_host.c */

int srpol_dp_host_sync(unsigned int ifindex, struct srpol_error *err);
bool srpol_dp_host_has(const struct in6_addr *addr);
bool srpol_dp_host_stale(void);
void srpol_dp_host_sweep(void);
int srpol_dp_detach_host(unsigned int ifindex, struct srpol_error *err);

/* links.c */

bool srpol_dp_any_attached(void);
bool srpol_dp_dir_in_use(const char *dir);

/* devmaps.c */

bool srpol_dev_takes_frames(unsigned int ifindex);
bool srpol_dp_by_xdp(unsigned int ifindex);
void srpol_dp_frames_sync(unsigned int ifindex, enum srpol_dev_role role);

/* genl.c */

int srpol_genl_netdev(struct srpol_genl *g, struct srpol_error *err);

/* device.c */

#define SRPOL_DRIVER_LEN	32

/**
 * struct srpol_dev_driver - what a device can do at present
 * @name: name of its driver
 * @native_xdp: the driver runs XDP
 * @xdp_target: it takes frames that XDP of another device redirects to it
 * @vlan_strip: VLAN tags of received packets are moved into metadata, where XDP
 *	does not see them
 * @mtu: its MTU
 */
struct srpol_dev_driver {
	char name[SRPOL_DRIVER_LEN];
	bool native_xdp;
	bool xdp_target;
	bool vlan_strip;
	uint32_t mtu;
};

bool srpol_dev_is_soft(unsigned int ifindex);
bool srpol_dev_is_bond(unsigned int ifindex);
void srpol_dev_read_driver(unsigned int ifindex, struct srpol_dev_driver *drv);

/* routes.c */

bool srpol_dev_forwards(unsigned int ifindex);
bool srpol_dev_routed_back(unsigned int ifindex);
void srpol_routes_split(unsigned int ifindex);
int srpol_dev_leads_to(unsigned int ifindex, const struct in6_addr *addr,
		       struct srpol_error *err);

/* pins.c: where they are pinned */

int srpol_pins_lock(struct srpol_error *err);
int srpol_pins_trylock(struct srpol_error *err);
void srpol_pins_unlock(int lock);
unsigned int srpol_pins_orphans(void (*cb)(const char *dir, void *data),
				void *data);

/* maps.c: reading the pinned maps */

int srpol_dp_check_layout(struct srpol_error *err);
int srpol_map_open(const char *name);
int srpol_map_sum(int fd, uint32_t id, void *sum, size_t len);
int srpol_map_lookup(int fd, const void *key, void *value);
int srpol_map_update(int fd, const void *key, const void *value);
void srpol_map_close(int fd);
int srpol_map_next(int fd, void *key, size_t key_len, bool first,
		   void *value);
int srpol_error_next(int fd, struct srpol_error_key *key, bool first,
		     uint64_t *count);

/* flows.c: reading the table of flows */

/**
 * struct srpol_flow_table - the mapped flow table
 * @flows: entries
 * @details: what is rarely used, of the same flows
 */
struct srpol_flow_table {
	const struct srpol_flow *flows;
	const struct srpol_flow_detail *details;
};

int srpol_flows_open(struct srpol_flow_table *table);
void srpol_flows_close(struct srpol_flow_table *table);
bool srpol_flows_next(const struct srpol_flow_table *table, uint32_t *nr,
		      struct srpol_flow *flow,
		      struct srpol_flow_detail *detail);

/* rdma.c: QPs as RDMA netlink knows them */

/**
 * struct srpol_rdma_qp - a connected QP
 * @local: its number
 * @remote: number of the QP that it sends to
 * @ifindex: network device of its RDMA device, 0: none
 * @pid: process that made it, 0: the kernel, or not known
 */
struct srpol_rdma_qp {
	uint32_t local;
	uint32_t remote;
	uint32_t ifindex;
	uint32_t pid;
};

int srpol_rdma_for_each_qp(void (*cb)(const struct srpol_rdma_qp *qp,
				      void *data), void *data);

/* Protocol of srpol's own routes and rules, which no other program uses. */
#define SRPOL_RTPROT		83

/* file.c */
FILE *srpol_file_open(const char *path, struct srpol_error *err);

/* own_addrs.c: addresses of this host's devices */

bool srpol_own_addr_is_of(uint32_t ifindex, const uint8_t *addr);
void srpol_own_addrs_forget(void);

/* drops.c: the ring buffer of dropped packets */

struct srpol_drops;

/**
 * typedef srpol_drop_cb - handle a dropped packet
 * @event: the packet
 * @data: the caller's
 *
 * Return: 0 to continue, or a negative errno.
 */
typedef int (*srpol_drop_cb)(const struct srpol_drop_event *event, void *data);

struct srpol_drops *srpol_drops_open(srpol_drop_cb cb, void *data);
int srpol_drops_fd(const struct srpol_drops *drops);
int srpol_drops_read(struct srpol_drops *drops);
void srpol_drops_close(struct srpol_drops *drops);

#endif /* _SRPOL_LIB_H */
