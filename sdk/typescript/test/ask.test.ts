import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, refuse, Unanswered, type Context } from "forecourt-agent";
import { host } from "forecourt-agent/testing";

const shop = agent(async function* shop(message, ctx) {
  yield `Order: ${message.text}. `;
  ctx.usage({ model: "m", input: 1, output: 1 });
  const size = await ctx.ask("Which size?", { options: ["S", { value: "M", title: "Medium" }] });
  yield `Size ${size}. `;
  const count = await ctx.ask("How many?", { type: "number" });
  yield `${count + 1} of ${size} for ${message.text}, said in ${ctx.message.text}.`;
});

test("a question ends the turn, and the next turn goes on behind it", async () => {
  const h = host(shop);
  const first = await h.say("shirt");
  assert.equal(first.ending, "question");
  assert.deepEqual(first.question, {
    text: "Which size? (S, Medium)",
    questions: [{ id: "answer", text: "Which size?", type: "single_select", options: ["S", "Medium"] }],
  });
  assert.equal(h.suspended, 1);
  const second = await h.say("medium");
  assert.deepEqual([second.text, second.question?.text], ["Size M. ", "How many?"]);
  const third = await h.say("2");
  assert.deepEqual([third.text, third.ending], ["3 of M for shirt, said in 2.", "complete"]);
  assert.deepEqual([h.suspended, h.state], [0, undefined]);
});

test("behind a restart the function is replayed, unseen, with the answers so far", async () => {
  const h = host(shop);
  await h.say("shirt");
  await h.restart();
  const second = await h.say("M");
  assert.equal(second.text, "Size M. ");
  assert.equal(second.usage.length, 1, "what a replay uses is real");
  await h.restart();
  assert.equal((await h.say("2")).text, "3 of M for shirt, said in 2.");
});

test("what was answered elsewhere meanwhile is not answered twice", async () => {
  const [a, b] = [host(shop), host(shop)];
  await a.say("shirt");
  const talk = { a: a.conversation(), b: b.conversation() };
  await talk.a.say("shirt");
  talk.b.state = talk.a.state;
  await talk.b.say("S");
  talk.a.state = talk.b.state;
  const answer = await talk.a.say("4");
  assert.equal(answer.text, "5 of S for shirt, said in 4.");
});

test("an answer that fits nothing is asked for again, and then the conversation begins anew", async () => {
  const h = host(
    agent(async (_message, ctx) => `You took ${await ctx.ask("Which?", { options: ["tea", "milk"], attempts: 2 })}.`),
  );
  await h.say("drink");
  assert.equal((await h.say("beer")).question?.text, "Please choose one of: tea, milk.\n\nWhich?");
  await h.restart();
  assert.equal((await h.say("2.")).text, "You took milk.");
  await h.say("drink");
  await h.say("beer");
  const last = await h.say("wine");
  assert.deepEqual([last.ending, last.text], ["message", "That is no answer to “Which?”, so let us begin anew."]);
});

test("Unanswered can be caught", async () => {
  const h = host(
    agent(async (_message, ctx) => {
      try {
        return String(await ctx.ask("Sure?", { type: "boolean", attempts: 1 }));
      } catch (error) {
        assert.ok(error instanceof Unanswered);
        return "as you like";
      }
    }),
  );
  await h.say("go");
  assert.equal((await h.say("perhaps")).text, "as you like");
  await h.say("go");
  assert.equal((await h.say("Ja!")).text, "true");
});

test("several options, and forms by name, by data, and in words", async () => {
  const several = host(
    agent(async (_message, ctx) => (await ctx.ask("Which?", { options: ["a", "b", "c"], several: true })).join("+")),
  );
  await several.say("x");
  assert.equal((await several.say("a, 3 and B")).text, "a+c+b");
  const fields = [
    { id: "diet", text: "Which diet?", options: ["vegan", { value: "o", title: "Other" }] },
    { id: "people", text: "How many?", type: "number", default: 4 },
    { id: "note", text: "Anything else?" },
    { id: "spicy", text: "Spicy?", type: "boolean" },
  ] as const;
  const form = agent(async (_message, ctx) => JSON.stringify(await ctx.askForm("Tell me more.", fields)));
  const answers = [
    ["diet: other\npeople: 2,5\nnote: one\ntwo\nspicy: yes", {}],
    ['{"diet": "o", "people": 2.5, "note": "one\\ntwo", "spicy": true}', {}],
    [
      "",
      {
        answers: [
          { id: "diet", value: "Other" },
          { id: "people", value: 2.5 },
          { id: "note", value: "one\ntwo" },
          { id: "spicy", value: true },
        ],
      },
    ],
    ["", { data: [{ diet: "other", people: "2.5", note: "one\ntwo", spicy: "ja" }] }],
    ["- `diet`: Other\nHow many? 2.5\nnote = one\ntwo\nspicy: true", {}],
  ] as const;
  for (const [text, options] of answers) {
    const h = host(form);
    assert.equal((await h.say("x")).question?.questions.length, 4);
    const answer = await h.say(text, options as object);
    assert.deepEqual(JSON.parse(answer.text), { people: 2.5, diet: "o", note: "one\ntwo", spicy: true }, text);
  }
  const h = host(form);
  await h.say("x");
  assert.deepEqual(JSON.parse((await h.say("no idea, what is there?")).text), { people: 4 });
});

