// A file that is written piece by piece.

import { PIECE_BYTES_MAX } from "./bounds.js";
import { AgentError } from "./endings.js";
import type { Line } from "./wire.js";

/** What a piece of a file may be. */
export type Piece = string | Uint8Array | ArrayBuffer;
/** All of a file, or its pieces as they come. */
export type FileData = Piece | Blob | Iterable<Piece> | AsyncIterable<Piece>;

/** Where its lines go: written in their order, with room awaited behind each. */
export interface ArtifactSink {
  say(line: Line): void;
  drained(): Promise<void>;
}

/** Writes one file. Without `close` it is never whole. */
export class ArtifactWriter {
  #held = new Uint8Array(0);
  #isFirst = true;
  #isClosed = false;
  readonly #sink: ArtifactSink;
  readonly #head: Line;

  constructor(sink: ArtifactSink, id: string, name: string, mime: string, description?: string) {
    this.#sink = sink;
    this.#head = description === undefined ? { id, name, mime } : { id, name, mime, description };
  }

  /** Adds a piece; resolves once there is room for the next. */
  async write(piece: Piece): Promise<void> {
    if (this.#isClosed) throw new AgentError(`the file ${String(this.#head.name)} is closed`);
    const bytes = bytesOf(piece);
    const all = new Uint8Array(this.#held.length + bytes.length);
    all.set(this.#held);
    all.set(bytes, this.#held.length);
    let at = 0;
    for (; all.length - at > PIECE_BYTES_MAX; at += PIECE_BYTES_MAX) {
      await this.#send(all.subarray(at, at + PIECE_BYTES_MAX), false);
    }
    this.#held = all.slice(at);
  }

  /** Ends it: now it is whole. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#send(this.#held, true);
  }

  async #send(bytes: Uint8Array, last: boolean): Promise<void> {
    const artifact: Line = this.#isFirst ? { ...this.#head } : { id: this.#head.id, append: true };
    this.#isFirst = false;
    artifact.data = base64(bytes);
    if (last) artifact.last = true;
    this.#sink.say({ artifact });
    await this.#sink.drained();
  }
}

/** Writes all of `data`. */
export async function writeAll(writer: ArtifactWriter, data: FileData): Promise<void> {
  if (typeof data === "string" || data instanceof Uint8Array || data instanceof ArrayBuffer) await writer.write(data);
  else if (data instanceof Blob) await writer.write(await data.arrayBuffer());
  else for await (const piece of data) await writer.write(piece);
  await writer.close();
}

function bytesOf(piece: Piece): Uint8Array {
  if (typeof piece === "string") return new TextEncoder().encode(piece);
  if (piece instanceof Uint8Array) return piece;
  if (piece instanceof ArrayBuffer) return new Uint8Array(piece);
  throw new AgentError("a piece of a file is text or bytes");
}

/** Base64 of bytes, on every runtime. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  // In slices: arguments of one call are bounded.
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
