// What is looked at, kept in the address behind the #, so that an address can be shared.
//   node, attribute: the card that is open     tab: which view      hide: classes switched off
//   off: layers switched off                   view: x,y,scale      lasso: x,y,x,y,...
//   new: a node being added, as JSON

const KEYS = ["tab", "node", "attribute", "new", "lasso", "hide", "off", "view"];
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
  current = { ...current, ...changes };
  for (const key of KEYS) if (current[key] === null || current[key] === "") if (key !== "node" && key !== "attribute" || current[key] === null) delete current[key];
  if (address(before) === address(current)) return;
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
export const only = (changes) => ({ node: null, attribute: null, new: null, lasso: null, ...changes });

export function itemAddress(kind, id) {
  return address({ ...current, ...only({ [kind]: id }), tab: undefined });
}

export function open(kind, id) {
  set({ ...only({ [kind]: id }), tab: null });
}
