// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <string.h>

#include "spank_srpol.h"

#define SOCKET_DEFAULT	"/run/srpold/default.sock"
#define LIMIT_S		3
#define LIMIT_S_MAX	60
#define SOCKET_MAX	107

static bool read_socket(struct config *config, const char *value)
{
	config->socket = value;
	return value[0] == '/' && strlen(value) <= SOCKET_MAX;
}

static bool read_limit(struct config *config, const char *value)
{
	uint32_t seconds;

	if (!color_parse(value, &seconds) || seconds > LIMIT_S_MAX)
		return false;
	config->limit_ms = seconds * 1000;
	return true;
}

static bool read_color(struct config *config, const char *value)
{
	return color_parse(value, &config->color);
}

static bool read_colors(struct config *config, const char *value)
{
	config->colors = value;
	return colors_are_good(value);
}

static bool read_users(struct config *config, const char *value)
{
	config->users = value;
	return value[0] == '/';
}

static const struct {
	const char *key;
	bool (*read)(struct config *config, const char *value);
} keys[] = {
	{ "socket", read_socket },
	{ "timeout", read_limit },
	{ "color", read_color },
	{ "colors", read_colors },
	{ "users", read_users },
};

static bool read_word(struct config *config, const char *word)
{
	size_t len = strcspn(word, "="), i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (word[len] && strlen(keys[i].key) == len &&
		    !strncmp(word, keys[i].key, len))
			return keys[i].read(config, word + len + 1);
	config->switches |= !strcmp(word, "switches");
	config->required |= !strcmp(word, "required");
	return !strcmp(word, "switches") || !strcmp(word, "required");
}

/**
 * config_read() - words of plugstack.conf
 * @config: result; it has pointers into @words
 * @n: number of words
 * @words: behind the name of the plugin
 * @err: which is wrong
 */
int config_read(struct config *config, int n, char **words,
		struct srpol_error *err)
{
	int i;

	*config = (struct config){ .socket = SOCKET_DEFAULT,
				   .limit_ms = LIMIT_S * 1000 };
	for (i = 0; i < n; i++)
		if (!read_word(config, words[i]))
			return srpol_error_set(err, -EINVAL,
					       "plugstack.conf: \"%s\" is none of socket=FILE, timeout=SECONDS (1 to %u), color=N, colors=N[-N],..., users=FILE, switches and required",
					       words[i], LIMIT_S_MAX);
	return 0;
}
