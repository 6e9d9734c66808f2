// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of a host of which only the latest value counts: loads and
 * forecasts. They may be lost. If a bus is configured they are published there,
 * and repeated because nobody acknowledges them. Otherwise they are written to
 * the store, which costs every store member a write to disk; the key is then
 * deleted with the host's lease.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define REPEAT_NS	10000000000ull	/* engines drop it after 3 of these */

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
 * telling_init() - initialize a message that has no value yet
 * @t: result
 * @f: follower
 * @what: first part of the key
 * @text: makes the value, which is freed after use
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
 * telling_stop() - stop repeating the message
 * @t: message, initialized or all zero
 */
void telling_stop(struct telling *t)
{
	if (t->follow)
		alarm_stop(&t->again);
}

/**
 * telling_go_on() - send the current value unless it was sent already
 * @t: message
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
 * telling_again() - send the value again, as it may have been lost
 * @t: message
 */
void telling_again(struct telling *t)
{
	repeat(t);
}

/**
 * telling_news() - mark the value as changed, so that it has to be sent
 * @t: message; must not be @busy
 */
void telling_news(struct telling *t)
{
	t->known = true;
	t->told = 0;
}
