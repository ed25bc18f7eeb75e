// What types and relations are called, and how their items are drawn.
import { classColour, css, swatch } from "coembed/colours.js";

export const typeOf = (model, name) => model.types.find((each) => each.name === name);

export const isAttribute = (model, name) => (typeOf(model, name)?.owner ?? null) !== null;

// several items of a type: nodes and attributes have a plural, of the types of others we know none
export const many = (model, name) => (model.plain ? `${name}s` : name);

// what there is to find, in words
export const everything = (model) => (model.plain ? model.types.filter((type) => type.items).map((type) => many(model, type.name)).join(" and ") : "items");

export const article = (name) => (/^[aeiou]/i.test(name) ? "an" : "a");

// one of a type, or, where we do not know how one of it is called, the type
export const one = (model, name) => (model.plain ? `${article(name)} ${name}` : isAttribute(model, name) ? `attributes of ${typeOf(model, name).owner}` : name);

export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

// what a relation is called from one of its ends
export const wayName = ({ relation, backwards, directed }) => (backwards && directed ? `${relation} (from others)` : relation);

// the name of the layer that holds a type: what stands in an address, so nothing that a user wrote
export const layerOf = (model, name) => (model.plain ? `${name}s` : `t${model.types.findIndex((each) => each.name === name)}`);

export function classOf(model, label) {
  return model.class_list.find((entry) => entry.label === label);
}

export function sign(model, name, label, size = 11) {
  const type = typeOf(model, name);
  if (type?.mark === "cross") return swatch("cross", "currentColor", size);
  if (type && name !== model.coloured) return swatch(type.mark, css(classColour(type)), size);
  const entry = classOf(model, label);
  return swatch(entry?.mark ?? "circle", entry ? css(classColour(entry)) : "var(--accent)", size);
}
