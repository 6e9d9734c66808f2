// SPDX-License-Identifier: LGPL-2.1
/*
 * Functions of a switch as JSON, in topology files and in output of the
 * engines.
 */
#include <errno.h>
#include <string.h>

#include "function_json.h"
#include "reader.h"
#include "srpol_lib.h"

static int read_kind(struct reader *r, json_t *object,
		     struct srpol_function *fn)
{
	const char *word;
	int rc;

	rc = reader_string(r, object, "kind", true, &word);
	if (rc)
		return rc;
	fn->kind = srpol_function_kind_find(word);
	if (fn->kind != SRPOL_FUNCTION_KINDS)
		return 0;
	reader_push(r, "kind");
	return reader_bad(r, -EINVAL,
			  "aggregate, multicast, compress or opaque is wanted");
}

static int read_ratio(struct reader *r, json_t *object,
		      struct srpol_function *fn)
{
	json_t *v = json_object_get(object, "ratio");

	fn->ratio = 1;
	if (!v)
		return 0;
	fn->ratio = json_number_value(v);
	if (json_is_number(v) && fn->ratio > 0 && fn->ratio <= 1)
		return 0;
	reader_push(r, "ratio");
	return reader_bad(r, -EINVAL, "a number above 0, up to 1 is wanted");
}

static int read_bits(struct reader *r, json_t *object,
		     struct srpol_function *fn)
{
	if (!json_object_get(object, "function"))
		return reader_bad(r, -EINVAL, "no \"function\"");
	return reader_addr(r, object, "function", &fn->bits);
}

static int read_one(struct reader *r, json_t *object, uint32_t node)
{
	static const char *const keys[] = { "name", "kind", "function", "usid",
					    "ratio", "rate", NULL };
	struct srpol_function fn = { .node = node };
	struct srpol_error why;
	const char *name;
	int rc;

	rc = reader_check_keys(r, object, keys);
	if (!rc)
		rc = reader_string(r, object, "name", true, &name);
	if (!rc)
		rc = read_kind(r, object, &fn);
	if (!rc)
		rc = read_bits(r, object, &fn);
	if (!rc)
		rc = reader_csid(r, object, &fn.csid);
	if (!rc)
		rc = read_ratio(r, object, &fn);
	if (!rc && json_object_get(object, "rate"))
		rc = reader_rate(r, object, &fn.rate);
	if (rc)
		return rc;
	if (strlen(name) >= sizeof(fn.name)) {
		reader_push(r, "name");
		return reader_bad(r, -EINVAL,
				  "a name of 1 to %d characters is wanted",
				  SRPOL_NAME_LEN - 1);
	}
	memcpy(fn.name, name, strlen(name) + 1);
	rc = srpol_fabric_add_function(r->f, &fn, &why);
	return rc ? reader_bad_as(r, rc, &why) : 0;
}

/**
 * reader_functions() - read member "functions" of a switch
 * @r: reader
 * @object: object of the switch
 * @node: number of the switch
 *
 * Return: 0, or a negative errno.
 */
int reader_functions(struct reader *r, json_t *object, uint32_t node)
{
	json_t *list = json_object_get(object, "functions"), *one;
	size_t i;
	int rc;

	if (!list)
		return 0;
	reader_push(r, "functions");
	if (!json_is_array(list))
		return reader_bad(r, -EINVAL, "an array is wanted");
	json_array_foreach(list, i, one) {
		reader_push_index(r, i);
		rc = read_one(r, one, node);
		if (rc)
			return rc;
		reader_pop(r);
	}
	reader_pop(r);
	return 0;
}

/* The compressed SID as JSON, null if there is none. */
static json_t *usid_json(const struct srpol_fabric *f,
			 const struct srpol_function *fn)
{
	char buf[SRPOL_ADDR_STRLEN];
	struct in6_addr usid;

	if (!fn->csid || srpol_usid_pack(&f->sids.block, f->sids.block_len,
					 f->sids.csid_len, &fn->csid, 1, &usid,
					 1) != 1)
		return json_null();
	return json_string(srpol_addr_text(&usid, buf));
}

static json_t *function_json(const struct srpol_fabric *f,
			     const struct srpol_function *fn)
{
	char buf[SRPOL_ADDR_STRLEN];
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(fn->name));
	json_object_set_new(o, "kind", json_string(
		srpol_function_kind_name(fn->kind)));
	json_object_set_new(o, "function", json_string(
		srpol_addr_text(&fn->bits, buf)));
	if (fn->csid)
		json_object_set_new(o, "usid", usid_json(f, fn));
	if (fn->ratio != 1)
		json_object_set_new(o, "ratio", json_real(fn->ratio));
	if (fn->rate)
		json_object_set_new(o, "rate", json_integer(fn->rate));
	return o;
}

/**
 * srpol_functions_json() - write the functions of a switch in the form that
 *	reader_functions() reads
 * @f: finished fabric
 * @node: the switch
 *
 * Return: JSON array, NULL if the switch offers no functions.
 */
json_t *srpol_functions_json(const struct srpol_fabric *f, uint32_t node)
{
	const struct srpol_node *n = &f->nodes[node];
	json_t *list;
	uint32_t i;

	if (!n->fn_n)
		return NULL;
	list = json_array();
	for (i = n->fn_first; i < n->fn_first + n->fn_n; i++)
		json_array_append_new(list, function_json(f,
							  &f->functions[i]));
	return list;
}

/**
 * srpol_function_json() - write a function in the form that the engines output
 * @f: finished fabric
 * @function: number of the function
 *
 * Member "model" has the values that only the model uses; they are not known
 * from the switch.
 *
 * Return: JSON object, NULL without memory.
 */
json_t *srpol_function_json(const struct srpol_fabric *f, uint32_t function)
{
	const struct srpol_function *fn = &f->functions[function];
	struct in6_addr sid = srpol_function_sid(f, function);
	char buf[SRPOL_ADDR_STRLEN];

	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:{s:f, s:o}}",
			 "switch", f->nodes[fn->node].name, "name", fn->name,
			 "kind", srpol_function_kind_name(fn->kind),
			 "sid", srpol_addr_text(&sid, buf),
			 "usid", usid_json(f, fn),
			 "model", "ratio", fn->ratio, "rate", fn->rate ?
			 json_integer(fn->rate) : json_null());
}
