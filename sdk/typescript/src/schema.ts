// JSON Schemas of zod (3 and 4), of whatever keeps to Standard Schema, and as they are.

import { AgentError } from "./endings.js";
import type { JsonObject } from "./wire.js";

/** What checks values. https://standardschema.dev, version 1, as far as it is used here. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: { input(options: { target: string }): object; output(options: { target: string }): object };
  };
}

type Checked<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema, or a schema of zod's kind. */
export type Schema<Output = unknown> = StandardSchema<Output> | JsonObject;

/** The type of what a schema lets through. */
export type OutputOf<S> = S extends StandardSchema<infer Output> ? Output : JsonObject;

/** Why a value does not fit. */
export class InvalidValue extends Error {}

/** Checks a value. JSON Schemas are checked by the host. */
export async function check(schema: Schema, value: unknown): Promise<unknown> {
  if (!isStandard(schema)) return value;
  const checked = await schema["~standard"].validate(value);
  if (checked.issues === undefined) return checked.value;
  const said = checked.issues.map((issue) => [
    (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join("."),
    issue.message,
  ]);
  throw new InvalidValue(said.map(([path, message]) => (path ? `${path}: ${message}` : message)).join("; "));
}

function isStandard(schema: Schema): schema is StandardSchema {
  return "~standard" in schema;
}

/** The JSON Schema (2020-12) of a schema. Throws where it can't be told. */
export function jsonSchemaOf(schema: Schema, side: "input" | "output"): JsonObject {
  if (!isStandard(schema)) return schema;
  const { jsonSchema, vendor } = schema["~standard"];
  if (jsonSchema) return plain(jsonSchema[side]({ target: "draft-2020-12" }));
  const own = (schema as { toJSONSchema?: (options: object) => object }).toJSONSchema;
  if (own) return plain(own.call(schema, { io: side }));
  if (vendor === "zod" && "_def" in schema) return ofZod3(schema as unknown as Zod3, side);
  throw new AgentError(`the JSON Schema of a schema by ${vendor} is not known: write it as JSON Schema`);
}

function plain(schema: object): JsonObject {
  const { $schema: _, ...rest } = schema as JsonObject;
  return rest;
}

/** A schema of zod 3, which has no JSON Schema of its own. */
interface Zod3 {
  _def: Zod3Definition;
  description?: string;
  isOptional(): boolean;
}
interface Zod3Definition {
  typeName: string;
  checks?: { kind: string; value?: number; regex?: RegExp; inclusive?: boolean }[];
  innerType?: Zod3;
  schema?: Zod3;
  type?: Zod3;
  valueType?: Zod3;
  options?: Zod3[];
  values?: string[] | Record<string, string>;
  value?: unknown;
  unknownKeys?: string;
  shape?: () => Record<string, Zod3>;
  defaultValue?: () => unknown;
}

function ofZod3(schema: Zod3, side: "input" | "output"): JsonObject {
  const json = zod3Body(schema._def, side);
  return schema.description === undefined ? json : { ...json, description: schema.description };
}

function zod3Body(def: Zod3Definition, side: "input" | "output"): JsonObject {
  const inner = (schema: Zod3 | undefined) => (schema ? ofZod3(schema, side) : {});
  switch (def.typeName) {
    case "ZodString":
      return { type: "string", ...bounds(def, "minLength", "maxLength"), ...zod3Format(def) };
    case "ZodNumber":
      return {
        type: def.checks?.some((check) => check.kind === "int") ? "integer" : "number",
        ...bounds(def, "minimum", "maximum"),
      };
    case "ZodBoolean":
      return { type: "boolean" };
    case "ZodNull":
      return { type: "null" };
    case "ZodAny":
    case "ZodUnknown":
      return {};
    case "ZodLiteral":
      return { const: def.value as string };
    case "ZodEnum":
      return { enum: def.values as string[] };
    case "ZodNativeEnum":
      return { enum: Object.values(def.values ?? {}) };
    case "ZodArray":
      return { type: "array", items: inner(def.type) };
    case "ZodRecord":
      return { type: "object", additionalProperties: inner(def.valueType) };
    case "ZodUnion":
    case "ZodDiscriminatedUnion":
      return { anyOf: [...(def.options ?? [])].map(inner) };
    case "ZodNullable":
      return { anyOf: [inner(def.innerType), { type: "null" }] };
    case "ZodDefault":
      return { ...inner(def.innerType), default: def.defaultValue?.() as string };
    case "ZodOptional":
    case "ZodReadonly":
    case "ZodBranded":
      return inner(def.innerType ?? def.type);
    case "ZodEffects":
      return inner(def.schema);
    case "ZodObject":
      return zod3Object(def, side);
    default:
      throw new AgentError(`the JSON Schema of ${def.typeName} is not known: write it as JSON Schema, or use zod 4`);
  }
}

function zod3Object(def: Zod3Definition, side: "input" | "output"): JsonObject {
  const fields = Object.entries(def.shape?.() ?? {});
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, ofZod3(field, side)]));
  // A default makes a field optional for who writes it, and certain for who reads it.
  const isRequired = (field: Zod3) =>
    (side === "output" && field._def.typeName === "ZodDefault") || !field.isOptional();
  const required = fields.filter(([, field]) => isRequired(field)).map(([name]) => name);
  const object: JsonObject = { type: "object", properties };
  if (required.length > 0) object.required = required;
  if (def.unknownKeys === "strict" || side === "output")
    object.additionalProperties = def.unknownKeys === "passthrough";
  return object;
}

function bounds(def: Zod3Definition, min: string, max: string): JsonObject {
  const found: JsonObject = {};
  for (const { kind, value } of def.checks ?? []) {
    if (kind === "min" && value !== undefined) found[min] = value;
    if (kind === "max" && value !== undefined) found[max] = value;
  }
  return found;
}

const FORMATS: Record<string, string> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  datetime: "date-time",
  date: "date",
  time: "time",
};

function zod3Format(def: Zod3Definition): JsonObject {
  const found: JsonObject = {};
  for (const { kind, regex } of def.checks ?? []) {
    if (kind in FORMATS) found.format = FORMATS[kind] as string;
    if (kind === "regex" && regex) found.pattern = regex.source;
  }
  return found;
}
