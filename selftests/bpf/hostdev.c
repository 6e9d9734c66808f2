// SPDX-License-Identifier: GPL-2.0
/*
 * The devices of a virtual port without the module, for the scripts here:
 *
 *	hostdev add NAME MTU ADDR[,ADDR]... PREFIX[,PREFIX]...
 *	hostdev del NAME
 *	hostdev show NAME	numbers of its addresses and prefixes; "more": there are others
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"

static unsigned int read_list(char *text, struct srpol_host_prefix *list,
			      unsigned int max)
{
	unsigned int n = 0;
	char *word;

	for (word = strtok(text, ","); word && n < max;
	     word = strtok(NULL, ","))
		if (!srpol_prefix_parse(word, &list[n].addr, &list[n].len))
			exit(2);
		else
			n++;
	return n;
}

int main(int argc, char **argv)
{
	struct srpol_host_port h = {};
	struct srpol_error err = {};
	int ret;

	if (argc == 3 && !strcmp(argv[1], "del")) {
		ret = srpol_host_remove(argv[2], &err);
	} else if (argc == 3 && !strcmp(argv[1], "show")) {
		ret = srpol_host_read(if_nametoindex(argv[2]), &h);
		printf("%u %u%s\n", h.n_addrs, h.n_prefixes, h.more ? " more" : "");
	} else if (argc == 6 && !strcmp(argv[1], "add")) {
		snprintf(h.name, sizeof(h.name), "%s", argv[2]);
		snprintf(h.peer, sizeof(h.peer), "%.10s-port", argv[2]);
		h.mtu = atoi(argv[3]);
		h.n_addrs = read_list(argv[4], h.addrs, SRPOL_HOST_ADDRS);
		h.n_prefixes = read_list(argv[5], h.prefixes,
					 SRPOL_HOST_PREFIXES);
		ret = srpol_host_make(&h, &err);
	} else {
		return 2;
	}
	if (ret)
		fprintf(stderr, "hostdev: %s\n", err.text);
	return ret ? 1 : 0;
}
