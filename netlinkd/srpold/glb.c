// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that share a key tell each other by UDP which cables near them work
 * badly; glb.h describes the messages. Nothing is sent while nothing changes
 * and nothing works badly. Reports of cables that work badly are repeated from
 * time to time, since those of a host that is gone expire.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "glb.h"
#include "probing.h"
#include "srpold.h"

#define AGAIN_NS	(20 * NS_PER_MS)	/* twice as long each time */
#define AGAIN_MAX_NS	(10000 * NS_PER_MS)
#define REPEAT_NS	(20000 * NS_PER_MS)
#define LIFE_NS		(60000 * NS_PER_MS)
#define RECEIVE_BATCH	64	/* what is left is signalled again by epoll */
#define GREETINGS	10	/* answers to strange sessions, of a peer and second */

/**
 * struct ear - address on which a host of this namespace receives
 * @source: socket, bound to the host's address
 * @host: node of the host
 */
struct ear {
	struct source source;
	uint32_t host;
};

/**
 * struct listener - another host with which messages are exchanged
 * @ear: receiver on our host
 * @peer: node of the other host
 * @name: its name
 * @in: key of its messages
 * @also: second key of its messages, if @both
 * @both: @also is set
 * @out: key of our messages
 * @session: session with it
 * @words: its current words
 * @n: number of @words
 * @heard_ns: when these arrived
 * @told_ns: when our current words were first sent
 * @knew: its session was known then, so that no hello had to come first
 * @took_ns: time from then until it acknowledged them
 * @took_max_ns: greatest such time
 * @again_ns: when to repeat what is not acknowledged
 * @wait_ns: time from then to the next repetition
 * @second: second in which hellos are counted
 * @greetings: number of hellos in that second
 */
struct listener {
	const struct ear *ear;
	uint32_t peer;
	uint8_t in[GLB_KEY_LEN];
	uint8_t also[GLB_KEY_LEN];
	bool both;
	uint8_t out[GLB_KEY_LEN];
	struct glb_session session;
	struct glb_word words[GLB_WORDS_MAX];
	uint32_t n;
	uint64_t heard_ns;
	uint64_t told_ns;
	bool knew;
	uint64_t took_ns;
	uint64_t took_max_ns;
	uint64_t again_ns;
	uint64_t wait_ns;
	uint64_t second;
	uint32_t greetings;
};

static struct {
	uint64_t sent, received, malformed, forged, strange, stale, limited,
		 foreign, unsent;
} stats;

static struct engine *engine;
static struct ear ears[HOSTS_MAX];
static uint32_t n_ears;
static struct vec listeners = VEC_INIT(struct listener);
static struct glb_word own[GLB_WORDS_MAX];
static uint32_t n_own;

static void again(void *data);
static struct alarm alarm_again = ALARM_INIT(again, NULL);

static const struct srpol_nic *nic_of(uint32_t host)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t i;

	for (i = 0; i < f->n_nics; i++)
		if (f->nics[i].host == host)
			return &f->nics[i];
	return NULL;
}

static void send_message(const struct listener *l, struct glb_message *m)
{
	const struct srpol_nic *nic = nic_of(l->peer);
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(engine->config.glb_port),
		.sin6_addr = nic->addr,
	};
	uint8_t bytes[GLB_MESSAGE_MAX];
	size_t len;

	m->from = l->session.own;
	len = glb_write(m, l->out, bytes);
	if (sendto(l->ear->source.fd, bytes, len, MSG_DONTWAIT,
		   (struct sockaddr *)&to, sizeof(to)) == (ssize_t)len)
		stats.sent++;
	else
		stats.unsent++;
}

/*
 * Send the present words to a peer, or a hello if its session is not known yet.
 */
static void send_words(struct listener *l)
{
	struct glb_message m = {
		.type = l->session.peer ? GLB_WORDS : GLB_HELLO,
		.to = l->session.peer, .seq = l->session.seq,
	};
	uint32_t i;

	for (i = 0; m.type == GLB_WORDS && i < n_own; i++)
		if (glb_words_near(engine, glb_words_cable(own[i].cable),
				   l->ear->host))
			m.words[m.n++] = own[i];
	send_message(l, &m);
}

