// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that watch. What the module or others report is only noted when it
 * comes; an alarm of its own looks at it and tells watchers afterwards, for a
 * limited time in each round of the loop, so that probes and verdicts are never
 * late because of them. A watcher is written to only while its connection takes
 * all of it: then nothing waits in this process but what topics.h keeps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "watchers.h"

#define LOOK_NS		(100 * NS_PER_MS)
#define BUDGET_NS	(NS_PER_MS / 4)		/* of looking, and of telling, in a round */
#define PAUSE_NS	NS_PER_MS		/* between two such rounds */
#define SEND_ROOM	16384			/* bytes that a watcher may be behind */
#define GATHER_SHARE	20			/* of the time, a 20th for gathering:
						 * everybody may announce demands */
#define LINKS_TURN	10			/* looks after which links are, too */

/**
 * struct path_place - a path of a topic, to be found by its id
 * @id: id of the module's object
 * @at: index in the engine's paths
 * @topic: the topic
 */
struct path_place {
	uint32_t id;
	uint32_t at;
	struct topic *topic;
};

static void work(void *data);
static void look(void *data);

static struct engine *engine;
static struct watcher watchers[TOPIC_SLOTS];
static uint32_t n_watchers;
static struct topics topics = TOPICS_INIT(free);
static struct vec places = VEC_INIT(struct path_place);
static struct alarm soon = ALARM_INIT(work, NULL);
static struct alarm again = ALARM_INIT(look, NULL);
static bool gather_wanted;	/* other demands or watchers, perhaps */
static bool rebuilt;		/* the engine has other paths than topics say */
static uint64_t gather_ns;	/* when topics may be gathered next */
static bool places_wanted;	/* topics have other paths than @places says */
static uint64_t changes;	/* of the engine, when topics were looked at */
static uint64_t links_version;	/* likewise, of the link-state DB */
static uint32_t looked;		/* index of the topic to be looked at next */
static uint64_t accepted;	/* announcements, when topics were gathered */
static size_t n_demands;	/* likewise */

static uint32_t slot_of(const struct watcher *watcher)
{
	return watcher - watchers;
}

static struct topic *topic_at(uint32_t i)
{
	return ((struct topic **)topics.all.data)[i];
}

/* Do it now, as far as the budget allows, but after what is being done. */
static void work_soon(uint64_t ns)
{
	if (n_watchers && engine && alarm_set(&soon, ns))
		log_debug("no timer for watchers; they are told later");
}

