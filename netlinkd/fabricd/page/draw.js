// SPDX-License-Identifier: GPL-2.0
/*
 * The topology: a tier is a row of tiles, a tile is a switch or a block of
 * neighbors. Where there are few switches, links are drawn behind them.
 * Tiles stay the same elements for ever, so that focus does.
 */
const SVG = "http://www.w3.org/2000/svg";
const MANY = 40;	/* tiles in a tier that have room for their names */
const GROUPS = 16;	/* pods and planes that get a frame of their own */
const KINDS = { leaf: "Leaves", spine: "Spines", super: "Super-spines" };

export function node(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes))
		if (value !== null && value !== undefined)
			e.setAttribute(name, value);
	e.append(...children);
	return e;
}

export const level = share => share > 0 ? Math.max(1, Math.min(5, Math.ceil(share * 5 - 1e-6))) : 0;
export const percent = share => `${Math.round(100 * share)} %`;
export const title = b => b.n > 1 ? `${b.name} … ${b.last}` : b.name;

export class Plot {
	constructor(root, select) {
		this.root = root;
		this.select = select;
		this.tiles = new Map();
		this.byName = new Map();
		this.lines = [];
		new ResizeObserver(() => this.place()).observe(root);
	}

	/* Of arrow keys: the next tile of the tier, in the row above or below. */
	static move(tiles, from, key) {
		const at = tiles.indexOf(from), box = from.getBoundingClientRect();
		const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
		const row = { ArrowUp: -1, ArrowDown: 1 }[key];

		if (key === "Home")
			return tiles[0];
		if (key === "End")
			return tiles.at(-1);
		if (step)
			return tiles[at + step];
		if (!row)
			return undefined;
		const others = tiles.map(t => [t, t.getBoundingClientRect()])
			.filter(([, r]) => row * (r.top - box.top) > 1);
		others.sort(([, a], [, b]) => row * (a.top - b.top) ||
			Math.abs(a.left - box.left) - Math.abs(b.left - box.left));
		return others[0]?.[0];
	}

	build(state) {
		this.root.replaceChildren();
		this.root.classList.toggle("drawn", state.links.length > 0);
		this.svg = document.createElementNS(SVG, "svg");
		this.svg.setAttribute("aria-hidden", "true");
		this.root.append(this.svg);
		for (const tier of state.tiers)
			this.root.append(this.buildTier(tier));
		this.lines = state.links.map(({ from, to }) => {
			const line = document.createElementNS(SVG, "line");

			this.svg.append(line);
			return { line, from, to };
		});
		this.shape = Plot.shapeOf(state);
	}

	buildTier(tier) {
		const row = node("div", { class: "tiles", role: "group", "aria-label": KINDS[tier.tier] });
		const per = tier.per > 1 ? `, ${tier.per} a tile` : "";
		const tiles = tier.blocks.map((b, i) => this.buildTile(tier, b, i));

		row.append(...Plot.groups(tier.blocks, tiles));
		tiles.forEach((t, i) => { t.tabIndex = i ? -1 : 0; });
		row.addEventListener("keydown", e => {
			const to = Plot.move(tiles, e.target, e.key);

			if (!to)
				return;
			e.preventDefault();
			tiles.forEach(t => { t.tabIndex = t === to ? 0 : -1; });
			to.focus();
		});
		row.addEventListener("focusin", e => tiles.forEach(t => { t.tabIndex = t === e.target ? 0 : -1; }));
		return node("div", { class: tier.blocks.length > MANY ? "tier many" : "tier" },
			node("h3", {}, `${KINDS[tier.tier]} (${tier.n}${per})`), row);
	}

	/* By pod and plane, where that is worth a frame. */
	static groups(blocks, tiles) {
		const groups = new Map();

		blocks.forEach((b, i) => {
			const name = `${b.pod}/${b.plane}`;

			if (!groups.has(name))
				groups.set(name, node("div", { class: "together" }));
			groups.get(name).append(tiles[i]);
		});
		return groups.size > 1 && groups.size <= GROUPS ? groups.values() : tiles;
	}

	buildTile(tier, b, i) {
		const tile = node("button", { class: "tile", type: "button", "aria-pressed": "false" });

		tile.addEventListener("click", () => this.select(tier.tier, i));
		this.tiles.set(`${tier.tier}/${i}`, tile);
		if (tier.per === 1)
			this.byName.set(b.name, tile);
		return tile;
	}

	static shapeOf(state) {
		return JSON.stringify([state.tiers.map(t => [t.tier, t.per, t.blocks.length]), state.links.length]);
	}

	update(state, chosen) {
		const all = state.plan?.seconds || 0;

		if (this.shape !== Plot.shapeOf(state))
			this.build(state);
		for (const tier of state.tiers)
			tier.blocks.forEach((b, i) => this.updateTile(`${tier.tier}/${i}`, b, all, state, chosen));
		state.links.forEach(({ from, to, rate, capacity, busy_s, used }, i) => {
			const share = all ? busy_s / all : 0;
			const what = !capacity ? " down" : capacity < rate ? " reduced" : "";
			const other = chosen && chosen !== from && chosen !== to ? " other" : "";

			this.lines[i].line.setAttribute("class", `w${level(share)} u${level(used)}${what}${other}`);
		});
		this.place();
	}

	updateTile(key, b, all, state, chosen) {
		const tile = this.tiles.get(key), share = all ? b.worst_s / all : 0;
		const bad = b.down ? `${b.down} down` : b.reduced ? `${b.reduced} slow` : "";
		const tenants = state.tenants.filter((_, t) => b.tenants >>> t & 1);
		const now = b.used > 0 ? `carries ${percent(b.used)} now` : "";
		const words = [title(b), `planned load ${percent(share)}`, now, bad,
			b.hosts === undefined ? "" : `${b.hosts} hosts${state.engine.leads ? `, ${b.acked} on the epoch` : ""}`,
			tenants.length ? `tenants ${tenants.join(", ")}` : ""].filter(Boolean).join("; ");
		const same = tile.dataset.words === words;

		tile.className = `tile l${level(share)}${b.down ? " down" : b.reduced ? " reduced" : ""}`;
		tile.setAttribute("aria-pressed", String(key === chosen?.key || b.name === chosen));
		if (same)
			return;
		tile.dataset.words = words;
		tile.setAttribute("aria-label", words);
		tile.title = words;
		tile.replaceChildren(node("b", {}, title(b)), node("small", {}, percent(share)), ...(now ? [node("small", { class: "now" }, percent(b.used))] : []));
		if (tenants.length) {
			const dots = node("span", { class: "dots" });

			state.tenants.forEach((_, t) => {
				if (b.tenants >>> t & 1 && dots.childElementCount < 6)
					dots.append(node("i", { class: `dot t${t % 8}` }));
			});
			tile.append(dots);
		}
		if (bad)
			tile.append(node("span", { class: "flag" }, this.tiles.size > 3 * MANY ? "!" : bad));
	}

	place() {
		const frame = this.root.getBoundingClientRect();

		for (const { line, from, to } of this.lines) {
			const a = this.byName.get(from)?.getBoundingClientRect();
			const b = this.byName.get(to)?.getBoundingClientRect();

			if (!a || !b)
				continue;
			line.setAttribute("x1", a.left + a.width / 2 - frame.left);
			line.setAttribute("y1", a.top - frame.top);
			line.setAttribute("x2", b.left + b.width / 2 - frame.left);
			line.setAttribute("y2", b.bottom - frame.top);
		}
	}
}
