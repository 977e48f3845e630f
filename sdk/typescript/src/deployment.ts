// A whole deployment for tests: the `forecourt` program, as its own tests see it, and whoever asks it.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import type { Json, JsonObject, Part } from "./wire.js";

/** Until the program must be ready: content may have to be indexed first. */
const STARTS_WITHIN_MS = 120_000;
/** Until it must have ended by itself. */
const ENDS_WITHIN_MS = 60_000;
/** Bytes of an answer that are read. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** The program is not there, did not start, or found something wrong in the end. */
export class HostError extends Error {}

export interface DeploymentOptions {
  /** Ask models and other services, and keep what they answer. */
  record?: boolean;
  /** Ask them, and keep nothing. */
  live?: boolean;
}

export interface AskOptions {
  /** The session of an earlier reply, which this goes on with. */
  session?: string | undefined;
  token?: string;
  language?: string;
}

/** What an agent of the deployment answered, over REST. */
export class Reply {
  readonly text: string;
  readonly parts: Part[];
  readonly session: string | undefined;
  readonly refusal: JsonObject | undefined;
  readonly error: string | undefined;
  readonly code: string | undefined;

  constructor(
    readonly status: number,
    readonly body: JsonObject,
  ) {
    this.parts = (body.parts ?? []) as unknown as Part[];
    const texts = this.parts.filter((part) => part.kind === "text");
    this.text = texts.map((part) => (part.content ?? part.text ?? "") as string).join("");
    this.session = body.session as string | undefined;
    this.refusal = body.policy as JsonObject | undefined;
    this.error = body.error as string | undefined;
    this.code = body.code as string | undefined;
  }

  #data(): JsonObject[] {
    const values = this.parts.filter((part) => part.kind === "data").map((part) => part.data as Json);
    return values.filter((value): value is JsonObject => typeof value === "object" && value !== null);
  }
  /** What is listed: objects of schema.org. */
  get items(): JsonObject[] {
    return this.#data().filter((value) => !("questions" in value));
  }
  /** What the agent asks back. */
  get questions(): JsonObject[] {
    return this.#data().flatMap((value) => (value.questions ?? []) as JsonObject[]);
  }
  /** The files, each with its `name` and `mime`. */
  get files(): Part[] {
    return this.parts.filter((part) => part.kind === "file" || part.kind === "artifact");
  }
  /** The calls of tools, each with its `name` and `args`. */
  get toolCalls(): Part[] {
    return this.parts.filter((part) => part.kind === "tool_call");
  }
}

interface Places {
  domain: string;
  http_port: number;
  default_agent: string;
  agents: string[];
}

type Program = ChildProcessByStdio<Writable, Readable, Readable>;

/** A deployment at work. */
export class DeploymentHost {
  readonly #program: Program;
  readonly #log: () => string;
  readonly #places: Places;

  private constructor(program: Program, log: () => string, places: Places) {
    [this.#program, this.#log, this.#places] = [program, log, places];
  }

  /** Starts the program, and waits until it is ready. */
  static async start(folder: string, { record, live }: DeploymentOptions = {}): Promise<DeploymentHost> {
    const name = process.env.FORECOURT ?? "forecourt";
    const flags = [...(record ? ["--record"] : []), ...(live ? ["--live"] : [])];
    // Its standard input is what keeps it: it ends with this process, however that ends.
    const program = spawn(name, ["test", folder, "--serve", ...flags], { stdio: ["pipe", "pipe", "pipe"] });
    let log = "";
    program.stderr.on("data", (bytes: Buffer) => (log += bytes.toString()));
    const gone = new Promise<never>((_, reject) => {
      program.once("error", (error) => {
        const hint = "FORECOURT names the program where it is not on PATH";
        reject(new HostError(`${name} can't be started: ${error.message}; ${hint}`));
      });
      program.once("close", () => reject(new HostError(`${folder} can't be served:\n${log}`)));
    });
    // Whoever is not waited for any more must not end the process.
    gone.catch(() => undefined);
    const late = AbortSignal.timeout(STARTS_WITHIN_MS);
    const ready = once(createInterface({ input: program.stdout }), "line", { signal: late });
    try {
      const [line] = (await Promise.race([ready, gone])) as [string];
      return new DeploymentHost(program, () => log, JSON.parse(line) as Places);
    } catch (error) {
      program.kill("SIGKILL");
      throw error;
    }
  }

  /** The handles of its agents. */
  get agents(): readonly string[] {
    return this.#places.agents;
  }
  /** Where it is asked over plain HTTP, on this machine. */
  get url(): string {
    return `http://${this.#places.domain}:${this.#places.http_port}`;
  }

  /** Says something to an agent, the default one where none is named. */
  ask(agent: string | undefined, text: string, options: AskOptions = {}): Promise<Reply> {
    const handle = (agent ?? this.#places.default_agent).replace(/^@/, "");
    const form = new FormData();
    if (options.session !== undefined) form.append("session", options.session);
    form.append("user", text);
    return this.#post(`/~${handle}`, form, options);
  }

  async #post(path: string, form: FormData, options: AskOptions): Promise<Reply> {
    const encoded = new Response(form);
    const { domain, http_port: port } = this.#places;
    const headers = {
      Accept: "application/json",
      // The domain leads nowhere yet: the address is this machine's.
      Host: `${domain}:${port}`,
      "Content-Type": encoded.headers.get("content-type") ?? "",
      ...(options.token !== undefined && { Authorization: `Bearer ${options.token}` }),
      ...(options.language !== undefined && { "Accept-Language": options.language }),
    };
    const body = Buffer.from(await encoded.arrayBuffer());
    return new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path, method: "POST", headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        let left = ANSWER_BYTES_MAX;
        response.on("error", reject);
        response.on("data", (chunk: Buffer) => {
          left -= chunk.length;
          if (left < 0) asked.destroy(new HostError(`the answer has more than ${ANSWER_BYTES_MAX} bytes`));
          else chunks.push(chunk);
        });
        response.on("end", () => resolve(new Reply(response.statusCode ?? 0, json(Buffer.concat(chunks).toString()))));
      });
      asked.on("error", reject);
      asked.end(body);
    });
  }

  /** Ends it. Throws what the program found wrong, such as a request of a model that was not recorded. */
  async close(): Promise<void> {
    const program = this.#program;
    if (program.exitCode === null && program.signalCode === null) {
      const ended = once(program, "close");
      program.stdin.end();
      const late = setTimeout(() => program.kill("SIGKILL"), ENDS_WITHIN_MS);
      await ended;
      clearTimeout(late);
    }
    if (program.exitCode !== 0) throw new HostError(this.#log());
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function json(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
