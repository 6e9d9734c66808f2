// SPDX-License-Identifier: GPL-2.0
/* Result of the plugins that ran before, which is passed on unchanged. */
#include <stdio.h>
#include <string.h>

#include "cni.h"

/* Is this the pod's device? Entries of devices on the host have no sandbox. */
static bool is_pods(const json_t *interface, const char *ifname)
{
	const char *name = json_string_value(json_object_get(interface,
							     "name"));
	const char *sandbox = json_string_value(json_object_get(interface,
								"sandbox"));

	return name && !strcmp(name, ifname) && sandbox && *sandbox;
}

/* Reads ADDR of ADDR/LEN. LEN is that of the pod's subnet and not needed. */
static bool read_addr(const json_t *ip, struct in6_addr *addr)
{
	const char *text = json_string_value(json_object_get(ip, "address"));
	char buf[SRPOL_ADDR_STRLEN];
	size_t len = text ? strcspn(text, "/") : 0;

	if (!len || len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return srpol_addr_parse(buf, addr);
}

/**
 * cni_result_addrs() - read the addresses of the pod's device
 * @config: the configuration
 * @ifname: name of the device
 * @addrs: result
 * @err: error
 *
 * An address for which no device is given counts as well.
 */
int cni_result_addrs(const struct cni_config *config, const char *ifname,
		     struct cni_addrs *addrs, struct cni_error *err)
{
	const json_t *interfaces = json_object_get(config->prev, "interfaces");
	const json_t *ips = json_object_get(config->prev, "ips"), *ip, *at;
	size_t i;

	addrs->n = 0;
	json_array_foreach(ips, i, ip) {
		at = json_object_get(ip, "interface");
		if (json_is_integer(at) &&
		    !is_pods(json_array_get(interfaces,
					    json_integer_value(at)), ifname))
			continue;
		if (addrs->n == CNI_ADDRS_MAX)
			return cni_fail(err, CNI_CONFIG, NULL,
					"the pod has more than %d addresses",
					CNI_ADDRS_MAX);
		if (!read_addr(ip, &addrs->addr[addrs->n]))
			return cni_fail(err, CNI_CONFIG, NULL,
					"an \"address\" of prevResult is none");
		addrs->n++;
	}
	if (!addrs->n)
		return cni_fail(err, CNI_CONFIG, NULL,
				"prevResult has no address of %s", ifname);
	return 0;
}

/**
 * cni_result_print() - print the result of the plugins that ran before
 * @config: the configuration
 * @to: where to print it
 * @err: error
 */
int cni_result_print(const struct cni_config *config, FILE *to,
		     struct cni_error *err)
{
	json_t *o = json_copy((json_t *)config->prev);
	bool ok;

	if (!json_object_get(o, "cniVersion"))
		json_object_set_new(o, "cniVersion",
				    json_string(config->version));
	ok = !json_dumpf(o, to, JSON_INDENT(4)) && fputc('\n', to) != EOF &&
	     !fflush(to);
	json_decref(o);
	return ok ? 0 : cni_fail(err, CNI_IO, NULL, "the result is not taken");
}
