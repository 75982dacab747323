// The page of one kernel, made when it is asked for.
const parts = new Map();

async function kernelOf(at, size) {
  const number = Math.floor(at / size);
  if (!parts.has(number)) parts.set(number, await island(`ncudiag-kernels-${number}`));
  const { texts, kernels, metrics, values } = parts.get(number);
  const numbers = values.length ? metrics.map((place, column) => [texts[place], values[at % size][column]]) : null;
  return { raw: kernels[at % size], numbers, t: (place) => (place === null ? "" : texts[place]), ts: (places) => places.map((place) => texts[place]) };
}

const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", {}, title), ...children);
const list = (texts, kind = "dots") => (texts.length > 1 ? h("ul", { class: kind }, texts.map((text) => h("li", {}, prose(text)))) : h("p", {}, prose(texts[0])));

function meter(value, kind, scale) {
  const part = { "--part": `${Math.min(100, Math.max(0, value))}%` };
  const marks = scale ? [scale.high, scale.saturated].map((at) => h("i", { vars: { "--at": `${at}%` } })) : [];
  return h("div", { class: `meter ${kind}`, "aria-hidden": "true" }, h("b", { vars: part }), marks);
}

function barsPanel({ raw, t }, scale) {
  const bars = raw.bars.map(([label, value, number, state]) => {
    if (value === null) return h("li", {}, h("span", {}, t(label)), h("span", { class: "absent" }, t(number)));
    const kind = value >= scale.saturated ? "saturated" : value >= scale.high ? "high" : "";
    return h("li", {}, h("span", {}, t(label)), h("span", { class: "value" }, t(number)), meter(value, kind, scale), h("span", { class: `state ${t(state).includes("limits") ? "limits" : ""}` }, t(state)));
  });
  const evidence = raw.evidence.map(([label, number, gap, metric]) => h("li", {},
    h("span", {}, t(label)), h("b", {}, t(number)), h("span", { class: "soft" }, t(gap)), t(metric) ? h("code", {}, breakable(t(metric))) : null));
  const decided = evidence.length ? [h("h3", {}, "Decided by"), h("ul", { class: "evidence" }, evidence)] : [];
  return panel("% of peak", h("ul", { class: "bars" }, bars), h("p", { class: "scale" }, `Marks: ${scale.text}`), decided);
}

function finding(each, { t, ts }, open) {
  const rows = [];
  const add = (label, content) => { if (content && content.length !== 0) rows.push(h("dt", {}, label), h("dd", {}, content)); };
  add("Why", prose(t(each.why)));
  if (each.measured.length) add("Measured", list(ts(each.measured), "plain-list"));
  if (each.context.length) add("Context", ts(each.context).join("; "));
  if (each.try.length) add("Try", list(ts(each.try)));
  if (each.wont.length) add("Won't help", list(ts(each.wont)));
  add("Verify", prose(t(each.verify)));
  if (each.gain !== null) add("At most", t(each.gain));
  add("More", [h("code", {}, t(each.more)), each.doc === null ? null : [" ", h("span", { class: "soft" }, t(each.doc))]]);
  const severity = t(each.severity);
  const head = [t(each.title), h("span", { class: `tag ${severity === "high" ? "strong" : ""}` }, `${severity}, ${t(each.rule)}`), each.leads ? h("span", { class: "tag" }, "gives the first thing to try") : null];
  return h("details", { class: "finding", open }, h("summary", {}, head), h("dl", { class: "pairs" }, rows));
}

function stallsPanel({ raw, t }) {
  if (!raw.stalls.length) return panel("What warps wait for", h("p", { class: "soft" }, "Stall reasons were not collected: add --section WarpStateStats."));
  const [shown, rest] = [raw.stalls.slice(0, 6), raw.stalls.slice(6)];
  const line = ([name, share, number, meaning]) => h("li", {}, h("span", { title: t(meaning) || null }, t(name)), h("span", { class: "value" }, t(number)), meter(share, "", null));
  const bars = (rows) => h("ul", { class: "bars short", vars: { "--label": "10.5rem" } }, rows.map(line));
  const lead = raw.stalls[0];
  return panel("What warps wait for", h("p", { class: "soft" }, `Share of a warp's cycles per issued instruction. ${t(lead[3]) ? `${t(lead[0])}: ${t(lead[3])}.` : ""}`), bars(shown),
    rest.length ? h("details", { class: "roof-table" }, h("summary", {}, `${rest.length} smaller`), bars(rest)) : null);
}

