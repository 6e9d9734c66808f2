// SPDX-License-Identifier: GPL-2.0
/*
 * The NICs of this host. Each gets the programs of the data plane, a packet
 * socket for probes, and blackhole routes for the SIDs that probes come to, so
 * that the network stack does not forward probes again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"

#define DST_OFFSET	(ETH_HLEN + 24)
#define ATTACH_NS	(30000 * NS_PER_MS)	/* between two attempts, at first */
#define ATTACH_MAX_NS	(32 * ATTACH_NS)
#define LOCK_US		10000			/* between two attempts to lock the pins */
#define LOCK_TRIES	200			/* of these for all NICs together */

static struct uplink *uplinks;
static uint32_t n_uplinks;
static uint64_t attach_ns;	/* when programs are to be attached again */
static uint64_t attach_wait_ns;	/* and how long that is after the last attempt */
static uint32_t lock_tries;	/* how often the lock of the pins may still be waited for */
static bool is_begun;		/* there were uplinks, so somebody misses probes */
static struct engine *undoing;	/* in force; others have the lock that uplinks_undo() needs */

/**
 * uplink_of() - device of a NIC
 * @nic: number of the NIC
 *
 * Return: NULL if it is not in this namespace.
 */
struct uplink *uplink_of(uint32_t nic)
{
	uint32_t i;

	for (i = 0; i < n_uplinks; i++)
		if (uplinks[i].nic == nic)
			return &uplinks[i];
	return NULL;
}

/* Accept frames to this SID only. */
static int set_filter(int fd, const struct in6_addr *sid)
{
	const uint8_t *a = sid->s6_addr;
	struct sock_filter code[10];
	struct sock_fprog prog = { .filter = code };
	uint32_t word;
	int i;

	for (i = 0; i < 4; i++) {
		word = (uint32_t)a[4 * i] << 24 | a[4 * i + 1] << 16 |
		       a[4 * i + 2] << 8 | a[4 * i + 3];
		code[prog.len++] = (struct sock_filter)
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DST_OFFSET + 4 * i);
		code[prog.len++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 0,
				 2 * (3 - i) + 1);
	}
	code[prog.len++] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, PROBE_MAX);
	code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
			  sizeof(prog)) ? -errno : 0;
}

#define RECEIVE_BATCH	256	/* epoll reports the rest again */

static void receive(struct source *source, uint32_t events)
{
	struct uplink *up = (struct uplink *)source;
	uint8_t frame[PROBE_MAX];
	ssize_t len;
	int i;

	/* the batch is bounded: a flood must not delay the timers */
	for (i = 0; i < RECEIVE_BATCH; i++) {
		len = recv(source->fd, frame, sizeof(frame), MSG_DONTWAIT);
		if (len < 0)
			return;
		prober_receive(up, frame, len);
	}
}

static int open_socket(struct uplink *up, const struct in6_addr *sid)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_ifindex = up->ifindex,
	};
	int fd, ret;

	/* protocol 0: no frame is received before the filter is set */
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = set_filter(fd, sid);
	addr.sll_protocol = htons(ETH_P_IPV6);
	if (!ret && bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	up->source.fd = fd;
	up->source.ready = receive;
	ret = loop_add(&up->source, EPOLLIN);
	if (ret) {
		close(fd);
		up->source.fd = -1;
	}
	return ret;
}

static int get_mac(struct uplink *up, const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;
	struct ifreq ifr = {};

	if (fd < 0)
		return -errno;
	memcpy(ifr.ifr_name, name, strlen(name) + 1);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr))
		ret = -errno;
	close(fd);
	memcpy(up->mac, ifr.ifr_hwaddr.sa_data, sizeof(up->mac));
	return ret;
}

/*
 * A driver may take seconds for programs, or somebody hold the RTNL: that is no reason to
 * be killed while it is waited for, one NIC after the other.
 */
static void still_here(void)
{
	notify("WATCHDOG=1");
}

/*
 * Whoever else attaches programs has the lock of the pins for a second, or for ever if it
 * was stopped meanwhile. That must not stop probes, too; a start waits for it.
 */
