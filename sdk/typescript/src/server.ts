// The HTTP server of Node in front of a `fetch` handler, with bounds on whatever comes from outside.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";

import { CONNECTIONS_MAX, HEAD_BYTES_MAX, LEAVE_MS_MAX, REQUEST_MS_MAX } from "./bounds.js";
import { handler, type HandlerOptions, type ServedDefinition } from "./http.js";
import { drainOf } from "./lines.js";

export interface ServeOptions extends HandlerOptions {
  /** 0: any that is free. */
  port?: number;
  /** The address that it listens at: this machine alone unless you say otherwise. */
  host?: string;
}

/** A server that listens. */
export interface Serving {
  port: number;
  /** Takes no more requests; resolves once those under way are answered, or were cancelled after a while. */
  close(): Promise<void>;
}

/** Serves agents and endpoints over HTTP, for the host's `http` backend. */
export async function serve(
  served: ServedDefinition | readonly ServedDefinition[],
  options: ServeOptions = {},
): Promise<Serving> {
  const answer = handler(served, options);
  const bounds = { maxHeaderSize: HEAD_BYTES_MAX, requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX };
  const server = createServer(bounds, (request, response) => void respond(answer, request, response));
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => closed(server).then(answer.close) };
}

async function respond(
  answer: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  outgoing.once("close", () => left.abort());
  outgoing.on("error", () => left.abort());
  try {
    const response = await answer(requestOf(incoming, left.signal));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // A client hears of the status before the first word is there.
    outgoing.flushHeaders();
    const drained = drainOf(outgoing);
    for await (const piece of response.body ?? []) {
      if (outgoing.destroyed) break;
      if (!outgoing.write(piece)) await drained();
    }
    // What was not read of a body that was refused: the connection is of no more use.
    if (!incoming.complete) outgoing.once("finish", () => incoming.destroy());
    outgoing.end();
  } catch (error) {
    console.error(error);
    outgoing.destroy();
  }
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const method = incoming.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? (Readable.toWeb(incoming) as WebStream<Uint8Array>) : null;
  // The path alone counts: a name in `Host` is the caller's to choose.
  const url = new URL(`http://localhost/${(incoming.url ?? "/").replace(/^\/+/, "")}`);
  return new Request(url, { method, headers, body, duplex: "half", signal } as RequestInit);
}

/** Lets requests under way be answered for a while, and cuts off what is left. */
function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), LEAVE_MS_MAX);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
