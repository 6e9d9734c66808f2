/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The model of a fabric: nodes in tiers, links between adjacent tiers, and
 * hosts with NICs on rails and planes. A fabric is built once and does not
 * change after that. Capacity and quality of links, which change at run time,
 * are in a struct srpol_links.
 *
 *	build:	srpol_fabric_new, _add_node, _add_nic, _add_link, _finish
 *	or:	srpol_topology_read (a file), srpol_fabric_generate (a shape)
 *	use:	srpol_path_set_*, srpol_sids_*, lib/alg
 *
 * Nodes, links, NICs and GPUs are identified by numbers from 0. Links are
 * directed: a bundle of cables between a lower and an upper node is link 2k
 * upwards and link 2k + 1 downwards, so the opposite direction of a link is
 * "link ^ 1".
 *
 * Only srpol_topology_read() does I/O. There is no global state; any number of
 * threads may read a finished fabric at the same time.
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

#define SRPOL_NAME_LEN		48	/* with the NUL */
#define SRPOL_NONE		UINT32_MAX
#define SRPOL_PLANES_MAX	16
#define SRPOL_RAILS_MAX		64
#define SRPOL_RATE_MAX		(UINT64_C(1) << 50)	/* bit/s per cable */
#define SRPOL_CABLES_MAX	64

/**
 * enum srpol_tier - position of a node
 * @SRPOL_TIER_HOST: sends and receives, never forwards
 * @SRPOL_TIER_LEAF: switch that hosts are attached to
 * @SRPOL_TIER_SPINE: switch that connects leaves
 * @SRPOL_TIER_SUPER: switch that connects spines
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
 * @name: unique name
 * @tier: position of the node
 * @pod: pod it belongs to; used for display and for lower bounds (lib/alg's
 *	bound.c), while paths follow from links alone
 * @plane: of a switch: plane it belongs to, for display only
 * @colors: of a switch: bit set of the colors that may use it (see alg
 *	"pinned")
 * @locator: SRv6 locator; bits after @locator_len are 0
 * @locator_len: length of @locator in bits, 1 to 112
 * @csid: compressed SID of the node, 0: none
 * @up_first: index of its first link to the tier above, in srpol_fabric.up
 * @up_n: number of these links, which are sorted by the upper node's number
 * @down_first: index of its first link to the tier below, in srpol_fabric.down
 * @down_n: number of these links, which are sorted by the lower node's number
 * @shape: number that is the same for all nodes with the same upper nodes
 * @shape2: number that is the same for all leaves whose i-th spines have the
 *	same @shape, for every i
 * @fn_first: index of its first function in srpol_fabric.functions
 * @fn_n: number of its functions
 * @apart: of a leaf: number of uplinks that each of its spines has, if this is
 *	the same for all of them and no two of these links lead to the same
 *	super-spine; otherwise 0
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
 * @cables: number of cables in the bundle, which carries @rate * @cables
 * @delay: propagation delay in ns
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
 * @name: interface name, unique within its host
 * @host: node that it belongs to
 * @gpu: GPU that it belongs to
 * @leaf: leaf that it is attached to
 * @link: link from the host to the leaf
 * @rail: rail of its GPU
 * @plane: plane (parallel fabric) that it is attached to
 * @addr: IPv6 address, :: if unknown
 * @gateway: IPv6 address of the leaf, :: if unknown
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
 * struct srpol_gpu - a GPU as the fabric sees it: all NICs of one host that are
 *	on one rail. Demands are between GPUs
 * @host: node
 * @rail: rail
 * @nic: number of its first NIC; its NICs are sorted by plane
 * @n: number of its NICs
 */
struct srpol_gpu {
	uint32_t host;
	uint32_t rail;
	uint32_t nic;
	uint32_t n;
};