static int by_id(const void *a, const void *b)
{
	const struct path_place *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Number the paths of all topics for events about them. */
static void find_places(void)
{
	const struct watched_paths *paths;
	uint32_t i, k;

	places_wanted = false;
	places.n = 0;
	for (i = 0; i < topics.all.n; i++) {
		paths = topic_at(i)->content;
		if (topic_at(i)->key.kind != TOPIC_PATHS || !paths ||
		    !topic_at(i)->concerns)
			continue;
		for (k = 0; k < paths->n; k++)
			*(struct path_place *)vec_add(&places) =
				(struct path_place){
					paths->path[k].id, paths->path[k].at,
					topic_at(i),
				};
	}
	if (places.n)
		qsort(places.data, places.n, places.size, by_id);
}

/* What it is told of; events come after that. */
static void answer(struct watcher *watcher)
{
	uint32_t slot = slot_of(watcher), n[TOPIC_LINKS + 1] = {}, i;
	struct request_later *later = watcher->later;

	if (!later)
		return;
	for (i = 0; i < topics.all.n; i++)
		n[topic_at(i)->key.kind] += topic_at(i)->concerns >> slot & 1;
	watcher->later = NULL;
	requests_answer(later, json_pack(
		"{s:b, s:I, s:I, s:I}", "all", watcher->all,
		"destinations", (json_int_t)n[TOPIC_PATHS],
		"jobs", (json_int_t)n[TOPIC_QPS],
		"left_out", (json_int_t)topics.left_out[slot]), NULL);
}

static void gather(void)
{
	uint64_t began = now_ns();
	uint32_t i;

	watch_gather(engine, &topics, watchers, rebuilt);
	gather_wanted = rebuilt = false;
	accepted = demands.accepted;
	n_demands = demands.all.n;
	find_places();
	for (i = 0; i < TOPIC_SLOTS; i++)
		watchers[i].links_due = watchers[i].client;
	/* those of paths were looked at, and others have to be before they are told */
	for (i = 0; i < topics.all.n; i++)
		topic_at(i)->noted |= topic_at(i)->key.kind != TOPIC_PATHS;
	gather_ns = now_ns() + GATHER_SHARE * (now_ns() - began);
	for (i = 0; i < TOPIC_SLOTS; i++)
		answer(&watchers[i]);
}

static bool is_over(uint64_t began)
{
	return now_ns() - began > BUDGET_NS;
}

static void look_at(struct topic *topic)
{
	const struct watched_paths *paths = topic->content;
	uint64_t version = topic->version;
	uint32_t i;

	/*
	 * Only its end is to be told. What it says of the engine may be void, and is
	 * looked at if it concerns somebody again: it stays noted until then.
	 */
	if (!topic->concerns)
		return;
	topic->noted = false;
	if (topic->key.kind == TOPIC_PLAN)
		watch_plan_look(&topics, topic);
	else if (topic->key.kind == TOPIC_QPS)
		watch_qps_look(engine, &topics, topic);
	else if (topic->key.kind == TOPIC_PATHS && paths)
		watch_paths_look(engine, &topics, topic, paths->policy);
	if (topic->key.kind != TOPIC_PATHS || topic->version == version)
		return;
	places_wanted = true;
	for (i = 0; i < TOPIC_SLOTS; i++)
		watchers[i].links_due |= topic->concerns >> i & 1;
}

/* Look at topics that may have changed; false if there was no time for all. */
static bool look_at_topics(uint64_t began)
{
	uint32_t i;

	for (i = 0; i < topics.all.n; i++, looked++) {
		looked %= topics.all.n;
		if (!topic_at(looked)->noted)
			continue;
		if (is_over(began))
			return false;
		look_at(topic_at(looked));
	}
	if (places_wanted)
		find_places();
	return true;
}

static void look_at_links_of(uint32_t slot)
{
	struct topic_key key = { .kind = TOPIC_LINKS, .number = slot };
	struct topic *topic = topics_find(&topics, &key);

	watchers[slot].links_due = false;
	if (topic && watch_links_look(engine, &topics, topic, slot))
		topic_changed(&topics, topic, 0);
}

static bool look_at_links(uint64_t began)
{
	uint32_t i;

	for (i = 0; i < TOPIC_SLOTS; i++) {
		if (!watchers[i].links_due)
			continue;
		if (is_over(began))
			return false;
		look_at_links_of(i);
	}
	return true;
}

/*
 * What is told next may have changed since it was looked at, may never have been
 * looked at, or be about an engine that is no more.
 */
static void look_before(struct topic *topic, uint32_t slot)
{
	if (topic->key.kind == TOPIC_LINKS && watchers[slot].links_due)
		look_at_links_of(slot);
	else if (topic->key.kind != TOPIC_LINKS && topic->noted)
		look_at(topic);
}

static bool send_line(struct watcher *watcher, json_t *event)
{
	char *text = event ? json_dumps(event, JSON_COMPACT |
					JSON_REAL_PRECISION(9)) : NULL;
	bool sent = text && lines_send(watcher->client, text, strlen(text));

	json_decref(event);
	free(text);
	return sent;
}

/* After a pause: how much of what happened is not told one by one. */
static bool tell_late(struct watcher *watcher, uint64_t now)
{
	uint64_t n = topics_coalesced(&topics, slot_of(watcher));
	uint64_t since = watcher->blocked_ns;

	watcher->blocked_ns = 0;
	return !n || send_line(watcher, watch_late(n, now - since));
}

/*
 * Tell one thing. False if there is nothing left, or if the watcher does not read;
 * it may have left meanwhile.
 */
static bool tell(struct watcher *watcher, uint64_t now)
{
	uint32_t slot = slot_of(watcher);
	enum topic_part part;
	struct topic *topic;
	json_t *event;

	if (watcher->later)
		return false;
	if (watcher->client->out_len) {
		watcher->blocked_ns = watcher->blocked_ns ?: now;
		return false;
	}
	if (watcher->blocked_ns && !tell_late(watcher, now))
		return false;
	topic = topics_next(&topics, slot, &part);
	if (!topic)
		return false;
	look_before(topic, slot);
	event = watch_event(engine, &topics, topic, slot, watcher, part);
	topic_told(topic, slot, part);
	return !event || send_line(watcher, event);
}

/* Each watcher in its turn; false if there was no time for all. */
static bool tell_all(uint64_t began)
{
	static uint32_t turn;
	uint32_t quiet = 0;

	while (quiet < TOPIC_SLOTS) {
		if (is_over(began))
			return false;
		turn = (turn + 1) % TOPIC_SLOTS;
		quiet = watchers[turn].client && tell(&watchers[turn], began) ?
			0 : quiet + 1;
	}
	return true;
}

static void work(void *data)
{
	uint64_t began = now_ns();
	bool done;

	if (rebuilt || (gather_wanted && began >= gather_ns))
		gather();
	done = look_at_topics(began) && look_at_links(began);
	/*
	 * Some of it is told even if everything changes faster than it can be looked
	 * at: that is when it matters.
	 */
	done &= tell_all(now_ns());
	/* what has to wait for longer is done at the next look */
	if (!done || (gather_wanted && gather_ns < began + PAUSE_NS))
		work_soon(PAUSE_NS);
}

static void measure(uint64_t now)
{
	struct watcher *watcher;

	for (watcher = watchers; watcher < watchers + TOPIC_SLOTS; watcher++) {
		if (!watcher->client || !watcher->every_ns ||
		    now < watcher->due_ns)
			continue;
		watcher->due_ns = now + watcher->every_ns;
		topics_measured(&topics, slot_of(watcher));
	}
}

/* Paths get other ids when the module's objects are made anew. */
static bool places_are_old(void)
{
	const struct path_place *place;

	vec_for_each(place, &places)
		if (place->at >= engine->paths.n ||
		    engine_path(engine, place->at)->id != place->id)
			return true;
	return false;
}

/* All links are looked at now and then: a first probe may have come back. */
static bool links_changed(void)
{
	static uint32_t turn;
	uint64_t before = links_version;

	links_version = engine->links.links->version;
	return links_version != before || !(++turn % LINKS_TURN);
}

static void look(void *data)
{
	bool changed = engine->changes != changes, links = links_changed();
	uint32_t i;

	if (!n_watchers)
		return;
	if (alarm_set(&again, LOOK_NS))
		log_error("no timer for watchers; they are told no more");
	changes = engine->changes;
	gather_wanted |= accepted != demands.accepted ||
			 n_demands != demands.all.n ||
			 (changed && places_are_old());
	for (i = 0; i < topics.all.n; i++)
		topic_at(i)->noted |= changed ||
				      topic_at(i)->key.kind == TOPIC_PLAN ||
				      topic_at(i)->key.kind == TOPIC_QPS;
	for (i = 0; i < TOPIC_SLOTS; i++)
		watchers[i].links_due |= watchers[i].client && links;
	measure(now_ns());
	work_soon(0);
}

static struct watcher *find(const struct lines_client *client)
{
	uint32_t i;

	for (i = 0; i < TOPIC_SLOTS; i++)
		if (watchers[i].client == client)
			return &watchers[i];
	return NULL;
}

static uint32_t count_of(uint32_t uid)
{
	uint32_t i, n = 0;

	for (i = 0; i < TOPIC_SLOTS; i++)
		n += watchers[i].client && watchers[i].uid == uid;
	return n;
}

/**
 * watchers_add() - a client begins to watch, or watches something else
 * @client: the client; it keeps its connection when others come
 * @all: it is told of all jobs and all demands
 * @err: message if there are too many, or if it has asked already and waits
 *
 * Return: the watcher, which is to be filled in and passed to watchers_begin();
 * NULL if it is refused.
 */
struct watcher *watchers_add(struct lines_client *client, bool all,
			     struct srpol_error *err)
{
	uint32_t max = client->uid ? WATCHERS_FOR_ALL : TOPIC_SLOTS;
	struct watcher *watcher = find(client);

	if (watcher && watcher->later) {
		srpol_error_set(err, -EBUSY,
				"another request to watch is being answered");
		return NULL;
	}
	if (watcher) {
		topics_again(&topics, slot_of(watcher));
		return watcher;
	}
	if (n_watchers >= max) {
		srpol_error_set(err, -ENOSPC, "%u watch already", n_watchers);
		return NULL;
	}
	if (client->uid && count_of(client->uid) >= WATCHERS_BY_USER) {
		srpol_error_set(err, -ENOSPC,
				"%u watchers of a user are the most",
				WATCHERS_BY_USER);
		return NULL;
	}
	watcher = find(NULL);
	*watcher = (struct watcher){
		.client = client, .uid = client->uid, .all = all,
	};
	client->kept = true;
	/* what is in the kernel is old by the time that it is read */
	setsockopt(client->source.fd, SOL_SOCKET, SO_SNDBUF, &(int){ SEND_ROOM },
		   sizeof(int));
	n_watchers++;
	return watcher;
}

/**
 * watchers_begin() - tell a watcher the state, and then what changes
 * @watcher: of watchers_add()
 * @server: the server that is answering its request, which is answered later
 *
 * Return: 0 or -ENOMEM.
 */
int watchers_begin(struct watcher *watcher, struct request_server *server)
{
	watcher->later = requests_later(server);
	if (!watcher->later)
		return -ENOMEM;
	if (alarm_set(&again, LOOK_NS))
		log_error("no timer for watchers; they are told the state only");
	watchers_demanded();
	return 0;
}

/**
 * watchers_left() - a client is disconnected
 * @client: it may have watched
 */
void watchers_left(struct lines_client *client)
{
	struct watcher *watcher = find(client);

	if (!watcher)
		return;
	if (watcher->later)
		requests_answer(watcher->later, NULL, NULL);
	watcher->later = NULL;
	watcher->client = NULL;
	watcher->links_due = false;
	n_watchers--;
	topics_leave(&topics, slot_of(watcher));
	find_places();
	if (n_watchers)
		return;
	alarm_stop(&soon);
	alarm_stop(&again);
}

/**
 * watchers_drained() - a client has read all that it was sent
 * @client: it may watch
 */
void watchers_drained(struct lines_client *client)
{
	if (find(client))
		work_soon(0);
}

/**
 * watchers_demanded() - demands or watchers have changed
 */
void watchers_demanded(void)
{
	gather_wanted = true;
	work_soon(0);
}

/**
 * watchers_rebuilt() - jobs or the topology have changed
 *
 * What topics say of the engine's paths is void until they are gathered again.
 */
void watchers_rebuilt(void)
{
	rebuilt = true;
	work_soon(0);
}

/* Where places of an id begin. */
static size_t first_place(uint32_t id)
{
	size_t from = 0, to = places.n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (((struct path_place *)places.data)[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/**
 * watchers_path_event() - the module reports the state of a path
 * @path: id of the path
 * @state: enum srpol_path_state
 * @reason: enum srpol_path_reason
 */
void watchers_path_event(uint32_t path, uint32_t state, uint32_t reason)
{
	struct path_place *place;
	struct engine_path *of;
	size_t i;

	if (!n_watchers || rebuilt)
		return;
	for (i = first_place(path); i < places.n; i++) {
		place = (struct path_place *)places.data + i;
		if (place->id != path)
			break;
		of = engine_path(engine, place->at);
		if (of->id != path)
			continue;
		of->state = state;
		of->reason = reason;
		place->topic->noted = true;
		work_soon(0);
	}
}

/**
 * watchers_start() - begin with an engine, whose paths are in the module
 * @e: the engine; watchers of an engine before go on with it
 */
void watchers_start(struct engine *e)
{
	engine = e;
	watchers_rebuilt();
}

/**
 * watchers_stop() - the last connections were closed
 */
void watchers_stop(void)
{
	vec_free(&places);
	vec_free(&topics.all);
}
