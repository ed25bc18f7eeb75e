// What to label next: one item after the other, answered with keys; then the model is trained again.
import { count, figure, h, inOrder, percent, short } from "coembed/dom.js";
import { bars, chips, failure, heading, itemLink, loading, section } from "coembed/parts.js";
import * as state from "coembed/state.js";
import { isAttribute, many, sign } from "coembed/types.js";

const ASKED = 40;

export function labellingPanel(page, signal, shown) {
  const { api, model } = page;
  const body = h("div", {}, loading());
  const panel = h("article.card.labelling", { "data-kind": "labelling" }, heading("labelling", "What to label next"), body);
  if (!page.changes?.allowed) {
    body.replaceChildren(h("p", {}, "Labels can be given where the server may keep them:"), h("code", {}, "coembed explore MODEL --allow-changes"));
    return panel;
  }
  const type = model.coloured;
  const queue = (page.queue ??= { items: null, skipped: new Set() });
  const left = () => {
    const done = new Set(page.changes.corrections.filter((each) => each.type === type).map((each) => each.id));
    return queue.items.filter((item) => !done.has(item.id) && !queue.skipped.has(item.id));
  };
  const settled = (answer) => Object.assign(page.changes, { corrections: answer.corrections, pending: answer.pending });
  const attempt = async (action) => {
    try {
      await action();
      await next();
    } catch (error) {
      if (error.name !== "AbortError") body.prepend(failure(error));
    }
  };
  const say = (label) => attempt(async () => settled(await api.change("corrections", { id: left()[0].id, type, label })));
  const skip = () => attempt(async () => queue.skipped.add(left()[0].id));
  const undo = () => attempt(async () => page.changes.corrections.length && settled(await api.change("corrections/undo")));
  const classes = inOrder(model.class_list, (entry) => entry.label);
  page.onKey = (key) => {
    if (key === "u") undo();
    else if (!queue.items || !left().length) return false;
    else if (key === "s") skip();
    else if (/^[1-9]$/.test(key) && classes[key - 1]) say(classes[key - 1].label);
    else return false;
    return true;
  };
  signal.addEventListener("abort", () => (page.onKey = null));
  attempt(async () => (queue.items ??= (await api.askNext(type, ASKED)).items));
  return panel;

  async function next() {
    const [item] = left();
    const given = page.changes.corrections.length;
    const status = h("p.note", { role: "status", id: "labelled" }, `${count(given)} labelled here, ${count(page.changes.pending)} not yet learnt; ${count(left().length)} more in the queue.`);
    const tail = [status, h("p.buttons-row", {}, given ? h("button", { type: "button", id: "undo", title: "Take the last label back (u)", onclick: undo }, "Undo ", h("kbd", {}, "u")) : null), retraining(page, signal)];
    if (!item) {
      shown(-1);
      return body.replaceChildren(h("p.empty", {}, "The queue is empty. Train again, and it fills with what is then in doubt."), ...tail);
    }
    const card = await api.item(type, item.id, signal);
    if (signal.aborted) return;
    shown(page.items.find(type, item.id));
    const words = card.relations.filter((walked) => isAttribute(model, walked.other));
    const links = card.relations.filter((walked) => !isAttribute(model, walked.other));
    const button = (entry, k) => h("button.answer", { type: "button", "data-label": entry.label, onclick: () => say(entry.label) }, k < 9 ? h("kbd", {}, String(k + 1)) : null, sign(model, type, entry.label, 11), short(entry.label, 26));
    body.replaceChildren(
      h("p.asked", {}, itemLink(model, { ...item, type, label: item.predicted }), h("small", {}, ` the model says ${short(item.predicted, 24)}, in doubt by ${percent(item.doubt)}; its label settles ${figure(item.settles)}`)),
      h("div.answers", { role: "group", "aria-label": `Class of ${short(item.title, 60)}` }, classes.map(button), h("button", { type: "button", id: "skip", onclick: skip }, h("kbd", {}, "s"), "skip")),
      bars(model, type, card.probabilities, 4),
      ...words.filter((walked) => walked.has.total).map((walked) => section(`Its ${walked.relation}`, null, chips(model, walked.has))),
      ...card.cells.filter((cell) => cell.known !== null).slice(0, 8).map((cell) => h("p.note", {}, `${short(cell.column, 30)}: ${short(cell.known, 60)}`)),
      ...links.filter((walked) => walked.has.total).map((walked) => section(`Its ${walked.relation}`, null, chips(model, { ...walked.has, items: walked.has.items.slice(0, 8), total: Math.min(8, walked.has.total) }))),
      ...tail,
    );
  }
}

