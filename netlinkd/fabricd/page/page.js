// SPDX-License-Identifier: GPL-2.0
/*
 * What the page tells. Names come from the topology, from hosts and from jobs:
 * all text goes into text nodes, none is ever read as HTML.
 */
import { Plot, node, percent, title } from "./draw.js";

const SILENCE_MS = 12000;	/* the engine has a beat every five seconds */
const AGAIN_MS = 3000;
const at = id => document.getElementById(id);
const shown = new Map();
let state, chosen, behind = 0, heard = 0;

const plot = new Plot(at("plot"), select);

function unit(value, units, step) {
	let i = 0;

	while (value >= step && i < units.length - 1) {
		value /= step;
		i++;
	}
	return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(3)} ${units[i]}`;
}

const bytes = b => unit(b, ["B", "kB", "MB", "GB", "TB", "PB"], 1000);
const rate = r => r ? unit(r, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], 1000) : "down";
const seconds = s => s >= 1 ? `${s.toPrecision(3)} s` : s >= 1e-3 ? `${(s * 1e3).toPrecision(3)} ms` :
	`${(s * 1e6).toPrecision(3)} µs`;
const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

function age(when) {
	const s = Math.max(0, Math.round(Date.now() / 1000 - behind - when));

	return s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ?
		`${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
}

const ago = when => node("span", { "data-at": when, title: new Date(when * 1000).toISOString() }, `${age(when)} ago`);

/* Cells: text, an element, or [class, either of them]. */
function table(name, heads, rows) {
	const cell = (tag, v) => Array.isArray(v) ? node(tag, { class: v[0] }, v[1]) : node(tag, {}, v);
	const t = node("table", {}, node("thead", {}, node("tr", {}, ...heads.map(h => {
		const th = cell("th", h);

		th.scope = "col";
		return th;
	}))), node("tbody", {}, ...rows.map(r => node("tr", {}, ...r.map(v => cell("td", v))))));

	return node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, t);
}

function meter(share) {
	const m = node("span", { class: "meter", "aria-hidden": "true" }, node("i"));

	m.style.setProperty("--share", `${Math.min(100, 100 * share)}%`);
	return node("span", {}, m, percent(share));
}

const fine = share => `${(100 * share).toFixed(1)} %`;
const quiet = text => node("p", { class: "quiet" }, text);
const of = (n, list) => n > list.length ? `The first ${list.length} of ${n}. ` : "";

/* A part is drawn anew only if it changed, so that who reads or scrolls there may go on. */
function part(id, data, draw) {
	const key = JSON.stringify(data);

	if (shown.get(id) === key)
		return;
	shown.set(id, key);
	at(id).replaceChildren(...draw(data));
}

function drawNumbers({ engine, counts, failures, plan, jobs }) {
	const cards = [
		["Epoch", engine.epoch || (engine.leads ? "none" : "–"), engine.leads ? `term ${engine.term}` : "standby"],
		["Leader", engine.leader || "nobody", engine.leads ? "this engine" : `this is ${engine.name}`],
		!engine.leads ? ["Hosts", counts.hosts, "the leader knows which are on the epoch"] :
			["Hosts on it", `${counts.acked} / ${counts.hosts}`, counts.behind ? `${counts.behind} on another epoch` :
				counts.acked < counts.hosts ? "the others have not said" : "all of them"],
		["Links down", failures.down, failures.n > failures.down ?
			`${failures.n - failures.down} slow, of ${counts.links}` : `of ${counts.links}`, failures.down > 0],
		["Plan ends in", plan && plan.bytes ? seconds(plan.seconds) : "–",
			plan ? `${bytes(plan.bytes)} in ${plural(plan.demands, "demand")}` : "no plan here"],
		["Jobs", jobs.n, plan?.unplaced ? `${plan.unplaced} demands without a path` : "all placed", plan?.unplaced > 0],
	];

	return cards.map(([name, value, more, bad]) => node("div", { class: bad ? "bad" : null },
		node("dt", {}, name), node("dd", {}, String(value), node("small", {}, more))));
}

