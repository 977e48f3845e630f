// A worker: messages come as lines of JSON on standard input, answers go as lines on standard output.

import { Console } from "node:console";
import type { Readable, Writable } from "node:stream";

import { CONCURRENCY, LEAVE_MS_MAX, LINE_BYTES_MAX } from "./bounds.js";
import { drainOf, linesIn } from "./lines.js";
import type { Runtime } from "./runtime.js";
import type { Turn } from "./turn.js";
import { SDK } from "./version.js";
import { encode, type Channel, type Line, type WireMessage, type WireNews } from "./wire.js";

/** Standard output, once nothing but the protocol is written there. */
export interface Output {
  write(text: string): boolean;
  drained(): Promise<void>;
}

/** Takes standard output for the protocol: whatever else is printed goes to standard error. */
export function claimOutput(stdout: Writable = process.stdout, stderr: Writable = process.stderr): Output {
  const write = stdout.write.bind(stdout) as (text: string) => boolean;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  // Consoles of some runtimes do not go through `process.stdout`.
  const console = new Console(stderr, stderr);
  for (const name of ["log", "info", "debug", "dir", "table", "group", "warn", "error", "trace"] as const) {
    globalThis.console[name] = console[name].bind(console) as never;
  }
  return { write, drained: drainOf(stdout) };
}

/** Says what this worker is. Before the agents are loaded: until then the host gives it one message at most. */
export function sayHello(output: Output, concurrency = CONCURRENCY): void {
  output.write(`${encode({ hello: { protocol: 2, sdk: SDK, concurrency } })}\n`);
}

/** Answers messages until the input ends, and then what is open. */
export async function work(runtime: Runtime, output: Output, input: Readable = process.stdin): Promise<void> {
  const turns = new Map<number, Turn>();
  for await (const line of linesIn(input as AsyncIterable<Uint8Array>, LINE_BYTES_MAX)) {
    if (line.trim() === "") continue;
    const value = parsed(line);
    if (typeof value?.turn !== "number") {
      console.error("a line of the host's has no turn, or is no JSON: it is left out");
    } else if ("parts" in value) {
      const { turn: number } = value;
      const turn = runtime.start(value as unknown as WireMessage, channelOf(number, output));
      turns.set(number, turn);
      void turn.settled.then(() => turns.delete(number));
    } else {
      turns.get(value.turn)?.deliver(value as WireNews);
    }
  }
  await finished(runtime);
}

/** Lets open turns end by themselves for a while, and cancels what is left. */
export async function finished(runtime: Runtime, leaveMs = LEAVE_MS_MAX): Promise<void> {
  const half = leaveMs / 2;
  const all = Promise.all([...runtime.running].map((turn) => turn.settled));
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([all, new Promise((resolve) => (timer = setTimeout(resolve, half)))]);
  clearTimeout(timer);
  await runtime.leave("shutdown", half);
}

function parsed(line: string): { [key: string]: unknown } | undefined {
  try {
    return JSON.parse(line) as { [key: string]: unknown };
  } catch {
    return undefined;
  }
}

function channelOf(turn: number, output: Output): Channel {
  return {
    canCall: true,
    write: (line: Line) => void output.write(`${encode({ turn, ...line })}\n`),
    drained: () => output.drained(),
  };
}
