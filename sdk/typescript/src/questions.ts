// Questions to callers, and what their answers mean. Mirrors how the host reads answers, so that a word that is typed
// and a form that is filled in come to the same value.

import { OPTIONS_CHARS_MAX } from "./bounds.js";
import { AgentError } from "./endings.js";
import type { Message } from "./message.js";
import type { FormAnswer, Json, JsonObject, WireQuestion } from "./wire.js";

/** Something to choose: a word, or a value with a title to show. */
export type Option = string | { value: string; title: string };

const TYPES = ["text", "number", "boolean", "single_select", "multi_select"] as const;

/** One field of a form. */
export interface Field {
  /** Names it in the answer. */
  id: string;
  /** What is asked, for people. */
  text: string;
  type?: (typeof TYPES)[number];
  options?: readonly Option[];
  default?: Json;
}

/** How a question is asked. */
export interface AskOptions {
  options?: readonly Option[];
  /** Whether several options may be chosen: the answer is a list then. */
  several?: boolean;
  type?: "text" | "number" | "boolean";
  default?: Json;
  /** How often it is asked in all, where answers fit nothing. */
  attempts?: number;
}

/** What a turn says to a question: its words, and values that came by name. Kept for replays. */
export interface Reply {
  text: string;
  values?: FormAnswer[];
}

/** The reply in a message: its words, and what came by name or as data. */
export function replyOf(message: Message): Reply {
  const objects = message.data.filter(
    (value): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value),
  );
  const named = objects.flatMap((object) => Object.entries(object).map(([id, value]) => ({ id, value })));
  const values = [...message.answers, ...named];
  return values.length > 0 ? { text: message.text, values } : { text: message.text };
}

/** The question on the wire. */
export function questionOf(text: string, fields: readonly Field[]): WireQuestion {
  const names = new Set(fields.map((field) => field.id));
  if (names.size < fields.length) throw new AgentError("two fields of a form have the same id");
  const wire = { text, questions: fields.map(wireField) };
  const [only] = fields;
  return fields.length === 1 && only ? { ...wire, text: withOptions(text, only) } : wire;
}

/** A question that names its options, where these are few: then hosts without forms need not say it twice. */
function withOptions(text: string, field: Field): string {
  const titles = titlesOf(field);
  const named = titles.join(", ");
  const isSaid = titles.every((title) => text.includes(title)) || !text.includes(field.text);
  return isSaid || named.length > OPTIONS_CHARS_MAX ? text : `${text} (${named})`;
}

function wireField(field: Field): JsonObject {
  const type = kindOf(field);
  const wire: JsonObject = { id: field.id, text: field.text, type: type === "text" ? "free_text" : type };
  // By their titles alone: not every protocol shows an option that is an object, and titles are read as values are.
  if (field.options) wire.options = titlesOf(field);
  if (field.default !== undefined) wire.default = titleOf(field, field.default);
  return wire;
}

/** A default as it is shown: a value by its title. */
function titleOf(field: Field, value: Json): Json {
  if (Array.isArray(value)) return value.map((one) => titleOf(field, one));
  const option = (field.options ?? []).find((one) => typeof one !== "string" && one.value === value);
  return option === undefined || typeof option === "string" ? value : option.title;
}

function titlesOf(field: Field): string[] {
  const titles = (field.options ?? []).map((option) => (typeof option === "string" ? option : option.title));
  if (new Set(titles).size < titles.length) throw new AgentError(`two options of \`${field.id}\` have the same title`);
  return titles;
}

function kindOf(field: Field): NonNullable<Field["type"]> {
  if (field.type === undefined) return field.options ? "single_select" : "text";
  if (!TYPES.includes(field.type))
    throw new AgentError(`the field \`${field.id}\` has a type that is none of ${TYPES.join(", ")}: \`${field.type}\``);
  if (field.type.endsWith("_select") && !field.options?.length)
    throw new AgentError(`the field \`${field.id}\` has no options`);
  return field.type;
}

/** The values of a form by id; what was not answered has its default, or is left out. */
export function readForm(fields: readonly Field[], reply: Reply): JsonObject {
  const given = new Map<string, Json>();
  for (const field of fields) if (field.default !== undefined) given.set(field.id, field.default);
  for (const [id, value] of said(fields, reply)) {
    const field = fields.find((field) => field.id === id);
    const read = field && readField(field, value);
    if (read !== undefined) given.set(id, read);
  }
  return Object.fromEntries(given);
}

