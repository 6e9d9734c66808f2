// SPDX-License-Identifier: GPL-2.0
/*
 * Answers to a request of libsrpol, as the kernel gives them in cases that cannot
 * be had from it at will: errors in the middle of a dump, objects that change
 * meanwhile, answers of a request before, a callback that refuses; and what an
 * error says of the request.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/types.h>

#include "srpol_lib.h"
#include "test.h"

#define SEQ	1000

static struct {
	_Alignas(struct nlmsghdr) char buf[4096];
	size_t len;
} packets[4];
static unsigned int n_packets, next_packet;
static int failure;

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t len);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf,
				   size_t len);

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t len)
{
	const struct nlmsghdr *nlh = req;

	(void)nl;
	assert_int_equal(nlh->nlmsg_len, len);
	assert_int_equal(nlh->nlmsg_seq, SEQ + 1);
	next_packet = 0;
	return len;
}

ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *nl, void *buf,
				   size_t len)
{
	(void)nl;
	if (next_packet == n_packets && failure) {
		errno = failure;
		return -1;
	}
	/* there is nothing to wait for: the kernel would never answer */
	assert_true(next_packet < n_packets);
	assert_true(packets[next_packet].len <= len);
	memcpy(buf, packets[next_packet].buf, packets[next_packet].len);
	return packets[next_packet++].len;
}

static struct nlmsghdr *put(uint16_t type, uint16_t flags, uint32_t seq,
			    size_t len)
{
	struct nlmsghdr *nlh = (void *)packets[n_packets - 1].buf +
			       packets[n_packets - 1].len;

	memset(nlh, 0, NLMSG_HDRLEN + len);
	nlh->nlmsg_len = NLMSG_HDRLEN + len;
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = seq;
	packets[n_packets - 1].len += NLMSG_ALIGN(nlh->nlmsg_len);
	return nlh;
}

static void packet(void)
{
	packets[n_packets++].len = 0;
}

static void object(uint16_t flags, uint32_t seq)
{
	put(100, NLM_F_MULTI | flags, seq, GENL_HDRLEN);
}

static void done(uint16_t flags, int error)
{
	struct nlmsghdr *nlh = put(NLMSG_DONE, NLM_F_MULTI | flags, SEQ + 1,
				   sizeof(int));

	memcpy(NLMSG_DATA(nlh), &error, sizeof(error));
}

static void error(int code, uint32_t seq)
{
	struct nlmsghdr *nlh = put(NLMSG_ERROR, NLM_F_CAPPED, seq,
				   sizeof(struct nlmsgerr));
	struct nlmsgerr *e = NLMSG_DATA(nlh);

	e->error = code;
}

static int seen, refuse_at;

static int take(const struct nlmsghdr *nlh, void *data)
{
	assert_ptr_equal(data, &seen);
	assert_int_equal(nlh->nlmsg_seq, SEQ + 1);
	return ++seen == refuse_at ? -EXFULL : 0;
}

static int dump(void)
{
	struct srpol_genl g = { .family = 100, .seq = SEQ };
	struct srpol_error err = {};

	seen = 0;
	return srpol_genl_dump(&g, SRPOL_CMD_PATH_GET, take, &seen, &err);
}

static int set_up(void **state)
{
	(void)state;
	n_packets = 0;
	refuse_at = failure = 0;
	packet();
	return 0;
}

static void test_whole(void **state)
{
	(void)state;
	object(0, SEQ + 1);
	object(0, SEQ + 1);
	packet();
	/* what a request before left */
	object(0, SEQ);
	error(-EPERM, SEQ);
	object(0, SEQ + 1);
	packet();
	done(0, 0);
	assert_int_equal(dump(), 0);
	assert_int_equal(seen, 3);
}

static void test_changed(void **state)
{
	(void)state;
	object(0, SEQ + 1);
	packet();
	object(NLM_F_DUMP_INTR, SEQ + 1);
	object(0, SEQ + 1);
	packet();
	done(0, 0);
	assert_int_equal(dump(), -EINTR);
	assert_int_equal(seen, 1);
	/* it was read to its end */
	assert_int_equal(next_packet, n_packets);
}

/* What came after the last object that is told: only the end says so. */
static void test_changed_at_end(void **state)
{
	(void)state;
	object(0, SEQ + 1);
	packet();
	done(NLM_F_DUMP_INTR, 0);
	assert_int_equal(dump(), -EINTR);
	assert_int_equal(seen, 1);
}

