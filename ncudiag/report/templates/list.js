// The list: rows from the island, searched, filtered and sorted as a whole, shown page by page.
const PAGE = 50;
const PRINTED = 1000;
const SHOWN = 300; // characters of a name in the list; its page has all of them

const COLUMNS = [
  { key: "rank", label: "#", title: "rank", cell: "n rank", value: (row) => row.at, up: true },
  { key: "share", label: "Share", title: "share of the captured time", cell: "n", value: (row) => row.share },
  { key: "time", label: "Time", title: "captured time", cell: "n", value: (row) => row.time },
  { key: "launches", label: "Launches", title: "launches", cell: "n middle", value: (row) => row.launches },
  { key: "kernel", label: "Kernel", title: "name", cell: "kernel", value: (row) => row.short.toLowerCase(), up: true },
  { key: "verdict", label: "Verdict", title: "verdict", cell: "", value: (row) => row.verdict, up: true },
  { key: "limiter", label: "Limiter", title: "limiter, % of its peak", cell: "limiter", value: (row) => row.limiterPct },
  { key: "sm", label: "SM", title: "SM, % of peak", cell: "n wide", value: (row) => row.sm },
  { key: "dram", label: "DRAM", title: "DRAM, % of peak", cell: "n wide", value: (row) => row.dram },
  { key: "saves", label: "Could save", title: "the most it could save of the captured time", cell: "n", value: (row) => row.saves },
  { key: "try", label: "Try first", title: "", cell: "try", value: null },
];
const TEXTS = ["id", "name", "short", "apart", "shareText", "timeText", "launchesText", "limiter", "smText", "dramText", "savesText", "tryFirst"];

function readRows(data) {
  return data.kernels.map((values, at) => {
    const row = { at };
    data.fields.forEach((field, place) => { row[field] = values[place]; });
    for (const field of TEXTS) row[field] = data.texts[row[field]];
    row.verdict = data.verdicts[row.verdict];
    return row;
  });
}

class KernelList {
  constructor(rows) {
    this.rows = rows;
    this.words = [];
    this.verdicts = new Set();
    this.sort = COLUMNS[0];
    this.up = true;
    this.page = 0;
    this.found = rows;
    this.total = rows.some((row) => row.share !== null);
    this.collator = new Intl.Collator("en", { numeric: true });
    this.makeHead();
    this.listen();
  }

  makeHead() {
    for (const column of COLUMNS) {
      const label = column.value ? h("button", { type: "button", title: `Sort by ${column.title}`, on: { click: () => this.sortBy(column) } }, column.label) : h("span", {}, column.label);
      const head = h("th", { scope: "col", class: column.cell.replace("try", "") }, label);
      column.head = head;
      if (column.value) byId("sort").append(h("option", { value: column.key }, column.title));
    }
    byId("head").append(h("tr", {}, COLUMNS.map((column) => column.head)));
    COLUMNS.at(-1).head.firstChild.className = "head-text";
  }

  listen() {
    byId("search").addEventListener("input", () => this.search(byId("search").value));
    byId("sort").addEventListener("change", () => this.sortBy(COLUMNS.find((column) => column.key === byId("sort").value), null));
    for (const chip of document.querySelectorAll(".chip")) chip.addEventListener("click", () => this.toggle(chip.dataset.verdict));
    const go = { "page-first": () => 0, "page-back": () => this.page - 1, "page-on": () => this.page + 1, "page-last": () => this.pages() - 1 };
    for (const [id, page] of Object.entries(go)) byId(id).addEventListener("click", () => { this.turn(page()); byId("kernels").scrollIntoView(); });
    byId("rows").addEventListener("click", (event) => {
      // Anywhere in a row, unless a text is being marked or a link does it anyway.
      const row = event.target.closest("tr");
      if (row && !event.target.closest("a") && String(getSelection()) === "") location.hash = row.dataset.kernel;
    });
  }