// on a card: its class as somebody knows it
export function correctBox(page, card) {
  const { api, model, changes } = page;
  if (!changes?.allowed || card.type !== model.coloured || !card.probabilities.length) return null;
  const said = h("span", { role: "status" });
  const select = h("select", { id: "correct-class", "aria-label": `Class of ${short(card.title, 60)}` }, h("option", { value: "" }, "its class is …"), inOrder(model.class_list, (entry) => entry.label).map((entry) => h("option", { value: entry.label }, short(entry.label, 40))));
  select.addEventListener("change", async () => {
    if (!select.value) return;
    try {
      const answer = await api.change("corrections", { id: card.id, type: card.type, label: select.value });
      Object.assign(changes, { corrections: answer.corrections, pending: answer.pending });
      said.replaceChildren(" kept; ", h("button.link", { type: "button", onclick: () => state.set({ ...state.only({ label: "1" }), tab: null }) }, `train again with ${answer.pending}`));
    } catch (error) {
      said.replaceChildren(failure(error));
    }
  });
  return h("p.correct", {}, select, said);
}

// training again: how far it is, and then both models side by side
function retraining(page, signal) {
  const { api, changes } = page;
  const place = h("div.retraining", {});
  if (!changes.can_retrain) return place;
  draw();
  return place;

  async function start() {
    try {
      changes.retraining = await api.change("retrain");
    } catch (error) {
      changes.retraining = { status: "failed", problem: error.message };
    }
    draw();
  }

  async function watch() {
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (signal.aborted) return;
    try {
      changes.retraining = (await api.changes()).retraining;
    } catch {
      // asked again in a moment
    }
    draw();
  }

  function draw() {
    const job = changes.retraining;
    const again = h("button.primary", { type: "button", id: "retrain", disabled: !changes.pending, onclick: start }, `Train again with ${count(changes.pending)} new label${changes.pending === 1 ? "" : "s"}`);
    if (job.status === "training") {
      place.replaceChildren(h("p", { role: "status" }, `Training: ${job.doing ?? "…"}`), h("progress", { max: "1", value: String(job.progress), "aria-label": "Training" }));
      watch();
    } else if (job.status === "done") place.replaceChildren(sideBySide(page, job.changes), h("p.buttons-row", {}, h("button.primary", { type: "button", id: "take", onclick: take }, "Use the new model"), h("button", { type: "button", id: "drop", onclick: drop }, "Keep the old one")));
    else place.replaceChildren(job.status === "failed" ? failure({ message: job.problem }) : "", again);
  }

  async function drop() {
    changes.retraining = await api.change("retrain/drop");
    draw();
  }

  // the server loads what it has just written; then the page is made anew
  async function take() {
    const loads = async () => (await fetch("ready")).json().then((told) => told.loads);
    const before = await loads();
    await api.change("retrain/take");
    place.replaceChildren(h("p", { role: "status" }, "Loading the new model …"), loading());
    while ((await loads()) === before) await new Promise((resolve) => setTimeout(resolve, 300));
    location.reload();
  }
}

function sideBySide({ model }, types) {
  const share = (value) => (value === null ? "–" : percent(value, 1));
  return h(
    "section",
    { id: "side-by-side" },
    h("h3", {}, "Before and after"),
    types.map((told) =>
      h(
        "div",
        {},
        h(
          "table.rows",
          {},
          h("thead", {}, h("tr", {}, h("th", {}, short(many(model, told.type), 24)), h("th.number", {}, "before"), h("th.number", {}, "after"))),
          h(
            "tbody",
            {},
            h("tr", {}, h("th", { scope: "row" }, "labels known"), ["before", "after"].map((side) => h("td.number", {}, count(told[side].labelled)))),
            told.judged ? h("tr", {}, h("th", { scope: "row", title: `of ${count(told.judged)} that neither was told` }, "right"), ["before", "after"].map((side) => h("td.number", { "data-side": side }, share(told[side].accuracy)))) : null,
            h("tr", {}, h("th", { scope: "row" }, "mean probability"), ["before", "after"].map((side) => h("td.number", {}, share(told[side].mean_probability)))),
          ),
        ),
        h("p.note", {}, `${count(told.changed)} of ${count(told.items)} have another class${told.changed > told.listed.length ? `; the ${told.listed.length} surest` : ""}:`),
        h("ul.matches", {}, told.listed.slice(0, 40).map((each) => h("li.match", {}, h("div.match-line", {}, itemLink(model, { ...each, label: each.after }), h("small", {}, `${short(each.before, 16)} ${figure(each.p_before)} → ${short(each.after, 16)} ${figure(each.p_after)}`))))),
      ),
    ),
  );
}

