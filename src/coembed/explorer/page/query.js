// The query line: what is typed, what may come next, and which items fit.
import { h, later, short } from "coembed/dom.js";
import * as state from "coembed/state.js";

const MOST = 10; // proposals
const OPERATORS = /<=|>=|!=|[<>=:]/;
const HINTS = { has: "an attribute", linked: "to an item", id: "or title", missing: "an empty column", in: "a kept selection", class: "known or predicted", is: "labelled or predicted", p: "probability of its class", doubt: "1 − p", spread: "how uncertain its place is", degree: "its links", type: "of items" };

// a name as a query holds it
export const quoted = (name, field = false) => (name && !(field ? /[\s"(),*\\<>=:!]|^-/ : /[\s"(),*\\]/).test(name) ? name : `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);

// the term that the caret is in: where it starts, its field, and where its last value starts
export function termAt(text, caret) {
  let start = 0;
  let inQuotes = false;
  for (let i = 0; i < caret; i++) {
    if (text[i] === '"' && text[i - 1] !== "\\") inQuotes = !inQuotes;
    else if (!inQuotes && /[\s()]/.test(text[i])) start = i + 1;
  }
  if (text[start] === "-") start += 1;
  const typed = text.slice(start, caret);
  const found = OPERATORS.exec(typed.replace(/"[^"]*"/g, (quotes) => "x".repeat(quotes.length)));
  if (!found) return { start, field: null, value: typed, from: start };
  const field = typed.slice(0, found.index).replaceAll('"', "");
  const comma = typed.lastIndexOf(",");
  const from = start + (comma > found.index ? comma + 1 : found.index + found[0].length);
  return { start, field, operator: found[0], value: text.slice(from, caret).replaceAll('"', ""), from };
}

// what may come next: { text, hint, rest } with what is written in place of what was typed
async function proposals(page, text, caret, signal) {
  const { model, items, fields, api } = page;
  const { field, value } = termAt(text, caret);
  const begins = (name) => name.toLowerCase().startsWith(value.toLowerCase());
  if (field === null) {
    const known = fields.fields.map(({ name, kind }) => ({ text: name, hint: HINTS[name] ?? kind, rest: `${quoted(name, true)}${kind === "number" || kind === "date" ? ">" : ":"}` }));
    const words = fields.words.map((name) => ({ text: name, hint: HINTS[name] ?? "a relation", rest: `${quoted(name, true)}:` }));
    return [...known, ...words].filter((each) => begins(each.text));
  }
  const of = (names, hint = () => "") => names.filter(begins).map((name) => ({ text: name, hint: hint(name), rest: `${quoted(name)} ` }));
  if (field === "class") return of([...new Set(model.types.flatMap((type) => type.classes))]);
  if (field === "type") return of(model.types.map((type) => type.name));
  if (field === "is") return of(["labelled", "predicted"]);
  if (field === "in") return of(fields.selections.map((each) => each.name));
  if (field === "missing") return of(fields.fields.map((each) => each.name));
  const column = model.relations.find((each) => each.column !== null && [each.column, `.${each.column}`, `${each.source}.${each.column}`].includes(field));
  if (column?.kind === "yes/no") return of(["yes", "no"]);
  if (column && column.kind !== "number" && column.kind !== "date") {
    const first = items.starts[items.types.findIndex((type) => type.name === column.target)];
    // an attribute whose title says nothing by itself is called by its id, as frames=8
    const bare = (i) => (items.names[i] === items.ids[i] && items.ids[i].startsWith(`${column.column}=`) ? items.ids[i].slice(column.column.length + 1) : items.names[i]);
    const places = Array.from({ length: column.span[1] - column.span[0] }, (_, i) => first + column.span[0] + i).filter((i) => begins(bare(i)));
    return places.sort((a, b) => items.weight[b] - items.weight[a]).slice(0, MOST).map((i) => ({ text: bare(i), hint: `${items.weight[i]} have it`, rest: `${quoted(bare(i))} ` }));
  }
  if ((field === "has" || fields.words.includes(field)) && value) {
    const found = await api.search(value, 40, signal);
    const wanted = (item) => (field === "has") === (items.types.find((type) => type.name === item.type).owner !== null);
    return found.items.filter(wanted).map((item) => ({ text: item.title, hint: model.plain ? "" : item.type, rest: `${quoted(item.id)} ` }));
  }
  return [];
}

export function queryLine(page) {
  let offered = [];
  let active = -1;
  let asking = null;
  const input = h("input", {
    type: "text",
    id: "query-input",
    placeholder: page.model.classes ? `Query, as in class:${quoted(short(page.model.class_list[0].label, 16))} p<0.6` : "Query, as in degree>10",
    "aria-label": "Query: which items are meant",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "query-offers",
    "aria-autocomplete": "list",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    oninput: () => look(),
    onclick: () => look(),
    onkeydown: (event) => key(event),
    onblur: () => setTimeout(() => open(false), 150),
  });
  const list = h("ul.found", { id: "query-offers", role: "listbox", "aria-label": "What may come next", hidden: true });
  const problem = h("p.problem", { id: "query-problem", role: "alert" });
  const clear = h("button.quiet", { type: "button", title: "Clear the query", "aria-label": "Clear the query", hidden: true, onclick: () => state.set({ q: null, only: null }) }, "✕");

  const look = later(80, async () => {
    asking?.abort();
    asking = new AbortController();
    try {
      const found = await proposals(page, input.value, input.selectionStart, asking.signal);
      if (document.activeElement === input) show(found.slice(0, MOST));
    } catch (error) {
      if (error.name !== "AbortError") show([]);
    }
  });

  function show(found) {
    offered = found;
    active = -1;
    list.replaceChildren(
      ...found.map((each, i) => h("li", { role: "option", id: `offer-${i}`, "aria-selected": "false", onpointerdown: (event) => (event.preventDefault(), take(i)) }, h("span.name", {}, short(each.text, 50)), h("span.hint", {}, short(each.hint, 30)))),
    );
    open(found.length > 0);
  }

  function open(yes) {
    list.hidden = !yes;
    input.setAttribute("aria-expanded", String(yes));
    if (!yes) {
      active = -1;
      input.removeAttribute("aria-activedescendant");
    }
  }

  function take(i) {
    const { from } = termAt(input.value, input.selectionStart);
    const rest = input.value.slice(input.selectionStart);
    const text = input.value.slice(0, from) + offered[i].rest;
    input.value = text + rest.trimStart();
    input.setSelectionRange(text.length, text.length);
    open(false);
    look();
  }

  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offered.length) {
      event.preventDefault();
      active = (active + step + offered.length + (active < 0 && step < 0 ? 1 : 0)) % offered.length;
      open(true);
      [...list.children].forEach((child, i) => child.setAttribute("aria-selected", String(i === active)));
      input.setAttribute("aria-activedescendant", `offer-${active}`);
      list.children[active].scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) return take(active);
      open(false);
      state.set({ ...state.only({}), q: input.value.trim() || null, tab: state.get().tab === "table" ? "table" : null });
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (!list.hidden) open(false);
      else input.blur();
    }
  }

  return {
    box: h("div.searchbox.query", {}, input, clear, list, problem),
    input,
    // what stands in the address
    write(q, error) {
      if (document.activeElement !== input || (q ?? "") !== input.value.trim()) input.value = q ?? "";
      clear.hidden = !q;
      problem.textContent = error ?? "";
      input.setAttribute("aria-invalid", String(Boolean(error)));
      if (error) input.setAttribute("aria-describedby", "query-problem");
      else input.removeAttribute("aria-describedby");
    },
  };
}

// which items fit, a byte each in the order of the page
export async function findMatching(page, q) {
  const { items, api } = page;
  const found = await api.find(q);
  const fits = new Uint8Array(items.count);
  for (const [t, { name }] of items.types.entries()) {
    const octets = Uint8Array.from(atob(found.bits[name]), (letter) => letter.charCodeAt(0));
    const end = items.starts[t + 1] ?? items.count;
    for (let i = items.starts[t], bit = 0; i < end; i++, bit++) fits[i] = (octets[bit >> 3] >> (bit & 7)) & 1;
  }
  return fits;
}

// items of the page as the server reads a selection
export function bitsOf(items, chosen) {
  const bits = {};
  for (const [t, { name }] of items.types.entries()) bits[name] = new Uint8Array(((items.starts[t + 1] ?? items.count) - items.starts[t] + 7) >> 3);
  for (const i of chosen) {
    const place = i - items.starts[items.place[i]];
    bits[items.type(i)][place >> 3] |= 1 << (place & 7);
  }
  const text = (octets) => {
    let letters = "";
    for (let i = 0; i < octets.length; i += 8192) letters += String.fromCharCode(...octets.subarray(i, i + 8192));
    return btoa(letters);
  };
  return Object.fromEntries(Object.entries(bits).map(([name, octets]) => [name, text(octets)]));
}
