// The cards of items and of attributes.
import { count, figure, h, icon, percent, short } from "coembed/dom.js";
import { bars, chips, heading, itemLink, matches, section, tone } from "coembed/parts.js";
import { article, capital, classOf, isAttribute, many, sign, wayName } from "coembed/types.js";

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

// The card of any item; of an attribute there is less to say, and other things.
export function itemCard(page) {
  return isAttribute(page.model, page.card.type) ? { panel: attributeCard(page), explain: () => {} } : entityCard(page);
}

function entityCard({ model, api, card, startFrom }) {
  const likely = card.probabilities[0];
  const label = card.label ?? likely?.label ?? null;
  const whyLabel = h("p.why", { hidden: true });
  const whyOf = new Map();
  const explained = wordsOf(model, card);
  const why = (walked) => (match) => {
    if (walked !== explained) return null;
    const line = h("p.why", { hidden: true });
    whyOf.set(match.id, line);
    return line;
  };
  const words = card.relations.filter((walked) => isAttribute(model, walked.other));
  const links = card.relations.filter((walked) => !isAttribute(model, walked.other));
  const others = Object.entries(card.nearest).filter(([type, list]) => type !== card.type && list.length);
  const panel = h(
    "article.card",
    { "data-kind": card.type, "data-id": card.id },
    heading(about(model, card, links), card.title, [copyButton()]),
    label ? verdict(model, card, label, likely) : null,
    whyLabel,
    card.probabilities.length ? bars(model, card.type, card.probabilities, 3) : null,
    possible(card),
    certainty(model, card),
    card.cells.length ? cells(model, card) : null,
    words.flatMap((walked) => [has(model, api, card, walked, "rarest first"), should(model, walked, 8, why(walked))]),
    section(`Most similar ${many(model, card.type)}`, "cosine", matches(model, card.nearest[card.type].slice(0, 8), { unit: "cosine" })),
    links.flatMap((walked) => [should(model, walked, 6), has(model, api, card, walked, "best linked first")]),
    others.map(([type, list]) => h("details.more", {}, h("summary", {}, model.plain ? "Nearest attributes, owned or not" : `Nearest ${short(type, 40)}`), matches(model, list.slice(0, CARD_ITEMS), { unit: "cosine" }))),
    model.can_embed && startFrom ? h("button", { type: "button", onclick: () => startFrom(card) }, `Add ${article(card.type)} ${short(card.type, 30)} that starts from this one`) : null,
  );
  return { panel, explain: (found) => explain(model, card, found, whyLabel, whyOf) };
}

// the attributes whose suggestions are explained
export const wordsOf = (model, card) => card.relations.find((walked) => isAttribute(model, walked.other)) ?? null;

function about(model, card, links) {
  const total = links.reduce((sum, walked) => sum + walked.has.total, 0);
  const id = card.id === card.title ? "" : ` · ${short(card.id, 30)}`;
  return `${card.type}${id} · ${count(total)} links`;
}

const has = (model, api, card, walked, order) => section(`Its ${wayName(walked)}`, order, chips(model, walked.has, (offset) => api.neighbours(card.type, card.id, walked, offset)));

function should(model, walked, most, why) {
  if (!walked.suggested.length) return null;
  const title = `${capital(wayName(walked))} it probably should have`;
  return section(title, walked.score, matches(model, walked.suggested.slice(0, most), { unit: walked.score, why }));
}

// columns with one cell an item: what is known, and what the model expects
function cells(model, card) {
  const expected = (cell) => {
    if (cell.spread !== null) return `${cell.expected} ± ${cell.spread}${cell.interval === null ? "" : `; 90 %: ${cell.interval}`}`;
    if (!cell.values.length) return "";
    return cell.kind === "yes/no" ? `yes ${percent(cell.values[0].score)}` : cell.values.slice(0, 3).map((match) => `${short(match.title, 24)} ${percent(match.score)}`).join(", ");
  };
  return section(
    "Its columns",
    "known, and expected",
    h(
      "table.rows.cells",
      {},
      h("thead", {}, h("tr", {}, h("th", {}, "column"), h("th", {}, "known"), h("th", {}, "expected"))),
      h("tbody", {}, card.cells.map((cell) => h("tr", {}, h("th", { scope: "row" }, short(cell.column, 30)), h("td", {}, cell.known === null ? h("em", {}, "unknown") : short(cell.known, 30)), h("td", {}, expected(cell))))),
    ),
  );
}

function verdict(model, card, label, likely) {
  const entry = card.type === model.coloured ? classOf(model, label) : undefined;
  const known = card.label !== null;
  const agrees = card.true_label === null ? null : card.true_label === likely.label;
  return h(
    "div.verdict",
    { style: { borderColor: tone(entry) } },
    h("span.class", {}, sign(model, card.type, label, 14), h("b", {}, short(label, 40))),
    h("span", {}, known ? `known label; the model by itself would say ${likely.label} (${percent(likely.probability)})` : `predicted, ${card.certainty.words}`),
    agrees === null ? null : h("span.truth", {}, agrees ? "✓ the hidden label is the same" : `✗ the hidden label is ${card.true_label}`),
  );
}

// which classes it may have, as often as that is promised; sets that are the same are said once
function possible(card) {
  const told = card.sets.filter((set, i) => i === card.sets.length - 1 || set.classes.length < card.sets[i + 1].classes.length);
  return told.length ? h("ul.possible", { "aria-label": "Classes it may have" }, told.map((set) => h("li", {}, h("b", {}, percent(set.coverage)), ` ${set.classes.map((name) => short(name, 24)).join(", ")}`))) : null;
}

