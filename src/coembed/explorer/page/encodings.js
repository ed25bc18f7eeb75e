// What colours and sizes mean: a field of the items, told in a legend whose entries can be switched off.
import { classColour, hex, isDark, mix } from "coembed/colours.js";
import { figure } from "coembed/dom.js";

export const AS_BEFORE = -2; // looks as its type does, whatever the colours mean
export const NO_VALUE = -1;
const BINS = 6;
const MOST_NAMES = 40;
// low to high, each step seen on its background
const RAMP = { light: ["#e8a62e", "#d9662f", "#b5305f", "#6f2380", "#241a5c"], dark: ["#5a51b5", "#9a4fb8", "#d95f8c", "#f39a5a", "#ffe08a"] };
const PLAIN = { class: "Class", type: "Type", p: "Probability", doubt: "Doubt (1 − p)", is: "Label known", spread: "Spread of its place", degree: "Degree" };

export const fieldTitle = (field) => PLAIN[field] ?? (field.startsWith("has:") ? `Has ${field.slice(4)}` : field);

// what the page knows by itself, so that a report can colour by it, too
function ownValues(page, field) {
  const { items } = page;
  const each = (value) => Float64Array.from({ length: items.count }, (_, i) => value(i));
  const labelled = (value) => each((i) => (items.className(i) === null ? NaN : value(i)));
  if (field === "type") return { kind: "category", names: items.types.map((type) => type.name), values: each((i) => items.place[i]) };
  if (field === "degree") return { kind: "number", names: [], values: each((i) => items.weight[i]) };
  if (field === "p") return { kind: "number", names: [], values: labelled((i) => (items.observed[i] ? 1 : items.probability[i])) };
  if (field === "doubt") return { kind: "number", names: [], values: labelled((i) => (items.observed[i] ? 0 : 1 - items.probability[i])) };
  if (field === "is") return { kind: "category", names: ["predicted", "labelled"], values: labelled((i) => items.observed[i]) };
  return null;
}

export async function fieldValues(page, field) {
  page.known ??= new Map();
  if (!page.known.has(field)) page.known.set(field, ownValues(page, field) ?? (await askedValues(page, field)));
  return page.known.get(field);
}

async function askedValues({ items, api }, field) {
  const told = await api.values(field);
  const values = new Float64Array(items.count).fill(NaN);
  for (const each of told.types) {
    const from = items.starts[items.types.findIndex((type) => type.name === each.type)];
    each.values.forEach((value, i) => (values[from + i] = value === null || (told.kind === "category" && value < 0) ? NaN : value));
  }
  return { kind: told.kind, names: told.names, values };
}

// a value in words, where it was asked for before
export function knownValue({ known }, field, i) {
  const told = known?.get(field);
  if (!told || Number.isNaN(told.values[i])) return null;
  return String(told.kind === "category" ? told.names[told.values[i]] : valueText(told.kind, told.values[i]));
}

// The fields that can be chosen.
export function choices(page, numbersOnly = false) {
  const { model, fields } = page;
  const own = [...(model.classes ? ["class", "p", "doubt", "is"] : []), "type", "degree"].map((name) => ({ name, kind: name === "p" || name === "doubt" || name === "degree" ? "number" : "category" }));
  const all = fields ? [...own, ...fields.fields.filter((field) => !own.some((each) => each.name === field.name) && field.kind !== "tags")] : own;
  return numbersOnly ? all.filter((field) => field.kind === "number" || field.kind === "date") : all;
}

export function classColouring(items, model) {
  const index = Int16Array.from({ length: items.count }, (_, i) => (items.isColoured(i) ? items.label[i] : AS_BEFORE));
  return { field: "class", entries: model.class_list.map((entry) => ({ ...entry, count: entry.nodes })), index, none: 0 };
}

// Colours: every item has an entry of the legend, no value, or looks as before.
export async function colouring(page, field) {
  const { items, model } = page;
  if (!field || field === "class") return classColouring(items, model);
  const { kind, names, values } = await fieldValues(page, field);
  return kind === "category" ? byName(model.palette, field, names, values) : byNumber(field, kind, values);
}

