// SPDX-License-Identifier: LGPL-2.1
/*
 * The topology file: JSON, described in Documentation/topology.rst. It is read
 * whole or not at all; what is wrong is told with line and key.
 */
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "json_line.h"
#include "srpol_lib.h"

#define VERSION		1

/**
 * struct reader - a file that is being read
 * @f: what it gives
 * @text: the file
 * @len: bytes of it
 * @at: where it is: names of members and numbers of elements
 * @depth: entries in @at
 * @err: why not
 */
struct reader {
	struct srpol_fabric *f;
	const char *text;
	size_t len;
	struct srpol_json_step at[8];
	unsigned int depth;
	struct srpol_error *err;
};

static void push_key(struct reader *r, const char *key)
{
	r->at[r->depth++] = (struct srpol_json_step){ .key = key };
}

static void push_index(struct reader *r, size_t index)
{
	r->at[r->depth++] = (struct srpol_json_step){ .index = index };
}

static void pop(struct reader *r)
{
	r->depth--;
}

/* "line 12: links[3].rate: what is wrong" */
__attribute__((format(printf, 3, 4)))
static int bad(struct reader *r, int code, const char *fmt, ...)
{
	char where[160] = "", what[300];
	size_t used = 0;
	unsigned int i;
	va_list args;

	for (i = 0; i < r->depth && used < sizeof(where); i++)
		used += r->at[i].key ?
			snprintf(where + used, sizeof(where) - used, "%s%s",
				 i ? "." : "", r->at[i].key) :
			snprintf(where + used, sizeof(where) - used, "[%zu]",
				 r->at[i].index);
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return srpol_error_set(r->err, code, "line %u: %s%s%s",
			       srpol_json_line(r->text, r->len, r->at,
					       r->depth),
			       where, *where ? ": " : "", what);
}

/* What the builder said, with line and key. */
static int bad_as(struct reader *r, int code, const struct srpol_error *why)
{
	return bad(r, code, "%s", why->text);
}

/* Has the object members that are not in the list? */
static int check_keys(struct reader *r, json_t *object,
		      const char *const *known)
{
	const char *const *k;
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return bad(r, -EINVAL, "an object is wanted");
	json_object_foreach(object, key, value) {
		for (k = known; *k && strcmp(*k, key); k++)
			;
		if (*k)
			continue;
		push_key(r, key);
		return bad(r, -EINVAL, "unknown key");
	}
	return 0;
}

/* A string; NULL with an error set unless it is there or may be absent. */
static int get_string(struct reader *r, json_t *object, const char *key,
		      bool must, const char **text)
{
	json_t *v = json_object_get(object, key);

	*text = json_string_value(v);
	if (*text || (!v && !must))
		return 0;
	if (v)
		push_key(r, key);
	return bad(r, -EINVAL, v ? "a string is wanted" : "no \"%s\"", key);
}

static int get_uint(struct reader *r, json_t *object, const char *key,
		    uint32_t max, uint32_t *n)
{
	json_t *v = json_object_get(object, key);

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    json_integer_value(v) > max) {
		push_key(r, key);
		return bad(r, -EINVAL, "a number of 0 to %u is wanted", max);
	}
	*n = json_integer_value(v);
	return 0;
}

static int get_addr(struct reader *r, json_t *object, const char *key,
		    struct in6_addr *addr)
{
	const char *text;
	int rc;

	rc = get_string(r, object, key, false, &text);
	if (rc || !text)
		return rc;
	if (srpol_addr_parse(text, addr))
		return 0;
	push_key(r, key);
	return bad(r, -EINVAL, "\"%s\" is no address", text);
}

/**
 * srpol_rate_parse() - read a rate
 * @text: bit/s, with a unit of thousands or without: "400G", "25G", "1.6T"
 * @rate: result, 1 to SRPOL_RATE_MAX
 *
 * Return: false if it is no rate.
 */
bool srpol_rate_parse(const char *text, uint64_t *rate)
{
	static const char units[] = "kMGT";
	double n, scale = 1;
	const char *unit;
	char *end;

	n = strtod(text, &end);
	for (unit = units; *end && *unit && *unit != *end; unit++)
		scale *= 1000;
	if (*end && *unit) {
		scale *= 1000;
		end++;
	}
	if (end == text || *end || !(n * scale >= 1) ||
	    n * scale > (double)SRPOL_RATE_MAX)
		return false;
	*rate = n * scale + 0.5;
	return true;
}

