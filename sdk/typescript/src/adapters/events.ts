// What libraries of models say while they answer, and how a caller sees it.

import type { Context } from "../context.js";
import { base64 } from "../artifact.js";
import type { Message } from "../message.js";
import type { JsonObject } from "../wire.js";

/** Something that a model's library says, whichever it is. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "call"; id: string; name: string; args: unknown }
  | { type: "result"; id: string; name: string; args: unknown; result: unknown }
  | { type: "failure"; id: string; name: string; args: unknown; error: unknown }
  | { type: "source"; url: string; title?: string }
  | { type: "file"; name: string; mime: string; bytes: Uint8Array | string }
  | { type: "usage"; model: string; provider?: string; input?: number; output?: number; cached?: number }
  | { type: "error"; error: unknown };

/** Shows events as parts of the answer; yields its text. An error of the model is thrown. */
export async function* shown(events: AsyncIterable<ModelEvent>, ctx: Context): AsyncGenerator<string, void> {
  // The host shows calls of its own tools itself.
  const isOurs = (name: string) => !ctx.tools.some((tool) => tool.toolName === name);
  for await (const event of events) {
    switch (event.type) {
      case "text":
        yield event.text;
        break;
      case "call":
        if (isOurs(event.name)) ctx.toolCall(event.name, event.args, { id: event.id });
        break;
      case "result":
        if (isOurs(event.name)) ctx.toolCall(event.name, event.args, { id: event.id, result: event.result ?? null });
        break;
      case "failure":
        ctx.log.warn(`the tool ${event.name} failed: ${sentence(event.error)}`);
        if (isOurs(event.name)) ctx.toolCall(event.name, event.args, { id: event.id, error: "The tool failed." });
        break;
      case "source":
        ctx.source(event.url, event.title);
        break;
      case "file":
        await ctx.file(event.name, event.bytes, { mime: event.mime });
        break;
      case "usage":
        ctx.usage({ ...event, input: event.input ?? 0, output: event.output ?? 0 });
        break;
      case "error":
        throw event.error;
    }
  }
}

/** A turn for a model: who speaks, the words, and the files whose bytes are there. */
export interface ModelTurn {
  role: "user" | "assistant";
  content:
    string | ({ type: "text"; text: string } | { type: "file"; data: string; mediaType: string; filename?: string })[];
}

/** The conversation so far and the message, as models read them. Turns without anything to read are left out. */
export function turnsOf(message: Message): ModelTurn[] {
  const before = message.history.map((turn): ModelTurn => ({ role: turn.role, content: turn.text }));
  const files = message.files.filter((file) => file.url === undefined);
  const content = files.map((file) => ({
    type: "file" as const,
    data: base64(file.bytes()),
    mediaType: file.mime,
    filename: file.name,
  }));
  const data = message.data.map((value) => ({ type: "text" as const, text: JSON.stringify(value) }));
  const words = message.text ? [{ type: "text" as const, text: message.text }] : [];
  const now: ModelTurn = {
    role: "user",
    content: content.length + data.length === 0 ? message.text : [...words, ...data, ...content],
  };
  return [...before, now].filter((turn) => turn.content.length > 0);
}

/** A host's tool as a schema of the Standard kind, for libraries that want one: the host checks the arguments. */
export function hostSchema(schema: JsonObject) {
  const given = () => schema;
  const validate = (value: unknown) => ({ value });
  return {
    "~standard": { version: 1, vendor: "forecourt", validate, jsonSchema: { input: given, output: given } },
  } as const;
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
