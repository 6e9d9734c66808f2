/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpol as a chained CNI plugin: declarations shared by its files. Functions
 * that return an int return 0 or the code of an error, which is one of CNI's or
 * one of our own.
 */
#ifndef _SRPOL_CNI_H
#define _SRPOL_CNI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "objects.h"

#define CNI_ADDRS_MAX	16

/**
 * enum cni_code - error codes
 * @CNI_VERSION: the version of the configuration is not supported
 * @CNI_FIELD: the configuration has an unknown member
 * @CNI_ENVIRONMENT: an environment variable is missing or invalid
 * @CNI_IO: reading or writing failed
 * @CNI_DECODE: the input is not JSON
 * @CNI_CONFIG: the configuration is invalid
 * @CNI_COLOR: the pod may not have the color it asks for
 * @CNI_NO_PORT: no device can be the port of the pod
 * @CNI_REFUSED: the module or the kernel refused
 * @CNI_MISSING: CHECK does not find what ADD made
 *
 * Codes below 100 are defined by the CNI specification.
 */
enum cni_code {
	CNI_VERSION = 1,
	CNI_FIELD = 2,
	CNI_ENVIRONMENT = 4,
	CNI_IO = 5,
	CNI_DECODE = 6,
	CNI_CONFIG = 7,
	CNI_COLOR = 100,
	CNI_NO_PORT = 101,
	CNI_REFUSED = 102,
	CNI_MISSING = 103,
};

/**
 * struct cni_error - an error to be reported
 * @code: enum cni_code
 * @msg: what failed
 * @details: why it failed; may be empty
 */
struct cni_error {
	int code;
	char msg[256];
	char details[512];
};

/* error.c */
__attribute__((format(printf, 4, 5)))
int cni_fail(struct cni_error *err, enum cni_code code, const char *details,
	     const char *fmt, ...);
void cni_error_print(const struct cni_error *err, const char *version,
		     FILE *to);

/* request.c */

/**
 * struct cni_request - request of the runtime, from environment variables
 * @command: ADD, DEL, CHECK or VERSION
 * @container: id of the container
 * @netns: path of its network namespace; may be empty for DEL
 * @ifname: name of the pod's device in that namespace
 * @args: pairs KEY=VALUE, separated by semicolons; may be empty
 */
struct cni_request {
	const char *command;
	const char *container;
	const char *netns;
	const char *ifname;
	const char *args;
};

int cni_request_read(struct cni_request *request, struct cni_error *err);
bool cni_request_arg(const struct cni_request *request, const char *key,
		     char *value, size_t len);
void cni_request_name(const struct cni_request *request, const char *network,
		      char *name);

/* config.c */

/**
 * struct cni_config - network configuration, from standard input
 * @root: the whole JSON object
 * @prev: result of the plugins that ran before; may be NULL
 * @version: version of the CNI specification, one of those supported
 * @network: name of the network
 * @bridge: a bridge is accepted as the port of all pods attached to it
 * @prio: lowest and highest priority for rules of pods
 */
struct cni_config {
	json_t *root;
	const json_t *prev;
	const char *version;
	const char *network;
	bool bridge;
	uint32_t prio[2];
};

int cni_config_read(const char *text, size_t len, struct cni_config *config,
		    struct cni_error *err);
int cni_config_check(struct cni_config *config, struct cni_error *err);
void cni_config_free(struct cni_config *config);
void cni_versions_print(const char *text, size_t len, FILE *to);

/* color.c */
int cni_color_choose(const struct cni_config *config,
		     const struct cni_request *request, uint32_t *color,
		     struct cni_error *err);

/* result.c */

/**
 * struct cni_addrs - addresses of a pod
 * @n: number of @addr
 * @addr: addresses; IPv4 as v4-mapped
 */
struct cni_addrs {
	unsigned int n;
	struct in6_addr addr[CNI_ADDRS_MAX];
};

int cni_result_addrs(const struct cni_config *config, const char *ifname,
		     struct cni_addrs *addrs, struct cni_error *err);
int cni_result_print(const struct cni_config *config, FILE *to,
		     struct cni_error *err);

/* rules.c */

/**
 * struct cni_pod - a device of a pod
 * @config: configuration
 * @request: request that concerns it
 * @name: name of its rules
 * @color: color of the packets it sends; 0: they are not steered
 * @addrs: its addresses
 * @port: ifindex of its port, where its packets come in: the host's end of its
 *	veth pair, or the bridge that this end is attached to
 * @genl: connection to the module, in the host's namespace
 */
struct cni_pod {
	const struct cni_config *config;
	const struct cni_request *request;
	char name[SRPOL_NAME_MAX + 1];
	uint32_t color;
	struct cni_addrs addrs;
	unsigned int port;
	struct srpol_genl genl;
};

int cni_rules_put(struct cni_pod *pod, struct cni_error *err);
int cni_rules_del(struct cni_pod *pod, unsigned int *port,
		  struct cni_error *err);
int cni_rules_check(struct cni_pod *pod, struct cni_error *err);

/* port.c */
int cni_port_find(struct cni_pod *pod, struct cni_error *err);
int cni_port_put(struct cni_pod *pod, bool *made, struct cni_error *err);
int cni_port_check(struct cni_pod *pod, struct cni_error *err);
int cni_port_del(struct cni_pod *pod, unsigned int port,
		 struct cni_error *err);

/* pod.c */
int cni_pod_add(const struct cni_config *config,
		const struct cni_request *request, struct cni_error *err);
int cni_pod_del(const struct cni_config *config,
		const struct cni_request *request, struct cni_error *err);
int cni_pod_check(const struct cni_config *config,
		  const struct cni_request *request, struct cni_error *err);

#endif /* _SRPOL_CNI_H */
