// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "bus.h"
#include "srpol_lib.h"
#include "words.h"

#define PREFIX_DEFAULT	"srpol"

/**
 * bus_config_read() - read where the bus is
 * @o: JSON object, NULL: there is no bus
 * @config: result
 * @err: error message
 *
 * Return: 0 or a negative errno.
 */
int bus_config_read(const json_t *o, struct bus_config *config,
		    struct srpol_error *err)
{
	static const char * const keys[] = {
		"prefix", "servers", SERVERS_KEYS, NULL
	};
	int ret;

	*config = (struct bus_config){};
	if (!o)
		return 0;
	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL, "\"bus\" is not an object");
	ret = words_check(o, keys, " in \"bus\"", err) ?:
	      words_text(o, "prefix", PREFIX_DEFAULT, config->prefix,
			 sizeof(config->prefix), err) ?:
	      servers_read(o, "servers", "nats://", "tls://",
			   &config->servers, err);
	if (ret)
		return ret;
	if (!config->servers.n)
		return srpol_error_set(err, -EINVAL,
				       "\"bus\" needs \"servers\"");
	if (!config->prefix[0] || strpbrk(config->prefix, ".*> \t"))
		return srpol_error_set(err, -EINVAL,
				       "\"prefix\" of \"bus\" is not one word");
	return 0;
}
