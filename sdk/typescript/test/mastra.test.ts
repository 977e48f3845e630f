import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { simulateReadableStream } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { toAgent, type MastraAgent } from "forecourt-agent/adapters/mastra";
import { host } from "forecourt-agent/testing";

// It is large, and so no dependency of this library's tests: whoever has it says in which folder.
const folder = process.env.FORECOURT_MASTRA;
const skip = folder ? false : "FORECOURT_MASTRA names no folder with @mastra/core";

async function imported(name: string): Promise<{ [name: string]: unknown }> {
  const path = createRequire(`${folder}/package.json`).resolve(name);
  return (await import(pathToFileURL(path).href)) as { [name: string]: unknown };
}

type Chunk = { type: string; [key: string]: unknown };
const usage = { inputTokens: { total: 7, cacheRead: 2 }, outputTokens: { total: 3 } };
const finish = (reason: string): Chunk => ({ type: "finish", finishReason: { unified: reason, raw: reason }, usage });
const start: Chunk = { type: "response-metadata", id: "r", modelId: "mock-1" };
const words = (...texts: string[]): Chunk[] => [
  { type: "text-start", id: "1" },
  ...texts.map((delta) => ({ type: "text-delta", id: "1", delta })),
  { type: "text-end", id: "1" },
];
const call = (toolName: string, input: object): Chunk => ({
  type: "tool-call",
  toolCallId: `call-${toolName}`,
  toolName,
  input: JSON.stringify(input),
});

/** An agent of Mastra whose model answers with these streams, one a step. */
async function mastraOf(
  steps: Chunk[][],
  tools: object = {},
): Promise<{ mastra: MastraAgent; model: MockLanguageModelV3 }> {
  const { Agent } = await imported("@mastra/core/agent");
  let step = 0;
  const model = new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: steps[step++] ?? [] }) }) as never,
  });
  return {
    mastra: new (Agent as new (options: object) => MastraAgent)({
      id: "m",
      name: "m",
      instructions: "Be kind.",
      model,
      tools,
    }),
    model,
  };
}

test("an agent of Mastra streams, shows its tools, and calls the host's", { skip }, async () => {
  const { createTool } = await imported("@mastra/core/tools");
  const { z } = (await imported("zod")) as unknown as typeof import("zod");
  const weather = (createTool as (options: object) => object)({
    id: "weather",
    description: "Weather.",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }: { city: string }) => ({ rain: city }),
  });
  const steps = [
    [start, call("weather", { city: "Porto" }), call("book", { room: "7" }), finish("tool-calls")],
    [start, ...words("Book", "ed."), finish("stop")],
  ];
  const { mastra, model } = await mastraOf(steps, { weather });
  const asked: object[] = [];
  const inputSchema = { type: "object", properties: { room: { type: "string" } }, required: ["room"] };
  const tools = {
    book: {
      description: "Books.",
      inputSchema,
      run: (args: object) => {
        asked.push(args);
        return { id: 1 };
      },
    },
  };
  const h = host(toAgent(mastra, { handle: "helper" }), { tools });
  const answer = await h.say("hi");
  assert.equal(answer.text, "Booked.", answer.logs[0]?.message);
  assert.deepEqual(answer.toolCalls, [
    { id: "call-weather", name: "weather", args: { city: "Porto" }, result: { rain: "Porto" } },
  ]);
  assert.deepEqual(asked, [{ room: "7" }]);
  assert.deepEqual(
    answer.usage.map(({ model, input_tokens, output_tokens }) => [model, input_tokens, output_tokens]),
    [
      ["mock-1", 7, 3],
      ["mock-1", 7, 3],
    ],
  );
  const offered = model.doStreamCalls[0]?.tools?.find((tool) => tool.name === "book") as { inputSchema: object };
  assert.deepEqual((offered.inputSchema as typeof inputSchema).properties, inputSchema.properties);
});

test("a model that fails is told in the log alone", { skip }, async () => {
  const { mastra } = await mastraOf([[start, { type: "error", error: new Error("key 1234 is wrong") }]]);
  const answer = await host(toAgent(mastra, { handle: "helper", maxRetries: 0 })).say("hi");
  assert.equal(answer.error, "The agent met an error.");
  assert.match(answer.logs[0]?.message ?? "", /key 1234/);
});

test("a call that wants to be allowed is asked of the caller", { skip }, async () => {
  const { createTool } = await imported("@mastra/core/tools");
  const { z } = (await imported("zod")) as unknown as typeof import("zod");
  const { Mastra } = (await imported("@mastra/core")) as { Mastra: new (options: object) => unknown };
  const { InMemoryStore } = (await imported("@mastra/core/storage")) as { InMemoryStore: new () => unknown };
  const booked: string[] = [];
  const book = (createTool as (options: object) => object)({
    id: "book",
    description: "Books.",
    inputSchema: z.object({ room: z.string() }),
    requireApproval: true,
    execute: async ({ room }: { room: string }) => {
      booked.push(room);
      return "ok";
    },
  });
  for (const [said, text, calls] of [
    ["yes", "Booked.", ["7"]],
    ["no", "As you like.", []],
  ] as const) {
    booked.length = 0;
    const steps = [
      [start, call("book", { room: "7" }), finish("tool-calls")],
      [start, ...words(text), finish("stop")],
    ];
    const { mastra } = await mastraOf(steps, { book });
    new Mastra({ agents: { m: mastra }, storage: new InMemoryStore(), logger: false });
    const h = host(toAgent(mastra, { handle: "helper" }));
    const asked = await h.say("book it");
    assert.equal(asked.question?.text, 'May I use book with {"room":"7"}?', JSON.stringify(asked.lines));
    const answer = await h.say(said);
    assert.equal(answer.text, text, JSON.stringify(answer.lines));
    assert.deepEqual(booked, calls);
  }
});
