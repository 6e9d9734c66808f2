// SPDX-License-Identifier: GPL-2.0
/*
 * ADD, DEL and CHECK. This process runs in the host's network namespace, where
 * all objects of srpol are. It holds the lock of the pins throughout, so that
 * it never sees another pod that is half added or deleted.
 */
#include <errno.h>
#include <string.h>

#include "cni.h"

static void start(struct cni_pod *pod, const struct cni_config *config,
		  const struct cni_request *request)
{
	*pod = (struct cni_pod){ .config = config, .request = request };
	cni_request_name(request, config->network, pod->name);
}

/*
 * Connects to the module and takes the lock of the pins. Returns 0, -ENOENT if
 * the module is not loaded, or another negative errno.
 */
static int reach(struct cni_pod *pod, int *lock, struct cni_error *err)
{
	struct srpol_error why = {};
	int ret = srpol_genl_open(&pod->genl, &why);

	if (ret) {
		cni_fail(err, CNI_REFUSED, why.text,
			 "the module cannot be reached");
		return ret;
	}
	*lock = srpol_pins_lock(&why);
	if (*lock >= 0)
		return 0;
	cni_fail(err, CNI_REFUSED, why.text,
		 "the data plane cannot be reached");
	srpol_genl_close(&pod->genl);
	return -EIO;
}

static void finish(struct cni_pod *pod, int lock)
{
	srpol_pins_unlock(lock);
	srpol_genl_close(&pod->genl);
}

static int make(struct cni_pod *pod, struct cni_error *err)
{
	bool made;
	int ret;

	ret = cni_port_put(pod, &made, err);
	if (ret)
		return ret;
	ret = cni_rules_put(pod, err);
	if (ret && made)
		srpol_role_del(&pod->genl, pod->port, NULL);
	return ret;
}

/*
 * Finds out color, addresses and port of the pod. Without a color it needs
 * nothing else.
 */
static int want(struct cni_pod *pod, struct cni_error *err)
{
	int ret = cni_color_choose(pod->config, pod->request, &pod->color,
				   err);

	if (ret || !pod->color)
		return ret;
	return cni_result_addrs(pod->config, pod->request->ifname,
				&pod->addrs, err) ?: cni_port_find(pod, err);
}

/*
 * Prepares ADD or CHECK. If the pod has no color there is nothing to do, and
 * finish() must not be called.
 */
static int begin(struct cni_pod *pod, const struct cni_config *config,
		 const struct cni_request *request, int *lock,
		 struct cni_error *err)
{
	int ret;

	start(pod, config, request);
	ret = want(pod, err);
	if (ret || !pod->color)
		return ret;
	return reach(pod, lock, err) ? err->code : 0;
}

/**
 * cni_pod_add() - steer what a pod sends by its color
 * @config: the configuration, checked
 * @request: request for the pod
 * @err: error; nothing has changed then
 */
int cni_pod_add(const struct cni_config *config,
		const struct cni_request *request, struct cni_error *err)
{
	struct cni_pod pod;
	int ret, lock;

	ret = begin(&pod, config, request, &lock, err);
	if (ret || !pod.color)
		return ret;
	ret = make(&pod, err);
	finish(&pod, lock);
	return ret;
}

/*
 * Finds the port by the pod's namespace, if it still exists; 0 if it does not,
 * or the port is a bridge.
 */
static unsigned int ask_port(const struct cni_request *request)
{
	struct srpol_pod_veth veth;

	if (!*request->netns ||
	    srpol_pod_veth_find(request->netns, request->ifname, &veth, NULL))
		return 0;
	return veth.bridge ? 0 : veth.ifindex;
}

/**
 * cni_pod_del() - remove what srpol has for a pod
 * @config: the configuration
 * @request: request for the pod
 * @err: error
 *
 * It is no error if nothing is left to be removed.
 */
int cni_pod_del(const struct cni_config *config,
		const struct cni_request *request, struct cni_error *err)
{
	unsigned int port = ask_port(request);
	struct cni_pod pod;
	int ret, lock;

	start(&pod, config, request);
	ret = reach(&pod, &lock, err);
	if (ret)
		return ret == -ENOENT ? 0 : err->code;
	ret = cni_rules_del(&pod, &port, err) ?:
	      cni_port_del(&pod, port, err);
	finish(&pod, lock);
	return ret;
}

/**
 * cni_pod_check() - check that what cni_pod_add() has made exists
 * @config: the configuration, checked
 * @request: request for the pod
 * @err: error: what is missing
 */
int cni_pod_check(const struct cni_config *config,
		  const struct cni_request *request, struct cni_error *err)
{
	struct cni_pod pod;
	int ret, lock;

	ret = begin(&pod, config, request, &lock, err);
	if (ret || !pod.color)
		return ret;
	ret = cni_port_check(&pod, err) ?: cni_rules_check(&pod, err);
	finish(&pod, lock);
	return ret;
}
