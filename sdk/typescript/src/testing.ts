// Hosts for tests. In memory, for agents: no daemon, no network, and the same code as behind a real host. Or the real
// program, for a whole deployment.

import type { AgentDefinition } from "./agent.js";
import { SUSPENDED_MAX } from "./bounds.js";
import { Answer, take } from "./answer.js";
import { base64 } from "./artifact.js";
import { type DeploymentOptions, DeploymentHost } from "./deployment.js";
import { mediaTypeOf } from "./parts.js";
import { Runtime } from "./runtime.js";
import type { Turn } from "./turn.js";
import {
  encode,
  type FormAnswer,
  type Json,
  type JsonObject,
  type Line,
  type Part,
  type WireHistoryTurn,
  type WireMessage,
  type WireResolution,
} from "./wire.js";

/** A tool that the agent may call: its function, or that with a description. */
export type TestTool =
  | ((args: JsonObject) => unknown)
  | { description?: string; inputSchema?: JsonObject; run: (args: JsonObject) => unknown };

export interface HostOptions {
  tools?: Record<string, TestTool>;
  /** The handle of the agent that is asked, where there are several. */
  handle?: string;
  suspendedMax?: number;
}

export { Answer, type EndingName } from "./answer.js";
export { type AskOptions, DeploymentHost, type DeploymentOptions, HostError, Reply } from "./deployment.js";

/** What comes along with the words of a turn. */
export interface SayOptions {
  files?: { name: string; data: Uint8Array | string; mime?: string }[];
  data?: Json[];
  answers?: FormAnswer[];
  /** Who says it: proven to be this subject. */
  sender?: string | JsonObject;
  resolution?: WireResolution;
  language?: string;
  metadata?: JsonObject;
  timeoutMs?: number;
}

/** A turn that runs. */
export interface RunningTurn {
  /** Cancels it, as a caller does who leaves. */
  cancel(reason?: string, graceMs?: number): Promise<Answer>;
  /** What came of it, once it has ended. */
  answer(): Promise<Answer>;
  /** What was said so far. */
  readonly soFar: Answer;
}

/** Gives a message to the agent, and what that writes to the answer. */
type Begin = (message: WireMessage, answer: Answer) => Turn;

/** One conversation: its turns, and what is kept of it. */
export class Conversation {
  state: Json | undefined;
  readonly #history: WireHistoryTurn[] = [];
  readonly #begin: Begin;
  readonly #id: string;

  constructor(id: string, begin: Begin) {
    this.#id = id;
    this.#begin = begin;
  }

  /** Says something; gives what the agent answers. */
  async say(text: string, options: SayOptions = {}): Promise<Answer> {
    return this.start(text, options).answer();
  }

  /** Says something, and lets it run. */
  start(text: string, options: SayOptions = {}): RunningTurn {
    const message = this.#message(text, options);
    const answer = new Answer();
    const turn = this.#begin(message, answer);
    const ended = turn.settled.then(() => this.#keep(message, answer));
    let isCancelled = false;
    const cancel = (reason = "cancelled", graceMs = 5_000) => {
      isCancelled = true;
      turn.deliver({ cancel: { reason, grace_ms: graceMs } });
      return ended.then(() => Object.assign(answer, { ending: "cancelled" }));
    };
    return {
      cancel,
      soFar: answer,
      answer: () => ended.then(() => (isCancelled ? Object.assign(answer, { ending: "cancelled" }) : answer)),
    };
  }

  #message(text: string, options: SayOptions): WireMessage {
    const { files = [], data = [], answers, sender, resolution, language, metadata, timeoutMs } = options;
    const parts: Part[] = text === "" ? [] : [{ kind: "text", mime: "text/plain", content: text, text }];
    parts.push(...files.map(filePart), ...data.map((value) => ({ kind: "data", data: value })));
    const history = structuredClone(this.#history);
    const message: WireMessage = {
      id: `m${history.length / 2 + 1}`,
      conversation: this.#id,
      thread_id: this.#id,
      sender: senderOf(sender),
      parts,
      history,
    };
    const more = {
      state: this.state,
      answers,
      policy_resolution: resolution,
      language,
      metadata,
      timeout_ms: timeoutMs,
    };
    return JSON.parse(
      JSON.stringify({ ...message, ...more, received_via: "test", received_at: "2026-03-01T09:00:00Z" }),
    ) as WireMessage;
  }

  /** As the host does: a turn that fails or is refused changes nothing. */
  #keep(message: WireMessage, answer: Answer): Answer {
    if (!["complete", "message", "question"].includes(answer.ending)) return answer;
    const last = answer.lines.filter((line) => "state" in line).at(-1);
    if (last) this.state = (last.state as Json) ?? undefined;
    answer.state = this.state;
    const text = answer.question ? answer.question.text : answer.text;
    this.#history.push(
      { role: "user", parts: message.parts },
      { role: "assistant", parts: [{ kind: "text", content: text }, ...answer.parts] },
    );
    return answer;
  }
}

