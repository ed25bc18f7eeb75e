// Puts the page together: what is in the address decides what is shown.
import { connect, isReport, setToken, whenReady } from "coembed/api.js";
import { draft } from "coembed/adding.js";
import { isDark } from "coembed/colours.js";
import { $, count, h, icon, later, short } from "coembed/dom.js";
import { Items } from "coembed/items.js";
import { classColouring, colouring, fieldTitle, fieldValues, knownValue, sizing } from "coembed/encodings.js";
import { makeLine } from "coembed/encoding_line.js";
import { contours } from "coembed/contours.js";
import { takeTables } from "coembed/dropped.js";
import { drawLegend } from "coembed/legend.js";
import { MapView } from "coembed/map.js";
import { addNode, showPanel } from "coembed/panel.js";
import { failure, loading, waiting } from "coembed/parts.js";
import { savePng, saveSvg } from "coembed/picture.js";
import { findMatching } from "coembed/query.js";
import { searchBox } from "coembed/search.js";
import { dataSheet, qualitySheet, trainingSheet } from "coembed/sheets.js";
import * as state from "coembed/state.js";
import { tableSheet } from "coembed/table.js";
import { everything, layerOf, many } from "coembed/types.js";

// a report has no server to ask for rows
const TABS = isReport ? { map: "Map", training: "Training", quality: "Quality", data: "Data" } : { map: "Map", table: "Table", training: "Training", quality: "Quality", data: "Data" };
const CLOSE_UP = 80; // items in view that get their ellipses
const SHEETS = { training: trainingSheet, quality: qualitySheet, data: dataSheet };

const theme = remembered();
if (theme) document.documentElement.dataset.theme = theme;

start().catch((error) => {
  const asks = error.code === "unauthorised";
  $("panel").replaceChildren(h("article.card", {}, failure(error), asks ? tokenForm() : [h("p", {}, "Reload the page once the server is there."), h("button", { type: "button", onclick: () => location.reload() }, "Reload")]));
  console.warn(error);
});

function tokenForm() {
  const input = h("input", { type: "password", "aria-label": "Token", autocomplete: "off" });
  const enter = (event) => {
    event.preventDefault();
    setToken(input.value.trim());
    location.reload();
  };
  return h("form", { onsubmit: enter }, h("p", {}, "Open the address that the terminal printed, with the token at its end, or give the token here."), h("label", {}, "Token", input), h("p", {}, h("button.primary", { type: "submit" }, "Go on")));
}

async function start() {
  $("panel").replaceChildren(loading());
  const api = await connect();
  const model = await whenReady(() => api.overview("model"), (told) => $("panel").replaceChildren(waiting(told)));
  const columns = await api.overview("map");
  document.title = `${model.model} · coembed`;
  $("model-name").textContent = short(model.model, 28);
  const items = new Items(columns, model);
  const map = new MapView($("stage"), $("points"), $("overlay"), items, model.types.map((type) => layerOf(model, type.name)), classColouring(items, model));
  const page = { api, model, items, map, accuracy: null, isReport, adding: null, matching: null, chosen: [], closeUp: () => closeUp(page), again: () => showPanel(page, state.get()) };
  globalThis.coembed = { map, items }; // for whoever looks into the console, and for the tests
  if (model.judged) page.accuracy = (await api.overview("quality")).figures.accuracy;
  [page.fields, page.changes] = isReport ? [await carriedFields(api), null] : await Promise.all([api.fields(), api.changes()]);
  for (const field of model.shown) await fieldValues(page, field);
  makeTabs();
  makeSearch(page);
  page.line = makeLine(page);
  makeTools(page);
  makeKeys(page);
  wireMap(page);
  state.watch((now, before) => follow(page, now, before));
  await follow(page, state.get(), {});
  document.body.dataset.ready = "yes";
}

