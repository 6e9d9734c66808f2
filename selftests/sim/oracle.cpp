// SPDX-License-Identifier: GPL-2.0
/*
 * oracle [FLOWS]: lib/alg's maxmin beside SimGrid's solver, which knows nothing
 * of it: the same flows on the same links, and the time each of them ends.
 * Networks of up to FLOWS flows, a JSON object per line.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <simgrid/engine.h>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <unistd.h>
#include <vector>

#include <sys/wait.h>

#include "alg.h"

namespace sg4 = simgrid::s4u;
namespace kernel = simgrid::kernel;

/* The links of the flow that is about to be started, whoever it is between. */
static std::vector<kernel::resource::StandardLinkImpl *> way;

/* SimGrid's C API cannot set routes per flow; this zone can. */
class FabricZone : public kernel::routing::NetZoneImpl {
public:
	explicit FabricZone(const std::string &name) : NetZoneImpl(name) {}

	void get_local_route(const kernel::routing::NetPoint *,
			     const kernel::routing::NetPoint *,
			     kernel::routing::Route *into,
			     double *) override
	{
		into->link_list_ = way;
	}
};

static void die(const std::string &why)
{
	fprintf(stderr, "oracle: %s\n", why.c_str());
	exit(1);
}

/* Ends of all flows by SimGrid. */
static std::vector<double> by_simgrid(const srpol_fluid *m)
{
	static int zero = 1;
	static char name[] = "oracle", *args[] = { name, nullptr };
	sg4::Engine engine(&zero, args);

	sg4::Engine::set_config("network/model:CM02");
	sg4::Engine::set_config("network/crosstraffic:0");
	sg4::Engine::set_config("network/TCP-gamma:0");
	/* our flows take milliseconds; the default is 10 us */
	sg4::Engine::set_config("surf/precision:1e-12");

	auto *zone = new FabricZone("fabric");
	auto *root = zone->get_iface();
	auto *src = root->create_host("src", 1e9);
	auto *dst = root->create_host("dst", 1e9);
	std::vector<kernel::resource::StandardLinkImpl *> links;
	for (uint32_t l = 0; l < m->net.n_links; l++)
		links.push_back(root->create_link("l" + std::to_string(l),
						  m->net.capacity[l])
					->get_impl());
	root->seal();

	std::vector<double> end(m->net.n_flows);
	sg4::Actor::create("all", src, [&]() {
		std::vector<sg4::CommPtr> comms;
		for (uint32_t f = 0; f < m->net.n_flows; f++) {
			way.clear();
			for (uint32_t u = m->first[f]; u < m->first[f + 1]; u++)
				way.push_back(links[m->link[u]]);
			comms.push_back(sg4::Comm::sendto_init(src, dst)
					->set_payload_size(m->left[f]));
			comms.back()->start();
		}
		for (uint32_t f = 0; f < m->net.n_flows; f++) {
			comms[f]->wait();
			end[f] = comms[f]->get_finish_time();
		}
	});
	engine.run();
	return end;
}

static void random_demands(srpol_fabric *f, uint32_t n, uint64_t seed,
			   std::vector<srpol_demand> &demands)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = srpol_mix(seed + i);
		uint32_t src = x % f->n_gpus, dst = (x >> 32) % f->n_gpus;

		if (src != dst)
			demands.push_back({ src, dst,
					    1000000 + srpol_mix(x) % 64000000,
					    i, 0 });
	}
}

static void all_to_all(srpol_fabric *f, std::vector<srpol_demand> &demands)
{
	for (uint32_t i = 0; i < f->n_gpus; i++)
		for (uint32_t j = 0; j < f->n_gpus; j++)
			if (i != j)
				demands.push_back({ i, j, 524288,
						    demands.size(), 0 });
}

/* One network by both; the greatest deviation of a flow's end. */
static void compare(const char *name, srpol_shape shape, uint32_t flows,
		    uint64_t seed)
{
	srpol_fabric *f = srpol_fabric_generate(&shape, nullptr);
	srpol_links *links = srpol_links_new(f);
	std::vector<srpol_demand> demands;
	srpol_alg_input in = {};
	srpol_placement *p;

	if (flows)
		random_demands(f, flows, seed, demands);
	else
		all_to_all(f, demands);
	/* odd capacities, so that levels differ */
	for (uint32_t l = 0; flows && l < f->n_links; l++)
		srpol_links_set_capacity(links, l, links->links[l].capacity /
					 (1 + srpol_mix(seed ^ l) % 4));
	in.fabric = f;
	in.links = links;
	in.demands = demands.data();
	in.n = demands.size();
	in.options.seed = seed;
	if (srpol_alg_run(srpol_alg_find("ecmp"), &in, &p, nullptr))
		die("ecmp failed");
	srpol_fluid *m = srpol_fluid_new(&in, p, false, nullptr);
	std::vector<double> theirs = by_simgrid(m);
	struct srpol_maxmin_run run = {};
	run.left = m->left;
	run.finish = m->finish;
	run.until = INFINITY;
	if (srpol_maxmin_run(&m->net, &run))
		die("no memory");
	double worst = 0, last = 0, last_theirs = 0;
	for (uint32_t i = 0; i < m->net.n_flows; i++) {
		worst = std::max(worst, fabs(m->finish[i] / theirs[i] - 1));
		last = std::max(last, m->finish[i]);
		last_theirs = std::max(last_theirs, theirs[i]);
	}
	srpol_bound bound;
	srpol_bound_get(&in, &bound);
	printf("{\"case\": \"oracle\", \"row\": \"%s\", \"value\": %.9g, "
	       "\"flows\": %u, \"last\": %.9g, \"simgrid\": %.9g}\n",
	       name, 100 * worst, m->net.n_flows, last / bound.all,
	       last_theirs / bound.all);
	fflush(stdout);
	srpol_fluid_free(m);
	srpol_placement_free(p);
	srpol_links_free(links);
	srpol_fabric_free(f);
}

/* SimGrid's engine cannot be made twice in a process. */
template <typename Function> static void apart(Function function)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("cannot fork");
	if (!pid) {
		function();
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("SimGrid failed");
}

int main(int argc, char **argv)
{
	const uint64_t rate = 400000000000;
	uint32_t most = argc > 1 ? atoi(argv[1]) : 16384;

	for (uint32_t flows = 64; flows <= most / 4; flows *= 4)
		apart([&]() {
			compare(("random-" + std::to_string(flows)).c_str(),
				srpol_shape_clos(3, 4, 8, 4, 3, rate), flows,
				flows);
		});
	if (most >= 16256)
		apart([&]() {
			compare("all-to-all-128",
				srpol_shape_leaf_spine(8, 16, 16, rate), 0, 1);
		});
	return 0;
}
