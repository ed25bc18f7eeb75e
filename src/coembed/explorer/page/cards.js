// The cards of items and of attributes.
import { count, figure, h, icon, percent, short } from "coembed/dom.js";
import { bars, chips, heading, itemLink, matches, section, tone, unitName } from "coembed/parts.js";
import { histogram } from "coembed/charts.js";
import { article, capital, classOf, isAttribute, many, sign, typeOf, wayName } from "coembed/types.js";

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
  const words = card.relations.filter((walked) => isAttribute(model, walked.other) && typeOf(model, walked.other).items);
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
    card.cells.length ? cells(model, api, card) : null,
    words.flatMap((walked) => [has(model, api, card, walked, "rarest first"), should(model, walked, 8, why(walked))]),
    section(`Most similar ${many(model, card.type)}`, "cosine", matches(model, card.nearest[card.type].slice(0, 8), { unit: "cosine" })),
    links.flatMap((walked) => [should(model, walked, 6), has(model, api, card, walked, "best linked first")]),
    others.map(([type, list]) => h("details.more", {}, h("summary", {}, model.plain ? "Nearest attributes, owned or not" : `Nearest ${short(type, 40)}`), matches(model, list.slice(0, CARD_ITEMS), { unit: "cosine" }))),
    model.can_embed && startFrom ? h("button", { type: "button", onclick: () => startFrom(card) }, `Add ${article(card.type)} ${short(card.type, 30)} that starts from this one`) : null,
  );
  return { panel, explain: (found) => explain(model, card, found, whyLabel, whyOf) };
}

// the attributes whose suggestions are explained
export const wordsOf = (model, card) => card.relations.find((walked) => isAttribute(model, walked.other) && walked.suggested.length) ?? null;

function about(model, card, links) {
  const total = links.reduce((sum, walked) => sum + walked.has.total, 0);
  const id = card.id === card.title ? "" : ` · ${short(card.id, 30)}`;
  return h("span", {}, `${card.type}${id} · ${count(total)} link${total === 1 ? "" : "s"}`, h("span.drawn"));
}

const has = (model, api, card, walked, order) => section(`Its ${wayName(walked)}`, order, chips(model, walked.has, (offset) => api.neighbours(card.type, card.id, walked, offset)));

function should(model, walked, most, why) {
  if (!walked.suggested.length) return null;
  const title = walked.score === "score" ? `${capital(wayName(walked))} that rank first for it` : `${capital(wayName(walked))} it probably should have`;
  return section(title, unitName(walked.score), matches(model, walked.suggested.slice(0, most), { unit: walked.score, why }));
}

// columns with one cell an item: what is known, and what the model expects
function cells(model, api, card) {
  const expected = (cell) => {
    if (cell.spread !== null) return [h("b", {}, cell.expected), ` ± ${cell.spread}`, cell.interval === null ? null : h("small.line", {}, `nine times of ten ${cell.interval}`)];
    if (!cell.values.length) return [];
    const rows = cell.kind === "yes/no" ? [{ title: "yes", score: cell.values[0].score }] : cell.values.slice(0, 3);
    return rows.map((match) => h("span.chance", {}, h("span", {}, short(match.title, 24)), h("i", {}, h("i", { style: { width: percent(match.score, 1).replace(" ", "") } })), h("small", {}, percent(match.score))));
  };
  const why = (cell) => {
    if (!model.can_embed || !api.whyCell) return null;
    const line = h("p.why", { hidden: true });
    const button = h("button.link.small-link", { type: "button", "aria-label": `Why ${short(cell.column, 30)}?` }, "why?");
    button.addEventListener("click", async () => {
      button.disabled = true;
      const said = await api.whyCell(card.type, card.id, cell.column).then(({ targets }) => cellReasons(model, targets[0]), (error) => [error.message]);
      line.replaceChildren(...said);
      line.hidden = false;
      button.remove();
    });
    return [button, line];
  };
  return section(
    "Its columns",
    "known, and expected",
    h(
      "table.rows.cells",
      {},
      h("thead", {}, h("tr", {}, h("th", {}, "column"), h("th", {}, "known"), h("th", {}, "expected"))),
      h("tbody", {}, card.cells.map((cell) => h("tr", {}, h("th", { scope: "row" }, short(cell.column, 30)), h("td", {}, cell.known === null ? h("em", {}, "unknown") : short(cell.known, 30)), h("td", {}, expected(cell), why(cell))))),
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
  return told.length ? h("ul.possible", { "aria-label": "Classes it may have" }, told.map((set) => h("li", {}, h("b", {}, percent(set.coverage)), ` of the time among: ${set.classes.map((name) => short(name, 24)).join(", ")}`))) : null;
}

function certainty(model, card) {
  const place = `its place is sharper than that of ${percent(card.certainty.sharper_than)}`;
  const text = card.certainty.surer_than === null ? `${place} of the ${many(model, card.type)}` : `Its class is surer than that of ${percent(card.certainty.surer_than)} of all ${many(model, card.type)}; ${place}`;
  return h("p.certainty", {}, `${text[0].toUpperCase()}${text.slice(1)}.`);
}

// what moves the expected value of a cell, up or down
function cellReasons(model, why) {
  const moving = why.reasons.filter((reason) => reason.contribution !== 0);
  if (!moving.length) return ["Nothing that is known of it moves this: it is what one would expect of any."];
  return [h("b", {}, "why: "), ...join(moving.map((reason) => [reasonLink(model, reason), h("small", {}, ` ${signed(reason.contribution)}`)]))];
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

const signed = (value) => `${value < 0 ? "−" : "+"}${figure(Math.abs(value))}`;

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
  const numeric = card.numbers !== null;
  const far = (model.mixing ?? 1) < 0.5;
  return h(
    "article.card",
    { "data-kind": card.type, "data-id": card.id },
    heading(`${kind}${owned ? ` · ${numeric ? "known of " : ""}${count(owned.has.total)} ${owners}${numeric ? "" : " have it"}` : ""}`, card.title, [copyButton()]),
    h("p.certainty", {}, `Its place is sharper than that of ${percent(card.certainty.sharper_than)} of the ${model.plain ? "attributes" : "others"}.`),
    numeric ? numbers(card) : null,
    section(numeric ? `${capital(owners)} that its high values stand for` : model.plain ? "Nodes it stands for" : `${capital(owners)} it stands for`, far ? "cosine; on the map they may be far" : "cosine", matches(model, (card.nearest[card.owner] ?? []).slice(0, 10), { unit: "cosine" })),
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
    section(model.plain ? "Similar attributes" : "Attributes alike", "cosine", matches(model, card.nearest[card.type].slice(0, 8), { unit: "cosine" })),
    owned ? section(numeric ? `${capital(owners)} whose ${short(card.title, 30)} is known` : `${capital(owners)} that have it`, numeric ? "largest first" : "best linked first", chips(model, owned.has, (offset) => api.neighbours(card.type, card.id, owned, offset))) : null,
  );
}

// how the known cells of a column of numbers are spread
function numbers({ numbers: n, title }) {
  return section(
    "Its values",
    `${count(n.known)} known${n.missing ? `, ${count(n.missing)} missing` : ""}`,
    h("p", {}, "half of them between ", h("b", {}, n.quarter), " and ", h("b", {}, n.three_quarters), `, the middle one ${n.middle}; all from ${n.lowest} to ${n.highest}`),
    histogram({ title: short(title, 40), bins: n.bins, note: "number of cells" }),
  );
}
