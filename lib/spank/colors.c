// SPDX-License-Identifier: LGPL-2.1
/*
 * Which colors a user's jobs may have. Where that is decided, on the node, the
 * user is who Slurm says, and groups are those of Slurm's credential; an
 * account's name there would be what the user put into the environment.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spank_srpol.h"

#define BLANKS	" \t\n"

/* Digits only; *end: what follows. 0 is no color. */
static bool read_number(const char *text, const char **end, uint32_t *number)
{
	uint64_t n = 0;

	for (*end = text; isdigit((unsigned char)**end); (*end)++) {
		n = 10 * n + **end - '0';
		if (n > UINT32_MAX)
			return false;
	}
	*number = n;
	return n;
}

/**
 * color_parse() - a color, or another number from 1
 * @text: it and nothing else
 * @color: result
 */
bool color_parse(const char *text, uint32_t *color)
{
	const char *end;

	return read_number(text, &end, color) && !*end;
}

/* N or N-N and the comma behind it */
static bool read_range(const char **list, uint32_t *lo, uint32_t *hi)
{
	if (!read_number(*list, list, lo))
		return false;
	*hi = *lo;
	if (**list == '-' &&
	    (!read_number(*list + 1, list, hi) || *hi < *lo))
		return false;
	if (**list == ',' && (*list)[1])
		(*list)++;
	else if (**list)
		return false;
	return true;
}

/**
 * colors_are_good() - is this a list of colors?
 * @list: N[-N],...
 */
bool colors_are_good(const char *list)
{
	uint32_t lo, hi;

	do {
		if (!read_range(&list, &lo, &hi))
			return false;
	} while (*list);
	return true;
}

/**
 * colors_have() - is a color in a list?
 * @list: a good one, NULL: none
 * @color: color
 */
bool colors_have(const char *list, uint32_t color)
{
	uint32_t lo, hi;

	while (list && *list && read_range(&list, &lo, &hi))
		if (color >= lo && color <= hi)
			return true;
	return false;
}

static bool is_in_group(const struct who *who, const char *name)
{
	const struct group *group = getgrnam(name);
	int i;

	if (!group)
		return false;
	for (i = 0; i < who->n_groups; i++)
		if (who->groups[i] == group->gr_gid)
			return true;
	return who->gid == group->gr_gid;
}

/* USER, its number, %GROUP or * */
static bool is_meant(const struct who *who, const char *word)
{
	const struct passwd *user;
	uint32_t uid;

	if (!strcmp(word, "*"))
		return true;
	if (word[0] == '%')
		return is_in_group(who, word + 1);
	if (!strcmp(word, "0") || color_parse(word, &uid))
		return who->uid == strtoul(word, NULL, 10);
	user = getpwnam(word);
	return user && user->pw_uid == who->uid;
}

/* The first line for this user; *colors points into the line. */
static int find_line(FILE *f, const char *file, const struct who *who,
		     char **line, const char **colors, struct srpol_error *err)
{
	char *word, *list, *rest;
	unsigned int n = 0;
	size_t size = 0;

	while (getline(line, &size, f) > 0) {
		n++;
		(*line)[strcspn(*line, "#")] = '\0';
		word = strtok_r(*line, BLANKS, &rest);
		if (!word)
			continue;
		list = strtok_r(NULL, BLANKS, &rest);
		if (!list || !colors_are_good(list) ||
		    strtok_r(NULL, BLANKS, &rest))
			return srpol_error_set(err, -EINVAL,
					       "%s:%u: a user, %%group or *, and colors N[-N],... are wanted",
					       file, n);
		if (!is_meant(who, word))
			continue;
		*colors = list;
		return 0;
	}
	return 0;
}

static int choose(const struct config *config, const char *colors,
		  const struct who *who, const struct wish *wish,
		  uint32_t *color, struct srpol_error *err)
{
	const char *end;

	*color = wish->color;
	if (*color && *color != config->color && !colors_have(colors, *color))
		return srpol_error_set(err, -EPERM,
				       "color %u is not allowed to user %u here%s%s",
				       *color, who->uid,
				       colors ? ": these are: " : "",
				       colors ?: "");
	/* the first of the user's own ones goes before what all others have */
	if (!*color && config->users && colors)
		read_number(colors, &end, color);
	if (!*color)
		*color = config->color;
	return 0;
}

/**
 * colors_choose() - which color a job gets
 * @config: what is allowed
 * @who: whose job it is
 * @wish: what is wanted
 * @color: result, 0: the administrator gives this user's jobs none
 * @err: why not: -EPERM if it is not allowed
 */
int colors_choose(const struct config *config, const struct who *who,
		  const struct wish *wish, uint32_t *color,
		  struct srpol_error *err)
{
	const char *colors = config->users ? NULL : config->colors;
	char *line = NULL;
	FILE *f = NULL;
	int ret = 0;

	if (config->users) {
		f = fopen(config->users, "re");
		if (!f)
			return srpol_error_set(err, -errno, "%s: %m",
					       config->users);
		ret = find_line(f, config->users, who, &line, &colors, err);
		fclose(f);
	}
	ret = ret ?: choose(config, colors, who, wish, color, err);
	free(line);
	return ret;
}
