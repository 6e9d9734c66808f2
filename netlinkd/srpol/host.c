// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual ports, of which "srpol dev" makes and removes the devices: what they
 * are to be, and what they are.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "srpol.h"

#define HOST_MTU_MIN		1280	/* RFC 8200 5 */
#define HOST_MTU_DEFAULT	1500
#define HOST_MTU_MAX		65535

/**
 * host_start() - a virtual port, before its options are read
 * @h: result
 * @name: of the workload's end
 */
void host_start(struct srpol_host_port *h, const char *name)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->name, sizeof(h->name), "%s", name);
	snprintf(h->peer, sizeof(h->peer), "%.10s-port", name);
}

static bool read_prefix_into(struct args *args, const char *what,
			     struct srpol_host_prefix *list, unsigned int *n,
			     unsigned int max)
{
	struct srpol_host_prefix p;

	if (!read_prefix(args, what, &p.addr, &p.len))
		return false;
	if (*n == max) {
		complain("%s: at most %u of them; more with \"srpol dev change\"",
			 what, max);
		return false;
	}
	list[(*n)++] = p;
	return true;
}

static bool read_peer(struct args *args, struct srpol_host_port *h)
{
	const char *word;

	if (!read_word(args, "peer", &word))
		return false;
	if (strlen(word) >= sizeof(h->peer)) {
		complain("peer: \"%s\" is longer than a device's name may be",
			 word);
		return false;
	}
	snprintf(h->peer, sizeof(h->peer), "%s", word);
	return true;
}

static bool read_mtu(struct args *args, struct srpol_host_port *h)
{
	if (!read_u32(args, "mtu", HOST_MTU_MAX, &h->mtu))
		return false;
	if (h->mtu >= HOST_MTU_MIN)
		return true;
	complain("mtu: IPv6 needs %u at least", HOST_MTU_MIN);
	return false;
}

/**
 * host_option() - is the next word an option of virtual ports?
 * @args: words
 * @h: gets what it says
 * @ok: set to false if it says nothing of use
 */
bool host_option(struct args *args, struct srpol_host_port *h, bool *ok)
{
	if (is(args, "address"))
		*ok = read_prefix_into(args, "address", h->addrs, &h->n_addrs,
				       SRPOL_HOST_ADDRS);
	else if (is(args, "prefix"))
		*ok = read_prefix_into(args, "prefix", h->prefixes,
				       &h->n_prefixes, SRPOL_HOST_PREFIXES);
	else if (is(args, "peer"))
		*ok = read_peer(args, h);
	else if (is(args, "mtu"))
		*ok = read_mtu(args, h);
	else if (is(args, "table"))
		*ok = read_id(args, "table", &h->table);
	else
		return false;
	return true;
}

/**
 * host_mtu() - the largest packet that fits any path there is
 * @mtu: result
 *
 * Without a path, any that there may be on the uplinks. Set once: connected
 * queue pairs do not follow a change.
 *
 * Return: an EXIT_*.
 */
int host_mtu(uint32_t *mtu)
{
	struct vec paths = VEC_INIT(struct path_info);
	struct vec devs = VEC_INIT(struct dev_info);
	const struct path_info *path;
	const struct dev_info *dev;
	int err;

	err = fetch_paths(&paths) ?: fetch_devs(&devs);
	*mtu = 0;
	vec_for_each(path, &paths)
		if (path->mtu && (!*mtu || path->mtu < *mtu))
			*mtu = path->mtu;
	if (!*mtu) {
		vec_for_each(dev, &devs)
			if (dev->role == SRPOL_DEV_ROLE_UPLINK &&
			    (!*mtu || dev->mtu < *mtu))
				*mtu = dev->mtu;
		if (*mtu)
			*mtu -= *mtu < SRPOL_REWRITE_MAX ? 0 :
				SRPOL_REWRITE_MAX;
		else
			*mtu = HOST_MTU_DEFAULT;
	}
	if (*mtu < HOST_MTU_MIN)
		*mtu = HOST_MTU_MIN;
	vec_free(&paths);
	vec_free(&devs);
	return err;
}

static void print_list(const char *key, const char *word,
		       const struct srpol_host_prefix *list, unsigned int n)
{
	char text[SRPOL_PREFIX_STRLEN];
	unsigned int i;

	out_array(key);
	for (i = 0; i < n; i++) {
		out_text(" %s ", word);
		out_string(NULL, "%s", srpol_prefix_text(&list[i].addr,
							 list[i].len, text));
	}
	out_array_end();
}

/**
 * print_host() - a virtual port, as it is
 * @ifindex: the workload's end
 */
void print_host(unsigned int ifindex)
{
	struct srpol_host_port h;

	if (srpol_host_read(ifindex, &h))
		return;
	out_string("peer", "\n\tpeer %s", h.peer);
	print_list("addresses", "address", h.addrs, h.n_addrs);
	print_list("prefixes", "prefix", h.prefixes, h.n_prefixes);
	if (h.table)
		out_uint("table", " table %llu", h.table);
}
