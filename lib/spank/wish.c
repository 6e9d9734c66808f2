// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "spank_srpol.h"

static bool copy(char *to, size_t len, const char *text)
{
	if (!*text || strlen(text) >= len)
		return false;
	strcpy(to, text);
	return true;
}

static int take_switch(struct wish *wish, const char *text,
		       struct srpol_error *err)
{
	if (strcmp(text, "on") && strcmp(text, "off"))
		return srpol_error_set(err, -EINVAL,
				       "--srpol=%s: on or off is wanted", text);
	wish->off = !strcmp(text, "off");
	return 0;
}

/* The names are looked up by srpold, which knows the fabric. */
static bool are_names(const char *text)
{
	unsigned int n = 0;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (!len || len >= SRPOL_NAME_LEN || ++n > WISH_TOPS)
			return false;
		if (!text[len])
			return true;
	}
}

static bool are_rates(const char *text)
{
	uint64_t guaranteed, max;
	char copied[sizeof(((struct wish *)0)->bw)];
	char *slash;

	if (!copy(copied, sizeof(copied), text))
		return false;
	slash = strchr(copied, '/');
	if (slash)
		*slash++ = '\0';
	/* a scheduler's scripts hand it on: no word of a shell, no sign */
	if (strspn(text, "0123456789.kMGT/") != strlen(text) ||
	    !srpol_rate_parse(copied, &guaranteed))
		return false;
	return !slash || (srpol_rate_parse(slash, &max) && max >= guaranteed);
}

/**
 * wish_take() - an option, as the user gave it
 * @wish: it is put there
 * @option: which
 * @text: behind the =
 * @err: what is wrong
 */
int wish_take(struct wish *wish, enum wish_option option, const char *text,
	      struct srpol_error *err)
{
	text = text ?: "";
	wish->any = true;
	switch (option) {
	case WISH_SRPOL:
		return take_switch(wish, text, err);
	case WISH_COLOR:
		if (color_parse(text, &wish->color))
			return 0;
		return srpol_error_set(err, -EINVAL,
				       "--srpol-color=%s: a number from 1 to %u is wanted",
				       text, UINT32_MAX);
	case WISH_PATHS:
		if (are_names(text) &&
		    copy(wish->paths, sizeof(wish->paths), text))
			return 0;
		return srpol_error_set(err, -EINVAL,
				       "--srpol-paths=%s: disjoint, or up to %u names of switches with commas between them, are wanted",
				       text, WISH_TOPS);
	case WISH_VIA:
		if (copy(wish->via, sizeof(wish->via), text))
			return 0;
		return srpol_error_set(err, -EINVAL,
				       "--srpol-via=%s: the name or kind of a function is wanted",
				       text);
	case WISH_BW:
		if (are_rates(text) && copy(wish->bw, sizeof(wish->bw), text))
			return 0;
		return srpol_error_set(err, -EINVAL,
				       "--srpol-bw=%s: RATE or RATE/MAX in bit/s is wanted, such as 400G or 100G/200G, where MAX is not less",
				       text);
	}
	return -EINVAL;
}

/**
 * wish_check() - may a user ask for that?
 * @wish: what is asked for
 * @config: what is allowed
 * @err: why not
 */
int wish_check(const struct wish *wish, const struct config *config,
	       struct srpol_error *err)
{
	if (wish->off && config->required)
		return srpol_error_set(err, -EPERM,
				       "--srpol=off: jobs have to be known to srpold here");
	if (config->switches)
		return 0;
	if (wish->paths[0] && strcmp(wish->paths, "disjoint"))
		return srpol_error_set(err, -EPERM,
				       "--srpol-paths=%s: users may not name switches here, disjoint is allowed",
				       wish->paths);
	if (wish->via[0])
		return srpol_error_set(err, -EPERM,
				       "--srpol-via=%s: users may not name functions of switches here",
				       wish->via);
	return 0;
}