function byName(palette, field, names, values) {
  const counts = new Uint32Array(names.length);
  for (const value of values) if (!Number.isNaN(value)) counts[value] += 1;
  const order = names.map((_, k) => k).filter((k) => counts[k]).sort((a, b) => counts[b] - counts[a] || a - b);
  const kept = order.length > MOST_NAMES ? order.slice(0, MOST_NAMES - 1) : order;
  const at = new Int16Array(names.length).fill(kept.length);
  kept.forEach((k, place) => (at[k] = place));
  const entries = kept.map((k, place) => ({ label: names[k], ...palette[place % palette.length], count: counts[k] }));
  if (kept.length < order.length) entries.push({ label: `${order.length - kept.length} others`, colour: "#8a8f98", mark: "circle", count: order.slice(kept.length).reduce((sum, k) => sum + counts[k], 0) });
  const index = Int16Array.from(values, (value) => (Number.isNaN(value) ? NO_VALUE : at[value]));
  return { field, entries, index, none: missing(index) };
}

const missing = (index) => index.reduce((sum, k) => sum + (k === NO_VALUE), 0);

function byNumber(field, kind, values) {
  const known = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
  const edges = field === "p" || field === "doubt" ? [0, 0.2, 0.4, 0.6, 0.8, 1] : quantileEdges(known);
  const entries = [];
  for (let k = 0; k + 1 < Math.max(edges.length, 2); k++) {
    const [low, high] = [edges[k], edges[k + 1] ?? edges[k]];
    entries.push({ label: span(kind, low, high, k + 2 >= edges.length), ramp: edges.length > 2 ? k / (edges.length - 2) : 0.5, mark: "circle", count: 0, low, high });
  }
  const index = Int16Array.from(values, (value) => {
    if (Number.isNaN(value)) return NO_VALUE;
    let k = entries.length - 1;
    while (k > 0 && value < entries[k].low) k -= 1;
    entries[k].count += 1;
    return k;
  });
  return { field, entries, index, none: missing(index) };
}

// as many items in each bin, as far as values differ
function quantileEdges(sorted) {
  if (!sorted.length) return [0];
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const edges = Array.from({ length: BINS }, (_, k) => at(k / BINS));
  return [...new Set([...edges, sorted.at(-1)])];
}

export const valueText = (kind, value) => (kind === "date" ? new Date(value * 86_400_000).toISOString().slice(0, 10) : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : Number.isInteger(value) ? String(value) : figure(value));

const span = (kind, low, high, last) => (low === high ? valueText(kind, low) : `${valueText(kind, low)} ${last ? "to" : "to under"} ${valueText(kind, high)}`);

// in light and dark each its own
export function toneOf(entry) {
  if (entry.ramp === undefined) return classColour(entry);
  const stops = (isDark() ? RAMP.dark : RAMP.light).map(hex);
  const place = entry.ramp * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(place));
  return mix(stops[k], stops[k + 1], place - k);
}

// Sizes: by how many times a point is larger; unknown is small.
export async function sizing(page, field) {
  if (!field) return null;
  const { kind, values } = await fieldValues(page, field);
  const known = Float64Array.from(values.filter((value) => !Number.isNaN(value))).sort();
  if (!known.length) return null;
  const at = (share) => known[Math.floor(share * (known.length - 1))];
  const skewed = at(0) >= 0 && at(0.98) > 20 * Math.max(at(0.5), 1e-9);
  const scale = (value) => (skewed ? Math.log1p(value) : value);
  const [low, high] = [scale(at(0.02)), scale(at(0.98))];
  const times = (value) => (Number.isNaN(value) ? 0.6 : 0.6 + 1.7 * Math.sqrt(Math.max(0, Math.min(1, (scale(value) - low) / (high - low || 1)))));
  return { field, times: Float32Array.from(values, times), low: valueText(kind, at(0.02)), high: valueText(kind, at(0.98)) };
}
