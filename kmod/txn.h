/* SPDX-License-Identifier: GPL-2.0 */
/* How every object changes; see DOC: transactions in txn.c. */
#ifndef _SRPOL_TXN_H
#define _SRPOL_TXN_H

#include <linux/list.h>
#include <net/genetlink.h>

struct srpol_net;
struct srpol_obj;

/* Types of objects, in the order in which they are staged. */
enum srpol_obj_type {
	SRPOL_OBJ_CONFIG,
	SRPOL_OBJ_PATH,
	SRPOL_OBJ_POLICY,
	SRPOL_OBJ_RULE,
	SRPOL_OBJ_ENDPOINT,
	SRPOL_OBJ_SID,
	SRPOL_OBJ_TYPES,
};

/* Write the attributes of an object into a message. */
typedef int (*srpol_fill_t)(struct srpol_net *sn, struct sk_buff *skb,
			    const struct srpol_obj *obj);

/* Carry out one request of a transaction. */
typedef int (*srpol_write_t)(struct srpol_net *sn, struct genl_info *info);

/**
 * struct srpol_obj - the part of every object that transactions use
 * @node: in srpol_txn.touched while a transaction touches the object
 * @request: the request to blame if the object is refused, NULL: there is only
 *	one request
 * @cur: its configuration, NULL while the object is new
 * @next: its next configuration: NULL if the object is deleted, @cur itself if
 *	it does not change; after the commit the previous one. Not used outside
 *	of a transaction that touches the object
 * @type: enum srpol_obj_type
 * @defined: a request has defined or deleted the object
 * @staged: the next configuration was staged in the data plane
 *
 * A configuration is not written any more once it is in here.
 */
struct srpol_obj {
	struct list_head node;
	const struct nlattr *request;
	void *cur;
	void *next;
	u8 type;
	bool defined;
	bool staged;
};

/**
 * struct srpol_txn - the present transaction
 * @touched: objects that it touches, by type
 * @request: the request that is carried out, NULL if there is only one
 * @blame: the request to blame for what is being staged
 * @event: it follows an event: what is refused is left out
 * @staged: something was staged, so that there is something to commit
 * @order: an order of rules was staged
 * @reclassify: flows have to be classified again
 * @all_paths: settings change that are part of all compiled paths
 * @gp: grace period that begins with the commit
 */
struct srpol_txn {
	struct list_head touched[SRPOL_OBJ_TYPES];
	const struct nlattr *request;
	const struct nlattr *blame;
	bool event;
	bool staged;
	bool order;
	bool reclassify;
	bool all_paths;
	unsigned long gp;
};

/**
 * struct srpol_obj_ops - what an object type does in a transaction
 * @equal: is the next configuration equal to the present one
 * @want: a configuration becomes (1), or is no longer (-1), what the requests
 *	so far want; may be NULL
 * @free_cfg: free a configuration that is no longer in the object
 * @prepare: called before the first @stage of this type; may be NULL
 * @stage: stage the next configuration in the data plane; called once per
 *	object, after all requests
 * @finish: called after the last @stage; may be NULL
 * @commit: the data plane has switched; calls srpol_obj_swap()
 * @revert: revert what was staged; cannot fail
 * @refused: the data plane refused what an event required; may be NULL
 * @announce: listeners have been notified of the object: notify them of its
 *	state; may be NULL
 * @erase: remove a deleted object from the data plane; may be NULL
 * @release: free an object that has no configuration
 *
 * All are called with srpol_net.lock held.
 */
struct srpol_obj_ops {
	bool (*equal)(const struct srpol_obj *obj);
	void (*want)(struct srpol_net *sn, void *cfg, int delta);
	void (*free_cfg)(struct srpol_net *sn, void *cfg);
	void (*prepare)(struct srpol_net *sn);
	int (*stage)(struct srpol_net *sn, struct srpol_obj *obj,
		     struct netlink_ext_ack *extack);
	int (*finish)(struct srpol_net *sn, struct netlink_ext_ack *extack);
	void (*commit)(struct srpol_net *sn, struct srpol_obj *obj);
	void (*revert)(struct srpol_net *sn, struct srpol_obj *obj);
	void (*refused)(struct srpol_net *sn, struct srpol_obj *obj);
	void (*announce)(struct srpol_net *sn, struct srpol_obj *obj);
	void (*erase)(struct srpol_net *sn, struct srpol_obj *obj);
	void (*release)(struct srpol_net *sn, struct srpol_obj *obj);
};

/**
 * struct srpol_type - a type of objects
 * @ops: what it does in a transaction
 * @fill: attributes of notifications
 * @ntf: notification of a new or changed object
 * @del_ntf: notification of a deleted object
 */
struct srpol_type {
	const struct srpol_obj_ops *ops;
	srpol_fill_t fill;
	u8 ntf;
	u8 del_ntf;
};

extern const struct srpol_type srpol_types[SRPOL_OBJ_TYPES];

void srpol_txn_init(struct srpol_net *sn);
int srpol_txn_doit(struct genl_info *info, srpol_write_t write);
void srpol_txn_begin(struct srpol_net *sn, bool event);
int srpol_txn_end(struct srpol_net *sn, const struct genl_info *info, int err);
void srpol_txn_staged(struct srpol_net *sn, struct srpol_obj *obj);

void srpol_obj_init(struct srpol_obj *obj, enum srpol_obj_type type);
void srpol_obj_touch(struct srpol_net *sn, struct srpol_obj *obj);
void srpol_obj_define(struct srpol_net *sn, struct srpol_obj *obj, void *cfg);
void srpol_obj_delete(struct srpol_net *sn, struct srpol_obj *obj);
void srpol_obj_swap(struct srpol_obj *obj);
void srpol_obj_flush(struct srpol_net *sn, struct srpol_obj *obj);

static inline bool srpol_obj_touched(const struct srpol_obj *obj)
{
	return !list_empty(&obj->node);
}

/* The configuration as the requests so far leave it, NULL: none. */
static inline void *srpol_obj_wanted(const struct srpol_obj *obj)
{
	return srpol_obj_touched(obj) ? obj->next : obj->cur;
}

/* The configuration to show; for a deleted object, the last one. */
static inline const void *srpol_obj_shown(const struct srpol_obj *obj)
{
	return obj->cur ?: obj->next;
}

/* These three are valid for objects that are touched, before the commit. */
static inline bool srpol_obj_created(const struct srpol_obj *obj)
{
	return !obj->cur;
}

static inline bool srpol_obj_deleted(const struct srpol_obj *obj)
{
	return !obj->next;
}

static inline bool srpol_obj_changed(const struct srpol_obj *obj)
{
	return obj->cur != obj->next;
}

#endif /* _SRPOL_TXN_H */