test("state is kept between turns, within its bound, and not by turns that fail", async () => {
  const h = host(
    agent<{ count?: number; big?: string }>(
      async (message, ctx) => {
        ctx.state.count = (ctx.state.count ?? 0) + 1;
        if (message.text === "fail") ctx.fail("No.");
        if (message.text === "fits") ctx.state = { big: "x".repeat(65_536 - '{"big":""}'.length) };
        if (message.text === "over") ctx.state = { big: "x".repeat(65_537 - '{"big":""}'.length) };
        if (message.text === "forget") ctx.state = {};
        if (message.text === "own") Object.assign(ctx.state, { $x: 1 });
        return String(ctx.state.count);
      },
      { handle: "counter" },
    ),
  );
  assert.equal((await h.say("hi")).text, "1");
  await h.say("fail");
  assert.equal((await h.say("hi")).text, "2");
  assert.equal((await h.say("over")).error, "The agent met an error.");
  assert.match((await h.say("own")).logs[0]?.message ?? "", /`\$x` of ctx.state begins with \$/);
  assert.deepEqual(h.state, { count: 2 });
  assert.equal((await h.say("fits")).ending, "complete");
  await h.say("forget");
  assert.equal(h.state, undefined);
});

test("a replay begins with the state of its first try", async () => {
  const h = host(
    agent<{ count?: number }>(
      async (_message, ctx) => {
        ctx.state.count = (ctx.state.count ?? 0) + 1;
        await ctx.ask("Go on?");
        ctx.state.count += 1;
        return `${ctx.replaying} ${ctx.state.count}`;
      },
      { handle: "counter" },
    ),
  );
  await h.say("hi");
  assert.equal((h.state as { count: number }).count, 1);
  await h.restart();
  assert.equal((await h.say("yes")).text, "false 2");
  assert.deepEqual(h.state, { count: 2 });
});

test("a replay that goes another way shows what it says", async () => {
  let isOther = false;
  const h = host(
    agent(async function* helper(_message, ctx) {
      yield "before ";
      if (isOther) return;
      yield await ctx.ask("What?");
    }),
  );
  await h.say("hi");
  await h.restart();
  isOther = true;
  assert.equal((await h.say("that")).text, "before ");
  isOther = false;
  let question = "First?";
  const asker = host(
    agent(async function* helper(_message, ctx) {
      yield "said ";
      yield await ctx.ask(question);
    }),
  );
  await asker.say("hi");
  await asker.restart();
  question = "Second?";
  const answer = await asker.say("x");
  assert.deepEqual([answer.text, answer.question?.text, answer.logs[0]?.level], ["said ", "Second?", "warn"]);
  assert.equal((await asker.say("y")).text, "y");
});

test("what is held back in a replay has a bound, over which the turn fails", async () => {
  const h = host(
    agent(async function* helper(_message, ctx) {
      for (let piece = 0; piece < 4; piece += 1) yield "x".repeat(1024 * 1024);
      yield await ctx.ask("Well?");
    }),
  );
  await h.say("hi");
  await h.restart();
  const answer = await h.say("yes");
  assert.equal(answer.error, "The agent met an error.");
  assert.match(answer.logs[0]?.message ?? "", /^more than 4194304 bytes/);
});