static int lock_pins(struct srpol_error *err)
{
	struct srpol_error busy = {};
	int lock;

	for (;;) {
		lock = srpol_pins_trylock(&busy);
		if (lock != -EAGAIN || !lock_tries)
			break;
		lock_tries--;
		still_here();
		usleep(LOCK_US);
	}
	still_here();
	if (lock >= 0)
		return lock;
	if (lock != -EAGAIN || is_begun)
		return srpol_error_set(err, lock, "%s", busy.text);
	log_notice("%s; it is waited for", busy.text);
	return srpol_pins_lock(err);
}

/* Give a device the role and attach the programs, unless this is done already. */
static int attach(struct engine *engine, struct uplink *up,
		  struct srpol_error *err)
{
	struct wanted_dev wanted = {
		.ifindex = up->ifindex,
		.role = SRPOL_DEV_ROLE_UPLINK,
		.xdp = SRPOL_XDP_MODE_AUTO,
		.source = SOURCE_AUTO,
	};
	struct dev_info is;
	bool there;
	int lock, ret = 0;

	lock = lock_pins(err);
	if (lock < 0)
		return lock;
	there = srpol_role_find(&engine->genl, up->ifindex, &is);
	if (there)
		wanted.xdp = is.xdp_mode;
	if (there && !srpol_role_is_half(&is)) {
		/* one of another version would drop probes, as if forged */
		ret = srpol_dp_check_layout(err);
	} else {
		ret = srpol_role_add(&engine->genl, &wanted,
				     NLM_F_CREATE | NLM_F_EXCL, err);
		up->is_new = !ret;
	}
	srpol_pins_unlock(lock);
	return ret;
}

/*
 * Probes that XDP would take must not be forwarded again where there is no XDP.
 */
static void set_blackholes(const struct engine *engine, uint32_t nic,
			   bool there)
{
	const struct srpol_fabric *f = engine->fabric;
	struct in6_addr sid = engine_sid(engine, f->nics[nic].host,
					 &f->sids.probe);

	still_here();
	blackhole_set(&sid, there);
	if (!engine->keys.n)
		return;
	sid = engine_sid(engine, f->nics[nic].host, &f->sids.reflect);
	still_here();
	blackhole_set(&sid, there);
}

/*
 * A switch has one route to a host's SIDs. With two NICs there it chooses the NIC by
 * which probes come back, which then is not the one they left by.
 */
static void tell_if_shared(const struct engine *engine, uint32_t nic)
{
	const struct srpol_fabric *f = engine->fabric;
	const struct srpol_nic *n = &f->nics[nic], *other;
	uint32_t i;

	for (i = 0; i < n_uplinks; i++) {
		other = &f->nics[uplinks[i].nic];
		if (other->host == n->host && other->leaf == n->leaf)
			log_error("NICs %s and %s are both at %s, which has one route to this host's SIDs: paths of one are down; make them a bond, a NIC of two \"cables\"",
				  other->name, n->name, f->nodes[n->leaf].name);
	}
}

static int open_one(struct engine *engine, uint32_t nic, bool back,
		    struct srpol_error *err)
{
	struct srpol_error lack = {};
	const struct srpol_nic *n = &engine->fabric->nics[nic];
	struct uplink *up = &uplinks[n_uplinks];
	struct in6_addr sid = engine_sid(engine, n->host,
					 &engine->fabric->sids.probe);
	unsigned int ifindex = if_nametoindex(n->name);
	int ret;

	if (!ifindex) {
		log_notice("NIC %s of host %s is not in this namespace",
			   n->name, engine->fabric->nodes[n->host].name);
		return 0;
	}
	*up = (struct uplink){
		.nic = nic, .ifindex = ifindex, .engine = engine,
	};
	ret = attach(engine, up, back ? &lack : err);
	if (ret && !back)
		return ret;
	up->bare = ret;
	if (ret)
		log_error("%s: %s; its paths stay as they are", n->name,
			  lack.text[0] ? lack.text : strerror(-ret));
	ret = get_mac(up, n->name) ?: open_socket(up, &sid);
	if (ret == -ENODEV && back) {
		log_error("%s: %s; it is opened once it is there", n->name,
			  strerror(-ret));
		return 0;
	}
	if (ret)
		return srpol_error_set(err, ret, "%s: %s", n->name,
				       strerror(-ret));
	set_blackholes(engine, nic, true);
	tell_if_shared(engine, nic);
	n_uplinks++;
	return 0;
}

