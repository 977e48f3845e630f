// The agents of one process: gives each message to its function, and keeps those that wait for an answer.

import type { AgentDefinition } from "./agent.js";
import { SUSPENDED_MAX } from "./bounds.js";
import { AgentError, Cancelled, Ending } from "./endings.js";
import { Run } from "./run.js";
import { Turn } from "./turn.js";
import type { Channel, WireMessage } from "./wire.js";

export class Runtime {
  readonly #agents: Map<string, AgentDefinition>;
  readonly #suspendedMax: number;
  /** Oldest first. */
  readonly #suspended = new Map<string, Run>();
  readonly #running = new Set<Turn>();

  constructor(agents: readonly AgentDefinition[], suspendedMax = SUSPENDED_MAX) {
    this.#agents = new Map(agents.map((agent) => [agent.handle, agent]));
    if (this.#agents.size === 0) throw new AgentError("no agent: export what agent(…) gives");
    if (this.#agents.size < agents.length) throw new AgentError("two agents have the same handle");
    this.#suspendedMax = suspendedMax;
  }

  /** How many functions wait for an answer. */
  get suspended(): number {
    return this.#suspended.size;
  }
  get running(): ReadonlySet<Turn> {
    return this.#running;
  }

  /** Begins a turn. */
  start(message: WireMessage, channel: Channel): Turn {
    const turn = new Turn(message, channel);
    const agent = this.#agentFor(turn.message.recipient);
    if (!agent) {
      const known = [...this.#agents.keys()].join(", ");
      turn.end({ error: `This program has no such agent (known: ${known}).` }, new Cancelled("no such agent"));
      turn.settle();
      return turn;
    }
    this.#running.add(turn);
    void this.#drive(agent, turn).finally(() => {
      this.#running.delete(turn);
      turn.settle();
    });
    return turn;
  }

  async #drive(agent: AgentDefinition, turn: Turn): Promise<void> {
    const { conversation } = turn.message;
    const key = `${agent.handle} ${conversation}`;
    try {
      const run = this.#runFor(agent, key, turn);
      const isSuspended = await run.drive();
      if (isSuspended) this.#suspend(key, run);
    } catch (error) {
      // It could not even begin: there is nothing left of what it was asked first.
      if (!(error instanceof Ending)) console.error(error);
      turn.end(error instanceof Ending ? error.line : { error: "The agent met an error." }, new Cancelled("failed"));
    }
  }

  #runFor(agent: AgentDefinition, key: string, turn: Turn): Run {
    const waiting = this.#suspended.get(key);
    this.#suspended.delete(key);
    if (waiting?.isAnsweredBy(turn)) {
      waiting.resume(turn);
      return waiting;
    }
    // Another process has answered meanwhile: what waits here is behind.
    void waiting?.close("suspended");
    return new Run(agent, turn);
  }

  #suspend(key: string, run: Run): void {
    void this.#suspended.get(key)?.close("suspended");
    this.#suspended.delete(key);
    this.#suspended.set(key, run);
    for (const [oldest, one] of this.#suspended) {
      if (this.#suspended.size <= this.#suspendedMax) break;
      this.#suspended.delete(oldest);
      void one.close("suspended");
    }
  }

  #agentFor(recipient: string): AgentDefinition | undefined {
    const [only] = this.#agents.values();
    if (this.#agents.size === 1) return only;
    return this.#agents.get(/^@?([^@]*)/.exec(recipient)?.[1] ?? "");
  }

  /** Cancels what runs, and closes what waits. Resolves when all has ended, or the grace is over. */
  async leave(reason: string, graceMs: number): Promise<void> {
    const running = [...this.#running];
    for (const turn of running) turn.deliver({ cancel: { reason, grace_ms: graceMs } });
    const waiting = [...this.#suspended.values()].map((run) => run.close(reason));
    this.#suspended.clear();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([late, Promise.all([...waiting, ...running.map((turn) => turn.settled)])]);
    clearTimeout(timer);
  }
}
