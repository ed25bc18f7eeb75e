// What is looked at, kept in the address behind the #, so that an address can be shared.
//   node, attribute: the card that is open     tab: which view      hide: classes switched off
//   type and item: the same for other types    off: layers switched off
//   view: x,y,scale                            lasso: x,y,x,y,...
//   new: an item being added, as JSON          q, only: a query, and whether others are hidden
//   colour, size: what they mean               against: a query, what a selection is compared with
//   with, withtype: compared with the card     label: what to label next
//   regions: density and its names are shown
//   rows: a table that was dropped (its name)
//   links: drawn within a selection            sort: of the table, with a minus from the top

const KEYS = ["tab", "node", "attribute", "type", "item", "with", "withtype", "new", "label", "rows", "lasso", "q", "only", "against", "links", "colour", "size", "sort", "regions", "hide", "off", "view"];
const ITEMS = ["node", "attribute", "item", "with"]; // an id may be empty
const listeners = new Set();
let current = read();

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const key of KEYS) if (given.has(key)) found[key] = given.get(key);
  return found;
}

export function address(state) {
  const written = new URLSearchParams();
  for (const key of KEYS) if (state[key] !== undefined && state[key] !== null) written.set(key, state[key]);
  const text = written.toString();
  return text ? `#${text}` : "#";
}

export const get = () => current;

// a step that the back button undoes, unless it is only a small move
export function set(changes, { small = false } = {}) {
  const before = current;
  const next = { ...current, ...changes };
  for (const key of KEYS) if (next[key] === null || (next[key] === "" && !ITEMS.includes(key))) delete next[key];
  if (address(before) === address(next)) return;
  current = next;
  const target = address(current);
  if (small) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  for (const listener of listeners) listener(current, before);
}

export function watch(listener) {
  listeners.add(listener);
}

function follow() {
  const before = current;
  current = read();
  if (address(before) !== address(current)) for (const listener of listeners) listener(current, before);
}
addEventListener("hashchange", follow);
addEventListener("popstate", follow);

// Only one of these is open at a time.
export const only = (changes) => ({ node: null, attribute: null, type: null, item: null, with: null, withtype: null, new: null, label: null, rows: null, lasso: null, ...changes });

const named = (type, id) => (type === "node" || type === "attribute" ? { [type]: id } : { type, item: id });

// the item whose card an address opens
export function opened(state) {
  for (const type of ["node", "attribute"]) if (state[type] !== undefined) return { type, id: state[type] };
  return state.item === undefined ? null : { type: state.type, id: state.item };
}

export function itemAddress(type, id) {
  return address({ ...current, ...only(named(type, id)), tab: undefined });
}

export function open(type, id) {
  set({ ...only(named(type, id)), tab: null });
}
