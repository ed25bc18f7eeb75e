// What is selected, by a query or an outline: what sets it apart, its links, its files.
import { isReport } from "coembed/api.js";
import { css, hex, isDark, mix } from "coembed/colours.js";
import { count, figure, h, short } from "coembed/dom.js";
import { failure, heading, loading, section } from "coembed/parts.js";
import { classShares, download, rowsOf } from "coembed/panels.js";
import { bitsOf } from "coembed/query.js";
import * as state from "coembed/state.js";
import { many } from "coembed/types.js";

const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3]];
const ROWS = 100;

// the items that fit the query, lie inside the outline, and are shown
export function chosenItems({ items, matching, map }, now) {
  const outline = (now.lasso ?? "").split(",").map(Number).filter(Number.isFinite);
  if (now.lasso !== undefined) {
    const inside = outline.length >= 6 ? items.inside(outline) : [];
    return { outline, chosen: matching ? inside.filter((i) => matching[i]) : inside };
  }
  const chosen = [];
  if (matching) for (let i = 0; i < items.count; i++) if (matching[i] && items.shown[i]) chosen.push(i);
  return { outline: map.kept, chosen };
}

const asked = ({ items }, chosen) => ({ bits: bitsOf(items, chosen) });

export function selectionPanel(page, now, chosen, signal) {
  const { model, items } = page;
  const rows = chosen.slice().sort((a, b) => items.weight[b] - items.weight[a]);
  const counts = model.types.filter((type) => type.items || model.plain).map((type) => `${count(rows.reduce((sum, i) => sum + (items.type(i) === type.name), 0))} ${many(model, type.name)}`);
  const close = () => state.set({ ...state.only({}), q: null, only: null, against: null, links: null });
  const panel = h("article.card", { "data-kind": "selection" }, heading("selection", counts.join(", "), [], close));
  if (!rows.length) {
    panel.append(h("p.empty", {}, now.q ? "Nothing that is shown fits the query." : "Nothing lies inside. Draw around some points, or show the classes that are hidden."));
    return panel;
  }
  panel.append(
    ...[classShares(model, items, rows), actions(page, now, rows), isReport ? null : apartSection(page, now, chosen, signal), isReport ? null : linksSection(page, now, chosen, signal), section("Its items", rows.length > ROWS ? `the ${ROWS} best linked of ${count(rows.length)}` : "best linked first", rowsOf(model, items, rows.slice(0, ROWS)))].filter(Boolean),
  );
  return panel;
}

function actions(page, now, rows) {
  const { api, model, items } = page;
  const problem = h("div", {});
  const file = (format) => async () => {
    try {
      const blob = await api.export({ selection: asked(page, rows), format });
      saveFile(blob, `selection.${format}`);
    } catch (error) {
      problem.replaceChildren(failure(error));
    }
  };
  const filtering = now.q !== undefined;
  return h(
    "div",
    {},
    h(
      "p.buttons-row",
      {},
      isReport
        ? h("button.primary", { type: "button", id: "download", onclick: () => download(items, rows) }, "Download csv")
        : [
            h("button.primary", { type: "button", id: "download", title: "All of it with all columns", onclick: file("csv") }, "Download csv"),
            h("button", { type: "button", id: "download-parquet", onclick: file("parquet") }, "Parquet"),
            h("button", { type: "button", id: "open-table", onclick: () => state.set({ tab: "table" }) }, "Table"),
          ],
      filtering ? h("label.switch", {}, h("input", { type: "checkbox", id: "only-these", checked: Boolean(now.only), onchange: (event) => state.set({ only: event.target.checked ? "1" : null }) }), "hide others") : null,
    ),
    problem,
  );
}

export function saveFile(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}

