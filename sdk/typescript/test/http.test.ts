import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { connect } from "node:net";
import { test } from "node:test";

import { agent, AgentError, endpoint, EndpointError, serve } from "forecourt-agent";
import { handler } from "forecourt-agent/http";

const seen: string[] = [];
const helper = agent(async function* helper(message, ctx) {
  if (message.text === "wait") {
    try {
      yield "waiting";
      await new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
    } finally {
      seen.push(`finally ${(ctx.signal.reason as { reason: string }).reason}`);
    }
  }
  if (message.text === "ask") yield `You said ${await ctx.ask("What?")}.`;
  yield "a\nb ";
  yield "c\r\nd";
  ctx.usage({ model: "m", input: 1, output: 2 });
  ctx.state = { a: 1 };
});

const message = (text: string, more = {}) =>
  JSON.stringify({ id: "m1", parts: [{ kind: "text", content: text }], conversation: "c", ...more });
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Request("http://a.example/", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });

/** Server-sent events, as the host reads them. */
function eventsIn(text: string): [string, string][] {
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => {
      const fields = event
        .split(/\r\n|\r|\n/)
        .map((line) => /^(event|data): ?(.*)$/.exec(line)!.slice(1) as [string, string]);
      const data = fields.filter(([name]) => name === "data").map(([, value]) => value);
      return [fields.find(([name]) => name === "event")?.[1] ?? "message", data.join("\n")];
    });
}

test("server-sent events carry every line, and text as it is", async () => {
  const response = await handler(helper)(post(message("hi")));
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events = eventsIn(await response.text());
  assert.deepEqual(events[0], ["message", "a\nb "]);
  assert.deepEqual(
    [events[1]?.[0], JSON.parse(events[1]![1])],
    ["part", { part: { kind: "text", mime: "text/markdown", content: "c\r\nd" } }],
  );
  assert.deepEqual(
    events.slice(2).map(([name]) => name),
    ["usage", "state", "end"],
  );
  assert.deepEqual(JSON.parse(events[3]![1]), { state: { a: 1 } });
});

test("lines of JSON where they are asked for, and a conversation that goes on", async () => {
  const answer = handler(helper);
  const lines = async (request: Request) =>
    (await (await answer(request)).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { [key: string]: unknown });
  const accept = { accept: "application/x-ndjson, text/event-stream" };
  const asked = await lines(post(message("ask"), accept));
  assert.deepEqual(asked.at(-1), { question: { text: "What?", questions: [] } });
  const answered = await lines(post(message("that", { state: asked[0]!.state }), accept));
  assert.deepEqual(answered[0], { text: "You said that." });
  assert.deepEqual(answered.at(-1), { end: true });
});

test("bad requests are refused by what is wrong with them", async () => {
  const answer = handler(helper, { bodyBytesMax: 200 });
  for (const [request, status] of [
    [new Request("http://a.example/"), 405],
    [new Request("http://a.example/x", { method: "POST" }), 404],
    [post(message("hi"), { "content-type": "text/plain" }), 415],
    [post("{"), 400],
    [post("[]"), 400],
    [post("{}"), 400],
    [post(new Uint8Array([0x7b, 0xff, 0x7d])), 400],
    [post(message("hi").padEnd(200)), 200],
    [post(message("hi").padEnd(201)), 413],
  ] as const) {
    const response = await answer(request);
    assert.equal(response.status, status);
    if (status !== 200) assert.ok(((await response.json()) as { error: string }).error.length > 10);
    else await response.text();
  }
});

test("with a secret only signed bodies are answered", async () => {
  const answer = handler(helper, { secret: "s" });
  const body = message("hi");
  const signature = createHmac("sha256", "s").update(body).digest("hex");
  const statuses = [];
  for (const header of [
    `sha256=${signature}`,
    `sha256=${signature.replace(/^./, (c) => (c === "0" ? "1" : "0"))}`,
    `sha1=${signature}`,
    "sha256=",
    undefined,
  ]) {
    const response = await answer(post(body, header === undefined ? {} : { "x-hub-signature-256": header }));
    statuses.push(response.status);
    await response.text();
  }
  assert.deepEqual(statuses, [200, 401, 401, 401, 401]);
});

