import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, AgentError, Cancelled, type AgentFunction } from "forecourt-agent";
import { host, type Answer } from "forecourt-agent/testing";

/** What an agent answers to one message. */
async function answerOf(run: AgentFunction, text = "hi", options = {}): Promise<Answer> {
  const h = host(agent(run, { handle: "helper" }));
  try {
    return await h.say(text, options);
  } finally {
    await h.close();
  }
}

test("a generator streams what it yields", async () => {
  const answer = await answerOf(async function* (message) {
    yield "You said: ";
    yield message.text;
    yield { "@type": "Recipe", name: "Soup" };
    yield { kind: "link", url: "https://a.example" };
    yield ["a", { x: 1 }];
  });
  assert.equal(answer.ending, "complete");
  assert.equal(answer.text, "You said: hia");
  assert.deepEqual(answer.items, [{ "@type": "Recipe", name: "Soup" }]);
  assert.deepEqual(
    answer.links.map((link) => link.url),
    ["https://a.example"],
  );
  assert.deepEqual(answer.data.at(-1), { x: 1 });
  assert.deepEqual(answer.lines.slice(0, 2), [{ text: "You said: " }, { text: "hi" }]);
});

test("functions of any form are agents", async () => {
  const forms: AgentFunction[] = [
    () => "hello",
    async () => "hello",
    function* () {
      yield "hel";
      yield "lo";
    },
    async function* () {
      yield "hel";
      return "lo";
    },
    (_message, ctx) => ctx.text("hello"),
  ];
  for (const form of forms) assert.equal((await answerOf(form)).text, "hello");
});

test("a name is a handle", () => {
  assert.equal(agent(async function bookARoom_now() {}).handle, "book-a-room-now");
  assert.equal(agent(() => "").handle, "agent");
  assert.throws(() => agent(() => "", { handle: "Not a handle" }), /invalid handle `Not a handle`/);
});

test("what means nothing fails the turn, and only the log says what it was", async () => {
  for (const [value, name] of [
    [7, "a number"],
    [undefined, "undefined"],
    [null, "null"],
    [new Uint8Array(1), "Uint8Array (a file"],
  ] as const) {
    const answer = await answerOf(async function* () {
      yield value as never;
    });
    assert.equal(answer.error, "The agent met an error.");
    assert.match(answer.logs[0]?.message ?? "", new RegExp(`not ${name.replace("(", "\\(")}`));
  }
});

test("the log says where in the file it failed, and not the way through the library", async () => {
  const answer = await answerOf(async function* fails() {
    await Promise.resolve();
    yield JSON.parse("{") as string;
  });
  const [entry] = answer.logs;
  assert.match(entry?.message ?? "", /^SyntaxError: .* \(agent\.test\.[jt]s:\d+\)$/);
  const stack = String(entry?.fields?.stack);
  assert.match(stack, /^SyntaxError: .*\n {4}at JSON\.parse .*\n {4}at .*agent\.test\.[jt]s/);
  assert.doesNotMatch(stack, /dist|node:/);
});

test("what JSON can't hold fails in the function's own line", async () => {
  const loop: { me?: unknown } = {};
  loop.me = loop;
  for (const value of [loop, { big: 1n }]) {
    const answer = await answerOf((_message, ctx) => {
      assert.throws(() => ctx.data(value), TypeError);
      assert.throws(() => ctx.data(undefined), AgentError);
      return "caught";
    });
    assert.equal(answer.text, "caught");
  }
});

