// SPDX-License-Identifier: GPL-2.0
/* The configuration file: one JSON object. Errors are reported with the key. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "srpol_lib.h"
#include "srpold.h"
#include "store_config.h"
#include "words.h"

#define COLOR_DEFAULT		100
#define FIRST_PATH_DEFAULT	8192
#define RULE_PRIO_DEFAULT	50000
#define JOB_PRIO_DEFAULT	40000
#define JOB_COLOR_DEFAULT	1000
#define INTERVAL_MS_DEFAULT	10
#define MULTIPLIER_DEFAULT	3
#define RESTORE_MS_DEFAULT	1000
#define GLB_PORT_DEFAULT	8624
#define BUDGET_DEFAULT		20000
#define ALG_DEFAULT		"wecmp"
#define WEIGHTS_MS_DEFAULT	1000
#define LOSS_PPM_DEFAULT	5000
#define DELAY_US_DEFAULT	200
#define CE_PPM_DEFAULT		50000
#define CNP_PPM_DEFAULT		1000
#define PATIENCE		2	/* intervals */
#define CALM			5
#define CALM_MAX		160
#define FOLDER_DEFAULT		"/var/lib/srpold"
#define LEASE_S_DEFAULT		30
#define DAMP_MS_DEFAULT		2000
#define LOAD_MS_DEFAULT		10000
#define DEMAND_MS_LEAST		100
#define REFLECT_MS_DEFAULT	1000
#define REFLECT_RATE_DEFAULT	10000

static bool is_named(const struct config *c, size_t n, const char *host)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(c->hosts[i], host))
			return true;
	return false;
}

static int read_hosts(const json_t *o, struct config *c,
		      struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "hosts"), *name;
	size_t i;

	if (!v) {
		c->n_hosts = 1;
		if (!gethostname(c->hosts[0], sizeof(c->hosts[0])))
			return 0;
		return srpol_error_set(err, -errno,
				       "the name of this host has more than %zu characters: \"hosts\" has to say what the topology calls it",
				       sizeof(c->hosts[0]) - 1);
	}
	if (!json_is_array(v) || !json_array_size(v) ||
	    json_array_size(v) > HOSTS_MAX)
		return srpol_error_set(err, -EINVAL,
				       "\"hosts\" is not a list of 1 to %u names",
				       HOSTS_MAX);
	json_array_foreach(v, i, name) {
		if (!json_is_string(name) ||
		    json_string_length(name) >= sizeof(c->hosts[0]))
			return srpol_error_set(err, -EINVAL,
					       "\"hosts\" is not a list of names");
		if (is_named(c, i, json_string_value(name)))
			return srpol_error_set(err, -EINVAL,
					       "\"hosts\" has \"%s\" twice",
					       json_string_value(name));
		strcpy(c->hosts[i], json_string_value(name));
	}
	c->n_hosts = i;
	c->hosts_told = true;
	return 0;
}

static int read_probes(const json_t *root, struct config *c,
		       struct srpol_error *err)
{
	static const char * const keys[] = {
		"interval-ms", "multiplier", "timeout-ms",
		"wait-to-restore-ms", "budget", NULL
	};
	json_int_t interval, multiplier, timeout, restore, budget;
	json_t *o = json_object_get(root, "probes");
	int ret;

