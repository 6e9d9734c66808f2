// SPDX-License-Identifier: GPL-2.0
/* Encoding of the messages of glb.h, and the checks whether they count. */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "glb.h"

#define MAGIC		0x73676c62	/* "sglb" */
#define VERSION		1
#define HLEN		32
#define WORD_LEN	12

_Static_assert(GLB_KEY_LEN == crypto_generichash_KEYBYTES &&
	       GLB_TAG_LEN == crypto_generichash_BYTES_MIN, "BLAKE2b");

static uint8_t *put32(uint8_t *to, uint32_t v)
{
	to[0] = v >> 24;
	to[1] = v >> 16;
	to[2] = v >> 8;
	to[3] = v;
	return to + 4;
}

static uint8_t *put64(uint8_t *to, uint64_t v)
{
	return put32(put32(to, v >> 32), v);
}

static uint32_t get32(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | from[1] << 16 | from[2] << 8 | from[3];
}

static uint64_t get64(const uint8_t *from)
{
	return (uint64_t)get32(from) << 32 | get32(from + 4);
}

/**
 * glb_hash() - number of a cable, the same on all hosts whatever their file's
 * order
 * @name: name of the cable
 */
uint64_t glb_hash(const char *name)
{
	uint8_t hash[crypto_generichash_BYTES_MIN];

	crypto_generichash(hash, sizeof(hash), (const uint8_t *)name,
			   strlen(name), NULL, 0);
	return get64(hash);
}

/**
 * glb_key() - derive the key of one direction
 * @pair: key of the pair
 * @len: its length
 * @from: name of the host that sends
 * @to: name of the host that receives
 * @key: result, GLB_KEY_LEN bytes
 */
void glb_key(const uint8_t *pair, size_t len, const char *from, const char *to,
	     uint8_t *key)
{
	crypto_generichash_state s;

	crypto_generichash_init(&s, pair, len, GLB_KEY_LEN);
	crypto_generichash_update(&s, (const uint8_t *)"srpol glb",
				  sizeof("srpol glb"));
	/* the names are separated by their terminating zeros */
	crypto_generichash_update(&s, (const uint8_t *)from, strlen(from) + 1);
	crypto_generichash_update(&s, (const uint8_t *)to, strlen(to) + 1);
	crypto_generichash_final(&s, key, GLB_KEY_LEN);
}

/**
 * glb_write() - write a message
 * @m: message, with at most GLB_WORDS_MAX words
 * @key: key of the direction
 * @to: result, GLB_MESSAGE_MAX bytes
 *
 * Return: its length in bytes.
 */
size_t glb_write(const struct glb_message *m, const uint8_t *key, uint8_t *to)
{
	uint8_t *at = to;
	uint32_t i;

	at = put32(at, MAGIC);
	*at++ = VERSION;
	*at++ = m->type;
	*at++ = m->n >> 8;
	*at++ = m->n;
	at = put64(put64(at, m->from), m->to);
	at = put32(put32(at, m->seq), 0);
	for (i = 0; i < m->n; i++)
		at = put32(put64(at, m->words[i].cable), m->words[i].percent);
	crypto_generichash(at, GLB_TAG_LEN, to, at - to, key, GLB_KEY_LEN);
	return at + GLB_TAG_LEN - to;
}

static int read_words(const uint8_t *at, struct glb_message *m)
{
	uint32_t i;

	for (i = 0; i < m->n; i++, at += WORD_LEN) {
		m->words[i].cable = get64(at);
		m->words[i].percent = get32(at + 8);
		if (!m->words[i].percent || m->words[i].percent > 99)
			return -EINVAL;
	}
	return 0;
}

/**
 * glb_read() - read and verify a message
 * @from: the message
 * @len: its length in bytes
 * @key: key of the direction
 * @m: result
 *
 * Return: 0, -EINVAL if it is not a valid message, -EACCES if its tag is wrong.
 */
int glb_read(const uint8_t *from, size_t len, const uint8_t *key,
	     struct glb_message *m)
{
	uint8_t tag[GLB_TAG_LEN];
	uint32_t n;

	if (len < HLEN + GLB_TAG_LEN || get32(from) != MAGIC ||
	    from[4] != VERSION)
		return -EINVAL;
	n = from[6] << 8 | from[7];
	if (n > GLB_WORDS_MAX || len != HLEN + n * WORD_LEN + GLB_TAG_LEN)
		return -EINVAL;
	crypto_generichash(tag, sizeof(tag), from, len - sizeof(tag), key,
			   GLB_KEY_LEN);
	if (sodium_memcmp(tag, from + len - sizeof(tag), sizeof(tag)))
		return -EACCES;
	m->type = from[5];
	m->n = n;
	m->from = get64(from + 8);
	m->to = get64(from + 16);
	m->seq = get32(from + 24);
	if (m->type < GLB_HELLO || m->type > GLB_ACK || !m->from ||
	    (m->n && m->type != GLB_WORDS))
		return -EINVAL;
	return read_words(from + HLEN, m);
}

/**
 * glb_begin() - begin a session with a new random number
 * @s: session; its sequence number continues
 */
void glb_begin(struct glb_session *s)
{
	*s = (struct glb_session){ .seq = s->seq };
	while (!s->own)
		randombytes_buf(&s->own, sizeof(s->own));
}

static bool is_left(const struct glb_session *s, uint64_t session)
{
	uint32_t i;

	for (i = 0; i < s->n_left; i++)
		if (s->left[i] == session)
			return true;
	return false;
}

/*
 * The peer has begun a new session. Return: false if we did as well, for lack
 * of room.
 */
static bool follow_session(struct glb_session *s, uint64_t session)
{
	if (s->n_left == GLB_LEFT_MAX) {
		glb_begin(s);
		s->pending = true;
		return false;
	}
	if (s->peer)
		s->left[s->n_left++] = s->peer;
	s->peer = session;
	s->heard = 0;
	s->pending = true;
	return true;
}

/**
 * glb_take() - decide what to do about a message with a valid tag
 * @s: session with its sender
 * @m: message
 *
 * Return: what to do.
 */
enum glb_verdict glb_take(struct glb_session *s, const struct glb_message *m)
{
	bool new;

	if (m->to != s->own)
		return m->type == GLB_ACK ? GLB_STALE : GLB_GREET;
	if (m->type == GLB_ACK) {
		if (m->from != s->peer || m->seq != s->seq || !s->pending)
			return GLB_STALE;
		s->pending = false;
		return GLB_DONE;
	}
	if (is_left(s, m->from))
		return GLB_STALE;
	new = m->from != s->peer;
	if (new && !follow_session(s, m->from))
		return GLB_GREET;
	if (m->type == GLB_HELLO)
		return new ? GLB_SEND : GLB_STALE;
	if (m->seq <= s->heard)
		return GLB_AGAIN;
	s->heard = m->seq;
	return new ? GLB_TAKE_SEND : GLB_TAKE;
}
