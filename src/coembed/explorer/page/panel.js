// The panel: a card, a selection, an item being added, or where to begin.
import { isReport } from "coembed/api.js";
import { addingPanel, draft, draftOf } from "coembed/adding.js";
import { itemCard, wordsOf } from "coembed/cards.js";
import { $, count, h, short } from "coembed/dom.js";
import { startPanel } from "coembed/panels.js";
import { chosenItems, selectionPanel } from "coembed/selection.js";
import { compareBox, comparisonPanel } from "coembed/comparison.js";
import { droppedPanel } from "coembed/dropped.js";
import { fieldTitle, knownValue } from "coembed/encodings.js";
import { keepForm, keptList } from "coembed/keeping.js";
import { correctBox, labellingPanel } from "coembed/labelling.js";
import { failure, loading } from "coembed/parts.js";
import * as state from "coembed/state.js";
import { isAttribute } from "coembed/types.js";

const DRAWN = 1000; // links of one item that are drawn

let showing = null;

// What the panel holds is replaced. Who was in it, or nowhere, is at its head then, not lost at the top of the page.
function fill(...content) {
  const panel = $("panel");
  const lost = panel.contains(document.activeElement) || document.activeElement === document.body || document.activeElement === null;
  panel.replaceChildren(...content);
  if (lost && document.body.dataset.ready) panel.focus({ preventScroll: true });
}

export async function showPanel(page, now) {
  const { map, items, api, model } = page;
  page.adding = null;
  showing?.abort();
  showing = new AbortController();
  const { signal } = showing;
  Object.assign(map, { selected: -1, joined: [], marked: new Set(), newcomer: null, kept: null, within: [] });
  map.filter = now.only !== undefined ? page.matching : null;
  map.recolour();
  const selection = chosenItems(page, now);
  page.chosen = selection.chosen;
  map.kept = selection.outline;
  map.marked = now.lasso !== undefined || page.matching ? new Set(selection.chosen) : new Set();
  map.recolour();
  const open = state.opened(now);
  document.body.classList.toggle("with-card", open !== null || now.new !== undefined || now.label !== undefined || now.rows !== undefined || now.lasso !== undefined || Boolean(page.matching));
  map.placed = [];
  if (now.rows !== undefined) {
    fill(droppedPanel(page));
    toTop();
  } else if (open && now.with !== undefined) await showComparison(page, now, open, signal);
  else if (now.label !== undefined) {
    fill(labellingPanel(page, signal, (i) => point(page, i)));
    toTop();
  } else if (open) {
    const { type, id } = open;
    map.selected = items.find(type, id);
    map.recolour();
    if (map.selected >= 0) map.show(map.selected);
    const patience = setTimeout(() => fill(loading()), 120);
    try {
      const card = await api.item(type, id, signal);
      clearTimeout(patience);
      if (signal.aborted) return;
      showCard(page, card, signal);
    } catch (error) {
      clearTimeout(patience);
      if (error.name !== "AbortError") fill(h("article.card", {}, h("div.heading", {}, h("h2", {}, short(id, 50))), failure(error, model), h("button", { type: "button", onclick: () => state.set(state.only({})) }, "Back to the map")));
    }
  } else if (now.new !== undefined) {
    const { panel: form, focus, refresh } = addingPanel({ ...page, placed: (place) => showNewcomer(page, place) });
    page.adding = refresh;
    fill(form);
    toTop();
    map.recolour();
    if (innerWidth > 800 && !Object.keys(draft(now.new).joined).length) focus();
  } else if (now.lasso !== undefined || page.matching) {
    const made = selectionPanel(page, now, selection.chosen, signal);
    if (selection.chosen.length) made.append(keepForm(page, now, selection.chosen) ?? "");
    fill(made);
    toTop();
  } else {
    map.recolour();
    fill(startPanel({ ...page, addNode, kept: keptList(page, () => showPanel(page, state.get())) }));
    toTop();
  }
  page.closeUp();
}

// one item is meant: it is raised and in view
function point({ map }, i) {
  map.selected = i;
  map.recolour();
  if (i >= 0) map.show(i);
}

