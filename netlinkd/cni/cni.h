/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpol as a chained CNI plugin: what its files share. The functions here
 * that return an int return 0 or the code of the error, which is one of CNI's
 * or of our own.
 */
#ifndef _SRPOL_CNI_H
#define _SRPOL_CNI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "objects.h"

#define CNI_ADDRS_MAX	16

/**
 * enum cni_code - codes of errors
 * @CNI_VERSION: the version of the configuration is not supported
 * @CNI_FIELD: the configuration has a member that is unknown
 * @CNI_ENVIRONMENT: a variable is missing or cannot be
 * @CNI_IO: reading or writing failed
 * @CNI_DECODE: what was read is no JSON
 * @CNI_CONFIG: the configuration is wrong
 * @CNI_COLOR: a color that the pod may not have
 * @CNI_NO_PORT: the pod has no device that could be a port
 * @CNI_REFUSED: module or kernel refused
 * @CNI_MISSING: CHECK does not find what ADD made
 *
 * Those below 100 are of the specification.
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
 * struct cni_error - why it failed
 * @code: enum cni_code
 * @msg: what
 * @details: why; may be empty
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
 * struct cni_request - what the runtime says in variables
 * @command: ADD, DEL, CHECK or VERSION
 * @container: id of the container
 * @netns: path of its network namespace; may be empty for DEL
 * @ifname: its device there
 * @args: pairs KEY=VALUE, with semicolons between them; may be empty
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
 * struct cni_config - the configuration, as it came on standard input
 * @root: all of it
 * @prev: what the plugins before have made; may be NULL
 * @version: of the specification, one that is supported
 * @network: name of the network
 * @bridge: a bridge may be made a port for all pods at it
 * @prio: rules of pods have priorities from @prio[0] to @prio[1]
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
 * struct cni_addrs - addresses of the pod
 * @n: number of them
 * @addr: IPv4 as v4-mapped
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
 * @config: the configuration
 * @request: what is asked for
 * @name: of its rules
 * @color: of what it sends; 0: left alone
 * @addrs: its addresses
 * @port: where its packets come in: the host's end of its device, or the bridge
 *	that is at
 * @genl: connection to the module of the host's namespace
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