	if (o && !json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"probes\" is not an object");
	ret = (o ? words_check(o, keys, " in \"probes\"", err) : 0) ?:
	      words_number(o, "interval-ms", 1, 60000, INTERVAL_MS_DEFAULT,
			 &interval, err) ?:
	      words_number(o, "multiplier", 1, 50, MULTIPLIER_DEFAULT,
			 &multiplier, err) ?:
	      words_number(o, "timeout-ms", 1, 60000, interval, &timeout,
			 err) ?:
	      words_number(o, "wait-to-restore-ms", 0, 3600000,
			 RESTORE_MS_DEFAULT, &restore, err) ?:
	      words_number(o, "budget", 1, 10000000, BUDGET_DEFAULT, &budget,
			 err);
	if (ret)
		return ret;
	if (timeout > interval * (IN_FLIGHT - 2))
		return srpol_error_set(err, -EINVAL,
				       "\"timeout-ms\" is more than %u intervals",
				       IN_FLIGHT - 2);
	c->interval_ns = interval * NS_PER_MS;
	c->timeout_ns = timeout * NS_PER_MS;
	c->budget = budget;
	c->live = (struct liveness_config){
		.multiplier = multiplier,
		.restore_ns = restore * NS_PER_MS,
		.restore_max_ns = 32 * restore * NS_PER_MS,
		.calm_ns = 32 * restore * NS_PER_MS,
	};
	return 0;
}

static int get_alg(const json_t *o, const char *key, const char *fallback,
		   const struct srpol_alg **alg, struct srpol_error *err)
{
	char name[32];
	int ret;

	ret = words_text(o, key, fallback, name, sizeof(name), err);
	if (ret)
		return ret;
	*alg = srpol_alg_find(name);
	return *alg ? 0 :
	       srpol_error_set(err, -EINVAL, "\"%s\": no algorithm \"%s\"",
			       key, name);
}

/* { "HOST": "ALGORITHM" } */
static int read_peers(const json_t *weights, struct weights_config *c,
		      struct srpol_error *err)
{
	json_t *o = json_object_get(weights, "peers");
	const char *name;
	const json_t *v;
	int ret;

	if (o && !json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"peers\" is not an object");
	json_object_foreach(o, name, v) {
		if (c->n_peers == PEERS_MAX ||
		    strlen(name) >= sizeof(c->peers[0].name))
			return srpol_error_set(err, -EINVAL,
					       "\"peers\": at most %u names of at most %zu bytes",
					       PEERS_MAX,
					       sizeof(c->peers[0].name) - 1);
		strcpy(c->peers[c->n_peers].name, name);
		ret = get_alg(o, name, NULL, &c->peers[c->n_peers++].alg, err);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_weights(const json_t *root, struct config *config,
			struct srpol_error *err)
{
	static const char * const keys[] = {
		"algorithm", "interval-ms", "feed", "loss-ppm", "delay-us",
		"ce-ppm", "cnp-ppm", "peers", NULL
	};
	json_t *o = json_object_get(root, "weights");
	struct weights_config *c = &config->weights;
	json_int_t interval, loss, delay, ce, cnp;
	int ret;

	if (o && !json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"weights\" is not an object");
	ret = (o ? words_check(o, keys, " in \"weights\"", err) : 0) ?:
	      get_alg(o, "algorithm", ALG_DEFAULT, &c->alg, err) ?:
	      words_number(o, "interval-ms", 10, 3600000, WEIGHTS_MS_DEFAULT,
			 &interval, err) ?:
	      words_text(o, "feed", "", c->feed, sizeof(c->feed), err) ?:
	      words_number(o, "loss-ppm", 1, 1000000, LOSS_PPM_DEFAULT, &loss,
			 err) ?:
	      words_number(o, "delay-us", 1, 10000000, DELAY_US_DEFAULT, &delay,
			 err) ?:
	      words_number(o, "ce-ppm", 1, 1000000, CE_PPM_DEFAULT, &ce, err) ?:
	      words_number(o, "cnp-ppm", 1, 1000000, CNP_PPM_DEFAULT, &cnp,
			 err) ?:
	      read_peers(o, c, err);
	if (ret)
		return ret;
	c->interval_ns = interval * NS_PER_MS;
	c->quality = (struct quality_config){
		.loss_ppm = loss,
		.delay_ns = delay * 1000,
		.marks_ppm = { [QUALITY_CE] = ce, [QUALITY_CNP] = cnp,
			       [QUALITY_PATH_CE] = ce },
		.patience = PATIENCE,
		.calm = CALM,
		.calm_max = CALM_MAX,
	};
	return 0;
}

/* Without "fabric", there is no global engine. */
static int read_fabric(const json_t *root, struct config *config,
		       struct srpol_error *err)
{
	static const char * const keys[] = {
		"shard", "store", "bus", "folder", "lease-s", "damp-ms",
		"load-ms", "demand-ms", NULL
	};
	json_t *o = json_object_get(root, "fabric");
	struct follow_config *c = &config->fabric.follow;
	json_int_t lease, damp, load, demand;
	int ret;

	if (!o)
		return 0;
	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"fabric\" is not an object");
	ret = words_check(o, keys, " in \"fabric\"", err) ?:
	      words_text(o, "shard", "0", c->shard, sizeof(c->shard), err) ?:
	      words_text(o, "folder", FOLDER_DEFAULT, config->fabric.folder,
			 sizeof(config->fabric.folder), err) ?:
	      words_number(o, "lease-s", 1, 3600, LEASE_S_DEFAULT, &lease,
			   err) ?:
	      words_number(o, "damp-ms", 0, 3600000, DAMP_MS_DEFAULT, &damp,
			   err) ?:
	      words_number(o, "load-ms", 0, 3600000, LOAD_MS_DEFAULT, &load,
			   err) ?:
	      words_number(o, "demand-ms", 0, 3600000, 0, &demand, err) ?:
	      store_config_read(json_object_get(o, "store"), &c->store, err) ?:
	      bus_config_read(json_object_get(o, "bus"), &c->bus, err);
	if (ret)
		return ret;
	c->lease_s = lease;
	c->damp_ns = damp * NS_PER_MS;
	if (demand && demand < DEMAND_MS_LEAST)
		return srpol_error_set(err, -EINVAL,
				       "\"demand-ms\" is 0 or at least %u",
				       DEMAND_MS_LEAST);
	config->fabric.load_ns = load * NS_PER_MS;
	config->fabric.demand_ns = demand * NS_PER_MS;
	config->fabric.is_set = true;
	return 0;
}

/*
 * Without "reflect", no probes are sent to peers to be reflected, and none are
 * reflected.
 */
static int read_reflect(const json_t *root, struct config *config,
			struct srpol_error *err)
{
	static const char * const keys[] = {
		"keys", "interval-ms", "rate", NULL
	};
	json_t *o = json_object_get(root, "reflect");
	struct reflect_config *c = &config->reflect;
	json_int_t interval, rate;
	int ret;

