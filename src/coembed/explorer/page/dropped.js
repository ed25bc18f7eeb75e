// A table that was dropped onto the page: where its rows fall, which class they likely have.
import { classColour, css } from "coembed/colours.js";
import { count, figure, h, short } from "coembed/dom.js";
import { failure, heading, loading } from "coembed/parts.js";
import { csvText } from "coembed/panels.js";
import { saveFile } from "coembed/selection.js";
import * as state from "coembed/state.js";
import { classOf, sign } from "coembed/types.js";

const ROWS = 200;

// a file may be dropped anywhere, or chosen with a button
export function takeTables(page) {
  const { api } = page;
  const input = h("input", { type: "file", id: "table-file", accept: ".csv,.tsv,.parquet", hidden: true });
  input.addEventListener("change", () => input.files[0] && take(input.files[0]));
  document.body.append(input);
  const holds = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragover", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("dropping"));
  addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (!holds(event)) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  return () => input.click();

  async function take(file) {
    page.dropped = { name: file.name, told: null, problem: null };
    const shown = page.dropped;
    state.set({ ...state.only({ rows: `${file.name.slice(-60)} ${Date.now()}` }), tab: null });
    try {
      shown.told = await api.file(file);
    } catch (error) {
      shown.problem = error;
    }
    input.value = "";
    if (page.dropped === shown && state.get().rows !== undefined) page.again();
  }
}

export function droppedPanel(page) {
  const { model, map, dropped } = page;
  const close = () => {
    page.dropped = null;
    state.set(state.only({}));
  };
  const panel = h("article.card", { "data-kind": "table" }, heading("table", dropped?.name ?? "A table", [], close));
  map.placed = [];
  if (!dropped) panel.append(h("p", {}, "The table is not in the address. Drop it here again."));
  else if (dropped.problem) panel.append(failure(dropped.problem));
  else if (!dropped.told) panel.append(loading());
  else {
    const { columns, notices } = dropped.told;
    const label = (i) => columns.predicted?.[i] ?? null;
    const tone = (i) => (columns.type[i] === model.coloured && classOf(model, label(i)) ? css(classColour(classOf(model, label(i)))) : css(map.page.accent));
    map.placed = columns.id.map((_, i) => ({ x: columns.x[i], y: columns.y[i], colour: tone(i) }));
    const fresh = columns.new.filter(Boolean).length;
    panel.append(
      h("p.lead", {}, `${count(columns.id.length)} rows of type ${columns.type[0] ?? ""}, ${count(fresh)} of them new; each is a diamond on the map.`),
      ...(notices.length ? [h("ul.notices", {}, notices.map((notice) => h("li", {}, notice)))] : []),
      h("p.buttons-row", {}, h("button.primary", { type: "button", id: "download-rows", onclick: () => saveFile(new Blob([csvText(columns)], { type: "text/csv;charset=utf-8" }), "predictions.csv") }, "Download csv"), columns.id.length > ROWS ? h("small", {}, `${ROWS} are listed; the file has all.`) : null),
      h(
        "table.rows",
        {},
        h("thead", {}, h("tr", {}, h("th", {}, "row"), columns.predicted ? [h("th", {}, "class"), h("th.number", {}, "p")] : null)),
        h(
          "tbody",
          {},
          columns.id.slice(0, ROWS).map((id, i) =>
            h(
              "tr",
              {},
              h("td", {}, h("button.link.term", { type: "button", title: "Show it on the map", onclick: () => map.glide({ x: columns.x[i], y: columns.y[i], scale: Math.max(map.view.scale, 6 * map.fitted().scale) }) }, short(id, 30)), columns.new[i] ? null : h("small", {}, " known")),
              columns.predicted ? [h("td", {}, sign(model, columns.type[i], label(i), 10), " ", short(label(i) || "none", 20)), h("td.number", {}, columns.known[i] ? "known" : figure(columns.probability[i]))] : null,
            ),
          ),
        ),
      ),
    );
  }
  map.redraw();
  return panel;
}

