// SPDX-License-Identifier: GPL-2.0
/* Rates in requests: bit/s as a number, or text with k, M, G or T. */
#include <errno.h>

#include "srpol_lib.h"
#include "tenants.h"

/**
 * rates_read() - convert rates to numbers
 * @o: JSON object, whose rates given as text become numbers
 * @keys: members that are rates, ended by NULL
 * @err: message on failure
 */
int rates_read(json_t *o, const char * const *keys, struct srpol_error *err)
{
	const char *text;
	uint64_t rate;

	for (; *keys; keys++) {
		text = json_string_value(json_object_get(o, *keys));
		if (!text)
			continue;
		if (!srpol_rate_parse(text, &rate))
			return srpol_error_set(err, -EINVAL,
					       "\"%s\": \"%s\" is no rate of 1 to 2^50 bit/s",
					       *keys, text);
		json_object_set_new(o, *keys, json_integer(rate));
	}
	return 0;
}