static void test_error(void **state)
{
	(void)state;
	object(0, SEQ + 1);
	packet();
	done(0, -ENOMEM);
	assert_int_equal(dump(), -ENOMEM);
	set_up(NULL);
	error(-EPERM, SEQ + 1);
	assert_int_equal(dump(), -EPERM);
	assert_int_equal(seen, 0);
	/* the error counts, also of one that changed meanwhile */
	set_up(NULL);
	done(NLM_F_DUMP_INTR, -ENOMEM);
	assert_int_equal(dump(), -ENOMEM);
}

/* Generic netlink refuses an operation that the module does not have. */
static void test_unknown(void **state)
{
	struct srpol_genl g = { .family = 100, .seq = SEQ };
	struct srpol_error err = {};

	(void)state;
	error(-EOPNOTSUPP, SEQ + 1);
	assert_int_equal(srpol_genl_dump(&g, SRPOL_CMD_MAX + 1, NULL, NULL,
					 &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "is of another version"));
	/* what the module itself says counts */
	g.seq = SEQ;
	set_up(NULL);
	error(-EOPNOTSUPP, SEQ + 1);
	srpol_error_set(&err, 0, "a reason");
	assert_int_equal(srpol_genl_dump(&g, SRPOL_CMD_PATH_GET, NULL, NULL,
					 &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "a reason");
	/* the family is asked for by another one, which is the kernel's */
	g = (struct srpol_genl){ .family = GENL_ID_CTRL, .seq = SEQ };
	err = (struct srpol_error){};
	set_up(NULL);
	error(-EOPNOTSUPP, SEQ + 1);
	assert_int_equal(srpol_genl_dump(&g, CTRL_CMD_GETFAMILY, NULL, NULL,
					 &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "");
}

static void test_refused(void **state)
{
	(void)state;
	object(0, SEQ + 1);
	object(0, SEQ + 1);
	object(0, SEQ + 1);
	packet();
	object(0, SEQ + 1);
	done(0, 0);
	refuse_at = 2;
	assert_int_equal(dump(), -EXFULL);
	assert_int_equal(seen, 2);
	assert_int_equal(next_packet, n_packets);
}

static void test_lost(void **state)
{
	(void)state;
	object(0, SEQ + 1);
	failure = ENOBUFS;
	assert_int_equal(dump(), -ENOBUFS);
	assert_int_equal(seen, 1);
}

/* An error that says which part of a request it is about. */
static void explained(const struct nlmsghdr *request, uint16_t flags,
		      const char *text, uint16_t type, uint32_t value)
{
	size_t echo = flags & NLM_F_CAPPED ? 0 :
		      request->nlmsg_len - NLMSG_HDRLEN;
	struct nlmsghdr *nlh = put(NLMSG_ERROR, NLM_F_ACK_TLVS | flags,
				   SEQ + 1, sizeof(struct nlmsgerr) + echo);
	struct nlmsgerr *e = NLMSG_DATA(nlh);

	e->error = -EINVAL;
	memcpy(&e->msg, request, NLMSG_HDRLEN + echo);
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, text);
	mnl_attr_put_u32(nlh, type, value);
	packets[n_packets - 1].len = NLMSG_ALIGN(nlh->nlmsg_len);
}

static void refusal(struct srpol_msg *msg, uint16_t flags, const char *text,
		    uint16_t type, uint32_t value, const char *want,
		    unsigned int request)
{
	struct srpol_genl g = { .family = 100, .seq = SEQ };
	struct srpol_error err = {};

	set_up(NULL);
	explained(msg->nlh, flags, text, type, value);
	assert_int_equal(srpol_genl_talk(&g, msg->nlh, NULL, NULL, &err),
			 -EINVAL);
	assert_string_equal(err.text, want);
	assert_int_equal(err.request, request);
}

static uint32_t end_of(const struct srpol_msg *msg)
{
	return NLMSG_ALIGN(msg->nlh->nlmsg_len);
}

static void path_request(struct srpol_msg *msg, uint32_t *id_at)
{
	struct srpol_genl g = { .family = 100, .seq = SEQ };

	srpol_msg_start(&g, msg, SRPOL_CMD_PATH_NEW, 0);
	*id_at = end_of(msg);
	assert_true(srpol_msg_put_u32(msg, SRPOL_A_PATH_ID, 5));
}

static void test_explained(void **state)
{
	struct srpol_msg msg;
	uint32_t at;

	(void)state;
	path_request(&msg, &at);
	refusal(&msg, NLM_F_CAPPED, "srpol: it is there", NLMSGERR_ATTR_OFFS, at,
		"it is there (id)", 0);
	/* behind a copy of the request */
	refusal(&msg, 0, "it is there", NLMSGERR_ATTR_OFFS, at,
		"it is there (id)", 0);
	refusal(&msg, NLM_F_CAPPED, "no", NLMSGERR_ATTR_MISS_TYPE,
		SRPOL_A_PATH_ID, "no (missing id)", 0);
	refusal(&msg, NLM_F_CAPPED, "no", NLMSGERR_ATTR_OFFS, at + 4, "no", 0);
}

/* In a transaction: the request, and the attribute by that one's names. */
static void test_transaction(void **state)
{
	struct srpol_genl g = { .family = 100, .seq = SEQ };
	struct srpol_msg all, one;
	uint32_t at[2], nest_at[2], id_at, i;
	struct nlattr *nest;

	(void)state;
	srpol_msg_start(&g, &all, SRPOL_CMD_APPLY, 0);
	g.seq = SEQ;
	for (i = 0; i < 2; i++) {
		path_request(&one, &id_at);
		nest_at[i] = end_of(&all);
		nest = srpol_msg_nest(&all, 1);
		at[i] = end_of(&all) + MNL_ATTR_HDRLEN + id_at;
		assert_true(srpol_msg_put(&all, 1, one.nlh->nlmsg_len, one.nlh));
		srpol_msg_nest_end(&all, nest);
	}
	for (i = 0; i < 2; i++) {
		refusal(&all, NLM_F_CAPPED, "no", NLMSGERR_ATTR_OFFS, at[i],
			"no (id)", i);
		refusal(&all, NLM_F_CAPPED, "no", NLMSGERR_ATTR_OFFS,
			nest_at[i], "no", i);
	}
}

static void test_short_error(void **state)
{
	(void)state;
	put(NLMSG_ERROR, NLM_F_CAPPED, SEQ + 1, sizeof(int));
	assert_int_equal(dump(), -EBADMSG);
}

/* The first of a type counts, the highest type, too. */
static void test_attributes(void **state)
{
	const struct nlattr *tb[SRPOL_A_PATH_ID + 1];
	struct srpol_msg msg;
	uint32_t at;

	(void)state;
	path_request(&msg, &at);
	assert_true(srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, 6));
	srpol_msg_attrs(msg.nlh, tb, SRPOL_A_PATH_ID);
	assert_non_null(tb[SRPOL_A_PATH_ID]);
	assert_int_equal(mnl_attr_get_u32(tb[SRPOL_A_PATH_ID]), 5);
}

