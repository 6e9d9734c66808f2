// SPDX-License-Identifier: GPL-2.0
/*
 * Horizons of the global engine as text. With -j the reply is printed as
 * received.
 */
#include <jansson.h>
#include <string.h>

#include "srpol.h"
#include "engine.h"

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key)) ?: "";
}

static long long number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static double real_of(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void print_link(const json_t *link)
{
	const json_t *part = json_object_get(link, "part");

	out_text("%s-%s %lldbit/s of %lldbit/s", text_of(link, "from"),
		 text_of(link, "to"), number_of(link, "bps"),
		 number_of(link, "capacity"));
	if (json_is_number(part))
		out_text(" %.1f%%", 100 * json_number_value(part));
}

static void print_horizon(const json_t *h)
{
	const json_t *link;
	size_t i;

	out_text("\n\tin %gs demands %lld", real_of(h, "in_s"),
		 number_of(h, "demands"));
	if (json_is_integer(json_object_get(h, "ended")))
		out_text(" ended %lld", number_of(h, "ended"));
	out_text(" overloaded %lld", number_of(h, "overloaded"));
	json_array_foreach(json_object_get(h, "links"), i, link) {
		out_text("\n\t\t");
		print_link(link);
	}
}

static void print_ends(const json_t *ends)
{
	const json_t *o, *end;
	size_t i;

	json_array_foreach(ends, i, o) {
		end = json_object_get(o, "end_s");
		out_text("\n\t%s %s demands %lld", text_of(o, "source"),
			 text_of(o, "name"), number_of(o, "demands"));
		if (json_is_number(end))
			out_text(" ends-in %gs", json_number_value(end));
		else
			out_text(" never ends");
	}
}

/**
 * print_fabric_horizons() - print the reply to request "horizons"
 * @reply: the reply
 */
void print_fabric_horizons(const json_t *reply)
{
	const json_t *first = json_object_get(reply, "first_overload"), *h;
	size_t i;

	out_object(NULL);
	out_text("epoch %lld demands %lld reserved %lld untimed %lld",
		 number_of(reply, "epoch"), number_of(reply, "demands"),
		 number_of(reply, "reserved"), number_of(reply, "untimed"));
	if (json_is_object(first)) {
		out_text("\n\tfirst-overload in %gs ", real_of(first, "in_s"));
		print_link(first);
	}
	json_array_foreach(json_object_get(reply, "horizons"), i, h)
		print_horizon(h);
	print_ends(json_object_get(reply, "ends"));
	out_text("\n");
	out_object_end();
}
