// SPDX-License-Identifier: GPL-2.0
/*
 * srpol export gobgp: policies as BGP SR-policy routes (RFC 9830, SAFI 73) for
 * GoBGP's API. The output is the body of a gRPC request AddPathStream, with a
 * message per candidate path, as the gobgp command does not support this
 * address family. Field numbers are those of gobgp.proto and attribute.proto of
 * version 3.10.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

#define NLRI_BITS	64	/* distinguisher, color, and then the endpoint */
#define TUNNEL_SR	15
#define AFI_IP		1
#define AFI_IP6		2
#define SAFI_SR_POLICY	73
#define ROUTE_TARGET	2
/*
 * A BGP message has at most 4096 bytes. The rest is left for what speakers on
 * the way add.
 */
#define TUNNEL_BYTES	3840

/**
 * struct bytes - a protobuf message under construction
 * @data: bytes so far
 * @n: number of @data
 */
struct bytes {
	uint8_t *data;
	size_t n;
};

static void put(struct bytes *b, const void *data, size_t n)
{
	b->data = realloc(b->data, b->n + n + 1);
	if (!b->data)
		abort();
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

static void put_varint(struct bytes *b, uint64_t v)
{
	uint8_t byte;

	do {
		byte = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		put(b, &byte, 1);
		v >>= 7;
	} while (v);
}

static void put_uint(struct bytes *b, unsigned int field, uint64_t v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes(struct bytes *b, unsigned int field, const void *data,
		      size_t n)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, n);
	put(b, data, n);
}

static void put_string(struct bytes *b, unsigned int field, const char *text)
{
	put_bytes(b, field, text, strlen(text));
}

/* Adds @m as an embedded message, and frees its bytes. */
static void put_message(struct bytes *b, unsigned int field, struct bytes *m)
{
	put_bytes(b, field, m->data ?: (uint8_t *)"", m->n);
	free(m->data);
	*m = (struct bytes){};
}

/* Likewise as a google.protobuf.Any, whose type is @kind. */
static void put_any(struct bytes *b, unsigned int field, const char *kind,
		    struct bytes *m)
{
	struct bytes any = {};
	char url[96];

	snprintf(url, sizeof(url), "type.googleapis.com/apipb.%s", kind);
	put_string(&any, 1, url);
	put_message(&any, 2, m);
	put_message(b, field, &any);
}

static void put_list(struct bytes *tlv, const struct path_info *path,
		     uint32_t weight)
{
	struct bytes list = {}, m = {}, flags = {};
	uint32_t i;

	put_uint(&m, 2, weight);
	put_message(&list, 1, &m);
	for (i = 0; i < path->n_sids; i++) {
		/*
		 * GoBGP reads the flags without checking that they are present
		 */
		put_message(&m, 1, &flags);
		put_bytes(&m, 2, &path->sids[i], sizeof(path->sids[i]));
		put_any(&list, 2, "SegmentTypeB", &m);
	}
	put_any(tlv, 2, "TunnelEncapSubTLVSRSegmentList", &list);
}

/* Path of a segment list that is exported; NULL if its weight is 0. */
static const struct path_info *told(const struct all *all,
				    const struct list_info *list)
{
	return list->weight ? find_path(&all->paths, list->path) : NULL;
}

/* Bytes of the sub-TLVs in BGP; 0: no segment list is left to export. */
static uint32_t tunnel_bytes(const struct all *all,
			     const struct policy_info *policy,
			     const struct candidate_info *cand)
{
	uint32_t name = strlen(cand->name), lists = 0, i;
	const struct path_info *path;

	for (i = 0; i < cand->n_lists; i++) {
		path = told(all, &cand->lists[i]);
		if (path)
			lists += 12 + 20 * path->n_sids;
	}
	return lists ? lists + 8 + (policy->has_bsid ? 20 : 0) +
	       (name ? 4 + name : 0) : 0;
}

/* Adds the tunnel with its sub-TLVs. */
static void put_tunnel(struct bytes *attr, const struct all *all,
		       const struct policy_info *policy,
		       const struct candidate_info *cand)
{
	struct bytes tlv = {}, sub = {}, m = {};
	const struct path_info *path;
	uint32_t i;

	put_uint(&tlv, 1, TUNNEL_SR);
	put_uint(&sub, 2, cand->preference);
	put_any(&tlv, 2, "TunnelEncapSubTLVSRPreference", &sub);
	if (policy->has_bsid) {
		/* in 18 bytes, as GoBGP truncates an SRv6 Binding SID by two */
		put_bytes(&m, 3, &policy->bsid, sizeof(policy->bsid));
		put_any(&sub, 1, "SRBindingSID", &m);
		put_any(&tlv, 2, "TunnelEncapSubTLVSRBindingSID", &sub);
	}
	for (i = 0; i < cand->n_lists; i++) {
		path = told(all, &cand->lists[i]);
		if (path)
			put_list(&tlv, path, cand->lists[i].weight);
	}
	if (cand->name[0]) {
		put_string(&sub, 1, cand->name);
		put_any(&tlv, 2, "TunnelEncapSubTLVSRCandidatePathName", &sub);
	}
	put_message(attr, 1, &tlv);
}

