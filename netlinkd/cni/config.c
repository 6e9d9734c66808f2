// SPDX-License-Identifier: GPL-2.0
/* Reads and checks the configuration. */
#include <string.h>

#include "cni.h"
#include "words.h"

/* Supported versions of the CNI specification, the newest last. */
static const char *const versions[] = { "0.3.0", "0.3.1", "0.4.0", "1.0.0" };

#define VERSIONS	(sizeof(versions) / sizeof(versions[0]))
#define NEWEST		versions[VERSIONS - 1]

#define PRIO_FIRST	20000
#define PRIO_LAST	29999

static const char *supported(const json_t *root)
{
	const char *version =
		json_string_value(json_object_get(root, "cniVersion"));
	size_t i;

	for (i = 0; version && i < VERSIONS; i++)
		if (!strcmp(version, versions[i]))
			return versions[i];
	return NULL;
}

/**
 * cni_config_read() - read what all commands need of the configuration
 * @text: standard input
 * @len: bytes of @text
 * @config: result, to be freed even after an error, when @config->version is
 *	valid as well
 * @err: error
 *
 * Members that only ADD and CHECK use are not checked here: DEL has to succeed
 * even if these are invalid.
 */
int cni_config_read(const char *text, size_t len, struct cni_config *config,
		    struct cni_error *err)
{
	const char *version;
	json_error_t at;

	*config = (struct cni_config){ .version = NEWEST };
	config->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
	if (!config->root)
		return cni_fail(err, CNI_DECODE, at.text,
				"the configuration is no JSON, line %d",
				at.line);
	if (!json_is_object(config->root))
		return cni_fail(err, CNI_DECODE, NULL,
				"the configuration is no JSON object");
	version = supported(config->root);
	if (!version)
		return cni_fail(err, CNI_VERSION,
				json_string_value(json_object_get(config->root,
								  "cniVersion")),
				"cniVersion is not one of 0.3.0 0.3.1 0.4.0 1.0.0");
	config->version = version;
	config->network = json_string_value(json_object_get(config->root,
							    "name"));
	if (!config->network || !*config->network)
		return cni_fail(err, CNI_CONFIG, NULL,
				"\"name\" of the network is missing");
	config->prev = json_object_get(config->root, "prevResult");
	return 0;
}

static int check_color(const json_t *who, struct srpol_error *why)
{
	json_int_t color;

	return words_number(who, "color", 1, UINT32_MAX, 0, &color, why);
}

static int check_colors(const json_t *who, struct srpol_error *why)
{
	const json_t *colors = json_object_get(who, "colors"), *v;
	size_t i;

	if (colors && !json_is_array(colors))
		return srpol_error_set(why, -1, "\"colors\" is no array");
	json_array_foreach(colors, i, v)
		if (!json_is_integer(v) || json_integer_value(v) < 1 ||
		    json_integer_value(v) > UINT32_MAX)
			return srpol_error_set(why, -1,
					       "\"colors\" has what is not a number from 1 to %u",
					       UINT32_MAX);
	return 0;
}

static int check_namespaces(const json_t *root, struct srpol_error *why)
{
	static const char *const keys[] = { "color", "colors", NULL };
	json_t *all = json_object_get(root, "namespaces");
	struct srpol_error inner;
	const char *name;
	const json_t *who;
	int ret;

	if (all && !json_is_object(all))
		return srpol_error_set(why, -1, "\"namespaces\" is no object");
	json_object_foreach(all, name, who) {
		if (!json_is_object(who))
			return srpol_error_set(why, -1,
					       "namespace \"%s\" is no object",
					       name);
		ret = words_check(who, keys, "", &inner) ?:
		      check_color(who, &inner) ?: check_colors(who, &inner);
		if (ret)
			return srpol_error_set(why, ret, "namespace \"%s\": %.300s",
					       name, inner.text);
	}
	return 0;
}

static int check_prio(struct cni_config *config, struct srpol_error *why)
{
	const json_t *prio = json_object_get(config->root, "prio"), *v;
	size_t i;

	config->prio[0] = PRIO_FIRST;
	config->prio[1] = PRIO_LAST;
	if (!prio)
		return 0;
	for (i = 0; i < 2; i++) {
		v = json_array_get(prio, i);
		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > UINT32_MAX)
			break;
		config->prio[i] = json_integer_value(v);
	}
	if (i < 2 || json_array_size(prio) != 2 ||
	    config->prio[0] > config->prio[1])
		return srpol_error_set(why, -1,
				       "\"prio\" is not [ FIRST, LAST ]");
	return 0;
}

static int check_bridge(struct cni_config *config, struct srpol_error *why)
{
	const json_t *bridge = json_object_get(config->root, "bridge");

	config->bridge = json_is_true(bridge);
	if (bridge && !json_is_boolean(bridge))
		return srpol_error_set(why, -1,
				       "\"bridge\" is neither true nor false");
	return 0;
}

/**
 * cni_config_check() - read and check what ADD and CHECK need
 * @config: result of cni_config_read()
 * @err: error
 */
int cni_config_check(struct cni_config *config, struct cni_error *err)
{
	static const char *const keys[] = {
		/* common to all plugins */
		"cniVersion", "name", "type", "args", "capabilities",
		"disableCheck", "dns", "ipMasq", "ipam", "prevResult",
		"runtimeConfig",
		/* those of srpol */
		"bridge", "color", "colors", "namespaces", "prio", NULL
	};
	struct srpol_error why;

	if (words_check(config->root, keys, "", &why))
		return cni_fail(err, CNI_FIELD, why.text,
				"the configuration has an unknown member");
	if (check_color(config->root, &why) ||
	    check_colors(config->root, &why) ||
	    check_namespaces(config->root, &why) ||
	    check_prio(config, &why) || check_bridge(config, &why))
		return cni_fail(err, CNI_CONFIG, why.text,
				"the configuration is wrong");
	if (!json_is_object(config->prev))
		return cni_fail(err, CNI_CONFIG, NULL,
				"there is no prevResult: srpol comes after a plugin that makes the pod's device");
	return 0;
}

/**
 * cni_config_free() - free the configuration
 * @config: the configuration
 */
void cni_config_free(struct cni_config *config)
{
	json_decref(config->root);
}

/**
 * cni_versions_print() - answer the command VERSION
 * @text: standard input, may be anything
 * @len: bytes of @text
 * @to: where to print the answer
 */
void cni_versions_print(const char *text, size_t len, FILE *to)
{
	json_t *asked = json_loadb(text, len, 0, NULL);
	const char *version = supported(asked);
	json_t *o = json_pack("{s:s, s:[]}", "cniVersion",
			      version ? version : NEWEST, "supportedVersions");
	size_t i;

	for (i = 0; i < VERSIONS; i++)
		json_array_append_new(json_object_get(o, "supportedVersions"),
				      json_string(versions[i]));
	json_dumpf(o, to, JSON_INDENT(4));
	fputc('\n', to);
	json_decref(o);
	json_decref(asked);
}
