// Agents, as functions.

import type { Context } from "./context.js";
import { AgentError } from "./endings.js";
import type { Message } from "./message.js";
import type { Yield } from "./parts.js";
import type { JsonObject, Part } from "./wire.js";

/** What a function may be: a generator that yields pieces of the answer, or a function that returns it. */
export type AgentFunction<State extends object = JsonObject> = (
  message: Message,
  ctx: Context<State>,
) =>
  | AsyncGenerator<Yield, Yield | void, unknown>
  | Generator<Yield, Yield | void, unknown>
  | Promise<Yield | void>
  | string
  | Part
  | JsonObject
  | void;

/** An agent. */
export interface AgentDefinition {
  readonly kind: "forecourt-agent";
  /** The local part of its address. */
  readonly handle: string;
  readonly run: (message: Message, ctx: Context) => unknown;
}

/** Makes an agent of a function. Its handle is the function's name, unless it is given. */
export function agent<State extends object = JsonObject>(
  run: AgentFunction<State>,
  options: { handle?: string } = {},
): AgentDefinition {
  const handle = options.handle ?? handleOf(run.name);
  if (!/^[a-z0-9_-]{1,30}$/.test(handle))
    throw new AgentError(`invalid handle \`${handle}\`: 1 to 30 lower-case letters, digits, _ and -`);
  return { kind: "forecourt-agent", handle, run: run as unknown as AgentDefinition["run"] };
}

/** `bookARoom` and `book_a_room` are `book-a-room`. */
function handleOf(name: string): string {
  const words = name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-")
    .replaceAll("_", "-")
    .toLowerCase();
  return words === "" || words === "default" ? "agent" : words;
}

export function isAgent(value: unknown): value is AgentDefinition {
  return (value as AgentDefinition | undefined)?.kind === "forecourt-agent";
}