async function follow(page, now, before) {
  const { map } = page;
  const tab = TABS[now.tab] ? now.tab : "map";
  page.line.write(now);
  if (now.colour !== before.colour || now.size !== before.size) await encode(page, now);
  if (now.regions !== before.regions) await showRegions(page, now);
  if (now.q !== before.q) await lookFor(page, now);
  const asked = now;
  now = state.get(); // the reader may have gone on, and then who follows that does the rest
  if (["q", "colour", "size"].some((key) => now[key] !== asked[key])) return;
  document.body.dataset.tab = tab;
  if (now.hide !== before.hide || now.off !== before.off) {
    map.hidden = new Set((now.hide ?? "").split(",").filter(Boolean).map(Number));
    const off = new Set((now.off ?? "").split(","));
    for (const layer of Object.keys(map.layers)) map.layers[layer] = !off.has(layer);
    legend(page);
    map.recolour();
  }
  if (!map.touched && now.view && now.view !== written(map)) {
    const [x, y, scale] = now.view.split(",").map(Number);
    if ([x, y, scale].every(Number.isFinite) && scale > 0) map.look({ x, y, scale }, { told: false });
  }
  map.touched = false;
  const changed = ["node", "attribute", "type", "item", "with", "label", "rows", "lasso", "q", "only", "against", "links"].some((key) => now[key] !== before[key]) || ((page.matching || now.lasso !== undefined) && now.hide !== before.hide) || (now.new === undefined) !== (before.new === undefined) || (draft(now.new).type ?? page.model.main) !== (draft(before.new).type ?? page.model.main);
  if (changed || page.fresh === undefined) showPanel(page, now);
  page.fresh = false;
  if (changed && page.table) page.table.offset = 0;
  showTab(page, tab);
}

// a report carries some fields, and the selections that were kept
async function carriedFields(api) {
  const [values, selections] = await Promise.all([api.overview("values"), api.overview("selections")]);
  return { fields: Object.values(values).map(({ field, kind, types }) => ({ name: field, kind, types: types.map((each) => each.type) })), words: [], selections };
}

// what colours and sizes mean; a field that is no longer there is told, and the classes are shown
async function encode(page, now) {
  const { map } = page;
  try {
    [map.encoding, map.sizes] = await Promise.all([colouring(page, now.colour), sizing(page, now.size)]);
  } catch (error) {
    page.query?.write(now.q, error.message);
    [map.encoding, map.sizes] = [classColouring(page.items, page.model), null];
  }
  map.recolour();
  legend(page);
}

// the landscape is asked for when it is first wanted
async function showRegions(page, now) {
  if (now.regions !== undefined && !page.landscape) page.landscape = contours(await page.api.overview("regions"));
  page.map.landscape = now.regions !== undefined ? page.landscape : null;
  page.map.redraw();
  legend(page);
}

async function lookFor(page, now) {
  page.matching = null;
  try {
    if (now.q) page.matching = await findMatching(page, now.q);
    page.query?.write(now.q);
  } catch (error) {
    page.query?.write(now.q, error.message);
  }
}

// The map

function wireMap(page) {
  const { map, items, model } = page;
  map.on.open = (i) => {
    if (i >= 0) state.open(items.type(i), items.ids[i]);
    else if (state.get().new === undefined) state.set(state.only({}));
  };
  const settle = later(250, () => {
    map.touched = true;
    state.set({ view: map.isFitted() ? null : written(map) }, { small: true });
  });
  map.on.view = () => settle();
  const look = later(160, () => {
    closeUp(page);
    lostOrNot(page);
  });
  map.on.still = () => look();
  map.on.lasso = (outline) => select(map, outline);
  const tip = $("tip");
  map.on.hover = (i, px, py) => {
    tip.hidden = i < 0;
    if (i < 0) return;
    const label = items.className(i);
    const type = items.types[items.place[i]];
    const what = label ? `${short(label, 30)}, ${items.observed[i] ? "known" : `${Math.round(100 * items.probability[i])} %`}` : type.owner === null ? short(type.name, 30) : `attribute of ${count(items.weight[i])} ${many(model, type.owner)}`;
    const told = new Set([map.encoding.field, map.sizes?.field, ...model.shown]);
    const more = [...told].filter((field) => field && field !== "class").map((field) => valueLine(page, field, i));
    tip.replaceChildren(h("b", {}, short(items.names[i], 50)), h("span", {}, what), ...more.filter(Boolean));
    tip.style.left = `${Math.min(px + 14, map.width - 220)}px`;
    tip.style.top = `${py > map.height - 80 ? py - 60 : py + 16}px`;
  };
  legend(page);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => retheme(page));
}

// what the map is coloured or sized by, of one item
function valueLine(page, field, i) {
  const value = knownValue(page, field, i);
  return value === null ? null : h("span", {}, `${short(fieldTitle(field), 24)}: ${short(value, 30)}`);
}

// where there is nothing to see, the way back
function lostOrNot({ map }) {
  const nothing = map.items.count > 0 && !map.inView(0).length;
  if (nothing === Boolean($("notice").childElementCount)) return;
  $("notice").replaceChildren(...(nothing ? [h("span", {}, "Nothing lies here. "), h("button", { type: "button", onclick: () => map.glide(map.fitted()) }, "Show all")] : []));
}

