// SPDX-License-Identifier: GPL-2.0
/*
 * Watches the devices of this host's NICs. One that is created again, since its
 * driver was loaded anew or it was in another network namespace, has the name that
 * it had, but packet sockets, programs and indexes are of the former one: no probe
 * would be sent, and no failure noticed, from then on. Nor is a NIC used that was
 * not there when srpold began.
 */
#include "extra.h"
#include "srpold.h"

#define LOOK_NS		(1000 * NS_PER_MS)

static const struct engine *engine;
static void (*begin_anew)(void);

static void look(void *data);

static struct alarm next_look = ALARM_INIT(look, NULL);

static void look(void *data)
{
	alarm_set(&next_look, LOOK_NS);
	if (uplinks_changed(engine)) {
		begin_anew();
	} else {
		uplinks_attach();
		extras_try();
		watch_try();
	}
}

/**
 * nics_watch() - watch the devices of this host's NICs
 * @e: the engine in force, always at this place
 * @changed: called if one of them has to be opened again
 *
 * Return: 0 or a negative errno.
 */
int nics_watch(const struct engine *e, void (*changed)(void))
{
	engine = e;
	begin_anew = changed;
	return alarm_set(&next_look, LOOK_NS);
}
