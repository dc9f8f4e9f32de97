// What do all rooms of the page's script use? The data, its unpacking, and small helpers. The rooms are joined, in the order
// of `html.SCRIPT`, into one function. No request leaves the page, but for a live one's question to its own server whether
// there is something new.
const $ = (id) => document.getElementById(id);
const page = JSON.parse($("data").textContent);
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D1F", "#7F7F7F"];
const CUMULATIVE = /^(regret|violation|hard_violation|loss)/;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (x, digits = 4) => Number.isFinite(x) ? Number(x.toPrecision(digits)).toLocaleString("en-GB", { maximumSignificantDigits: digits }) : "none";
// Plotly reads a little HTML in its texts; names are shown as they are.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
let buffer = null;

async function unpacked(id) {
  const text = atob($(id).textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function numbers([kind, place, length]) {
  return kind === "u" ? new Uint32Array(buffer, place, length) : new Float32Array(buffer, place, length);
}

function element(name, text, properties = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, properties);
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, words]) => element("option", words, { value })));
}