function occupancyPanel({ raw, t }) {
  const found = raw.occupancy;
  if (found === null) return panel("Occupancy", h("p", { class: "soft" }, "Occupancy was not collected: add --section Occupancy."));
  const rates = found.rates.map(([label, value, number]) => h("li", {}, h("span", {}, t(label)), h("span", { class: "value" }, t(number)), meter(value, "", null)));
  const limits = found.limits.map(([label, , number, binds]) => h("tr", {}, h("th", { scope: "row" }, t(label)), h("td", { class: "n" }, t(number)), h("td", {}, binds ? "limits" : "")));
  return panel("Occupancy", rates.length ? h("ul", { class: "bars short", vars: { "--label": "6.5rem" } }, rates) : null,
    limits.length ? h("table", { class: "facts-table" }, h("caption", { class: "soft" }, "Blocks that fit on an SM, by resource"), h("tbody", {}, limits)) : null,
    found.waves === null ? null : h("p", { class: "scale" }, `${t(found.waves)} waves per SM`));
}

function missingPanel({ raw, t, ts }) {
  if (!raw.missing.length) return null;
  const collect = t(raw.collect);
  return panel("Missing", list(ts(raw.missing)), collect ? [h("p", { class: "scale" }, "Collect all of it with these options of ncu:"), command(collect)] : null);
}

function command(text) {
  const copy = h("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(copy.previousSibling);
      copy.textContent = "Marked";
    }
  });
  return h("div", { class: "command" }, h("code", { tabindex: "0", role: "group", "aria-label": "Options of ncu" }, text), copy);
}

function ncuPanel({ raw, t }) {
  if (!raw.ncu.length) return null;
  const rules = h("ul", { class: "ncu-rules" }, raw.ncu.map(([rule, kind, message, gain]) => h("li", {}, h("strong", {}, t(rule)), " ", h("span", { class: "tag" }, t(kind)), gain === null ? null : [" ", h("span", { class: "soft" }, t(gain))], h("p", {}, t(message)))));
  const turn = h("button", { type: "button", class: "switch", role: "switch", id: "ncu-switch" }, `Show Nsight Compute's own rules (${raw.ncu.length})`);
  const set = (on) => { turn.setAttribute("aria-checked", String(on)); rules.hidden = !on; };
  turn.addEventListener("click", () => { choices.ncuRules = !choices.ncuRules; set(choices.ncuRules); });
  set(choices.ncuRules);
  return h("section", { class: "panel whole", "aria-label": "Nsight Compute's own rules" }, turn, rules);
}

function surePanel({ raw, t, ts }) {
  const facts = [["Confidence", t(raw.confidence)], ["Headroom", raw.headroom === null ? "" : t(raw.headroom)]];
  const rows = facts.filter(([, text]) => text).map(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]);
  const notes = raw.notes.length ? [h("dt", {}, "Notes"), h("dd", {}, ts(raw.notes).map((note) => h("p", {}, prose(note))))] : [];
  return panel("How sure", h("dl", { class: "pairs" }, rows, notes));
}

// No digit is rounded away but far behind the point.
const exact = (value) => (value !== 0 && Math.abs(value) < 0.001 ? String(value) : value.toLocaleString("en", { maximumFractionDigits: 6 }));

