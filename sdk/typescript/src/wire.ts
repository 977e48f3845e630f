// What travels between the host and a worker: version 2 of the worker protocol, docs/reference/worker.md.

import { LINE_OUT_BYTES_MAX } from "./bounds.js";
import { AgentError } from "./endings.js";

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One line to the host; the transport adds `turn`. */
export type Line = { [key: string]: unknown };

/** A part of a message or an answer, by its `kind`. */
export interface Part {
  kind: string;
  [field: string]: unknown;
}

/** A message as the host writes it. */
export interface WireMessage {
  id: string;
  parts: Part[];
  recipient?: string;
  sender?: WireSender;
  history?: WireHistoryTurn[];
  thread_id?: string;
  language?: string;
  received_via?: string;
  received_at?: string;
  metadata?: JsonObject;
  extensions?: string[];
  policy_resolution?: WireResolution;
  answers?: FormAnswer[];
  turn?: number;
  conversation?: string;
  state?: Json;
  deadline?: string;
  timeout_ms?: number;
  traceparent?: string;
  request?: string;
  tools?: WireTool[];
  work?: string;
  journal?: Json[];
}

export interface WireSender {
  address?: string;
  auth_method?: string;
  verified?: boolean;
  claimed_address?: string;
  profile?: JsonObject;
  identities?: JsonObject[];
}

export interface WireHistoryTurn {
  role?: string;
  parts?: Part[];
  sender?: WireSender;
}

export interface WireResolution {
  kind: string;
  in_reply_to_state: string;
  confirmation: JsonObject;
  verified_by: string;
}

export interface WireTool {
  name: string;
  description?: string;
  input_schema?: JsonObject;
}

/** The answer to one field of a form. */
export interface FormAnswer {
  id: string;
  value: Json;
}

/** What a call of a tool came to. */
export interface WireResult {
  id: string;
  content?: Json;
  error?: { message?: string; policy?: JsonObject };
}

export interface WireCancel {
  reason?: string;
  grace_ms?: number;
}

/** What the host says of a turn that runs. */
export interface WireNews {
  turn?: number;
  cancel?: WireCancel;
  result?: WireResult;
  journal?: number;
}

/** A question with its fields, in NLWeb's shape. */
export interface WireQuestion {
  text: string;
  questions: JsonObject[];
}

/** A turn's way to the host. */
export interface Channel {
  /** Whether calls of tools get through: not over HTTP. */
  readonly canCall: boolean;
  /** Writes a line in its order. Throws where JSON can't hold it. */
  write(line: Line): void;
  /** Resolves once there is room for more. */
  drained(): Promise<void>;
}

/** JSON of a line that every reader takes: half a surrogate pair becomes U+FFFD. Throws over the host's bound. */
export function encode(line: Line): string {
  const json = JSON.stringify(line);
  if (
    json.length > LINE_OUT_BYTES_MAX ||
    (json.length > LINE_OUT_BYTES_MAX / 3 && bytesOf(json) > LINE_OUT_BYTES_MAX)
  ) {
    throw new AgentError(`a line has more than ${LINE_OUT_BYTES_MAX} bytes: a file goes in pieces, by ctx.file`);
  }
  // JSON writes half a pair as an escape, which strict readers refuse, and the whole answer with it.
  if (!/\\ud[89a-f]/.test(json)) return json;
  return JSON.stringify(line, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));
}

/** Bytes of a text in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
