// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual ports, for which "srpol dev" creates and removes a veth pair. A
 * virtual port is known by the end that the applications use.
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
 * host_start() - initialize a virtual port before its options are read
 * @h: result
 * @name: name of the end that applications use
 */
void host_start(struct srpol_host_port *h, const char *name)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->name, sizeof(h->name), "%s", name);
	snprintf(h->peer, sizeof(h->peer), "%.10s-port", name);
}

/**
 * host_name_ok() - check the name of a device of a virtual port
 * @what: option with the name, for the error message
 * @name: the name; with "%d" the kernel would choose another one
 *
 * Return: false after an error message.
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
		complain("%s: at most %u of them", what, max);
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

/**
 * host_option() - read an option of virtual ports
 * @args: words
 * @h: the option is stored here
 * @ok: set to whether its value is valid; otherwise an error was printed
 *
 * Return: false if the next word is not such an option.
 */
bool host_option(struct args *args, struct srpol_host_port *h, bool *ok)
{
	if (is(args, "address"))
		*ok = read_prefix_into(args, "address", h->addrs, &h->n_addrs,
				       SRPOL_HOST_ADDRS);
	else if (is(args, "prefix"))
		*ok = read_prefix_into(args, "prefix", h->prefixes,
				       &h->n_prefixes, SRPOL_HOST_PREFIXES);
	else if (keyword(args, "peer"))
		*ok = read_peer(args, h);
	else if (keyword(args, "mtu"))
		*ok = read_number(args, "mtu", HOST_MTU_MIN, HOST_MTU_MAX, &h->mtu);
	else if (keyword(args, "table"))
		*ok = read_id(args, "table", &h->table);
	else
		return false;
	return true;
}

/**
 * host_mtu() - choose the MTU of a virtual port
 * @mtu: result: the smallest MTU of all paths
 *
 * If no path has an MTU yet, the smallest MTU of the uplinks is taken, less the
 * largest encapsulation. The MTU is only set once, as connected queue pairs do
 * not follow a change.
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
 * print_host() - print the present state of a virtual port
 * @ifindex: ifindex of the end that applications use
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

/* Keeps in @list what is not in @there; returns how many that are. */
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
 * Compares an existing virtual port with what is wanted. Only the addresses and
 * prefixes that it does not have are left in @h. Further ones that it has are
 * left alone, as others have added them.
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
 * @done: what was added to a virtual port that existed
 * @pair: the veth pair was created
 * @fit: its MTU is still to be chosen
 */
struct made {
	struct srpol_host_port h;
	struct srpol_host_done done;
	bool pair;
	bool fit;
};

static struct vec made = VEC_INIT(struct made);

/**
 * host_make() - create the devices of a virtual port, unless they exist
 * @h: wanted state
 * @file: it comes from a file: an existing virtual port gets what it lacks,
 *	instead of being refused, and a new one without an MTU gets it later, by
 *	host_fit()
 *
 * This is done at once, as later lines of the file may name the devices.
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
 * host_fit() - set the MTU of a virtual port whose file does not give one
 * @ifindex: ifindex of the end that applications use
 *
 * To be called when the paths and uplinks of the file exist.
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
 * host_settle() - keep or undo what host_make() did
 * @stays: keep it
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
 * host_end() - refuse a device that is the other end of a virtual port
 * @ifindex: the device
 *
 * Return: EXIT_OK if it is not, else EXIT_USAGE.
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
 * host_sweep() - remove what is left of virtual ports not deleted by srpol
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
