/* SPDX-License-Identifier: GPL-2.0 */
/* srpol engine, job and fabric: asking engines, and their answers as text. */
#ifndef _SRPOL_ENGINE_H
#define _SRPOL_ENGINE_H

#include <jansson.h>

int engine_talk(const char *who, const char *socket_path, json_t *request,
		void (*print)(const json_t *reply));

void print_engine_show(const json_t *reply);
void print_engine_paths(const json_t *reply);
void print_engine_topology(const json_t *reply);
void print_engine_why(const json_t *reply);
void print_engine_jobs(const json_t *reply);
void print_engine_demands(const json_t *reply);

void print_fabric_show(const json_t *reply);
void print_fabric_plan(const json_t *reply);
void print_fabric_diff(const json_t *reply);
void print_fabric_what_if(const json_t *reply);
void print_fabric_why(const json_t *reply);

#endif /* _SRPOL_ENGINE_H */
