/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locates failed links: a lost probe makes the links that it was to take
 * suspect, a probe that comes back clears the links that it took. Pure.
 */
#ifndef _SRPOLD_LOCATE_H
#define _SRPOLD_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCATE_LINKS	16	/* that a probe takes */

/**
 * struct locate_probe - links of a probe, and whether it was lost
 * @n: number of links
 * @link: cables, by number
 * @lost: the probe did not come back
 */
struct locate_probe {
	uint32_t n;
	uint32_t link[LOCATE_LINKS];
	bool lost;
};

/**
 * struct locate_suspect - a cable that would explain lost probes
 * @link: its number
 * @explains: number of lost probes that take it
 * @confidence: percent: lower the more of these probes another cable explains, 50
 *	if another one explains all of them
 * @n_rivals: number of @rival
 * @rival: other cables that explain all of these probes as well
 */
struct locate_suspect {
	uint32_t link;
	uint32_t explains;
	uint32_t confidence;
	uint32_t n_rivals;
	uint32_t rival[LOCATE_LINKS - 1];
};

size_t locate(const struct locate_probe *probes, size_t n, uint32_t n_links,
	      struct locate_suspect *suspects, size_t max);

#endif /* _SRPOLD_LOCATE_H */