// What is commoner or rarer, higher or lower among the selected than among the others.
function apartSection(page, now, chosen, signal) {
  const body = h("div", { "aria-live": "polite" }, loading());
  const input = h("input", { type: "text", id: "against-input", placeholder: "the rest", value: now.against ?? "", "aria-label": "Compared with: a query, or nothing for the rest", list: "kept-names" });
  const names = h("datalist", { id: "kept-names" }, (page.fields?.selections ?? []).map((each) => h("option", { value: /[\s"(),*\\]/.test(each.name) ? `in:"${each.name}"` : `in:${each.name}` })));
  const compare = (event) => {
    event.preventDefault();
    state.set({ against: input.value.trim() || null });
  };
  ask();
  return section("What sets it apart", null, h("form.against", { onsubmit: compare }, h("label", {}, "against", input), names, h("button", { type: "submit" }, "Compare")), body);

  async function ask() {
    try {
      const told = await page.api.selection("apart", { selection: asked(page, chosen), ...(now.against ? { against: { query: now.against } } : {}), k: 40 }, signal);
      if (signal.aborted) return;
      body.replaceChildren(told.items.length ? apartTable(page, told) : h("p.empty", {}, "Nothing that chance could not explain."));
    } catch (error) {
      if (error.name !== "AbortError") body.replaceChildren(failure(error));
    }
  }
}

function apartTable({ model }, { items: lines, against }) {
  const one = new Set(lines.map((line) => line.type)).size === 1;
  const most = Math.max(...lines.map(strength));
  const refine = (line) => state.set({ ...state.only({}), q: [state.get().q, line.query].filter(Boolean).join(" ") });
  return h(
    "table.rows.apart",
    {},
    h("thead", {}, h("tr", {}, h("th", {}, "what"), h("th.number", {}, "here"), h("th.number", {}, against ? "there" : "rest"), h("th", { title: "of names the ratio of odds (log₂), of numbers how often one here is above one there; the bar is its size" }, "effect"), h("th.number", { title: "chance that it means nothing, corrected for all that was tested" }, "q"))),
    h(
      "tbody",
      {},
      lines.map((line) =>
        h(
          "tr",
          {},
          h("td", {}, h("button.link.term", { type: "button", title: `Narrow to ${line.query}`, onclick: () => refine(line) }, line.value === null ? short(line.field, 24) : short(line.value, 26)), h("small.line", {}, `${one || model.plain ? "" : `${short(line.type, 16)} · `}${line.value === null ? "median" : short(line.field, 24)}`)),
          h("td.number", {}, line.texts[0]),
          h("td.number", {}, line.texts[1]),
          h("td", {}, h("span.effect", { class: `effect ${line.effect > 0 ? "more" : "less"}` }, h("i", { style: { width: `${(100 * strength(line)) / most}%` } }), h("small", {}, `${line.effect > 0 ? "+" : "−"}${figure(Math.abs(line.effect))}`))),
          h("td.number", {}, line.q < 1e-4 ? line.q.toExponential(0).replace("e-", "e−") : figure(line.q)),
        ),
      ),
    ),
  );
}

// effects of names reach far, those of numbers one
const strength = (line) => (line.value === null ? Math.abs(line.effect) : Math.min(1, Math.abs(line.effect) / 8));

// Links with both ends inside, each relation in its style.
function linksSection(page, now, chosen, signal) {
  const { map, model } = page;
  if (!model.relations.some((relation) => relation.column === null && relation.entries)) return null;
  const body = h("div", {});
  const box = h("input", { type: "checkbox", id: "links-within", checked: now.links !== undefined, onchange: (event) => state.set({ links: event.target.checked ? "1" : null }, { small: true }) });
  if (now.links !== undefined) draw();
  return section("Links within", null, h("label.switch", {}, box, "draw them"), body);

  async function draw() {
    try {
      const { relations } = await page.api.selection("links", { selection: asked(page, chosen) }, signal);
      if (signal.aborted) return;
      const at = (type) => page.items.starts[page.items.types.findIndex((each) => each.name === type)];
      map.within = relations.map((each, r) => ({ ...each, from: each.from.map((i) => at(each.source) + i), to: each.to.map((i) => at(each.target) + i), colour: styleColour(model, r), dash: DASHES[r % DASHES.length], shown: true }));
      map.redraw();
      body.replaceChildren(h("ul.counted", {}, map.within.map((each, r) => h("li", {}, h("label.switch", {}, h("input", { type: "checkbox", checked: true, onchange: (event) => ((map.within[r].shown = event.target.checked), map.redraw()) }), lineSample(each), short(each.relation, 30)), h("small", {}, each.total > each.from.length ? `${count(each.from.length)} of ${count(each.total)} drawn` : count(each.total))))));
    } catch (error) {
      if (error.name !== "AbortError") body.replaceChildren(failure(error));
    }
  }
}

function styleColour(model, r) {
  const colour = hex(model.palette[r % model.palette.length].colour);
  return isDark() ? mix(colour, [255, 255, 255], 0.35) : colour;
}

function lineSample({ colour, dash }) {
  const ns = "http://www.w3.org/2000/svg";
  const element = document.createElementNS(ns, "svg");
  element.setAttribute("width", 34);
  element.setAttribute("height", 8);
  element.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(ns, "path");
  line.setAttribute("d", "M0 4H34");
  line.setAttribute("stroke", css(colour));
  line.setAttribute("stroke-width", 2);
  if (dash.length) line.setAttribute("stroke-dasharray", dash.join(" "));
  element.append(line);
  return element;
}
