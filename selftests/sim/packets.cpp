// SPDX-License-Identifier: GPL-2.0
/*
 * packets CASE [MIB [SEEDS]]: packets in ns-3, for what fluids cannot say:
 * queues, reordering, small messages, incast. Fabrics, paths and placements
 * come from lib/; every packet carries its whole path (source routing).
 *
 * The model, of which nothing is fitted to any result:
 *	link		400 Gbit/s, 500 ns, PointToPointNetDevice, queue unlimited
 *	packet		4096 bytes + 104 (IPv6 uSID 40, IPv6 40, UDP 8, BTH 12,
 *			ICRC 4)
 *	sender		its flows take turns, packet by packet, as windows allow
 *	window		2 bandwidth-delay products of the host, shared by its
 *			flows, at least 2 packets each; DCTCP (RFC 8257: g 1/16)
 *	marking		chance from 0 at 1.6 MB to 1 at 8 MB queued (DCQCN's
 *			400 KB and 2 MB at 100 Gbit/s, by rate)
 *	answers		do not queue: after the propagation time of the path
 *	start		within 1 us, at random; seeds differ in that
 */
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ns3/boolean.h>
#include <ns3/data-rate.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/node.h>
#include <ns3/nstime.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tag.h>
#include <string>
#include <vector>

#include "alg.h"

using namespace ns3;

static const uint64_t rate = 400000000000;
static const uint32_t payload = 4096, wire = 4200, delay_ns = 500;
static const double mark_min = 1.6e6, mark_max = 8e6;
static const uint16_t ipv6 = 0x86dd;

/* Which packet of which flow, on which path; marked on the way? */
class Label : public Tag {
public:
	static TypeId GetTypeId()
	{
		static TypeId id = TypeId("Label").SetParent<Tag>();
		return id;
	}
	TypeId GetInstanceTypeId() const override { return GetTypeId(); }
	uint32_t GetSerializedSize() const override { return 16; }
	void Serialize(TagBuffer to) const override
	{
		to.WriteU32(flow);
		to.WriteU32(seq);
		to.WriteU32(path);
		to.WriteU32(marked);
	}
	void Deserialize(TagBuffer from) override
	{
		flow = from.ReadU32();
		seq = from.ReadU32();
		path = from.ReadU32();
		marked = from.ReadU32();
	}
	void Print(std::ostream &) const override {}

	uint32_t flow = 0, seq = 0, path = 0, marked = 0;
};

enum Scheme { PLACED, SPRAY, RANDOM, ECMP };
static const char *const names[] = { "minmax", "spray", "random", "ecmp1" };

struct Flow {
	uint32_t src, dst, packets, sent = 0, got = 0, acked = 0;
	uint32_t highest = 0, late = 0, acks = 0, marks = 0;
	double window, most, alpha = 0, end = 0;
	std::vector<std::array<uint32_t, SRPOL_PATH_LINKS>> routes;
	std::vector<uint32_t> shares;	/* path of each part, repeated */
};

/* What one run shows. */
struct Result {
	double seconds, mean, late, queue;
};

class Fabric {
public:
	Fabric(srpol_fabric *f, srpol_links *links, uint64_t seed);
	void add(const srpol_demand &d, const srpol_placement *p, uint32_t i);
	Result run(Scheme scheme);
	std::vector<Flow> flows;

private:
	struct Host {
		std::vector<uint32_t> flows;
		uint32_t turn = 0, queued = 0;
	};
	double unit() { return (srpol_mix(seed++) >> 11) * 0x1p-53; }
	uint32_t pick(Flow &flow, uint32_t id);
	void pull(uint32_t host);
	void sent(uint32_t host);
	void send(uint32_t link, Ptr<Packet> packet);
	bool receive(uint32_t link, Ptr<const Packet> packet);
	void arrive(Flow &flow, const Label &label);
	void ack(uint32_t flow, bool marked);

	srpol_fabric *f;
	uint64_t seed;
	Scheme scheme = PLACED;
	std::vector<Ptr<PointToPointNetDevice>> devices;
	std::vector<Host> hosts;
	double queue = 0;
};

