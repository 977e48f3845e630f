// What a deployment reads of an endpoint: its file for `endpoints/`.

import type { EndpointDefinition } from "./endpoint.js";
import type { Json, JsonObject } from "./wire.js";

/** Errors that any service may end in; the host wants them declared. */
const UPSTREAM_ERRORS = [
  "upstream_timeout",
  "upstream_connection_error",
  "upstream_malformed_response",
  "upstream_authentication_failed",
  "upstream_error",
];

/** An endpoint's file as JSON; `base` is where this program serves, such as `http://127.0.0.1:8701`. */
export function describe(endpoint: EndpointDefinition, base: string): JsonObject {
  const { description, semantic, errors = {}, scopes } = endpoint.options;
  const contract: JsonObject = {
    method: endpoint.method,
    path: endpoint.path,
    description,
    ...(scopes && { required_scopes: scopes }),
    input_schema: endpoint.inputSchema,
    output_schema: endpoint.outputSchema,
    errors: [...UPSTREAM_ERRORS, ...Object.keys(errors)],
  };
  const { isIdempotent, ...said } = semantic;
  const handler: JsonObject = {
    type: "external_service",
    url: `${base.replace(/\/$/, "")}/${endpoint.method}${endpoint.path}`,
    method: "POST",
    pass_reasons: true,
  };
  if (Object.keys(errors).length > 0)
    handler.error_map = Object.fromEntries(Object.entries(errors).map(([name, status]) => [String(status), name]));
  return { endpoint: { ...contract, semantic: { ...said, is_idempotent: isIdempotent }, handler } };
}

/** A name for the file of an endpoint, such as `book-rooms.toml`. */
export function fileNameOf(endpoint: EndpointDefinition): string {
  const words = endpoint.path.split("/").filter((word) => word !== "" && !word.startsWith("{"));
  return `${[endpoint.method.toLowerCase(), ...words].join("-")}.toml`;
}

/** A value as TOML: tables of the first two levels as such, what is deeper within a line. */
export function toToml(document: JsonObject): string {
  return table(document, []).join("\n").trim() + "\n";
}

const TABLES_DEEP = 2;

function table(values: JsonObject, path: string[]): string[] {
  const isTable = ([, value]: [string, Json]) => path.length < TABLES_DEEP && isObject(value) && !isSchema(value);
  const entries = Object.entries(values);
  const lines = entries.filter((entry) => !isTable(entry)).map(([name, value]) => `${key(name)} = ${inline(value)}`);
  for (const [name, value] of entries.filter(isTable)) {
    const inner = [...path, name];
    lines.push("", `[${inner.map(key).join(".")}]`, ...table(value as JsonObject, inner));
  }
  return lines;
}

function inline(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isObject(value)) {
    // TOML has no null: what is null is left out.
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return members.length > 0
      ? `{ ${members.map(([name, member]) => `${key(name)} = ${inline(member)}`).join(", ")} }`
      : "{}";
  }
  if (typeof value === "string") return quoted(value);
  return String(value);
}

/** JSON's escapes are TOML's, but for the character DEL. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll("\x7f", "\\u007f");
}

function key(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSchema(value: Json): boolean {
  return isObject(value) && (("type" in value && "properties" in value) || "$ref" in value || "anyOf" in value);
}
