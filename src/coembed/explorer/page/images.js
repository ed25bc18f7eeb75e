// Pictures of items: asked for once, as the server wants its token with every question.
import { h } from "coembed/dom.js";

const kept = new Map();

export function picture({ api, items }, i, kind) {
  const image = h("img", { class: kind, alt: "" });
  if (!kept.has(i)) kept.set(i, api.image(items.type(i), items.ids[i]).then((blob) => URL.createObjectURL(blob)));
  kept.get(i).then(
    (address) => (image.src = address),
    () => image.remove(),
  );
  return image;
}