/**
 * enum srpol_function_kind - effect that the model assumes for a function
 * @SRPOL_FUNCTION_AGGREGATE: combines data of several senders: fewer bytes
 *	leave
 * @SRPOL_FUNCTION_MULTICAST: sends copies to several receivers: fewer bytes
 *	enter
 * @SRPOL_FUNCTION_COMPRESS: compresses: fewer bytes leave
 * @SRPOL_FUNCTION_OPAQUE: the effect is unknown
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
 * struct srpol_function - a SID of a switch that segment lists can use as a
 *	waypoint
 * @name: unique within the switch; several switches may offer functions of one
 *	name
 * @node: the switch
 * @kind: effect in the model
 * @bits: function part of the SID, the bits after the switch's locator
 * @csid: compressed SID, 0: none
 * @ratio: model: bytes after an aggregation or compression per byte before it,
 *	or bytes before a multicast per byte after it; greater than 0, at most 1
 * @rate: model: bit/s of input that it can process, 0: no limit
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
 * struct srpol_sid_plan - how SIDs are composed
 * @end: function part of End, the bits after a locator
 * @decap: function part of a host's End.DT46
 * @probe: function part of the SID that returns a probe to its host
 * @reflect: function part of the SID that reflects a probe; unspecified (::) if
 *	there is none
 * @block: locator block of compressed SIDs
 * @block_len: length of @block in bits; 0: the fabric has no compressed SIDs
 * @csid_len: length of a compressed SID in bits
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
 * struct srpol_fabric - a fabric; read-only once srpol_fabric_finish() has
 *	succeeded
 * @nodes: hosts and switches
 * @n_nodes: number of @nodes
 * @links: two directed links per bundle of cables
 * @n_links: number of directed links
 * @nics: sorted by host, rail, plane
 * @n_nics: number of @nics
 * @gpus: sorted by host and rail, like @nics
 * @n_gpus: number of @gpus
 * @addrs: numbers of NICs, sorted by their addresses
 * @up: links to upper nodes, grouped by node
 * @down: links to lower nodes, grouped by node
 * @functions: sorted by node and name
 * @n_functions: number of @functions
 * @sids: how SIDs are composed
 * @names: hash table from names to node numbers
 * @names_mask: number of slots in @names, minus 1
 * @room_nodes: number of entries that @nodes has memory for
 * @room_links: likewise for @links
 * @room_nics: likewise for @nics
 * @room_functions: likewise for @functions
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
bool srpol_fabric_bits_behind(const struct in6_addr *prefix, uint32_t len);
int srpol_fabric_add_node(struct srpol_fabric *f, const struct srpol_node *node,
			  struct srpol_error *err);
int srpol_fabric_add_link(struct srpol_fabric *f,
			  const struct srpol_link *link,
			  struct srpol_error *err);
int srpol_fabric_add_nic(struct srpol_fabric *f, const struct srpol_nic *nic,
			 const struct srpol_link *link,
			 struct srpol_error *err);
size_t srpol_fabric_bytes(const struct srpol_fabric *f);

/* index.c: completes and checks a fabric */

int srpol_fabric_finish(struct srpol_fabric *f, struct srpol_error *err);
uint32_t srpol_fabric_node(const struct srpol_fabric *f, const char *name);
uint32_t srpol_fabric_link(const struct srpol_fabric *f, uint32_t from,
			   uint32_t to);
uint32_t srpol_fabric_gpu(const struct srpol_fabric *f, uint32_t host,
			  uint32_t rail);

/* address.c: finds NICs by address */

int srpol_fabric_index_addrs(struct srpol_fabric *f);
uint32_t srpol_fabric_nic_at(const struct srpol_fabric *f,
			     const struct in6_addr *addr);

/* The i-th link of @node to the tier above (i < up_n) or below (i < down_n). */
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
 * struct srpol_shape - parameters of a regular fabric
 * @pods: number of pods, each with its own spines; 1 for leaf-spine
 * @groups: groups of hosts per pod; a group has one leaf per rail and plane
 * @hosts: hosts per group
 * @rails: rails (GPUs) per host, each on a leaf of its own; 1 unless
 *	rail-optimized
 * @planes: number of parallel fabrics; each rail has a NIC in every plane
 * @spines: spines per pod and plane; 0: the leaves of a plane are not connected
 * @supers: super-spines per spine of a pod: super-spines i * @supers to (i + 1)
 *	* @supers - 1 connect the i-th spines of all pods; 0 for two tiers
 * @nic_rate: bit/s of a cable between NIC and leaf
 * @nic_cables: cables per NIC (2 for a Y-cable)
 * @rate: bit/s of a cable between switches
 * @cables: cables per link between leaf and spine, or spine and super-spine
 * @delay: propagation delay of every cable in ns
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

/* topology.c, topology_file.c: topology files */

struct srpol_fabric *srpol_topology_parse(const char *text, size_t len,
					  struct srpol_error *err);
