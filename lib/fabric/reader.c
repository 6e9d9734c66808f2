// SPDX-License-Identifier: LGPL-2.1
/*
 * Reads members of a topology file. Error messages tell the line and the key.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"
#include "srpol_lib.h"

/**
 * reader_push() - enter a member of the present object
 * @r: reader
 * @key: name of the member
 */
void reader_push(struct reader *r, const char *key)
{
	r->at[r->depth++] = (struct srpol_json_step){ .key = key };
}

/**
 * reader_push_index() - enter an element of the present array
 * @r: reader
 * @index: number of the element
 */
void reader_push_index(struct reader *r, size_t index)
{
	r->at[r->depth++] = (struct srpol_json_step){ .index = index };
}

/**
 * reader_pop() - leave the present member or element
 * @r: reader
 */
void reader_pop(struct reader *r)
{
	r->depth--;
}

/**
 * reader_bad() - report an error, as in "line 12: links[3].rate: what is wrong"
 * @r: reader, at the position of the error
 * @code: negative errno
 * @fmt: format of the text that tells what is wrong
 *
 * Return: @code.
 */
int reader_bad(struct reader *r, int code, const char *fmt, ...)
{
	char where[160] = "", what[300];
	size_t used = 0;
	unsigned int i;
	va_list args;

	for (i = 0; i < r->depth && used < sizeof(where); i++)
		used += r->at[i].key ?
			snprintf(where + used, sizeof(where) - used, "%s%s",
				 i ? "." : "", r->at[i].key) :
			snprintf(where + used, sizeof(where) - used, "[%zu]",
				 r->at[i].index);
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return srpol_error_set(r->err, code, "line %u: %s%s%s",
			       srpol_json_line(r->text, r->len, r->at,
					       r->depth),
			       where, *where ? ": " : "", what);
}

/**
 * reader_bad_as() - report an error of the functions that build a fabric, with
 *	line and key
 * @r: reader, at the position of the error
 * @code: negative errno
 * @why: error that the function reported
 *
 * Return: @code.
 */
int reader_bad_as(struct reader *r, int code, const struct srpol_error *why)
{
	return reader_bad(r, code, "%s", why->text);
}

/**
 * reader_check_keys() - report an error if an object has unknown members
 * @r: reader
 * @object: the object
 * @known: names of known members, followed by NULL
 *
 * Return: 0, -EINVAL.
 */
int reader_check_keys(struct reader *r, json_t *object,
		      const char *const *known)
{
	const char *const *k;
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return reader_bad(r, -EINVAL, "an object is wanted");
	json_object_foreach(object, key, value) {
		for (k = known; *k && strcmp(*k, key); k++)
			;
		if (*k)
			continue;
		reader_push(r, key);
		return reader_bad(r, -EINVAL, "unknown key");
	}
	return 0;
}

/**
 * reader_string() - read a member that is a string
 * @r: reader
 * @object: object that has the member
 * @key: name of the member
 * @must: it is an error if the member is absent
 * @text: result, NULL if the member is absent; valid as long as @object
 *
 * Return: 0, -EINVAL.
 */
int reader_string(struct reader *r, json_t *object, const char *key, bool must,
		  const char **text)
{
	json_t *v = json_object_get(object, key);

	*text = json_string_value(v);
	if (*text || (!v && !must))
		return 0;
	if (v)
		reader_push(r, key);
	return reader_bad(r, -EINVAL, v ? "a string is wanted" : "no \"%s\"", key);
}

/**
 * reader_uint() - read a member that is a number
 * @r: reader
 * @object: object that has the member
 * @key: name of the member
 * @max: greatest valid number; the smallest is 0
 * @n: result, unchanged if the member is absent
 *
 * Return: 0, -EINVAL.
 */
int reader_uint(struct reader *r, json_t *object, const char *key, uint32_t max,
		uint32_t *n)
{
	json_t *v = json_object_get(object, key);

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    json_integer_value(v) > max) {
		reader_push(r, key);
		return reader_bad(r, -EINVAL, "a number of 0 to %u is wanted", max);
	}
	*n = json_integer_value(v);
	return 0;
}