/* A rate as text, or a number of bit/s. */
static int get_rate(struct reader *r, json_t *object, uint64_t *rate)
{
	json_t *v = json_object_get(object, "rate");
	const char *text;

	if (!v)
		return bad(r, -EINVAL, "no \"rate\"");
	push_key(r, "rate");
	if (json_is_integer(v)) {
		if (json_integer_value(v) < 1)
			return bad(r, -EINVAL, "more than 0 is wanted");
		*rate = json_integer_value(v);
		pop(r);
		return 0;
	}
	text = json_string_value(v);
	if (!text)
		return bad(r, -EINVAL, "a rate such as \"400G\" is wanted");
	if (!srpol_rate_parse(text, rate))
		return bad(r, -EINVAL, "\"%s\" is no rate of 1 to 2^50 bit/s",
			   text);
	pop(r);
	return 0;
}

static int get_node(struct reader *r, json_t *object, const char *key,
		    uint32_t *node)
{
	const char *name;
	int rc;

	rc = get_string(r, object, key, true, &name);
	if (rc)
		return rc;
	*node = srpol_fabric_node(r->f, name);
	if (*node != SRPOL_NONE)
		return 0;
	push_key(r, key);
	return bad(r, -ENOENT, "no node \"%s\"", name);
}

static int get_locator(struct reader *r, json_t *object,
		       struct srpol_node *node)
{
	const char *text;
	int rc;

	rc = get_string(r, object, "locator", true, &text);
	if (rc)
		return rc;
	if (strchr(text, ':') && strchr(text, '/') &&
	    srpol_prefix_parse(text, &node->locator, &node->locator_len))
		return 0;
	push_key(r, "locator");
	return bad(r, -EINVAL, "\"%s\" is no IPv6 prefix", text);
}

/* A node's uSID: the block, its CSID, zeros. */
static int get_usid(struct reader *r, json_t *object, struct srpol_node *node)
{
	const struct srpol_sid_plan *sids = &r->f->sids;
	struct in6_addr addr = {}, back;
	uint64_t csid;
	json_t *v;
	int rc;

	v = json_object_get(object, "usid");
	if (!v)
		return 0;
	rc = get_addr(r, object, "usid", &addr);
	if (rc)
		return rc;
	push_key(r, "usid");
	if (!sids->block_len)
		return bad(r, -EINVAL, "the file has no \"usid\" block");
	if (!srpol_usid_in_block(&addr, &sids->block, sids->block_len))
		return bad(r, -EINVAL, "not in the file's uSID block");
	memset(&back, 0, sizeof(back));
	for (csid = 0, rc = 0; rc < (int)sids->csid_len / 8; rc++)
		csid = csid << 8 | addr.s6_addr[sids->block_len / 8 + rc];
	if (!csid || srpol_usid_pack(&sids->block, sids->block_len,
				     sids->csid_len, &csid, 1, &back, 1) != 1 ||
	    memcmp(&back, &addr, sizeof(addr)))
		return bad(r, -EINVAL,
			   "one CSID of %u bits behind the block is wanted",
			   sids->csid_len);
	node->csid = csid;
	pop(r);
	return 0;
}

static int read_node(struct reader *r, json_t *object, enum srpol_tier tier)
{
	struct srpol_node node = { .tier = tier, .colors = UINT32_MAX };
	struct srpol_error why;
	const char *name;
	int rc;

	rc = get_string(r, object, "name", true, &name);
	if (!rc)
		rc = get_locator(r, object, &node);
	if (!rc)
		rc = get_usid(r, object, &node);
	if (!rc)
		rc = get_uint(r, object, "pod", UINT32_MAX - 1, &node.pod);
	if (!rc)
		rc = get_uint(r, object, "plane", SRPOL_PLANES_MAX - 1,
			      &node.plane);
	if (!rc)
		rc = get_uint(r, object, "colors", UINT32_MAX, &node.colors);
	if (rc)
		return rc;
	if (strlen(name) >= sizeof(node.name) ||
	    strlen(name) != json_string_length(json_object_get(object,
							       "name"))) {
		push_key(r, "name");
		return bad(r, -EINVAL, "a name of 1 to %d characters is wanted",
			   SRPOL_NAME_LEN - 1);
	}
	memcpy(node.name, name, strlen(name) + 1);
	rc = srpol_fabric_add_node(r->f, &node, &why);
	return rc < 0 ? bad_as(r, rc, &why) : rc;
}

