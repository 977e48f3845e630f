// Lines of JSON out of a stream of bytes, within a bound, and room in a stream for more of them.

import type { Writable } from "node:stream";

const NEWLINE = 0x0a;

/** The lines of a stream, without their ends. Throws at a line that is over `bytesMax`. */
export async function* linesIn(input: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<string> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      held.push(rest.subarray(0, end));
      if (size + end > bytesMax) throw new RangeError(`a line has more than ${bytesMax} bytes`);
      yield decoded(held);
      [held, size] = [[], 0];
      rest = rest.subarray(end + 1);
    }
    held.push(rest);
    size += rest.length;
    if (size > bytesMax) throw new RangeError(`a line has more than ${bytesMax} bytes`);
  }
  if (size > 0) yield decoded(held);
}

function decoded(pieces: Uint8Array[]): string {
  // As a whole: a character may lie across two pieces.
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}

/** Waits until a stream has room, or is gone. Whoever waits at the same time waits for the same. */
export function drainOf(stream: Writable): () => Promise<void> {
  let waiting: Promise<void> | undefined;
  return () => {
    if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
    waiting ??= new Promise((resolve) => {
      const go = () => {
        for (const event of ["drain", "close", "error"]) stream.off(event, go);
        waiting = undefined;
        resolve();
      };
      for (const event of ["drain", "close", "error"]) stream.once(event, go);
    });
    return waiting;
  };
}
