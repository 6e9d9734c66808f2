// SPDX-License-Identifier: LGPL-2.1
/* The head: a single small key that tells which epoch is in force. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"

#define VERSION		2	/* version of plans; 1 had no pages */

/**
 * srpol_head_write() - write a head as text
 * @head: head
 *
 * Return: text to be freed, NULL without memory.
 */
char *srpol_head_write(const struct srpol_head *head)
{
	json_t *o = json_pack("{s:i, s:I, s:I, s:I, s:s}",
			      "version", VERSION,
			      "epoch", (json_int_t)head->epoch,
			      "term", (json_int_t)head->term,
			      "topo_rev", (json_int_t)head->topo_rev,
			      "digest", head->digest);
	char *text = o ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	json_decref(o);
	return text;
}

static int read_all(const json_t *o, struct srpol_head *head)
{
	json_int_t version, epoch, term, topo_rev;
	const char *digest;

	if (json_unpack((json_t *)o, "{s:I, s:I, s:I, s:I, s:s !}", "version",
			&version, "epoch", &epoch, "term", &term, "topo_rev",
			&topo_rev, "digest", &digest) ||
	    version != VERSION || epoch <= 0 || term <= 0 || topo_rev < 0 ||
	    strlen(digest) != SRPOL_DIGEST_LEN - 1)
		return -EINVAL;
	head->epoch = epoch;
	head->term = term;
	head->topo_rev = topo_rev;
	strcpy(head->digest, digest);
	return 0;
}

/**
 * srpol_head_read() - read a head from its text
 * @text: text
 * @len: length of @text in bytes
 * @head: result
 * @err: reason of a failure
 *
 * Return: 0 or -EINVAL.
 */
int srpol_head_read(const char *text, size_t len, struct srpol_head *head,
		    struct srpol_error *err)
{
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	int ret;

	*head = (struct srpol_head){};
	ret = json_is_object(o) ? read_all(o, head) : -EINVAL;
	json_decref(o);
	return ret ? srpol_error_set(err, ret,
				     "this is no head of a plan of version %d",
				     VERSION) : 0;
}