test("a first message that is too large is found in the history", async () => {
  const echo = agent(async function* echo(message, ctx) {
    yield `${await ctx.ask("What?")} ${await ctx.ask("Who?")} ${message.text.length} ${message.files.length}`;
  });
  const h = host(echo);
  await h.say("x".repeat(20_000));
  assert.equal((h.state as { $ask: { parts: null } }).$ask.parts, null);
  await h.restart();
  await h.say("a");
  await h.restart();
  assert.equal((await h.say("b")).text, "a b 20000 0");
  const lost = h.conversation();
  lost.state = { $ask: { parts: null, asked: ["What?"], answers: [] } };
  assert.equal((await lost.say("a")).error, "This conversation can't be continued. Please start again.");
  const files = h.conversation();
  await files.say("hi", { files: [{ name: "a", data: "x".repeat(20_000) }] });
  assert.deepEqual(
    (files.state as { $ask: { parts: { name?: string; bytes_ref?: object }[] } }).$ask.parts.map((part) => [
      part.name,
      part.bytes_ref,
    ]),
    [
      [undefined, undefined],
      ["a", undefined],
    ],
  );
});

test("a question for which nothing waits begins anew", async () => {
  const h = host(
    agent((message, ctx) =>
      message.text === "ask" ? ctx.question("Which?", [{ id: "a", text: "A?", options: ["b"] }]) : message.text,
    ),
  );
  const asked = await h.say("ask");
  assert.deepEqual(
    [asked.ending, asked.question?.questions.length, h.suspended, h.state],
    ["question", 1, 0, undefined],
  );
  assert.equal((await h.say("b")).text, "b");
});

test("of more than may be suspended the oldest is closed, and is replayed", async () => {
  const closed: string[] = [];
  const h = host(
    agent(async function* helper(message, ctx) {
      try {
        yield `${message.text}: ${await ctx.ask("What?")}`;
      } finally {
        closed.push(message.text);
      }
    }),
    { suspendedMax: 2 },
  );
  const talks = [h.conversation(), h.conversation(), h.conversation()];
  for (const [at, talk] of talks.entries()) await talk.say(String(at));
  await new Promise(setImmediate);
  assert.deepEqual([h.suspended, closed], [2, ["0"]]);
  for (const [at, talk] of talks.entries()) assert.equal((await talk.say("a")).text, `${at}: a`);
  await h.say("last");
  await h.close();
  await new Promise(setImmediate);
  assert.equal(closed.at(-1), "last");
});

test("after a consent the question need not be answered again", async () => {
  const h = host(
    agent(async (_message, ctx) => {
      const what = await ctx.ask("What?");
      if (!ctx.resolution) return ctx.refuse(refuse.consentRequired("May I?"));
      return `${what} ${ctx.resolution.kind} ${ctx.resolution.verifiedBy}`;
    }),
  );
  await h.say("hi");
  assert.equal((await h.say("this")).refusal?.kind, "consent_required");
  const resolution = {
    kind: "consent_required",
    in_reply_to_state: "s",
    confirmation: { scope_hash: "x" },
    verified_by: "host",
  };
  assert.equal((await h.say("this", { resolution })).text, "this consent_required host");
});

test("one question at a time, and none behind the end", async () => {
  let leaked: Context | undefined;
  const h = host(
    agent(async (_message, ctx) => {
      leaked = ctx as Context;
      void ctx.ask("One?").catch(() => {});
      await assert.rejects(ctx.ask("Two?"), /one question at a time/);
      return "";
    }),
  );
  await h.say("hi");
  await h.close();
  await assert.rejects(leaked!.ask("Late?"));
});

test("tools are called through the host, within bounds", async () => {
  const tools = {
    add: { description: "Adds.", run: (args: { a?: number }) => ({ sum: (args.a ?? 0) + 1 }) },
    refuse: () => {
      throw Object.assign(new Error("not you"), { policy: { kind: "forbidden" } });
    },
  };
  const h = host(
    agent(async (message, ctx) => {
      if (message.text === "many") {
        const all = await Promise.allSettled(Array.from({ length: 33 }, () => ctx.call("add")));
        return all
          .map((one) => one.status)
          .filter((status) => status === "rejected")
          .length.toString();
      }
      if (message.text === "too many") {
        for (let call = 0; call < 200; call += 1) await ctx.call("add");
        await assert.rejects(ctx.call("add"), /more than 200 calls/);
        return "refused";
      }
      assert.deepEqual(
        ctx.tools.map((tool) => [tool.toolName, tool.description]),
        [
          ["add", "Adds."],
          ["refuse", ""],
        ],
      );
      await assert.rejects(
        ctx.call("refuse"),
        (error: { message: string; policy: object }) => error.message === "not you" && "kind" in error.policy,
      );
      return JSON.stringify(await ctx.tools[0]!({ a: 2 }));
    }),
    { tools: tools as never },
  );
  const first = await h.say("hi");
  assert.equal(first.text, `{"sum":3}`, first.logs[0]?.message);
  assert.equal((await h.say("many")).text, "1");
  assert.equal((await h.say("too many")).text, "refused");
});
