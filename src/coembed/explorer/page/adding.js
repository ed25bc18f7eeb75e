// Adding a node: what it has is typed, and where it falls is seen at once.
import { h, later, short } from "coembed/dom.js";
import { bars, classOf, failure, heading, matches, section } from "coembed/parts.js";
import { classColour, css, swatch } from "coembed/colours.js";
import { searchBox } from "coembed/search.js";
import * as state from "coembed/state.js";

const EMPTY = { name: "", attributes: [], links: [] };

export function draft(text) {
  try {
    const found = JSON.parse(text || "{}");
    const texts = (list) => (Array.isArray(list) ? list.filter((each) => typeof each === "string") : []);
    return { name: String(found.name ?? ""), attributes: texts(found.attributes), links: texts(found.links) };
  } catch {
    return { ...EMPTY };
  }
}

export function addingPanel({ model, api, items, placed, isReport }) {
  let node = draft(state.get().new);
  let asking = null;
  const answer = h("div.answer", { "aria-live": "polite" });
  const given = { attributes: h("div.chips"), links: h("div.chips") };
  const leftOut = h("p.note", { hidden: true });

  const name = h("input", { type: "text", placeholder: "new node", maxlength: "200", "aria-label": "Name of the new node", value: node.name });
  name.addEventListener("input", () => change({ name: name.value }));
  const text = h("textarea", { rows: "3", placeholder: "Paste or type a description: words that are attributes are taken", "aria-label": "Description" });
  text.addEventListener("input", () => read());
  const attributes = searchBox({ api, classes: model.class_list, label: "Add an attribute", placeholder: "an attribute …", kinds: ["attribute"], choose: (item) => add("attributes", item.id) });
  const links = searchBox({ api, classes: model.class_list, label: "Add a link", placeholder: "a node it is linked to …", kinds: ["node"], choose: (item) => add("links", item.id) });

  const panel = h(
    "article.card.adding",
    { "data-kind": "new" },
    heading("add a node", "Where does it belong?"),
    h("label", {}, "Name", name),
    model.attributes ? [h("label", {}, "Description", text), leftOut, h("div.field", {}, h("span", {}, "Attributes"), given.attributes, attributes.box)] : null,
    h("div.field", {}, h("span", {}, "Links"), given.links, links.box),
    answer,
  );

  function change(changes) {
    node = { ...node, ...changes };
    state.set({ new: JSON.stringify(node) }, { small: true });
    show();
    ask();
  }

  function add(what, id) {
    if (!node[what].includes(id)) change({ [what]: [...node[what], id] });
  }

  function remove(what, id) {
    change({ [what]: node[what].filter((each) => each !== id) });
  }

  const known = () => (known.made ??= new Map([...items.byName.attribute.keys()].map((id) => [id.toLowerCase(), id])));

  // words of the description that are attributes, as they are or without their ending
  const read = later(250, () => {
    const words = text.value.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
    const strange = [];
    const found = [];
    for (const word of words) {
      const hit = [word, word.replace(/s$/, ""), word.replace(/(ing|ed|es)$/, "")].map((each) => known().get(each)).find(Boolean);
      if (hit) found.push(hit);
      else if (word.length > 3) strange.push(word);
    }
    leftOut.hidden = !strange.length;
    leftOut.textContent = `Not attributes of this network: ${[...new Set(strange)].slice(0, 8).join(", ")}`;
    const fresh = found.filter((id) => !node.attributes.includes(id));
    if (fresh.length) change({ attributes: [...node.attributes, ...new Set(fresh)] });
  });

  function show() {
    for (const what of ["attributes", "links"])
      given[what].replaceChildren(...node[what].map((id) => h("button.chip", { type: "button", title: "Remove", "aria-label": `Remove ${short(id)}`, onclick: () => remove(what, id) }, short(id, 30), h("span", {}, " ✕"))));
  }

  const ask = later(200, async () => {
    asking?.abort();
    if (!node.attributes.length && !node.links.length) {
      placed(null);
      answer.replaceChildren(h("p.empty", {}, isReport ? "A report cannot place new nodes; run coembed explore on the model." : "Give it an attribute or a link, and it appears on the map."));
      return;
    }
    asking = new AbortController();
    try {
      const { nodes } = await api.embed({ id: node.name || "new node", attributes: node.attributes, links: node.links }, asking.signal);
      tell(nodes[0]);
    } catch (error) {
      if (error.name === "AbortError") return;
      placed(null);
      answer.replaceChildren(failure(error));
    }
  });

  function tell(found) {
    const likely = found.probabilities[0];
    const entry = likely && classOf(model, likely.label);
    placed({ ...found.place, name: node.name || "new node", colour: entry && css(classColour(entry)), links: node.links });
    const unknown = [...found.unknown.attributes, ...found.unknown.links];
    const button = (what) => (match) => h("button.quiet.small", { type: "button", title: "Give it this", "aria-label": `Add ${short(match.id)}`, onclick: () => add(what, match.id) }, "+");
    answer.replaceChildren(
      ...[
        unknown.length ? h("p.note", {}, `The model does not know: ${unknown.map((id) => short(id, 30)).join(", ")}`) : null,
        likely ? h("div.verdict", { style: { borderColor: css(classColour(entry)) } }, h("span.class", {}, swatch(entry.mark, css(classColour(entry)), 14), h("b", {}, short(likely.label, 40))), h("span", {}, `predicted, ${found.words}`)) : null,
        likely ? bars(model, found.probabilities, 3) : null,
        found.suggested_attributes.length ? section("It probably also has", model.scores.attributes, matches(model, found.suggested_attributes.slice(0, 6), { unit: model.scores.attributes, button: button("attributes") })) : null,
        section("Most similar nodes", "cosine", matches(model, found.similar.slice(0, 6), { unit: "cosine" })),
        section("Links it probably should have", model.scores.links, matches(model, found.suggested_links.slice(0, 6), { unit: model.scores.links, button: button("links") })),
      ].filter(Boolean),
    );
  }

  show();
  ask();
  return { panel, focus: () => (model.attributes ? text : links.input).focus() };
}
