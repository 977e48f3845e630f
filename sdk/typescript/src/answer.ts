// What came of a turn, put together from its lines.

import type { Option } from "./questions.js";
import type { Json, JsonObject, Line, Part } from "./wire.js";

export type EndingName = "complete" | "message" | "question" | "refused" | "declined" | "failed" | "cancelled";

/** What came of a turn. */
export class Answer {
  ending: EndingName = "complete";
  text = "";
  question?: { text: string; questions: (JsonObject & { options?: Option[] })[] };
  refusal?: JsonObject;
  declined?: string;
  error?: string;
  parts: Part[] = [];
  progress: { progress?: number; note?: string }[] = [];
  toolCalls: { id: string; name: string; args: Json; result?: Json; error?: string }[] = [];
  usage: { model: string; input_tokens: number; output_tokens: number; [key: string]: unknown }[] = [];
  logs: { level: string; message: string; fields?: JsonObject }[] = [];
  journal: Json[] = [];
  /** What the host keeps behind this turn; none where the turn keeps nothing. */
  state?: Json;
  /** Every line, as it was written. */
  lines: Line[] = [];

  get files(): { name: string; mime: string; bytes: Uint8Array; text: string; isWhole: boolean }[] {
    return this.parts
      .filter((part) => part.kind === "file")
      .map((part) => {
        const bytes = Uint8Array.from(atob((part.bytes_ref as { data: string }).data), (char) => char.charCodeAt(0));
        return {
          name: part.name as string,
          mime: part.mime as string,
          bytes,
          text: new TextDecoder().decode(bytes),
          isWhole: part.isWhole !== false,
        };
      });
  }
  get links(): { url: string; title?: string }[] {
    return this.parts.filter((part) => part.kind === "link") as unknown as { url: string; title?: string }[];
  }
  get data(): Json[] {
    return this.parts.filter((part) => part.kind === "data").map((part) => part.data as Json);
  }
  /** Data with an `@type`. */
  get items(): JsonObject[] {
    return this.data.filter(
      (value): value is JsonObject => typeof value === "object" && value !== null && "@type" in value,
    );
  }
}

/** Adds a line to what is known of an answer. */
export function take(answer: Answer, line: Line, artifacts: Map<string, Part>): void {
  if ("progress" in line || "note" in line) answer.progress.push(line as Answer["progress"][number]);
  if (typeof line.text === "string") answer.text += line.text;
  if (line.part) answer.parts.push(line.part as Part);
  if (line.link) answer.parts.push({ kind: "link", ...(line.link as object) });
  if ("data" in line) answer.parts.push({ kind: "data", data: line.data });
  if (line.artifact) takeArtifact(answer, line.artifact as Artifact, artifacts);
  if (line.tool_call) takeToolCall(answer, line.tool_call as Answer["toolCalls"][number]);
  if (line.usage) answer.usage.push(line.usage as Answer["usage"][number]);
  if (line.log) answer.logs.push(line.log as Answer["logs"][number]);
  if ("journal" in line) answer.journal.push(line.journal as Json);
  takeEnding(answer, line);
}

interface Artifact {
  id: string;
  name?: string;
  mime?: string;
  data: string;
  last?: boolean;
}

function takeArtifact(answer: Answer, piece: Artifact, artifacts: Map<string, Part>): void {
  let part = artifacts.get(piece.id);
  if (!part) {
    part = { kind: "file", name: piece.name, mime: piece.mime, bytes_ref: { kind: "inline", data: "" } };
    artifacts.set(piece.id, part);
    answer.parts.push(part);
  }
  (part.bytes_ref as { data: string }).data += piece.data;
  part.isWhole = piece.last === true;
}

function takeToolCall(answer: Answer, call: Answer["toolCalls"][number]): void {
  const at = answer.toolCalls.findIndex((one) => one.id === call.id);
  if (at >= 0) answer.toolCalls[at] = call;
  else answer.toolCalls.push(call);
}

function takeEnding(answer: Answer, line: Line): void {
  const said = (value: unknown) => (typeof value === "string" ? value : (value as { message: string }).message);
  if (typeof line.message === "string") [answer.ending, answer.text] = ["message", answer.text + line.message];
  if (line.question) [answer.ending, answer.question] = ["question", line.question as Answer["question"]];
  if (line.policy) [answer.ending, answer.refusal] = ["refused", line.policy as JsonObject];
  if (line.declined) [answer.ending, answer.declined] = ["declined", said(line.declined)];
  if (line.error) [answer.ending, answer.error] = ["failed", said(line.error)];
}
