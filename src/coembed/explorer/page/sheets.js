// The views beside the map: training, quality, data.
import { count, figure, h, inOrder, percent, scrolling, short } from "coembed/dom.js";
import { confusion, curves, histogram, reliability, shade, tiles } from "coembed/charts.js";
import { itemLink } from "coembed/parts.js";
import { classColour, css, swatch } from "coembed/colours.js";
import { many } from "coembed/types.js";

export function trainingSheet(place, { training, model }) {
  const { loss, validation, validated_at: at, epochs } = training;
  const parts = Object.keys(loss).length;
  const best = at.length ? training.best_epoch : null;
  const validationLow = Math.min(...Object.values(validation).flat().filter(Number.isFinite), 1);
  place.replaceChildren(
    h("h2", {}, "How it was trained"),
    h("p.lead", {}, `${count(epochs)} epochs with the preset ${model.preset}; ended because ${ended(training.stopped)}.`, best ? ` The state of epoch ${best} was kept, where the validation figures were best.` : ""),
    training.truth.length ? h("ul.truth", {}, training.truth.map((line) => h("li", {}, line))) : "",
    training.notices.length ? h("ul.notices", {}, training.notices.map((notice) => h("li", {}, notice))) : "",
    h(
      "div.charts",
      {},
      parts ? curves({ title: "Loss and its parts", series: loss, x: Array.from({ length: epochs }, (_, i) => i + 1), mark: best, markText: best ? `kept: ${best}` : "" }) : h("p.empty", {}, "This model carries no history."),
      at.length
        ? curves({ title: "On data kept aside", series: validation, x: at, low: Math.max(0, Math.floor(validationLow * 10) / 10 - 0.1), high: 1, mark: best, markText: `kept: ${best}` })
        : h("div.hint-box", {}, h("b", {}, "No validation curve"), h("p", {}, "Nothing was kept aside in this fit. To see how well it does on labels it has not seen while it learns, train with"), h("code", {}, "coembed train NETWORK -o MODEL --set validation=0.2")),
    ),
    h("h3", {}, "Settings"),
    h("dl.settings", {}, Object.entries(training.settings).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value))))),
  );
}

const ended = (stopped) => (stopped ? { "all epochs done": "all epochs were done", interrupted: "it was interrupted" }[stopped] ?? `there was ${stopped}` : "it was done");

export function qualitySheet(place, { quality, model }) {
  if (!quality.judged) {
    place.replaceChildren(
      h("h2", {}, "How good it is"),
      h(
        "div.hint-box",
        {},
        h("b", {}, model.classes ? "There is nothing to judge it by yet" : "There are no classes to judge"),
        h(
          "p",
          {},
          model.classes
            ? `Figures on labels that the model learnt from would flatter it. Hand over a network with labels that it did not see (${count(model.types.find((type) => type.name === model.coloured).items - model.labelled)} of its ${many(model, model.coloured)} had none), with the same names, and this page shows accuracy, a reliability diagram, a confusion matrix and the surest mistakes.`
            : "This model was fitted without labels. The training page shows how well what was hidden was found, if some were kept aside.",
        ),
        model.classes ? h("code", {}, "coembed explore MODEL --truth NETWORK") : null,
        h("p", {}, "To measure a method with repeated trials, and against simple ones:"),
        h("code", {}, `coembed evaluate NETWORK --task ${model.classes ? "classification" : "links"}`),
      ),
    );
    return;
  }
  const f = quality.figures;
  place.replaceChildren(
    h("h2", {}, "How good it is"),
    h("p.lead", {}, `Judged on ${count(quality.judged)} labels that the model has not seen.`),
    tiles([
      ["accuracy", percent(f.accuracy, 1), `always the commonest class: ${percent(f["commonest class"], 1)}`],
      ["macro F1", percent(f["macro F1"], 1), "mean over the classes"],
      ["log loss", figure(f["log loss"]), "less is better"],
      ["calibration error", percent(f["calibration error"], 1), "how far “sure” is from right"],
    ]),
    h("div.charts", {}, reliability({ bins: quality.reliability }), confusion({ names: quality.class_names, counts: quality.confusion })),
    h("h3", {}, "Surest mistakes ", h("small", {}, "where the model, the links or the labels deserve a look")),
    quality.mistakes.length
      ? scrolling(
          "Surest mistakes",
          h(
            "table.rows",
            {},
            h("thead", {}, h("tr", {}, h("th", {}, short(quality.type, 20)), h("th", {}, "predicted"), h("th", {}, "true"), h("th.number", {}, "probability"))),
            h("tbody", {}, quality.mistakes.map((each) => h("tr", {}, h("td", {}, itemLink(model, { type: each.type, id: each.id, title: each.title, label: each.predicted })), h("td", {}, short(each.predicted, 20)), h("td", {}, short(each.true, 20)), h("td.number", {}, each.probability.toFixed(3))))),
          ),
        )
      : h("p.empty", {}, "There is none: every hidden label was found."),
  );
  shade(place);
}