static int no_nic(struct srpol_error *err)
{
	return srpol_error_set(err, -ENODEV,
			       "no NIC of this host that the topology names is in this namespace");
}

/* Wait until nobody has the lock of the pins. */
static int lock_is_free(struct srpol_error *err)
{
	int lock;

	lock_tries = LOCK_TRIES;
	lock = lock_pins(err);
	lock_tries = 0;
	if (lock < 0)
		return lock;
	srpol_pins_unlock(lock);
	return 0;
}

/**
 * uplinks_check() - whether uplinks_open() would find a NIC, and the lock of the pins
 * @engine: the engine
 * @err: message
 */
int uplinks_check(const struct engine *engine, struct srpol_error *err)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t i;

	for (i = 0; i < f->n_nics; i++)
		if (engine_is_local(engine, f->nics[i].host) &&
		    if_nametoindex(f->nics[i].name))
			return lock_is_free(err);
	return no_nic(err);
}

/**
 * uplinks_open() - open all NICs of the hosts that are in this namespace
 * @engine: the engine
 * @back: it was in force before: where programs cannot be attached, or a NIC is away,
 *	it goes on, and uplinks_attach() tries again; others' lock is not waited for
 * @err: message on failure
 */
int uplinks_open(struct engine *engine, bool back, struct srpol_error *err)
{
	const struct srpol_fabric *f = engine->fabric;
	struct srpol_error lack = {};
	struct engine_path *path;
	uint32_t i;
	int ret = 0;

	uplinks = calloc(f->n_nics + 1, sizeof(*uplinks));
	if (!uplinks)
		return -ENOMEM;
	lock_tries = back ? 0 : LOCK_TRIES;
	for (i = 0; !ret && i < f->n_nics; i++)
		if (engine_is_local(engine, f->nics[i].host))
			ret = open_one(engine, i, back, err);
	/* nor for the last of them together with what follows */
	still_here();
	is_begun |= !ret;
	lock_tries = 0;
	attach_wait_ns = ATTACH_NS;
	attach_ns = now_ns() + attach_wait_ns;
	/* not over one that is not there any more */
	vec_for_each(path, &engine->paths)
		path->up = path->up && uplink_of(path->nic);
	if (ret || n_uplinks)
		return ret;
	ret = no_nic(back ? &lack : err);
	if (!back)
		return ret;
	log_error("%s; one that comes is used", lack.text);
	return 0;
}

/* Index of the device that is open, -1 once that is gone. Its address may be new. */
static int follow(struct uplink *up)
{
	struct sockaddr_ll addr = {};
	socklen_t len = sizeof(addr);

	if (getsockname(up->source.fd, (struct sockaddr *)&addr, &len))
		return -1;
	if (addr.sll_halen == sizeof(up->mac))
		memcpy(up->mac, addr.sll_addr, sizeof(up->mac));
	return addr.sll_ifindex;
}

/**
 * uplinks_follow() - have probes leave with the addresses that the NICs have by now
 *
 * To be called every few milliseconds: an address changes with the active NIC of a bond,
 * say, a switch or the NIC itself may drop what comes from another one, and a path is
 * down once a few probes are lost. It needs no lock of the kernel.
 */
void uplinks_follow(void)
{
	struct uplink *up;

	for (up = uplinks; up < uplinks + n_uplinks; up++)
		follow(up);
}

/**
 * uplinks_changed() - whether uplinks_open() would open other devices now
 * @engine: the engine
 *
 * A NIC that is away may come back, and changes nothing until then. One that has
 * another address is no other device.
 */
bool uplinks_changed(const struct engine *engine)
{
	const struct srpol_fabric *f = engine->fabric;
	struct uplink *up;
	int ifindex;
	uint32_t i;

	for (i = 0; i < f->n_nics; i++) {
		if (!engine_is_local(engine, f->nics[i].host))
			continue;
		ifindex = if_nametoindex(f->nics[i].name);
		up = uplink_of(i);
		if (ifindex && (!up || follow(up) != ifindex)) {
			log_notice("NIC %s has another device than before",
				   f->nics[i].name);
			return true;
		}
	}
	return false;
}

