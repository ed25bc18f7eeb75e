// The line above the map: the query, and what colours and sizes mean.
import { choices, fieldTitle } from "coembed/encodings.js";
import { $, h, short } from "coembed/dom.js";
import { queryLine } from "coembed/query.js";
import { searchBox } from "coembed/search.js";
import * as state from "coembed/state.js";

const ATTRIBUTE = "an attribute…";

export function makeLine(page) {
  const { model } = page;
  page.query = page.isReport ? null : queryLine(page);
  const colour = chooser("Colour", "colour", choices(page), "class", model.types.some((type) => type.owner !== null && type.items) && !page.isReport);
  const size = chooser("Size", "size", choices(page, true), "", false);
  const attribute = h("div.pick-attribute", { hidden: true });
  if (!page.isReport) {
    const { box, input } = searchBox({
      api: page.api,
      model,
      label: "Colour by whether items have this attribute",
      placeholder: "an attribute",
      accept: (item) => model.types.find((type) => type.name === item.type).owner !== null,
      type: undefined,
      choose: (item) => {
        attribute.hidden = true;
        colour.select.focus();
        state.set({ colour: `has:${item.id}`, hide: null });
      },
    });
    attribute.replaceChildren(box);
    colour.asks = () => {
      attribute.hidden = false;
      input.focus();
    };
  }
  $("line").replaceChildren(page.query?.box ?? "", colour.label, attribute, size.label);
  return {
    write: (now) => {
      colour.write(now.colour ?? "class");
      size.write(now.size ?? "");
    },
  };
}

function chooser(title, key, fields, usual, withAttributes) {
  const chosen = { asks: () => {} };
  const names = (usual ? [] : [["", "all alike"]]).concat(fields.map(({ name }) => [name, short(fieldTitle(name), 26)]));
  chosen.select = h(
    "select",
    {
      id: `${key}-select`,
      onchange: (event) => {
        const field = event.target.value;
        if (field === ATTRIBUTE) return chosen.asks();
        state.set({ [key]: field === usual ? null : field, ...(key === "colour" ? { hide: null } : {}) });
      },
    },
    names.map(([value, text]) => h("option", { value }, text)),
    withAttributes ? h("option", { value: ATTRIBUTE }, ATTRIBUTE) : null,
  );
  chosen.label = h("label.choose", {}, h("span", {}, title), chosen.select);
  chosen.write = (field) => {
    // an attribute that was picked becomes a choice
    if (![...chosen.select.options].some((option) => option.value === field)) chosen.select.add(new Option(short(fieldTitle(field), 26), field));
    chosen.select.value = field;
  };
  return chosen;
}
