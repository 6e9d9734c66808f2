// SPDX-License-Identifier: GPL-2.0
/*
 * srpol topology: makes topology files of regular fabrics, and checks those that
 * there are. It needs neither the module nor a daemon.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "srpol.h"

static const char usage[] =
"Usage: srpol topology generate hosts N [ groups N ] [ spines N ] [ planes N ]\n"
"                               [ rails N ] [ pods N ] [ supers N ] nic-rate RATE\n"
"                               [ nic-cables N ] [ rate RATE ] [ cables N ]\n"
"                               [ nic NAME ]\n"
"       srpol topology check FILE\n"
"generate  print the topology file of a regular fabric, for srpold and\n"
"          srpol-fabricd. Groups of hosts share leaves, one per plane and rail;\n"
"          spines join the leaves of a plane, in each pod. A host has a NIC on\n"
"          each plane for each rail: NAME0, NAME1 and so on\n"
"check     read a topology file as the daemons do, and say what is in it\n"
"Numbers are 1 by default, but spines and supers 0. RATE is of one cable, in\n"
"bit/s, with k, M, G or T or without: 400G; of NICs, and of links between\n"
"switches (default nic-rate).\n";

#define COUNT_MAX	65535
#define NIC_MAX		11	/* with four digits, an interface's name */
#define NIC_CHARS	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
			"abcdefghijklmnopqrstuvwxyz0123456789._-"

/**
 * struct number - a keyword with a number
 * @word: the keyword
 * @max: largest number; the smallest one is 1
 * @at: member of struct srpol_shape
 */
static const struct number {
	const char *word;
	uint32_t max;
	size_t at;
} numbers[] = {
	{ "hosts", COUNT_MAX, offsetof(struct srpol_shape, hosts) },
	{ "groups", COUNT_MAX, offsetof(struct srpol_shape, groups) },
	{ "spines", COUNT_MAX, offsetof(struct srpol_shape, spines) },
	{ "planes", SRPOL_PLANES_MAX, offsetof(struct srpol_shape, planes) },
	{ "rails", SRPOL_RAILS_MAX, offsetof(struct srpol_shape, rails) },
	{ "pods", COUNT_MAX, offsetof(struct srpol_shape, pods) },
	{ "supers", COUNT_MAX, offsetof(struct srpol_shape, supers) },
	{ "nic-cables", SRPOL_CABLES_MAX,
	  offsetof(struct srpol_shape, nic_cables) },
	{ "cables", SRPOL_CABLES_MAX, offsetof(struct srpol_shape, cables) },
};

static bool read_rate(struct args *args, const char *what, uint64_t *rate)
{
	const char *word;

	if (!read_word(args, what, &word))
		return false;
	if (srpol_rate_parse(word, rate))
		return true;
	return !complain("%s: \"%s\" is not a rate of 1 to 2^50 bit/s, such as 400G",
			 what, word);
}

static bool read_nic(struct args *args, const char **name)
{
	if (!read_word(args, "nic", name))
		return false;
	if (**name && strlen(*name) <= NIC_MAX &&
	    !(*name)[strspn(*name, NIC_CHARS)])
		return true;
	return !complain("nic: \"%s\" is not how names of interfaces begin: 1 to %u characters, letters, digits, '.', '_' and '-'",
			 *name, NIC_MAX);
}

static bool read_option(struct args *args, struct srpol_shape *shape,
			const char **nic)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (keyword(args, numbers[i].word))
			return read_number(args, numbers[i].word, 1, numbers[i].max,
					   (uint32_t *)((char *)shape + numbers[i].at));
	if (keyword(args, "nic-rate"))
		return read_rate(args, "nic-rate", &shape->nic_rate);
	if (keyword(args, "rate"))
		return read_rate(args, "rate", &shape->rate);
	if (keyword(args, "nic"))
		return read_nic(args, nic);
	return unknown(args);
}

