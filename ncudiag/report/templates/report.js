// Which view is shown, and the keys.
const choices = { ncuRules: false, allFindings: false };

async function start() {
  const data = await island("ncudiag-list");
  const rows = readRows(data);
  const roofs = readRooflines(data, rows);
  const places = new Map(rows.map((row) => [row.id, row]));
  choices.ncuRules = data.ncuRules;
  choices.allFindings = data.allFindings;
  byId("kernels").hidden = false;
  const kernels = new KernelList(rows);
  showRooflines(roofs);
  const plainTitle = document.title;
  let listState = "";
  let listScroll = 0;
  let current = null;

  async function route() {
    const hash = location.hash.slice(1);
    const row = places.get(hash);
    if (row) {
      if (!current) listScroll = scrollY;
      current = row;
      const title = await showKernel(row, { rows, roofs, scale: data.scale, part: data.part });
      if (current !== row) return;
      byId("list-view").hidden = true;
      byId("kernel-view").hidden = false;
      document.title = `${row.short.slice(0, 80)} - ${plainTitle}`;
      scrollTo(0, 0);
      title.focus({ preventScroll: true });
      return;
    }
    const left = current;
    current = null;
    byId("kernel-view").hidden = true;
    byId("kernel-view").replaceChildren();
    byId("list-view").hidden = false;
    document.title = plainTitle;
    if (hash.startsWith("list?")) kernels.recall(hash.slice(5));
    else kernels.recall(left ? listState : "");
    if (left) {
      scrollTo(0, listScroll);
      byId("rows").querySelector(`a[href="#${CSS.escape(left.id)}"]`)?.focus({ preventScroll: true });
    }
  }

  addEventListener("hashchange", (event) => {
    const before = new URL(event.oldURL).hash;
    if (before.startsWith("#list?")) listState = before.slice(6);
    else if (!before.startsWith("#kernel-")) listState = "";
    route();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-home]")) return;
    event.preventDefault();
    location.hash = listState && current ? `list?${listState}` : "";
  });
  listenToKeys({ kernels, rows, current: () => current });
  addEventListener("beforeprint", () => {
    // All but the raw numbers, which nobody reads on paper.
    for (const details of document.querySelectorAll("details:not(.all-metrics)")) details.open = true;
    if (!current) kernels.forPaper();
  });
  addEventListener("afterprint", () => { if (!current) kernels.turn(kernels.page); });
  await route();
}

function listenToKeys({ kernels, rows, current }) {
  const dialog = byId("keys");
  const on = byId("keys-on");
  on.checked = memory.get("keys") !== "off";
  on.addEventListener("change", () => memory.set("keys", on.checked ? "on" : "off"));
  byId("keys-button").addEventListener("click", () => dialog.showModal());
  const go = (by) => {
    const row = current();
    if (!row) kernels.step(by);
    else if (rows[row.at + by]) location.hash = rows[row.at + by].id;
  };
  const keys = {
    "/": () => { if (current()) return; byId("search").focus(); byId("search").select(); },
    j: () => go(1),
    k: () => go(-1),
    t: () => nextTheme(),
    "?": () => dialog.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const writing = event.target.closest("input, select, textarea");
    if (event.key === "Escape") {
      if (writing?.id === "search") { byId("search").value = ""; kernels.search(""); writing.blur(); }
      else if (current()) byId("kernel-view").querySelector("[data-home]").click();
      return;
    }
    if (writing || !on.checked || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
}

start().catch((error) => {
  byId("content").prepend(h("p", { class: "warning", role: "alert" }, h("strong", {}, "This page could not be shown:"), " ", error.message));
});
