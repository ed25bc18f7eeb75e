// The cards of a node and of an attribute.
import { count, h, icon, percent, short } from "coembed/dom.js";
import { bars, chips, classOf, heading, itemLink, matches, section, sign } from "coembed/parts.js";
import { classColour, css } from "coembed/colours.js";

const CARD_ITEMS = 12;

function copyButton() {
  const button = h("button.quiet", { type: "button", title: "Copy the address of this card", "aria-label": "Copy the address" }, icon("copy"));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.replaceChildren(icon("done"));
    } catch {
      button.replaceChildren(icon("close"));
    }
    setTimeout(() => button.replaceChildren(icon("copy")), 1200);
  });
  return button;
}

export function nodeCard({ model, api, card, startFrom }) {
  const likely = card.probabilities[0];
  const label = card.label ?? likely?.label ?? null;
  const whyLabel = h("p.why", { hidden: true });
  const whyOf = new Map();
  const panel = h(
    "article.card",
    { "data-kind": "node", "data-id": card.id },
    heading(`node · ${count(card.links.total)} links`, card.id, [copyButton()]),
    label ? verdict(model, card, label, likely) : null,
    whyLabel,
    card.probabilities.length ? bars(model, card.probabilities, 3) : null,
    certainty(card),
    section("Its attributes", "rarest first", chips(model, card.attributes, (offset) => api.neighbours(card.id, "node", "attribute", offset))),
    card.suggested_attributes.length
      ? section(
          "Attributes it probably should have",
          model.scores.attributes,
          matches(model, card.suggested_attributes.slice(0, 8), {
            unit: model.scores.attributes,
            why: (match) => {
              const line = h("p.why", { hidden: true });
              whyOf.set(match.id, line);
              return line;
            },
          }),
        )
      : null,
    section("Most similar nodes", "cosine", matches(model, card.similar.slice(0, 8), { unit: "cosine" })),
    section("Links it probably should have", model.scores.links, matches(model, card.suggested_links.slice(0, 6), { unit: model.scores.links })),
    section("Its links", "best linked first", chips(model, card.links, (offset) => api.neighbours(card.id, "node", "node", offset))),
    card.profile.length ? h("details.more", {}, h("summary", {}, "Nearest attributes, owned or not"), matches(model, card.profile.slice(0, CARD_ITEMS), { unit: "cosine" })) : null,
    model.can_embed && startFrom ? h("button", { type: "button", onclick: () => startFrom(card) }, "Add a node that starts from this one") : null,
  );
  return { panel, explain: (why) => explain(model, card, why, whyLabel, whyOf) };
}

function verdict(model, card, label, likely) {
  const entry = classOf(model, label);
  const known = card.label !== null;
  const agrees = card.true_label === null ? null : card.true_label === likely.label;
  return h(
    "div.verdict",
    { style: { borderColor: css(classColour(entry)) } },
    h("span.class", {}, sign(model, "node", label, 14), h("b", {}, short(label, 40))),
    h("span", {}, known ? `known label; the model by itself would say ${likely.label} (${percent(likely.probability)})` : `predicted, ${card.certainty.words}`),
    agrees === null ? null : h("span.truth", {}, agrees ? "✓ the hidden label is the same" : `✗ the hidden label is ${card.true_label}`),
  );
}

function certainty(card) {
  const place = `its place is sharper than that of ${percent(card.certainty.sharper_than)}`;
  const text = card.certainty.surer_than === null ? `${place} of the nodes` : `Its class is surer than that of ${percent(card.certainty.surer_than)} of all nodes; ${place}`;
  return h("p.certainty", {}, `${text[0].toUpperCase()}${text.slice(1)}.`);
}