static void arm(void)
{
	uint64_t now = now_ns(), next = UINT64_MAX;
	const struct listener *l;

	vec_for_each(l, &listeners)
		if (l->session.pending && l->again_ns < next)
			next = l->again_ns;
	/* the timer may be set for a later time */
	alarm_stop(&alarm_again);
	if (next == UINT64_MAX)
		return;
	if (alarm_set(&alarm_again, next > now ? next - now : 1))
		log_error("no timer for words to other hosts");
}

/* Send the present words to a peer, and again until it acknowledges them. */
static void tell(struct listener *l)
{
	uint64_t now = now_ns();

	l->session.seq++;
	l->session.pending = true;
	l->told_ns = now;
	l->knew = l->session.peer;
	l->wait_ns = AGAIN_NS;
	l->again_ns = now + AGAIN_NS;
	send_words(l);
}

static void again(void *data)
{
	uint64_t now = now_ns();
	struct listener *l;

	vec_for_each(l, &listeners) {
		if (!l->session.pending || now < l->again_ns)
			continue;
		send_words(l);
		l->wait_ns = 2 * l->wait_ns < AGAIN_MAX_NS ? 2 * l->wait_ns :
							     AGAIN_MAX_NS;
		l->again_ns = now + l->wait_ns;
	}
	arm();
}

/* Follow what other hosts say now; the worst report of each cable counts. */
static void follow(void)
{
	uint8_t *percent = malloc(engine->links.n + 1);
	const struct listener *l;
	bool changed = false;
	uint32_t i, cable;

	if (!percent)
		return;
	memset(percent, 100, engine->links.n);
	vec_for_each(l, &listeners) {
		for (i = 0; i < l->n; i++) {
			cable = glb_words_cable(l->words[i].cable);
			if (cable != SRPOL_NONE &&
			    l->words[i].percent < percent[cable])
				percent[cable] = l->words[i].percent;
		}
	}
	for (i = 0; i < engine->links.n; i++)
		changed |= linkstate_hear(&engine->links, i, percent[i]);
	free(percent);
	if (changed)
		balance_soon();
}

/*
 * Accept words of a host for cables that are near it, by our view of the
 * fabric.
 */
static void take_words(struct listener *l, const struct glb_message *m)
{
	uint32_t i, cable;

	l->n = 0;
	l->heard_ns = now_ns();
	for (i = 0; i < m->n; i++) {
		cable = glb_words_cable(m->words[i].cable);
		if (cable == SRPOL_NONE || !glb_words_near(engine, cable, l->peer))
			stats.foreign++;
		else
			l->words[l->n++] = m->words[i];
	}
	follow();
}

/*
 * Greet a peer. Somebody who repeats recorded messages can cause this, so it is
 * limited.
 */
static void greet(struct listener *l, uint64_t session)
{
	struct glb_message m = { .type = GLB_HELLO, .to = session };
	uint64_t second = now_ns() / (1000 * NS_PER_MS);

	stats.stale++;
	if (l->second != second) {
		l->second = second;
		l->greetings = 0;
	}
	if (l->greetings++ < GREETINGS)
		send_message(l, &m);
	else
		stats.limited++;
}

static void acknowledged(struct listener *l)
{
	if (!l->knew)
		return;
	l->took_ns = now_ns() - l->told_ns;
	if (l->took_ns > l->took_max_ns)
		l->took_max_ns = l->took_ns;
}

static void take(struct listener *l, const struct glb_message *m)
{
	struct glb_message ack = { .type = GLB_ACK, .to = m->from,
				   .seq = m->seq };
	bool pending = l->session.pending;
	enum glb_verdict verdict = glb_take(&l->session, m);

	if (pending && !l->session.pending)
		acknowledged(l);
	switch (verdict) {
	case GLB_STALE:
		stats.stale++;
		return;
	case GLB_GREET:
		greet(l, m->from);
		return;
	case GLB_DONE:
		return;
	case GLB_AGAIN:
		stats.stale++;
		send_message(l, &ack);
		return;
	case GLB_SEND:
		break;
	case GLB_TAKE:
	case GLB_TAKE_SEND:
		send_message(l, &ack);
		take_words(l, m);
		if (verdict == GLB_TAKE)
			return;
	}
	tell(l);
	arm();
}

