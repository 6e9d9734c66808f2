/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The model of a fabric: nodes in tiers, links between adjacent tiers, hosts
 * with NICs on rails and planes. A fabric is built once and does not change;
 * what changes while it runs (capacity, quality) is a struct srpol_links.
 *
 *	build:	srpol_fabric_new, _add_node, _add_nic, _add_link, _finish
 *	or:	srpol_topology_read (a file), srpol_fabric_generate (a shape)
 *	use:	srpol_path_set_*, srpol_sids_*, lib/alg
 *
 * Nodes, links, NICs and GPUs are numbers from 0. Links are directed: an
 * undirected cable between a lower and an upper node is link 2k upwards and
 * link 2k + 1 downwards, so that the opposite of a link is "link ^ 1".
 *
 * Nothing here does I/O or is shared between threads: a finished fabric may be
 * read by many threads at once.
 */
#ifndef _SRPOL_FABRIC_H
#define _SRPOL_FABRIC_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct srpol_error;

#define SRPOL_NAME_LEN		48	/* with the final 0 */
#define SRPOL_NONE		UINT32_MAX
#define SRPOL_PLANES_MAX	16
#define SRPOL_RAILS_MAX		64
#define SRPOL_RATE_MAX		(UINT64_C(1) << 50)	/* bit/s, of a cable */
#define SRPOL_CABLES_MAX	64

/**
 * enum srpol_tier - where a node stands
 * @SRPOL_TIER_HOST: sends and receives, never forwards
 * @SRPOL_TIER_LEAF: hosts are attached to it
 * @SRPOL_TIER_SPINE: connects leaves
 * @SRPOL_TIER_SUPER: connects spines
 * @SRPOL_TIERS: number of tiers
 */
enum srpol_tier {
	SRPOL_TIER_HOST,
	SRPOL_TIER_LEAF,
	SRPOL_TIER_SPINE,
	SRPOL_TIER_SUPER,
	SRPOL_TIERS,
};

/**
 * struct srpol_node - a host or switch
 * @name: unique
 * @tier: where it stands
 * @pod: for display and GLB domains; paths follow from links alone
 * @plane: likewise, of a switch
 * @colors: bit set of colors that may use a switch (see alg "pinned")
 * @locator: SRv6 locator, bits behind @locator_len are 0
 * @locator_len: bits, 1 to 112
 * @csid: compressed SID of the node, 0 for none
 * @up_first: first of its links to the next tier in srpol_fabric.up
 * @up_n: number of them; in order of the upper nodes' numbers
 * @down_first: likewise first of its links to the tier below
 * @down_n: number of them; in order of the lower nodes' numbers
 * @shape: nodes with the same upper nodes have the same number
 * @shape2: leaves whose spines pairwise have the same @shape, likewise
 * @fn_first: first of its functions in srpol_fabric.functions
 * @fn_n: number of them
 * @apart: of a leaf: links that each of its spines has to super-spines, if all
 *	have as many and no two of them lead to the same one; else 0
 */
struct srpol_node {
	char name[SRPOL_NAME_LEN];
	enum srpol_tier tier;
	uint32_t pod;
	uint32_t plane;
	uint32_t colors;
	struct in6_addr locator;
	uint32_t locator_len;
	uint64_t csid;
	uint32_t up_first;
	uint32_t up_n;
	uint32_t down_first;
	uint32_t down_n;
	uint32_t shape;
	uint32_t shape2;
	uint32_t apart;
	uint32_t fn_first;
	uint32_t fn_n;
};

/**
 * struct srpol_link - one direction of a bundle of cables
 * @from: node that sends
 * @to: node that receives
 * @rate: bit/s of one cable
 * @cables: cables in the bundle; it carries @rate * @cables
 * @delay: propagation, in ns
 */
struct srpol_link {
	uint32_t from;
	uint32_t to;
	uint64_t rate;
	uint32_t cables;
	uint32_t delay;
};

/**
 * struct srpol_nic - a port of a host
 * @name: interface, unique in its host
 * @host: node
 * @gpu: its GPU
 * @leaf: node it is attached to
 * @link: to the leaf
 * @rail: GPU it belongs to
 * @plane: parallel fabric it is on
 * @addr: address, :: if none is given
 * @gateway: leaf's address, :: if none is given
 */