struct srpol_fabric *srpol_topology_read(const char *file,
					 struct srpol_error *err);
char *srpol_topology_text(const struct srpol_fabric *f);
bool srpol_rate_parse(const char *text, uint64_t *rate);

/* state.c: link states, which change at run time */

#define SRPOL_QUALITY_BEST	100

/**
 * struct srpol_link_state - present state of a directed link
 * @capacity: usable bit/s, 0: down
 * @quality: as measured, from 0 (unusable) to SRPOL_QUALITY_BEST
 */
struct srpol_link_state {
	uint64_t capacity;
	uint32_t quality;
};

/**
 * struct srpol_links - present state of all links
 * @links: by directed link
 * @n: number of @links
 * @version: incremented by every change
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
 * struct srpol_route - links of a path, in order of travel
 * @n: number of links: 2 under one leaf, 4 over a spine, 6 over a super-spine
 * @link: directed links; the first leaves a NIC, the last enters one
 */
struct srpol_route {
	uint32_t n;
	uint32_t link[SRPOL_PATH_LINKS];
};

/**
 * enum srpol_turn - how paths between two leaves are found
 * @SRPOL_TURN_LEAF: both are the same leaf
 * @SRPOL_TURN_SPINE: both have the same spines: path i uses the i-th uplink of
 *	each
 * @SRPOL_TURN_SUPER: the spines of both have the same super-spines, pairwise
 * @SRPOL_TURN_LIST: irregular: paths are stored in a list
 */
enum srpol_turn {
	SRPOL_TURN_LEAF,
	SRPOL_TURN_SPINE,
	SRPOL_TURN_SUPER,
	SRPOL_TURN_LIST,
};

/**
 * struct srpol_fan - all paths between two leaves
 * @from: source leaf
 * @to: destination leaf
 * @turn: how the paths are found
 * @n: number of paths
 * @len: links per path, without those of the NICs: 0, 2 or 4
 * @per: for SRPOL_TURN_SUPER: paths per spine
 * @list: for SRPOL_TURN_LIST: the paths' links, @n times @len
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
 * @n: number of paths; paths are numbered from 0 to @n - 1 and sorted by plane
 * @pairs: number of pairs of NICs, one for each plane that both GPUs have
 * @pair: by pair: the NICs, the number of the first path, and the paths between
 *	the NICs' leaves
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
uint32_t srpol_path_set_turning(const struct srpol_fabric *f,
				const struct srpol_path_set *set, uint32_t top);
uint32_t srpol_route_top(const struct srpol_fabric *f,
			 const struct srpol_route *path);
void srpol_route_reverse(const struct srpol_route *path,
			 struct srpol_route *back);
uint64_t srpol_route_capacity(const struct srpol_links *s,
			      const struct srpol_route *path);

/* function.c: functions of switches that serve as waypoints */

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
 * enum srpol_sid_form - how a segment list is encoded in packets
 * @SRPOL_SID_FULL: SRH with all SIDs (RFC 8754)
 * @SRPOL_SID_REDUCED: SRH without the first SID; no SRH for a single SID
 * @SRPOL_SID_USID: compressed SIDs in containers (RFC 9800), with a reduced SRH
 */
enum srpol_sid_form {
	SRPOL_SID_FULL,
	SRPOL_SID_REDUCED,
	SRPOL_SID_USID,
};

/**
 * enum srpol_sid_hops - which switches a segment list names
 * @SRPOL_HOPS_ALL: every switch after the first leaf
 * @SRPOL_HOPS_TOP: the switch at which the path turns down, which determines
 *	the path if srpol_path_set_turning() is 1 and the host is at one leaf;
 *	no switch under one leaf
 * @SRPOL_HOPS_HOT: only both ends of hot links; switches choose the rest
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
 * @sid: SIDs or containers, in order of travel
 * @n: number of @sid
 * @hops: number of nodes that it names; without compressed SIDs that is @n
 * @overhead: bytes that encapsulation adds: outer IPv6 header and SRH
 * @form: how it is encoded
 */
struct srpol_sid_list {
	struct in6_addr sid[SRPOL_SIDS_MAX];
	uint32_t n;
	uint32_t hops;
	uint32_t overhead;
	enum srpol_sid_form form;
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

/* nnhn.c: next-next hops */

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
