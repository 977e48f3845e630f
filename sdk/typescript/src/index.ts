// forecourt-agent: agents and endpoints for Forecourt.

export { agent, type AgentDefinition, type AgentFunction } from "./agent.js";
export { ArtifactWriter, type FileData, type Piece } from "./artifact.js";
export { Context, type Log, type Resolution, type Tool, type Usage } from "./context.js";
export { describe } from "./describe.js";
export { AgentError, CallError, Cancelled, EndpointError, Ending, Unanswered } from "./endings.js";
export { endpoint, type EndpointDefinition, type EndpointOptions, type Semantic } from "./endpoint.js";
export { handler, type Handler, type HandlerOptions } from "./http.js";
export { IncomingFile, Message, Sender, type HistoryTurn, type Identity, type IncomingLink } from "./message.js";
export type { Yield } from "./parts.js";
export type { AskOptions, Field, Option } from "./questions.js";
export * as refuse from "./refuse.js";
export { Refusal, type Challenge, type Payment, type RefusalOptions } from "./refuse.js";
export type { Schema, StandardSchema } from "./schema.js";
export type { ServeOptions, Serving } from "./server.js";
export { VERSION } from "./version.js";
export type { FormAnswer, Json, JsonObject, Part } from "./wire.js";

/** Serves agents and endpoints over HTTP, for the host's `http` backend. Of Node alone, and so loaded when it is needed. */
export async function serve(
  ...args: Parameters<typeof import("./server.js").serve>
): Promise<import("./server.js").Serving> {
  const server = await import("./server.js");
  return server.serve(...args);
}
