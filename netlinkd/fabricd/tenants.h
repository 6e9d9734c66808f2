/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tenants, and bandwidth reserved for their jobs. The design is described in
 * Documentation/fabric-engine.rst.
 *
 *	access.c	whether an operator or a tenant's user asks, and whether
 *			there is time for it
 *	share.c		a share of the engine's time
 *	tenants.c	tenants as operators defined them
 *	tenant_request.c srpol fabric tenant
 *	rates.c		rates in requests
 *	deadline.c	the bandwidth that a deadline takes
 *	record.c	a reservation as stored
 *	reservations.c	all reservations in the store
 *	admission.c	whether a job's bandwidth can be reserved, or why not
 *	lowered.c	reservations that are lowered for another one
 *	job_request.c	srpol fabric job: from the request to the store
 *	job_read.c	reads that request
 *	room.c		whether there is room for the job in the store
 *	collective.c	a collective in it becomes demands
 *	jobs.c		srpol fabric jobs
 *	settle.c	steps of the leader for reservations: second steps,
 *			ends, links that changed
 *	elastic.c	likewise, of those that wait for others to be lowered,
 *			and of those that were lowered
 *	via.c		functions of switches that jobs pass
 *	workload.c	what jobs send, and in which color
 *	limits.c	what hosts may send in a tenant's color
 *	backups.c	colors that carry what a tenant's own paths cannot
 *	whole.c		the plan, from demands and reservations
 *	slices.c	the part of it for tenants with their own paths
 *	flows.c		paths of single flows, for jobs that tell their number
 *	advise.c	srpol fabric advise
 *	what_if.c	srpol fabric plan what-if
 *	effect.c	what a job that is asked about would do to others
 */
#ifndef _SRPOL_FABRICD_TENANTS_H
#define _SRPOL_FABRICD_TENANTS_H

#include "fabricd.h"
#include "share.h"

#define TENANT_DEFAULT	"default"	/* of an operator's job without one */

#define PRIORITY_DEFAULT	3
#define PRIORITY_MAX		7
#define PRIORITY_UNSET		UINT32_MAX	/* in a request */

/* access.c */

#define USERS_MAX	1024

/**
 * struct user - a user of a tenant
 * @uid: user id
 * @tenant: name of the tenant
 * @colleagues: users of the tenant, this one included; only that of the first counts
 * @share: of the engine's time, that users of the tenant have in common; likewise
 * @part: of that time, which is this user's whatever others ask
 */
struct user {
	uint32_t uid;
	char tenant[SRPOL_NAME_LEN];
	uint32_t colleagues;
	struct share share;
	struct share part;
};

int access_read(const json_t *users, struct fabricd_config *config,
		struct srpol_error *err);
bool access_is_operator(uint32_t uid);
bool access_may_ask(const char *request, uint32_t uid);
bool access_has_time(uint32_t uid);
int access_refuse(uint32_t uid, struct srpol_error *err);
int access_begin(uint32_t uid, struct srpol_error *err);
void access_end(uint32_t uid);
const char *access_tenant(void);
int access_check(struct srpol_error *err);
int access_may(const char *tenant, struct srpol_error *err);

/* tenants.c */

/**
 * struct tenant - a tenant as operators defined it
 * @name: its name
 * @color: color of its flows
 * @paths: JSON list of names of switches that its paths may use, NULL: all
 * @guaranteed: bit/s that its jobs may reserve in total
 * @max: bit/s that one of its jobs may ask for, 0: no limit
 * @priority: greatest priority that its jobs may have
 * @backup: color that carries its packets while none of its paths is up, 0: none
 * @mod: revision of its key
 * @allowed: by directed link: whether it may be used; NULL: all may
 * @stale: not yet seen in the read that is under way
 */
struct tenant {
	char name[SRPOL_NAME_LEN];
	uint32_t color;
	json_t *paths;
	uint64_t guaranteed;
	uint64_t max;
	uint32_t priority;
	uint32_t backup;
	uint64_t mod;
	bool *allowed;
	bool stale;
};