Fabric::Fabric(srpol_fabric *f, srpol_links *links, uint64_t seed)
	: f(f), seed(seed << 20), hosts(f->n_gpus)
{
	std::vector<Ptr<Node>> nodes(f->n_nodes);

	for (auto &node : nodes)
		node = CreateObject<Node>();
	devices.resize(f->n_links);
	for (uint32_t l = 0; l < f->n_links; l++) {
		auto dev = CreateObject<PointToPointNetDevice>();
		auto queue = CreateObject<DropTailQueue<Packet>>();

		queue->SetMaxSize(QueueSize("4000000p"));
		dev->SetQueue(queue);
		dev->SetMtu(9000);
		dev->SetDataRate(DataRate(links->links[l].capacity));
		nodes[f->links[l].from]->AddDevice(dev);
		devices[l] = dev;
	}
	for (uint32_t l = 0; l < f->n_links; l += 2) {
		auto channel = CreateObject<PointToPointChannel>();

		channel->SetAttribute("Delay", TimeValue(NanoSeconds(delay_ns)));
		devices[l]->Attach(channel);
		devices[l + 1]->Attach(channel);
	}
	/* what a device receives came by the link opposite to its own */
	for (uint32_t l = 0; l < f->n_links; l++)
		devices[l]->SetReceiveCallback(
			[this, l](Ptr<NetDevice>, Ptr<const Packet> packet,
				  uint16_t, const Address &) {
				return receive(l ^ 1, packet);
			});
	for (uint32_t g = 0; g < f->n_gpus; g++)
		devices[f->nics[f->gpus[g].nic].link]->TraceConnectWithoutContext(
			"PhyTxEnd",
			Callback<void, Ptr<const Packet>>(
				[this, g](Ptr<const Packet>) { sent(g); }));
}

void Fabric::add(const srpol_demand &d, const srpol_placement *p, uint32_t i)
{
	srpol_path_set set;
	srpol_route route;
	Flow flow;

	flow.src = d.src;
	flow.dst = d.dst;
	flow.packets = (d.bytes + payload - 1) / payload;
	if (srpol_path_set_init(f, d.src, d.dst, &set))
		exit(1);
	for (uint32_t k = 0; k < set.n; k++) {
		std::array<uint32_t, SRPOL_PATH_LINKS> links;

		srpol_path_get(f, &set, k, &route);
		links.fill(SRPOL_NONE);
		std::copy(route.link, route.link + route.n, links.begin());
		flow.routes.push_back(links);
	}
	srpol_path_set_free(&set);
	for (uint32_t s = p->first[i]; s < p->first[i + 1]; s++)
		flow.shares.insert(flow.shares.end(), p->shares[s].weight,
				   p->shares[s].path);
	hosts[d.src].flows.push_back(flows.size());
	flows.push_back(flow);
}

/*
 * The path of a flow's next packet. A split demand keeps to its weights while it
 * runs: multiples of the golden ratio visit all parts evenly.
 */
uint32_t Fabric::pick(Flow &flow, uint32_t id)
{
	switch (scheme) {
	case SPRAY:
		return srpol_rotation_path(flow.src, flow.dst, flow.sent,
					   flow.routes.size());
	case RANDOM:
		return unit() * flow.routes.size();
	default:
		return flow.shares[fmod(flow.sent * 0.6180339887498949, 1) *
				   flow.shares.size()];
	}
}

/* The NIC holds two packets; the next flow that may sends the third. */
void Fabric::pull(uint32_t g)
{
	Host &host = hosts[g];
	uint32_t n = host.flows.size();

	for (uint32_t i = 0; i < n && host.queued < 2; i++) {
		uint32_t id = host.flows[(host.turn + i) % n];
		Flow &flow = flows[id];

		if (flow.sent == flow.packets ||
		    flow.sent - flow.acked >= flow.window)
			continue;
		Label label;
		label.flow = id;
		label.path = pick(flow, id);
		label.seq = flow.sent++;
		auto packet = Create<Packet>(wire - 2);	/* PPP adds 2 */
		packet->AddPacketTag(label);
		host.turn = (host.turn + i + 1) % n;
		host.queued++;
		i = UINT32_MAX;		/* from the new turn on */
		send(flow.routes[label.path][0], packet);
	}
}

void Fabric::sent(uint32_t g)
{
	hosts[g].queued--;
	pull(g);
}

void Fabric::send(uint32_t link, Ptr<Packet> packet)
{
	auto dev = devices[link];
	double bytes = dev->GetQueue()->GetNBytes();
	Label label;

	if (f->nodes[f->links[link].from].tier != SRPOL_TIER_HOST) {
		queue = std::max(queue, bytes);
		if (bytes > mark_min && unit() * (mark_max - mark_min) <
		    bytes - mark_min) {
			packet->PeekPacketTag(label);
			label.marked = 1;
			packet->ReplacePacketTag(label);
		}
	}
	dev->Send(packet, dev->GetBroadcast(), ipv6);
}

