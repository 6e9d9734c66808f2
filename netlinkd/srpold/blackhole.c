// SPDX-License-Identifier: GPL-2.0
/*
 * Blackhole routes for the SIDs that probes come to: where there is no XDP, the
 * network stack must not forward probes again. They are told from the routes of
 * operators by their protocol.
 */
#include <errno.h>
#include <netlink/route/route.h>
#include <sys/socket.h>

#include "srpold.h"

static struct rtnl_route *blackhole(const struct in6_addr *sid)
{
	struct rtnl_route *route = rtnl_route_alloc();
	struct nl_addr *dst = nl_addr_build(AF_INET6, sid, sizeof(*sid));

	if (!route || !dst) {
		rtnl_route_put(route);
		nl_addr_put(dst);
		return NULL;
	}
	nl_addr_set_prefixlen(dst, 128);
	rtnl_route_set_family(route, AF_INET6);
	rtnl_route_set_dst(route, dst);
	rtnl_route_set_table(route, RT_TABLE_MAIN);
	rtnl_route_set_type(route, RTN_BLACKHOLE);
	rtnl_route_set_protocol(route, SRPOL_RTPROT);
	nl_addr_put(dst);
	return route;
}

/**
 * blackhole_set() - add the blackhole route for a SID, or remove it
 * @sid: the SID
 * @there: add it
 *
 * A route to the SID that is not srpold's stays as it is. One that was left by an
 * srpold that was killed is replaced.
 */
void blackhole_set(const struct in6_addr *sid, bool there)
{
	struct nl_sock *sk = nl_socket_alloc();
	struct rtnl_route *route = blackhole(sid);
	char text[SRPOL_ADDR_STRLEN];
	int ret = -NLE_NOMEM;

	if (sk && route)
		ret = nl_connect(sk, NETLINK_ROUTE);
	if (!ret) {
		rtnl_route_delete(sk, route, 0);
		if (there)
			ret = rtnl_route_add(sk, route, NLM_F_CREATE | NLM_F_EXCL);
	}
	srpol_addr_text(sid, text);
	if (ret == -NLE_EXIST)
		log_notice("the route to %s/128 is not srpold's and stays: where there is no XDP, it gets probes",
			   text);
	else if (ret && there)
		log_error("blackhole route to %s/128: %s", text, nl_geterror(ret));
	rtnl_route_put(route);
	nl_socket_free(sk);
}