function legend(page) {
  const { model, map } = page;
  drawLegend($("legend"), {
    model,
    map,
    setRegions: (yes) => state.set({ regions: yes ? "1" : null }),
    setHidden: (hidden) => state.set({ hide: [...hidden].sort((a, b) => a - b).join(",") || null }),
    setLayers: (layers) => state.set({ off: Object.keys(layers).filter((name) => !layers[name]).join(",") || null }),
  });
}

const written = (map) => [map.view.x.toFixed(2), map.view.y.toFixed(2), map.view.scale.toPrecision(4)].join(",");

// an outline of some dozen corners is enough, and fits into an address
function select(map, outline) {
  const corners = outline.length / 2;
  const every = Math.max(1, Math.ceil(corners / 48));
  const kept = [];
  for (let c = 0; c < corners; c += every) kept.push(outline[2 * c].toFixed(1), outline[2 * c + 1].toFixed(1));
  map.lassoing = false;
  $("lasso-button")?.setAttribute("aria-pressed", "false");
  $("overlay").classList.remove("lassoing");
  state.set({ ...state.only({ lasso: kept.join(",") }), tab: null });
}

function selectView({ map }) {
  const [x0, y1] = map.toWorld(0, 0);
  const [x1, y0] = map.toWorld(map.width, map.height);
  select(map, [x0, y0, x1, y0, x1, y1, x0, y1]);
}

// at close range everything in view gets its ellipse
async function closeUp({ map, items, api }) {
  const near = map.layers.ellipses && map.depth > 2.5 ? map.inView(CLOSE_UP + 1) : [];
  map.closeUp = near.length <= CLOSE_UP ? near : [];
  const missing = map.closeUp.filter((i) => !map.spreads.has(i));
  if (missing.length) {
    try {
      const asked = Object.create(null);
      for (const i of missing) (asked[items.type(i)] ??= []).push(i - items.starts[items.place[i]]);
      const found = await api.spread(asked);
      for (const [t, { name }] of items.types.entries()) for (const each of found.items[name] ?? []) map.spreads.set(each.position + items.starts[t], each.covariance);
    } catch {
      // without ellipses the map is still a map
    }
  }
  map.redraw();
}

function makeTools(page) {
  const { map } = page;
  const button = (text, title, action, extra = {}) => h("button", { type: "button", title, "aria-label": title, onclick: action, ...extra }, text);
  const lasso = button(icon("lasso", 19), "Draw around points (l, or hold Shift)", () => toggleLasso(map), { id: "lasso-button", "aria-pressed": "false" });
  $("tools").replaceChildren(
    button(icon("near", 18), "Nearer (+)", () => map.zoom(1.5)),
    button(icon("far", 18), "Farther (−)", () => map.zoom(1 / 1.5)),
    button(icon("all", 17), "Show all (0)", () => map.glide(map.fitted())),
    lasso,
    button(icon("frame", 18), "Select what is in view (v)", () => selectView(page)),
    pictureMenu(page),
  );
  $("theme-button").replaceChildren(icon("theme", 17));
  $("help-button").replaceChildren(icon("help", 17));
  $("add-button").addEventListener("click", addNode);
  if (isReport || !page.model.can_embed) $("add-button").hidden = true;
  if (!page.model.plain) {
    $("add-button").title = "Add an item (n)";
    $("add-button").lastElementChild.textContent = "Add an item";
  }
  $("theme-button").addEventListener("click", () => switchTheme(page));
  $("help-button").addEventListener("click", help);
  // the address behind the # is the state: the jump must not write there
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    $("panel").focus();
  });
  $("home").addEventListener("click", (event) => {
    event.preventDefault();
    state.set({ ...state.only({}), tab: null, hide: null, off: null, q: null, only: null, against: null, links: null, colour: null, size: null, regions: null });
    map.glide(map.fitted());
  });
}

// the view as a file, and tables in
function pictureMenu(page) {
  const entry = (text, id, action) => h("button", { type: "button", id, onclick: (event) => (event.target.closest("details").removeAttribute("open"), action()) }, text);
  const choose = isReport || !page.model.can_embed ? null : takeTables(page);
  page.chooseTable = choose;
  return h(
    "details.picture",
    {},
    h("summary", { title: "Save the view, open a table", "aria-label": "Save the view, open a table" }, icon("file", 18)),
    h("div", {}, entry("View as PNG", "save-png", () => savePng(page)), entry("View as SVG", "save-svg", () => saveSvg(page)), choose ? entry("Open a table …", "open-file", choose) : null),
  );
}