/* What no default would be right for, and what would be left out in silence. */
static bool is_complete(const struct srpol_shape *s)
{
	if (!s->hosts)
		return !complain("hosts is missing: how many there are in a group, such as hosts 32");
	if (!s->nic_rate)
		return !complain("nic-rate is missing: what a cable of a NIC carries, such as nic-rate 400G");
	if (s->groups > 1 && !s->spines)
		return !complain("groups: nothing joins their leaves; give spines");
	if (s->pods > 1 && !s->supers)
		return !complain("pods: nothing joins them; give supers");
	if (s->rate && !s->spines)
		return !complain("rate: there are no links between switches; give spines");
	if (s->cables > 1 && !s->spines)
		return !complain("cables: there are no links between switches; give spines");
	return true;
}

static void name_nics(struct srpol_fabric *f, const struct srpol_shape *shape,
		      const char *name)
{
	struct srpol_nic *nic;

	for (nic = f->nics; nic < f->nics + f->n_nics; nic++)
		snprintf(nic->name, sizeof(nic->name), "%s%u", name,
			 nic->rail * shape->planes + nic->plane);
}

static int generate(struct args *args, unsigned int flags)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(1, 0, 0, 0);
	struct srpol_error error = {};
	const char *nic = "nic";
	struct srpol_fabric *f;
	char *text;

	while (more(args))
		if (!read_option(args, &shape, &nic))
			return EXIT_USAGE;
	if (!is_complete(&shape))
		return EXIT_USAGE;
	if (!shape.rate)
		shape.rate = shape.nic_rate;
	f = srpol_fabric_generate(&shape, &error);
	if (!f)
		return refused(-EINVAL, &error);
	name_nics(f, &shape, nic);
	text = srpol_topology_text(f);
	srpol_fabric_free(f);
	if (!text)
		return refused(-ENOMEM, NULL);
	puts(text);
	free(text);
	return EXIT_OK;
}

static void print_counts(const struct srpol_fabric *f)
{
	static const struct {
		const char *key;
		const char *fmt;
	} tiers[] = {
		[SRPOL_TIER_HOST] = { "hosts", "hosts %llu" },
		[SRPOL_TIER_LEAF] = { "leaves", " leaves %llu" },
		[SRPOL_TIER_SPINE] = { "spines", " spines %llu" },
		[SRPOL_TIER_SUPER] = { "supers", " supers %llu" },
	};
	uint32_t n[SRPOL_TIERS] = {}, unaddressed = 0, i;
	uint32_t without_gateway = 0;

	for (i = 0; i < f->n_nodes; i++)
		n[f->nodes[i].tier]++;
	for (i = 0; i < f->n_nics; i++) {
		unaddressed += IN6_IS_ADDR_UNSPECIFIED(&f->nics[i].addr);
		without_gateway += IN6_IS_ADDR_UNSPECIFIED(&f->nics[i].gateway);
	}
	out_begin();
	out_object(NULL);
	for (i = 0; i < SRPOL_TIERS; i++)
		out_uint(tiers[i].key, tiers[i].fmt, n[i]);
	out_uint("nics", " nics %llu", f->n_nics);
	out_uint("links", " links %llu\n", f->n_links / 2 - f->n_nics);
	out_uint("nics_without_address", unaddressed ?
		 "%llu NICs have no \"address\", which srpold needs\n" : NULL,
		 unaddressed);
	out_uint("nics_without_gateway", without_gateway ?
		 "%llu NICs have no \"gateway\", which srpold needs at its own host\n" : NULL,
		 without_gateway);
	out_object_end();
	out_end();
}

static int check(struct args *args, unsigned int flags)
{
	struct srpol_error error = {};
	struct srpol_fabric *f;
	const char *file;

	if (!read_word(args, "check", &file))
		return EXIT_USAGE;
	if (more(args) && !unknown(args))
		return EXIT_USAGE;
	f = srpol_topology_read(file, &error);
	if (!f)
		return refused(-EINVAL, &error);
	print_counts(f);
	srpol_fabric_free(f);
	return EXIT_OK;
}

static const struct command commands[] = {
	{ "generate", generate, 0 },
	{ "check", check, 0 },
};

/**
 * do_topology() - srpol topology
 * @args: words after "topology"
 *
 * Return: an EXIT_*.
 */
int do_topology(struct args *args)
{
	return run_command(commands, ARRAY_SIZE(commands), usage, args, NULL);
}
