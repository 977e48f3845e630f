// How a failure is told in a log: where it happened in the agent's own code, without the frames of this library.

import { fileURLToPath } from "node:url";

import { AgentError } from "./endings.js";

const OURS = new URL(".", import.meta.url).href;
// Bun names files by their paths.
const NOT_THEIRS = [OURS, fileURLToPath(OURS), "node:", "<anonymous>"];

/** Characters of a stack that fit a line of the log with what JSON makes of them. */
const STACK_CHARS_MAX = 800;

export interface Failure {
  /** What happened, and where in the agent's file, as `tailor.mjs:5`, if it was there. */
  message: string;
  /** The error's words and the way to them from the agent's file; all of it where no frame is the file's. */
  stack: string;
}

/** What the log says of something that was thrown. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) {
    const message = `something that is no Error was thrown: ${String(error)}`;
    return { message, stack: message };
  }
  const words = error instanceof AgentError ? error.message : String(error);
  const lines = (error.stack ?? String(error)).split("\n");
  const frames = lines.filter((line) => line.startsWith("    at "));
  // The innermost is the first.
  const last = frames.findLastIndex((frame) => !NOT_THEIRS.some((name) => frame.includes(name)));
  const place = /([^/\\(]+:\d+):\d+\)?$/.exec(frames[last] ?? "")?.[1];
  const shown = last < 0 ? frames.filter((frame) => !frame.includes("node:")) : frames.slice(0, last + 1);
  return {
    message: place === undefined ? words : `${words} (${place})`,
    stack: [...lines.slice(0, lines.length - frames.length), ...shown].join("\n").slice(0, STACK_CHARS_MAX),
  };
}
