import assert from "node:assert/strict";
import { test } from "node:test";

import { simulateReadableStream, stepCountIs, streamText, tool } from "ai";
import * as ai from "ai/test";
import { agent } from "forecourt-agent";
import { modelMessages, show, toAgent } from "forecourt-agent/adapters/ai-sdk";
import { host } from "forecourt-agent/testing";
import { z } from "zod";

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

/** A model that answers with these streams, one a step. */
function modelOf(...steps: Chunk[][]) {
  // Version 4 of the SDK's interface of models comes with `ai` 7.
  const Mock =
    (ai as unknown as Record<string, typeof ai.MockLanguageModelV3>).MockLanguageModelV4 ?? ai.MockLanguageModelV3;
  let step = 0;
  const model = new Mock({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: steps[step++] ?? [] }) }) as never,
  });
  return model;
}

test("text streams, and what was used is told for each step", async () => {
  const model = modelOf([start, ...words("Hel", "lo."), finish("stop")]);
  const h = host(toAgent({ model, system: "Be kind." }, { handle: "helper" }));
  const answer = await h.say("hi");
  assert.deepEqual(answer.lines.slice(0, 2), [{ text: "Hel" }, { text: "lo." }]);
  assert.deepEqual(answer.usage, [{ model: "mock-1", input_tokens: 7, output_tokens: 3, cached_input_tokens: 2 }]);
});

test("own tools are shown, the host's are called through it", async () => {
  const model = modelOf(
    [start, call("weather", { city: "Porto" }), call("book", { room: "7" }), call("broken", {}), finish("tool-calls")],
    [
      start,
      { type: "source", sourceType: "url", id: "s", url: "https://a.example", title: "A" },
      ...words("Booked."),
      { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) },
      finish("stop"),
    ],
  );
  const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => ({ rain: city }) });
  const broken = tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error("secret");
    },
  });
  const asked: object[] = [];
  const tools = {
    book: {
      description: "Books.",
      inputSchema: { type: "object" },
      run: (args: object) => {
        asked.push(args);
        return { id: 1 };
      },
    },
  };
  const h = host(
    toAgent((message) => ({ model, tools: { weather, broken }, stopWhen: stepCountIs(3), system: message.text }), {
      handle: "helper",
    }),
    { tools },
  );
  const answer = await h.say("hi");
  assert.equal(answer.text, "Booked.", answer.logs[0]?.message);
  assert.deepEqual(answer.toolCalls, [
    { id: "call-weather", name: "weather", args: { city: "Porto" }, result: { rain: "Porto" } },
    { id: "call-broken", name: "broken", args: {}, error: "The tool failed." },
  ]);
  assert.deepEqual(asked, [{ room: "7" }]);
  assert.deepEqual(answer.links, [{ kind: "link", url: "https://a.example", title: "A" }]);
  assert.deepEqual(answer.usage.length, 2);
});

test("the conversation and files reach the model", async () => {
  const model = modelOf([start, ...words("One."), finish("stop")], [start, ...words("Two."), finish("stop")]);
  const h = host(toAgent({ model }, { handle: "helper" }));
  await h.say("first");
  await h.say("second", { files: [{ name: "a.png", data: new Uint8Array([1, 2, 3]) }] });
  const prompt = model.doStreamCalls[1]?.prompt.map((turn) => [
    turn.role,
    (turn.content as { type: string; text?: string }[]).map((part) => part.text ?? part.type),
  ]);
  assert.deepEqual(prompt, [
    ["user", ["first"]],
    ["assistant", ["One."]],
    ["user", ["second", "file"]],
  ]);
  assert.deepEqual(modelMessages({ history: [], files: [], data: [], text: "" } as never), []);
});

test("a call that wants to be allowed is asked of the caller", async () => {
  const booked: string[] = [];
  const book = tool({
    inputSchema: z.object({ room: z.string() }),
    needsApproval: true,
    execute: ({ room }) => {
      booked.push(room);
      return "ok";
    },
  });
  for (const [said, text, calls] of [
    ["yes", "Booked.", ["7"]],
    ["no", "As you like.", []],
  ] as const) {
    booked.length = 0;
    const model = modelOf(
      [start, call("book", { room: "7" }), finish("tool-calls")],
      [start, ...words(text), finish("stop")],
    );
    const h = host(toAgent({ model, tools: { book } }, { handle: "helper" }));
    const asked = await h.say("book it");
    assert.equal(asked.question?.text, 'May I use book with {"room":"7"}?', asked.logs[0]?.message);
    assert.equal((await h.say(said)).text, text);
    assert.deepEqual(booked, calls);
  }
});

test("a generator of one's own shows what a model gives", async () => {
  const model = modelOf([start, ...words("Hi."), finish("stop")]);
  const h = host(
    agent(async function* helper(message, ctx) {
      yield "Thinking… ";
      yield* show(streamText({ model, prompt: message.text, abortSignal: ctx.signal }), ctx);
    }),
  );
  assert.equal((await h.say("hi")).text, "Thinking… Hi.");
});

test("a model that fails is told in the log alone, and a cancel reaches it", async () => {
  const failing = host(
    toAgent(
      { model: modelOf([start, { type: "error", error: new Error("key 1234 is wrong") }]) },
      { handle: "helper" },
    ),
  );
  const answer = await failing.say("hi");
  assert.equal(answer.error, "The agent met an error.");
  assert.match(answer.logs[0]?.message ?? "", /key 1234/);
  let signal: AbortSignal | undefined;
  const model = modelOf([]);
  model.doStream = (async (options: { abortSignal: AbortSignal }) => {
    signal = options.abortSignal;
    return {
      stream: new ReadableStream({
        start: (controller) => signal!.addEventListener("abort", () => controller.error(signal!.reason)),
      }),
    };
  }) as never;
  const h = host(toAgent({ model }, { handle: "helper" }));
  const turn = h.start("hi");
  while (!signal) await new Promise(setImmediate);
  const cancelled = await turn.cancel();
  assert.ok(signal.aborted);
  assert.deepEqual(cancelled.lines.at(-1), { end: true });
});