function drawFailures(f) {
	if (!f.n)
		return [quiet("Every link carries what it should.")];
	const list = f.switches.map(s => node("li", {}, node("strong", {}, s.name),
		`: ${s.down === s.links ? "all" : s.down} of its ${s.links} links down`));

	return [...(list.length ? [node("ul", { class: "plain" }, ...list)] : []),
		table("Links that carry less than they should", ["Link", "Carries", "Reported by"], f.links.map(l => [
			`${l.from} – ${l.to}`, [l.capacity ? "" : "bad", l.capacity ? `${rate(l.capacity)} of ${rate(l.rate)}` : "down"],
			node("span", {}, l.by[0].host, l.by.length > 1 ? ` and ${l.by.length - 1} more, ` : ", ", ago(l.by[0].at)),
		])), quiet(of(f.n, f.links))];
}

const causeText = {
	link: c => `Link ${c.from} – ${c.to}: ${rate(c.before)} → ${rate(c.after)}`,
	"job-began": c => `Job ${c.job} began`,
	"job-ended": c => `Job ${c.job} ended`,
	"job-changed": c => `Job ${c.job} announced something else`,
};

const gpu = (host, rail) => `${host} rail ${rail}`;
const flowPaths = list => list.map(f => `${f.path}:${f.flows}`).join(", ") || "none";

function drawChange(c) {
	if (!c)
		return [quiet("This engine has not changed a plan since it leads.")];
	const what = [...(c.n_weights ? [`weights of ${plural(c.n_weights, "pair")} of leaves`] : []),
		...(c.n_flows ? [`paths of flows between ${plural(c.n_flows, "pair")} of GPUs`] : [])];

	return [node("p", {}, node("strong", {}, `Epoch ${c.epoch}`), ", ", ago(c.at),
		`: ${what.join(" and ")} changed, because`),
		node("ul", { class: "plain" }, ...c.causes.map(x => node("li", {}, causeText[x.what]?.(x) ?? x.what))),
		...(c.n_causes > c.causes.length ? [quiet(of(c.n_causes, c.causes))] : []),
		...(c.weights.length ? [table("Weights that changed", ["From", "To", "Color", "Before", "After"],
			c.weights.map(w => [w.from, w.to, String(w.color), w.before.join(":") || "none", w.after.join(":") || "none"])),
			quiet(of(c.n_weights, c.weights))] : []),
		...(c.flows.length ? [table("Flows that changed, by path", ["From", "To", "Color", "Before", "After"],
			c.flows.map(f => [gpu(f.src, f.rail), gpu(f.dst, f.dst_rail), String(f.color),
				flowPaths(f.before), flowPaths(f.after)])), quiet(of(c.n_flows, c.flows))] : [])];
}

const dot = t => node("i", { class: `dot t${t % 8}`, "aria-hidden": "true" });

function bandwidth(b) {
	if (!b)
		return "";
	const less = b.guaranteed < b.wanted ? ` of ${rate(b.wanted)}` : "";
	return `${rate(b.guaranteed)}${less}${b.state === "reserved" ? "" : `, ${b.state}`}`;
}

function drawJobs({ jobs, tenants }) {
	if (!jobs.n)
		return [quiet("No job has announced what it will send.")];
	return [table("Jobs", ["Job", "Tenant", ["n", "Demands"], ["n", "Bytes"], ["n", "Bandwidth"], "Announced"], jobs.list.map(j => [
		j.job.slice(j.job.indexOf("/") + 1), node("span", {}, dot(j.tenant), " ", tenants[j.tenant] ?? ""),
		["n", String(j.demands)], ["n", bytes(j.bytes)], ["n", bandwidth(j.bandwidth)], ago(j.at)])), quiet(of(jobs.n, jobs.list))];
}

function drawHot(plan) {
	if (!plan?.hot.length)
		return [quiet("Nothing is planned.")];
	return [table("Busiest links", ["Link", ["n", "Bytes"], ["n", "Busy for"], "Of the plan's time"], plan.hot.map(l => [
		`${l.from} → ${l.to}`, ["n", bytes(l.bytes)], ["n", seconds(l.seconds)], meter(l.seconds / plan.seconds)]))];
}

