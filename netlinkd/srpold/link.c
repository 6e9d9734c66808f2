// SPDX-License-Identifier: GPL-2.0
/*
 * A link's capacity or state, in JSON: { "from": NODE, "to": NODE, "capacity":
 * RATE }, or "state": "up" or "down" instead of "capacity".
 */
#include <errno.h>
#include <string.h>

#include "srpold.h"

/**
 * link_name() - write the name of a cable
 * @fabric: the fabric
 * @cable: number of the cable
 * @buf: result, LINK_NAME_LEN bytes
 * @len: size of @buf
 */
void link_name(const struct srpol_fabric *fabric, uint32_t cable, char *buf,
	       size_t len)
{
	const struct srpol_link *link = &fabric->links[2 * cable];

	snprintf(buf, len, "%s-%s", fabric->nodes[link->from].name,
		 fabric->nodes[link->to].name);
}

static int read_ends(const struct srpol_fabric *fabric, const json_t *o,
		     uint32_t *cable, struct srpol_error *err)
{
	static const char * const keys[] = { "from", "to" };
	uint32_t node[2], link, i;
	const char *name;

	for (i = 0; i < 2; i++) {
		name = json_string_value(json_object_get(o, keys[i]));
		node[i] = name ? srpol_fabric_node(fabric, name) : SRPOL_NONE;
		if (node[i] == SRPOL_NONE)
			return srpol_error_set(err, -ENOENT,
					       "\"%s\": no node \"%s\"",
					       keys[i], name ?: "");
	}
	link = srpol_fabric_link(fabric, node[0], node[1]);
	if (link == SRPOL_NONE)
		return srpol_error_set(err, -ENOENT,
				       "no link from \"%s\" to \"%s\"",
				       fabric->nodes[node[0]].name,
				       fabric->nodes[node[1]].name);
	*cable = link / 2;
	return 0;
}

/**
 * link_read() - read a link's capacity or state from JSON
 * @fabric: the fabric
 * @o: JSON object
 * @word: result
 * @err: message on failure
 */
int link_read(const struct srpol_fabric *fabric, const json_t *o,
	      struct link_word *word, struct srpol_error *err)
{
	const json_t *rate = json_object_get(o, "capacity");
	const json_t *state = json_object_get(o, "state");
	const char *text = json_string_value(state ?: rate);
	int ret = read_ends(fabric, o, &word->cable, err);

	if (ret)
		return ret;
	if (!state == !rate)
		return srpol_error_set(err, -EINVAL,
				       "either \"capacity\" or \"state\" is wanted");
	if (state && text && !strcmp(text, "down")) {
		word->capacity = 0;
		return 0;
	}
	if (state && text && !strcmp(text, "up")) {
		word->capacity =
			srpol_link_rate(&fabric->links[2 * word->cable]);
		return 0;
	}
	if (state)
		return srpol_error_set(err, -EINVAL,
				       "\"state\" is neither \"up\" nor \"down\"");
	if (json_is_integer(rate) && json_integer_value(rate) > 0 &&
	    (uint64_t)json_integer_value(rate) <= SRPOL_RATE_MAX) {
		word->capacity = json_integer_value(rate);
		return 0;
	}
	if (text && srpol_rate_parse(text, &word->capacity))
		return 0;
	return srpol_error_set(err, -EINVAL,
			       "\"capacity\" is no rate of 1 to 2^50 bit/s");
}

/**
 * link_request() - handle srpol engine link
 * @engine: the engine
 * @request: a link with its capacity or state, or with "reset": true
 * @err: message on failure
 *
 * Return: the reply, NULL if it is refused.
 */
json_t *link_request(struct engine *engine, const json_t *request,
		     struct srpol_error *err)
{
	char name[LINK_NAME_LEN];
	struct link_word word;

	if (json_is_true(json_object_get(request, "reset"))) {
		if (read_ends(engine->fabric, request, &word.cable, err))
			return NULL;
		linkstate_unsay(&engine->links, word.cable, LINK_OPERATOR);
	} else {
		if (link_read(engine->fabric, request, &word, err))
			return NULL;
		linkstate_say(&engine->links, word.cable, LINK_OPERATOR,
			      word.capacity, now_ns());
	}
	balance_soon();
	link_name(engine->fabric, word.cable, name, sizeof(name));
	return json_pack("{s:s}", "link", name);
}