struct srpol_nic {
	char name[SRPOL_NAME_LEN];
	uint32_t host;
	uint32_t gpu;
	uint32_t leaf;
	uint32_t link;
	uint32_t rail;
	uint32_t plane;
	struct in6_addr addr;
	struct in6_addr gateway;
};

/**
 * struct srpol_gpu - GPU as the fabric sees it, what demands are between: the NICs of one
 * host that are on one rail
 * @host: node
 * @rail: rail
 * @nic: first NIC, in order of planes
 * @n: number of NICs
 */
struct srpol_gpu {
	uint32_t host;
	uint32_t rail;
	uint32_t nic;
	uint32_t n;
};

/**
 * enum srpol_function_kind - what a function is said to do, in the model
 * @SRPOL_FUNCTION_AGGREGATE: adds up what several send: less goes on
 * @SRPOL_FUNCTION_MULTICAST: sends copies to several: less comes in
 * @SRPOL_FUNCTION_COMPRESS: less goes on
 * @SRPOL_FUNCTION_OPAQUE: nobody says
 * @SRPOL_FUNCTION_KINDS: number of kinds
 */
enum srpol_function_kind {
	SRPOL_FUNCTION_AGGREGATE,
	SRPOL_FUNCTION_MULTICAST,
	SRPOL_FUNCTION_COMPRESS,
	SRPOL_FUNCTION_OPAQUE,
	SRPOL_FUNCTION_KINDS,
};

/**
 * struct srpol_function - a SID of a switch that paths may have as a waypoint
 * @name: several switches may offer one of the same name
 * @node: switch
 * @kind: of the model
 * @bits: behind the switch's locator
 * @csid: compressed SID, 0 for none
 * @ratio: model: bytes behind an aggregation or compression per byte before it,
 *	bytes before a multicast per byte behind it; above 0, up to 1
 * @rate: model: bit/s it can take in, 0: no limit
 */
struct srpol_function {
	char name[SRPOL_NAME_LEN];
	uint32_t node;
	enum srpol_function_kind kind;
	struct in6_addr bits;
	uint64_t csid;
	double ratio;
	uint64_t rate;
};

/**
 * struct srpol_sid_plan - how SIDs are made from locators and CSIDs
 * @end: function of End, the bits behind a locator
 * @decap: function of End.DT46 of hosts
 * @probe: function that returns a probe to its host
 * @reflect: function that turns a probe round, unspecified: there is none
 * @block: locator block of compressed SIDs
 * @block_len: its bits, 0 when the fabric has no compressed SIDs
 * @csid_len: bits of a compressed SID
 */
struct srpol_sid_plan {
	struct in6_addr end;
	struct in6_addr decap;
	struct in6_addr probe;
	struct in6_addr reflect;
	struct in6_addr block;
	uint32_t block_len;
	uint32_t csid_len;
};

/**
 * struct srpol_fabric - a finished one is not changed any more
 * @nodes: hosts and switches
 * @n_nodes: number of them
 * @links: two per cable bundle
 * @n_links: number of directed links
 * @nics: sorted by host, rail, plane
 * @n_nics: number of them
 * @gpus: in the order of @nics
 * @n_gpus: number of them
 * @addrs: numbers of NICs, sorted by address
 * @up: links to upper nodes, per node
 * @down: links to lower nodes, per node
 * @functions: sorted by node, name
 * @n_functions: number of them
 * @sids: how SIDs are made
 * @names: hash table of node numbers, by name
 * @names_mask: its size - 1
 * @room_nodes: of @nodes, while it is built
 * @room_links: of @links
 * @room_nics: of @nics
 * @room_functions: of @functions
 */
struct srpol_fabric {
	struct srpol_node *nodes;
	uint32_t n_nodes;
	struct srpol_link *links;
	uint32_t n_links;
	struct srpol_nic *nics;
	uint32_t n_nics;
	struct srpol_gpu *gpus;
	uint32_t n_gpus;
	uint32_t *addrs;
	uint32_t *up;
	uint32_t *down;
	struct srpol_function *functions;
	uint32_t n_functions;
	struct srpol_sid_plan sids;
	uint32_t *names;
	uint32_t names_mask;
	uint32_t room_nodes;
	uint32_t room_links;
	uint32_t room_nics;
	uint32_t room_functions;
};

/* fabric.c: building */

