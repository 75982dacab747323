// Rooflines: roofs and labels have their places from the report, points are put under them.
const MARGIN = { left: 46, right: 8, top: 20, bottom: 36 };
const REACH = 22;
const LISTED = 50;

const mark = (level, x, y, radius, attributes) => {
  if (level === "L2") return s("rect", { ...attributes, x: x - radius * 0.9, y: y - radius * 0.9, width: radius * 1.8, height: radius * 1.8 });
  if (level === "L1/TEX") return s("path", { ...attributes, d: `M${x} ${y - radius * 1.15}L${x + radius * 1.1} ${y + radius * 0.8}H${x - radius * 1.1}Z` });
  return s("circle", { ...attributes, cx: x, cy: y, r: radius });
};

function readRooflines(data, rows) {
  const text = (place) => (place === null ? null : data.texts[place]);
  return data.rooflines.map((roof) => ({
    gpu: text(roof.gpu),
    key: text(roof.key),
    notes: roof.notes.map(text),
    sizes: roof.sizes,
    texts: data.texts,
    rows: roof.rows.map(([at, ...cells]) => ({ row: rows[at], cells: cells.map(text) })),
    units: roof.units.map(([at, unit, pct, facts]) => ({ row: rows[at], unit: text(unit), pct, facts: text(facts) })),
    points: roof.points.map(([at, level, x, y, radius, main, hollow, precision, intensity, rate, facts]) => ({
      row: rows[at], level: text(level), x, y, radius, main, hollow, precision: text(precision), intensity: text(intensity), rate: text(rate), facts: text(facts),
    })),
  }));
}

// One drawing. `only` puts one kernel in front, with all its levels.
class Roofline {
  constructor(roof, only = null) {
    this.roof = roof;
    this.only = only;
    this.size = null;
    this.place = h("div", { class: "roof" });
    this.tip = h("div", { class: "tip", role: "tooltip", id: `tip-${only ? only.id : roof.gpu.replace(/\W+/g, "-")}`, hidden: true });
    this.canvas = h("div");
    this.place.append(this.canvas, this.tip);
    new ResizeObserver(() => this.fit()).observe(this.place);
  }

  fit() {
    const size = this.place.clientWidth < 480 ? "narrow" : "wide";
    if (size === this.size || !this.place.clientWidth) return;
    this.size = size;
    this.frame = this.roof.sizes[size];
    this.canvas.replaceChildren(this.draw());
  }

  at(point) {
    const { width, height, x, y } = this.frame;
    const across = point.x === null ? width : ((point.x - x[0]) / (x[1] - x[0])) * width;
    return [across, ((y[1] - point.y) / (y[1] - y[0])) * height];
  }

  draw() {
    const { width, height } = this.frame;
    const svg = s("svg", { viewBox: `${-MARGIN.left} ${-MARGIN.top} ${width + MARGIN.left + MARGIN.right} ${height + MARGIN.top + MARGIN.bottom}`, role: "group", "aria-label": this.title() });
    svg.append(this.axes(), this.roofs());
    // The names of the one kernel's levels go over those of the roofs; else points come below all texts.
    svg.append(...(this.only ? [this.labels(), this.points()] : [this.points(), this.labels()]));
    this.halo = s("circle", { class: "halo", r: 0 });
    svg.append(this.halo);
    svg.addEventListener("pointermove", (event) => this.hover(event, svg));
    svg.addEventListener("pointerleave", () => this.leave());
    svg.addEventListener("click", (event) => {
      const near = this.nearest(event, svg);
      if (near && !event.target.closest("a")) location.hash = near.row.id;
    });
    return svg;
  }

  title() {
    const what = this.only ? `Roofline of kernel ${this.only.at + 1}` : "Roofline";
    return `${what} on ${this.roof.gpu}. The table below has the numbers.`;
  }

