// The theme: as the system has it, light or dark; the choice is remembered.
const THEMES = ["system", "light", "dark"];

function setTheme(name) {
  if (name === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", name);
  byId("theme-name").textContent = name;
}

function nextTheme() {
  const natural = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  // The first press shows a difference.
  const order = ["system", natural === "dark" ? "light" : "dark", natural];
  const now = document.documentElement.getAttribute("data-theme") ?? "system";
  const next = order[(order.indexOf(now) + 1) % order.length];
  setTheme(next);
  memory.set("theme", next);
}

const remembered = memory.get("theme");
setTheme(THEMES.includes(remembered) ? remembered : "system");
byId("theme").addEventListener("click", nextTheme);
byId("tools").hidden = false;