function said(fields: readonly Field[], reply: Reply): [string, Json][] {
  const named = (reply.values ?? []).map((answer): [string, Json] => [answer.id, answer.value]);
  if (named.some(([id]) => fields.some((field) => field.id === id))) return named;
  const object = parsed(reply.text);
  if (object) return Object.entries(object);
  const lines = namedLines(fields, reply.text);
  const [only] = fields;
  // With several fields, words without a name could mean any of them.
  return lines.length === 0 && fields.length === 1 && only ? [[only.id, reply.text]] : lines;
}

function parsed(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

/** Lines such as `diet: vegan`, by a field's id or its words. What follows without a name goes on with a text. */
function namedLines(fields: readonly Field[], text: string): [string, string][] {
  const found: [Field, string][] = [];
  for (const line of text.split(/\r?\n/)) {
    // Questions are shown as a markdown list with code, and come back as they were copied.
    const bare = line.trim().replace(/^[-*\s`]+/, "");
    const last = found.at(-1);
    const named = fields
      .map((field) => [field, behindName(bare, field)] as const)
      .find(([, rest]) => rest !== undefined);
    if (named) found.push([named[0], named[1] ?? ""]);
    else if (bare && last && kindOf(last[0]) === "text") last[1] += `\n${line.trim()}`;
  }
  return found.filter(([, words]) => words.trim()).map(([field, words]) => [field.id, words]);
}

function behindName(line: string, field: Field): string | undefined {
  for (const name of [field.id, field.text]) {
    if (!line.toLowerCase().startsWith(name.toLowerCase())) continue;
    const rest = /^`?\s*[:=]\s*(.*)$/.exec(line.slice(name.length));
    if (rest) return rest[1];
    if (name === field.text && /^\s/.test(line.slice(name.length))) return line.slice(name.length).trim();
  }
  return undefined;
}

/** The value that an answer gives to a field; none where it fits nothing. */
export function readField(field: Field, value: Json): Json | undefined {
  const options = field.options ?? [];
  switch (kindOf(field)) {
    case "single_select":
      return chosen(options, String(value));
    case "multi_select": {
      const words = Array.isArray(value) ? value.map(String) : String(value).split(/[,;/\n]|\s(?:and|or)\s/);
      const all = words.filter((word) => word.trim()).map((word) => chosen(options, word));
      return all.length > 0 && all.every((one) => one !== undefined) ? (all as string[]) : undefined;
    }
    case "number": {
      const number = typeof value === "number" ? value : Number(String(value).trim().replace(",", ".") || NaN);
      return Number.isFinite(number) ? number : undefined;
    }
    case "boolean":
      return typeof value === "boolean" ? value : truth(String(value));
    case "text":
      return typeof value === "string" ? value.trim() || undefined : String(value);
  }
}

/** The option that words name: by value, title, or number in the list. */
function chosen(options: readonly Option[], words: string): string | undefined {
  const plain = words
    .trim()
    .replace(/[.!)]+$/, "")
    .toLowerCase();
  const all = options.map((option) => (typeof option === "string" ? { value: option, title: option } : option));
  const named = all.find((option) => [option.value, option.title].some((name) => name.toLowerCase() === plain));
  return (named ?? (/^\d{1,3}$/.test(plain) ? all[Number(plain) - 1] : undefined))?.value;
}

const YES = ["yes", "y", "true", "ja", "oui", "sí", "si"];
const NO = ["no", "n", "false", "nein", "non"];

function truth(words: string): boolean | undefined {
  const plain = words
    .trim()
    .replace(/[.!]+$/, "")
    .toLowerCase();
  if (YES.includes(plain)) return true;
  return NO.includes(plain) ? false : undefined;
}

/** The one field of a question. */
export function fieldOf(question: string, options: AskOptions): Field {
  if (!question.trim()) throw new AgentError("a question needs words");
  const { options: choices, several, type, default: otherwise } = options;
  if (choices?.length === 0) throw new AgentError("a question with options needs one at least");
  if (choices && type) throw new AgentError("a question has options or a type, not both");
  const kind = choices ? (several ? "multi_select" : "single_select") : (type ?? "text");
  return {
    id: "answer",
    text: question,
    type: kind,
    ...(choices && { options: choices }),
    ...(otherwise !== undefined && { default: otherwise }),
  };
}

/** The question once more, where the answer fitted nothing: below what would fit. */
export function askedAgain(question: string, field: Field): string {
  const wanted = wantedOf(field);
  return wanted === undefined ? question : `${wanted}.\n\n${question}`;
}

function wantedOf(field: Field): string | undefined {
  const titles = titlesOf(field);
  if (titles.length > 0)
    return `Please choose ${field.type === "multi_select" ? "from" : "one of"}: ${titles.join(", ")}`;
  if (field.type === "number") return "Please answer with a number";
  return field.type === "boolean" ? "Please answer yes or no" : undefined;
}