// Every number of the report, as the report has it.
function metricsPanel({ numbers }) {
  if (numbers === null) return panel("All metrics", h("p", { class: "soft" }, "So many kernels have too many metrics for one page: ncudiag explain --format json has them, and so has a page made with --top."));
  if (!numbers.length) return null;
  const rows = numbers.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, breakable(name))), h("td", { class: "n" }, value === null ? "not collected" : exact(value))));
  const count = h("p", { class: "soft", role: "status" });
  const search = h("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: "part of a name" });
  const narrow = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    numbers.forEach(([name], at) => {
      rows[at].hidden = !words.every((word) => name.toLowerCase().includes(word));
      shown += !rows[at].hidden;
    });
    count.textContent = `${shown} of ${numbers.length} metrics, in base units (ns, byte, hz, %)`;
  };
  search.addEventListener("input", narrow);
  narrow();
  return h("section", { class: "panel whole" }, h("details", { class: "all-metrics" }, h("summary", {}, h("h2", {}, "All metrics")),
    h("label", { class: "search" }, h("span", {}, "Search"), search), count, h("table", { class: "facts-table" }, h("tbody", {}, rows))));
}

function rooflinePanel({ raw, ts }, row, roofs) {
  const roof = roofs.find((each) => each.sizes && each.points.some((point) => point.row === row));
  const texts = ts(raw.roofline);
  if (!roof && !texts.length) return panel("Roofline", h("p", { class: "soft" }, "Neither work nor traffic was counted: no place under a roof."));
  const mine = roofs.flatMap((each) => each.rows.filter((line) => line.row === row).map((line) => ({ each, line })));
  return panel("Roofline", roof ? new Roofline(roof, row).place : null, texts.length ? h("div", { class: "scale" }, texts.map((text) => h("p", {}, prose(text)))) : null,
    mine.map(({ each, line }) => rooflineTable(each, [line])));
}

async function showKernel(row, context) {
  const { rows, roofs, scale, part } = context;
  const view = await kernelOf(row.at, part);
  const { raw, t, ts } = view;
  const [back, on] = [rows[row.at - 1], rows[row.at + 1]];
  const share = row.share === null ? "time not collected" : `${row.shareText} of the captured time`;
  const title = h("h1", { tabindex: "-1" }, h("bdi", {}, row.name));
  const shown = choices.allFindings ? raw.findings.length : 1;
  const findings = raw.findings.map((each, number) => finding(each, view, number < shown));
  const place = roofs.some((each) => each.sizes && each.points.some((point) => point.row === row));
  byId("kernel-view").replaceChildren();
  filled(byId("kernel-view"), {}, [
    h("nav", { class: "way", "aria-label": "Kernels" }, h("a", { href: "#", "data-home": "" }, "All kernels"),
      back ? h("a", { href: `#${back.id}`, rel: "prev" }, "Previous") : null, on ? h("a", { href: `#${on.id}`, rel: "next" }, "Next") : null),
    h("header", { class: "kernel-head" }, h("p", { class: "over" }, `Kernel ${row.at + 1} of ${rows.length.toLocaleString("en")}, ${share}`), title,
      h("ul", { class: "facts" }, [...ts(raw.facts), ...ts(raw.times)].map((fact) => h("li", {}, fact))),
      h("div", { class: "verdict" }, badge(row.verdict), ts(raw.verdict).map((fact) => h("span", {}, fact)))),
    h("p", { class: "lead" }, prose(t(raw.summary))),
    h("p", { class: "tryfirst" }, h("strong", {}, "Try first"), h("span", {}, prose(row.tryFirst))),
    h("div", { class: "cards" },
      h("div", { class: "column" }, barsPanel(view, scale), place ? surePanel(view) : null),
      h("div", { class: "column" }, rooflinePanel(view, row, roofs), place ? null : surePanel(view), missingPanel(view))),
    h("section", { class: "panel whole" }, h("h2", {}, findings.length === 1 ? "1 finding" : `${findings.length} findings`),
      findings.length ? h("div", { class: "findings" }, findings) : h("p", { class: "soft" }, "No rule fired.")),
    h("div", { class: "cards" }, h("div", { class: "column" }, stallsPanel(view)), h("div", { class: "column" }, occupancyPanel(view))),
    ncuPanel(view),
    metricsPanel(view),
  ]);
  return title;
}