void tenants_start(void);
void tenants_stop(void);
bool tenants_ready(void);
uint64_t tenants_heard(void);
const struct tenant *tenant_find(const char *name);
uint64_t tenant_revision(const char *name);
bool tenants_have_room(const struct tenant *new);
const struct vec *tenants_all(void);
const struct tenant **tenants_by_color(size_t *n);
const char *key_tenant(char *buf, const char *name);
int tenant_read(const char *name, const char *text, size_t len, bool is_stored,
		struct tenant *tenant, struct srpol_error *err);
void tenant_free(struct tenant *tenant);

/* tenant_request.c */
json_t *tenant_add_request(const json_t *request, struct srpol_error *err);
json_t *tenant_del_request(const json_t *request, struct srpol_error *err);
int tenant_request_check(struct srpol_error *err);
int tenant_request_can_show(struct srpol_error *err);
json_t *tenants_request(const json_t *request, struct srpol_error *err);
void tenant_request_stop(void);

/* rates.c */
int rates_read(json_t *o, const char * const *keys, struct srpol_error *err);

/* record.c */

/**
 * struct reservation - bandwidth reserved for a job
 * @tenant: tenant of the job
 * @job: name of the job
 * @color: color of its flows
 * @guaranteed: bit/s of its busiest GPU, from @least to @wanted
 * @wanted: bit/s that it asked for
 * @least: bit/s that are enough; @wanted: it is not elastic
 * @priority: as asked for, see reservation_priority()
 * @deadline: when its bytes have to have arrived, in ms since 1970, 0: none
 * @begins: in requests only: when it begins to send, likewise, 0: now
 * @guaranteed_before: bit/s that hosts may still use by @before, 0: @guaranteed
 * @waits: hosts have not been told, as others have to give up bandwidth first
 * @max: bit/s that it may use at most, 0: no limit; see limits.c
 * @until: end, in seconds since 1970, 0: none
 * @settled: all hosts have acknowledged @weights
 * @ends: it is over, except for what hosts may still use
 * @lost: why it could not be kept, empty: it could
 * @unwritten: it is lost as of another topology, which its record does not say yet
 * @job_text: value of the job's key: what it sends
 * @demands: the same, parsed
 * @weights: weights for hosts, NULL: none
 * @before: earlier weights that some hosts may still use, NULL: none
 * @create: create revision of its key
 * @mod: revision of its key
 * @planned: @mod when the last published plan was made
 * @epoch: first epoch with this @mod, 0: none yet
 * @stale: not yet seen in the read that is under way
 */
struct reservation {
	char tenant[SRPOL_NAME_LEN];
	char job[SRPOL_NAME_LEN];
	uint32_t color;
	uint64_t guaranteed;
	uint64_t wanted;
	uint64_t least;
	uint32_t priority;
	uint64_t deadline;
	uint64_t begins;
	uint64_t guaranteed_before;
	bool waits;
	uint64_t max;
	uint64_t until;
	bool settled;
	bool ends;
	char lost[128];
	bool unwritten;
	char *job_text;
	struct srpol_demands demands;
	struct srpol_plan *weights;
	struct srpol_plan *before;
	uint64_t create;
	uint64_t mod;
	uint64_t planned;
	uint64_t epoch;
	bool stale;
};

char *record_write(const struct reservation *r);
int record_read(const char *text, size_t len, struct reservation *r,
		struct srpol_error *err);
void record_free(struct reservation *r);
bool record_is_moving(const struct reservation *r);
struct srpol_plan *record_told(const struct reservation *r);
struct reservation record_changed(const struct reservation *r, uint64_t rate,
				  struct srpol_plan *weights);
const char *record_state(const struct reservation *r);

/* reservations.c */
void reservations_start(void);
void reservations_stop(void);
bool reservations_ready(void);
bool reservations_are_read(void);
void reservations_look(void);
struct vec *reservations_all(void);
struct reservation *reservation_find(const char *tenant, const char *job);
bool reservation_is_live(const struct reservation *r);
bool reservation_is_told(const struct reservation *r);
uint32_t reservation_priority(const struct reservation *r);
bool reservations_are_moving(uint32_t color, const char **job);
uint64_t reservations_cap(void);
char *reservations_cap_text(int more);
uint64_t reservations_sum(const char *tenant);
int reservations_ledger(const struct srpol_links *links,
			struct srpol_ledger *ledger);
