/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which link is it? Probes that are lost name the links they were to take,
 * probes that come back clear theirs. Pure.
 */
#ifndef _SRPOLD_LOCATE_H
#define _SRPOLD_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCATE_LINKS	16	/* that a probe takes */

/**
 * struct locate_probe - a probe's way and what became of it
 * @n: number of links
 * @link: cables, by number
 * @lost: it does not come back
 */
struct locate_probe {
	uint32_t n;
	uint32_t link[LOCATE_LINKS];
	bool lost;
};

/**
 * struct locate_suspect - a cable that would explain lost probes
 * @link: its number
 * @explains: lost probes that take it
 * @confidence: percent: how much less the next best would explain
 */
struct locate_suspect {
	uint32_t link;
	uint32_t explains;
	uint32_t confidence;
};

size_t locate(const struct locate_probe *probes, size_t n, uint32_t n_links,
	      struct locate_suspect *suspects, size_t max);

#endif /* _SRPOLD_LOCATE_H */