test("everything that can be said arrives", async () => {
  const answer = await answerOf(async (_message, ctx) => {
    ctx.progress(0.5, "half");
    const id = ctx.toolCall("look", { a: 1 });
    ctx.toolCall("look", { a: 1 }, { id, result: { b: 2 } });
    ctx.toolCall("fail", {}, { error: "no" });
    ctx.link("https://a.example", "A");
    ctx.source("https://b.example");
    ctx.item({ "@type": "Thing" });
    ctx.data([1]);
    ctx.usage({ model: "m", input: 3, output: 4, cached: 1, provider: "p", cost: 0.1 });
    ctx.log.warn("careful", { a: 1 });
    await ctx.file("a.csv", "a,b");
  });
  assert.deepEqual(answer.progress, [{ progress: 0.5, note: "half" }]);
  assert.deepEqual(answer.toolCalls, [
    { id: "t1", name: "look", args: { a: 1 }, result: { b: 2 } },
    { id: "t2", name: "fail", args: {}, error: "no" },
  ]);
  assert.equal(answer.links.length, 2);
  assert.deepEqual(answer.usage, [
    { model: "m", input_tokens: 3, output_tokens: 4, cached_input_tokens: 1, provider: "p", cost: 0.1 },
  ]);
  assert.deepEqual(answer.logs, [{ level: "warn", message: "careful", fields: { a: 1 } }]);
  assert.deepEqual(
    answer.files.map(({ name, mime, text, isWhole }) => [name, mime, text, isWhole]),
    [["a.csv", "text/csv", "a,b", true]],
  );
});

test("files come in pieces, and one that is not closed is not whole", async () => {
  const bytes = Uint8Array.from({ length: 600_000 }, (_, at) => at % 251);
  const answer = await answerOf(async (_message, ctx) => {
    async function* pieces() {
      yield bytes.subarray(0, 7);
      yield bytes.subarray(7, 300_001);
      yield bytes.subarray(300_001);
    }
    await ctx.file("big.bin", pieces());
    await ctx.file("blob.txt", new Blob(["blob"]));
    const half = ctx.artifact("half.txt");
    await half.write("half");
  });
  const [big, blob] = answer.files;
  assert.deepEqual(big?.bytes, bytes);
  assert.equal(answer.lines.filter((line) => (line.artifact as { id: string } | undefined)?.id === "a1").length, 3);
  assert.equal(blob?.text, "blob");
  assert.deepEqual(
    answer.files.map((file) => file.isWhole),
    [true, true],
  );
});

test("the message is read whole", async () => {
  const sender = {
    address: "@ann@a.example",
    auth_method: "token",
    verified: true,
    identities: [
      {
        subject: "ann",
        issuer: "a.example",
        method: "urn:x",
        assurance: "oauth",
        on_behalf_of: ["bob"],
        claims: { a: 1 },
      },
    ],
  };
  await answerOf(
    (message, ctx) => {
      assert.deepEqual([message.text, message.language, ctx.language], ["hi", "de", "de"]);
      const [file] = message.files;
      assert.deepEqual([file?.name, file?.mime, file?.size, file?.text()], ["a.txt", "text/plain", 3, "abc"]);
      assert.deepEqual(message.data, [{ a: 1 }]);
      assert.deepEqual(
        [ctx.sender.verified, ctx.sender.subject, ctx.sender.identities[0]?.onBehalfOf],
        [true, "ann", ["bob"]],
      );
      assert.equal(message.recipient, "@helper@test.localhost");
      assert.ok((ctx.remaining ?? 0) > 59);
    },
    "hi",
    { language: "de", files: [{ name: "a.txt", data: "abc" }], data: [{ a: 1 }], sender, timeoutMs: 60_000 },
  ).then((answer) => assert.equal(answer.ending, "complete", answer.logs[0]?.message));
});

test("an error tells the caller nothing of the inside", async () => {
  const answer = await answerOf(() => {
    throw new Error("password is 1234");
  });
  assert.deepEqual(answer.lines.at(-1), { error: "The agent met an error." });
  assert.match(answer.logs[0]?.message ?? "", /password is 1234 /);
  assert.equal((await answerOf((_message, ctx) => ctx.fail("No luck."))).error, "No luck.");
  assert.equal((await answerOf((_message, ctx) => ctx.decline("I won't."))).declined, "I won't.");
  const finished = await answerOf(async function* (_message, ctx) {
    yield "a ";
    ctx.finish("b");
  });
  assert.deepEqual([finished.ending, finished.text], ["message", "a b"]);
});

