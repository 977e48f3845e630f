// What a function yields, as lines.

import { AgentError } from "./endings.js";
import type { JsonObject, Line, Part } from "./wire.js";

/** What may be yielded or returned: text, a part by its `kind`, an item of schema.org by its `@type`, data, or a list. */
export type Yield = string | Part | JsonObject | object | readonly Yield[];

/** The lines of a value. Throws where it means nothing. */
export function linesOf(value: unknown): Line[] {
  if (typeof value === "string") return value === "" ? [] : [{ text: value }];
  if (Array.isArray(value)) return value.flatMap(linesOf);
  if (typeof value !== "object" || value === null || isBytes(value)) {
    throw new AgentError(`an agent yields text, parts, items or data, not ${nameOf(value)}`);
  }
  if (typeof (value as Part).kind === "string") return [partLine(value as Part)];
  return [{ data: value }];
}

/** The line of a part. A refusal among parts is an ending by itself, and is said by throwing it. */
export function partLine(part: Part): Line {
  if (part.kind === "text") return { text: part.content ?? part.text ?? "" };
  return { part };
}

function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

function nameOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return `${value.constructor.name} (a file goes by ctx.file)`;
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

/** Media types by what names end in, for files without one. */
const MEDIA_TYPES: Record<string, string> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  ics: "text/calendar",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  wav: "audio/wav",
  webp: "image/webp",
  xml: "application/xml",
  zip: "application/zip",
};

/** The media type that a file's name suggests. */
export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}
