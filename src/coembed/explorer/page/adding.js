// Adding an item: what it has is typed, and where it falls is seen at once.
import { h, later, short } from "coembed/dom.js";
import { bars, failure, heading, matches, section, tone, unitName } from "coembed/parts.js";
import { searchBox } from "coembed/search.js";
import * as state from "coembed/state.js";
import { article, capital, classOf, isAttribute, many, sign, typeOf, wayName } from "coembed/types.js";

const CELLS = ["number", "date", "category", "yes/no"];

// the item as the address has it: whatever stands there, it has this form afterwards
export function draft(text) {
  const texts = (list) => (Array.isArray(list) ? list.filter((each) => typeof each === "string") : []);
  const object = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});
  let found = {};
  try {
    found = object(JSON.parse(text || "{}"));
  } catch {
    // as if nothing stood there
  }
  const { attributes, links } = found; // as version 0.1 wrote them
  const joined = { ...(attributes ? { attributes } : {}), ...(links ? { links } : {}), ...object(found.joined) };
  return {
    name: String(found.name ?? ""),
    type: typeof found.type === "string" ? found.type : null,
    joined: Object.fromEntries(Object.entries(joined).map(([name, list]) => [name, texts(list)])),
    cells: Object.fromEntries(Object.entries(object(found.cells)).filter(([, cell]) => typeof cell === "string")),
  };
}

export function draftOf(card) {
  const joined = {};
  for (const walked of card.relations) joined[keyOf(walked)] = walked.has.items.map((each) => each.id);
  const cells = Object.fromEntries(card.cells.filter((cell) => cell.known !== null).map((cell) => [cell.column, cell.known]));
  return JSON.stringify({ name: "", type: card.type, joined, cells });
}

const keyOf = ({ relation, backwards, directed }) => (backwards && directed ? `${relation}<` : relation);

// what a new item of a type can have: columns with one cell, columns of tags or words, relations
function fields(model, type) {
  const own = model.relations.filter((each) => each.column !== null && each.source === type);
  const ends = model.relations.filter((each) => each.column === null && (each.source === type || each.target === type));
  return {
    cells: own.filter((each) => CELLS.includes(each.kind)),
    words: own.filter((each) => !CELLS.includes(each.kind)).map((each) => ({ relation: each.name, other: each.target, backwards: false, directed: false, span: each.span })),
    links: ends.flatMap((each) => {
      const way = (backwards) => ({ relation: each.name, other: backwards ? each.source : each.target, backwards, directed: each.directed });
      return each.source === each.target && each.directed ? [way(false), way(true)] : [way(each.source !== type)];
    }),
  };
}

