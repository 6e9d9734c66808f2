// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion signals of an interval, from the data plane's maps: marks on
 * probes that came back, notifications (CNP) for packets of flows, by the path
 * the flows are on, and marks on packets that reached a peer which reports
 * them. The data plane itself moves flows of modes adaptive and flowlet at
 * once; this file records the signals in the long-term quality of links.
 */
#include "probing.h"
#include "srpold.h"

/* Increase of a counter, which restarts at 0 with the data plane. */
static uint64_t more(uint64_t now, uint64_t *before)
{
	uint64_t n = now < *before ? now : now - *before;

	*before = now;
	return n;
}

static void read_probes(struct engine_path *path)
{
	const struct srpol_probe *p = probe_map_at(path->probe);
	uint64_t seen = more(p->received, &path->closed_received);
	uint64_t marked = more(p->ce, &path->closed_ce);

	quality_marks(&path->window, QUALITY_CE, seen, marked);
}

/*
 * Increase of the peer's counter. The first value that the peer reports is from
 * before this epoch and counts as 0.
 */
static uint64_t read_path_ce(struct engine_path *path,
			     const struct reflected *r)
{
	const struct srpol_far *far = reflect_map_at(r->ssid);
	uint64_t n;

	if (!far->reached)
		return 0;
	n = more(far->path_ce, &path->closed_path_ce);
	if (path->path_ce_known)
		return n;
	path->path_ce_known = true;
	return 0;
}

/* Paths to several hosts of a leaf share a probe and its window. */
static void read_flows(struct engine *engine, struct engine_path *path,
		       int stats, int quality)
{
	struct quality_window *window;
	struct srpol_quality q;
	struct srpol_counter c;
	uint64_t seen, marked, path_ce;
	const struct reflected *r = reflect_of(path);

	if (!path->id || srpol_map_lookup(quality, &path->id, &q) ||
	    srpol_map_sum(stats, path->id, &c, sizeof(c)))
		return;
	seen = more(c.packets, &path->closed_packets);
	marked = more(q.cnp, &path->closed_cnp);
	path_ce = r ? read_path_ce(path, r) : 0;
	/* counts from before srpold say nothing about this interval */
	if (!path->closed_known) {
		path->closed_known = true;
		return;
	}
	window = &engine_path(engine, path->leader)->window;
	quality_marks(window, QUALITY_CNP, seen, marked);
	if (r)
		quality_marks(window, QUALITY_PATH_CE, seen, path_ce);
}

/**
 * marks_read() - record new signals in the windows of the paths
 * @engine: the engine
 */
void marks_read(struct engine *engine)
{
	int stats = srpol_map_open("path_stats");
	int quality = srpol_map_open("path_quality");
	struct engine_path *path;
	uint32_t i = 0;

	reflect_look();
	vec_for_each(path, &engine->paths) {
		if (path->leader == i++)
			read_probes(path);
		read_flows(engine, path, stats, quality);
	}
	srpol_map_close(stats);
	srpol_map_close(quality);
}
