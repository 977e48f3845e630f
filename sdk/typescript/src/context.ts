// What a function has beside the message: its way to the caller and to the host.

import { ArtifactWriter, writeAll, type FileData } from "./artifact.js";
import { AgentError, Ending, Unanswered } from "./endings.js";
import type { HistoryTurn, Message, Sender } from "./message.js";
import { linesOf, mediaTypeOf, partLine } from "./parts.js";
import { askedAgain, fieldOf, questionOf, readField, readForm } from "./questions.js";
import type { AskOptions, Field, Reply } from "./questions.js";
import type { Refusal } from "./refuse.js";
import type { Level, Turn } from "./turn.js";
import type { Json, JsonObject, Line, Part, WireQuestion } from "./wire.js";

/** The running function, as its context sees it. */
export interface Stage {
  readonly turn: Turn;
  readonly signal: AbortSignal;
  readonly isReplaying: boolean;
  state: JsonObject;
  /** Shows something to the caller, unless it is a replay. */
  say(line: Line): void;
  /** Tells the host something that is real in a replay, too. */
  report(line: Line): void;
  log(level: Level, message: string, fields?: JsonObject): void;
  /** Ends the turn with a question; resolves in the turn that answers. A replay knows it by the author's `text`. */
  ask(question: WireQuestion, text: string): Promise<Reply>;
}

/** What a model used. Tokens. */
export interface Usage {
  model: string;
  input: number;
  output: number;
  /** Of `input`, those from the provider's cache. */
  cached?: number;
  provider?: string;
  /** In the unit of money of the deployment's prices. */
  cost?: number;
}

/** Something that may be called by `ctx.call`, or by itself. */
export interface Tool {
  (args?: JsonObject): Promise<Json>;
  readonly toolName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The consent or the payment that answered an earlier refusal. Made by the host from its own records. */
export interface Resolution {
  kind: "consent_required" | "payment_required" | (string & {});
  /** The state of the refusal. */
  state: string;
  confirmation: JsonObject;
  verifiedBy: string;
}

/** The log of the host, with the request's id. */
export type Log = Record<Level, (message: string, fields?: JsonObject) => void>;

export class Context<State extends object = JsonObject> {
  readonly #stage: Stage;
  #named = 0;
  /** Writes into the host's log. */
  readonly log: Log;

  constructor(stage: Stage) {
    this.#stage = stage;
    const at = (level: Level) => (message: string, fields?: JsonObject) => stage.log(level, message, fields);
    this.log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }

  // What is there to read.

  /** The message of the current turn: another one after an `ask`. */
  get message(): Message {
    return this.#stage.turn.message;
  }
  get sender(): Sender {
    return this.message.sender;
  }
  get history(): HistoryTurn[] {
    return this.message.history;
  }
  get language(): string | undefined {
    return this.message.language;
  }
  get conversation(): string | undefined {
    return this.message.conversation;
  }
  get resolution(): Resolution | undefined {
    const wire = this.message.raw.policy_resolution;
    return (
      wire && {
        kind: wire.kind,
        state: wire.in_reply_to_state,
        confirmation: wire.confirmation,
        verifiedBy: wire.verified_by,
      }
    );
  }
  /** The id under which the host's log knows this turn. */
  get request(): string | undefined {
    return this.message.raw.request;
  }
  /** The trace that this turn is part of, for requests of yours. W3C Trace Context. */
  get traceparent(): string | undefined {
    return this.message.raw.traceparent;
  }
  /** When the host cancels this turn. */
  get deadline(): Date | undefined {
    return this.#stage.turn.deadline;
  }
  /** Seconds until then. */
  get remaining(): number | undefined {
    return this.#stage.turn.remaining;
  }
  /** Fires when the turn is cancelled. The function is then ended where it waits, and its `finally` blocks run. */
  get signal(): AbortSignal {
    return this.#stage.signal;
  }
  /** Whether the function runs again up to its open question, unseen. */
  get replaying(): boolean {
    return this.#stage.isReplaying;
  }
  /** What the host keeps for this agent in this conversation; at most 64 KiB as JSON. Change it in place, or set it. */
  get state(): State {
    return this.#stage.state as unknown as State;
  }
  set state(state: State) {
    this.#stage.state = state as unknown as JsonObject;
  }
  /** Names the work of a task that goes on after a loss; the same in every try. */
  get work(): string | undefined {
    return this.message.raw.work;
  }
  /** What earlier tries noted with `journal`. */
  get journalEntries(): Json[] {
    return this.message.raw.journal ?? [];
  }
  /** What the deployment lets this agent call. */
  get tools(): Tool[] {
    return (this.message.raw.tools ?? []).map((wire) => {
      const call = (args: JsonObject = {}) => this.call(wire.name, args);
      const { name: toolName, description = "", input_schema: inputSchema = { type: "object" } } = wire;
      return Object.assign(call, { toolName, description, inputSchema });
    });
  }

  // What is said at once.