function certainty(model, card) {
  const place = `its place is sharper than that of ${percent(card.certainty.sharper_than)}`;
  const text = card.certainty.surer_than === null ? `${place} of the ${many(model, card.type)}` : `Its class is surer than that of ${percent(card.certainty.surer_than)} of all ${many(model, card.type)}; ${place}`;
  return h("p.certainty", {}, `${text[0].toUpperCase()}${text.slice(1)}.`);
}

// The reasons arrive after the card: they take a little longer.
function explain(model, card, why, whyLabel, whyOf) {
  const most = Math.max(0, ...(why.label?.reasons ?? []).map((reason) => reason.contribution));
  if (most > 0) {
    const words = most < 0.001 ? ["Many things together: without any one of them the class would be the same."] : reasons(model, why.label);
    whyLabel.replaceChildren(h("b", {}, "Why? "), most >= 0.01 || most < 0.001 ? "" : "Many things together, most of all ", ...words);
    whyLabel.hidden = false;
  }
  for (const each of why.targets) {
    const line = whyOf.get(each.target);
    const words = sentence(model, card, each);
    if (!line || !words.length) continue;
    line.replaceChildren(h("b", {}, "why: "), ...words);
    line.hidden = false;
  }
}

function reasons(model, why, most = 3) {
  const parts = why.reasons.filter((reason) => reason.contribution >= 0.001).slice(0, most).map((reason) => [
    reasonLink(model, reason),
    h("small", { title: `Its share of ${figure(why.claimed)}; without it alone the probability would be ${figure(reason.without)}` }, ` ${signed(reason.contribution)}`),
  ]);
  return join(parts);
}

// a reason without a relation is the known class of the item itself
const reasonLink = (model, reason) => (reason.relation ? itemLink(model, { ...reason, label: null }, { class: "item inline" }) : `its class ${short(reason.title, 40)}`);

const signed = (value) => `+${figure(value)}`;

function sentence(model, card, why) {
  const words = [];
  if (why.owners.length) {
    const names = why.owners.slice(0, 2).map((id) => [itemLink(model, { type: card.type, id, label: null }, { class: "item inline" })]);
    const rest = why.owners_total - names.length;
    words.push("linked ", ...join(names), rest > 0 ? ` and ${rest} more have it` : names.length > 1 ? " have it" : " has it");
  }
  const pointing = why.reasons.filter((reason) => !why.owners.includes(reason.id) && reason.contribution > 0.01 * why.claimed).slice(0, why.owners.length ? 1 : 2);
  if (pointing.length) {
    if (words.length) words.push("; ");
    words.push(...join(pointing.map((reason) => [reasonLink(model, reason), h("small", {}, ` ${signed(reason.contribution)}`)])), pointing.length > 1 ? " point to it" : " points to it");
  }
  return words;
}

function join(parts) {
  return parts.flatMap((part, i) => (i ? [i === parts.length - 1 ? " and " : ", ", ...part] : part));
}

function attributeCard({ model, api, card }) {
  const most = Math.max(...card.classes.map((each) => Math.max(each.share, each.everywhere)), 1e-9);
  const [owned] = card.relations;
  const owners = many(model, card.owner);
  const kind = model.plain || !card.column ? card.type : `${card.column.kind} · ${short(card.column.name, 30)}`;
  const numeric = ["number", "date"].includes(card.column?.kind);
  return h(
    "article.card",
    { "data-kind": card.type, "data-id": card.id },
    heading(`${kind} · ${owned ? `${count(owned.has.total)} ${owners} have it` : ""}`, card.title, [copyButton()]),
    h("p.certainty", {}, `Its place is sharper than that of ${percent(card.certainty.sharper_than)} of the ${model.plain ? "attributes" : "others"}.`),
    section(model.plain ? "Nodes it stands for" : `${capital(owners)} it stands for`, "cosine", matches(model, (card.nearest[card.owner] ?? []).slice(0, 10), { unit: "cosine" })),
    card.classes.length
      ? section(
          `Classes of the ${owners} that have it`,
          `against all ${owners}`,
          h(
            "div.bars",
            {},
            card.classes.map(({ label, share, everywhere }) => {
              const entry = card.owner === model.coloured ? classOf(model, label) : undefined;
              return h(
                "div.bar-row",
                { title: `${percent(share, 1)} of its ${owners}, ${percent(everywhere, 1)} of all ${owners}` },
                h("span.bar-name", {}, sign(model, card.owner, label, 10), short(label, 26)),
                h("span.bar-track", {}, h("i", { style: { width: `${(100 * share) / most}%`, background: tone(entry) } }), h("u", { style: { left: `${(100 * everywhere) / most}%` } })),
                h("span.bar-value", {}, percent(share)),
              );
            }),
            h("p.note", {}, `The mark on each bar is the share among all ${owners}.`),
          ),
        )
      : null,
    section("Similar attributes", "cosine", matches(model, card.nearest[card.type].slice(0, 8), { unit: "cosine" })),
    owned ? section(numeric ? `${capital(owners)} whose ${short(card.title, 30)} is known` : `${capital(owners)} that have it`, "best linked first", chips(model, owned.has, (offset) => api.neighbours(card.type, card.id, owned, offset))) : null,
  );
}