/**
 * reader_addr() - read a member that is an IPv6 address
 * @r: reader
 * @object: object that has the member
 * @key: name of the member
 * @addr: result, unchanged if the member is absent
 *
 * SRv6 fabrics have no others: SIDs, and what is behind them, are IPv6.
 *
 * Return: 0, -EINVAL.
 */
int reader_addr(struct reader *r, json_t *object, const char *key,
		struct in6_addr *addr)
{
	const char *text;
	int rc;

	rc = reader_string(r, object, key, false, &text);
	if (rc || !text)
		return rc;
	if (srpol_addr6_parse(text, addr) && !IN6_IS_ADDR_V4MAPPED(addr))
		return 0;
	reader_push(r, key);
	return reader_bad(r, -EINVAL, "\"%s\" is no IPv6 address", text);
}

/**
 * reader_rate() - read member "rate", which is text or a number of bit/s
 * @r: reader
 * @object: object that has the member
 * @rate: result in bit/s
 *
 * Return: 0, -EINVAL.
 */
int reader_rate(struct reader *r, json_t *object, uint64_t *rate)
{
	json_t *v = json_object_get(object, "rate");
	const char *text;

	if (!v)
		return reader_bad(r, -EINVAL, "no \"rate\"");
	reader_push(r, "rate");
	if (json_is_integer(v)) {
		if (json_integer_value(v) < 1)
			return reader_bad(r, -EINVAL, "more than 0 is wanted");
		*rate = json_integer_value(v);
		reader_pop(r);
		return 0;
	}
	text = json_string_value(v);
	if (!text)
		return reader_bad(r, -EINVAL, "a rate such as \"400G\" is wanted");
	if (!srpol_rate_parse(text, rate))
		return reader_bad(r, -EINVAL, "\"%s\" is no rate of 1 to 2^50 bit/s",
				  text);
	reader_pop(r);
	return 0;
}

/**
 * reader_node() - read a member that is the name of a node
 * @r: reader
 * @object: object that has the member
 * @key: name of the member
 * @node: result: number of the node
 *
 * Return: 0, -EINVAL, -ENOENT if there is no such node.
 */
int reader_node(struct reader *r, json_t *object, const char *key,
		uint32_t *node)
{
	const char *name;
	int rc;

	rc = reader_string(r, object, key, true, &name);
	if (rc)
		return rc;
	*node = srpol_fabric_node(r->f, name);
	if (*node != SRPOL_NONE)
		return 0;
	reader_push(r, key);
	return reader_bad(r, -ENOENT, "no node \"%s\"", name);
}

/**
 * reader_csid() - read member "usid": an address that consists of the block,
 *	one CSID, and zeros
 * @r: reader
 * @object: object that has the member
 * @result: the CSID, unchanged if the member is absent
 *
 * Return: 0, -EINVAL.
 */
int reader_csid(struct reader *r, json_t *object, uint64_t *result)
{
	const struct srpol_sid_plan *sids = &r->f->sids;
	struct in6_addr addr = {}, back;
	uint64_t csid;
	json_t *v;
	int rc;

	v = json_object_get(object, "usid");
	if (!v)
		return 0;
	rc = reader_addr(r, object, "usid", &addr);
	if (rc)
		return rc;
	reader_push(r, "usid");
	if (!sids->block_len)
		return reader_bad(r, -EINVAL, "the file has no \"usid\" block");
	if (!srpol_usid_in_block(&addr, &sids->block, sids->block_len))
		return reader_bad(r, -EINVAL, "not in the file's uSID block");
	memset(&back, 0, sizeof(back));
	for (csid = 0, rc = 0; rc < (int)sids->csid_len / 8; rc++)
		csid = csid << 8 | addr.s6_addr[sids->block_len / 8 + rc];
	if (!csid || srpol_usid_pack(&sids->block, sids->block_len,
				     sids->csid_len, &csid, 1, &back, 1) != 1 ||
	    memcmp(&back, &addr, sizeof(addr)))
		return reader_bad(r, -EINVAL,
				  "one CSID of %u bits behind the block is wanted",
				  sids->csid_len);
	*result = csid;
	reader_pop(r);
	return 0;
}
