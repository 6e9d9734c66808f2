// SPDX-License-Identifier: GPL-2.0
/*
 * The port of a pod is the host's end of its veth pair. If that end is attached
 * to a bridge it is the bridge, as the pod's frames are addressed to it. A
 * bridge is shared by its pods, so it stays a port when a pod is deleted.
 */
#include <net/if.h>
#include <string.h>

#include "cni.h"

static const char *name_of(unsigned int ifindex, char *buf)
{
	return if_indextoname(ifindex, buf) ?: "?";
}

/**
 * cni_port_find() - find the device that is the pod's port
 * @pod: the pod
 * @err: error
 */
int cni_port_find(struct cni_pod *pod, struct cni_error *err)
{
	struct srpol_pod_veth veth;
	char name[IF_NAMESIZE], bridge[IF_NAMESIZE];
	struct srpol_error why = {};

	if (srpol_pod_veth_find(pod->request->netns, pod->request->ifname,
				&veth, &why))
		return cni_fail(err, CNI_NO_PORT, why.text,
				"srpol does not see what %s of the pod sends",
				pod->request->ifname);
	pod->port = veth.bridge ?: veth.ifindex;
	if (veth.bridge && !pod->config->bridge)
		return cni_fail(err, CNI_NO_PORT,
				"pods at a bridge can send with each other's addresses, and so by each other's color; \"bridge\": true takes it as it is, plugin ptp has no bridge",
				"%s of the pod is at bridge %s",
				name_of(veth.ifindex, name),
				name_of(veth.bridge, bridge));
	return 0;
}

/*
 * Checks that the strict source check would not drop the pod's packets: routes
 * to its addresses must lead to the port, and forwarding must be on.
 */
static int check_routes(const struct cni_pod *pod, struct cni_error *err)
{
	struct srpol_error why = {};
	char name[IF_NAMESIZE];
	unsigned int i;

	for (i = 0; i < pod->addrs.n; i++)
		if (srpol_dev_leads_to(pod->port, &pod->addrs.addr[i], &why))
			return cni_fail(err, CNI_NO_PORT, why.text,
					"%s cannot be the port of the pod",
					name_of(pod->port, name));
	return 0;
}

/* A device that srpol is on already must be a port with strict source check. */
static int check_dev(const struct cni_pod *pod, const struct dev_info *dev,
		     enum cni_code code, struct cni_error *err)
{
	char name[IF_NAMESIZE];

	if (dev->role == SRPOL_DEV_ROLE_PORT &&
	    dev->source == SRPOL_SOURCE_CHECK_STRICT)
		return 0;
	return cni_fail(err, code, NULL,
			"%s has role %s and source %s, not role port and source strict",
			name_of(pod->port, name),
			srpol_name_of(srpol_dev_roles, dev->role),
			srpol_name_of(srpol_source_checks, dev->source));
}

/**
 * cni_port_put() - make the pod's device a port, unless it is one
 * @pod: the pod
 * @made: result: it was not a port before
 * @err: error; nothing has changed then
 */
int cni_port_put(struct cni_pod *pod, bool *made, struct cni_error *err)
{
	struct wanted_dev wanted = {
		.ifindex = pod->port, .role = SRPOL_DEV_ROLE_PORT,
		.xdp = SRPOL_XDP_MODE_AUTO,
		.source = SRPOL_SOURCE_CHECK_STRICT,
	};
	struct srpol_error why = {};
	struct dev_info dev;
	char name[IF_NAMESIZE];
	int ret = check_routes(pod, err);

	*made = false;
	if (ret)
		return ret;
	if (srpol_role_find(&pod->genl, pod->port, &dev)) {
		ret = check_dev(pod, &dev, CNI_NO_PORT, err);
		if (ret || !srpol_role_is_half(&dev))
			return ret;
	}
	ret = srpol_role_add(&pod->genl, &wanted, NLM_F_CREATE | NLM_F_EXCL,
			     &why);
	if (ret)
		return cni_fail(err, CNI_REFUSED,
				why.text[0] ? why.text : strerror(-ret),
				"%s is refused as a port",
				name_of(pod->port, name));
	*made = true;
	return 0;
}

/**
 * cni_port_check() - check that the pod's port exists
 * @pod: the pod
 * @err: error: what is missing
 */
int cni_port_check(struct cni_pod *pod, struct cni_error *err)
{
	struct srpol_dev_status st = {};
	char name[IF_NAMESIZE];
	struct dev_info dev;

	if (!srpol_role_find(&pod->genl, pod->port, &dev))
		return cni_fail(err, CNI_MISSING, NULL, "%s is no port",
				name_of(pod->port, name));
	if (srpol_dp_dev_status(pod->port, &st) || !st.tc_ingress)
		return cni_fail(err, CNI_MISSING, NULL,
				"the program of ports is not on %s",
				name_of(pod->port, name));
	return check_dev(pod, &dev, CNI_MISSING, err) ?:
	       check_routes(pod, err);
}

/**
 * cni_port_del() - remove the pod's port
 * @pod: the pod
 * @port: ifindex of the port; nothing is done if it is not a port, or a bridge
 * @err: error
 */
int cni_port_del(struct cni_pod *pod, unsigned int port,
		 struct cni_error *err)
{
	struct srpol_error why = {};
	struct dev_info dev;
	char name[IF_NAMESIZE];
	int ret;

	if (!port || !srpol_role_find(&pod->genl, port, &dev) ||
	    dev.role != SRPOL_DEV_ROLE_PORT || srpol_dev_is_bridge(port))
		return 0;
	ret = srpol_role_del(&pod->genl, port, &why);
	/* the pod's device may be deleted at any time */
	if (ret && if_indextoname(port, name))
		return cni_fail(err, CNI_REFUSED,
				why.text[0] ? why.text : strerror(-ret),
				"%s stays a port", name);
	return 0;
}