  /** The next piece of the answer, markdown. */
  text(markdown: string): void {
    this.#stage.say({ text: markdown });
  }
  /** Shown while the caller waits: how far it is, 0 to 1, and a sentence. */
  progress(fraction?: number, note?: string): void {
    if (fraction !== undefined && !(fraction >= 0 && fraction <= 1)) throw new AgentError("progress goes from 0 to 1");
    if (fraction === undefined && note === undefined) throw new AgentError("progress needs a fraction or a note");
    this.#stage.say({ ...(fraction !== undefined && { progress: fraction }), ...(note !== undefined && { note }) });
  }
  /** A part by its `kind`. */
  part(part: Part): void {
    this.#stage.say(partLine(part));
  }
  /** A thing of schema.org, with its `@type`. */
  item(item: object): void {
    if (!("@type" in item)) throw new AgentError("an item has an @type; ctx.data takes other objects");
    this.#stage.say({ data: item });
  }
  /** Any JSON; what is null or undefined is no data. */
  data(value: unknown): void {
    if (value === null || value === undefined) throw new AgentError("ctx.data needs a value");
    this.#stage.say({ data: value });
  }
  link(url: string, title?: string, description?: string): void {
    this.#stage.say({
      link: { url, ...(title !== undefined && { title }), ...(description !== undefined && { description }) },
    });
  }
  /** A link that the answer stands on. */
  source(url: string, title?: string, description?: string): void {
    this.link(url, title, description);
  }
  /** Shows a tool at work; the same `id` again says what came of it. Gives the id. */
  toolCall(name: string, args: unknown, call: { id?: string; result?: unknown; error?: string } = {}): string {
    const id = call.id ?? `t${(this.#named += 1)}`;
    const outcome =
      call.error !== undefined ? { error: call.error } : call.result !== undefined ? { result: call.result } : {};
    this.#stage.say({ tool_call: { id, name, args: args ?? {}, ...outcome } });
    return id;
  }
  /** What a model used: counted in budgets, costs and usage as the host's own models are. Several add up. */
  usage(usage: Usage): void {
    const { model, provider, input, output, cached, cost } = usage;
    const tokens = { input_tokens: Math.round(input || 0), output_tokens: Math.round(output || 0) };
    const more = {
      ...(cached !== undefined && { cached_input_tokens: cached }),
      ...(provider !== undefined && { provider }),
    };
    this.#stage.report({ usage: { model, ...tokens, ...more, ...(cost !== undefined && { cost }) } });
  }

  // What takes a while.

  /** A file, whole or in pieces. */
  async file(name: string, data: FileData, options: { mime?: string; description?: string } = {}): Promise<void> {
    await writeAll(this.artifact(name, options), data);
  }
  /** A file to write piece by piece. */
  artifact(name: string, options: { mime?: string; description?: string } = {}): ArtifactWriter {
    const stage = this.#stage;
    const sink = { say: (line: Line) => stage.say(line), drained: () => stage.turn.drained() };
    return new ArtifactWriter(
      sink,
      `a${(this.#named += 1)}`,
      name,
      options.mime ?? mediaTypeOf(name),
      options.description,
    );
  }
  /** Calls a tool of `tools` through the host, as the caller's own. Throws `CallError`. */
  async call(tool: string, args: JsonObject = {}): Promise<Json> {
    this.signal.throwIfAborted();
    return this.#stage.turn.call(tool, args);
  }
  /** Notes how far the work has come; resolves once that is on disk. */
  async journal(value: Json): Promise<void> {
    this.signal.throwIfAborted();
    return this.#stage.turn.journal(value);
  }

  /** Asks the caller, which ends the turn; the function goes on here with the answer, in the next turn. */
  ask(question: string, options: AskOptions & { several: true }): Promise<string[]>;
  ask(question: string, options: AskOptions & { type: "number" }): Promise<number>;
  ask(question: string, options: AskOptions & { type: "boolean" }): Promise<boolean>;
  ask(question: string, options?: AskOptions): Promise<string>;
  async ask(question: string, options: AskOptions = {}): Promise<Json> {
    const field = fieldOf(question, options);
    // Words alone need no form, which some protocols would show as one.
    const fields = field.type === "text" && field.default === undefined ? [] : [field];
    let text = question;
    for (let attempt = 1; ; attempt += 1) {
      const reply = await this.#stage.ask(questionOf(text, fields), text);
      const answer = readForm([field], reply)[field.id] ?? readField(field, reply.text);
      if (answer !== undefined) return answer;
      if (attempt >= (options.attempts ?? 3)) throw new Unanswered(question);
      text = askedAgain(question, field);
    }
  }
  /** Asks for several values at once. What is not answered and has no default is left out. */
  async askForm(text: string, fields: readonly Field[]): Promise<JsonObject> {
    return readForm(fields, await this.#stage.ask(questionOf(text, fields), text));
  }

  // What ends the turn. Each throws.

  /** Ends the turn with a question for which nothing waits: the next message begins anew. */
  question(text: string, fields: readonly Field[] = []): never {
    throw new Ending({ question: questionOf(text, fields) }, text);
  }
  refuse(refusal: Refusal): never {
    throw refusal;
  }
  /** The agent won't do it, and asking again changes nothing. */
  decline(sentence: string): never {
    throw new Ending({ declined: sentence }, sentence);
  }
  /** It failed; the caller reads the sentence. */
  fail(sentence: string): never {
    throw new Ending({ error: sentence }, sentence);
  }
  /** The last words, as one message without a task where a protocol can choose. */
  finish(markdown: string): never {
    throw new Ending({ message: markdown }, markdown);
  }

  /** Says what a function yields. */
  say(value: unknown): void {
    for (const line of linesOf(value)) this.#stage.say(line);
  }
}