/* Adds the route target with the BGP identifier of the headend. */
static void put_target(struct bytes *path, const char *target)
{
	struct bytes attr = {}, m = {};

	put_uint(&m, 1, true);
	put_uint(&m, 2, ROUTE_TARGET);
	put_string(&m, 3, target);
	put_any(&attr, 1, "IPv4AddressSpecificExtended", &m);
	put_any(path, 2, "ExtendedCommunitiesAttribute", &attr);
}

/* Is the endpoint IPv4? The SIDs are SRv6 in any case. */
static bool is_ipv4(const struct policy_info *policy)
{
	return IN6_IS_ADDR_V4MAPPED(&policy->endpoint);
}

static void put_nlri(struct bytes *path, const struct policy_info *policy,
		     uint32_t distinguisher)
{
	size_t skip = is_ipv4(policy) ? 12 : 0, n = 16 - skip;
	struct bytes m = {};

	put_uint(&m, 1, NLRI_BITS + 8 * n);
	put_uint(&m, 2, distinguisher);
	put_uint(&m, 3, policy->color);
	put_bytes(&m, 4, policy->endpoint.s6_addr + skip, n);
	put_any(path, 1, "SRPolicyNLRI", &m);
}

/* Writes a gRPC message: flag "not compressed", length, contents. */
static void write_frame(struct bytes *m)
{
	uint8_t head[5] = { 0, m->n >> 24, m->n >> 16, m->n >> 8, m->n };

	fwrite(head, sizeof(head), 1, stdout);
	fwrite(m->data, m->n, 1, stdout);
	free(m->data);
}

static int export_candidate(const struct all *all,
			    const struct policy_info *policy, uint32_t i)
{
	uint32_t n = tunnel_bytes(all, policy, &policy->candidates[i]);
	struct bytes request = {}, path = {}, attr = {}, m = {};
	char endpoint[SRPOL_ADDR_STRLEN];

	if (!n)
		return EXIT_OK;
	if (n > TUNNEL_BYTES) {
		/* GoBGP would accept the route, but not advertise it */
		complain("color %u endpoint %s left out: the segment lists of preference %u are %u bytes, and BGP has messages of 4096",
			 policy->color,
			 srpol_addr_text(&policy->endpoint, endpoint),
			 policy->candidates[i].preference, n);
		return EXIT_REFUSED;
	}
	put_tunnel(&attr, all, policy, &policy->candidates[i]);
	put_nlri(&path, policy, i + 1);
	put_any(&path, 2, "OriginAttribute", &m);
	put_string(&m, 1, is_ipv4(policy) ? "0.0.0.0" : "::");
	put_any(&path, 2, "NextHopAttribute", &m);
	put_target(&path, all->target);
	put_any(&path, 2, "TunnelEncapAttribute", &attr);
	put_uint(&m, 1, is_ipv4(policy) ? AFI_IP : AFI_IP6);
	put_uint(&m, 2, SAFI_SR_POLICY);
	put_message(&path, 9, &m);
	put_message(&request, 3, &path);
	write_frame(&request);
	return EXIT_OK;
}

/**
 * read_gobgp_target() - read which headend the routes are for
 * @args: words "target ADDRESS"
 * @target: result: BGP identifier, written as an IPv4 address
 *
 * Return: false after an error message.
 */
bool read_gobgp_target(struct args *args, const char **target)
{
	struct in_addr id;

	if (!keyword(args, "target"))
		return !complain("gobgp: target and a BGP identifier are wanted");
	if (!read_word(args, "target", target))
		return false;
	if (inet_pton(AF_INET, *target, &id) != 1)
		return !complain("target: \"%s\" is no IPv4 address", *target);
	return true;
}

/**
 * export_gobgp() - write all policies as requests to GoBGP
 * @all: the whole configuration, with the target
 *
 * Return: EXIT_OK, or EXIT_REFUSED if a candidate path was too large and left
 * out.
 */
int export_gobgp(const struct all *all)
{
	const struct policy_info *policy;
	int ret = EXIT_OK;
	uint32_t i;

	vec_for_each(policy, &all->policies)
		for (i = 0; i < policy->n_candidates; i++)
			ret = export_candidate(all, policy, i) ?: ret;
	return ret;
}