	if (!o)
		return 0;
	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"reflect\" is not an object");
	ret = words_check(o, keys, " in \"reflect\"", err) ?:
	      words_text(o, "keys", NULL, c->keys, sizeof(c->keys), err) ?:
	      words_number(o, "interval-ms", 10, 60000, REFLECT_MS_DEFAULT,
			   &interval, err) ?:
	      words_number(o, "rate", 1, 10000000, REFLECT_RATE_DEFAULT, &rate,
			   err);
	if (ret)
		return ret;
	if (!c->keys[0])
		return srpol_error_set(err, -EINVAL,
				       "\"keys\" in \"reflect\" names no file");
	c->interval_ns = interval * NS_PER_MS;
	c->rate = rate;
	return 0;
}

/* Without "glb", other hosts are told nothing. */
static int read_segments(const json_t *root, struct config *config,
			 struct srpol_error *err)
{
	static const char * const keys[] = { "usid", "hops", NULL };
	json_t *o = json_object_get(root, "segment-lists");
	struct segments_config *c = &config->segments;
	char hops[16];
	int ret;

	if (!o)
		return 0;
	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"segment-lists\" is not an object");
	ret = words_check(o, keys, " in \"segment-lists\"", err) ?:
	      words_bool(o, "usid", &c->usid, err) ?:
	      words_text(o, "hops", "all", hops, sizeof(hops), err);
	if (ret)
		return ret;
	c->top = !strcmp(hops, "top");
	return c->top || !strcmp(hops, "all") ? 0 :
	       srpol_error_set(err, -EINVAL,
			       "\"hops\" is neither \"all\" nor \"top\"");
}

