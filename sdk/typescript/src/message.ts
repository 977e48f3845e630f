// A message as a function reads it.

import type { FormAnswer, Json, JsonObject, Part, WireHistoryTurn, WireMessage, WireSender } from "./wire.js";

/** Verified evidence of who sends: the only thing to authorize on. */
export interface Identity {
  /** Who it is about, such as `@chef@demo.localhost`. */
  subject: string;
  issuer: string;
  /** How it was established, a URN. */
  method: string;
  /** How strong it is: `platform`, `domain`, `address`, `agent`, `oauth`, `wallet`, `delegated` … */
  assurance: string;
  onBehalfOf: string[];
  claims: JsonObject;
  raw: JsonObject;
}

/** The sender of a message. */
export class Sender {
  /** Whether the host checked a proof. */
  readonly verified: boolean;
  readonly address: string;
  readonly authMethod: string;
  readonly identities: Identity[];
  /** A claim that nobody checked. */
  readonly claimedAddress?: string;
  /** For people and models, never for authorization. */
  readonly profile?: JsonObject;

  constructor(wire: WireSender = {}) {
    this.verified = wire.verified === true;
    this.address = wire.address ?? "";
    this.authMethod = wire.auth_method ?? "none";
    this.identities = (wire.identities ?? []).map(identity);
    this.claimedAddress = wire.claimed_address;
    this.profile = wire.profile;
  }

  /** The subject of the first evidence; none where nothing was proven. */
  get subject(): string | undefined {
    return this.identities[0]?.subject;
  }
}

function identity(raw: JsonObject): Identity {
  const text = (key: string) => (typeof raw[key] === "string" ? raw[key] : "");
  const onBehalfOf = Array.isArray(raw.on_behalf_of) ? raw.on_behalf_of.map(String) : [];
  const claims = (raw.claims ?? {}) as JsonObject;
  const [subject, issuer, method, assurance] = [text("subject"), text("issuer"), text("method"), text("assurance")];
  return { subject, issuer, method, assurance, onBehalfOf, claims, raw };
}

/** A file that came with a message. */
export class IncomingFile {
  readonly name?: string;
  readonly mime: string;
  /** Bytes, where the host knows. */
  readonly size?: number;
  /** Where it is, where its bytes did not come along. */
  readonly url?: string;
  readonly #data?: string;

  constructor(part: Part) {
    const source = (part.bytes_ref ?? {}) as { data?: string; url?: string };
    this.name = part.name as string | undefined;
    this.mime = (part.mime as string | undefined) ?? "application/octet-stream";
    this.size = part.size_bytes as number | undefined;
    this.url = source.url ?? (part.url as string | undefined);
    this.#data = source.data;
  }

  /** Its bytes. Throws where they did not come along. */
  bytes(): Uint8Array {
    if (this.#data === undefined)
      throw new Error(`the bytes of ${this.name ?? "the file"} did not come with the message`);
    return Uint8Array.from(atob(this.#data), (char) => char.charCodeAt(0));
  }

  /** Its bytes as UTF-8. */
  text(): string {
    return new TextDecoder().decode(this.bytes());
  }
}

/** A link that came with a message. */
export interface IncomingLink {
  url: string;
  title?: string;
  description?: string;
}

/** An earlier turn of the conversation. */
export interface HistoryTurn {
  role: "user" | "assistant";
  text: string;
  parts: Part[];
  sender: Sender;
}

/** What a caller said. */
export class Message {
  readonly id: string;
  readonly parts: Part[];
  readonly sender: Sender;
  readonly recipient: string;
  /** Earlier turns, oldest first. */
  readonly history: HistoryTurn[];
  readonly language?: string;
  /** The protocol that it came by, such as `rest`. For logs; nothing should depend on it. */
  readonly receivedVia: string;
  readonly receivedAt: string;
  readonly metadata: JsonObject;
  readonly extensions: string[];
  /** The same for all turns of one conversation; none where nothing is remembered. */
  readonly conversation?: string;
  /** Answers to fields of a form that came by name. */
  readonly answers: FormAnswer[];
  /** The message as the host wrote it. */
  readonly raw: WireMessage;

  constructor(wire: WireMessage) {
    this.raw = wire;
    this.id = wire.id;
    this.parts = wire.parts;
    this.sender = new Sender(wire.sender);
    this.recipient = wire.recipient ?? "";
    this.history = (wire.history ?? []).map(historyTurn);
    this.language = wire.language;
    this.receivedVia = wire.received_via ?? "";
    this.receivedAt = wire.received_at ?? "";
    this.metadata = wire.metadata ?? {};
    this.extensions = wire.extensions ?? [];
    this.conversation = wire.conversation;
    this.answers = wire.answers ?? [];
  }

  /** Its words, the text parts joined by newlines. */
  get text(): string {
    return textOf(this.parts);
  }

  get files(): IncomingFile[] {
    return this.parts.filter((part) => part.kind === "file").map((part) => new IncomingFile(part));
  }

  get links(): IncomingLink[] {
    return this.parts.filter((part) => part.kind === "link").map((part) => part as unknown as IncomingLink);
  }

  /** Values of its data parts. */
  get data(): Json[] {
    return this.parts.filter((part) => part.kind === "data").map((part) => part.data as Json);
  }
}

/** The text parts, joined by newlines. */
export function textOf(parts: readonly Part[]): string {
  const texts = parts.filter((part) => part.kind === "text").map((part) => part.content ?? part.text ?? "");
  return texts.join("\n");
}

function historyTurn(wire: WireHistoryTurn): HistoryTurn {
  const parts = wire.parts ?? [];
  const role = wire.role === "assistant" || wire.role === "agent" ? "assistant" : "user";
  return { role, text: textOf(parts), parts, sender: new Sender(wire.sender) };
}
