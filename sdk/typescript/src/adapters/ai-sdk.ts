// Agents whose answers come from the AI SDK (package `ai`, 6 or newer).

import { jsonSchema, streamText, tool, type ModelMessage, type ToolSet } from "ai";

import { agent, type AgentDefinition } from "../agent.js";
import type { Context } from "../context.js";
import type { Message } from "../message.js";
import type { JsonObject } from "../wire.js";
import { shown, turnsOf, type ModelEvent } from "./events.js";

/** What `streamText` takes, without what the turn gives by itself: messages and the signal. */
export type AiSdkOptions = Omit<Parameters<typeof streamText>[0], "messages" | "prompt" | "abortSignal">;

/** An agent of a model: `toAgent({ model, tools }, { handle: "helper" })`. Options may depend on the turn. */
export function toAgent(
  options: AiSdkOptions | ((message: Message, ctx: Context) => AiSdkOptions | Promise<AiSdkOptions>),
  named: { handle?: string } = {},
): AgentDefinition {
  return agent(async function* model(message, ctx) {
    const own = typeof options === "function" ? await options(message, ctx) : options;
    const tools = { ...hostTools(ctx), ...own.tools };
    const messages = modelMessages(message);
    for (;;) {
      // What a failed model says goes to the log by the error that is thrown, and not to the console as well.
      const asked = { onError: () => {}, ...own, tools, messages, abortSignal: ctx.signal };
      const result = streamText(asked as Parameters<typeof streamText>[0]);
      const approvals: Approval[] = [];
      yield* shown(eventsOf(result.fullStream as AsyncIterable<StreamPart>, approvals), ctx);
      if (approvals.length === 0) return;
      messages.push(...(await result.response).messages, await approved(approvals, ctx));
    }
  }, named);
}

/** A call that a tool wants to be allowed first (`needsApproval`). */
interface Approval {
  approvalId: string;
  toolName: string;
  input: unknown;
}

/** Asks the caller for each call, and gives the model what it said. */
async function approved(approvals: readonly Approval[], ctx: Context): Promise<ModelMessage> {
  const content = [];
  for (const { approvalId, toolName, input } of approvals) {
    const isApproved = await ctx.ask(`May I use ${toolName} with ${JSON.stringify(input)}?`, { type: "boolean" });
    content.push({ type: "tool-approval-response" as const, approvalId, approved: isApproved });
  }
  return { role: "tool", content };
}

/** The conversation so far and the message. */
export function modelMessages(message: Message): ModelMessage[] {
  return turnsOf(message) as ModelMessage[];
}

/** The tools of the host, as the AI SDK has them. */
export function hostTools(ctx: Context): ToolSet {
  const made = ctx.tools.map((one) => {
    const { toolName, description, inputSchema } = one;
    return [
      toolName,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: (args) => one(args as JsonObject) }),
    ] as const;
  });
  return Object.fromEntries(made) as ToolSet;
}

/** Shows what `streamText` gives (text, tools at work, sources, files, and what was used), for generators of your own. */
export function show(result: { fullStream: AsyncIterable<unknown> }, ctx: Context): AsyncGenerator<string, void> {
  return shown(eventsOf(result.fullStream as AsyncIterable<StreamPart>), ctx);
}

/** A part of the stream, as far as it is read. */
interface StreamPart {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: unknown;
  error?: unknown;
  url?: string;
  title?: string;
  preliminary?: boolean;
  approvalId?: string;
  toolCall?: { toolName: string; input: unknown };
  file?: { mediaType: string; uint8Array: Uint8Array };
  usage?: {
    inputTokens?: number;
    outputTokens?: number;
    cachedInputTokens?: number;
    inputTokenDetails?: { cacheReadTokens?: number };
  };
  response?: { modelId?: string };
}

async function* eventsOf(parts: AsyncIterable<StreamPart>, approvals: Approval[] = []): AsyncGenerator<ModelEvent> {
  let files = 0;
  for await (const part of parts) {
    const call = { id: part.toolCallId ?? "", name: part.toolName ?? "", args: part.input ?? {} };
    if (part.type === "text-delta") yield { type: "text", text: part.text ?? "" };
    else if (part.type === "tool-call") yield { type: "call", ...call };
    else if (part.type === "tool-result" && !part.preliminary) yield { type: "result", ...call, result: part.output };
    else if (part.type === "tool-error") yield { type: "failure", ...call, error: part.error };
    else if (part.type === "source" && part.url) yield { type: "source", url: part.url, title: part.title };
    else if (part.type === "file" && part.file)
      yield {
        type: "file",
        name: nameOf((files += 1), part.file.mediaType),
        mime: part.file.mediaType,
        bytes: part.file.uint8Array,
      };
    else if (part.type === "tool-approval-request" && part.toolCall)
      approvals.push({ approvalId: part.approvalId ?? "", ...part.toolCall });
    else if (part.type === "finish-step") yield usageOf(part);
    else if (part.type === "error") yield { type: "error", error: part.error };
  }
}

function usageOf({ usage = {}, response }: StreamPart): ModelEvent {
  const cached = usage.inputTokenDetails?.cacheReadTokens ?? usage.cachedInputTokens;
  return {
    type: "usage",
    model: response?.modelId ?? "unknown",
    input: usage.inputTokens,
    output: usage.outputTokens,
    cached,
  };
}

function nameOf(count: number, mediaType: string): string {
  return `file-${count}.${mediaType.split("/")[1]?.replace(/\W.*/, "") ?? "bin"}`;
}
