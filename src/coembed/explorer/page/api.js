// Questions to the server, or, in a report, to what the page carries with it.

const LONGEST = 1800; // characters of an id that still go into an address

export class Failure extends Error {
  constructor(code, message, near = []) {
    super(message);
    this.code = code;
    this.near = near; // items that may be meant
  }
}

const embedded = document.getElementById("embedded");
export const isReport = Boolean(embedded);

function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (isReport) return null;
  if (given) {
    sessionStorage.setItem("coembed-token", given);
    // an address that is copied from here must not hand the token on
    const rest = new URLSearchParams(location.hash.slice(1));
    rest.delete("token");
    history.replaceState(null, "", `#${rest}`);
  }
  return sessionStorage.getItem("coembed-token");
}

let shown = token();

// A link opened in a new tab: the tab that it was opened from knows the token, and tells nobody else.
const channel = isReport || !globalThis.BroadcastChannel ? null : new BroadcastChannel("coembed-token");
channel?.addEventListener("message", ({ data }) => {
  if (data === "which?" && shown) channel.postMessage({ token: shown });
});

const fromOtherTab = () =>
  new Promise((resolve) => {
    if (!channel) return resolve(null);
    const told = ({ data }) => data?.token && end(data.token);
    const end = (found) => {
      clearTimeout(patience);
      channel.removeEventListener("message", told);
      resolve(found);
    };
    const patience = setTimeout(() => end(null), 400);
    channel.addEventListener("message", told);
    channel.postMessage("which?");
  });

export function setToken(given) {
  shown = given;
  sessionStorage.setItem("coembed-token", given);
}

// Until the model answers: how far it is; then what it was asked.
export async function whenReady(question, tell) {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (error.code === "unauthorised" && !shown) {
        const found = await fromOtherTab();
        if (!found) throw error;
        setToken(found);
      } else if (error.code === "starting") {
        tell(await fetch("ready").then((answer) => answer.json()).catch(() => ({})));
        await new Promise((resolve) => setTimeout(resolve, 600));
      } else throw error;
    }
  }
}

export async function ask(path, { body, signal, text = false, file = false, method, raw } = {}) {
  const headers = { Accept: "application/json" };
  if (shown) headers.Authorization = `Bearer ${shown}`;
  if (raw) headers["Content-Type"] = "application/octet-stream";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(`api/v1/${path}`, {
      method: method ?? (body === undefined && !raw ? "GET" : "POST"),
      headers,
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("gone", "The server does not answer. Is `coembed explore` still running?");
  }
  if (text && answer.ok) return answer.text();
  if (file && answer.ok) return answer.blob();
  const found = await answer.json().catch(() => null);
  if (!answer.ok) {
    const told = found?.error ?? { code: "failed", message: `The server answered ${answer.status}.` };
    throw new Failure(told.code, told.message, told.near);
  }
  return found;
}

const given = (parameters) => Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
const query = (parameters) => new URLSearchParams(given(parameters)).toString();

function item(path, id, rest, signal) {
  if (encodeURIComponent(wellFormed(id)).length < LONGEST) return ask(`${path}?${query({ id, ...rest })}`, { signal });
  return ask(path, { body: given({ id, ...rest }), signal });
}

const wellFormed = (text) => (text.toWellFormed ? text.toWellFormed() : text);

const server = {
  overview: (name) => ask(name),
  search: (q, limit, signal, type) => ask(`search?${query({ q: q.slice(0, 200), limit, type })}`, { signal }),
  item: (type, id, signal) => item("item", id, { type, k: 12 }, signal),
  neighbours: (type, id, { relation, backwards }, offset) => item("neighbours", id, { type, relation, backwards, offset, limit: 200 }),
  why: (type, id, relation, targets, signal) => ask("why", { body: given({ id, type, relation, targets }), signal }),
  whyCell: (type, id, column) => ask("why", { body: { id, type, column, k: 3 } }),
  spread: (items) => ask("spread", { body: { items } }),
  find: (q) => ask(`find?${query({ q, bits: true, limit: 1 })}`),
  fields: () => ask("fields"),
  values: (field) => ask(`values?${query({ field })}`),
  selection: (what, body, signal) => ask(`selection/${what}`, { body, signal }),
  compare: (first, second) => ask(`compare?${query({ id: first.id, type: first.type, other: second.id, other_type: second.type })}`),
  askNext: (type, k) => ask(`ask-next?${query({ type, k })}`),
  changes: () => ask("changes"),
  change: (what, body = {}) => ask(what, { body: Object.keys(body).length ? body : undefined, method: "POST" }),
  file: (file) => ask(`batch/file?${query({ name: file.name.slice(-200) })}`, { raw: file }),
  export: (body) => ask("selection/export", { body, file: true }),
  place: (item, signal) => ask("place", { body: { items: [item], k: 10 }, signal }),
};

export async function connect() {
  if (!isReport) return server;
  const { carried } = await import("coembed/carried.js");
  return carried(embedded);
}