bool Fabric::receive(uint32_t link, Ptr<const Packet> packet)
{
	Label label;

	packet->PeekPacketTag(label);
	Flow &flow = flows[label.flow];
	auto &route = flow.routes[label.path];
	uint32_t hop = 0;

	while (route[hop] != link)
		hop++;
	if (hop + 1 < SRPOL_PATH_LINKS && route[hop + 1] != SRPOL_NONE)
		send(route[hop + 1], packet->Copy());
	else
		arrive(flow, label);
	return true;
}

void Fabric::arrive(Flow &flow, const Label &label)
{
	uint32_t id = label.flow, hops = 0;
	bool marked = label.marked;

	flow.late += label.seq < flow.highest;
	flow.highest = std::max(flow.highest, label.seq);
	if (++flow.got == flow.packets)
		flow.end = Simulator::Now().GetSeconds();
	for (uint32_t link : flow.routes[label.path])
		hops += link != SRPOL_NONE;
	Simulator::Schedule(NanoSeconds(hops * delay_ns), &Fabric::ack, this,
			    id, marked);
}

void Fabric::ack(uint32_t id, bool marked)
{
	Flow &flow = flows[id];

	flow.acked++;
	flow.acks++;
	flow.marks += marked;
	if (flow.acks >= flow.window) {
		double part = (double)flow.marks / flow.acks;

		flow.alpha += (part - flow.alpha) / 16;
		flow.window = flow.marks ?
			std::max(1.0, flow.window * (1 - flow.alpha / 2)) :
			std::min(flow.most, flow.window + 1);
		flow.acks = 0;
		flow.marks = 0;
	}
	pull(flow.src);
}

Result Fabric::run(Scheme with)
{
	/* there and back over 4 links, and a packet on each */
	const double bdp = (8 * delay_ns * 1e-9 + 4 * wire * 8.0 / rate) *
			   rate / 8 / wire;
	Result result = {};
	double packets = 0;

	scheme = with;
	for (Flow &flow : flows) {
		flow.most = std::max(2.0, 2 * bdp /
				     hosts[flow.src].flows.size());
		flow.window = flow.most;
	}
	for (uint32_t g = 0; g < hosts.size(); g++)
		Simulator::Schedule(NanoSeconds(1000 * unit()), &Fabric::pull,
				    this, g);
	Simulator::Run();
	Simulator::Destroy();
	for (Flow &flow : flows) {
		if (flow.got != flow.packets) {
			fprintf(stderr, "packets: some did not arrive\n");
			exit(1);
		}
		result.seconds = std::max(result.seconds, flow.end);
		result.mean += flow.end / flows.size();
		result.late += flow.late;
		packets += flow.packets;
	}
	result.late /= packets;
	result.queue = queue;
	return result;
}

/* A scenario: a fabric and demands. */
struct Scenario {
	explicit Scenario(srpol_shape shape)
	{
		f = srpol_fabric_generate(&shape, nullptr);
		links = srpol_links_new(f);
	}
	~Scenario()
	{
		srpol_links_free(links);
		srpol_fabric_free(f);
	}
	void send(uint32_t src, uint32_t dst, uint64_t bytes)
	{
		demands.push_back({ src, dst, bytes, demands.size(), 0 });
	}
	Result run(Scheme scheme, uint64_t seed);
	double bound();

	srpol_fabric *f;
	srpol_links *links;
	std::vector<srpol_demand> demands;
	srpol_alg_input in = {};
};

Result Scenario::run(Scheme scheme, uint64_t seed)
{
	srpol_placement *p;

	in.fabric = f;
	in.links = links;
	in.demands = demands.data();
	in.n = demands.size();
	in.options.seed = seed;
	if (srpol_alg_run(srpol_alg_find(scheme == ECMP ? "ecmp" : "minmax"),
			  &in, &p, nullptr))
		exit(1);
	Fabric fabric(f, links, seed);
	for (uint32_t i = 0; i < in.n; i++)
		fabric.add(demands[i], p, i);
	srpol_placement_free(p);
	return fabric.run(scheme);
}

/* With what headers take. */
double Scenario::bound()
{
	srpol_bound bound;

	in.fabric = f;
	in.links = links;
	in.demands = demands.data();
	in.n = demands.size();
	srpol_bound_get(&in, &bound);
	return bound.all * wire / payload;
}

static void row(const std::string &in_case, const std::string &name,
		double value)
{
	printf("{\"case\": \"%s\", \"row\": \"%s\", \"value\": %.9g}\n",
	       in_case.c_str(), name.c_str(), value);
	fflush(stdout);
}

static void all_to_all(Scenario &s, uint32_t mib)
{
	uint32_t n = s.f->n_gpus;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 1; j < n; j++)
			s.send(i, (i + j) % n, ((uint64_t)mib << 20) / n);
}

