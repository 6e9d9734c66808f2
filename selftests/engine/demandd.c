// SPDX-License-Identifier: GPL-2.0
/*
 * demandd TOPOLOGY SOCKET: srpold's own code that takes demands and tells watchers
 * of paths, behind a socket as srpold has it, without a module. It is host h0, each
 * of whose paths the module has, and is up. There is a job "train" with a placed QP,
 * and a plan. Request "module-says" with "path" and "state" is what the module would
 * report of a path; "reload" with "hosts", 0 or 1, is another configuration; "sizes" says
 * what is kept for watchers.
 */
#include <stdio.h>
#include <string.h>

#include "probing.h"
#include "requests.h"
#include "watchers.h"

static struct job train = { .name = "train", .color = 1000 };
struct vec jobs = { .data = &train, .n = 1, .size = sizeof(train) };

static const char *topology;
static struct engine engine;
static struct request_server server;
static struct placed_qp placed_qp = { .qp = 17, .path = 1 };
static struct vec placed = {
	.data = &placed_qp, .n = 1, .size = sizeof(placed_qp)
};
static struct vec none = VEC_INIT(struct srpol_rdma_qp);
static struct follow_plan plan = { .head = { .epoch = 7, .term = 1 } };
static struct follow follow = { .now = &plan };

/* ---- what it needs of the rest */

void balance_demanded(void)
{
}

int reflect_keys_read(struct engine *e, struct srpol_error *err)
{
	return 0;
}

bool plan_is_followed(void)
{
	return true;
}

const struct follow *plan_following(uint32_t number)
{
	return &follow;
}

uint32_t plan_host(uint32_t number)
{
	return srpol_fabric_node(engine.fabric, "h0");
}

bool load_is_measured(void)
{
	return true;
}

uint64_t load_of(uint32_t link)
{
	return 1000 * link;
}

struct srpol_probe *probe_map_at(uint32_t index)
{
	static struct srpol_probe probe = {
		.received = 1, .rtt_ns = 40000, .rtt_min_ns = 30000,
	};

	return &probe;
}

void job_policies(struct engine *e, const struct job *job, struct vec *own)
{
}

const struct vec *job_place_qps(const struct job *job)
{
	return &placed;
}

const struct vec *job_qps(void)
{
	return &none;
}

void link_name(const struct srpol_fabric *f, uint32_t cable, char *buf,
	       size_t len)
{
	const struct srpol_link *link = &f->links[2 * cable];

	snprintf(buf, len, "%s-%s", f->nodes[link->from].name,
		 f->nodes[link->to].name);
}

/* ---- */

static json_t *take(const json_t *o, struct srpol_error *err)
{
	json_t *reply = demand_request(&engine, server.asks, o, err);

	if (reply)
		watchers_demanded();
	return reply;
}

static json_t *show(const json_t *o, struct srpol_error *err)
{
	return demand_show_request(&engine, o, err);
}

static json_t *watch(const json_t *o, struct srpol_error *err)
{
	return watch_request(&server, true, o, err);
}

static json_t *module_says(const json_t *o, struct srpol_error *err)
{
	json_int_t path = 0, state = 0;

	json_unpack((json_t *)o, "{s:I, s:I}", "path", &path, "state", &state);
	watchers_path_event(path, state, state == SRPOL_PATH_STATE_UP ? 0 :
			    SRPOL_PATH_REASON_PROBES_LOST);
	/* QPs follow at the next look */
	placed_qp.path = state == SRPOL_PATH_STATE_UP ? 1 : 2;
	plan.head.epoch++;
	return json_object();
}

static json_t *sizes(const json_t *o, struct srpol_error *err)
{
	size_t unread = 0, kept = 0;
	unsigned int i;

	for (i = 0; i < server.lines.clients_max; i++) {
		if (!server.lines.clients[i])
			continue;
		unread += server.lines.clients[i]->out_len;
		kept += server.lines.clients[i]->kept;
	}
	return json_pack("{s:I, s:I}", "unread", (json_int_t)unread,
			 "kept", (json_int_t)kept);
}

static int build(uint32_t n_hosts, struct srpol_error *err)
{
	struct config config = {
		.hosts = { "h0" }, .n_hosts = n_hosts, .color = 100,
	};
	const struct engine_policy *policy;
	struct engine_path *path;
	uint32_t id = 1, i;
	int ret;

	snprintf(config.topology, sizeof(config.topology), "%s", topology);
	ret = engine_build(&engine, &config, err);
	if (ret)
		return ret;
	vec_for_each(path, &engine.paths) {
		path->id = id++;
		path->installed = true;
		path->up = true;
		path->state = SRPOL_PATH_STATE_UP;
		path->stats.received = 1;
	}
	vec_for_each(policy, &engine.policies)
		for (i = 0; i < policy->n; i++)
			policy->weight[i] = 1;
	watchers_start(&engine);
	return 0;
}

static json_t *reload(const json_t *o, struct srpol_error *err)
{
	json_int_t hosts = 0;

	json_unpack((json_t *)o, "{s:I}", "hosts", &hosts);
	return build(hosts, err) ? NULL : json_object();
}

static const struct request requests[] = {
	{ "demands", take, NULL },
	{ "demands-show", show, NULL },
	{ "watch", watch, NULL },
	{ "module-says", module_says, NULL },
	{ "reload", reload, NULL },
	{ "sizes", sizes, NULL },
	{ }
};

static struct request_server server = {
	.requests = requests, .line_max = 262144, .out_max = 65536,
	.left = watchers_left, .drained = watchers_drained,
};

int main(int argc, char **argv)
{
	struct srpol_error err = {};

	if (argc != 3 || loop_init())
		return 2;
	topology = argv[1];
	if (build(1, &err) || requests_start(&server, argv[2], &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return loop_run();
}
