// SPDX-License-Identifier: GPL-2.0
/*
 * What the engine can do without. If it does not begin when the engine goes back to what
 * was in force, or on with a NIC's new device, that is no reason to end: a file may be
 * there again in a moment, such as a certificate that is being replaced, or a descriptor
 * be free. So it is tried again. At a start, and at a reload, it is an error.
 */
#include <string.h>

#include "extra.h"

#define AGAIN_NS	(30000 * NS_PER_MS)

static struct extra *lacking;		/* what did not begin */
static uint64_t again_ns;		/* when it is tried again */
static struct engine *engine;

static const char *reason(int ret, const struct srpol_error *err)
{
	return err->text[0] ? err->text : strerror(-ret);
}

static void complain(struct extra *extra, int ret, const struct srpol_error *err)
{
	log_error("%s; %s", reason(ret, err), extra->without);
	srpol_error_set(&extra->said, ret, "%s", reason(ret, err));
}

static int begin(const struct extra *extra, struct srpol_error *err)
{
	int ret = extra->start(engine, err);

	if (ret && extra->stop)
		extra->stop();
	return ret;
}

/* Did it begin this time? */
static bool begins(struct extra *extra)
{
	struct srpol_error err = {};
	int ret = begin(extra, &err);

	if (ret) {
		/* it is told once */
		if (strcmp(extra->said.text, reason(ret, &err)))
			complain(extra, ret, &err);
		return false;
	}
	log_notice("%s", extra->with);
	if (extra->late)
		extra->late();
	return true;
}

/**
 * extra_start() - start what the engine can do without
 * @extra: what that is; must stay valid
 * @e: the engine
 * @back: if it fails the engine goes on, and it is tried again
 * @err: message on failure, which is logged if the engine goes on
 *
 * Return: 0 or, unless @back, a negative errno.
 */
int extra_start(struct extra *extra, struct engine *e, bool back, struct srpol_error *err)
{
	int ret;

	engine = e;
	if (!back)
		return extra->start(e, err);
	ret = begin(extra, err);
	if (!ret)
		return 0;
	complain(extra, ret, err);
	/* not to be told once more with what fails later */
	err->text[0] = '\0';
	extra->next = lacking;
	lacking = extra;
	again_ns = now_ns() + AGAIN_NS;
	return 0;
}

/**
 * extras_try() - start what did not start before, if it is time
 *
 * To be called often: a timer of its own would need a descriptor, and these may be what
 * is lacking.
 */
void extras_try(void)
{
	struct extra **at = &lacking;

	if (!lacking || now_ns() < again_ns)
		return;
	while (*at)
		if (begins(*at))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	again_ns = now_ns() + AGAIN_NS;
}

/**
 * extras_stop() - try nothing again; what has begun is stopped by the caller
 */
void extras_stop(void)
{
	lacking = NULL;
}
