// Elements are made, never parsed from text: whatever a kernel is called, it stays text.
const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "vars") for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const s = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);

function badge(verdict) {
  const glyph = s("svg", { class: "glyph", "aria-hidden": "true", focusable: "false" }, s("use", { href: `#glyph-${verdict}` }));
  return h("span", { class: `badge is-${verdict}` }, glyph, verdict);
}

// A number and its percent sign stay together.
const glued = (text) => text.replaceAll(" %", "\u00a0%");

// Sentences of rules set code in backticks.
const prose = (text) => text.split("`").map((part, at) => (at % 2 && part ? h("code", {}, part) : part));

// A name breaks behind these where it has to break.
const breakable = (name) => name.split(/(?<=[_:,<>()])(?=[^_:])/).flatMap((part, at) => (at ? [h("wbr"), part] : [part]));

// Storage is refused to files in some browsers and modes; the page works without it.
const memory = {
  get(key) {
    try { return localStorage.getItem(`ncudiag-${key}`); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem(`ncudiag-${key}`, value); } catch { /* forgotten, then */ }
  },
};

// A large island is gzip in base64; a browser that cannot unpack it says so.
async function island(id) {
  const text = byId(id).textContent;
  if (!text.startsWith("gzip:")) return JSON.parse(text);
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack gzip; use one from 2023 or later");
  const packed = Uint8Array.from(atob(text.slice(5)), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(unpacked).text());
}
