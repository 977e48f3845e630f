// Lines of JSON out of a stream of bytes, within a bound.

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