static int read_glb(const json_t *root, struct config *config,
		    struct srpol_error *err)
{
	static const char * const keys[] = { "port", NULL };
	json_t *o = json_object_get(root, "glb");
	json_int_t port;
	int ret;

	if (!o)
		return 0;
	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"glb\" is not an object");
	ret = words_check(o, keys, " in \"glb\"", err) ?:
	      words_number(o, "port", 1, 65535, GLB_PORT_DEFAULT, &port, err);
	if (ret)
		return ret;
	if (!config->reflect.keys[0])
		return srpol_error_set(err, -EINVAL,
				       "\"glb\" without \"keys\" in \"reflect\"");
	config->glb_port = port;
	return 0;
}

static int read_all(const json_t *o, void *config, struct srpol_error *err)
{
	struct config *c = config;
	static const char * const keys[] = {
		"topology", "hosts", "color", "first-path", "rule-prio",
		"job-prio", "job-color", "probes", "weights", "fabric",
		"reflect", "glb", "socket", "demands", "segment-lists", NULL
	};
	json_int_t color, first, prio, job_prio, job_color;
	char name[NAME_MAX + 1], fallback[sizeof(c->socket)];
	int ret;

	ret = srpol_netns_name(name, sizeof(name));
	if (ret)
		return srpol_error_set(err, ret, "name of the network namespace: %s",
				       strerror(-ret));
	if ((size_t)snprintf(fallback, sizeof(fallback), "/run/srpold/%s.sock", name) >=
	    sizeof(fallback) && !json_object_get(o, "socket"))
		return srpol_error_set(err, -ENAMETOOLONG,
				       "\"socket\" is needed: the name of this network namespace is too long for one by that name");
	ret = words_check(o, keys, "", err) ?:
	      words_text(o, "topology", "/etc/srpol/topology.json", c->topology,
		       sizeof(c->topology), err) ?:
	      words_text(o, "socket", fallback, c->socket, sizeof(c->socket),
		       err) ?:
	      words_text(o, "demands", "", c->demands, sizeof(c->demands),
		       err) ?:
	      read_hosts(o, c, err) ?:
	      words_number(o, "color", 1, UINT32_MAX, COLOR_DEFAULT, &color,
			 err) ?:
	      words_number(o, "first-path", 1, SRPOL_MAX_PATHS - 1, FIRST_PATH_DEFAULT,
			 &first, err) ?:
	      words_number(o, "rule-prio", 0, UINT32_MAX - 1, RULE_PRIO_DEFAULT,
			 &prio, err) ?:
	      words_number(o, "job-prio", 1, UINT32_MAX - JOBS_MAX * JOB_RULES,
			 JOB_PRIO_DEFAULT, &job_prio, err) ?:
	      words_number(o, "job-color", 1, UINT32_MAX - JOBS_MAX,
			 JOB_COLOR_DEFAULT, &job_color, err) ?:
	      read_probes(o, c, err) ?: read_weights(o, c, err) ?:
	      read_fabric(o, c, err) ?: read_reflect(o, c, err) ?:
	      read_glb(o, c, err) ?: read_segments(o, c, err);
	if (!ret && prio && prio + !!c->glb_port >= job_prio &&
	    prio < job_prio + JOBS_MAX * JOB_RULES)
		ret = srpol_error_set(err, -EINVAL,
				      "\"rule-prio\" is one of the %u from \"job-prio\"",
				      JOBS_MAX * JOB_RULES);
	c->color = color;
	c->first_path = first;
	c->rule_prio = prio;
	c->job_prio = job_prio;
	c->job_color = job_color;
	return ret;
}

/**
 * config_read() - read the configuration file
 * @file: its name
 * @config: result, set only if the whole file is valid
 * @err: message on failure
 */
int config_read(const char *file, struct config *config,
		struct srpol_error *err)
{
	struct config new = {};
	int ret = words_file(file, read_all, &new, err);

	if (!ret)
		*config = new;
	return ret;
}
