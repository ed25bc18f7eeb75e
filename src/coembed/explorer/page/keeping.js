// Selections with names, kept beside the model where the server allows it.
import { count, h, short } from "coembed/dom.js";
import { failure, section } from "coembed/parts.js";
import { bitsOf, quoted } from "coembed/query.js";
import * as state from "coembed/state.js";

// in the panel of a selection
export function keepForm(page, now, chosen) {
  const { api, changes, items } = page;
  if (!changes?.allowed) return null;
  const name = h("input", { type: "text", id: "keep-name", maxlength: "80", required: "", placeholder: "a name", "aria-label": "Keep this selection under the name" });
  const said = h("div", { role: "status" });
  const keep = async (event) => {
    event.preventDefault();
    const alone = now.q && now.lasso === undefined && !now.hide && !now.off;
    const selection = alone ? { query: now.q } : { bits: bitsOf(items, chosen) };
    try {
      page.fields.selections = (await api.change("selections", { name: name.value.trim(), selection })).selections;
      said.replaceChildren(h("p.note", {}, `Kept: find it with in:${quoted(name.value.trim())}`));
    } catch (error) {
      said.replaceChildren(failure(error));
    }
  };
  return h("form.against", { onsubmit: keep }, h("label", {}, "keep as", name), h("button", { type: "submit" }, "Keep"), said);
}

// where one begins
export function keptList(page, again) {
  const { fields, changes, api } = page;
  if (!fields?.selections.length) return null;
  const forget = (kept) => async () => {
    fields.selections = (await api.change("selections/remove", { name: kept.name })).selections;
    again();
  };
  const size = (kept) => count(Object.values(kept.counts).reduce((sum, each) => sum + each, 0));
  return section(
    "Kept selections",
    null,
    h(
      "ul.counted.kept",
      {},
      fields.selections.map((kept) =>
        h(
          "li",
          {},
          h("button.link", { type: "button", onclick: () => state.set({ ...state.only({}), q: `in:${quoted(kept.name)}` }) }, short(kept.name, 40)),
          h("small", {}, size(kept)),
          changes?.allowed ? h("button.quiet", { type: "button", title: `Forget ${kept.name}`, "aria-label": `Forget the selection ${kept.name}`, onclick: forget(kept) }, "✕") : null,
        ),
      ),
    ),
  );
}
