// One box for nodes and attributes, with completion; used at the top and where a node is added.
import { h, later, short } from "coembed/dom.js";
import { classColour, css, swatch } from "coembed/colours.js";

let made = 0;

// choose(item) is called with { id, kind, label }; kinds limits what is offered
export function searchBox({ api, classes, label, placeholder, choose, kinds = null }) {
  const list = `found-${++made}`;
  let items = [];
  let active = -1;
  let asking = null;

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
    oninput: () => look(),
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
      const found = await api.search(typed, kinds ? 40 : 12, asking.signal);
      if (input.value === typed) show(found.items.filter((item) => !kinds || kinds.includes(item.kind)).slice(0, 12), typed);
    } catch (error) {
      if (error.name !== "AbortError") show([], typed, error.message);
    }
  });

  function show(found, typed, problem) {
    items = found;
    active = found.length ? 0 : -1;
    options.replaceChildren(...found.map(option));
    if (typed && !found.length) options.append(h("li.none", {}, problem ?? `Nothing is named like “${short(typed, 30)}”.`));
    status.textContent = typed ? `${found.length} found` : "";
    open(Boolean(typed));
    mark();
  }

  function option(item, i) {
    const entry = classes.find((each) => each.label === item.label);
    const sign = item.kind === "attribute" ? swatch("cross", "currentColor") : swatch(entry?.mark ?? "circle", entry ? css(classColour(entry)) : "currentColor");
    return h(
      "li",
      { role: "option", id: `${list}-${i}`, onpointerdown: (event) => (event.preventDefault(), pick(i)) },
      sign,
      h("span.name", { title: item.id.slice(0, 300) }, short(item.id, 60)),
      h("span.hint", {}, item.kind === "attribute" ? `${item.weight} nodes` : (item.label ?? `${item.weight} links`)),
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
      pick(active);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (options.hidden || !input.value) input.blur();
      input.value = "";
      show([], "");
    }
  }

  return { box, input };
}
