// The description of the API as a page, made from /api/openapi.json: nothing comes from elsewhere.
import { ask, Failure } from "coembed/api.js";
import { $, h, scrolling } from "coembed/dom.js";

function show({ info, tags, paths, components }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })));
  const parts = tags.map((tag) => [tag, operations.filter((each) => each.tags?.includes(tag.name))]).filter(([, list]) => list.length);
  $("docs").append(
    h("p.lead", {}, `${info.summary} Version ${info.version}. `, h("a", { href: "api/openapi.json" }, "As OpenAPI"), "."),
    h("nav", { "aria-label": "Parts" }, h("ul", {}, parts.map(([tag]) => h("li", {}, h("a", { href: `#${tag.name}` }, tag.name), `: ${tag.description}`)))),
    ...parts.map(([tag, list]) => h("section", { id: tag.name }, h("h2", {}, tag.name), list.map((each) => operationPart(each, components.schemas)))),
  );
}

function operationPart(operation, schemas) {
  const { method, path, summary, parameters = [], requestBody } = operation;
  const body = requestBody?.content?.["application/json"]?.schema;
  const answer = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))?.[1].content?.["application/json"]?.schema;
  return h(
    "details.operation",
    { id: operation.operationId },
    h("summary", {}, h("b.method", {}, method.toUpperCase()), " ", h("span.path", {}, path), h("small", {}, ` ${summary ?? ""}`)),
    h("p.note", {}, `Operation ${operation.operationId}${operation.security?.length ? "; shows the token" : ""}.`),
    parameters.length ? table(parameters.map(({ name, in: place, required, schema, description }) => [name, place, typeName(schema), [required ? "needed. " : schema?.default !== undefined ? `${JSON.stringify(schema.default)} by default. ` : "", description ?? schema?.description ?? ""].join("")])) : null,
    body ? [h("h3", {}, "Body"), fields(body, schemas)] : null,
    requestBody?.content?.["application/vnd.apache.arrow.stream"] ? h("p.note", {}, "Or an Arrow stream with the same columns.") : null,
    answer ? [h("h3", {}, "Answer"), fields(answer, schemas)] : null,
    trial(operation, parameters, exampleOf(body, schemas)),
  );
}

const table = (rows) => scrolling("Fields", h("table.rows", {}, h("tbody", {}, rows.map(([name, ...rest]) => h("tr", {}, h("th", { scope: "row" }, name), rest.map((cell) => h("td", {}, cell)))))));

const resolve = (schema, schemas) => (schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema) ?? {};

function typeName(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(typeName).join(" or ");
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `list of ${typeName(schema.items)}`;
  if (schema.type === "object" && schema.additionalProperties) return `object of ${typeName(schema.additionalProperties)}`;
  return schema.type ?? "anything";
}

// the fields of an object, and those of the objects in it, each of them once
function fields(schema, schemas, seen = new Set()) {
  const found = resolve(schema, schemas);
  const name = schema.$ref?.split("/").at(-1) ?? "";
  if (!found.properties) return h("p", {}, typeName(found));
  const needed = new Set(found.required ?? []);
  const inner = new Set();
  JSON.stringify(found.properties, (key, value) => {
    if (key === "$ref" && !seen.has(value)) inner.add(value);
    return value;
  });
  for (const each of inner) seen.add(each);
  return h(
    "div",
    {},
    name ? h("p.note", {}, name) : null,
    table(Object.entries(found.properties).map(([key, value]) => [key, typeName(value), [needed.has(key) ? "" : "optional. ", value.description ?? ""].join("")])),
    [...inner].map((ref) => (resolve({ $ref: ref }, schemas).properties ? fields({ $ref: ref }, schemas, seen) : null)),
  );
}

const exampleOf = (schema, schemas) => resolve(schema, schemas)?.examples?.[0];

// ask it from here
function trial({ method, path, operationId }, parameters, example) {
  const inputs = parameters.filter((each) => each.in === "query").map((each) => [each.name, h("input", { type: "text", "aria-label": each.name, placeholder: String(each.schema?.default ?? ""), value: each.example ?? each.schema?.examples?.[0] ?? "" })]);
  const body = method === "post" ? h("textarea", { rows: "5", "aria-label": `Body of ${operationId}` }, JSON.stringify(example ?? {}, null, 1)) : null;
  const output = h("pre.output", { "aria-live": "polite", tabindex: "0", hidden: true });
  const send = async () => {
    const query = new URLSearchParams(inputs.filter(([, input]) => input.value).map(([name, input]) => [name, input.value]));
    output.hidden = false;
    try {
      const found = await ask(`../..${path}${query.size ? `?${query}` : ""}`, { text: true, body: body ? JSON.parse(body.value) : undefined });
      output.textContent = found.slice(0, 20000);
    } catch (error) {
      output.textContent = error.message;
    }
  };
  return h("div.trial", {}, inputs.map(([name, input]) => h("label", {}, name, input)), body, h("button", { type: "button", onclick: send }, "Ask"), output);
}

const described = await ask("../openapi.json").catch((error) => error);
if (described instanceof Failure) $("docs").append(h("p.failure", {}, described.message));
else show(described);