/*
 * Find the sender. Anybody may send to this socket: to refuse a message must
 * cost little.
 */
static struct listener *find(const struct ear *ear, const struct in6_addr *from)
{
	uint32_t nic = srpol_fabric_nic_at(engine->fabric, from);
	struct listener *l;

	if (nic == SRPOL_NONE)
		return NULL;
	vec_for_each(l, &listeners)
		if (l->ear == ear && l->peer == engine->fabric->nics[nic].host)
			return l;
	return NULL;
}

static void take_bytes(const struct ear *ear, const struct in6_addr *from,
		       const uint8_t *bytes, size_t len)
{
	struct listener *l = find(ear, from);
	struct glb_message m;
	int ret;

	if (!l) {
		stats.strange++;
		return;
	}
	ret = glb_read(bytes, len, l->in, &m);
	if (ret == -EACCES && l->both)
		ret = glb_read(bytes, len, l->also, &m);
	if (ret) {
		stats.malformed += ret == -EINVAL;
		stats.forged += ret == -EACCES;
		return;
	}
	stats.received++;
	take(l, &m);
}

static void receive(struct source *source, uint32_t events)
{
	const struct ear *ear = (const struct ear *)source;
	uint8_t bytes[GLB_MESSAGE_MAX + 1];
	struct sockaddr_in6 from;
	socklen_t from_len;
	ssize_t len;
	int i;

	for (i = 0; i < RECEIVE_BATCH; i++) {
		from_len = sizeof(from);
		len = recvfrom(source->fd, bytes, sizeof(bytes), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &from_len);
		/* a host that does not listen causes an error of the socket */
		if (len < 0 && errno == ECONNREFUSED)
			continue;
		if (len < 0)
			return;
		take_bytes(ear, &from.sin6_addr, bytes, len);
	}
}

static struct ear *open_ear(uint32_t host, struct srpol_error *err)
{
	const struct srpol_nic *nic = nic_of(host);
	struct ear *ear = &ears[n_ears];
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(engine->config.glb_port),
		.sin6_addr = nic->addr,
	};
	uint32_t i;
	int one = 1;

	for (i = 0; i < n_ears; i++)
		if (ears[i].host == host)
			return &ears[i];
	ear->host = host;
	ear->source.ready = receive;
	ear->source.fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC |
				SOCK_NONBLOCK, 0);
	/* the address may be configured after this program has started */
	setsockopt(ear->source.fd, IPPROTO_IPV6, IPV6_FREEBIND, &one,
		   sizeof(one));
	if (ear->source.fd < 0 ||
	    bind(ear->source.fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    loop_add(&ear->source, EPOLLIN)) {
		srpol_error_set(err, -errno, "UDP port %u of host %s: %m",
				engine->config.glb_port,
				engine->fabric->nodes[host].name);
		if (ear->source.fd >= 0)
			close(ear->source.fd);
		return NULL;
	}
	n_ears++;
	return ear;
}

static int add_listener(const struct host_key *k, struct srpol_error *err)
{
	const char *host = engine->fabric->nodes[k->host].name;
	const char *peer = engine->fabric->nodes[k->peer].name;
	struct listener *l;
	struct ear *ear;

	if (engine_is_local(engine, k->peer) || !nic_of(k->host) ||
	    !nic_of(k->peer))
		return 0;
	ear = open_ear(k->host, err);
	if (!ear)
		return -EADDRINUSE;
	l = vec_add(&listeners);
	*l = (struct listener){ .ear = ear, .peer = k->peer,
				.both = k->both };
	glb_key(k->key, sizeof(k->key), host, peer, l->out);
	glb_key(k->key, sizeof(k->key), peer, host, l->in);
	glb_key(k->also, sizeof(k->also), peer, host, l->also);
	glb_begin(&l->session);
	return 0;
}

static void collect(struct glb_word *words, uint32_t *n)
{
	uint32_t hosts[HOSTS_MAX], i;

	for (i = 0; i < n_ears; i++)
		hosts[i] = ears[i].host;
	*n = glb_words_own(engine, hosts, n_ears, words);
}