struct srpol_fabric *srpol_fabric_new(void);
void srpol_fabric_free(struct srpol_fabric *f);
int srpol_fabric_add_node(struct srpol_fabric *f, const struct srpol_node *node,
			  struct srpol_error *err);
int srpol_fabric_add_link(struct srpol_fabric *f,
			  const struct srpol_link *link,
			  struct srpol_error *err);
int srpol_fabric_add_nic(struct srpol_fabric *f, const struct srpol_nic *nic,
			 const struct srpol_link *link,
			 struct srpol_error *err);
size_t srpol_fabric_bytes(const struct srpol_fabric *f);

/* index.c: what a finished fabric has and what must hold in it */

int srpol_fabric_finish(struct srpol_fabric *f, struct srpol_error *err);
uint32_t srpol_fabric_node(const struct srpol_fabric *f, const char *name);
uint32_t srpol_fabric_link(const struct srpol_fabric *f, uint32_t from,
			   uint32_t to);
uint32_t srpol_fabric_gpu(const struct srpol_fabric *f, uint32_t host,
			  uint32_t rail);

/* address.c: NICs by address */

int srpol_fabric_index_addrs(struct srpol_fabric *f);
uint32_t srpol_fabric_nic_at(const struct srpol_fabric *f,
			     const struct in6_addr *addr);

/* Links of @node to the tier above (i < up_n) and below (i < down_n). */
static inline uint32_t srpol_node_up(const struct srpol_fabric *f,
				     uint32_t node, uint32_t i)
{
	return f->up[f->nodes[node].up_first + i];
}

static inline uint32_t srpol_node_down(const struct srpol_fabric *f,
				       uint32_t node, uint32_t i)
{
	return f->down[f->nodes[node].down_first + i];
}

/* generate.c: regular fabrics */

/**
 * struct srpol_shape - a regular fabric
 * @pods: pods, each with its own spines; 1 for leaf-spine
 * @groups: per pod: groups of hosts, with one leaf per rail and plane each
 * @hosts: per group
 * @rails: NICs of a host on different leaves; 1 unless rail-optimized
 * @planes: parallel fabrics; each rail has a NIC in every plane
 * @spines: per pod and plane; 0: the planes' leaves are not connected
 * @supers: super-spines for each of the @spines of a pod: super-spines
 *	i * @supers to (i + 1) * @supers - 1 connect the pods' spines i; 0 for
 *	two tiers
 * @nic_rate: bit/s of a cable between NIC and leaf
 * @nic_cables: cables of a NIC (2 for a Y-cable)
 * @rate: bit/s of a cable between switches
 * @cables: per leaf-spine and spine-super link
 * @delay: of every cable, in ns
 */
struct srpol_shape {
	uint32_t pods;
	uint32_t groups;
	uint32_t hosts;
	uint32_t rails;
	uint32_t planes;
	uint32_t spines;
	uint32_t supers;
	uint64_t nic_rate;
	uint32_t nic_cables;
	uint64_t rate;
	uint32_t cables;
	uint32_t delay;
};

struct srpol_shape srpol_shape_leaf_spine(uint32_t leaves, uint32_t hosts,
					  uint32_t spines, uint64_t rate);
struct srpol_shape srpol_shape_clos(uint32_t pods, uint32_t leaves,
				    uint32_t hosts, uint32_t spines,
				    uint32_t supers, uint64_t rate);
struct srpol_shape srpol_shape_rail(uint32_t groups, uint32_t hosts,
				    uint32_t rails, uint32_t spines,
				    uint64_t rate);
struct srpol_shape srpol_shape_plane(uint32_t planes, uint32_t hosts,
				     uint64_t cable_rate);
struct srpol_fabric *srpol_fabric_generate(const struct srpol_shape *shape,
					   struct srpol_error *err);

/* topology.c, topology_file.c: the file */

struct srpol_fabric *srpol_topology_parse(const char *text, size_t len,
					  struct srpol_error *err);
struct srpol_fabric *srpol_topology_read(const char *file,
					 struct srpol_error *err);
char *srpol_topology_text(const struct srpol_fabric *f);
bool srpol_rate_parse(const char *text, uint64_t *rate);

/* state.c: what changes */

#define SRPOL_QUALITY_BEST	100

