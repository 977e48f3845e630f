// Agents behind `fetch`: a handler for Deno, Bun, and whatever else answers a Request with a Response. The `http`
// backend of the host posts messages to it.

import { isAgent, type AgentDefinition } from "./agent.js";
import { BODY_BYTES_MAX, LEAVE_MS_MAX, SUSPENDED_MAX } from "./bounds.js";
import { AgentError } from "./endings.js";
import { answerEndpoint, isEndpoint, type EndpointDefinition } from "./endpoint.js";
import { Runtime } from "./runtime.js";
import type { Turn } from "./turn.js";
import { encode, type Channel, type Line, type WireMessage } from "./wire.js";

export interface HandlerOptions {
  /**
   * Shared with the host: bodies must be signed with it (X-Hub-Signature-256). Without it anybody may post; an empty
   * one is refused.
   */
  secret?: string;
  /** Bytes of a body. */
  bodyBytesMax?: number;
  /** Functions that may wait for an answer. */
  suspendedMax?: number;
}

/** A `fetch` handler. */
export interface Handler {
  (request: Request): Promise<Response>;
  /** Cancels what runs, and ends what waits for an answer; resolves when their `finally` blocks have run. */
  close(): Promise<void>;
}

/** Makes a `fetch` handler of agents (`POST /`) and endpoints (at their paths). */
export function handler(served: ServedDefinition | readonly ServedDefinition[], options: HandlerOptions = {}): Handler {
  // A variable that was left blank must not open the service to everybody.
  if (options.secret === "") throw new AgentError("the secret is empty");
  const all = [served].flat() as ServedDefinition[];
  const agents = all.filter(isAgent);
  const endpoints = all.filter(isEndpoint);
  const hasAgents = agents.length > 0 || endpoints.length === 0;
  const runtime = hasAgents ? new Runtime(agents, options.suspendedMax ?? SUSPENDED_MAX) : undefined;
  const respond = async (request: Request) => {
    try {
      return await answer(request, runtime, endpoints, options);
    } catch (error) {
      if (error instanceof HttpError) return error.response;
      console.error(error);
      return new HttpError(500, "this service failed").response;
    }
  };
  return Object.assign(respond, { close: async () => runtime?.leave("shutdown", LEAVE_MS_MAX) });
}

export type ServedDefinition = AgentDefinition | EndpointDefinition;

/** Why a request is not answered. */
class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
  get response(): Response {
    return Response.json({ error: this.message }, { status: this.status, headers: this.headers });
  }
}

async function answer(
  request: Request,
  runtime: Runtime | undefined,
  endpoints: EndpointDefinition[],
  options: HandlerOptions,
): Promise<Response> {
  const path = new URL(request.url).pathname;
  const isAgents = runtime !== undefined && path === "/";
  const isKnown = isAgents || endpoints.some((endpoint) => endpoint.matches(path));
  if (!isKnown) throw new HttpError(404, "nothing is at this path");
  if (request.method !== "POST") throw new HttpError(405, "only POST is answered here", { allow: "POST" });
  const body = await bodyOf(request, options.bodyBytesMax ?? BODY_BYTES_MAX);
  if (options.secret !== undefined) await checkSignature(request, body, options.secret);
  const value = jsonOf(request, body);
  if (!isAgents) return answerEndpoint(endpoints, path, value);
  if (typeof value.id !== "string" || !Array.isArray(value.parts))
    throw new HttpError(400, "the body is not a message");
  return stream(runtime, value as unknown as WireMessage, request);
}

async function bodyOf(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new HttpError(413, `the body has more than ${bytesMax} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    // Counted, not believed: a length may be wrong, or absent.
    if (size > bytesMax) throw tooLarge;
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

async function checkSignature(request: Request, body: Uint8Array<ArrayBuffer>, secret: string): Promise<void> {
  const refused = new HttpError(401, "the signature of the body (X-Hub-Signature-256) is missing or wrong");
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(request.headers.get("x-hub-signature-256") ?? "")?.[1];
  if (!hex) throw refused;
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
  // In constant time, as the platform does it.
  if (!(await crypto.subtle.verify("HMAC", key, signature, body))) throw refused;
}

function jsonOf(request: Request, body: Uint8Array): { [key: string]: unknown } {
  const media = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (media !== "application/json") throw new HttpError(415, "the body must be application/json");
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as { [key: string]: unknown };
  } catch {
    // Said below, as for what is no object.
  }
  throw new HttpError(400, "the body is not a JSON object");
}

function stream(runtime: Runtime, message: WireMessage, request: Request): Response {
  const isLines = (request.headers.get("accept") ?? "").includes("application/x-ndjson");
  const spell = isLines ? (line: Line) => `${encode(line)}\n` : eventOf;
  const encoder = new TextEncoder();
  let turn: Turn | undefined;
  const waiting: (() => void)[] = [];
  const wake = () => {
    for (const go of waiting.splice(0)) go();
  };
  const leave = () => {
    wake();
    turn?.deliver({ cancel: { reason: "caller_left", grace_ms: LEAVE_MS_MAX } });
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const channel: Channel = {
          canCall: false,
          write: (line) => {
            const text = spell(line);
            if (!request.signal.aborted) controller.enqueue(encoder.encode(text));
          },
          drained: () =>
            (controller.desiredSize ?? 1) > 0 || request.signal.aborted
              ? Promise.resolve()
              : new Promise((resolve) => waiting.push(resolve)),
        };
        turn = runtime.start(message, channel);
        request.signal.addEventListener("abort", leave, { once: true });
        void turn.settled.then(() => {
          request.signal.removeEventListener("abort", leave);
          try {
            controller.close();
          } catch {
            // Whoever asked has left.
          }
        });
      },
      pull: () => wake(),
      cancel: leave,
    },
    { highWaterMark: 64 },
  );
  return new Response(body, {
    headers: { "content-type": isLines ? "application/x-ndjson" : "text/event-stream", "cache-control": "no-store" },
  });
}

/** A line as a server-sent event, named after its first key. */
function eventOf(line: Line): string {
  const [name = "end"] = Object.keys(line);
  const text = line.text;
  if (typeof text !== "string") return `event: ${name}\ndata: ${encode(line)}\n\n`;
  // Server-sent events know three ends of a line, and give a reader only one of them.
  if (/\r/.test(text)) return eventOf({ part: { kind: "text", mime: "text/markdown", content: text } });
  return `${text
    .toWellFormed()
    .split("\n")
    .map((words) => `data: ${words}\n`)
    .join("")}\n`;
}
