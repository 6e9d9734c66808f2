/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The srpol command: what its objects share.
 */
#ifndef _SRPOL_CMD_H
#define _SRPOL_CMD_H

#include <stdbool.h>
#include <stdio.h>

#include "objects.h"
#include "out.h"
#include "srpol_lib.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_OK = 0,
	EXIT_USAGE = 1,		/* the command line is wrong */
	EXIT_REFUSED = 2,	/* the kernel or the system refused */
};

/**
 * struct args - words of a command line that are still to be read
 */
struct args {
	int argc;
	char **argv;
};

/**
 * struct command - a row of an object's table of commands
 * @name: word, may be abbreviated
 * @run: reads the rest of the line; returns an EXIT_*
 * @flags: NLM_F_* of the request
 */
struct command {
	const char *name;
	int (*run)(struct args *args, unsigned int flags);
	unsigned int flags;
};

extern struct srpol_genl genl;
extern bool show_stats;

/* main.c */
int need_module(void);
int run_command(const struct command *table, size_t n, const char *usage,
		struct args *args, const char *fallback);
int send_request(struct srpol_msg *msg);
__attribute__((format(printf, 1, 2)))
int complain(const char *fmt, ...);
int refused(int err, const struct srpol_error *error);

/* args.c: each reads a value or complains, and then returns false */
bool more(const struct args *args);
const char *next(struct args *args);
bool is(struct args *args, const char *word);
bool read_word(struct args *args, const char *what, const char **word);
bool read_u32(struct args *args, const char *what, uint32_t max,
	      uint32_t *value);
bool read_range(struct args *args, const char *what, uint32_t max,
		uint32_t *lo, uint32_t *hi);
bool read_name(struct args *args, const char *what,
	       const struct srpol_name *table, uint32_t *value);
bool read_addr(struct args *args, const char *what, struct in6_addr *addr);
bool read_addr6(struct args *args, const char *what, struct in6_addr *addr);
bool read_prefix(struct args *args, const char *what, struct in6_addr *prefix,
		 uint32_t *len);
bool read_dev(struct args *args, unsigned int *ifindex);
bool unknown(struct args *args);

/* objects */
int do_path(struct args *args);
int do_policy(struct args *args);
int do_class(struct args *args);
int do_endpoint(struct args *args);
int do_sid(struct args *args);
int do_dev(struct args *args);
int do_config(struct args *args);
int do_flow(struct args *args);
int do_stats(struct args *args);
int do_monitor(struct args *args);
int do_doctor(struct args *args);

/* printing shared by show and monitor */
void print_path(const struct path_info *path);
void print_policy(const struct policy_info *policy,
		  const struct vec *paths);
void print_class(const struct class_info *rule, const struct vec *policies);
void print_endpoint(const struct endpoint_info *ep);
void print_sid(const struct sid_info *sid);
void print_dev(const struct dev_info *dev);
void print_config(const struct config_info *config);
void print_counter(const char *map, uint32_t id);
const char *dev_name(unsigned int ifindex);

#endif /* _SRPOL_CMD_H */
