// The legend: what the colours mean, and switches for classes and layers.
import { count, h, short } from "coembed/dom.js";
import { classColour, css, swatch } from "coembed/colours.js";

const LAYERS = [
  ["nodes", "nodes"],
  ["attributes", "attributes"],
  ["names", "names"],
  ["ellipses", "ellipses: one standard deviation"],
];

export function drawLegend(place, { model, map, setHidden, setLayers }) {
  const { hidden, layers } = map;
  const classes = model.class_list.map((entry, k) =>
    h(
      "button.key",
      {
        type: "button",
        "aria-pressed": String(!hidden.has(k)),
        title: `${entry.label}: ${count(entry.nodes)} nodes, ${count(entry.observed)} with a known label.\nClick: show or hide; double-click: only this class`,
        onclick: () => toggle(k),
        ondblclick: () => alone(k),
      },
      swatch(entry.mark, css(classColour(entry)), 13),
      h("span", {}, short(entry.label, 24)),
      h("small", {}, count(entry.nodes)),
    ),
  );

  function toggle(k) {
    const next = new Set(hidden);
    if (!next.delete(k)) next.add(k);
    setHidden(next);
  }

  function alone(k) {
    setHidden(new Set(model.class_list.map((_, i) => i).filter((i) => i !== k)));
  }

  const switches = LAYERS.filter(([name]) => name !== "attributes" || model.attributes).map(([name, text]) =>
    h(
      "label.switch",
      {},
      h("input", { type: "checkbox", checked: layers[name], onchange: (event) => setLayers({ ...layers, [name]: event.target.checked }) }),
      name === "attributes" ? swatch("cross", "currentColor") : null,
      text,
    ),
  );
  // where there is little room the legend starts folded
  const open = place.querySelector("details")?.open ?? innerWidth > 700;
  const key = model.classes
    ? [
        h("p.reading", {}, h("i.solid"), "label known", h("i.pale"), "predicted: paler = less sure"),
        hidden.size ? h("button.link", { type: "button", onclick: () => setHidden(new Set()) }, "Show all classes") : null,
      ]
    : [];
  place.replaceChildren(
    h("details", { open }, h("summary", {}, model.classes ? "Classes" : "Layers"), h("div.keys", {}, classes), key, h("div.switches", {}, switches)),
  );
}