/* The paper's fabric, healthy or with a link halved. */
static void paper(const std::string &name, uint32_t mib, uint32_t seeds,
		  bool halved)
{
	double mean[4] = {}, bound;
	std::string size = mib == 64 ? "" : "-" + std::to_string(mib);

	for (Scheme scheme : { SPRAY, PLACED, ECMP }) {
		if (mib > 64 && scheme == ECMP)
			continue;
		for (uint32_t seed = 0; seed < seeds; seed++) {
			Scenario s(srpol_shape_leaf_spine(8, 16, 16, rate));
			all_to_all(s, mib);
			bound = s.bound();
			if (halved) {
				uint32_t up = srpol_node_up(s.f,
					s.f->nics[0].leaf, 8);
				srpol_links_set_capacity(s.links, up, rate / 2);
				srpol_links_set_capacity(s.links, up ^ 1,
							 rate / 2);
			}
			Result r = s.run(scheme, seed);
			std::string what = names[scheme] + size + "-seed" +
					   std::to_string(seed);
			mean[scheme] += r.seconds / seeds;
			row(name, what + "/bound", r.seconds / bound);
			row(name, what + "-mean/bound", r.mean / bound);
			row(name, what + "-late", r.late);
			row(name, what + "-queue", r.queue);
		}
		row(name, names[scheme] + size + "/bound",
		    mean[scheme] / bound);
	}
	row(name, "minmax/spray" + size, mean[PLACED] / mean[SPRAY]);
	row(name, "gain" + size, 100 * (1 - mean[PLACED] / mean[SPRAY]));
}

/* Queues of spraying: everyone to the next leaf. */
static void rotation(uint32_t seeds)
{
	double queue[4][17] = {};

	for (uint32_t mib : { 1, 2, 4, 8, 16 }) {
		for (Scheme scheme : { SPRAY, RANDOM, PLACED }) {
			for (uint32_t seed = 0; seed < seeds; seed++) {
				Scenario s(srpol_shape_leaf_spine(8, 16, 16,
								  rate));
				for (uint32_t i = 0; i < 128; i++)
					s.send(i, (i + 16) % 128,
					       (uint64_t)mib << 20);
				Result r = s.run(scheme, seed);
				queue[scheme][mib] += r.queue / seeds;
			}
			row("rotation", std::string(scheme == SPRAY ?
			    "rotation" : names[scheme]) + "-" +
			    std::to_string(mib) + "MiB-queue",
			    queue[scheme][mib]);
		}
	}
	row("rotation", "rotation", queue[SPRAY][16] / queue[SPRAY][1]);
	row("rotation", "random", queue[RANDOM][16] / queue[RANDOM][1]);
}

/* 63 to one, while others send small messages across the same leaves. */
static void incast()
{
	for (Scheme scheme : { PLACED, SPRAY, ECMP }) {
		Scenario s(srpol_shape_leaf_spine(5, 16, 16, rate));
		double mean = 0;

		for (uint32_t i = 0; i < 63; i++)
			s.send(i, 64, 1 << 20);
		for (uint32_t i = 0; i < 15; i++)
			s.send(i, 65 + i, 64 << 10);
		double bound = s.bound();
		srpol_placement *p;
		if (srpol_alg_run(srpol_alg_find(scheme == ECMP ? "ecmp" :
						 "minmax"), &s.in, &p, nullptr))
			exit(1);
		Fabric fabric(s.f, s.links, 1);
		for (uint32_t i = 0; i < s.in.n; i++)
			fabric.add(s.demands[i], p, i);
		srpol_placement_free(p);
		Result r = fabric.run(scheme);
		for (uint32_t i = 63; i < fabric.flows.size(); i++)
			mean += fabric.flows[i].end / 15;
		row("incast-packets", std::string(names[scheme]) + "/bound",
		    r.seconds / bound);
		row("incast-packets", std::string(names[scheme]) + "-queue",
		    r.queue);
		row("incast-packets", std::string(names[scheme]) +
		    "-small-us", 1e6 * mean);
	}
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "";
	uint32_t mib = argc > 2 ? atoi(argv[2]) : 64;
	uint32_t seeds = argc > 3 ? atoi(argv[3]) : 3;

	if (what == "fig1b")
		paper("fig1b-packets", mib, seeds, false);
	else if (what == "fig1c")
		paper("fig1c-packets", mib, seeds, true);
	else if (what == "rotation")
		rotation(seeds);
	else if (what == "incast")
		incast();
	else {
		fprintf(stderr, "usage: packets fig1b|fig1c|rotation|incast"
			" [MIB [SEEDS]]\n");
		return 1;
	}
	return 0;
}
