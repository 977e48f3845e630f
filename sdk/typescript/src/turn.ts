// One turn: a message, what is written for it, and what the host says of it meanwhile.

import { CALLS_MAX, CALLS_OPEN_MAX, LOG_CHARS_MAX, LOG_LINES_MAX } from "./bounds.js";
import { AgentError, CallError, type Cancelled } from "./endings.js";
import { Message } from "./message.js";
import type { Channel, Json, JsonObject, Line, WireCancel, WireMessage, WireNews, WireResult } from "./wire.js";

export type Level = "debug" | "info" | "warn" | "error";

/** Something that is waited for, and who waits. */
interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** A turn that runs. After its ending it writes nothing. */
export class Turn {
  readonly message: Message;
  /** Resolves once it has ended, and what waits for the next turn is in its place. */
  readonly settled: Promise<void>;
  /** Says that it is settled. */
  readonly settle: () => void;
  /** What is done when the host cancels it. */
  onCancel: (cancel: WireCancel) => void = () => {};
  readonly #channel: Channel;
  readonly #startedAt = performance.now();
  readonly #calls = new Map<string, Waiting<Json>>();
  readonly #notes: Waiting<void>[] = [];
  #callsMade = 0;
  #logged = 0;
  #hasEnded = false;
  /** The first half of a character whose other half comes with the next piece. */
  #half = "";

  constructor(wire: WireMessage, channel: Channel) {
    this.message = new Message(wire);
    this.#channel = channel;
    let settle = () => {};
    this.settled = new Promise((resolve) => (settle = resolve));
    this.settle = settle;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** When it is cancelled, if the host says so. */
  get deadline(): Date | undefined {
    const { deadline } = this.message.raw;
    return deadline === undefined ? undefined : new Date(deadline);
  }

  /** Seconds that are left, by this process's own clock. */
  get remaining(): number | undefined {
    const left = this.message.raw.timeout_ms;
    return left === undefined ? undefined : Math.max(0, left - (performance.now() - this.#startedAt)) / 1_000;
  }

  /** Writes a line, in its order. */
  write(line: Line): void {
    if (this.#hasEnded) return;
    if (typeof line.text !== "string") return this.#channel.write(line);
    const text = this.#half + line.text;
    // A model's pieces may split an emoji: half of it is no text, and waits for the rest.
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    const whole = text.slice(0, text.length - this.#half.length);
    if (whole) this.#channel.write({ text: whole });
  }

  /** Ends it. What waits for the host is told that it is over. */
  end(line: Line, reason: Cancelled): void {
    if (this.#hasEnded) return;
    this.#channel.write(line);
    this.#hasEnded = true;
    this.giveUp(reason);
  }

  drained(): Promise<void> {
    return this.#channel.drained();
  }

  /** Calls a tool of the host's. */
  async call(tool: string, args: JsonObject): Promise<Json> {
    if (!this.#channel.canCall) throw new CallError("tools can't be called over HTTP");
    if (this.#calls.size >= CALLS_OPEN_MAX) throw new CallError(`more than ${CALLS_OPEN_MAX} calls are open at once`);
    if (this.#callsMade >= CALLS_MAX) throw new CallError(`more than ${CALLS_MAX} calls in one turn`);
    if (this.#hasEnded) throw new CallError("the turn has ended");
    const id = `c${(this.#callsMade += 1)}`;
    this.write({ call: { id, tool, arguments: args } });
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  /** Notes how far the work has come; resolves once the host has it on disk. */
  async journal(value: Json): Promise<void> {
    if (!this.#channel.canCall) throw new AgentError("there is no journal over HTTP");
    if (this.#hasEnded) throw new AgentError("the turn has ended");
    this.write({ journal: value });
    return new Promise((resolve, reject) => this.#notes.push({ resolve, reject }));
  }

  /** A line for the host's log; what is over the bound is dropped, and that is told once. */
  log(level: Level, message: string, fields?: JsonObject): void {
    this.#logged += 1;
    if (this.#logged > LOG_LINES_MAX + 1) return;
    if (this.#logged > LOG_LINES_MAX)
      [level, message, fields] = [
        "warn",
        `more than ${LOG_LINES_MAX} lines in one turn: the rest is left out`,
        undefined,
      ];
    const log: Line = { level, message: message.slice(0, LOG_CHARS_MAX) };
    if (fields && JSON.stringify(fields).length <= LOG_CHARS_MAX) log.fields = fields;
    this.write({ log });
  }

  /** What the host says of it. */
  deliver(news: WireNews): void {
    // A function that waits for the next turn is not the concern of this one.
    if (this.#hasEnded) return;
    if (news.result) this.#answer(news.result);
    if (typeof news.journal === "number") this.#notes.shift()?.resolve();
    if (news.cancel) this.onCancel(news.cancel);
  }

  #answer(result: WireResult): void {
    const waiting = this.#calls.get(result.id);
    this.#calls.delete(result.id);
    if (result.error) waiting?.reject(new CallError(result.error.message ?? "the call failed", result.error.policy));
    else waiting?.resolve(result.content ?? null);
  }

  /** Ends every wait for the host. */
  giveUp(reason: Cancelled): void {
    for (const waiting of [...this.#calls.values(), ...this.#notes.splice(0)]) waiting.reject(reason);
    this.#calls.clear();
  }
}
