// SPDX-License-Identifier: GPL-2.0
/*
 * ADD, DEL and CHECK. All of srpol's objects are in the network namespace of
 * this process, which is the host's. The lock of the pins is held throughout, so
 * that of pods that come and go at the same time none sees another half done.
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

/* Return: 0, -ENOENT if the module is not there, or another negative errno. */
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

/* What the pod is to have; color 0: nothing. */
static int want(struct cni_pod *pod, struct cni_error *err)
{
	int ret = cni_color_choose(pod->config, pod->request, &pod->color,
				   err);

	if (ret || !pod->color)
		return ret;
	return cni_result_addrs(pod->config, pod->request->ifname,
				&pod->addrs, err) ?: cni_port_find(pod, err);
}

/* Without a color there is nothing to be done, and nothing to be finished. */
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
 * cni_pod_add() - have what a pod sends steered by its color
 * @config: the configuration, checked
 * @request: which pod
 * @err: why not; then nothing has changed
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

/* The port as the pod's namespace tells it, if that is still there. */
static unsigned int ask_port(const struct cni_request *request)
{
	struct srpol_pod_veth veth;

	if (!*request->netns ||
	    srpol_pod_veth_find(request->netns, request->ifname, &veth, NULL))
		return 0;
	return veth.bridge ? 0 : veth.ifindex;
}

/**
 * cni_pod_del() - have nothing of a pod
 * @config: the configuration
 * @request: which pod
 * @err: why not
 *
 * What is not there any more need not be removed: that is no error.
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
 * cni_pod_check() - is there what cni_pod_add() has made
 * @config: the configuration, checked
 * @request: which pod
 * @err: what is not
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
