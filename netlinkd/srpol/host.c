// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual ports, of which "srpol dev" makes and removes the devices: what they
 * are to be, and what they are.
 */
#include <errno.h>
#include <net/if.h>
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

/**
 * host_name_ok() - may a device of a virtual port have this name?
 * @what: which one, for the complaint
 * @name: the name; "%d" would have the kernel choose another one
 */
bool host_name_ok(const char *what, const char *name)
{
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    strpbrk(name, "/:% \t\r\n\v\f"))
		complain("%s: \"%s\" is no name for a device", what, name);
	else if (strlen(name) >= IF_NAMESIZE)
		complain("%s: \"%s\" is longer than a device's name may be",
			 what, name);
	else
		return true;
	return false;
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

	if (!read_word(args, "peer", &word) || !host_name_ok("peer", word))
		return false;
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

static bool has(const struct srpol_host_prefix *list, unsigned int n,
		const struct srpol_host_prefix *p)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i].len == p->len &&
		    !memcmp(&list[i].addr, &p->addr, sizeof(p->addr)))
			return true;
	return false;
}

/* Those of @list that are not in @there stay in it. */
static unsigned int keep_missing(struct srpol_host_prefix *list,
				 unsigned int n,
				 const struct srpol_host_prefix *there,
				 unsigned int n_there)
{
	unsigned int i, left = 0;

	for (i = 0; i < n; i++)
		if (!has(there, n_there, &list[i]))
			list[left++] = list[i];
	return left;
}

/*
 * A virtual port that is there, with what it is to be; only addresses and
 * prefixes that it has not are left in @h. What it has beside that is the
 * business of who gave it that.
 */
static int compare(unsigned int ifindex, struct srpol_host_port *h)
{
	struct srpol_host_port is;

	if (!srpol_host_is_ours(ifindex))
		return complain("%s is there, and srpol did not make it: choose another name",
				h->name);
	if (srpol_host_read(ifindex, &is))
		return complain("%s is there without its other end; srpol dev del first",
				h->name);
	if (strcmp(h->peer, is.peer))
		return complain("%s is there with peer %s, not %s; srpol dev del first",
				h->name, is.peer, h->peer);
	if (h->mtu && h->mtu != is.mtu)
		return complain("%s is there with mtu %u, not %u; srpol dev del first",
				h->name, is.mtu, h->mtu);
	if (h->table != is.table)
		return complain("%s is there with table %u, not %u (0: none); srpol dev del first",
				h->name, is.table, h->table);
	h->n_addrs = keep_missing(h->addrs, h->n_addrs, is.addrs, is.n_addrs);
	h->n_prefixes = keep_missing(h->prefixes, h->n_prefixes, is.prefixes,
				     is.n_prefixes);
	return EXIT_OK;
}

static int complain_missing(const struct srpol_host_port *h)
{
	const struct srpol_host_prefix *p = h->n_addrs ? h->addrs :
							 h->prefixes;
	char text[SRPOL_PREFIX_STRLEN];

	return complain("%s is there without %s %s, which \"srpol dev change\" adds",
			h->name, h->n_addrs ? "address" : "prefix",
			srpol_prefix_text(&p->addr, p->len, text));
}

/**
 * struct made - what was done for a "dev add"
 * @h: the virtual port
 * @done: what it was given, if it was there
 * @pair: it was not
 * @fit: its MTU is still to be found out
 */
struct made {
	struct srpol_host_port h;
	struct srpol_host_done done;
	bool pair;
	bool fit;
};

static struct vec made = VEC_INIT(struct made);

/**
 * host_make() - make the devices of a virtual port, unless they are there
 * @h: what it is to be
 * @file: a file says so: one that is there gets what it has not, instead of
 *	being refused, and one that is not gets its MTU by host_fit()
 *
 * At once: what follows in the same file may name the devices.
 *
 * Return: an EXIT_*.
 */
int host_make(struct srpol_host_port *h, bool file)
{
	unsigned int ifindex = if_nametoindex(h->name);
	struct made new = { .pair = !ifindex };
	struct srpol_error error = {};
	int err = EXIT_OK;

	if (ifindex) {
		err = compare(ifindex, h);
		if (!err && !file && (h->n_addrs || h->n_prefixes))
			err = complain_missing(h);
	} else if (!h->mtu && file) {
		new.fit = true;
		h->mtu = HOST_MTU_MIN;
	} else if (!h->mtu) {
		err = host_mtu(&h->mtu);
	}
	if (err)
		return err;
	err = ifindex ? srpol_host_change(h, &new.done, &error) :
	      srpol_host_make(h, &error);
	if (err)
		return refused(err, &error);
	new.h = *h;
	*(struct made *)vec_add(&made) = new;
	return EXIT_OK;
}

/**
 * host_fit() - the MTU of a virtual port whose file does not say it
 * @ifindex: the workload's end
 *
 * The paths and uplinks of the file are there now.
 *
 * Return: an EXIT_*.
 */
int host_fit(unsigned int ifindex)
{
	struct srpol_error error = {};
	struct made *m;
	int err;

	vec_for_each(m, &made) {
		if (!m->fit || if_nametoindex(m->h.name) != ifindex)
			continue;
		err = host_mtu(&m->h.mtu);
		if (err)
			return err;
		err = srpol_host_set_mtu(&m->h, &error);
		return err ? refused(err, &error) : EXIT_OK;
	}
	return EXIT_OK;
}

/**
 * host_settle() - what host_make() did stays, or is taken back
 * @stays: which of it
 */
void host_settle(bool stays)
{
	const struct made *m = made.data;

	while (!stays && made.n) {
		made.n--;
		if (m[made.n].pair)
			srpol_host_remove(m[made.n].h.name, NULL);
		else
			srpol_host_undo(&m[made.n].h, &m[made.n].done);
	}
	vec_free(&made);
}

/**
 * host_end() - complain about a device that is an end of a virtual port
 * @ifindex: the device
 *
 * Return: EXIT_OK if it is none.
 */
int host_end(unsigned int ifindex)
{
	unsigned int peer = srpol_host_peer(ifindex);

	if (peer && srpol_host_is_ours(peer))
		return complain("%s is the other end of virtual port %s, which has its programs",
				dev_name(ifindex), dev_name(peer));
	return EXIT_OK;
}

/**
 * host_sweep() - remove what virtual ports that were deleted by others left
 */
void host_sweep(void)
{
	int lock = srpol_pins_lock(NULL);

	if (lock < 0)
		return;
	srpol_host_sweep();
	srpol_dp_host_sweep();
	srpol_pins_unlock(lock);
}
