// A report answers from what it carries: the overviews and the cards, packed. It cannot place new nodes.
import { Failure } from "coembed/api.js";
import { quoted } from "coembed/query.js";

export async function carried(element) {
  const { overviews, cards } = JSON.parse(element.textContent);
  const whole = JSON.parse(await unpack(overviews));
  let loaded; // the cards are large: unpacked when the first is asked for
  const all = () => (loaded ??= unpack(cards).then(JSON.parse));
  const names = () => (names.made ??= index(whole));

  const held = async (type, id) => {
    const cards = (await all())[type] ?? {};
    return Object.hasOwn(cards, id) ? cards[id] : undefined;
  };

  async function card(type, id) {
    const found = await held(type, id);
    if (found) return found.card;
    throw new Failure("not_found", `This report holds no card of ${id.slice(0, 80)}; ask for a larger one (coembed report --cards), or use coembed explore.`);
  }

  return {
    overview: async (name) => whole[name],
    search: async (q, limit, signal, type) => ({ items: find(names().filter((entry) => !type || entry.type === type), q, limit) }),
    item: card,
    neighbours: async (type, id, { relation, backwards }, offset) => {
      const more = (await held(type, id))?.neighbours[`${relation}${backwards ? "<" : ">"}`] ?? { total: 0, items: [] };
      return { ...more, offset, items: more.items.slice(offset) };
    },
    why: async (type, id) => (await held(type, id))?.why ?? { label: null, targets: [] },
    spread: async (asked) => {
      const found = {};
      for (const { type, id } of whole.map.types) {
        const cards = await Promise.all((asked[type] ?? []).map(async (position) => [position, await held(type, id[position])]));
        found[type] = cards.filter(([, each]) => each).map(([position, each]) => ({ position, covariance: each.card.place.covariance }));
      }
      return { items: found };
    },
    values: async (field) => whole.values[field],
    find: async (q) => {
      const kept = whole.selections.find(({ name }) => q === `in:${quoted(name)}`);
      if (kept) return kept;
      throw new Failure("report", "A report finds only the selections that were kept when it was made; run coembed explore on the model.");
    },
    place: async () => {
      throw new Failure("report", "A report cannot place new nodes; run coembed explore on the model.");
    },
  };
}

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

function pieces(text) {
  const found = new Set();
  const padded = ` ${text}`;
  for (let i = 0; i + 2 <= padded.length; i++) found.add(padded.slice(i, i + 2));
  return found;
}

function index({ map }) {
  const entries = [];
  for (const { type, id: ids, title, label, class_names: classes, weight } of map.types)
    ids.forEach((id, i) => entries.push({ id, type, title: title?.[i] ?? id, label: classes[label?.[i]] ?? null, weight: weight[i] }));
  for (const entry of entries) entry.folded = fold((entry.title === entry.id ? entry.id : `${entry.title} ${entry.id}`).slice(0, 120));
  return entries;
}

function find(entries, typed, limit) {
  const q = fold(typed).trim();
  if (!q) return [];
  const asked = pieces(q);
  const scored = [];
  for (const entry of entries) {
    const at = entry.folded.indexOf(q);
    let score = at === 0 ? (entry.folded === q ? 5 : 4) : at > 0 ? (/[\s._-]/.test(entry.folded[at - 1]) ? 3 : 2) : 0;
    if (!score && q.length > 2) {
      const own = pieces(entry.folded.slice(0, q.length + 2));
      let shared = 0;
      for (const piece of asked) if (own.has(piece)) shared += 1;
      if (shared / asked.size > 0.5) score = (1.9 * shared) / asked.size;
    }
    if (score) scored.push({ ...entry, score });
  }
  return scored.sort((a, b) => b.score - a.score || b.weight - a.weight).slice(0, limit);
}