function drawLoad({ load, hosts }) {
	if (!load.hosts)
		return [quiet("No host says what it sends.")];
	const off = load.off_plan;

	return [node("p", {}, node("strong", {}, off === null ? "Nothing to compare" : `${percent(off)} of the traffic off the plan`),
		`: ${plural(load.hosts, "host")} of ${hosts} say what they send, ${rate(load.bps) === "down" ? "nothing" : rate(load.bps)} on links between switches`),
		...(load.links.length ? [table("Planned against measured", ["Link", ["n", "Carries now"], ["n", "Of its capacity"],
			["n", "Share planned"], ["n", "Share measured"]], load.links.map(l => [
			`${l.from} → ${l.to}`, ["n", l.bps ? rate(l.bps) : "nothing"], ["n", percent(l.used)],
			["n", fine(l.planned)], ["n", fine(l.measured)]]))] : [])];
}

/* What hosts foresee for pairs that no job announces. */
function drawForecasts(f) {
	if (!f.max)
		return [quiet("Forecasts of hosts are off.")];
	if (!f.hosts)
		return [quiet("No host foresees anything.")];
	const more = [f.covered ? `${f.covered} of pairs that jobs announce` : "",
		f.unnamed ? `${plural(f.unnamed, "more")} without a peer, ${bytes(f.unnamed_bytes)}` : "",
		f.cut ? `no room for ${f.cut}` : "", f.refused ? `${f.refused} refused` : ""].filter(Boolean);

	return [node("p", {}, node("strong", {}, `${bytes(f.bytes)} in the plan`),
		`: ${f.planned} of ${plural(f.demands, "demand")} that ${plural(f.hosts, "host")} ${f.hosts === 1 ? "foresees" : "foresee"}`),
		...(more.length ? [quiet(`${more.join("; ")}.`)] : [])];
}

const jobName = j => j.tenant ? `${j.tenant}/${j.name}` : j.name;

function drawFunctions(f) {
	if (!f.n)
		return [quiet("The topology has no functions.")];
	return [table("Functions", ["Function", "Switch", "Kind", "SID", "Jobs through it"], f.list.map(x => [
		x.name, x.switch, x.kind, x.sid, x.jobs.length ? x.jobs.map(jobName).join(", ") : "none"])),
	quiet(of(f.n, f.list))];
}

function drawReports(r) {
	if (!r.n)
		return [quiet("No host has reported anything.")];
	return [table("Reports", ["Host", ["n", "Report"], ["n", "Links"], "Came"], r.list.map(o => [
		o.host, ["n", String(o.number)], ["n", String(o.links)], ago(o.at)])), quiet(of(r.n, r.list))];
}

function drawEngine({ engine, stats, counts }) {
	const words = {
		Algorithm: engine.algorithm, Store: engine.store, Topology: engine.topology.slice(0, 12),
		Switches: `${counts.leaves} leaves, ${counts.spines} spines, ${counts.supers} super-spines`,
		"GPUs": counts.gpus, Events: stats.events, Refused: stats.refused, "Plans made": stats.plans,
		Published: stats.published, Fenced: stats.fenced, "Became leader": stats.elected,
		"Last plan took": seconds(stats.plan_us / 1e6),
	};

	return [node("dl", { class: "pairs" }, ...Object.entries(words).flatMap(([k, v]) =>
		[node("dt", {}, k), node("dd", {}, String(v))]))];
}

function drawLegend(s) {
	const ramp = node("span", { class: "ramp" }, ...[0, 1, 2, 3, 4, 5].map(l => node("i", { class: `l${l}` })));
	const down = node("span", {}, node("i", { class: "wire" }), "down");

	const live = node("span", {}, node("i", { class: "wide" }), "the wider, the more it carries now");

	return [node("span", {}, "planned load: 0 %", ramp, "100 % of the plan's time"), live, down,
		...s.tenants.slice(0, 8).map((t, i) => node("span", {}, dot(i), t))];
}

