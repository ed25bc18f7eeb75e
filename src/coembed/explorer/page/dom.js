// Elements without markup in strings: whatever a name contains, it is text.

export function h(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(element.style, value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// what may be wider than there is room for: it scrolls, by the keyboard too
export const scrolling = (label, ...children) => h("div.scroll", { tabindex: "0", role: "region", "aria-label": label }, ...children);

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter(Boolean));
  return element;
}

export const $ = (id) => document.getElementById(id);

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// a name that runs from right to left, set apart: or the numbers beside it would change sides
const apart = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

export function short(text, most = 40) {
  const letters = [...text];
  if (!text.trim()) return "(blank)";
  return apart(letters.length <= most ? text : letters.slice(0, most - 1).join("") + "…");
}

const collator = new Intl.Collator("en", { numeric: true });

// as people count: class2 before class10
export const inOrder = (list, nameOf) => list.toSorted((a, b) => collator.compare(nameOf(a), nameOf(b)));

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

export const count = (number) => number.toLocaleString("en");

// 0.97, 0.031, 12.4: what a score needs, no more
export function figure(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 0.1 || size === 0 ? value.toFixed(2) : value.toPrecision(2);
}

export function later(milliseconds, action) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
}

const ICONS = {
  copy: "M5 5V2.5h8.5V11H11M2.500 5H11v8.500H2.500z",
  all: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  lasso: "M8 2.500c3.500 0 6 1.600 6 3.800s-2.500 3.900-6 3.900-6-1.600-6-3.900 2.500-3.800 6-3.800M4.500 9.500c-1.200 1 0 2.300 1 1.800s.6-1.800-.4-1.700M5.500 11.500c-.6 1.200-1.500 1.700-2.700 2",
  frame: "M2 4.500h12v7H2zM5 7.200h6M5 9h4",
  near: "M8 3v10M3 8h10",
  far: "M3 8h10",
  close: "M3.500 3.500l9 9M12.500 3.500l-9 9",
  theme: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M8 2v12a6 6 0 0 0 0-12",
  help: "M5.500 6a2.500 2.500 0 1 1 3.600 2.200c-.8.4-1.100.8-1.100 1.800M8 12.600v.2",
  file: "M4 1.800h5l3.500 3.500v9h-8.500zM9 2v3.500h3.500M8.200 7v5M6 10l2.200 2.200L10.400 10",
  done: "M3 8.500l3.500 3.500L13 4.500",
};

export function icon(name, size = 16) {
  const path = svg("path", { d: ICONS[name], fill: name === "theme" ? "currentColor" : "none", "fill-rule": "evenodd", "fill-opacity": 0.25, stroke: "currentColor", "stroke-width": 1.5, "stroke-linecap": "round", "stroke-linejoin": "round" });
  return svg("svg", { viewBox: "0 0 16 16", width: size, height: size, "aria-hidden": "true", class: "icon" }, path);
}