/**
 * struct srpol_link_state - what is known of a directed link now
 * @capacity: bit/s that can be used, 0: down
 * @quality: 0 (unusable) to SRPOL_QUALITY_BEST, as measured
 */
struct srpol_link_state {
	uint64_t capacity;
	uint32_t quality;
};

/**
 * struct srpol_links - what is known of all links now
 * @links: by number of the directed link
 * @n: number of them
 * @version: grows with every change
 */
struct srpol_links {
	struct srpol_link_state *links;
	uint32_t n;
	uint64_t version;
};

uint64_t srpol_link_rate(const struct srpol_link *link);
struct srpol_links *srpol_links_new(const struct srpol_fabric *f);
struct srpol_links *srpol_links_copy(const struct srpol_links *s);
void srpol_links_free(struct srpol_links *s);
uint64_t srpol_links_nic_rate(const struct srpol_fabric *f,
			      const struct srpol_links *s, uint32_t src,
			      uint32_t dst);
int srpol_links_set_capacity(struct srpol_links *s, uint32_t link,
			     uint64_t capacity);
int srpol_links_set_cables(const struct srpol_fabric *f, struct srpol_links *s,
			   uint32_t link, uint32_t up);
int srpol_links_set_quality(struct srpol_links *s, uint32_t link,
			    uint32_t quality);

/* path.c: paths between GPUs */

#define SRPOL_PATH_LINKS	6

/**
 * struct srpol_route - links in order of travel
 * @n: number of links: 2 under one leaf, 4 over a spine, 6 over a super-spine
 * @link: directed links; the first leaves a NIC, the last enters one
 */
struct srpol_route {
	uint32_t n;
	uint32_t link[SRPOL_PATH_LINKS];
};

/**
 * enum srpol_turn - how paths between two leaves are found
 * @SRPOL_TURN_LEAF: it is the same leaf
 * @SRPOL_TURN_SPINE: the same spines: path i by the i-th link of either
 * @SRPOL_TURN_SUPER: the same super-spines above each pair of spines
 * @SRPOL_TURN_LIST: irregular, paths are in a list
 */
enum srpol_turn {
	SRPOL_TURN_LEAF,
	SRPOL_TURN_SPINE,
	SRPOL_TURN_SUPER,
	SRPOL_TURN_LIST,
};

/**
 * struct srpol_fan - the paths between two leaves
 * @from: leaf
 * @to: leaf
 * @turn: how they are found
 * @n: number of paths
 * @len: links of each, without those of the NICs: 0, 2 or 4
 * @per: SRPOL_TURN_SUPER: paths per spine
 * @list: SRPOL_TURN_LIST: @n times @len links
 */
struct srpol_fan {
	uint32_t from;
	uint32_t to;
	enum srpol_turn turn;
	uint32_t n;
	uint32_t len;
	uint32_t per;
	uint32_t *list;
};

int srpol_fan_init(const struct srpol_fabric *f, uint32_t from, uint32_t to,
		   struct srpol_fan *fan);
void srpol_fan_free(struct srpol_fan *fan);
uint32_t srpol_fan_links(const struct srpol_fabric *f,
			 const struct srpol_fan *fan, uint32_t i,
			 uint32_t *links);

/**
 * struct srpol_path_set - all paths between two GPUs
 * @n: number of paths; path numbers are 0 to @n - 1, sorted by plane
 * @pairs: number of NIC pairs, one per plane both have
 * @pair: NICs, the paths between their leaves, and the first path's number
 */
struct srpol_path_set {
	uint32_t n;
	uint32_t pairs;
	struct {
		uint32_t src;
		uint32_t dst;
		uint32_t first;
		struct srpol_fan fan;
	} pair[SRPOL_PLANES_MAX];
};

int srpol_path_set_init(const struct srpol_fabric *f, uint32_t src,
			uint32_t dst, struct srpol_path_set *set);
void srpol_path_set_free(struct srpol_path_set *set);
void srpol_path_get(const struct srpol_fabric *f,
		    const struct srpol_path_set *set, uint32_t i,
		    struct srpol_route *path);
void srpol_route_reverse(const struct srpol_route *path,
			 struct srpol_route *back);
uint64_t srpol_route_capacity(const struct srpol_links *s,
			      const struct srpol_route *path);

/* function.c: functions of switches, as waypoints */