export function addingPanel({ model, api, items, placed, isReport }) {
  let item = draft(state.get().new);
  const entities = model.types.filter((type) => type.owner === null);
  if (!item.type || !entities.some((type) => type.name === item.type)) item.type = model.main;
  const type = item.type;
  const { cells, words, links } = fields(model, type);
  let asking = null;
  const answer = h("div.answer", { "aria-live": "polite" });
  const leftOut = h("p.note", { hidden: true });
  const given = new Map();

  const name = h("input", { type: "text", placeholder: `new ${type}`, maxlength: "200", "aria-label": `Name of the new ${type}`, value: item.name });
  name.addEventListener("input", () => change({ name: name.value }));
  const text = h("textarea", { rows: "3", placeholder: "Paste or type a description: words that are attributes are taken", "aria-label": "Description" });
  text.addEventListener("input", () => read());

  function chooser(way) {
    const place = h("div.chips");
    given.set(keyOf(way), place);
    const attribute = isAttribute(model, way.other);
    const label = model.plain ? (attribute ? "Add an attribute" : "Add a link") : `Add to ${wayName(way)}`;
    const placeholder = model.plain ? (attribute ? "an attribute …" : "a node it is linked to …") : `${attribute ? way.relation : `${article(way.other)} ${way.other}`} …`;
    const { box, input } = searchBox({ api, model, label, placeholder, type: way.other, accept: (found) => inside(way, items.find(way.other, found.id)), choose: (found) => add(keyOf(way), found.id) });
    return { input, field: h("div.field", {}, h("span", {}, capital(wayName(way))), place, box) };
  }

  function cellInput(column) {
    const input = h("input", { type: "text", placeholder: column.kind === "yes/no" ? "yes or no" : column.kind, "aria-label": column.column, value: item.cells[column.column] ?? "", maxlength: "2000" });
    input.addEventListener("input", () => change({ cells: { ...item.cells, [column.column]: input.value } }));
    return h("label", {}, short(column.column, 40), input);
  }

  function typeSwitch() {
    const select = h("select", { "aria-label": "Type of the new item" }, entities.map((each) => h("option", { value: each.name, selected: each.name === type }, each.name)));
    select.addEventListener("change", () => state.set({ ...state.only({ new: JSON.stringify({ name: item.name, type: select.value }) }), tab: null }));
    return h("label", {}, "Type", select);
  }

  const typed = words.filter((way) => typeOf(model, way.other)?.items).map(chooser);
  const linked = links.map(chooser);
  const panel = h(
    "article.card.adding",
    { "data-kind": "new" },
    heading(`add ${article(type)} ${type}`, "Where does it belong?"),
    entities.length > 1 ? typeSwitch() : null,
    h("label", {}, "Name", name),
    cells.map(cellInput),
    typed.length ? [h("label", {}, "Description", text), leftOut, ...typed.map((each) => each.field)] : null,
    linked.map((each) => each.field),
    answer,
  );

  function change(changes) {
    item = { ...item, ...changes };
    state.set({ new: JSON.stringify(item) }, { small: true });
    show();
    ask();
  }

  const held = (key) => item.joined[key] ?? [];

  function add(key, id) {
    if (!held(key).includes(id)) change({ joined: { ...item.joined, [key]: [...held(key), id] } });
  }

  function remove(key, id) {
    change({ joined: { ...item.joined, [key]: held(key).filter((each) => each !== id) } });
  }

  // whether an attribute is one of a column
  const inside = (way, i) => !way.span || (i - items.starts[items.place[i]] >= way.span[0] && i - items.starts[items.place[i]] < way.span[1]);

  // words that are attributes, as people call them, and whose they are
  function known() {
    if (known.made) return known.made;
    known.made = new Map();
    for (const way of words)
      for (const [id, i] of items.byName[way.other]) if (inside(way, i)) known.made.set(items.names[i].toLowerCase(), [keyOf(way), id]);
    return known.made;
  }

  // words of the description that are attributes, as they are or without their ending
  const read = later(250, () => {
    const seen = text.value.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
    const strange = [];
    const joined = { ...item.joined };
    for (const word of seen) {
      const hit = [word, word.replace(/s$/, ""), word.replace(/(ing|ed|es)$/, "")].map((each) => known().get(each)).find(Boolean);
      if (hit) joined[hit[0]] = [...new Set([...(joined[hit[0]] ?? []), hit[1]])];
      else if (word.length > 3) strange.push(word);
    }
    leftOut.hidden = !strange.length;
    leftOut.textContent = `Not attributes of this network: ${[...new Set(strange)].slice(0, 8).join(", ")}`;
    if (JSON.stringify(joined) !== JSON.stringify(item.joined)) change({ joined });
  });

  const titleOf = (way, id) => {
    const i = items.find(way.other, id);
    return i < 0 ? id : items.names[i];
  };

  function show() {
    for (const way of [...words, ...links]) {
      const key = keyOf(way);
      given.get(key)?.replaceChildren(...held(key).map((id) => h("button.chip", { type: "button", title: "Remove", "aria-label": `Remove ${short(titleOf(way, id))}`, onclick: () => remove(key, id) }, short(titleOf(way, id), 30), h("span", {}, " ✕"))));
    }
  }

  const ask = later(200, async () => {
    asking?.abort();
    const cellsGiven = Object.entries(item.cells).filter(([, cell]) => cell.trim());
    if (!Object.values(item.joined).some((list) => list.length) && !cellsGiven.length) {
      placed(null);
      const something = cells.length ? "Fill in something" : typed.length ? "Give it an attribute or a link" : "Give it a link";
      answer.replaceChildren(h("p.empty", {}, isReport ? "A report cannot place new nodes; run coembed explore on the model." : `${something}, and it appears on the map.`));
      return;
    }
    asking = new AbortController();
    const keys = new Set([...words, ...links].map(keyOf));
    const relations = Object.fromEntries(Object.entries(item.joined).filter(([key, list]) => keys.has(key) && list.length));
    try {
      const { items: found } = await api.place({ id: item.name || `new ${type}`, type, relations, columns: Object.fromEntries(cellsGiven) }, asking.signal);
      tell(found[0]);
    } catch (error) {
      if (error.name === "AbortError") return;
      placed(null);
      answer.replaceChildren(failure(error, model));
    }
  });

  function tell(found) {
    const likely = found.probabilities[0];
    const entry = likely && type === model.coloured ? classOf(model, likely.label) : undefined;
    const near = links.flatMap((way) => held(keyOf(way)).map((id) => items.find(way.other, id))).filter((i) => i >= 0);
    placed({ ...found.place, name: item.name || `new ${type}`, colour: entry && tone(entry), near });
    const unknown = Object.values(found.unknown).flat();
    const button = (way) => (match) => h("button.quiet.small", { type: "button", title: "Give it this", "aria-label": `Add ${short(match.title)}`, onclick: () => add(keyOf(way), match.id) }, "+");
    const suggested = (attribute) => found.relations.filter((way) => isAttribute(model, way.other) === attribute && way.suggested.length).map((way) => ({ ...way, directed: [...words, ...links].find((each) => each.relation === way.relation && each.backwards === way.backwards)?.directed ?? false }));
    const expected = found.cells.filter((cell) => cell.expected !== null);
    answer.replaceChildren(
      ...[
        unknown.length ? h("p.note", {}, `The model does not know: ${unknown.map((id) => short(id, 30)).join(", ")}`) : null,
        likely ? h("div.verdict", { style: { borderColor: tone(entry) } }, h("span.class", {}, sign(model, type, likely.label, 14), h("b", {}, short(likely.label, 40))), h("span", {}, `predicted, ${found.words}`)) : null,
        likely ? bars(model, type, found.probabilities, 3) : null,
        expected.length ? section("Its columns", "expected", h("table.rows.cells", {}, h("tbody", {}, expected.map((cell) => h("tr", {}, h("th", { scope: "row" }, short(cell.column, 30)), h("td", {}, cell.spread === null ? cell.expected : `${cell.expected} ± ${cell.spread}`)))))) : null,
        ...suggested(true).map((way) => section(way.score === "score" ? `${capital(wayName(way))} that rank first for it` : model.plain ? "It probably also has" : `${capital(wayName(way))} it probably also has`, unitName(way.score), matches(model, way.suggested.slice(0, 6), { unit: way.score, button: button(way) }))),
        section(`Most similar ${many(model, type)}`, "cosine", matches(model, found.nearest[type].slice(0, 6), { unit: "cosine" })),
        ...suggested(false).map((way) => section(way.score === "score" ? `${capital(wayName(way))} that rank first for it` : `${capital(wayName(way))} it probably should have`, unitName(way.score), matches(model, way.suggested.slice(0, 6), { unit: way.score, button: button(way) }))),
      ].filter(Boolean),
    );
  }

  show();
  ask();
  return { panel, refresh: ask, focus: () => (typed.length ? text : (linked[0]?.input ?? name)).focus() };
}
