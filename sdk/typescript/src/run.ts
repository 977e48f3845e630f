// One run of a function: from its first message, over its questions, to its end.

import type { AgentDefinition } from "./agent.js";
import { GRACE_SHARE, HELD_BYTES_MAX, LAST_YIELDS_MAX } from "./bounds.js";
import { Context, type Stage } from "./context.js";
import { AgentError, Cancelled, Ending } from "./endings.js";
import { failureOf } from "./failures.js";
import { beginningOf, keptParts, KeptState, type OpenQuestion } from "./kept.js";
import { Message } from "./message.js";
import { replyOf, type Reply } from "./questions.js";
import { inTrace } from "./trace.js";
import type { Level, Turn } from "./turn.js";
import { encode, type JsonObject, type Line, type Part, type WireCancel, type WireQuestion } from "./wire.js";

/** A question that waits for its reply. */
interface Pending {
  question: WireQuestion;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const WENT_ON = new Cancelled("the turn has ended");

/** A function at work, or suspended at a question. */
export class Run implements Stage {
  turn: Turn;
  readonly #abort = new AbortController();
  readonly #steps: AsyncIterator<unknown, unknown>;
  readonly #context: Context;
  /** The message at which it began. */
  readonly #first: Part[] | null;
  readonly #before: string;
  #kept: KeptState;
  #asked: string[] = [];
  #answers: Reply[] = [];
  /** How many of `asked` were asked in this process. */
  #position = 0;
  #held: Line[] = [];
  #heldBytes = 0;
  #pending: Pending | undefined;
  #step: Promise<IteratorResult<unknown, unknown>> | undefined;
  /** Wakes who drives it: it asks, or its time after a cancel is over. */
  #wake: () => void = () => {};
  #isForced = false;
  /** Whether the function has returned, or thrown. */
  #isOver = false;