export function dataSheet(place, { data, model, items }) {
  if (!model.plain) return generalSheet(place, { data, model });
  const s = data.summary;
  const most = Math.max(...model.class_list.map((entry) => entry.nodes), 1);
  const listed = (title, rows, unit) =>
    rows.length ? h("figure", {}, h("figcaption", {}, title), h("ol.counted", {}, rows.map((each) => h("li", {}, itemLink(model, { ...each, label: items.className(items.find(each.type, each.id)) }), h("small", {}, `${count(each.count)} ${unit}`))))) : null;
  place.replaceChildren(
    ...[
      h("h2", {}, "What it was fitted to"),
      h("p.lead", {}, `${short(s.name, 60)}: ${s.components === 1 ? "all nodes hang together" : `${count(s.components)} separate parts`}${s.links_inside_a_class === null ? "" : `; ${percent(s.links_inside_a_class)} of the links between labelled nodes stay inside a class`}.`),
      tiles([
        ["nodes", count(s.nodes), `${count(s.isolated_nodes)} without links`],
        ["links", count(s.links), `${figure(s.mean_degree)} a node`],
        ...(s.attributes ? [["attributes", count(s.attributes), `${count(s.entries)} entries`]] : []),
        ["labels known", count(s.labelled), `${count(s.classes)} classes`],
      ]),
      s.notices.length ? h("ul.notices", {}, s.notices.map((notice) => h("li", {}, notice))) : null,
      model.classes
        ? h(
            "figure",
            {},
            h("figcaption", {}, "Classes", h("small", {}, "solid: label known; pale: predicted")),
            h(
              "div.bars.wide",
              {},
              inOrder(model.class_list, (entry) => entry.label).map((entry) =>
                h(
                  "div.bar-row",
                  {},
                  h("span.bar-name", {}, swatch(entry.mark, css(classColour(entry)), 11), short(entry.label, 30)),
                  h("span.bar-track", {}, h("i", { style: { width: `${(100 * entry.nodes) / most}%`, background: css(classColour(entry), 0.4) } }), h("i.over", { style: { width: `${(100 * entry.observed) / most}%`, background: css(classColour(entry)) } })),
                  h("span.bar-value", {}, `${count(entry.observed)} + ${count(entry.nodes - entry.observed)}`),
                ),
              ),
            ),
          )
        : null,
      h("div.charts", {}, histogram({ title: "Links of a node", bins: data.degrees, note: "number of nodes" }), s.attributes ? [histogram({ title: "Attributes of a node", bins: data.attributes_per_node, note: "number of nodes" }), histogram({ title: "Nodes of an attribute", bins: data.owners_per_attribute, note: "number of attributes" })] : null),
      h("div.charts", {}, listed("Commonest attributes", data.common_attributes, "nodes"), listed("Best linked nodes", data.linked_nodes, "links")),
    ].filter(Boolean),
  );
}

// a network of several types: its types, relations and columns as tables
function generalSheet(place, { data, model }) {
  const s = data.summary;
  const table = (heads, rows) => scrolling(`Table by ${heads[0]}`, h("table.rows", {}, h("thead", {}, h("tr", {}, heads.map((head) => h("th", {}, head)))), h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell)))))));
  const range = (ends) => (ends ? ends.map(figure).join(" to ") : "");
  place.replaceChildren(
    ...[
      h("h2", {}, "What it was fitted to"),
      h("p.lead", {}, short(s.name, 60)),
      tiles(model.types.filter((type) => type.items).slice(0, 6).map((type) => [short(type.name, 24), count(type.items), type.classes.length ? `${count(type.labelled)} of ${count(type.classes.length)} classes known` : ""])),
      s.notices.length ? h("ul.notices", {}, s.notices.map((notice) => h("li", {}, notice))) : null,
      h("h3", {}, "Types"),
      table(["type", "items", "label", "known"], s.types.map((type) => [short(type.name, 40), count(type.count), short(type.label ?? "–", 40), count(type.labelled)])),
      s.relations.length ? h("h3", {}, "Relations") : null,
      s.relations.length ? table(["relation", "from", "to", "entries"], s.relations.map((each) => [short(each.name, 40), short(each.source, 30), short(each.target, 30), count(each.entries)])) : null,
      s.columns.length ? h("h3", {}, "Columns") : null,
      s.columns.length ? table(["column", "of", "kind", "attributes", "missing", "range"], s.columns.map((each) => [short(each.name, 40), short(each.type, 30), each.kind, count(each.attributes), each.missing === null ? "" : percent(each.missing), range(each.range)])) : null,
    ].filter(Boolean),
  );
}