static int read_switch(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "name", "role", "locator", "usid",
					    "pod", "plane", "colors", NULL };
	static const char *const roles[] = { "leaf", "spine", "super-spine" };
	const char *role;
	unsigned int i;
	int rc;

	rc = check_keys(r, object, keys);
	if (!rc)
		rc = get_string(r, object, "role", true, &role);
	if (rc)
		return rc;
	for (i = 0; i < 3 && strcmp(role, roles[i]); i++)
		;
	if (i < 3) {
		rc = read_node(r, object, SRPOL_TIER_LEAF + i);
		return rc < 0 ? rc : 0;
	}
	push_key(r, "role");
	return bad(r, -EINVAL, "leaf, spine or super-spine is wanted");
}

static int read_cables(struct reader *r, json_t *object,
		       struct srpol_link *link)
{
	int rc;

	link->cables = 1;
	rc = get_rate(r, object, &link->rate);
	if (!rc)
		rc = get_uint(r, object, "cables", SRPOL_CABLES_MAX,
			      &link->cables);
	if (!rc)
		rc = get_uint(r, object, "delay-ns", UINT32_MAX, &link->delay);
	return rc;
}

static int read_link(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "from", "to", "rate", "cables",
					    "delay-ns", NULL };
	struct srpol_link link = {};
	struct srpol_error why;
	uint32_t swap;
	int rc;

	rc = check_keys(r, object, keys);
	if (!rc)
		rc = get_node(r, object, "from", &link.from);
	if (!rc)
		rc = get_node(r, object, "to", &link.to);
	if (!rc)
		rc = read_cables(r, object, &link);
	if (rc)
		return rc;
	if (r->f->nodes[link.from].tier > r->f->nodes[link.to].tier) {
		swap = link.from;
		link.from = link.to;
		link.to = swap;
	}
	rc = srpol_fabric_add_link(r->f, &link, &why);
	return rc < 0 ? bad_as(r, rc, &why) : 0;
}

static int read_nic(struct reader *r, json_t *object, uint32_t host)
{
	static const char *const keys[] = { "name", "leaf", "rate", "cables",
					    "delay-ns", "rail", "plane",
					    "address", "gateway", NULL };
	struct srpol_link link = { .from = host };
	struct srpol_nic nic = {};
	struct srpol_error why;
	const char *name;
	int rc;

	rc = check_keys(r, object, keys);
	if (!rc)
		rc = get_string(r, object, "name", true, &name);
	if (!rc)
		rc = get_node(r, object, "leaf", &link.to);
	if (!rc)
		rc = read_cables(r, object, &link);
	if (!rc)
		rc = get_uint(r, object, "rail", SRPOL_RAILS_MAX - 1,
			      &nic.rail);
	if (!rc)
		rc = get_uint(r, object, "plane", SRPOL_PLANES_MAX - 1,
			      &nic.plane);
	if (!rc)
		rc = get_addr(r, object, "address", &nic.addr);
	if (!rc)
		rc = get_addr(r, object, "gateway", &nic.gateway);
	if (rc)
		return rc;
	if (strlen(name) >= sizeof(nic.name)) {
		push_key(r, "name");
		return bad(r, -EINVAL, "a name of 1 to %d characters is wanted",
			   SRPOL_NAME_LEN - 1);
	}
	memcpy(nic.name, name, strlen(name) + 1);
	rc = srpol_fabric_add_nic(r->f, &nic, &link, &why);
	return rc < 0 ? bad_as(r, rc, &why) : 0;
}

static int read_host(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "name", "locator", "usid", "pod",
					    "nics", NULL };
	json_t *nics, *nic;
	int host, rc;
	size_t i;

	host = check_keys(r, object, keys);
	if (!host)
		host = read_node(r, object, SRPOL_TIER_HOST);
	if (host < 0)
		return host;
	nics = json_object_get(object, "nics");
	if (!json_is_array(nics))
		return bad(r, -EINVAL, "no array \"nics\"");
	push_key(r, "nics");
	json_array_foreach(nics, i, nic) {
		push_index(r, i);
		rc = read_nic(r, nic, host);
		if (rc)
			return rc;
		pop(r);
	}
	pop(r);
	return 0;
}

