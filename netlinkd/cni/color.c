// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the color of a pod. The configuration has a default color and other
 * colors that pods may ask for, either for all pods or per Kubernetes
 * namespace. The namespace is passed by the runtime and can be trusted. The
 * color asked for comes from the author of the pod, so it is only granted if it
 * is listed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cni.h"

#define ANNOTATIONS	"io.kubernetes.cri.pod-annotations"
#define ANNOTATION	"srpol/color"

static uint32_t number(const json_t *v)
{
	json_int_t n = json_integer_value(v);

	return n > 0 && n <= UINT32_MAX ? n : 0;
}

/* Reads a color that has nothing but digits; 0 if it is invalid. */
static uint32_t digits(const char *s)
{
	size_t len = strspn(s, "0123456789");
	unsigned long long n;

	if (!len || len > 10 || s[len])
		return 0;
	n = strtoull(s, NULL, 10);
	return n <= UINT32_MAX ? n : 0;
}

/* Colors that are asked for in several places have to agree. */
static int take(uint32_t color, const char *where, uint32_t *asked,
		struct cni_error *err)
{
	if (!color)
		return cni_fail(err, CNI_COLOR, NULL,
				"%s asks for what is no color: a number from 1 to %u",
				where, UINT32_MAX);
	if (*asked && *asked != color)
		return cni_fail(err, CNI_COLOR, NULL,
				"%s asks for color %u, after color %u was asked for",
				where, color, *asked);
	*asked = color;
	return 0;
}

static int take_json(const json_t *v, const char *where, uint32_t *asked,
		     struct cni_error *err)
{
	if (!v)
		return 0;
	return take(json_is_string(v) ? digits(json_string_value(v)) :
		    number(v), where, asked, err);
}

/* Reads which color the pod asks for; 0 in @asked: for none. */
static int read_asked(const struct cni_config *config,
		      const struct cni_request *request, uint32_t *asked,
		      struct cni_error *err)
{
	const json_t *root = config->root, *v;
	char text[16];
	int ret;

	*asked = 0;
	v = json_object_get(json_object_get(json_object_get(root, "runtimeConfig"),
					    ANNOTATIONS), ANNOTATION);
	ret = take_json(v, "annotation " ANNOTATION, asked, err);
	if (ret)
		return ret;
	v = json_object_get(json_object_get(json_object_get(root, "args"),
					    "cni"), "color");
	ret = take_json(v, "args.cni.color", asked, err);
	if (!ret && cni_request_arg(request, "SRPOL_COLOR", text,
				    sizeof(text)))
		ret = take(digits(text), "SRPOL_COLOR", asked, err);
	return ret;
}

static bool may_have(const json_t *who, uint32_t color)
{
	const json_t *v;
	size_t i;

	if (number(json_object_get(who, "color")) == color)
		return true;
	json_array_foreach(json_object_get(who, "colors"), i, v)
		if (number(v) == color)
			return true;
	return false;
}

/**
 * cni_color_choose() - choose the color of a pod
 * @config: the configuration, checked
 * @request: request for the pod
 * @color: result, 0: the pod's packets are not steered
 * @err: error
 */
int cni_color_choose(const struct cni_config *config,
		     const struct cni_request *request, uint32_t *color,
		     struct cni_error *err)
{
	const json_t *who = NULL;
	char namespace[256] = "";
	uint32_t asked;
	int ret;

	if (cni_request_arg(request, "K8S_POD_NAMESPACE", namespace,
			    sizeof(namespace)))
		who = json_object_get(json_object_get(config->root,
						      "namespaces"),
				      namespace);
	if (!who)
		who = config->root;
	ret = read_asked(config, request, &asked, err);
	if (ret)
		return ret;
	if (asked && !may_have(who, asked))
		return cni_fail(err, CNI_COLOR, NULL,
				"color %u is none that a pod%s%.100s may have",
				asked, *namespace ? " of namespace " : "",
				namespace);
	*color = asked ?: number(json_object_get(who, "color"));
	return 0;
}