async function showComparison(page, now, open, signal) {
  const { map, items, api, model } = page;
  const other = { type: now.withtype ?? open.type, id: now.with };
  map.marked = new Set([items.find(open.type, open.id), items.find(other.type, other.id)].filter((i) => i >= 0));
  map.recolour();
  fill(loading());
  try {
    const told = await api.compare(open, other);
    if (!signal.aborted) fill(comparisonPanel(page, told));
  } catch (error) {
    fill(h("article.card", {}, failure(error, model)));
  }
  toTop();
}

// the fields that were chosen, and the way to the record elsewhere
function recordLines(page, card) {
  const { model, items } = page;
  const i = items.find(card.type, card.id);
  const values = i < 0 ? [] : model.shown.map((field) => [field, knownValue(page, field, i)]).filter(([, value]) => value !== null);
  const lines = values.length ? [h("dl.shown", {}, values.map(([field, value]) => h("div", {}, h("dt", {}, short(fieldTitle(field), 30)), h("dd", {}, short(value, 60)))))] : [];
  if (model.link && !isAttribute(model, card.type)) {
    const address = model.link.replace(/\{(id|title|type)\}/g, (_, name) => encodeURIComponent(card[name].toWellFormed?.() ?? card[name]));
    lines.push(h("p.record", {}, h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, "Its record ↗")));
  }
  return lines;
}

function showCard(page, card, signal) {
  const { map, items, api, model } = page;
  map.spreads.set(map.selected, card.place.covariance);
  let near = card.relations.flatMap((walked) => walked.has.items);
  join(near);
  const { panel: made, explain } = itemCard({ model, api, card, startFrom: isReport ? null : startFrom });
  made.querySelector(".heading").after(...recordLines(page, card));
  if (!isReport) made.append(...[correctBox(page, card), compareBox(page, card)].filter(Boolean));
  fill(made);
  if (model.can_embed && !isAttribute(model, card.type)) {
    const words = wordsOf(model, card);
    api.why(card.type, card.id, words?.relation, askable(words?.suggested.slice(0, 8) ?? []), signal).then((why) => signal.aborted || explain(why), () => {});
  }
  toTop();
  $("told").textContent = `Card of the ${card.type} ${short(card.title, 80)}${card.probabilities.length ? `, class ${card.label ?? card.probabilities[0].label}` : ""}`;
  // all links on the map, not only those that the card lists; of very many the best linked, and that is said
  const total = card.relations.filter((each) => !isAttribute(model, each.other)).reduce((sum, each) => sum + each.has.total, 0);
  for (const walked of card.relations.filter((each) => !isAttribute(model, each.other) && each.has.total > each.has.items.length)) drawMore(walked, walked.has.items.length);

  async function drawMore(walked, offset) {
    try {
      while (offset < walked.has.total && near.length < DRAWN && !signal.aborted) {
        const more = await api.neighbours(card.type, card.id, walked, offset);
        if (signal.aborted || !more.items.length) break;
        offset += more.items.length;
        join((near = [...near, ...more.items]));
      }
    } catch {
      // what is drawn is said below
    }
    const drawn = new Set(near.filter((each) => !isAttribute(model, each.type)).map((each) => items.find(each.type, each.id))).size;
    const note = made.querySelector(".drawn");
    if (!signal.aborted && note && drawn < total) note.textContent = `, ${count(drawn)} of them drawn`;
  }

  function join(list) {
    map.joined = list.map((each) => items.find(each.type, each.id)).filter((i) => i >= 0);
    map.recolour();
  }
}

// half of a letter, which a broken file can leave in a name, cannot be sent
const askable = (matches) => matches.map((match) => match.id).filter((id) => id.isWellFormed?.() ?? true);

// to the head of the panel; on a phone the whole page scrolls
function toTop() {
  $("panel").scrollTop = 0;
  if (scrollY > 0) scrollTo({ top: 0 });
}

function startFrom(card) {
  state.set({ ...state.only({ new: draftOf(card) }), tab: null });
}

function showNewcomer({ map }, place) {
  const first = place && !map.newcomer;
  map.newcomer = place;
  map.joined = place ? place.near : [];
  map.recolour();
  if (place && first) map.showPlace(place.x, place.y);
}

export const addNode = () => state.set({ ...state.only({ new: "{}" }), tab: null });