static int read_functions(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "end", "decap", "probe",
					    "reflect", NULL };
	int rc;

	rc = check_keys(r, object, keys);
	if (!rc)
		rc = get_addr(r, object, "end", &r->f->sids.end);
	if (!rc)
		rc = get_addr(r, object, "decap", &r->f->sids.decap);
	if (!rc)
		rc = get_addr(r, object, "probe", &r->f->sids.probe);
	return rc ? rc : get_addr(r, object, "reflect", &r->f->sids.reflect);
}

static int read_block(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "block", "csid-len", NULL };
	struct srpol_sid_plan *sids = &r->f->sids;
	const char *text;
	int rc;

	sids->csid_len = SRPOL_CSID_LEN_DEFAULT;
	rc = check_keys(r, object, keys);
	if (!rc)
		rc = get_string(r, object, "block", true, &text);
	if (!rc)
		rc = get_uint(r, object, "csid-len", 64, &sids->csid_len);
	if (rc)
		return rc;
	if (!strchr(text, ':') || !strchr(text, '/') ||
	    !srpol_prefix_parse(text, &sids->block, &sids->block_len) ||
	    !sids->block_len) {
		push_key(r, "block");
		return bad(r, -EINVAL, "\"%s\" is no IPv6 prefix", text);
	}
	if (sids->block_len % 8 || sids->csid_len % 8 || sids->csid_len < 8 ||
	    sids->block_len + sids->csid_len > 128)
		return bad(r, -EINVAL,
			   "block and CSID of whole bytes, together up to 128 bits, are wanted");
	return 0;
}

/* An array, element by element. */
static int read_array(struct reader *r, json_t *root, const char *key,
		      int (*read)(struct reader *r, json_t *object))
{
	json_t *array = json_object_get(root, key), *element;
	size_t i;
	int rc;

	if (!array)
		return bad(r, -EINVAL, "no \"%s\"", key);
	push_key(r, key);
	if (!json_is_array(array))
		return bad(r, -EINVAL, "an array is wanted");
	json_array_foreach(array, i, element) {
		push_index(r, i);
		rc = read(r, element);
		if (rc)
			return rc;
		pop(r);
	}
	pop(r);
	return 0;
}

static int read_member(struct reader *r, json_t *root, const char *key,
		       int (*read)(struct reader *r, json_t *object))
{
	json_t *object = json_object_get(root, key);
	int rc;

	if (!object)
		return 0;
	push_key(r, key);
	rc = read(r, object);
	if (!rc)
		pop(r);
	return rc;
}

static int read_root(struct reader *r, json_t *root)
{
	static const char *const keys[] = { "srpol-topology", "functions",
					    "usid", "switches", "hosts",
					    "links", NULL };
	struct srpol_error why;
	uint32_t version = 0;
	int rc;

	rc = check_keys(r, root, keys);
	if (!rc)
		rc = get_uint(r, root, "srpol-topology", UINT32_MAX, &version);
	if (!rc && version != VERSION)
		rc = bad(r, -EINVAL, "\"srpol-topology\": %d is wanted",
			 VERSION);
	if (!rc)
		rc = read_member(r, root, "functions", read_functions);
	if (!rc)
		rc = read_member(r, root, "usid", read_block);
	if (!rc)
		rc = read_array(r, root, "switches", read_switch);
	if (!rc)
		rc = read_array(r, root, "hosts", read_host);
	if (!rc)
		rc = read_array(r, root, "links", read_link);
	if (rc)
		return rc;
	rc = srpol_fabric_finish(r->f, &why);
	return rc ? srpol_error_set(r->err, rc, "%s", why.text) : 0;
}

/**
 * srpol_topology_parse() - a fabric from the text of a topology file
 * @text: JSON
 * @len: bytes of it
 * @err: why not, with line and key
 *
 * O(n log n) in nodes and links.
 *
 * Return: finished fabric, or NULL; there are no half ones.
 */
struct srpol_fabric *srpol_topology_parse(const char *text, size_t len,
					  struct srpol_error *err)
{
	struct reader r = { .text = text, .len = len, .err = err };
	json_error_t why;
	json_t *root;
	int rc;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root) {
		srpol_error_set(err, -EINVAL, "line %d: %s", why.line,
				why.text);
		return NULL;
	}
	r.f = srpol_fabric_new();
	rc = r.f ? read_root(&r, root) :
		   srpol_error_set(err, -ENOMEM, "no memory");
	if (rc) {
		srpol_fabric_free(r.f);
		r.f = NULL;
	}
	json_decref(root);
	return r.f;
}