void ledger_free(struct srpol_ledger *ledger);
void ledger_hide_waiting(struct srpol_ledger *ledger);
struct srpol_links *reservable(const struct srpol_links *links);
const char *key_reservation(char *buf, const char *tenant, const char *job);
const char *key_cap(char *buf);
const char *key_job(char *buf, const char *tenant, const char *job);

/* deadline.c */
int deadline_rate(const struct reservation *r, uint64_t at_ms, uint64_t *rate);
int deadline_apply(struct reservation *r, struct srpol_error *err);

/* lowered.c */

/**
 * struct lowered - a reservation that is lowered for another one
 * @tenant: tenant of its job
 * @job: name of its job
 * @from: bit/s that it has
 * @to: bit/s that it will have
 */
struct lowered {
	char tenant[SRPOL_NAME_LEN];
	char job[SRPOL_NAME_LEN];
	uint64_t from;
	uint64_t to;
};

bool lowered_list(const struct srpol_room *room, struct vec *lowered,
		  char *reason, size_t len);
char *lowered_text(const struct lowered *l);
json_t *lowered_json(const struct vec *lowered, const char *own);

/* admission.c */

#define LOWERED_MAX	(STORE_PUTS_MAX - 3)

/**
 * enum decision - decision about a job
 * @DECISION_ACCEPT: it is accepted with the bandwidth it asks for
 * @DECISION_DEFER: not now, but at a later time
 * @DECISION_LOWER: only with less bandwidth, or without a guarantee
 * @DECISION_REJECT: never with this bandwidth
 * @DECISION_WAIT: hosts still move traffic of another job of the tenant
 */
enum decision {
	DECISION_ACCEPT,
	DECISION_DEFER,
	DECISION_LOWER,
	DECISION_REJECT,
	DECISION_WAIT,
};

/**
 * struct admission - a request for bandwidth, and the decision
 * @tenant: tenant of the job
 * @want: what is to be reserved; has weights once it is accepted
 * @asked: bit/s that were asked for, 0: none, or as much as the deadline takes
 * @enough: bit/s that were said to be enough, 0: nothing was said
 * @priority: as asked for, or PRIORITY_UNSET
 * @is_what_if: nothing is to be done
 * @own: tenant of the user who asks, empty: an operator
 * @lowered: others that are lowered for it, or would be: struct lowered
 * @decision: the decision
 * @reason: reason of the decision
 * @link: link without enough bandwidth, SRPOL_NONE: no link is the reason
 * @left: bit/s left on it
 * @wanted: bit/s wanted on it
 * @most: counter-offer: bit/s that would be accepted now
 * @after_s: counter-offer: seconds after which it would be accepted, 0: unknown
 */
struct admission {
	const struct tenant *tenant;
	struct reservation want;
	uint64_t asked;
	uint64_t enough;
	uint32_t priority;
	bool is_what_if;
	char own[SRPOL_NAME_LEN];
	struct vec lowered;
	enum decision decision;
	char reason[256];
	uint32_t link;
	uint64_t left;
	uint64_t wanted;
	uint64_t most;
	uint64_t after_s;
};

int admission_decide(struct admission *a, struct srpol_error *err);
json_t *admission_json(const struct admission *a);
const char *admission_name(enum decision decision);

/* job_read.c */
bool job_has_control(const char *text);
bool job_is_text(const char *text);
int job_read_name(const json_t *request, const char *key, const char *fallback,
		  char *to, struct srpol_error *err);
int job_read_who(const json_t *request, struct reservation *r,
		 struct srpol_error *err);
int job_read(const json_t *request, struct admission *a,
	     struct srpol_error *err);

/* room.c */
struct room_add;

int room_check(const char *key, size_t len, const char *own, struct srpol_error *err);
struct room_add *room_begin(const char *key, size_t len);
void room_end(struct room_add *a, const struct store_reply *reply);
bool room_awaits(const char *key);
void room_read(uint64_t cluster);

/* collective.c */
int collective_expand(const json_t *collective, json_t *job,
		      struct srpol_error *err);

/* job_request.c */
json_t *job_add_request(const json_t *request, struct srpol_error *err);
json_t *job_del_request(const json_t *request, struct srpol_error *err);
void job_request_kick(void);
void job_request_stop(void);

/* jobs.c */
json_t *jobs_request(const json_t *request, struct srpol_error *err);