test("the log is bounded in a turn", async () => {
  const answer = await answerOf((_message, ctx) => {
    for (let line = 0; line < 105; line += 1) ctx.log.info("x".repeat(9_000));
  });
  assert.equal(answer.logs.length, 101);
  assert.match(answer.logs.at(-1)?.message ?? "", /more than 100 lines/);
  assert.equal(answer.logs[0]?.message.length, 1_000);
});

test("an emoji that a model splits arrives whole, and half of one is replaced", async () => {
  const answer = await answerOf(async function* () {
    yield "a\ud83d";
    yield "\ude00b";
    yield { half: "\ud83d" };
  });
  assert.equal(answer.text, "a😀b");
  assert.deepEqual(answer.data, [{ half: "\ufffd" }]);
});

test("a line that the host would not take fails in the function's own line", async () => {
  const max = 16 * 1024 * 1024 - '{"text":""}'.length;
  const answer = await answerOf((_message, ctx) => {
    assert.throws(() => ctx.text("x".repeat(max + 1)), /more than 16777216 bytes: a file goes in pieces/);
    assert.throws(() => ctx.text("€".repeat(max / 3 + 1)), AgentError);
    ctx.text("x".repeat(max));
  });
  assert.deepEqual([answer.text.length, answer.ending], [max, "complete"]);
});

test("several agents answer by handle", async () => {
  const agents = [agent(() => "chef", { handle: "chef" }), agent(() => "cook", { handle: "cook" })];
  assert.equal((await host(agents, { handle: "cook" }).say("hi")).text, "cook");
  assert.equal(
    (await host(agents, { handle: "nobody" }).say("hi")).error,
    "This program has no such agent (known: chef, cook).",
  );
  assert.throws(() => host([agents[0]!, agents[0]!]), /same handle/);
  assert.throws(() => host([]), AgentError);
});

test("a cancelled turn ends where it waits, and its finally blocks run", async () => {
  const seen: string[] = [];
  const h = host(
    agent(async function* helper(_message, ctx) {
      try {
        yield "working";
        await new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      } catch (error) {
        seen.push(`${(error as Cancelled).reason} ${error instanceof Cancelled}`);
        throw error;
      } finally {
        ctx.usage({ model: "m", input: 1, output: 1 });
        ctx.text("nobody hears this");
        await new Promise(setImmediate);
        seen.push("finally");
      }
    }),
  );
  const turn = h.start("hi");
  await new Promise(setImmediate);
  const answer = await turn.cancel("caller_left");
  assert.deepEqual(seen, ["caller_left true", "finally"]);
  assert.deepEqual(answer.lines, [
    { text: "working" },
    { usage: { model: "m", input_tokens: 1, output_tokens: 1 } },
    { end: true },
  ]);
});

test("a generator that only yields is ended at its next yield", async () => {
  let isClosed = false;
  const h = host(
    agent(async function* endless() {
      try {
        for (;;) {
          await new Promise(setImmediate);
          yield ".";
        }
      } finally {
        yield "nobody hears this";
        isClosed = true;
      }
    }),
  );
  const turn = h.start("hi");
  await new Promise(setImmediate);
  await turn.cancel();
  assert.ok(isClosed);
});

test("a function that hears nothing of its cancel holds up nobody beyond the grace", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let go = () => {};
  const h = host(
    agent(async function* deaf() {
      await new Promise<void>((resolve) => (go = resolve));
      yield "late";
    }),
  );
  const turn = h.start("hi");
  await new Promise(setImmediate);
  const cancelled = turn.cancel("timeout", 1_000);
  t.mock.timers.tick(799);
  await new Promise(setImmediate);
  assert.deepEqual(turn.soFar.lines, []);
  t.mock.timers.tick(1);
  assert.deepEqual((await cancelled).lines, [{ end: true }]);
  go();
  await new Promise(setImmediate);
  assert.equal(turn.soFar.lines.length, 1);
});

test("the journal is awaited", async () => {
  const answer = await answerOf(async (_message, ctx) => {
    await ctx.journal({ step: 1 });
    await ctx.journal(2);
    return "done";
  });
  assert.deepEqual([answer.journal, answer.text], [[{ step: 1 }, 2], "done"]);
});
