// SPDX-License-Identifier: LGPL-2.1
/*
 * Reads a topology file from disk, and writes a fabric as text that
 * srpol_topology_parse() accepts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function_json.h"
#include "srpol_lib.h"

#define FILE_MAX	(1L << 30)

static const char *const roles[] = { "host", "leaf", "spine", "super-spine" };

/**
 * srpol_topology_read() - read a fabric from a topology file
 * @file: name of the file
 * @err: reason of a failure, with line and key
 *
 * Return: finished fabric, to be freed; NULL after an error.
 */
struct srpol_fabric *srpol_topology_read(const char *file,
					 struct srpol_error *err)
{
	struct srpol_fabric *f = NULL;
	struct srpol_error why;
	char *text = NULL;
	FILE *in;
	long len;

	in = srpol_file_open(file, &why);
	if (!in) {
		srpol_error_set(err, -EINVAL, "%s: %.400s", file, why.text);
		return NULL;
	}
	len = fseek(in, 0, SEEK_END) ? -1 : ftell(in);
	if (len < 0 || len > FILE_MAX) {
		srpol_error_set(err, -EFBIG, "%s: no file of up to 1 GiB",
				file);
		goto out;
	}
	rewind(in);
	text = malloc(len + 1);
	if (!text || fread(text, 1, len, in) != (size_t)len) {
		srpol_error_set(err, -EIO, "%s: cannot read", file);
		goto out;
	}
	f = srpol_topology_parse(text, len, &why);
	if (!f)
		srpol_error_set(err, -EINVAL, "%s: %.400s", file, why.text);
out:
	free(text);
	fclose(in);
	return f;
}

static bool is_set(const struct in6_addr *addr)
{
	static const struct in6_addr none;

	return memcmp(addr, &none, sizeof(none));
}

static void put_addr(json_t *object, const char *key,
		     const struct in6_addr *addr)
{
	char buf[SRPOL_ADDR_STRLEN];

	if (is_set(addr))
		json_object_set_new(object, key,
				    json_string(srpol_addr_text(addr, buf)));
}

static void put_uint(json_t *object, const char *key, uint32_t n,
		     uint32_t usual)
{
	if (n != usual)
		json_object_set_new(object, key, json_integer(n));
}

static void put_cables(json_t *object, const struct srpol_link *link)
{
	json_object_set_new(object, "rate", json_integer(link->rate));
	put_uint(object, "cables", link->cables, 1);
	put_uint(object, "delay-ns", link->delay, 0);
}

static json_t *node_json(const struct srpol_fabric *f, uint32_t i)
{
	const struct srpol_node *node = &f->nodes[i];
	char buf[SRPOL_PREFIX_STRLEN];
	json_t *o = json_object();
	struct in6_addr usid;

	json_object_set_new(o, "name", json_string(node->name));
	srpol_prefix_text(&node->locator, node->locator_len, buf);
	json_object_set_new(o, "locator", json_string(buf));
	if (node->csid && srpol_usid_pack(&f->sids.block, f->sids.block_len,
					  f->sids.csid_len, &node->csid, 1,
					  &usid, 1) == 1)
		put_addr(o, "usid", &usid);
	put_uint(o, "pod", node->pod, 0);
	if (node->tier == SRPOL_TIER_HOST)
		return o;
	json_object_set_new(o, "role", json_string(roles[node->tier]));
	put_uint(o, "plane", node->plane, 0);
	put_uint(o, "colors", node->colors, UINT32_MAX);
	if (node->fn_n)
		json_object_set_new(o, "functions",
				    srpol_functions_json(f, i));
	return o;
}

static json_t *nic_json(const struct srpol_fabric *f,
			const struct srpol_nic *nic)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(nic->name));
	json_object_set_new(o, "leaf", json_string(f->nodes[nic->leaf].name));
	put_cables(o, &f->links[nic->link]);
	put_uint(o, "rail", nic->rail, 0);
	put_uint(o, "plane", nic->plane, 0);
	put_addr(o, "address", &nic->addr);
	put_addr(o, "gateway", &nic->gateway);
	return o;
}

static json_t *link_json(const struct srpol_fabric *f, uint32_t i)
{
	const struct srpol_link *link = &f->links[i];
	json_t *o = json_object();

	json_object_set_new(o, "from", json_string(f->nodes[link->from].name));
	json_object_set_new(o, "to", json_string(f->nodes[link->to].name));
	put_cables(o, link);
	return o;
}

static json_t *sids_json(const struct srpol_fabric *f)
{
	json_t *o = json_object();

	put_addr(o, "end", &f->sids.end);
	put_addr(o, "decap", &f->sids.decap);
	put_addr(o, "probe", &f->sids.probe);
	if (!IN6_IS_ADDR_UNSPECIFIED(&f->sids.reflect))
		put_addr(o, "reflect", &f->sids.reflect);
	return o;
}

static json_t *block_json(const struct srpol_fabric *f)
{
	char buf[SRPOL_PREFIX_STRLEN];
	json_t *o = json_object();

	srpol_prefix_text(&f->sids.block, f->sids.block_len, buf);
	json_object_set_new(o, "block", json_string(buf));
	json_object_set_new(o, "csid-len", json_integer(f->sids.csid_len));
	return o;
}

/**
 * srpol_topology_text() - write a fabric as the text of a topology file
 * @f: finished fabric
 *
 * Parsing the text gives the same fabric: the same nodes, NICs and links, and
 * the same order of nodes within each role.
 *
 * Return: JSON text, to be freed with free(); NULL without memory.
 */
char *srpol_topology_text(const struct srpol_fabric *f)
{
	json_t *root = json_object(), *switches = json_array();
	json_t *hosts = json_array(), *links = json_array(), *o, *nics;
	uint32_t i, nic = 0;
	char *text;

	json_object_set_new(root, "srpol-topology", json_integer(1));
	json_object_set_new(root, "functions", sids_json(f));
	if (f->sids.block_len)
		json_object_set_new(root, "usid", block_json(f));
	for (i = 0; i < f->n_nodes; i++) {
		o = node_json(f, i);
		if (f->nodes[i].tier != SRPOL_TIER_HOST) {
			json_array_append_new(switches, o);
			continue;
		}
		nics = json_array();
		for (; nic < f->n_nics && f->nics[nic].host == i; nic++)
			json_array_append_new(nics, nic_json(f, &f->nics[nic]));
		json_object_set_new(o, "nics", nics);
		json_array_append_new(hosts, o);
	}
	for (i = 0; i < f->n_links; i += 2)
		if (f->nodes[f->links[i].from].tier != SRPOL_TIER_HOST)
			json_array_append_new(links, link_json(f, i));
	json_object_set_new(root, "switches", switches);
	json_object_set_new(root, "hosts", hosts);
	json_object_set_new(root, "links", links);
	text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	return text;
}
