// SPDX-License-Identifier: LGPL-2.1
/*
 * The head: the one small key that says which epoch is in force.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"

/**
 * srpol_head_write() - text of a head
 * @head: head
 *
 * Return: text to be freed, NULL without memory.
 */
char *srpol_head_write(const struct srpol_head *head)
{
	json_t *o, *seen = json_object();
	char *text;
	uint32_t i;

	for (i = 0; i < head->n; i++)
		json_object_set_new(seen, head->seen[i].host,
				    json_integer(head->seen[i].number));
	o = json_pack("{s:I, s:I, s:I, s:s, s:o}",
		      "epoch", (json_int_t)head->epoch,
		      "term", (json_int_t)head->term,
		      "topo_rev", (json_int_t)head->topo_rev,
		      "digest", head->digest, "seen", seen);
	text = o ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(o);
	return text;
}

static int by_host(const void *a, const void *b)
{
	const struct srpol_seen *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static int read_seen(const json_t *seen, struct srpol_head *head)
{
	const char *host;
	json_t *number;

	head->seen = calloc(json_object_size(seen) + 1, sizeof(*head->seen));
	if (!head->seen)
		return -ENOMEM;
	json_object_foreach((json_t *)seen, host, number) {
		if (strlen(host) >= sizeof(head->seen->host) ||
		    !json_is_integer(number) || json_integer_value(number) < 0)
			return -EINVAL;
		strcpy(head->seen[head->n].host, host);
		head->seen[head->n++].number = json_integer_value(number);
	}
	qsort(head->seen, head->n, sizeof(*head->seen), by_host);
	return 0;
}

static int read_all(const json_t *o, struct srpol_head *head)
{
	json_int_t epoch, term, topo_rev;
	const char *digest;
	json_t *seen;

	if (json_unpack((json_t *)o, "{s:I, s:I, s:I, s:s, s:o !}", "epoch",
			&epoch, "term", &term, "topo_rev", &topo_rev, "digest",
			&digest, "seen", &seen) ||
	    epoch <= 0 || term <= 0 || topo_rev < 0 ||
	    strlen(digest) != SRPOL_DIGEST_LEN - 1 || !json_is_object(seen))
		return -EINVAL;
	head->epoch = epoch;
	head->term = term;
	head->topo_rev = topo_rev;
	strcpy(head->digest, digest);
	return read_seen(seen, head);
}

/**
 * srpol_head_read() - a head from its text
 * @text: text
 * @len: bytes of it
 * @head: result, to be freed in any case
 * @err: what is wrong
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_head_read(const char *text, size_t len, struct srpol_head *head,
		    struct srpol_error *err)
{
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	int ret;

	*head = (struct srpol_head){};
	ret = json_is_object(o) ? read_all(o, head) : -EINVAL;
	json_decref(o);
	return ret ? srpol_error_set(err, ret, "this is no head of a plan") : 0;
}

/**
 * srpol_head_free() - end of a head
 * @head: it
 */
void srpol_head_free(struct srpol_head *head)
{
	free(head->seen);
	*head = (struct srpol_head){};
}

/**
 * srpol_head_seen() - the last report of a host that the plan knows
 * @head: head
 * @host: its name
 *
 * Return: number of the report, 0: none.
 */
uint64_t srpol_head_seen(const struct srpol_head *head, const char *host)
{
	struct srpol_seen key = {};
	const struct srpol_seen *found;

	if (strlen(host) >= sizeof(key.host))
		return 0;
	strcpy(key.host, host);
	found = head->n ? bsearch(&key, head->seen, head->n,
				  sizeof(*head->seen), by_host) : NULL;
	return found ? found->number : 0;
}
