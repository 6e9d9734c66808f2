// SPDX-License-Identifier: GPL-2.0
/*
 * What applications of this host will send, for the global engine, if that is
 * configured: the demands that are known here, examined as often as forecasts
 * may be sent.
 */
#include <time.h>

#include "srpold.h"

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);

static uint64_t wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * UINT64_C(1000) + ts.tv_nsec / NS_PER_MS;
}

static void look(void *data)
{
	uint64_t now = now_ns(), ms = wall_ms();
	struct srpol_forecasts sum;
	uint32_t i;

	alarm_set(&alarm, engine->config.fabric.demand_ns);
	demands_expire(&demands, now);
	for (i = 0; i < engine->config.n_hosts; i++) {
		demands_sum(&demands, engine->fabric, plan_host(i), now, ms,
			    &sum);
		if (sum.list)
			plan_demands(i, &sum, ms);
		srpol_forecasts_free(&sum);
	}
}

/**
 * forecast_start() - begin to send forecasts, if the global engine is followed
 * @e: the engine
 */
void forecast_start(struct engine *e)
{
	engine = e;
	if (plan_is_followed() && e->config.fabric.demand_ns)
		look(NULL);
}

/**
 * forecast_stop() - stop sending forecasts
 */
void forecast_stop(void)
{
	alarm_stop(&alarm);
}
