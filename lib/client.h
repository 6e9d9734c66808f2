/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * libsrpol: a client of the srpol module's generic netlink family.
 *
 * Functions return 0 or a negative errno unless they say otherwise. Those that
 * can fail for reasons that an operator should read take a struct srpol_error
 * and write one line to it. A connection is for one thread at a time; it is to
 * the module of the network namespace in which it was opened.
 *
 * Attributes are those of <linux/srpol.h>; the specification of the family,
 * srpol.yaml, describes them. Callers allocate the structs, so that their sizes
 * are part of the ABI.
 */
#ifndef _SRPOL_CLIENT_H
#define _SRPOL_CLIENT_H

#include <linux/netlink.h>
#include <linux/srpol.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nlattr;
struct mnl_socket;

/**
 * struct srpol_error - why something failed
 * @text: one line without newline, empty if nothing is known
 * @request: in a transaction, number of the request to blame, counted from 0
 */
struct srpol_error {
	char text[512];
	unsigned int request;
};

__attribute__((format(printf, 3, 4)))
int srpol_error_set(struct srpol_error *err, int code, const char *fmt, ...);

/* genl.c: the generic netlink family */

/**
 * struct srpol_genl - a connection to the family
 * @nl: socket
 * @family: family number
 * @portid: of the socket
 * @seq: last sequence number used
 * @config_group: multicast group of configuration changes
 * @events_group: multicast group of state changes
 */
struct srpol_genl {
	struct mnl_socket *nl;
	uint16_t family;
	uint32_t portid;
	uint32_t seq;
	uint32_t config_group;
	uint32_t events_group;
};

/**
 * struct srpol_msg - a request under construction
 */
struct srpol_msg {
	struct nlmsghdr *nlh;
	char buf[32768];
};

/**
 * typedef srpol_msg_cb - handle a message from the kernel
 * @nlh: the message
 * @data: the caller's
 *
 * Return: 0 to continue, or a negative errno.
 */
typedef int (*srpol_msg_cb)(const struct nlmsghdr *nlh, void *data);

int srpol_genl_open(struct srpol_genl *g, struct srpol_error *err);
void srpol_genl_close(struct srpol_genl *g);
void srpol_msg_start(struct srpol_genl *g, struct srpol_msg *msg,
		     uint8_t cmd, uint16_t flags);
bool srpol_msg_put(struct srpol_msg *msg, uint16_t type, size_t len,
		   const void *data);
bool srpol_msg_put_u8(struct srpol_msg *msg, uint16_t type, uint8_t v);
bool srpol_msg_put_u16(struct srpol_msg *msg, uint16_t type, uint16_t v);
bool srpol_msg_put_u32(struct srpol_msg *msg, uint16_t type, uint32_t v);
bool srpol_msg_put_u64(struct srpol_msg *msg, uint16_t type, uint64_t v);
struct nlattr *srpol_msg_nest(struct srpol_msg *msg, uint16_t type);
void srpol_msg_nest_end(struct srpol_msg *msg, struct nlattr *nest);
int srpol_genl_talk(struct srpol_genl *g, const struct nlmsghdr *msg,
		    srpol_msg_cb cb, void *data, struct srpol_error *err);
int srpol_genl_dump(struct srpol_genl *g, uint8_t cmd, srpol_msg_cb cb,
		    void *data, struct srpol_error *err);
int srpol_genl_listen(struct srpol_genl *g, struct srpol_error *err);
int srpol_genl_fd(const struct srpol_genl *g);
int srpol_genl_receive(struct srpol_genl *g, srpol_msg_cb cb, void *data);
uint8_t srpol_msg_cmd(const struct nlmsghdr *nlh);
void srpol_msg_attrs(const struct nlmsghdr *nlh, const struct nlattr **tb,
		     unsigned int max);
void srpol_nest_attrs(const struct nlattr *nest, const struct nlattr **tb,
		      unsigned int max);

/* batch.c: transactions */

/**
 * struct srpol_batch - requests that are carried out in one transaction
 * @buf: message under construction
 * @len: bytes of it
 * @size: size of @buf
 * @n: number of requests
 */
struct srpol_batch {
	char *buf;
	size_t len;
	size_t size;
	unsigned int n;
};

int srpol_batch_add(struct srpol_batch *batch, const struct nlmsghdr *nlh);
int srpol_batch_send(struct srpol_genl *g, struct srpol_batch *batch,
		     struct srpol_error *err);
void srpol_batch_free(struct srpol_batch *batch);

/* usid.c: containers of compressed SIDs */

#define SRPOL_CSIDS_MAX		16	/* in one container */
#define SRPOL_BLOCK_LEN_DEFAULT	32	/* F3216 */
#define SRPOL_CSID_LEN_DEFAULT	16

unsigned int srpol_usid_capacity(uint32_t block_len, uint32_t csid_len);
bool srpol_usid_in_block(const struct in6_addr *sid,
			 const struct in6_addr *block, uint32_t block_len);
int srpol_usid_pack(const struct in6_addr *block, uint32_t block_len,
		    uint32_t csid_len, const uint64_t *csids, unsigned int n,
		    struct in6_addr *sids, unsigned int max);
unsigned int srpol_usid_unpack(const struct in6_addr *sid, uint32_t block_len,
			       uint32_t csid_len, uint64_t *csids);

/* addr.c: addresses and prefixes; IPv4 as v4-mapped */

#define SRPOL_ADDR_STRLEN	INET6_ADDRSTRLEN
#define SRPOL_PREFIX_STRLEN	(INET6_ADDRSTRLEN + 4)

bool srpol_addr_parse(const char *text, struct in6_addr *addr);
bool srpol_addr6_parse(const char *text, struct in6_addr *addr);
const char *srpol_addr_text(const void *addr, char *buf);
bool srpol_prefix_parse(const char *text, struct in6_addr *prefix,
			uint32_t *len);
bool srpol_addr_in_prefix(const void *addr, const struct in6_addr *prefix,
			  uint32_t len);
const char *srpol_prefix_text(const void *prefix, uint32_t len, char *buf);

#ifdef __cplusplus
}
#endif

#endif /* _SRPOL_CLIENT_H */
