// What the host keeps of a conversation for its agent: the author's own state and, while a question is open, what a
// replay needs.

import { ASKED_CHARS_MAX, REPLAYED_BYTES_MAX, STATE_BYTES_MAX } from "./bounds.js";
import { AgentError } from "./endings.js";
import type { Reply } from "./questions.js";
import { bytesOf, encode, type Json, type JsonObject, type Line, type Part } from "./wire.js";

/** The key of the state that is this library's own. */
const ASK_KEY = "$ask";

/** The questions that a function has asked so far; the last one is open. */
export interface OpenQuestion {
  /** Parts of the message at which it began; null where they are too large to be kept. */
  parts: Part[] | null;
  /** How each question began. */
  asked: string[];
  /** The replies to all but the last. */
  answers: Reply[];
  /** The author's state when it began, where that differs from now. */
  before?: JsonObject;
}

/** The state of one conversation, as it came and as it goes. */
export class KeptState {
  /** The author's own. */
  value: JsonObject;
  /** What waits for a reply since the turn before. */
  readonly open?: OpenQuestion;
  /** As the host has it. */
  #sent: string;

  constructor(wire: Json | undefined) {
    const { [ASK_KEY]: open, ...value } = isObject(wire) ? wire : {};
    this.value = value;
    this.open = isOpenQuestion(open) ? open : undefined;
    this.#sent = wire === undefined ? "null" : JSON.stringify(wire);
  }

  /** The same state, as another turn goes on with it. */
  continued(wire: Json | undefined): KeptState {
    const next = new KeptState(wire);
    next.value = this.value;
    return next;
  }

  /** The line that keeps it, where it changed. Throws where it is too large or is no object of JSON. */
  line(open?: OpenQuestion): Line | undefined {
    const own = Object.keys(this.value).find((key) => key.startsWith("$"));
    if (own !== undefined)
      throw new AgentError(`the key \`${own}\` of ctx.state begins with $, which this library keeps for itself`);
    const all: { [key: string]: unknown } = open ? { ...this.value, [ASK_KEY]: open } : this.value;
    const state = Object.keys(all).length > 0 ? all : null;
    const text = encode({ state }).slice('{"state":'.length, -1);
    const bytes = bytesOf(text);
    if (bytes > STATE_BYTES_MAX)
      throw new AgentError(`ctx.state has ${bytes} bytes as JSON; ${STATE_BYTES_MAX} are kept at most`);
    if (text === this.#sent) return undefined;
    this.#sent = text;
    return { state };
  }
}

/** How a question begins, by which a replay knows it. */
export function beginningOf(question: string): string {
  return Array.from(question).slice(0, ASKED_CHARS_MAX).join("");
}

/** Parts of a message as they are kept: without the bytes of files where those are many, or not at all. */
export function keptParts(parts: readonly Part[]): Part[] | null {
  const fits = (candidate: readonly Part[]) => bytesOf(JSON.stringify(candidate)) <= REPLAYED_BYTES_MAX;
  if (fits(parts)) return [...parts];
  const bare = parts.map(({ bytes_ref: _, ...rest }) => rest as Part);
  return fits(bare) ? bare : null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOpenQuestion(value: unknown): value is JsonObject & OpenQuestion {
  if (!isObject(value)) return false;
  const { parts, asked, answers } = value;
  const fit = (parts === null || Array.isArray(parts)) && Array.isArray(asked) && Array.isArray(answers);
  return fit && asked.length === answers.length + 1;
}