  axes() {
    const { width, height, ticks } = this.frame;
    const text = (place) => this.roof.texts[place];
    return s("g", {},
      ticks.x.map(([x, label]) => [s("path", { class: "grid", d: `M${x} 0V${height}` }), s("text", { x, y: height + 15, "text-anchor": "middle" }, text(label))]),
      ticks.y.map(([y, label]) => [s("path", { class: "grid", d: `M0 ${y}H${width}` }), s("text", { x: -6, y: y + 4, "text-anchor": "end" }, text(label))]),
      s("path", { class: "axis", d: `M0 0V${height}H${width}`, fill: "none" }),
      s("text", { x: -MARGIN.left + 2, y: -8 }, "FLOP/s"),
      s("text", { x: width / 2, y: height + 31, "text-anchor": "middle" }, "Arithmetic intensity (FLOP/byte)"));
  }

  roofs() {
    const name = (place) => this.roof.texts[place].replace("/TEX", "");
    return s("g", {},
      this.frame.lines.map(([roof, isMemory, x0, y0, x1, y1]) => s("path", { class: `line ${isMemory ? `memory ${name(roof)}` : ""}`, d: `M${x0} ${y0}L${x1} ${y1}` })),
      this.frame.ridges.map(([x, y]) => s("path", { class: "ridge", d: `M${x} ${y - 4.5}L${x + 4.5} ${y}L${x} ${y + 4.5}L${x - 4.5} ${y}Z` })));
  }

  labels() {
    const shown = this.frame.labels.filter(([, , , , kind]) => !(this.only && this.roof.texts[kind] === "rank"));
    return s("g", { "aria-hidden": "true" }, shown.map(([text, x, y, angle, kind]) => s("text", {
      class: `label ${this.roof.texts[kind]}`, "paint-order": "stroke", x, y, transform: angle ? `rotate(${angle} ${x} ${y})` : null,
    }, this.roof.texts[text])));
  }

  points() {
    const group = s("g", {});
    const main = this.roof.points.filter((point) => point.main);
    if (this.only) {
      const own = this.roof.points.filter((point) => point.row === this.only);
      group.append(this.crowd(main.filter((point) => point.row !== this.only)));
      if (own.length > 1) group.append(s("path", { class: `link is-${this.only.verdict}`, d: own.map((point, number) => `${number ? "L" : "M"}${this.at(point).join(" ")}`).join("") }));
      group.append(...own.map((point) => this.mark(point, 7)));
      if (own.length > 1) group.append(...this.levelNames(own));
      return group;
    }
    group.append(this.crowd(main.slice(LISTED)));
    // The largest first in the order of the keyboard, the smallest on top in the drawing.
    for (const point of main.slice(0, LISTED)) group.append(this.linked(point));
    return group;
  }

  // Levels that lie on one another share a name, below the point: roofs are above it.
  levelNames(points) {
    const groups = [];
    for (const point of points) {
      const [x, y] = this.at(point);
      const near = groups.find((group) => Math.abs(group.x - x) < 44);
      if (near) near.names.push(point.level);
      else groups.push({ x, y: y + Math.max(point.radius, 7) + 11, names: [point.level] });
    }
    return groups.map(({ x, y, names }) => s("text", { class: "label rank", "paint-order": "stroke", x, y }, names.join(", ")));
  }

  crowd(points) {
    const dots = points.map((point) => {
      const [x, y] = this.at(point);
      return `M${x - 2.5} ${y}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`;
    });
    return s("path", { class: "dots-all", d: dots.join("") });
  }

  mark(point, least = 0) {
    const [x, y] = this.at(point);
    return mark(point.level, x, y, Math.max(point.radius, least), { class: `point is-${point.row.verdict} ${point.hollow ? "hollow" : ""}` });
  }

  linked(point) {
    const link = s("a", { href: `#${point.row.id}`, "aria-label": `Kernel ${point.row.at + 1}: ${point.row.short}, ${point.intensity}, ${point.rate}` }, this.mark(point));
    link.addEventListener("focus", () => this.show(point));
    link.addEventListener("blur", () => this.leave());
    return link;
  }

