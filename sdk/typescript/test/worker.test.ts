import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const fixture = (name: string) => fileURLToPath(new URL(`../test/fixtures/${name}`, import.meta.url));

type Line = { [key: string]: unknown };

/** A worker behind its pipes. */
class Worker {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  stderr = "";

  constructor(...words: string[]) {
    this.process = spawn(process.execPath, [CLI, ...words]);
    this.process.stderr.on("data", (piece) => (this.stderr += String(piece)));
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }
  async line(): Promise<Line> {
    const { value, done } = await this.#lines.next();
    assert.ok(!done, `the worker has ended: ${this.stderr}`);
    return JSON.parse(value as string) as Line;
  }
  say(line: Line): void {
    this.process.stdin.write(`${JSON.stringify(line)}\n`);
  }
  message(turn: number, text: string, more: Line = {}): void {
    this.say({
      turn,
      id: `m${turn}`,
      parts: [{ kind: "text", content: text }],
      conversation: "c1",
      recipient: "@helper@a.example",
      ...more,
    });
  }
  async end(): Promise<number> {
    this.process.stdin.end();
    const [code] = (await once(this.process, "exit")) as [number];
    return code;
  }
}

test("a worker says hello, answers turns at once, and what it prints harms nobody", async () => {
  const worker = new Worker(fixture("helper.mjs"), "--concurrency", "3");
  assert.deepEqual(await worker.line(), {
    hello: { protocol: 2, sdk: "forecourt-agent-typescript/0.1.0", concurrency: 3 },
  });
  worker.message(1, "wait", { conversation: "c1" });
  assert.deepEqual(await worker.line(), { turn: 1, text: "waiting" });
  worker.message(2, "print", { conversation: "c2" });
  assert.deepEqual(await worker.line(), { turn: 2, text: "printed" });
  assert.deepEqual(await worker.line(), { turn: 2, end: true });
  worker.say({ turn: 1, cancel: { reason: "caller_left", grace_ms: 5_000 } });
  assert.deepEqual(await worker.line(), { turn: 1, log: { level: "info", message: "finally caller_left" } });
  assert.deepEqual(await worker.line(), { turn: 1, end: true });
  worker.message(3, "ask");
  assert.deepEqual(((await worker.line()).state as Line).$ask, {
    parts: [{ kind: "text", content: "ask" }],
    asked: ["What?"],
    answers: [],
  });
  assert.deepEqual(await worker.line(), { turn: 3, question: { text: "What?", questions: [] } });
  assert.equal(await worker.end(), 0);
  for (const printed of ["a log", "an info", "a write", "a rejection that nobody handles"])
    assert.match(worker.stderr, new RegExp(printed));
});

test("lines that mean nothing are left out, and calls get their results", async () => {
  const worker = new Worker(fixture("helper.mjs"));
  await worker.line();
  worker.process.stdin.write("\nno json\n{}\n[1]\n7\n");
  worker.say({ turn: 9, cancel: {} });
  worker.say({ turn: 9, result: { id: "c1" } });
  worker.message(1, "call", { tools: [{ name: "add", description: "Adds.", input_schema: { type: "object" } }] });
  assert.deepEqual(await worker.line(), { turn: 1, call: { id: "c1", tool: "add", arguments: { a: 1 } } });
  worker.say({ turn: 1, result: { id: "c7", content: 1 } });
  worker.say({ turn: 1, result: { id: "c1", content: { sum: 2 } } });
  assert.deepEqual(await worker.line(), { turn: 1, text: '{"sum":2}' });
  assert.deepEqual(await worker.line(), { turn: 1, end: true });
  assert.equal(await worker.end(), 0);
  assert.equal(worker.stderr.match(/has no turn/g)?.length, 4);
});

test("at the end of the input open turns end, and whoever waits is cleaned up", async () => {
  const worker = new Worker(fixture("helper.mjs"));
  await worker.line();
  worker.message(1, "soon");
  await worker.line();
  worker.message(2, "ask", { conversation: "c2" });
  await worker.line();
  await worker.line();
  const ended = worker.end();
  assert.deepEqual(await worker.line(), { turn: 1, text: "done" });
  assert.deepEqual(await worker.line(), { turn: 1, end: true });
  assert.equal(await ended, 0);
  assert.match(worker.stderr, /finally shutdown/);
});

test("a worker that can't work says why", () => {
  const run = (...words: string[]) => spawnSync(process.execPath, [CLI, ...words], { encoding: "utf8", input: "" });
  for (const [words, said] of [
    [[fixture("empty.mjs")], /exports no agent: write `export default agent/],
    [[fixture("nowhere.mjs")], /nowhere\.mjs/],
    [[fixture("unreadable.mjs")], /unreadable\.mjs:2\n[^]*SyntaxError/],
    [[fixture("incomplete.mjs")], /^Error[^\n]*'no-such-package' imported from [^\n]*incomplete\.mjs\s*$/],
    [[fixture("helper.mjs"), "--concurrency", "257"], /--concurrency is a number from 1 to 256, not `257`/],
    [[fixture("helper.mjs"), "--concurrency", "0"], /from 1 to 256/],
    [[fixture("helper.mjs"), "--unknown"], /--unknown/],
    [["serve"], /one file is needed/],
    [["describe", fixture("helper.mjs")], /exports no endpoint/],
    [["serve", fixture("helper.mjs"), "--port", "70000"], /--port is a number/],
  ] as const) {
    const { status, stderr } = run(...words);
    assert.equal(status, 1, words.join(" "));
    assert.match(stderr, said);
  }
  assert.match(run("--help").stdout, /forecourt-agent FILE/);
  assert.equal(run("--version").stdout.trim(), "0.1.0");
});