test("an empty secret is refused: a blank variable must not open a service", () => {
  assert.throws(() => handler(helper, { secret: "" }), AgentError);
});

test("whoever leaves cancels the turn, over a socket too", async () => {
  const serving = await serve(helper);
  try {
    const response = await fetch(`http://127.0.0.1:${serving.port}/`, {
      method: "POST",
      body: message("wait"),
      headers: { "content-type": "application/json" },
    });
    const reader = response.body!.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /waiting/);
    await reader.cancel();
    while (seen.length === 0) await new Promise(setImmediate);
    assert.deepEqual(seen, ["finally caller_left"]);
    const large = await fetch(`http://127.0.0.1:${serving.port}/`, {
      method: "POST",
      body: "x".repeat(33 * 1024 * 1024),
    }).catch((error: unknown) => error);
    assert.ok(large instanceof Error || (large as Response).status === 413);
    const raw = await new Promise<string>((resolve) => {
      let said = "";
      const socket = connect(serving.port, "127.0.0.1", () =>
        socket.write(`POST / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(40_000)}\r\n\r\n`),
      );
      socket
        .on("data", (piece) => (said += String(piece)))
        .on("close", () => resolve(said))
        .on("error", () => resolve(said));
    });
    assert.match(raw, /^HTTP\/1.1 431/);
  } finally {
    await serving.close();
  }
});

const floors = endpoint(
  "FETCH",
  "/floors/{floor}",
  {
    description: "Shows a floor.",
    input: { type: "object", required: ["floor"], properties: { floor: { type: "integer" } } },
    output: { type: "object" },
    semantic: {
      intent: "Look.",
      actor: "agent",
      outcome: "It is known.",
      capability: "retrieval",
      confidence: 1,
      impact: "informational",
      isIdempotent: true,
    },
  },
  (input) => ({ above: (input.floor as number) + 1 }),
);

const rooms = endpoint(
  "BOOK",
  "/rooms/{room_id}",
  {
    description: "Books a room.",
    input: {
      type: "object",
      required: ["room_id"],
      properties: { room_id: { type: "string" }, nights: { type: "integer" } },
    },
    output: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
    semantic: {
      intent: "Book.",
      actor: "agent",
      outcome: "It is booked.",
      capability: "transaction",
      confidence: 0.9,
      impact: "reversible",
      isIdempotent: false,
    },
    errors: { room_taken: 409 },
  },
  (input) => {
    if (input.room_id === "7") throw new EndpointError("room_taken", "The room is taken.", { try: "8" });
    if (input.room_id === "9") throw new EndpointError("undeclared", "secret");
    return { id: `r-${String(input.room_id)}` };
  },
);

test("endpoints answer at their method and path", async () => {
  const answer = handler([helper, rooms, floors]);
  const call = async (path: string, body: object) => {
    const response = await answer(
      new Request(`http://a.example${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    );
    return [response.status, await response.json()] as const;
  };
  assert.deepEqual(await call("/BOOK/rooms/a%20b", {}), [200, { id: "r-a b" }]);
  assert.deepEqual(await call("/BOOK/rooms/7", {}), [409, { message: "The room is taken.", details: { try: "8" } }]);
  assert.deepEqual(await call("/BOOK/rooms/9", {}), [500, { message: "the endpoint failed" }]);
  assert.equal((await call("/BOOK/rooms/7/x", {}))[0], 404);
  assert.equal((await call("/FETCH/rooms/7", {}))[0], 404);
  assert.deepEqual(await call("/FETCH/floors/3", {}), [200, { above: 4 }]);
  assert.equal((await call("/BOOK/rooms/%ff", {}))[0], 400);
});

test("a service that is told to stop ends what waits, and then leaves", async () => {
  const closed: string[] = [];
  const waiting = agent(async function* helper(_message, ctx) {
    try {
      await ctx.ask("What?");
    } finally {
      for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
      closed.push(String((ctx.signal.reason as { reason: string }).reason));
    }
  });
  const serving = await serve(waiting);
  const url = `http://127.0.0.1:${serving.port}/`;
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", body: message("hi"), headers });
  assert.match(await response.text(), /event: question/);
  await serving.close();
  assert.deepEqual(closed, ["shutdown"]);
  await assert.rejects(fetch(url, { method: "POST", body: message("hi"), headers }));
});
