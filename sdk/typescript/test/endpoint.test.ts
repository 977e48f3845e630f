import assert from "node:assert/strict";
import { test } from "node:test";

import { endpoint, describe, type Semantic } from "forecourt-agent";
import { handler } from "forecourt-agent/http";
import { z } from "zod";
import { z as z3 } from "zod-3";

import { fileNameOf, toToml } from "../dist/describe.js";

const semantic: Semantic = {
  intent: 'Book "it".',
  actor: "agent",
  outcome: "Booked.",
  capability: "transaction",
  confidence: 0.9,
  impact: "reversible",
  isIdempotent: false,
};

const INPUT = {
  type: "object",
  properties: {
    room_id: { type: "string", minLength: 1 },
    nights: { default: 1, type: "integer", minimum: 1, maximum: 30 },
    kind: { enum: ["single", "double"] },
  },
  required: ["room_id"],
  additionalProperties: false,
};

test("zod 3 and zod 4 make the same contract, and check values", async () => {
  const input3 = z3.object({
    room_id: z3.string().min(1),
    nights: z3.number().int().min(1).max(30).default(1),
    kind: z3.enum(["single", "double"]).optional(),
  });
  const input4 = z.object({
    room_id: z.string().min(1),
    nights: z.int().min(1).max(30).default(1),
    kind: z.enum(["single", "double"]).optional(),
  });
  const output3 = z3.object({ id: z3.string() });
  const output4 = z.object({ id: z.string() });
  const of3 = endpoint(
    "BOOK",
    "/rooms/{room_id}",
    { description: "Books.", input: input3, output: output3, semantic },
    ({ room_id, nights }) => ({ id: `${room_id.trim()}-${nights + 1}` }),
  );
  const of4 = endpoint(
    "BOOK",
    "/rooms/{room_id}",
    { description: "Books.", input: input4, output: output4, semantic },
    async ({ room_id, nights }) => ({ id: `${room_id.trim()}-${nights + 1}` }),
  );
  const { kind: _, ...properties } = (of4.inputSchema.properties ?? {}) as typeof INPUT.properties;
  assert.deepEqual(of3.inputSchema, INPUT);
  assert.deepEqual(properties, { room_id: INPUT.properties.room_id, nights: INPUT.properties.nights });
  assert.deepEqual(of3.outputSchema, of4.outputSchema);
  for (const endpoint of [of3, of4]) {
    const call = async (body: object) => {
      const response = await handler(endpoint)(
        new Request("http://a/BOOK/rooms/8", {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
      );
      return [response.status, (await response.json()) as { message?: string }] as const;
    };
    assert.deepEqual(await call({}), [200, { id: "8-2" }]);
    const [status, said] = await call({ nights: 31 });
    assert.equal(status, 422);
    assert.match(said.message ?? "", /^nights: /);
  }
});

test("what a schema of zod 3 can't say is told", () => {
  const odd = z3.object({ at: z3.map(z3.string(), z3.string()) });
  assert.throws(
    () => endpoint("BOOK", "/rooms", { description: "", input: odd, output: odd, semantic }, (value) => value as never),
    /ZodMap is not known/,
  );
  const rich = z3
    .object({
      a: z3.union([z3.string().email(), z3.null()]),
      b: z3.array(z3.literal(1)),
      c: z3.record(z3.boolean()),
      d: z3.string().nullable().describe("D"),
      e: z3.string().regex(/^x/).transform(Number),
      f: z3.unknown(),
    })
    .strict();
  const made = endpoint(
    "BOOK",
    "/rooms",
    { description: "", input: rich, output: rich, semantic },
    (value) => value as never,
  );
  assert.deepEqual(made.inputSchema.properties, {
    a: { anyOf: [{ type: "string", format: "email" }, { type: "null" }] },
    b: { type: "array", items: { const: 1 } },
    c: { type: "object", additionalProperties: { type: "boolean" } },
    d: { anyOf: [{ type: "string" }, { type: "null" }], description: "D" },
    e: { type: "string", pattern: "^x" },
    f: {},
  });
});

test("a contract that can't hold fails where it is made", () => {
  const schema = { type: "object", properties: { id: { type: "string" } } };
  const made =
    (method: string, path: string, more = {}) =>
    () =>
      endpoint(method, path, { description: "", input: schema, output: schema, semantic, ...more }, () => ({}));
  assert.throws(made("book", "/rooms"), /invalid method `book`/);
  assert.throws(made("BOOK", "rooms"), /invalid path `rooms`/);
  assert.throws(made("BOOK", "/rooms/{room}"), /does not declare `room`/);
  assert.throws(made("BOOK", "/rooms", { errors: { a: 401 } }), /without 401, 403, 422/);
  assert.throws(made("BOOK", "/rooms", { errors: { a: 404, b: 404 } }), /each once/);
  assert.throws(made("BOOK", "/rooms", { errors: { a: 500 } }), /400 to 499/);
  assert.throws(made("BOOK", "/rooms", { input: { type: "string" } }), /is an object/);
});

test("an endpoint is described as a deployment reads it", () => {
  const schema = { type: "object", properties: { id: { type: "string", default: null } } };
  const made = endpoint(
    "BOOK",
    "/rooms/{id}",
    { description: 'Books.\n"Now"', input: schema, output: schema, semantic, errors: { taken: 409 }, scopes: ["a:b"] },
    () => ({}),
  );
  assert.equal(fileNameOf(made), "book-rooms.toml");
  assert.equal(
    toToml(describe(made, "http://127.0.0.1:9/")),
    `[endpoint]
method = "BOOK"
path = "/rooms/{id}"
description = "Books.\\n\\"Now\\""
required_scopes = ["a:b"]
input_schema = { type = "object", properties = { id = { type = "string" } }, additionalProperties = false }
output_schema = { type = "object", properties = { id = { type = "string" } } }
errors = ["upstream_timeout", "upstream_connection_error", "upstream_malformed_response", "upstream_authentication_failed", "upstream_error", "taken"]

[endpoint.semantic]
intent = "Book \\"it\\"."
actor = "agent"
outcome = "Booked."
capability = "transaction"
confidence = 0.9
impact = "reversible"
is_idempotent = false

[endpoint.handler]
type = "external_service"
url = "http://127.0.0.1:9/BOOK/rooms/{id}"
method = "POST"
pass_reasons = true
error_map = { 409 = "taken" }
`,
  );
});
