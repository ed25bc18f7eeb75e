// One box for items of all types, with completion; used at the top and where an item is added.
import { h, later, short } from "coembed/dom.js";
import { isAttribute, sign } from "coembed/types.js";

let made = 0;

// choose(item) is called with { id, type, label }; type and accept limit what is offered
export function searchBox({ api, model, label, placeholder, choose, type, accept = () => true }) {
  const list = `found-${++made}`;
  let items = [];
  let active = -1;
  let asking = null;
  let answered = ""; // what the list below answers
  let entered = false; // Enter was pressed before the answer was there

  const input = h("input", {
    type: "search",
    placeholder,
    "aria-label": label,
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": list,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      entered = false;
      look();
    },
    onkeydown: (event) => key(event),
    onfocus: () => input.value && items.length && open(true),
    onblur: () => setTimeout(() => open(false), 150),
  });
  const options = h("ul.found", { id: list, role: "listbox", "aria-label": "Found", hidden: true });
  const status = h("span.unseen", { role: "status" });
  const box = h("div.searchbox", {}, input, options, status);

  const look = later(60, async () => {
    const typed = input.value;
    asking?.abort();
    if (!typed.trim()) return show([], "");
    asking = new AbortController();
    try {
      const found = await api.search(typed, type ? 40 : 12, asking.signal, type);
      if (input.value === typed) show(found.items.filter(accept).slice(0, 12), typed, undefined, type ? undefined : found.total);
    } catch (error) {
      if (error.name !== "AbortError") show([], typed, error.message);
    }
  });

  function show(found, typed, problem, total) {
    items = found;
    answered = typed;
    active = found.length ? 0 : -1;
    options.replaceChildren(...found.map(option));
    if (typed && !found.length) options.append(h("li.none", {}, problem ?? `Nothing is named like “${short(typed, 30)}”.`));
    status.textContent = typed ? (problem ?? `${total ?? found.length} found`) : "";
    open(Boolean(typed));
    mark();
    if (entered && typed === input.value) {
      entered = false;
      pick(0);
    }
  }

  function option(item, i) {
    const known = isAttribute(model, item.type) ? `${item.weight} ${model.plain ? "nodes" : "have it"}` : (item.label ?? `${item.weight} links`);
    return h(
      "li",
      { role: "option", id: `${list}-${i}`, onpointerdown: (event) => (event.preventDefault(), pick(i)) },
      sign(model, item.type, item.label, 12),
      h("span.name", { title: item.id.slice(0, 300) }, short(item.title, 60)),
      h("span.hint", {}, model.plain ? known : `${short(item.type, 24)} · ${short(known, 24)}`),
    );
  }

  function open(yes) {
    options.hidden = !yes;
    input.setAttribute("aria-expanded", String(yes));
  }

  function mark() {
    [...options.children].forEach((child, i) => child.setAttribute("aria-selected", String(i === active)));
    if (active >= 0) {
      input.setAttribute("aria-activedescendant", `${list}-${active}`);
      options.children[active]?.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function pick(i) {
    const item = items[i];
    if (!item) return;
    input.value = "";
    show([], "");
    choose(item);
  }

  function key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (moves[event.key] && items.length) {
      event.preventDefault();
      active = (active + moves[event.key] + items.length) % items.length;
      open(true);
      mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (answered === input.value) pick(active);
      else entered = true;
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (options.hidden || !input.value) input.blur();
      input.value = "";
      show([], "");
    }
  }

  return { box, input };
}