function drawDetail(b) {
	const block = state.tiers.find(t => t.tier === b.tier)?.blocks[b.block];
	const all = state.plan?.seconds || 0, share = s => all && s ? meter(s / all) : "–";
	const now = bps => bps ? `, ${rate(bps)}` : "";
	const sorted = [...b.links].sort((x, y) => x.capacity / x.rate - y.capacity / y.rate || (y.out_s ?? 0) - (x.out_s ?? 0));

	return [node("p", {}, node("strong", {}, block ? title(block) : "")),
		table("Links", ["Link", "Can carry", "Out: planned, now", "In: planned, now"], sorted.map(l => [
			`${b.tier && l.from === block?.name ? "" : `${l.from} – `}${l.to}`,
			[l.capacity ? "" : "bad", rate(l.capacity)],
			node("span", {}, share(l.out_s), now(l.out_bps)), node("span", {}, share(l.in_s), now(l.in_bps))])),
		quiet(of(b.n_links, b.links)),
		...(b.nics.length ? [node("h3", {}, "Hosts"), table("Hosts", ["Host", "NIC", "Carries", "Epoch"], b.nics.map(h => [
			h.host, h.nic, [h.capacity ? "" : "bad", rate(h.capacity)],
			[h.epoch && state.engine.leads && h.epoch !== state.engine.epoch ? "bad" : "", h.epoch ? String(h.epoch) : "not said"]])),
		quiet(of(b.n_nics, b.nics))] : [])];
}

async function showDetail() {
	const { tier, block } = chosen;
	let answer, body;

	try {
		answer = await fetch(`/api/block?tier=${tier}&block=${block}`);
		body = answer.ok && await answer.json();
	} catch {
		/* the engine has gone meanwhile, which live() tells */
		return;
	}
	if (answer.status === 503)
		setTimeout(() => chosen && showDetail(), 1000);
	if (body && chosen?.tier === tier && chosen.block === block)
		part("detail-body", [body, state.plan?.seconds, state.engine.epoch], ([b]) => drawDetail(b));
}

function chosenName() {
	const tier = chosen && state.tiers.find(t => t.tier === chosen.tier);

	return tier?.blocks[chosen.block]?.name;
}

function select(tier, block) {
	chosen = chosen?.tier === tier && chosen?.block === block ? undefined : { tier, block };
	plot.update(state, chosenName());
	if (chosen)
		showDetail();
	else
		part("detail-body", null, () => [quiet("Select a switch to see its links and hosts.")]);
}

function draw() {
	const { failures, engine } = state;

	at("shard").textContent = `shard ${engine.shard}`;
	document.title = `${failures.down ? `(${failures.down} down) ` : ""}srpol fabric`;
	at("alert").hidden = Boolean(engine.leader);
	at("alert").textContent = engine.leader ? "" : "Nobody leads: no plan follows what happens.";
	part("numbers", state, drawNumbers);
	part("legend", { tenants: state.tenants }, drawLegend);
	part("failures", failures, drawFailures);
	part("change", state.change, drawChange);
	part("jobs", { jobs: state.jobs, tenants: state.tenants }, drawJobs);
	part("hot", state.plan, drawHot);
	part("load", { load: state.load, hosts: state.counts.hosts }, drawLoad);
	part("forecasts", state.forecasts, drawForecasts);
	part("functions", state.functions, drawFunctions);
	part("reports", state.reports, drawReports);
	part("engine", { engine, stats: state.stats, counts: state.counts }, drawEngine);
	plot.update(state, chosenName());
	if (chosen)
		showDetail();
}

function live() {
	const good = heard && Date.now() - heard < SILENCE_MS;

	const word = good ? "live" : heard ? "no word from the engine" : "not connected";

	at("live").className = good ? "pill good" : "pill bad";
	if (at("live").textContent !== word)
		at("live").textContent = word;
	for (const e of document.querySelectorAll("[data-at]"))
		e.textContent = `${age(Number(e.dataset.at))} ago`;
}

/* A browser comes again by itself, but not to who answered that there is no room. */
function listen() {
	const events = new EventSource("/api/events");

	events.addEventListener("state", e => {
		heard = Date.now();
		state = JSON.parse(e.data);
		draw();
		live();
	});
	events.addEventListener("time", e => {
		heard = Date.now();
		behind = Date.now() / 1000 - Number(e.data);
		live();
	});
	events.addEventListener("error", () => {
		if (events.readyState === EventSource.CLOSED)
			setTimeout(listen, AGAIN_MS);
	});
}

listen();
setInterval(live, 1000);
