// The legend: what the colours mean, and switches for classes and layers.
import { count, h, inOrder, short } from "coembed/dom.js";
import { css, swatch } from "coembed/colours.js";
import { fieldTitle, toneOf } from "coembed/encodings.js";
import { layerOf, many, sign } from "coembed/types.js";

const LAYERS = [
  ["names", "names"],
  ["ellipses", "ellipses: one standard deviation"],
];

export function drawLegend(place, { model, map, setHidden, setLayers, setRegions }) {
  const { hidden, layers, encoding, sizes } = map;
  const byClass = encoding.field === "class";
  const entries = encoding.none ? [...encoding.entries, { label: "no value", colour: "#8a8f98", mark: "circle", count: encoding.none }] : encoding.entries;
  const listed = byClass ? inOrder([...entries.entries()], ([, entry]) => entry.label) : [...entries.entries()];
  const told = (entry) => (byClass ? `${entry.label}: ${count(entry.count)} ${many(model, model.coloured)}, ${count(entry.observed)} with a known label.` : `${entry.label}: ${count(entry.count)} items.`);
  const classes = listed.map(([k, entry]) =>
    h(
      "button.key",
      {
        type: "button",
        "data-switch": `class ${k}`,
        "aria-pressed": String(!hidden.has(k)),
        title: `${told(entry)}\nClick: show or hide; double-click: only this`,
        onclick: () => toggle(k),
        ondblclick: () => alone(k),
      },
      swatch(entry.mark, css(toneOf(entry)), 13),
      h("span", {}, short(entry.label, 24)),
      h("small", {}, count(entry.count)),
    ),
  );

  function toggle(k) {
    const next = new Set(hidden);
    if (!next.delete(k)) next.add(k);
    setHidden(next);
  }

  function alone(k) {
    setHidden(new Set(entries.map((_, i) => i).filter((i) => i !== k)));
  }

  const types = model.types.filter((type) => type.items).map((type) => [layerOf(model, type.name), short(many(model, type.name), 30), type]);
  const switches = [...types, ...LAYERS].map(([name, text, type]) =>
    h(
      "label.switch",
      {},
      h("input", { type: "checkbox", "data-switch": `layer ${name}`, checked: layers[name], onchange: (event) => setLayers({ ...layers, [name]: event.target.checked }) }),
      type && type.name !== model.coloured ? sign(model, type.name) : null,
      text,
    ),
  );
  switches.push(h("label.switch", {}, h("input", { type: "checkbox", "data-switch": "regions", checked: Boolean(map.landscape), onchange: (event) => setRegions(event.target.checked) }), "density, and what regions are about"));
  // where there is little room the legend starts folded
  const open = place.querySelector("details")?.open ?? (map.width > 560 && map.height > 380);
  const key = [
    byClass && model.classes ? h("p.reading", {}, h("i.solid"), "label known", h("i.pale"), "predicted: paler inside = less sure") : null,
    sizes ? h("p.reading.sizes", {}, `Size: ${short(fieldTitle(sizes.field), 30)}, ${sizes.low}`, h("i.dot-small"), h("i.dot-large"), sizes.high) : null,
    hidden.size ? h("button.link", { type: "button", "data-switch": "all", onclick: () => setHidden(new Set()) }, byClass ? "Show all classes" : "Show all") : null,
  ];
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.switch : null;
  const scrolled = place.querySelector(".keys")?.scrollTop ?? 0;
  place.replaceChildren(
    h("details", { open }, h("summary", {}, !byClass ? short(fieldTitle(encoding.field), 24) : !model.classes ? "Layers" : model.plain ? "Classes" : `Classes of ${short(model.coloured, 20)}`), h("div.keys", {}, classes), key, h("div.switches", {}, switches)),
  );
  // the switches were made anew: who used one still stands there
  place.querySelector(".keys").scrollTop = scrolled;
  if (focused !== null) ([...place.querySelectorAll("[data-switch]")].find((each) => each.dataset.switch === focused) ?? place.querySelector("summary")).focus({ preventScroll: true });
}