/* What is not of the family is passed over. */
static void test_received(void **state)
{
	struct srpol_genl g = { .family = 100 };

	(void)state;
	seen = next_packet = 0;
	put(101, 0, SEQ + 1, GENL_HDRLEN);
	object(0, SEQ + 1);
	assert_int_equal(srpol_genl_receive(&g, take, &seen), 0);
	assert_int_equal(seen, 1);
}

/* What generic netlink says of a family. */
static void told(uint8_t cmd, uint16_t family)
{
	struct nlmsghdr *nlh = put(GENL_ID_CTRL, 0, 0, GENL_HDRLEN);
	struct genlmsghdr *ghdr = mnl_nlmsg_get_payload(nlh);

	packets[n_packets - 1].len -= nlh->nlmsg_len;
	ghdr->cmd = cmd;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SRPOL_FAMILY_NAME);
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, family);
	packets[n_packets - 1].len += nlh->nlmsg_len;
}

/* The end of the module is told once what came before is; that of others is not. */
static void test_unloaded(void **state)
{
	struct srpol_genl g = { .family = 100 };

	(void)state;
	seen = next_packet = 0;
	told(CTRL_CMD_DELFAMILY, 101);
	told(CTRL_CMD_NEWFAMILY, 100);
	put(GENL_ID_CTRL, 0, 0, 0);
	object(0, SEQ + 1);
	told(CTRL_CMD_DELFAMILY, 100);
	assert_int_equal(srpol_genl_receive(&g, take, &seen), -ENODEV);
	assert_int_equal(seen, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, set_up),
		cmocka_unit_test_setup(test_changed, set_up),
		cmocka_unit_test_setup(test_changed_at_end, set_up),
		cmocka_unit_test_setup(test_error, set_up),
		cmocka_unit_test_setup(test_unknown, set_up),
		cmocka_unit_test_setup(test_refused, set_up),
		cmocka_unit_test_setup(test_lost, set_up),
		cmocka_unit_test_setup(test_explained, set_up),
		cmocka_unit_test_setup(test_transaction, set_up),
		cmocka_unit_test_setup(test_short_error, set_up),
		cmocka_unit_test_setup(test_attributes, set_up),
		cmocka_unit_test_setup(test_received, set_up),
		cmocka_unit_test_setup(test_unloaded, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