const char *srpol_function_kind_name(enum srpol_function_kind kind);
enum srpol_function_kind srpol_function_kind_find(const char *word);
int srpol_fabric_add_function(struct srpol_fabric *f,
			      const struct srpol_function *function,
			      struct srpol_error *err);
int srpol_fabric_index_functions(struct srpol_fabric *f,
				 struct srpol_error *err);
uint32_t srpol_fabric_via(const struct srpol_fabric *f, const char *word);
const char *srpol_via_name(const struct srpol_fabric *f, uint32_t via);
bool srpol_function_is(const struct srpol_fabric *f, uint32_t function,
		       uint32_t via);
uint32_t srpol_route_function(const struct srpol_fabric *f,
			      const struct srpol_route *route, uint32_t via);
bool srpol_route_offers(const struct srpol_fabric *f,
			const struct srpol_route *route, uint32_t via);
struct in6_addr srpol_function_sid(const struct srpol_fabric *f,
				   uint32_t function);

/* sids.c: segment lists of paths and of probes */

#define SRPOL_SIDS_MAX	16

/**
 * enum srpol_sid_form - how a segment list is put on the wire
 * @SRPOL_SID_FULL: SRH with all SIDs (RFC 8754)
 * @SRPOL_SID_REDUCED: SRH without the first SID, none for a single SID
 * @SRPOL_SID_USID: compressed SIDs in containers (RFC 9800), reduced
 */
enum srpol_sid_form {
	SRPOL_SID_FULL,
	SRPOL_SID_REDUCED,
	SRPOL_SID_USID,
};

/**
 * enum srpol_sid_hops - which hops a segment list names
 * @SRPOL_HOPS_ALL: every switch behind the first leaf
 * @SRPOL_HOPS_TOP: the one at which the path turns down, which fixes the path
 *	in a regular fabric; nothing under one leaf
 * @SRPOL_HOPS_HOT: ends of hot links only; the rest is left to the switches
 */
enum srpol_sid_hops {
	SRPOL_HOPS_ALL,
	SRPOL_HOPS_TOP,
	SRPOL_HOPS_HOT,
};

/**
 * enum srpol_sid_last - behavior of the last SID
 * @SRPOL_LAST_DECAP: the host's End.DT46
 * @SRPOL_LAST_PROBE: the host's SID for returning probes
 */
enum srpol_sid_last {
	SRPOL_LAST_DECAP,
	SRPOL_LAST_PROBE,
};

/**
 * struct srpol_sid_list - a segment list
 * @sid: in order of travel
 * @n: number of them
 * @overhead: bytes that encapsulation adds: outer IPv6 header and SRH
 */
struct srpol_sid_list {
	struct in6_addr sid[SRPOL_SIDS_MAX];
	uint32_t n;
	uint32_t overhead;
};

int srpol_sids_of_nodes(const struct srpol_fabric *f, const uint32_t *nodes,
			uint32_t n, enum srpol_sid_last last,
			enum srpol_sid_form form, struct srpol_sid_list *list,
			struct srpol_error *err);
int srpol_sids_of_path(const struct srpol_fabric *f,
		       const struct srpol_route *path, enum srpol_sid_hops hops,
		       const uint8_t *hot, enum srpol_sid_form form,
		       struct srpol_sid_list *list, struct srpol_error *err);
int srpol_sids_via(const struct srpol_fabric *f, const struct srpol_route *path,
		   uint32_t function, enum srpol_sid_form form,
		   struct srpol_sid_list *list, struct srpol_error *err);
int srpol_sids_of_loop(const struct srpol_fabric *f,
		       const struct srpol_route *out,
		       const struct srpol_route *back, bool to_host,
		       enum srpol_sid_form form, struct srpol_sid_list *list,
		       struct srpol_error *err);
uint32_t srpol_sids_overhead(uint32_t n, enum srpol_sid_form form);

/* nnhn.c: nodes behind next hops */

struct srpol_nnhn;

struct srpol_nnhn *srpol_nnhn_parse(const struct srpol_fabric *f,
				    const char *text, size_t len,
					   struct srpol_error *err);
bool srpol_nnhn_has(const struct srpol_nnhn *map, uint32_t next_hop,
		    uint32_t node);
void srpol_nnhn_free(struct srpol_nnhn *map);

#ifdef __cplusplus
}
#endif

#endif /* _SRPOL_FABRIC_H */