function toggleLasso(map) {
  map.lassoing = !map.lassoing;
  $("lasso-button").setAttribute("aria-pressed", String(map.lassoing));
  $("overlay").classList.toggle("lassoing", map.lassoing);
}

// Tabs, search, keys, theme

function makeTabs() {
  const tabs = Object.entries(TABS).map(([name, title]) =>
    h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `${name}-tab`, onclick: () => state.set({ tab: name === "map" ? null : name }) }, title),
  );
  $("tabs").replaceChildren(...tabs);
  $("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
}

async function showTab(page, tab) {
  for (const name of Object.keys(TABS)) {
    $(`${name}-tab`).hidden = name !== tab;
    const button = $(`tab-${name}`);
    button.setAttribute("aria-selected", String(name === tab));
    button.tabIndex = name === tab ? 0 : -1;
  }
  document.body.dataset.tab = tab;
  if (tab === "map") return;
  const sheet = $(`${tab}-tab`);
  if (!sheet.childElementCount) sheet.replaceChildren(loading());
  try {
    if (tab === "table") return await tableSheet(sheet, page);
    SHEETS[tab](sheet, { ...page, [tab]: await page.api.overview(tab) });
  } catch (error) {
    sheet.replaceChildren(failure(error));
  }
}

function makeSearch(page) {
  const { box, input } = searchBox({
    api: page.api,
    model: page.model,
    label: `Search ${everything(page.model)}`,
    placeholder: `Search ${count(page.items.count)} ${everything(page.model)}`,
    choose: (item) => {
      state.open(item.type, item.id);
      $("panel").focus({ preventScroll: true });
    },
  });
  input.id = "search-input";
  $("search").replaceChildren(box);
}

function makeKeys(page) {
  const { map } = page;
  const keys = {
    "/": () => $("search-input").focus(),
    f: () => page.query?.input.focus(),
    "+": () => map.zoom(1.5),
    "=": () => map.zoom(1.5),
    "-": () => map.zoom(1 / 1.5),
    0: () => map.glide(map.fitted()),
    l: () => toggleLasso(map),
    v: () => selectView(page),
    b: () => page.model.classes && page.changes && state.set({ ...state.only({ label: "1" }), tab: null }),
    d: () => switchTheme(page),
    t: () => page.chooseTable?.(),
    n: () => $("add-button").hidden || addNode(),
    "?": help,
    Escape: () => {
      if (map.lassoing) toggleLasso(map);
      else if (state.opened(state.get()) || state.get().new !== undefined || state.get().label !== undefined || state.get().rows !== undefined) state.set(state.only({}));
      else state.set({ ...state.only({}), q: null, only: null, against: null, links: null });
      if (document.activeElement === document.body) $("overlay").focus({ preventScroll: true });
    },
  };
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, dialog");
    if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
    if (!typing && page.onKey?.(event.key)) return event.preventDefault();
    if (!keys[event.key]) return;
    if (typing && event.target.closest("dialog")) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function switchTheme(page) {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  remembered(next);
  retheme(page);
}

// a browser may forbid a page to remember anything
function remembered(next) {
  try {
    if (next) localStorage.setItem("coembed-theme", next);
    return localStorage.getItem("coembed-theme");
  } catch {
    return null;
  }
}

// colours are in the points, the legend and the cards: all are made again
function retheme(page) {
  legend(page);
  page.map.recolour();
  if (page.adding) page.adding(); // what is being typed there stays
  else showPanel(page, state.get());
  showTab(page, document.body.dataset.tab);
}

function help() {
  const keys = [
    ["/", "search"],
    ["f", "query: which items are meant"],
    ["arrows", "move the map, when it has the focus"],
    ["+  −  0", "nearer, farther, show all"],
    ["Enter", "open the item nearest to the middle of the map"],
    ["l", "draw around points (or hold Shift and draw)"],
    ["v", "select what is in view"],
    ["n", "add an item"],
    ["t", "open a table of new rows (or drop it anywhere)"],
    ["b", "label what the model is in doubt about; there 1 to 9, s to skip, u to undo"],
    ["d", "light or dark"],
    ["Esc", "close"],
  ];
  $("help").replaceChildren(
    h("h2", {}, "Keys"),
    h("dl", {}, keys.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)))),
    h("p.note", {}, "The address of the page holds what you see: copy it to share a view."),
    h("button.primary", { type: "button", onclick: () => $("help").close() }, "Close"),
  );
  $("help").showModal();
}
