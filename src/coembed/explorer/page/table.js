// The table: all columns of what is selected, or of everything, in any order.
import { valueText } from "coembed/encodings.js";
import { count, figure, h, scrolling, short } from "coembed/dom.js";
import { failure, itemLink, loading } from "coembed/parts.js";
import { bitsOf } from "coembed/query.js";
import * as state from "coembed/state.js";
import { many } from "coembed/types.js";

const PAGE = 100;

// what it shows hangs on the selection, the type that was chosen, the order and the filter
export async function tableSheet(place, page) {
  const { model, api } = page;
  const now = state.get();
  const selected = now.lasso !== undefined || page.matching;
  const wanted = page.table ?? (page.table = { type: null, filter: "", offset: 0 });
  const selection = {};
  if (selected) selection.bits = bitsOf(page.items, page.chosen);
  if (wanted.filter || !selected) selection.query = wanted.filter || "degree>=0";
  const [, minus, sort] = /^(-?)(.*)$/.exec(now.sort ?? "");
  if (!place.childElementCount) place.replaceChildren(loading());
  let told;
  let problem = null;
  const body = { selection, type: wanted.type, sort: sort || null, descending: minus === "-", offset: wanted.offset, limit: PAGE };
  try {
    told = await api.selection("table", body);
  } catch (error) {
    problem = failure(error);
    told = page.lastTable ?? (await api.selection("table", { selection: { query: "degree>=0" }, limit: PAGE }));
  }
  page.lastTable = told;
  const focused = place.contains(document.activeElement) ? document.activeElement.id : null;
  const again = (change) => {
    Object.assign(wanted, { offset: 0 }, change);
    return tableSheet(place, page);
  };
  const filter = h("input", { type: "text", id: "table-filter", value: wanted.filter, placeholder: "filter: a word, or a query", "aria-label": "Filter the table by a word or a query" });
  const types = model.types.filter((type) => told.counts[type.name] || type.name === told.type);
  place.replaceChildren(
    h("h2", {}, selected ? "What is selected" : "All items"),
    h(
      "form.bench",
      { onsubmit: (event) => (event.preventDefault(), again({ filter: filter.value.trim() })) },
      filter,
      h("label.choose", {}, h("span", {}, "Rows"), h("select", { id: "table-type", onchange: (event) => (state.set({ sort: null }, { small: true }), again({ type: event.target.value })) }, types.map((type) => h("option", { value: type.name, selected: type.name === told.type }, `${short(many(model, type.name), 30)} (${count(told.counts[type.name] ?? 0)})`)))),
      h("button", { type: "submit" }, "Filter"),
    ),
    problem ?? "",
    scrolling("Rows of the selection", tableOf(model, told, sort, minus === "-")),
    pager(told, wanted, again),
  );
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function tableOf(model, told, sort, descending) {
  const names = told.columns.map((column) => column.name);
  const [id, title, label] = ["id", "title", "class"].map((name) => names.indexOf(name));
  const shown = told.columns.map((column, c) => ({ ...column, c })).filter(({ c }) => c !== title);
  const numeric = (kind) => kind === "number";
  const order = (name) => state.set({ sort: sort === name && !descending ? `-${name}` : sort === name ? null : name });
  return h(
    "table.rows.data",
    {},
    h("thead", {}, h("tr", {}, shown.map(({ name, kind }) => h("th", { scope: "col", class: numeric(kind) ? "number" : "", "aria-sort": sort === name ? (descending ? "descending" : "ascending") : "none" }, h("button.link", { type: "button", id: `sort-${name}`, title: `Order by ${name}`, onclick: () => order(name) }, short(name, 24), sort === name ? (descending ? " ↓" : " ↑") : ""))))),
    h(
      "tbody",
      {},
      told.rows.map((row) =>
        h(
          "tr",
          {},
          shown.map(({ kind, c }) =>
            c === id
              ? h("td", {}, itemLink(model, { type: told.type, id: row[id], title: title >= 0 ? row[title] : row[id], label: label >= 0 ? row[label] : null }))
              : h("td", { class: numeric(kind) ? "number" : "", title: String(row[c] ?? "").length > 60 ? String(row[c]).slice(0, 400) : undefined }, row[c] === null ? h("em", {}, "–") : numeric(kind) ? (Number.isInteger(row[c]) ? valueText(kind, row[c]) : figure(row[c])) : row[c] === "" ? "" : short(String(row[c]), 60)),
          ),
        ),
      ),
    ),
  );
}

function pager(told, wanted, again) {
  const last = told.offset + told.rows.length;
  return h(
    "p.buttons-row",
    { role: "status" },
    told.total ? `${count(told.offset + 1)} to ${count(last)} of ${count(told.total)}` : "No rows.",
    told.offset > 0 ? h("button", { type: "button", id: "table-before", onclick: () => again({ offset: Math.max(0, wanted.offset - PAGE) }) }, "Before") : null,
    last < told.total ? h("button", { type: "button", id: "table-next", onclick: () => again({ offset: wanted.offset + PAGE }) }, "Next") : null,
  );
}
