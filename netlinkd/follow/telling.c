// SPDX-License-Identifier: GPL-2.0
/*
 * What a host tells and what the next word replaces: loads, forecasts. It may
 * be lost. So it goes over the bus, if there is one, and is repeated there; in
 * the store, where it costs each of its members a write to disk, it ends with
 * the host's lease.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define REPEAT_NS	10000000000ull	/* engines forget after three */

static void make_key(const struct telling *t, char *key, size_t size)
{
	const struct follow *f = t->follow;

	snprintf(key, size, "%s/%s/%s/%s", t->what, f->config.shard,
		 f->fabric->nodes[f->leaves[0]].name,
		 f->fabric->nodes[f->host].name);
}

static void publish(struct telling *t)
{
	char key[STORE_KEY_LEN], subject[BUS_SUBJECT_LEN];
	struct follow *f = t->follow;
	char *text;

	make_key(t, key, sizeof(key));
	if (t->told || !bus_subject(&f->config.bus, key, subject,
				    sizeof(subject)))
		return;
	text = t->text(f);
	bus_publish(f->bus, subject, text, strlen(text));
	free(text);
	t->told = 1;
	t->count++;
	alarm_stop(&t->again);
	alarm_set(&t->again, mirror_jitter(REPEAT_NS));
}

static void told(void *data, const struct store_reply *reply)
{
	struct telling *t = data;

	t->busy = false;
	t->told = !reply->error && reply->succeeded ? t->lease : 0;
}

static void put(struct telling *t)
{
	struct follow *f = t->follow;
	char key[STORE_KEY_LEN];
	struct store_put put = { .key = key, .lease = f->lease };
	struct store_txn txn = { .put = &put, .n_put = 1 };
	char *text = t->text(f);

	make_key(t, key, sizeof(key));
	put.value = text;
	put.len = strlen(text);
	t->busy = true;
	t->lease = f->lease;
	t->count++;
	f->store.ops->txn(&f->store, &txn, told, t);
	free(text);
}

static void repeat(void *data)
{
	struct telling *t = data;

	t->told = 0;
	telling_go_on(t);
}

/**
 * telling_init() - something to be told
 * @t: result
 * @f: host
 * @what: first word of its key
 * @text: makes the value, to be freed
 */
void telling_init(struct telling *t, struct follow *f, const char *what,
		  char *(*text)(const struct follow *f))
{
	*t = (struct telling){
		.follow = f, .what = what, .text = text,
		.again = ALARM_INIT(repeat, t),
	};
}

/**
 * telling_stop() - tell it no more
 * @t: initialized, or all 0
 */
void telling_stop(struct telling *t)
{
	if (t->follow)
		alarm_stop(&t->again);
}

/**
 * telling_go_on() - tell it, if it is not told
 * @t: what is to be told
 */
void telling_go_on(struct telling *t)
{
	const struct follow *f = t->follow;

	if (!t->known)
		return;
	if (f->bus)
		publish(t);
	else if (!t->busy && f->lease && t->told != f->lease)
		put(t);
}

/**
 * telling_again() - what was told may be lost
 * @t: what is to be told
 */
void telling_again(struct telling *t)
{
	repeat(t);
}

/**
 * telling_news() - it is another thing now
 * @t: what is to be told; not while it is @busy
 */
void telling_news(struct telling *t)
{
	t->known = true;
	t->told = 0;
}