/** A host in memory with one agent, or several. */
export class TestHost {
  readonly #agents: readonly AgentDefinition[];
  readonly #options: HostOptions;
  #runtime: Runtime;
  #conversations = 0;
  readonly #main: Conversation;

  constructor(agents: readonly AgentDefinition[], options: HostOptions) {
    [this.#agents, this.#options] = [agents, options];
    this.#runtime = this.#made();
    this.#main = this.conversation();
  }

  #made(): Runtime {
    return new Runtime(this.#agents, this.#options.suspendedMax ?? SUSPENDED_MAX);
  }

  /** Says something in the host's own conversation. */
  say(text: string, options?: SayOptions): Promise<Answer> {
    return this.#main.say(text, options);
  }
  start(text: string, options?: SayOptions): RunningTurn {
    return this.#main.start(text, options);
  }
  /** Another conversation, of another caller. */
  conversation(): Conversation {
    return new Conversation(`conversation-${(this.#conversations += 1)}`, (message, answer) =>
      this.#begin(message, answer),
    );
  }
  /** What is kept of the host's own conversation. */
  get state(): Json | undefined {
    return this.#main.state;
  }
  /** Functions that wait for an answer. */
  get suspended(): number {
    return this.#runtime.suspended;
  }
  /** Replaces the process: what waits for an answer is lost, and is replayed. */
  async restart(): Promise<void> {
    await this.close();
    this.#runtime = this.#made();
  }
  /** Ends what runs and what waits. */
  async close(): Promise<void> {
    await this.#runtime.leave("shutdown", 1_000);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin(message: WireMessage, answer: Answer): Turn {
    const tools = Object.entries(this.#options.tools ?? {}).map(([name, tool]) => {
      const { description = "", inputSchema = { type: "object" } } = typeof tool === "function" ? {} : tool;
      return { name, description, input_schema: inputSchema };
    });
    const handle = this.#options.handle ?? this.#agents[0]?.handle;
    const asked: WireMessage = { ...message, recipient: `@${handle}@test.localhost`, tools };
    const artifacts = new Map<string, Part>();
    const write = (line: Line) => {
      // Through JSON, as on the wire: what that can't hold fails here, too.
      const written = JSON.parse(encode(line)) as Line;
      answer.lines.push(written);
      take(answer, written, artifacts);
      // Later, as a host would: whoever writes is not answered within its own line.
      if (written.call) queueMicrotask(() => void this.#call(turn, written.call as Call));
      if ("journal" in written) queueMicrotask(() => turn.deliver({ journal: answer.journal.length }));
    };
    const turn: Turn = this.#runtime.start(asked, { canCall: true, write, drained: () => Promise.resolve() });
    return turn;
  }

  async #call(turn: Turn, call: Call): Promise<void> {
    const tool = this.#options.tools?.[call.tool];
    const run = typeof tool === "function" ? tool : tool?.run;
    try {
      if (!run) throw new Error(`there is no tool ${call.tool}`);
      const content = JSON.parse(JSON.stringify((await run(call.arguments)) ?? null)) as Json;
      turn.deliver({ result: { id: call.id, content } });
    } catch (error) {
      const { message, policy } = error as { message: string; policy?: JsonObject };
      turn.deliver({ result: { id: call.id, error: { message, ...(policy && { policy }) } } });
    }
  }
}

/** Serves the deployment in a folder. `await using h = await host("mysite")`, or `await h.close()` in the end. */
export function host(folder: string, options?: DeploymentOptions): Promise<DeploymentHost>;
/** Makes a host in memory. `await using h = host(helper)`, or `h.close()` in the end. */
export function host(agents: AgentDefinition | readonly AgentDefinition[], options?: HostOptions): TestHost;
export function host(
  what: string | AgentDefinition | readonly AgentDefinition[],
  options: HostOptions & DeploymentOptions = {},
): TestHost | Promise<DeploymentHost> {
  if (typeof what === "string") return DeploymentHost.start(what, options);
  return new TestHost([what].flat() as AgentDefinition[], options);
}

function senderOf(sender: SayOptions["sender"]): JsonObject {
  if (typeof sender === "object") return sender;
  if (sender === undefined) return { address: "", auth_method: "none", verified: false };
  const evidence = {
    subject: sender,
    issuer: "test.localhost",
    method: "urn:test",
    assurance: "address",
    audience: "*",
    issued_at: "2026-03-01T09:00:00Z",
    proof: { type: "transport" },
  };
  return { address: sender, auth_method: "test", verified: true, identities: [evidence] };
}

function filePart({ name, data, mime }: { name: string; data: Uint8Array | string; mime?: string }): Part {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return {
    kind: "file",
    name,
    mime: mime ?? mediaTypeOf(name),
    size_bytes: bytes.length,
    bytes_ref: { kind: "inline", data: base64(bytes) },
  };
}

interface Call {
  id: string;
  tool: string;
  arguments: JsonObject;
}