  search(text) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.refresh();
  }

  toggle(verdict) {
    if (!this.verdicts.delete(verdict)) this.verdicts.add(verdict);
    this.refresh();
  }

  sortBy(column, up = undefined) {
    const natural = column.up ?? false;
    this.up = up === undefined && this.sort === column ? !this.up : up ?? natural;
    this.sort = column;
    this.refresh();
  }

  matches(row) {
    if (this.verdicts.size && !this.verdicts.has(row.verdict)) return false;
    if (!this.words.length) return true;
    row.hay ??= [row.name, row.short, row.apart, row.verdict, row.limiter, row.tryFirst].join("\n").toLowerCase();
    return this.words.every((word) => row.hay.includes(word));
  }

  compare(one, other) {
    const [a, b] = [this.sort.value(one), this.sort.value(other)];
    // What is missing comes last, whichever way is up.
    if (a === null || b === null) return (a === null) - (b === null) || one.at - other.at;
    const order = typeof a === "string" ? this.collator.compare(a, b) : a - b;
    return (this.up ? order : -order) || one.at - other.at;
  }

  refresh(page = 0) {
    this.found = this.rows.filter((row) => this.matches(row));
    if (this.sort.key !== "rank" || !this.up) this.found.sort((one, other) => this.compare(one, other));
    this.turn(page);
  }

  pages() {
    return Math.max(1, Math.ceil(this.found.length / PAGE));
  }

  turn(page) {
    this.page = Math.min(Math.max(0, page), this.pages() - 1);
    this.draw(this.found.slice(this.page * PAGE, (this.page + 1) * PAGE));
    this.tell();
    this.remember();
  }

  draw(rows) {
    byId("rows").replaceChildren(...rows.map((row) => this.row(row)));
  }

  row(row) {
    const part = { "--part": `${100 * (row.share ?? 0)}%` };
    const name = h("a", { href: `#${row.id}`, class: "name" }, h("bdi", {}, breakable(row.short.slice(0, SHOWN))));
    const full = row.name === row.short ? null : h("bdi", { class: "name-full" }, row.name.slice(0, SHOWN));
    const cells = {
      rank: String(row.at + 1),
      share: h("span", { class: "share" }, row.shareText, h("i", { vars: part, "aria-hidden": "true" })),
      time: row.timeText,
      launches: row.launchesText,
      kernel: [name, full, row.apart ? h("div", { class: "apart" }, row.apart) : null],
      verdict: badge(row.verdict),
      limiter: glued(row.limiter),
      sm: row.smText,
      dram: row.dramText,
      saves: row.savesText,
      try: h("span", {}, prose(row.tryFirst)),
    };
    const labels = { share: "Share", time: "Time", launches: "Launches", saves: "Could save", limiter: "Limiter" };
    return h("tr", { "data-kernel": row.id },
      COLUMNS.map((column) => h("td", { class: column.cell, "data-label": labels[column.key] }, cells[column.key])));
  }

  tell() {
    const found = this.found.length.toLocaleString("en");
    const all = this.rows.length.toLocaleString("en");
    const noun = this.rows.length === 1 ? "kernel" : "kernels";
    let text = this.found.length === this.rows.length ? `${all} ${noun}` : `${found} of ${all} ${noun}`;
    if (this.total && this.found.length) {
      const share = 100 * this.found.reduce((sum, row) => sum + (row.share ?? 0), 0);
      text += `, ${share.toFixed(1)} % of the captured time`;
    }
    if (!this.found.length) text = `No kernel matches. ${this.verdicts.size ? "Some verdicts are left out." : ""}`;
    byId("found").textContent = text;
    byId("pages").hidden = this.pages() === 1;
    byId("page-where").textContent = `Page ${this.page + 1} of ${this.pages().toLocaleString("en")}`;
    byId("page-first").disabled = byId("page-back").disabled = this.page === 0;
    byId("page-last").disabled = byId("page-on").disabled = this.page === this.pages() - 1;
    for (const column of COLUMNS) {
      if (column === this.sort) column.head.setAttribute("aria-sort", this.up ? "ascending" : "descending");
      else column.head.removeAttribute("aria-sort");
    }
    byId("sort").value = this.sort.key;
    for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String(this.verdicts.has(chip.dataset.verdict)));
  }

  // What is shown stands in the address, so that it can be passed on.
  remember() {
    if (byId("list-view").hidden) return;
    const state = new URLSearchParams();
    if (this.words.length) state.set("q", this.words.join(" "));
    if (this.verdicts.size) state.set("verdict", [...this.verdicts].join(","));
    if (this.sort.key !== "rank" || !this.up) state.set("sort", (this.up ? "" : "-") + this.sort.key);
    if (this.page) state.set("page", String(this.page + 1));
    const text = state.toString();
    history.replaceState(null, "", text ? `#list?${text}` : "#");
  }

  recall(text) {
    const state = new URLSearchParams(text);
    this.words = (state.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    byId("search").value = this.words.join(" ");
    const known = new Set([...document.querySelectorAll(".chip")].map((chip) => chip.dataset.verdict));
    this.verdicts = new Set((state.get("verdict") ?? "").split(",").filter((verdict) => known.has(verdict)));
    const sort = state.get("sort") ?? "rank";
    this.sort = COLUMNS.find((column) => column.value && column.key === sort.replace(/^-/, "")) ?? COLUMNS[0];
    this.up = !sort.startsWith("-");
    this.refresh((Number.parseInt(state.get("page") ?? "1", 10) || 1) - 1);
  }

  // j and k: from link to link.
  step(by) {
    const links = [...byId("rows").querySelectorAll("a.name")];
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? links[by > 0 ? 0 : links.length - 1] : links[at + by];
    if (next) next.focus();
    else if (at >= 0 && this.page + by >= 0 && this.page + by < this.pages()) {
      this.turn(this.page + by);
      const fresh = byId("rows").querySelectorAll("a.name");
      fresh[by > 0 ? 0 : fresh.length - 1]?.focus();
    }
  }

  // On paper there are no pages to turn.
  forPaper() {
    this.draw(this.found.slice(0, PRINTED));
  }
}
