// Two items side by side.
import { figure, h, percent, short } from "coembed/dom.js";
import { chips, heading, itemLink, section } from "coembed/parts.js";
import { searchBox } from "coembed/search.js";
import * as state from "coembed/state.js";
import { isAttribute, wayName } from "coembed/types.js";

// on a card: with whom
export function compareBox({ api, model }, card) {
  const { box } = searchBox({ api, model, label: "Compare with", placeholder: "another item", choose: (item) => state.set({ with: item.id, withtype: item.type }) });
  return h("details.more", {}, h("summary", {}, "Compare with …"), box);
}

export function comparisonPanel({ model }, told) {
  const [a, b] = told.items;
  const names = told.items.map((item) => short(item.title, 22));
  const back = () => state.set({ with: null, withtype: null });
  const cell = (each, side) => (each.known[side] !== null ? short(each.known[side], 24) : h("em", {}, each.expected[side] === null ? "unknown" : `≈ ${short(each.expected[side], 22)}`));
  const cellRow = (each) => h("tr", {}, h("th", { scope: "row" }, short(each.column, 24)), [0, 1].map((side) => h("td", {}, cell(each, side))));
  const heads = (first) => h("thead", {}, h("tr", {}, h("th", {}, first), names.map((name) => h("th", {}, name))));
  const linked = told.linked.map((each) => `${each.relation}: ${each.known ? "linked" : "not linked"}, ${figure(each.score)}`);
  return h(
    "article.card",
    { "data-kind": "comparison" },
    heading("compared", `${short(a.title, 28)} and ${short(b.title, 28)}`, [], back),
    h("p.chips", {}, told.items.map((item) => itemLink(model, item, { class: "item chip" }))),
    h("p.lead", {}, "Cosine ", h("b", { id: "compared-cosine" }, figure(told.cosine)), linked.length ? ` · ${linked.join(" · ")}` : ""),
    told.classes.length
      ? section("Classes", "probability", h("table.rows", {}, heads("class"), h("tbody", {}, told.classes.map((each) => h("tr", {}, h("th", { scope: "row" }, short(each.label, 24)), each.probabilities.map((p) => h("td.number", {}, percent(p, 1))))))))
      : null,
    told.cells.length
      ? section("Columns", "known, or else what is expected", h("table.rows.cells", {}, heads("column"), h("tbody", {}, told.cells.map(cellRow))))
      : null,
    told.relations
      .filter((each) => each.both.total + each.first.total + each.second.total)
      .flatMap((each) => {
        const name = isAttribute(model, each.other) || model.plain ? each.relation : wayName({ ...each, directed: true });
        return [
          section(`${name} of both`, String(each.both.total), chips(model, each.both)),
          h("details.more", {}, h("summary", {}, `${name} of only one: ${each.first.total} and ${each.second.total}`), h("h4", {}, names[0]), chips(model, each.first), h("h4", {}, names[1]), chips(model, each.second)),
        ];
      }),
  );
}