/**
 * glb_look() - send words that changed, and drop those of silent hosts
 */
void glb_look(void)
{
	struct glb_word words[GLB_WORDS_MAX];
	uint64_t now = now_ns();
	bool ended = false, new;
	struct listener *l;
	uint32_t n, i;

	if (!listeners.n)
		return;
	collect(words, &n);
	new = n != n_own;
	for (i = 0; !new && i < n; i++)
		new = words[i].cable != own[i].cable ||
		      words[i].percent != own[i].percent;
	memcpy(own, words, n * sizeof(words[0]));
	n_own = n;
	vec_for_each(l, &listeners) {
		if (new || (n && now - l->told_ns >= REPEAT_NS))
			tell(l);
		if (!l->n || now - l->heard_ns < LIFE_NS)
			continue;
		l->n = 0;
		ended = true;
	}
	arm();
	if (ended)
		follow();
}

/**
 * glb_start() - open the sockets and send hellos
 * @e: the engine
 * @err: message on failure
 */
int glb_start(struct engine *e, struct srpol_error *err)
{
	const struct host_key *k;
	struct listener *l;
	uint32_t cable;
	int ret = 0;

	engine = e;
	/* it may have been in force before; who said that is forgotten */
	for (cable = 0; cable < e->links.n; cable++)
		linkstate_hear(&e->links, cable, 100);
	if (!e->config.glb_port)
		return 0;
	ret = glb_words_start(e);
	vec_for_each(k, &e->keys)
		ret = ret ?: add_listener(k, err);
	if (ret)
		return ret;
	collect(own, &n_own);
	vec_for_each(l, &listeners)
		tell(l);
	arm();
	return 0;
}

/**
 * glb_stop() - stop sending and receiving
 */
void glb_stop(void)
{
	alarm_stop(&alarm_again);
	while (n_ears) {
		loop_remove(&ears[--n_ears].source);
		close(ears[n_ears].source.fd);
	}
	vec_free(&listeners);
	listeners = (struct vec)VEC_INIT(struct listener);
	n_own = 0;
	glb_words_stop();
}

static json_t *listener_report(const struct listener *l)
{
	json_t *o = json_object(), *words = json_array(), *w;
	char name[LINK_NAME_LEN];
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		link_name(engine->fabric, glb_words_cable(l->words[i].cable), name,
			  sizeof(name));
		w = json_pack("{s:s, s:i}", "link", name, "quality_percent",
			      (int)l->words[i].percent);
		json_array_append_new(words, w);
	}
	json_object_set_new(o, "host", json_string(
		engine->fabric->nodes[l->ear->host].name));
	json_object_set_new(o, "peer", json_string(
		engine->fabric->nodes[l->peer].name));
	json_object_set_new(o, "known", json_boolean(l->session.peer));
	json_object_set_new(o, "pending", json_boolean(l->session.pending));
	json_object_set_new(o, "took_us", json_integer(l->took_ns / 1000));
	json_object_set_new(o, "took_max_us",
			    json_integer(l->took_max_ns / 1000));
	json_object_set_new(o, "says", words);
	return o;
}

/**
 * glb_report() - words of other hosts, and counters of messages
 *
 * Return: JSON; null if no messages are exchanged.
 */
json_t *glb_report(void)
{
	json_t *peers, *o;
	const struct listener *l;

	if (!listeners.n)
		return json_null();
	peers = json_array();
	vec_for_each(l, &listeners)
		json_array_append_new(peers, listener_report(l));
	o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		      "sent", (json_int_t)stats.sent,
		      "unsent", (json_int_t)stats.unsent,
		      "received", (json_int_t)stats.received,
		      "malformed", (json_int_t)stats.malformed,
		      "forged", (json_int_t)stats.forged,
		      "strange", (json_int_t)stats.strange,
		      "stale", (json_int_t)stats.stale,
		      "limited", (json_int_t)stats.limited,
		      "foreign", (json_int_t)stats.foreign);
	json_object_set_new(o, "peers", peers);
	return o;
}