// The reasons arrive after the card: they take a little longer.
function explain(model, card, why, whyLabel, whyOf) {
  if (why.label?.reasons.length) {
    const most = why.label.reasons[0].contribution;
    const words = most < 0.001 ? ["Many things together: without any one of them the class would be the same."] : reasons(model, why.label);
    whyLabel.replaceChildren(h("b", {}, "Why? "), most >= 0.01 || most < 0.001 ? "" : "Many things together, most of all ", ...words);
    whyLabel.hidden = false;
  }
  for (const each of why.attributes) {
    const line = whyOf.get(each.target);
    const words = sentence(model, each);
    if (!line || !words.length) continue;
    line.replaceChildren(h("b", {}, "why: "), ...words);
    line.hidden = false;
  }
}

function reasons(model, why, most = 3) {
  const parts = why.reasons.filter((reason) => reason.contribution >= 0.001).slice(0, most).map((reason) => [
    itemLink(model, { ...reason, label: null }, { class: "item inline" }),
    h("small", { title: `Without it the probability would be ${(why.score - reason.contribution).toFixed(2)} instead of ${why.score.toFixed(2)}` }, ` ${signed(reason.contribution)}`),
  ]);
  return join(parts);
}

const signed = (value) => `+${value.toFixed(value >= 0.1 ? 2 : 3)}`;

function sentence(model, why) {
  const words = [];
  if (why.owners.length) {
    const names = why.owners.slice(0, 2).map((id) => [itemLink(model, { kind: "node", id, label: null }, { class: "item inline" })]);
    const rest = why.owners_total - names.length;
    words.push("linked ", ...join(names), rest > 0 ? ` and ${rest} more have it` : names.length > 1 ? " have it" : " has it");
  }
  const pointing = why.reasons.filter((reason) => !why.owners.includes(reason.id) && reason.contribution > 0.001).slice(0, why.owners.length ? 1 : 2);
  if (pointing.length) {
    if (words.length) words.push("; ");
    words.push(...join(pointing.map((reason) => [itemLink(model, { ...reason, label: null }, { class: "item inline" }), h("small", {}, ` ${signed(reason.contribution)}`)])), pointing.length > 1 ? " point to it" : " points to it");
  }
  return words;
}

function join(parts) {
  return parts.flatMap((part, i) => (i ? [i === parts.length - 1 ? " and " : ", ", ...part] : part));
}

export function attributeCard({ model, api, card }) {
  const most = Math.max(...card.classes.map((each) => Math.max(each.share, each.everywhere)), 1e-9);
  return h(
    "article.card",
    { "data-kind": "attribute", "data-id": card.id },
    heading(`attribute · ${count(card.owners.total)} nodes have it`, card.id, [copyButton()]),
    h("p.certainty", {}, `Its place is sharper than that of ${percent(card.sharper_than)} of the attributes.`),
    section("Nodes it stands for", "cosine", matches(model, card.nodes.slice(0, 10), { unit: "cosine" })),
    card.classes.length
      ? section(
          "Classes of the nodes that have it",
          "against all nodes",
          h(
            "div.bars",
            {},
            card.classes.map(({ label, share, everywhere }) => {
              const entry = classOf(model, label);
              return h(
                "div.bar-row",
                { title: `${percent(share, 1)} of its nodes, ${percent(everywhere, 1)} of all nodes` },
                h("span.bar-name", {}, sign(model, "node", label, 10), short(label, 26)),
                h("span.bar-track", {}, h("i", { style: { width: `${(100 * share) / most}%`, background: css(classColour(entry)) } }), h("u", { style: { left: `${(100 * everywhere) / most}%` } })),
                h("span.bar-value", {}, percent(share)),
              );
            }),
            h("p.note", {}, "The mark on each bar is the share among all nodes."),
          ),
        )
      : null,
    section("Similar attributes", "cosine", matches(model, card.similar.slice(0, 8), { unit: "cosine" })),
    section("Nodes that have it", "best linked first", chips(model, card.owners, (offset) => api.neighbours(card.id, "attribute", "node", offset))),
  );
}
