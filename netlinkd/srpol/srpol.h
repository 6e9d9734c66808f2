/* SPDX-License-Identifier: GPL-2.0 */
/* The srpol command: declarations shared by its files. */
#ifndef _SRPOL_CMD_H
#define _SRPOL_CMD_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "objects.h"
#include "out.h"
#include "srpol_lib.h"

/* units of time, in nanoseconds */
#define NSEC		1ull
#define USEC		1000ull
#define MSEC		1000000ull
#define SEC		1000000000ull

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_OK = 0,
	EXIT_USAGE = 1,		/* the command line is wrong */
	EXIT_REFUSED = 2,	/* the kernel or the system refused */
};

/**
 * struct args - words of a command line that are still to be read
 * @argc: number of @argv
 * @argv: the words
 * @seen: keywords read so far that may be given only once
 * @n_seen: number of @seen
 * @failed: a keyword was given twice, and an error was printed
 */
struct args {
	int argc;
	char **argv;
	const char *seen[40];
	unsigned int n_seen;
	bool failed;
};

/**
 * struct time_range - range of a time, in the unit of its netlink attribute
 * @min: smallest value
 * @max: largest value
 */
struct time_range {
	uint32_t min;
	uint32_t max;
};

/**
 * struct command - a row of an object's table of commands
 * @name: name of the command, which may be abbreviated
 * @run: reads the rest of the line and runs it; returns an EXIT_*
 * @flags: NLM_F_* of the request
 */
struct command {
	const char *name;
	int (*run)(struct args *args, unsigned int flags);
	unsigned int flags;
};

extern struct srpol_genl genl;
extern bool show_stats;
extern bool show_timestamps;

/* main.c */
int need_module(void);
int run_line(struct args *args);
int run_command(const struct command *table, size_t n, const char *usage,
		struct args *args, const char *fallback);
__attribute__((format(printf, 1, 2)))
int complain(const char *fmt, ...);
int refused(int err, const struct srpol_error *error);
__attribute__((format(printf, 3, 4)))
int out_found(unsigned int n, bool selected, const char *fmt, ...);

/* batch.c */

/**
 * typedef request_taker - takes a request that was read from a file
 * @nlh: the request, valid until the call returns
 *
 * Return: an EXIT_*.
 */
typedef int (*request_taker)(struct nlmsghdr *nlh);

int send_request(struct srpol_msg *msg);
int batch_add(const struct nlmsghdr *nlh, unsigned int line);
int batch_commit(void);
void batch_discard(void);
int batch_flush(void);
bool batch_collects(void);
unsigned int batch_line(void);
int collect_file(const char *name, request_taker take);
int run_batch(const char *name, bool force);

/* clock.c */
uint64_t clock_ns(clockid_t clock);

/* path.c */
bool path_matches(const struct path_info *path, const char *word);
int no_path(const char *word);

/* path_top.c */
int path_top(struct args *args, const char *word);

/* path_trace.c */
int path_trace(struct args *args, unsigned int flags);

/* rule.c: the length of a word, and the word */
#define UNKNOWN_OPCODE \
	"opcode: \"%.*s\" is unknown: an operation such as write-middle, send, ack, other, or 0 to 255"

/* rule_test.c */
int rule_test(struct args *args, unsigned int flags);

/* args.c: the read functions print an error if they return false */
bool more(const struct args *args);
const char *next(struct args *args);
bool is(struct args *args, const char *word);
bool keyword(struct args *args, const char *word);
bool read_word(struct args *args, const char *what, const char **word);
bool parse_u32(const char *text, uint32_t max, uint32_t *value);
bool read_number(struct args *args, const char *what, uint32_t min, uint32_t max,
		 uint32_t *value);
bool read_u32(struct args *args, const char *what, uint32_t max,
	      uint32_t *value);
bool read_time(struct args *args, const char *what, uint64_t unit_ns,
	       struct time_range range, uint32_t *value);
bool read_dscp(struct args *args, const char *what, uint32_t *dscp);
bool read_id(struct args *args, const char *what, uint32_t *id);
bool read_path_id(struct args *args, const char *what, uint32_t *id);
bool read_text(struct args *args, const char *what, size_t max, const char **word);
bool read_label(struct args *args, const char *what, const char **word);
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
int do_rule(struct args *args);
int do_endpoint(struct args *args);
int do_sid(struct args *args);
int do_dev(struct args *args);
int do_config(struct args *args);
int do_flow(struct args *args);
int do_stats(struct args *args);
int do_metrics(struct args *args);
int do_monitor(struct args *args);
int do_export(struct args *args);
int do_replace(struct args *args);
int do_doctor(struct args *args);
int do_engine(struct args *args);
int do_job(struct args *args);
int do_fabric(struct args *args);
int do_topology(struct args *args);
int do_save(struct args *args);
int do_bug_report(struct args *args);

/* policy.c */
bool read_policy_key(struct args *args, uint32_t *color,
		     struct in6_addr *endpoint);
bool put_policy_key(struct srpol_msg *msg, uint32_t color,
		    const struct in6_addr *endpoint);

/* candidate.c */
bool put_candidate(struct srpol_msg *msg, struct args *args);
int policy_candidate(struct args *args, unsigned int flags);

/* cgroup.c */
bool cgroup_id(const char *name, uint64_t *id);
const char *cgroup_path(uint64_t id);
bool cgroup_is_gone(uint64_t id);

/* dev.c */

void dev_defer(int (*take)(const struct wanted_dev *dev));
int attach_dev(const struct wanted_dev *wanted, unsigned int flags);
int put_dev(const struct wanted_dev *dev, const struct dev_info *there);

/* host.c */
void host_start(struct srpol_host_port *h, const char *name);
bool host_option(struct args *args, struct srpol_host_port *h, bool *ok);
bool host_name_ok(const char *what, const char *name);
int host_mtu(uint32_t *mtu);
int host_make(struct srpol_host_port *h, bool file);
int host_fit(unsigned int ifindex);
void host_settle(bool stays);
int host_end(unsigned int ifindex);
void host_sweep(void);
void print_host(unsigned int ifindex);

/* printing shared by show and monitor */
void print_path(const struct path_info *path);
void print_policy(const struct policy_info *policy,
		  const struct vec *paths);
void print_rule(const struct rule_info *rule, const struct vec *policies);
void print_endpoint(const struct endpoint_info *ep);
void print_sid(const struct sid_info *sid);
void print_dev(const struct dev_info *dev);
void print_config(const struct config_info *config);
void print_proto(uint32_t proto);
bool read_proto(struct args *args, uint32_t *proto);
void print_usids(const struct path_info *path);
const char *dev_name(unsigned int ifindex);
const char *set_dev_name(unsigned int ifindex, const char *ifname);

/* watch.c */
int dev_watch(struct args *args, unsigned int flags);

/* fetch.c */
int fetch_paths(struct vec *paths);
int fetch_policies(struct vec *policies);
int fetch_rules(struct vec *rules);
int fetch_endpoints(struct vec *endpoints);
int fetch_sids(struct vec *sids);
int fetch_devs(struct vec *devs);
int fetch_config(struct config_info *config);

/* counters.c */
void counters_forget(void);
int need_maps(void);
int need_data_plane(void);
void print_counter(const char *map, uint32_t id);
void print_errors(uint16_t kind, uint32_t id);
uint64_t find_error(uint16_t kind, uint32_t id, uint16_t reason);

#endif /* _SRPOL_CMD_H */