  nearest(event, svg) {
    const box = svg.getBoundingClientRect();
    const scale = (this.frame.width + MARGIN.left + MARGIN.right) / box.width;
    const x = (event.clientX - box.left) * scale - MARGIN.left;
    const y = (event.clientY - box.top) * scale - MARGIN.top;
    let best = null;
    let least = REACH * Math.max(1, scale);
    for (const point of this.roof.points) {
      if (!point.main && point.row !== this.only) continue;
      const [px, py] = this.at(point);
      const far = Math.max(0, Math.hypot(px - x, py - y) - point.radius);
      if (far < least) [best, least] = [point, far];
    }
    return best;
  }

  hover(event, svg) {
    const near = this.nearest(event, svg);
    svg.style.setProperty("cursor", near ? "pointer" : "default");
    if (near) this.show(near);
    else this.leave();
  }

  show(point) {
    const [x, y] = this.at(point);
    this.halo.setAttribute("cx", x);
    this.halo.setAttribute("cy", y);
    this.halo.setAttribute("r", Math.max(point.radius, 4) + 3);
    const lines = [`${point.precision}, ${point.rate}, ${point.intensity} (${point.level})`, point.facts];
    this.tip.replaceChildren(h("b", {}, h("bdi", {}, `${point.row.at + 1}. ${point.row.short.slice(0, 120)}`)), ...lines.map((line) => h("div", {}, line)));
    this.tip.hidden = false;
    const scale = this.place.clientWidth / (this.frame.width + MARGIN.left + MARGIN.right);
    const left = (x + MARGIN.left) * scale;
    const right = left > this.place.clientWidth / 2;
    this.tip.style.setProperty("left", right ? "auto" : `${left + 14}px`);
    this.tip.style.setProperty("right", right ? `${this.place.clientWidth - left + 14}px` : "auto");
    this.tip.style.setProperty("top", `${Math.max(0, (y + MARGIN.top) * scale - 10)}px`);
  }

  leave() {
    this.tip.hidden = true;
    this.halo.setAttribute("r", 0);
  }
}

function rooflineTable(roof, rows) {
  const head = ["#", "Kernel", "Share", "Performance", "Intensity (DRAM)", "Reached"];
  const shown = rows.slice(0, LISTED);
  const units = (row) => roof.units.filter((unit) => unit.row === row).map((unit) => `${unit.unit} ${unit.pct.toFixed(1)} %`).join(", ");
  const lines = shown.map(({ row, cells }) => h("tr", {},
    h("td", { class: "n" }, String(row.at + 1)), h("td", {}, h("a", { href: `#${row.id}` }, h("bdi", { class: "mono" }, row.short.slice(0, 200)))),
    cells.map((cell, number) => h("td", { class: "n" }, number === cells.length - 1 && cell === "-" ? units(row) || cell : cell))));
  const more = rows.length > shown.length ? h("p", { class: "soft" }, `The first ${LISTED} of ${rows.length.toLocaleString("en")}; each kernel's page has its own numbers.`) : null;
  return h("details", { class: "roof-table" }, h("summary", {}, "The numbers as a table"),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head.map((text, number) => h("th", { scope: "col", class: number === 1 ? null : "n" }, text)))), h("tbody", {}, lines))), more);
}

function showRooflines(roofs) {
  byId("roofline").hidden = roofs.length === 0;
  for (const roof of roofs) {
    const place = byId("rooflines");
    place.append(h("p", { class: "soft" }, roof.gpu));
    if (roof.sizes) place.append(new Roofline(roof).place);
    place.append(...[roof.key, ...roof.notes].filter(Boolean).map((note) => h("p", { class: "scale" }, note)));
    const table = rooflineTable(roof, roof.rows);
    if (!roof.sizes) table.open = true;
    place.append(table);
  }
}
