// SPDX-License-Identifier: GPL-2.0
/* srpol stats: number of packets by what happened to them. */
#include "srpol.h"

static const char usage[] =
"Usage: srpol stats show [ all ]\n"
"Without \"all\" only reasons that occurred; JSON always has all of them.\n";

static int stats_show(struct args *args, unsigned int flags)
{
	bool all = is(args, "all") || out_options.json;
	uint64_t count;
	unsigned int i;
	int err, fd;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_data_plane();
	if (err)
		return err;
	fd = srpol_map_open("reasons");
	out_begin();
	for (i = 0; i < SRPOL_REASON_COUNT; i++) {
		srpol_map_sum(fd, i, &count, sizeof(count));
		if (!count && !all)
			continue;
		out_object(NULL);
		out_string("reason", "%-20s", srpol_reason_name(i));
		out_bool("drop", NULL, srpol_reason_is_drop(i));
		out_text("%s", srpol_reason_is_drop(i) ? " drop" : "     ");
		out_count("packets", " %12s", count);
		out_string("text", "  %s", srpol_reason_text(i));
		out_text("\n");
		out_object_end();
	}
	out_end();
	srpol_map_close(fd);
	return EXIT_OK;
}

int do_stats(struct args *args)
{
	static const struct command commands[] = {
		{ "show", stats_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