/* settle.c */

/**
 * struct step - change of a reservation by the leader
 * @key: key of the reservation
 * @job_key: key of its job if that ends as well, otherwise empty
 * @text: new value, NULL: the key is deleted
 * @what: what becomes of it as links changed
 * @said: what is logged once it is written, empty: nothing
 */
struct step {
	char key[STORE_KEY_LEN];
	char job_key[STORE_KEY_LEN];
	char *text;
	enum srpol_settled what;
	char said[320];
};

struct step *settle_add(struct vec *changes, const struct reservation *r,
			  char *text);
__attribute__((format(printf, 2, 3)))
void settle_say(struct step *c, const char *fmt, ...);
const char *settle_awaited(void);
bool settle_has_room(const struct vec *changes);
bool settle(const struct srpol_links *links);
void settle_planned(void);
void settle_published(void);
void settle_soon(void);
void settle_stop(void);

/* elastic.c */
void elastic_stop(void);
int elastic_steps(const struct srpol_links *links, struct vec *changes);

/* workload.c */

/**
 * struct workload - demands of jobs and forecasts
 * @demands: demands, each with the color of its tenant, or 1 without a tenant
 * @job: for each demand: index of its job in fabricd.jobs, SRPOL_NONE: forecast
 * @room: size of @job
 */
struct workload {
	struct srpol_demands demands;
	uint32_t *job;
	uint32_t room;
};

/**
 * enum workload_part - which demands to read
 * @WORKLOAD_ALL: all, including forecasts
 * @WORKLOAD_JOBS: all of jobs
 * @WORKLOAD_FORECAST: those without a reservation on all paths, and forecasts
 * @WORKLOAD_SLICED: without a reservation, of one tenant that has its own
 *	paths, by its configuration or by the function that its jobs pass
 * @WORKLOAD_FLOWS: without a reservation, of jobs that tell their number of
 *	flows; not included in the previous two
 */
enum workload_part {
	WORKLOAD_ALL,
	WORKLOAD_JOBS,
	WORKLOAD_FORECAST,
	WORKLOAD_SLICED,
	WORKLOAD_FLOWS,
};

void workload_plans(bool is);
int workload_read(enum workload_part part, const struct tenant *of,
		  struct workload *w);
double workload_end(const struct workload *w, uint32_t job,
		    const double *finish);
void workload_free(struct workload *w);
const struct input *workload_jobs_of(const char *tenant, size_t *n);
bool workload_is_reserved(const struct input *job);
void job_names(const struct input *job, char *tenant, char *name);

/* via.c */
uint32_t via_of_tenant(const char *tenant);
int via_check(const char *tenant, uint32_t via, struct srpol_error *err);
json_t *functions_json(uint32_t max);
json_t *functions_request(const json_t *request, struct srpol_error *err);

/* limits.c */
void limits_make(struct srpol_index *index);
bool limits_equal(const struct srpol_index *a, const struct srpol_index *b);

/* backups.c */
void backups_make(struct srpol_index *index);

/* flows.c */
int flows_add(const struct srpol_links *links, struct srpol_plan *plan);
json_t *flows_json(const struct srpol_plan *plan, uint32_t from);
void flows_add_change(void *data, const struct srpol_flows_change *c);
uint32_t flows_on_path(const struct srpol_plan *plan,
		       const struct srpol_flows *key);

/* whole.c */
struct srpol_links *whole_links(const struct srpol_links *links,
				const struct srpol_ledger *ledger);
int whole_plan(const struct srpol_planner *base,
	       const struct srpol_links *links,
	       const struct srpol_ledger *ledger, struct srpol_plan **out);

/* slices.c */
int slice_plan(const struct tenant *tenant, const struct srpol_links *links,
	       const struct workload *w, struct srpol_plan **out);
int slice_try(const struct tenant *tenant, const struct srpol_links *links,
	      const struct workload *w, struct srpol_plan **out);
void slices_sweep(void);
void slices_free(void);

/* what_if.c */
json_t *seconds_json(double s);

/* effect.c */
json_t *effect_json(const struct admission *a);

/* advise.c */
json_t *advise_request(const json_t *request, struct srpol_error *err);

#endif /* _SRPOL_FABRICD_TENANTS_H */
