/* SPDX-License-Identifier: GPL-2.0 */
/* What the prober needs of the rest of srpold: a clock, a map, two NICs, paths. */
#ifndef _SRPOL_TEST_PROBER_H
#define _SRPOL_TEST_PROBER_H

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"
#include "test.h"

#define MS	1000000ull

static struct source *ticker;
static uint64_t clock_ns = 1000 * MS;
static unsigned int verdicts;
static uint64_t sent_when_told;		/* probes, by the last verdicts */

static struct srpol_nic nics[2];
static struct srpol_fabric fabric = { .nics = nics, .n_nics = 2 };
static struct uplink uplinks[2];
static uint8_t address[6];		/* of the first of them, by now */
static struct engine engine;
static int wire;

#define MANY	64	/* paths; all tests but one have one */

bool log_verbose;

void log_notice(const char *fmt, ...)
{
}

void log_error(const char *fmt, ...)
{
}

void log_debug(const char *fmt, ...)
{
}

static struct srpol_probe table[SRPOL_MAX_PROBES];
static unsigned int opened;
static bool renewed;
static unsigned int looks;

bool probe_map_follow(void)
{
	if (!renewed)
		return false;
	opened++;
	memset(table, 0xff, sizeof(table));
	renewed = false;
	return true;
}

struct srpol_probe *probe_map_at(uint32_t index)
{
	return &table[index];
}

int reflect_begin_anew(struct srpol_error *err)
{
	return 0;
}

const char *srpol_reason_name(unsigned int reason)
{
	return "";
}

const char *srpol_addr_text(const void *addr, char *buf)
{
	return "";
}

uint64_t now_ns(void)
{
	return clock_ns;
}

int timer_open(struct source *source, uint64_t first_ns, uint64_t every_ns)
{
	source->fd = dup(0);
	ticker = source;
	return 0;
}

uint64_t timer_take(const struct source *source)
{
	return 1;
}

void loop_remove(struct source *source)
{
}

struct uplink *uplink_of(uint32_t nic)
{
	return nic < 2 ? &uplinks[nic] : NULL;
}

void uplinks_follow(void)
{
	memcpy(uplinks[0].mac, address, sizeof(address));
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

/* Probes of all paths so far */
static uint64_t sent_by_all(void)
{
	const struct engine_path *p;
	uint64_t sent = 0;

	vec_for_each(p, &engine.paths)
		sent += p->stats.sent;
	return sent;
}

void verdicts_tell(struct engine *e)
{
	verdicts++;
	sent_when_told = sent_by_all();
}

void verdicts_refresh(struct engine *e)
{
}

void verdicts_keep(struct engine *e)
{
}

void watch_look(bool whole)
{
	looks += whole;
}

int srpol_error_set(struct srpol_error *err, int code, const char *fmt, ...)
{
	return code;
}

static void not_ready(struct source *source, uint32_t events)
{
}

#endif /* _SRPOL_TEST_PROBER_H */
