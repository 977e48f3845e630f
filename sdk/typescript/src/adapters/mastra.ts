// Agents whose answers come from an agent of Mastra (package `@mastra/core`).

import { agent, type AgentDefinition } from "../agent.js";
import { AgentError } from "../endings.js";
import type { Context } from "../context.js";
import type { JsonObject } from "../wire.js";
import { hostSchema, shown, turnsOf, type ModelEvent } from "./events.js";

/** An agent of Mastra, as far as it is asked here. */
export interface MastraAgent {
  stream(messages: never, options?: never): Promise<MastraStream>;
  approveToolCall?(options: never): Promise<MastraStream>;
  declineToolCall?(options: never): Promise<MastraStream>;
}

/** A stream of Mastra's, and the run that it belongs to. */
export interface MastraStream {
  fullStream: unknown;
  runId?: string;
}

/** An agent of an agent: `toAgent(mastraAgent, { handle: "helper" })`. What else is in `options` goes to its `stream`. */
export function toAgent(
  asked: MastraAgent,
  { handle, ...options }: { handle?: string; [option: string]: unknown } = {},
): AgentDefinition {
  return agent(
    async function* mastra(message, ctx) {
      const { toolsets, ...more } = options as { toolsets?: object };
      const given = { ...more, toolsets: { ...toolsets, ...hostToolset(ctx) }, abortSignal: ctx.signal };
      let stream = await asked.stream(turnsOf(message) as never, given as never);
      for (;;) {
        const approvals: NonNullable<Chunk["payload"]>[] = [];
        yield* shown(eventsOf(stream.fullStream as AsyncIterable<Chunk>, approvals), ctx);
        const [approval] = approvals;
        if (!approval) return;
        const { toolCallId, toolName, args } = approval;
        const isApproved = await ctx.ask(`May I use ${toolName} with ${JSON.stringify(args)}?`, { type: "boolean" });
        const decide = isApproved ? asked.approveToolCall : asked.declineToolCall;
        if (!decide) throw new AgentError("this version of @mastra/core has no approvals");
        stream = await decide.call(asked, { ...given, runId: stream.runId, toolCallId } as never);
      }
    },
    { handle },
  );
}

/** The tools of the host, as a toolset of Mastra's; none where there are none. */
export function hostToolset(ctx: Context): Record<string, Record<string, unknown>> {
  const tools = ctx.tools.map((one) => {
    const { toolName: id, description, inputSchema } = one;
    return [
      id,
      { id, description, inputSchema: hostSchema(inputSchema), execute: (args: JsonObject) => one(args) },
    ] as const;
  });
  return tools.length > 0 ? { forecourt: Object.fromEntries(tools) } : {};
}

/** A chunk of the stream, as far as it is read. */
interface Chunk {
  type: string;
  payload?: {
    text?: string;
    toolCallId?: string;
    toolName?: string;
    args?: { [key: string]: unknown };
    result?: unknown;
    isError?: boolean;
    error?: unknown;
    url?: string;
    title?: string;
    mimeType?: string;
    filename?: string;
    base64?: string;
    data?: string | Uint8Array;
    output?: { usage?: { inputTokens?: number; outputTokens?: number; cachedInputTokens?: number } };
    response?: { modelId?: string };
    metadata?: { modelId?: string };
  };
}

async function* eventsOf(
  chunks: AsyncIterable<Chunk>,
  approvals: NonNullable<Chunk["payload"]>[],
): AsyncGenerator<ModelEvent> {
  let files = 0;
  for await (const { type, payload = {} } of chunks) {
    const { __mastraMetadata: _, ...args } = payload.args ?? {};
    const call = { id: payload.toolCallId ?? "", name: payload.toolName ?? "", args };
    if (type === "tool-call-approval") approvals.push({ ...payload, args });
    else if (type === "text-delta") yield { type: "text", text: payload.text ?? "" };
    else if (type === "tool-call") yield { type: "call", ...call };
    else if (type === "tool-result" && !payload.isError) yield { type: "result", ...call, result: payload.result };
    else if (type === "tool-result" || type === "tool-error")
      yield { type: "failure", ...call, error: payload.error ?? payload.result };
    else if (type === "source" && payload.url) yield { type: "source", url: payload.url, title: payload.title };
    else if (type === "file")
      yield {
        type: "file",
        name: payload.filename ?? `file-${(files += 1)}`,
        mime: payload.mimeType ?? "application/octet-stream",
        bytes: bytesOf(payload),
      };
    else if (type === "step-finish") yield usageOf(payload);
    else if (type === "error") yield { type: "error", error: payload.error };
  }
}

function bytesOf({ base64, data = "" }: NonNullable<Chunk["payload"]>): Uint8Array {
  const text = base64 ?? data;
  return typeof text === "string" ? Uint8Array.from(atob(text), (char) => char.charCodeAt(0)) : text;
}

function usageOf({ output, response, metadata }: NonNullable<Chunk["payload"]>): ModelEvent {
  const { inputTokens: input, outputTokens: outputTokens, cachedInputTokens: cached } = output?.usage ?? {};
  return {
    type: "usage",
    model: response?.modelId ?? metadata?.modelId ?? "unknown",
    input,
    output: outputTokens,
    cached,
  };
}