  constructor(agent: AgentDefinition, turn: Turn) {
    this.turn = turn;
    const { raw } = turn.message;
    this.#kept = new KeptState(raw.state);
    let message = turn.message;
    const open = this.#kept.open;
    if (open) {
      this.#asked = [...open.asked];
      this.#answers = [...open.answers, replyOf(message)];
      if (open.before) this.#kept.value = open.before;
      message = new Message({ ...raw, parts: open.parts ?? partsBefore(turn.message, open), answers: [] });
    }
    this.#first = keptParts(message.parts);
    this.#before = JSON.stringify(this.#kept.value);
    this.#context = new Context(this);
    this.#steps = stepsOf(agent, message, this.#context);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
  get isReplaying(): boolean {
    return this.#position < this.#asked.length;
  }
  get state(): JsonObject {
    return this.#kept.value;
  }
  set state(state: JsonObject) {
    if (typeof state !== "object" || state === null || Array.isArray(state))
      throw new AgentError("ctx.state is an object");
    this.#kept.value = state;
  }

  say(line: Line): void {
    if (this.signal.aborted) return;
    if (!this.isReplaying) return this.turn.write(line);
    this.#heldBytes += encode(line).length;
    if (this.#heldBytes > HELD_BYTES_MAX)
      throw new AgentError(`more than ${HELD_BYTES_MAX} bytes were said before a question that is asked once more`);
    this.#held.push(line);
  }
  report(line: Line): void {
    this.turn.write(line);
  }
  log(level: Level, message: string, fields?: JsonObject): void {
    if (this.turn.hasEnded) console.error(`${level}: ${message}`, ...(fields ? [fields] : []));
    else this.turn.log(level, message, fields);
  }

  ask(question: WireQuestion, text: string): Promise<Reply> {
    if (this.#pending) throw new AgentError("one question at a time: await the first ask");
    if (this.turn.hasEnded) throw new AgentError("the turn has ended");
    this.signal.throwIfAborted();
    const beginning = beginningOf(text);
    if (this.isReplaying && this.#asked[this.#position] === beginning) {
      this.#dropHeld();
      const reply = this.#answers[this.#position++];
      if (reply) return Promise.resolve(reply);
    }
    if (this.isReplaying)
      this.log("warn", "the function asks something else than before it was replaced: earlier answers are dropped");
    this.#endReplay();
    return new Promise((resolve, reject) => {
      this.#pending = { question, resolve, reject };
      this.#asked.push(beginning);
      this.#position = this.#asked.length;
      this.#wake();
    });
  }

  /** Shows what a replay held, and goes on as if there had been no more answers. */
  #endReplay(): void {
    if (!this.isReplaying) return;
    this.#asked.length = this.#answers.length = this.#position;
    for (const line of this.#held) this.turn.write(line);
    this.#dropHeld();
  }
  #dropHeld(): void {
    [this.#held, this.#heldBytes] = [[], 0];
  }

  /** Whether this turn answers the question at which it is suspended: nobody else has answered it meanwhile. */
  isAnsweredBy(turn: Turn): boolean {
    const open = new KeptState(turn.message.raw.state).open;
    return open !== undefined && JSON.stringify(open.asked) === JSON.stringify(this.#asked);
  }

  /** Goes on with the turn that answers its question. */
  resume(turn: Turn): void {
    this.turn = turn;
    this.#kept = this.#kept.continued(turn.message.raw.state);
    const reply = replyOf(turn.message);
    this.#answers.push(reply);
    this.#pending?.resolve(reply);
    this.#pending = undefined;
  }

  /** Works on the current turn until that ends. Gives whether it waits for another one. Never throws. */
  async drive(): Promise<boolean> {
    const timer = this.#whenCancelled();
    try {
      const question = await inTrace(this.turn.message.raw.traceparent, () => this.#work());
      if (!question) return this.#finish({ end: true });
      // Nobody could come back to it.
      return this.#finish({ question }, this.turn.message.conversation !== undefined);
    } catch (error) {
      return this.#finish(this.#endingOf(error));
    } finally {
      clearTimeout(timer.forced);
    }
  }

  /** Steps on until the function ends (nothing) or asks (its question). */
  async #work(): Promise<WireQuestion | undefined> {
    for (;;) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const step = (this.#step ??= this.signal.aborted ? this.#leave() : this.#steps.next());
      const next =
        this.#pending || this.#isForced
          ? undefined
          : await Promise.race([step, woken]).catch((error: unknown) => {
              this.#isOver = true;
              throw error;
            });
      if (this.#isForced) throw this.signal.reason;
      if (!next && this.#pending) return this.#pending.question;
      if (!next) continue;
      this.#step = undefined;
      if (next.done) {
        this.#isOver = true;
        if (this.signal.aborted) throw this.signal.reason;
        if (next.value !== undefined) this.#context.say(next.value);
        this.#endReplay();
        return undefined;
      }
      this.#context.say(next.value);
      await this.turn.drained();
    }
  }

  /** Ends the function where it yields; its `finally` blocks may yield a little more, which nobody sees. */
  async #leave(): Promise<IteratorResult<unknown, unknown>> {
    let last = await this.#steps.return?.();
    // Not `return` again: that would cut the block off where it yields.
    for (let yields = 0; last && !last.done && yields < LAST_YIELDS_MAX; yields += 1) last = await this.#steps.next();
    return { done: true, value: undefined };
  }

  /** Gives the turn its ending, behind the state where that is kept. */
  #finish(ending: Line, isKept = false): boolean {
    const reason = (this.signal.reason as Cancelled | undefined) ?? WENT_ON;
    let last = ending;
    try {
      // The host keeps nothing of a turn that ends otherwise, and nothing without a conversation.
      const isKeeping = ["end", "message", "question"].some((name) => name in ending) && !this.signal.aborted;
      const hasPlace = this.turn.message.conversation !== undefined;
      const state = isKeeping && hasPlace ? this.#kept.line(isKept ? this.#open() : undefined) : undefined;
      if (state) this.turn.write(state);
    } catch (error) {
      [last, isKept] = [this.#endingOf(error), false];
    }
    this.turn.end(last, reason);
    if (!isKept && !this.#isOver) void this.close("suspended");
    return isKept;
  }

  #open(): OpenQuestion {
    const open: OpenQuestion = { parts: this.#first, asked: this.#asked, answers: this.#answers };
    return JSON.stringify(this.#kept.value) === this.#before
      ? open
      : { ...open, before: JSON.parse(this.#before) as JsonObject };
  }

  #endingOf(error: unknown): Line {
    if (this.signal.aborted) return { end: true };
    this.#endReplay();
    if (error instanceof Ending) return error.line;
    const { message, stack } = failureOf(error);
    this.log("error", message, { stack });
    // What an error says is for the log: it tells of the inside.
    return { error: "The agent met an error." };
  }

  /** Ends it when its turn is cancelled, within the host's grace whatever the function does. */
  #whenCancelled(): { forced?: ReturnType<typeof setTimeout> } {
    const timer: { forced?: ReturnType<typeof setTimeout> } = {};
    this.turn.onCancel = ({ reason, grace_ms }: WireCancel) => {
      timer.forced ??= setTimeout(
        () => {
          this.#isForced = true;
          this.#wake();
        },
        (grace_ms ?? 0) * GRACE_SHARE,
      );
      this.#stop(new Cancelled(reason ?? "cancelled"));
    };
    return timer;
  }

  #stop(reason: Cancelled): void {
    if (this.signal.aborted) return;
    this.#abort.abort(reason);
    this.#pending?.reject(reason);
    this.#pending = undefined;
    this.turn.giveUp(reason);
    this.#wake();
  }

  /** Ends it for good: nobody hears of it any more. Resolves once its `finally` blocks have run. */
  async close(reason: string): Promise<void> {
    this.#stop(new Cancelled(reason));
    const step = this.#step ?? Promise.resolve();
    this.#step = undefined;
    // What it throws now is its own reaction to being closed.
    await step.then(() => this.#leave()).catch(() => {});
  }
}

/** Parts of the message at which a function began, out of the history: each question since then has a turn. */
function partsBefore(message: Message, open: OpenQuestion): Part[] {
  const first = message.history.filter((turn) => turn.role === "user").at(-open.asked.length);
  if (first) return first.parts;
  const sentence = "This conversation can't be continued. Please start again.";
  throw new Ending({ error: sentence }, sentence);
}

/** The steps of a function, of whatever form it is. */
async function* stepsOf(agent: AgentDefinition, message: Message, context: Context): AsyncGenerator<unknown, unknown> {
  const made = agent.run(message, context);
  if (isGenerator(made)) return yield* made as AsyncGenerator<unknown, unknown>;
  return await made;
}

function isGenerator(value: unknown): boolean {
  return typeof (value as AsyncIterator<unknown> | undefined)?.next === "function";
}
