import assert from "node:assert/strict";
import { test } from "node:test";

import { agent } from "forecourt-agent";
import { host } from "forecourt-agent/testing";

import { linesIn } from "../dist/lines.js";
import { questionOf, readForm, type Field } from "../dist/questions.js";
import { encode } from "../dist/wire.js";

/** Numbers below a bound, the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

async function lines(pieces: Uint8Array[], max: number): Promise<string[]> {
  async function* stream() {
    yield* pieces;
  }
  const found = [];
  for await (const line of linesIn(stream(), max)) found.push(line);
  return found;
}

test("lines are the same however their bytes are cut", async () => {
  const text = 'a\n\n{"x":"€😀"}\r\nlast €';
  const bytes = new TextEncoder().encode(text);
  for (let seed = 1; seed <= 200; seed += 1) {
    const roll = dice(seed);
    const pieces = [];
    for (let at = 0; at < bytes.length;) pieces.push(bytes.subarray(at, (at += roll(5))));
    assert.deepEqual(await lines(pieces, 100), text.split("\n"));
  }
  const line = new Uint8Array(10).fill(0x61);
  const end = new Uint8Array([0x0a]);
  assert.deepEqual(await lines([line, end], 10), ["a".repeat(10)]);
  await assert.rejects(lines([line, line.subarray(0, 1), end], 10), /more than 10 bytes/);
  await assert.rejects(lines([line, line.subarray(0, 1)], 10), /more than 10 bytes/);
});

test("whatever is answered to a form, only values that fit come out", () => {
  const fields: Field[] = [
    { id: "one", text: "One?", options: ["a", { value: "b", title: "B b" }] },
    { id: "several", text: "Several?", type: "multi_select", options: ["a", "b"] },
    { id: "number", text: "How many?", type: "number" },
    { id: "truth", text: "Sure?", type: "boolean" },
    { id: "words", text: "Else?" },
  ];
  const words = [
    "one",
    "several:",
    ":",
    "a",
    "B b",
    "1",
    "-",
    "`",
    "\n",
    "{",
    '{"one":',
    "}",
    "null",
    "NaN",
    "yes",
    "__proto__",
    " ",
    "😀",
  ];
  for (let seed = 1; seed <= 3_000; seed += 1) {
    const roll = dice(seed);
    const text = Array.from({ length: roll(12) }, () => words[roll(words.length)]).join(roll(2) ? " " : "");
    const values = roll(3)
      ? undefined
      : [{ id: fields[roll(5)]!.id, value: ([null, 1, [], {}, ["a"], "b", true] as const)[roll(7)] as never }];
    const form = readForm(fields, values ? { text, values } : { text });
    const { one, several, number, truth, words: said } = form;
    assert.ok(one === undefined || ["a", "b"].includes(one as string), text);
    assert.ok(several === undefined || (several as string[]).every((value) => ["a", "b"].includes(value)), text);
    assert.ok(number === undefined || Number.isFinite(number), text);
    assert.ok(truth === undefined || typeof truth === "boolean", text);
    assert.ok(said === undefined || typeof said === "string", text);
  }
  assert.throws(() => questionOf("", [fields[0]!, fields[0]!]), /the same id/);
  assert.throws(() => questionOf("", [{ id: "a", text: "A?", type: "multi_select" }]), /has no options/);
  const day = { id: "a", text: "Which day?", type: "date" as "text" };
  assert.throws(() => questionOf("", [day]), /has a type that is none of text, number, .*: `date`/);
  assert.throws(
    () => questionOf("", [{ id: "a", text: "A?", options: ["x", { value: "y", title: "x" }] }]),
    /same title/,
  );
});

test("a line is JSON that every reader takes", () => {
  for (const text of ["\ud83d", "\\ud83d", "a\udc00b", "\u2028", "😀", "\\\\ud800", '"\ud83d"']) {
    const read = JSON.parse(encode({ text })) as { text: string };
    assert.equal(read.text, text.toWellFormed());
    assert.doesNotMatch(encode({ text }).replace(/\\\\/g, ""), /\\ud[89a-f]/);
  }
});

test("two hundred conversations at once keep their answers apart", async () => {
  const h = host(
    agent(async function* echo(message, ctx) {
      const answer = await ctx.ask(`Who are you, ${message.text}?`);
      for (let piece = 0; piece < 3; piece += 1) {
        await new Promise(setImmediate);
        yield `${message.text} ${answer} `;
      }
    }),
  );
  const talks = Array.from({ length: 200 }, () => h.conversation());
  const asked = await Promise.all(talks.map((talk, at) => talk.say(`n${at}`)));
  assert.deepEqual(
    asked.map((answer) => answer.question?.text),
    talks.map((_talk, at) => `Who are you, n${at}?`),
  );
  assert.equal(h.suspended, 200);
  const answered = await Promise.all(talks.map((talk, at) => talk.say(`a${at}`)));
  assert.deepEqual(
    answered.map((answer) => answer.text),
    talks.map((_talk, at) => `n${at} a${at} `.repeat(3)),
  );
});

test("of two answers to one question at once the second begins anew", async () => {
  const h = host(agent(async (message, ctx) => `${message.text}: ${await ctx.ask("What?")}`));
  await h.say("hi");
  const [first, second] = await Promise.all([h.say("a"), h.say("b")]);
  assert.deepEqual([first.text, second.text], ["hi: a", "hi: b"]);
});
