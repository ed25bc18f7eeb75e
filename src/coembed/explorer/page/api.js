// Questions to the server, or, in a report, to what the page carries with it.

const LONGEST = 1800; // characters of an id that still go into an address

export class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
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

const shown = token();

async function ask(path, { body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (shown) headers.Authorization = `Bearer ${shown}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(`api/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("gone", "The server does not answer. Is `coembed explore` still running?");
  }
  const found = await answer.json().catch(() => null);
  if (!answer.ok) {
    const told = found?.error ?? { code: "failed", message: `The server answered ${answer.status}.` };
    throw new Failure(told.code, told.message);
  }
  return found;
}

const query = (parameters) => new URLSearchParams(parameters).toString();

function item(path, id, rest, signal) {
  if (encodeURIComponent(wellFormed(id)).length < LONGEST) return ask(`${path}?${query({ id, ...rest })}`, { signal });
  return ask(path, { body: { id, ...rest }, signal });
}

const wellFormed = (text) => (text.toWellFormed ? text.toWellFormed() : text);

const server = {
  overview: (name) => ask(name),
  search: (q, limit, signal) => ask(`search?${query({ q: q.slice(0, 200), limit })}`, { signal }),
  node: (id, signal) => item("node", id, { k: 12 }, signal),
  attribute: (id, signal) => item("attribute", id, { k: 12 }, signal),
  neighbours: (id, kind, to, offset) => item("neighbours", id, { kind, to, offset, limit: 100 }),
  why: (id, attributes, signal) => ask("why", { body: { id, attributes }, signal }),
  spread: (nodes, attributes) => ask("spread", { body: { nodes, attributes } }),
  embed: (node, signal) => ask("embed", { body: { nodes: [node], k: 10 }, signal }),
};

export async function connect() {
  if (!isReport) return server;
  const { carried } = await import("coembed/carried.js");
  return carried(embedded);
}
