/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages between hosts about the quality of cables near them, for algorithm
 * "glb": glb_message.c is pure, glb_words.c knows the fabric, glb.c the
 * sockets.
 *
 * DOC: words of hosts
 *
 * 	A                                      B
 * 	hello (session a, to ?)         ->
 * 	                                <-     hello (b, to a)
 * 	words (a, to b, 1): all of A's  ->
 * 	                                <-     ack (b, to a, 1)
 * 	                                <-     words (b, to a, 1): all of B's
 * 	ack (a, to b, 1)                ->
 *
 * A session is a random number that a host draws when it starts. A message
 * counts only if it names the session of its receiver, which nobody knew
 * before, so that no message that was recorded earlier counts. Nor do messages
 * of a session that its sender has left: a host remembers those, and if there
 * are too many to remember, it begins a new session of its own instead. Within
 * a session, words count by their sequence number, once. A message contains all
 * that its sender has to say, so that a lost message does no harm; it is sent
 * when that changes, and again until it is acknowledged. Each direction of a
 * pair has a key of its own, derived from the pair's key: a message does not
 * count if it is sent back to its sender.
 *
 * A word is a cable, by a hash of its name, and how much of it is to be used. A
 * cable that works well needs no word. Words of a host are accepted for cables
 * of its own and of its leaves.
 */
#ifndef _SRPOLD_GLB_H
#define _SRPOLD_GLB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLB_WORDS_MAX	64
#define GLB_LEFT_MAX	16
#define GLB_KEY_LEN	32
#define GLB_TAG_LEN	16
#define GLB_MESSAGE_MAX	(32 + 12 * GLB_WORDS_MAX + GLB_TAG_LEN)

/**
 * enum glb_type - type of a message
 * @GLB_HELLO: the sender's session; asks for the receiver's
 * @GLB_WORDS: cables that work badly
 * @GLB_ACK: acknowledges words
 */
enum glb_type {
	GLB_HELLO = 1,
	GLB_WORDS,
	GLB_ACK,
};

/**
 * struct glb_word - statement about a cable
 * @cable: glb_hash() of its name
 * @percent: how much of it is to be used, 1 to 99
 */
struct glb_word {
	uint64_t cable;
	uint32_t percent;
};

/**
 * struct glb_message - message from one host to another
 * @type: enum glb_type
 * @n: number of @words
 * @seq: sequence number of the words, or of the words acknowledged
 * @from: session of the sender
 * @to: session of the receiver, 0: the sender does not know it
 * @words: cables that work badly
 */
struct glb_message {
	uint8_t type;
	uint32_t n;
	uint32_t seq;
	uint64_t from;
	uint64_t to;
	struct glb_word words[GLB_WORDS_MAX];
};

/**
 * struct glb_session - session with another host
 * @own: our session, never 0
 * @peer: the other host's session, 0: not known
 * @seq: sequence number of our words that were last sent
 * @heard: sequence number of the last words that were accepted
 * @pending: our words are not yet acknowledged
 * @left: sessions of the other host that ended since ours began
 * @n_left: number of these
 */
struct glb_session {
	uint64_t own;
	uint64_t peer;
	uint32_t seq;
	uint32_t heard;
	bool pending;
	uint64_t left[GLB_LEFT_MAX];
	uint32_t n_left;
};

/**
 * enum glb_verdict - what to do about a message
 * @GLB_STALE: ignore it: it is of another session, or a repetition
 * @GLB_GREET: send a hello to the session that it came from
 * @GLB_SEND: send our words
 * @GLB_TAKE: accept its words and acknowledge them
 * @GLB_TAKE_SEND: the same, and send our words
 * @GLB_AGAIN: its words were accepted before; acknowledge them again
 * @GLB_DONE: our words have arrived
 */
enum glb_verdict {
	GLB_STALE,
	GLB_GREET,
	GLB_SEND,
	GLB_TAKE,
	GLB_TAKE_SEND,
	GLB_AGAIN,
	GLB_DONE,
};

uint64_t glb_hash(const char *name);
void glb_key(const uint8_t *pair, size_t len, const char *from, const char *to,
	     uint8_t *key);
size_t glb_write(const struct glb_message *m, const uint8_t *key, uint8_t *to);
int glb_read(const uint8_t *from, size_t len, const uint8_t *key,
	     struct glb_message *m);
struct engine;

int glb_words_start(const struct engine *engine);
void glb_words_stop(void);
uint32_t glb_words_cable(uint64_t hash);
bool glb_words_near(const struct engine *engine, uint32_t cable, uint32_t host);
uint32_t glb_words_own(const struct engine *engine, const uint32_t *hosts,
		       uint32_t n_hosts, struct glb_word *words);
void glb_begin(struct glb_session *s);
enum glb_verdict glb_take(struct glb_session *s, const struct glb_message *m);

#endif /* _SRPOLD_GLB_H */
