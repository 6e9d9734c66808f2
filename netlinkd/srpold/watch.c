// SPDX-License-Identifier: GPL-2.0
/*
 * Hears what changes in the module: objects of the engine that others changed are
 * restored, and states of paths are read. What was refused is tried again.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "srpold.h"
#include "watchers.h"

#define SETTLE_NS	(50 * NS_PER_MS)
#define LATER_NS	(3000 * NS_PER_MS)
#define HEAR_MOST	64

static struct engine *engine;
static struct source events, settle = { .fd = -1 };
static bool wanted;		/* a look at states of paths, at least */
static bool reconcile_wanted;	/* the module may not be as the engine wants */

static void look_later(void *data)
{
	watch_look(true);
}

static struct alarm later = ALARM_INIT(look_later, NULL);

/* Listen to events by a new connection. */
static int listen_to(struct srpol_genl *g, struct srpol_error *err)
{
	int ret = srpol_genl_open(g, err) ?: srpol_genl_listen(g, err);

	if (ret)
		srpol_genl_close(g);
	return ret;
}

/**
 * watch_reconnect() - connect anew if the module was unloaded and loaded again
 *
 * The family has another id then, and nobody listens to its events.
 *
 * Return: whether that was so.
 */
bool watch_reconnect(void)
{
	struct srpol_genl genl = {}, heard = {};
	struct srpol_error err = {};

	if (srpol_genl_open(&genl, &err))
		return false;
	if (genl.family == engine->genl.family || listen_to(&heard, &err)) {
		srpol_genl_close(&genl);
		return false;
	}
	loop_remove(&events);
	srpol_genl_close(&engine->genl);
	srpol_genl_close(&engine->events);
	engine->genl = genl;
	engine->events = heard;
	events.fd = srpol_genl_fd(&engine->events);
	if (loop_add(&events, EPOLLIN))
		log_error("changes in the module are not heard");
	log_notice("the module was loaded anew");
	/* it has nothing of the engine's, also if a reload is given up */
	watch_look(true);
	return true;
}

/* Changes come in bursts: handle them once they have settled. */
static void settled(struct source *source, uint32_t what)
{
	static struct srpol_error said;
	bool whole = reconcile_wanted, failed = said.text[0];
	struct srpol_error err = {};
	int ret;

	loop_remove(source);
	close(source->fd);
	source->fd = -1;
	wanted = reconcile_wanted = false;
	ret = whole ? reconcile(engine, &err) : reconcile_states(engine, &err);
	if (ret && watch_reconnect()) {
		/* this one may take what the one before has refused */
		plan_retry();
		return;
	}
	if (ret && !err.text[0])
		srpol_error_set(&err, ret, "%s", strerror(-ret));
	/* It is tried again and again, and told once. */
	if (ret && strcmp(err.text, said.text))
		log_error("%s", err.text);
	if (ret || whole)
		said = err;
	if (ret)
		watch_look_later();
	else if (whole && failed)
		plan_retry();
}

/**
 * watch_look() - look at the module soon
 * @whole: at all objects, and not just at states of paths
 */
void watch_look(bool whole)
{
	reconcile_wanted |= whole;
	if (whole)
		reconcile_undone();
	wanted = true;
	watch_try();
}

/**
 * watch_try() - begin the look that is wanted, if there was no descriptor for its timer
 */
void watch_try(void)
{
	settle.ready = settled;
	if (wanted && settle.fd < 0 && timer_open(&settle, SETTLE_NS, 0))
		settle.fd = -1;
}

/**
 * watch_look_later() - look at the whole module once more, as something was refused
 */
void watch_look_later(void)
{
	alarm_set(&later, LATER_NS);
}

/* Restore objects of the engine that others changed. */
static int take_event(const struct nlmsghdr *nlh, void *data)
{
	struct path_info path;

	switch (srpol_msg_cmd(nlh)) {
	case SRPOL_CMD_PATH_EVENT:
		watch_look(false);
		read_path(nlh, &path);
		watchers_path_event(path.id, path.state, path.reason);
		break;
	case SRPOL_CMD_POLICY_EVENT:
		break;
	default:
		if (nlh->nlmsg_pid != engine->genl.portid)
			watch_look(true);
	}
	return 0;
}

static bool is_told(void)
{
	struct pollfd wait = { .fd = events.fd, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

/*
 * What is read waits for an event. The loop may think that there is one that watch_hear()
 * has read since, when it handled another source of the same round.
 */
static void read_events(struct source *source, uint32_t what)
{
	int ret = is_told() ? srpol_genl_receive(&engine->events, take_event, NULL) : 0;

	/* events were lost, or the module went and all objects with it: check everything */
	if (ret == -ENOBUFS || ret == -ENODEV)
		watch_look(true);
}

/**
 * watch_hear() - read events that are there, so that what is known of the module is what it is
 */
void watch_hear(void)
{
	int i;

	/* others may change it all the time: what is not read by then is not known */
	for (i = 0; i < HEAR_MOST && is_told(); i++)
		read_events(&events, 0);
	if (is_told())
		reconcile_undone();
}

/**
 * watch_start() - connect to the module and listen to its events
 * @e: the engine; the connections outlive what else is in it
 * @err: message on failure
 */
int watch_start(struct engine *e, struct srpol_error *err)
{
	int ret;

	engine = e;
	ret = srpol_genl_open(&engine->genl, err) ?:
	      listen_to(&engine->events, err);
	if (ret)
		return ret;
	events.fd = srpol_genl_fd(&engine->events);
	events.ready = read_events;
	return loop_add(&events, EPOLLIN);
}