/**
 * uplinks_attach() - attach the programs that could not be attached before
 *
 * A driver that is still starting may refuse them. Without them packets of peers are
 * not decapsulated there, which no probe of theirs notices. An attempt may wait for the
 * RTNL, or load all programs in vain, and no probe is sent meanwhile: to be called each
 * second, it makes one after longer and longer times, since uplinks_open(). The lock of the
 * pins is asked for each time, as that costs nothing, and others may wait for it, too.
 * So it is for what uplinks_undo() had to leave.
 */
void uplinks_attach(void)
{
	bool is_time = now_ns() >= attach_ns, tried = false;
	struct srpol_error lack = {};
	struct uplink *up;

	for (up = uplinks; up < uplinks + n_uplinks; up++) {
		if (!up->bare || (!is_time && up->bare != -EAGAIN))
			continue;
		up->bare = attach(up->engine, up, &lack);
		tried |= up->bare != -EAGAIN;
		if (!up->bare)
			log_notice("%s: its programs are attached now",
				   up->engine->fabric->nics[up->nic].name);
	}
	if (is_time) {
		if (tried && attach_wait_ns < ATTACH_MAX_NS)
			attach_wait_ns *= 2;
		attach_ns = now_ns() + attach_wait_ns;
	}
	if (undoing)
		uplinks_undo(undoing);
}

/* indexes of devices that were no uplinks before an engine that ends */
static struct vec renounced = VEC_INIT(unsigned int);

/**
 * uplinks_renounce() - remember the NICs that were no uplinks before
 *
 * To be called before uplinks_close() if the engine does not come into force, and
 * uplinks_undo() once another one has: until then the module may have paths over
 * these NICs.
 */
void uplinks_renounce(void)
{
	uint32_t i;

	/* not before the next one is in force, either */
	undoing = NULL;
	/* one more may have been attached, and failed then */
	for (i = 0; uplinks && i <= n_uplinks; i++)
		if (uplinks[i].is_new)
			*(unsigned int *)vec_add(&renounced) =
				uplinks[i].ifindex;
}

static bool is_in_use(unsigned int ifindex)
{
	uint32_t i;

	for (i = 0; i < n_uplinks; i++)
		if (uplinks[i].ifindex == ifindex)
			return true;
	return false;
}

/**
 * uplinks_undo() - detach the programs from the NICs that were renounced
 * @engine: the engine in force; its own stay
 *
 * If others have the lock of the pins, that is left to uplinks_attach().
 */
void uplinks_undo(struct engine *engine)
{
	static bool told;
	struct srpol_error err = {};
	const unsigned int *ifindex;
	int lock;

	if (!renounced.n)
		return;
	lock = lock_pins(&err);
	undoing = lock == -EAGAIN ? engine : NULL;
	if (undoing) {
		if (!told)
			log_notice("%s; new uplinks stay for now", err.text);
		told = true;
		return;
	}
	told = false;
	vec_for_each(ifindex, &renounced) {
		if (lock < 0 || is_in_use(*ifindex))
			continue;
		still_here();
		if (srpol_role_del(&engine->genl, *ifindex, &err))
			log_error("uplink with ifindex %u stays: %s", *ifindex,
				  err.text);
	}
	renounced.n = 0;
	if (lock >= 0)
		srpol_pins_unlock(lock);
	else
		log_error("%s; new uplinks stay", err.text);
}

/**
 * uplinks_close() - close the sockets; programs stay and go on forwarding
 */
void uplinks_close(void)
{
	uint32_t i;

	for (i = 0; i < n_uplinks; i++) {
		set_blackholes(uplinks[i].engine, uplinks[i].nic, false);
		loop_remove(&uplinks[i].source);
		close(uplinks[i].source.fd);
	}
	/* nor for the last of them together with what follows */
	still_here();
	free(uplinks);
	uplinks = NULL;
	n_uplinks = 0;
}
