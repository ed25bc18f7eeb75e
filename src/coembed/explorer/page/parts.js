// Pieces that several panels are made of.
import { count, figure, h, icon, percent, short } from "coembed/dom.js";
import { classColour, css, swatch } from "coembed/colours.js";
import * as state from "coembed/state.js";
import { classOf, sign } from "coembed/types.js";

// the way to another card; a real address, so that it opens in a new tab too
export function itemLink(model, { type, id, title = id, label, text = null }, extra = {}) {
  return h(
    "a.item",
    {
      href: state.itemAddress(type, id),
      title: id.length > 34 || id !== title ? id.slice(0, 300) : undefined,
      "data-kind": type,
      "data-id": id,
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        state.open(type, id);
      },
      ...extra,
    },
    sign(model, type, label),
    h("span", {}, short(title, 34)),
    text ? h("small", {}, text) : null,
  );
}

export function heading(kind, title, actions = [], close = () => state.set(state.only({}))) {
  return h(
    "div.heading",
    {},
    h("div", {}, h("span.kind", {}, kind), h("h2", { title: title.length > 60 ? title.slice(0, 400) : undefined }, short(title, 60))),
    h(
      "div.actions",
      {},
      ...actions,
      h("button.quiet", { type: "button", title: "Close (Esc)", "aria-label": "Close", onclick: close }, icon("close")),
    ),
  );
}

export function section(title, note, ...content) {
  return h("section", {}, h("h3", {}, title, note ? h("small", {}, note) : null), ...content);
}

export const tone = (entry) => (entry ? css(classColour(entry)) : "var(--accent)");

// classes with their probabilities; only those of one type have colours
export function bars(model, type, rows, most = 4) {
  const line = ({ label, probability }) => {
    const entry = type === model.coloured ? classOf(model, label) : undefined;
    return h(
      "div.bar-row",
      {},
      h("span.bar-name", {}, entry ? swatch(entry.mark, tone(entry), 10) : null, short(label, 26)),
      h("span.bar-track", {}, h("i", { style: { width: percent(probability, 1).replace(" ", ""), background: tone(entry) } })),
      h("span.bar-value", {}, probability > 0.9995 ? "> 99.9 %" : probability < 0.0005 ? "< 0.1 %" : percent(probability, 1)),
    );
  };
  const first = rows.slice(0, most).map(line);
  const rest = rows.slice(most);
  return h("div.bars", {}, first, rest.length ? h("details.more", {}, h("summary", {}, `${rest.length} more classes`), rest.map(line)) : null);
}

// of all pairs few are there: probabilities are small, and read better as parts of a hundred
const hundredths = (share) => (share >= 0.0995 ? (100 * share).toFixed(0) : share >= 0.00095 ? (100 * share).toPrecision(2) : (100 * share).toFixed(2));
const shown = (score, unit) => (unit === "probability" ? `${hundredths(score)} %` : unit === "cosine" ? score.toFixed(2) : figure(score));
const deviation = (std, unit) => (unit === "probability" ? hundredths(std) : unit === "cosine" ? std.toFixed(std < 0.0095 ? 3 : 2) : figure(std));

// what stands beside the heading of a list: a score that was not weighed only ranks
export const unitName = (unit) => ({ probability: "probability", score: "score: it ranks, and is no probability", value: "value" })[unit] ?? unit;

// one line of an answer: the item, its score as a bar, the score, its uncertainty
export function matchRow(model, match, { most = 1, why = null, button = null, unit = "probability" } = {}) {
  const width = Math.max(0, Math.min(1, match.score / (most || 1)));
  return h(
    "li.match",
    {},
    h(
      "div.match-line",
      {},
      itemLink(model, match),
      match.known ? h("span.tag", { title: "The network already holds this" }, "has") : null,
      button,
      h("span.score", { title: `${unit} ${match.score.toPrecision(3)}, standard deviation ${match.std.toPrecision(2)}` }, h("i", { style: { width: `${(46 * width).toFixed(0)}px` } }), h("b", {}, shown(match.score, unit)), h("small", {}, ` ± ${deviation(match.std, unit)}`)),
    ),
    why,
  );
}

export function matches(model, list, options = {}) {
  // of all pairs few are there: bars compare the lines of a list
  const most = options.unit === "cosine" ? 1 : Math.max(...list.map((match) => match.score), 1e-9);
  return list.length ? h("ul.matches", {}, list.map((match) => matchRow(model, match, { most, ...options, why: options.why?.(match), button: options.button?.(match) }))) : h("p.empty", {}, "There is nothing to rank.");
}

// items as chips, and a button for the rest
export function chips(model, { total, items }, more) {
  if (!total) return h("p.empty", {}, "None.");
  const list = h("div.chips", {}, items.map((item) => itemLink(model, item, { class: "item chip" })));
  if (total > items.length && more) {
    const button = h("button.link", { type: "button" }, `+ ${count(total - items.length)} more`);
    button.addEventListener("click", async () => {
      button.disabled = true;
      const next = await more(list.querySelectorAll("a").length);
      button.before(...next.items.map((item) => itemLink(model, item, { class: "item chip" })));
      const left = total - list.querySelectorAll("a").length;
      if (left > 0 && next.items.length) {
        button.disabled = false;
        button.textContent = `+ ${count(left)} more`;
      } else button.remove();
    });
    list.append(button);
  }
  return list;
}

export function failure(error, model = null) {
  const near = model && error.near?.length ? h("p", {}, "Open ", error.near.map((item) => itemLink(model, { ...item, label: null }, { class: "item chip" }))) : null;
  return h("div.failure", { role: "alert" }, h("b", {}, "That did not work. "), error.message, near);
}

// what is being done, and how far it is
export function waiting({ doing, progress }) {
  const known = Number.isFinite(progress);
  return h(
    "article.card",
    { "data-kind": "starting" },
    h("h2", {}, "Nearly there"),
    h("p", { role: "status" }, `The server is ${doing ?? "starting"}${known ? `: ${percent(progress)}` : ""}. This page goes on by itself.`),
    h("progress", { "aria-label": doing ?? "starting", max: "1", ...(known ? { value: String(progress) } : {}) }),
  );
}

export function loading() {
  return h("div.loading", { "aria-busy": "true" }, h("i"), h("i"), h("i"));
}
