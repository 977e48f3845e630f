// Endpoints with a contract: a method, a path, and schemas of what goes in and comes out. The host checks the contract
// and posts the input here (`type = "external_service"`).

import { AgentError, EndpointError } from "./endings.js";
import { check, InvalidValue, jsonSchemaOf, type OutputOf, type Schema } from "./schema.js";
import type { Json, JsonObject } from "./wire.js";

/** What an endpoint says of itself: agents choose by it. */
export interface Semantic {
  intent: string;
  actor: string;
  outcome: string;
  /** `discovery`, `retrieval`, `analysis`, `transaction`, `modification`, `creation`, `notification`, `mechanics` or `domain_spanning`. */
  capability: string;
  /** 0 to 1. */
  confidence: number;
  impact: "informational" | "reversible" | "irreversible";
  isIdempotent: boolean;
}

export interface EndpointOptions<Input extends Schema, Output extends Schema> {
  description: string;
  input: Input;
  output: Output;
  semantic: Semantic;
  /**
   * Errors that it may end in, with the HTTP status that each has on the way to the host: 400 to 499, each once, but
   * neither 401 nor 403, which the host keeps for its own credentials, nor 422, which says that the input is wrong.
   */
  errors?: Record<string, number>;
  scopes?: string[];
}

/** An endpoint. */
export interface EndpointDefinition {
  readonly kind: "forecourt-endpoint";
  readonly method: string;
  readonly path: string;
  readonly options: EndpointOptions<Schema, Schema>;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Whether a path is one of its. */
  matches(path: string): boolean;
  run(input: unknown): unknown;
}

/** Statuses that mean something else to the host. */
const KEPT_STATUSES = [401, 403, 422];
/** What a value that does not fit is answered with. */
const INVALID_STATUS = 422;

/** Makes an endpoint of a function. Parameters of the path are fields of the input. */
export function endpoint<const Input extends Schema, const Output extends Schema>(
  method: string,
  path: string,
  options: EndpointOptions<Input, Output>,
  run: (input: OutputOf<Input>) => Promise<OutputOf<Output>> | OutputOf<Output>,
): EndpointDefinition {
  if (!/^[A-Z]+(-[A-Z]+)*$/.test(method))
    throw new AgentError(`invalid method \`${method}\`: capital letters, such as BOOK`);
  if (!/^(\/[^/?#\s]+)+$/.test(path)) throw new AgentError(`invalid path \`${path}\`: such as /rooms/{room_id}`);
  const statuses = Object.values(options.errors ?? {});
  const isWrong = (status: number) => !(status >= 400 && status <= 499) || KEPT_STATUSES.includes(status);
  if (statuses.some(isWrong) || new Set(statuses).size < statuses.length) {
    throw new AgentError(
      `errors of ${method} ${path} have statuses from 400 to 499, each once, without ${KEPT_STATUSES.join(", ")}`,
    );
  }
  const inputSchema = closed(jsonSchemaOf(options.input, "input"));
  const declared = Object.keys((inputSchema.properties ?? {}) as JsonObject);
  const missing = [...path.matchAll(/\{([^}]+)\}/g)]
    .map((found) => found[1] as string)
    .find((name) => !declared.includes(name));
  if (missing !== undefined) throw new AgentError(`the input of ${method} ${path} does not declare \`${missing}\``);
  const own = new RegExp(`^/${method}${path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+")}$`);
  return {
    kind: "forecourt-endpoint",
    method,
    path,
    options: options as unknown as EndpointOptions<Schema, Schema>,
    inputSchema,
    outputSchema: jsonSchemaOf(options.output, "output"),
    matches: (candidate) => own.test(candidate),
    run: (input) => run(input as OutputOf<Input>),
  };
}

/** An input takes nothing but what it declares. */
function closed(schema: JsonObject): JsonObject {
  if (schema.type !== "object") throw new AgentError("the input of an endpoint is an object");
  return { ...schema, additionalProperties: false };
}

export function isEndpoint(value: unknown): value is EndpointDefinition {
  return (value as EndpointDefinition | undefined)?.kind === "forecourt-endpoint";
}

/** Answers a call that came over HTTP. */
export async function answerEndpoint(
  endpoints: readonly EndpointDefinition[],
  path: string,
  input: JsonObject | { [key: string]: unknown },
): Promise<Response> {
  const endpoint = endpoints.find((candidate) => candidate.matches(path)) as EndpointDefinition;
  const { errors = {}, input: inputs, output } = endpoint.options;
  const parameters = parametersOf(endpoint, path);
  if (!parameters) return failed(400, "the path is not percent-encoded UTF-8");
  try {
    const given = await check(inputs, { ...parameters, ...input });
    const result = await check(output, await endpoint.run(given)).catch((error: unknown) => {
      throw error instanceof InvalidValue ? new Error(`the output is wrong: ${error.message}`) : error;
    });
    return Response.json(result);
  } catch (error) {
    if (error instanceof InvalidValue) return failed(INVALID_STATUS, error.message);
    const status = error instanceof EndpointError ? errors[error.code] : undefined;
    if (error instanceof EndpointError && status !== undefined) return failed(status, error.message, error.details);
    console.error(`${endpoint.method} ${endpoint.path}:`, error);
    return failed(500, "the endpoint failed");
  }
}

/** What the path says, with the types that the input declares. None where it can't be decoded. */
function parametersOf(endpoint: EndpointDefinition, path: string): JsonObject | undefined {
  const properties = (endpoint.inputSchema.properties ?? {}) as Record<string, { type?: string }>;
  const values = path.split("/").slice(2);
  const found: JsonObject = {};
  for (const [at, segment] of endpoint.path.split("/").slice(1).entries()) {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) continue;
    try {
      found[name] = typed(decodeURIComponent(values[at] ?? ""), properties[name]?.type);
    } catch {
      return undefined;
    }
  }
  return found;
}

function typed(value: string, type: string | undefined): Json {
  if ((type === "integer" || type === "number") && value.trim() !== "" && Number.isFinite(Number(value)))
    return Number(value);
  return type === "boolean" && ["true", "false"].includes(value) ? value === "true" : value;
}

function failed(status: number, message: string, details?: JsonObject): Response {
  return Response.json({ message, ...(details && { details }) }, { status });
}
