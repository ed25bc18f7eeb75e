// What the panel shows when no card is open: where to begin, and what was selected.
import { count, h, percent, short } from "coembed/dom.js";
import { itemLink, section } from "coembed/parts.js";
import { classColour, css, swatch } from "coembed/colours.js";
import * as state from "coembed/state.js";
import { many, one, sign } from "coembed/types.js";

export function startPanel({ model, items, accuracy, addNode, isReport, kept, changes }) {
  const types = model.types.filter((type) => type.items);
  const labelled = types.filter((type) => type.classes.length);
  const known = labelled.reduce((sum, type) => sum + type.labelled, 0);
  const unknown = labelled.reduce((sum, type) => sum + type.items, 0) - known;
  const judged = labelled.length > 1 ? `those of ${many(model, model.coloured)}` : "them";
  const labelOf = (example) => items.className(items.find(example.type, example.id));
  const examples = (type) => model.examples.filter((example) => example.type === type).map((example) => itemLink(model, { ...example, label: labelOf(example) }, { class: "item chip" }));
  const listed = types.map((type) => `${count(type.items)} ${many(model, type.name)}`);
  const first = types[0];
  const facts = [
    listed.length > 1 ? `${listed.slice(0, -1).join(", ")} and ${listed.at(-1)}` : listed[0],
    " in one space: what lies together belongs together. ",
    model.classes ? `${count(known)} labels were known; the model predicted the other ${count(unknown)}` : "No labels were given.",
    model.classes && accuracy !== null ? ` and got ${percent(accuracy, 1)} of ${judged} right.` : model.classes ? "." : "",
  ];
  return h(
    "article.card.start",
    {},
    h("div.heading", {}, h("div", {}, h("span.kind", {}, isReport ? "report of a fitted network" : "fitted network"), h("h2", {}, short(model.model, 50)))),
    h("p.lead", {}, facts.join("")),
    h(
      "ul.how",
      {},
      h("li", {}, swatch("circle", model.class_list.length ? css(classColour(model.class_list[0])) : "var(--accent)", 14), h("span", {}, model.plain ? "a " : "", h("b", {}, short(model.coloured, 30)), model.classes ? "; its colour is its class, rimmed where the label was known, paler the less sure the model is" : "")),
      types.filter((type) => type.owner === null && type.name !== model.coloured).map((type) => h("li", {}, sign(model, type.name, null, 14), h("span", {}, h("b", {}, short(type.name, 30))))),
      types.some((type) => type.owner !== null) ? h("li", {}, swatch("cross", "currentColor", 14), h("span", {}, "an ", h("b", {}, "attribute"), (model.mixing ?? 0) >= 0.5 ? `, near the ${model.plain ? "nodes" : "items"} it stands for` : `; on this map attributes lie apart from ${model.plain ? "nodes" : "items"}: which they stand for is on their cards`)) : null,
      h("li", {}, h("i.ring"), h("span", {}, "an ", h("b", {}, "ellipse"), ": where an item may lie, one standard deviation; pick an item, or zoom in")),
    ),
    types.map((type) => section(`${type === first ? "Begin with" : "or"} ${short(one(model, type.name), 50)}`, null, h("div.chips", {}, examples(type.name)))),
    kept,
    section(
      "or ask",
      null,
      h("ul.ask", {}, [
        h("li", {}, "search above, typing errors included ", h("kbd", {}, "/")),
        isReport ? null : h("li", {}, "say which items are meant, in a query ", h("kbd", {}, "f")),
        h("li", {}, "draw around points to list and download them ", h("kbd", {}, "l")),
        model.classes && changes?.allowed ? h("li", {}, h("button.link", { type: "button", id: "start-labelling", onclick: () => state.set({ ...state.only({ label: "1" }), tab: null }) }, "label"), " what the model is in doubt about ", h("kbd", {}, "b")) : null,
        model.can_embed && !isReport ? h("li", {}, h("button.link", { type: "button", onclick: addNode }, model.plain ? "add a node" : "add an item"), " and see where it falls ", h("kbd", {}, "n")) : null,
      ].filter(Boolean)),
    ),
  );
}

// how the selected items are shared among the classes
export function classShares(model, items, rows) {
  const shares = model.class_list.map((entry) => ({ entry, nodes: 0 }));
  for (const i of rows) if (items.isColoured(i) && items.label[i] >= 0) shares[items.label[i]].nodes += 1;
  const some = shares.filter((each) => each.nodes);
  if (!some.length) return null;
  return h(
    "div.stack",
    { role: "img", "aria-label": some.map(({ entry, nodes }) => `${entry.label} ${nodes}`).join(", ") },
    some.map(({ entry, nodes }) => h("i", { title: `${entry.label}: ${nodes}`, style: { flexGrow: String(nodes), background: css(classColour(entry)) } })),
  );
}

export function rowsOf(model, items, rows) {
  return h(
    "table.rows",
    {},
    h("thead", {}, h("tr", {}, h("th", {}, "item"), model.classes ? h("th", {}, "class") : null, model.classes ? h("th.number", {}, "p") : null, h("th.number", { title: "links of a node, nodes of an attribute" }, "links"))),
    h(
      "tbody",
      {},
      rows.map((i) => {
        const label = items.className(i);
        return h(
          "tr",
          {},
          h("td", {}, itemLink(model, { type: items.type(i), id: items.ids[i], title: items.names[i], label })),
          model.classes ? h("td", {}, label !== null ? short(label, 16) : h("em", {}, short(model.plain ? "attribute" : items.type(i), 16))) : null,
          model.classes ? h("td.number", {}, label !== null ? (items.observed[i] ? "known" : items.probability[i].toFixed(2)) : "") : null,
          h("td.number", {}, count(items.weight[i])),
        );
      }),
    ),
  );
}

// in a report, where no server writes files
export function download(items, rows) {
  const lines = [["type", "id", "title", "class", "label_known", "probability", "x", "y", "weight"]];
  for (const i of rows) {
    const label = items.className(i);
    lines.push([items.type(i), items.ids[i], items.names[i], label ?? "", label !== null ? Boolean(items.observed[i]) : "", label !== null ? items.probability[i] : "", Number(items.x[i].toFixed(3)), Number(items.y[i].toFixed(3)), items.weight[i]]);
  }
  const [headings, ...cells] = lines;
  const text = csvText(Object.fromEntries(headings.map((heading, c) => [heading, cells.map((row) => row[c])])));
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })), download: "selection.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}

// columns as a file; a program that opens it must not take a text for a formula
export function csvText(columns) {
  const safe = (value) => (typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? ""));
  const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const names = Object.keys(columns);
  const rows = (columns[names[0]] ?? []).map((_, i) => names.map((name) => quote(safe(columns[name][i]))).join(","));
  return [names.map((name) => quote(safe(name))).join(","), ...rows].join("\r\n") + "\r\n";
}
