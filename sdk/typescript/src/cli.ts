#!/usr/bin/env node
// The program: a worker on standard input and output, an HTTP service, or a description of endpoints.

import { parseArgs } from "node:util";

import { CONCURRENCY, CONCURRENCY_MAX, SUSPENDED_MAX } from "./bounds.js";
import { describe, fileNameOf, toToml } from "./describe.js";
import { AgentError } from "./endings.js";
import { failureOf } from "./failures.js";
import { load } from "./load.js";
import { Runtime } from "./runtime.js";
import { serve } from "./server.js";
import { findOpenTelemetry } from "./trace.js";
import { VERSION } from "./version.js";
import { claimOutput, sayHello, work } from "./worker.js";

const USAGE = `forecourt-agent ${VERSION}

  forecourt-agent FILE                 a worker of the command backend, on standard input and output
      --concurrency N                  messages at once, 1 to ${CONCURRENCY_MAX} (${CONCURRENCY})
      --suspended N                    functions that may wait for an answer (${SUSPENDED_MAX})
  forecourt-agent serve FILE           a service for the http backend
      --port N  --host ADDRESS         where it listens (8701, 127.0.0.1)
      --suspended N
      FORECOURT_SECRET                 in the environment: bodies must be signed with it
  forecourt-agent describe FILE        the endpoints' files for a deployment, as TOML
      --json  --url URL                as JSON; where they are served (http://127.0.0.1:8701)
`;

const OPTIONS = {
  concurrency: { type: "string" },
  help: { type: "boolean" },
  host: { type: "string" },
  json: { type: "boolean" },
  port: { type: "string" },
  suspended: { type: "string" },
  url: { type: "string" },
  version: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parse>["values"];

function parse(words: string[]) {
  return parseArgs({ args: words, options: OPTIONS, allowPositionals: true });
}

async function main(words: string[]): Promise<number> {
  const { values, positionals } = parse(words);
  if (values.version) return say(VERSION);
  if (values.help || positionals.length === 0) return say(USAGE);
  const isCommand = ["serve", "describe"].includes(positionals[0] ?? "");
  const [command, file, ...more] = isCommand ? positionals : ["work", ...positionals];
  if (file === undefined || more.length > 0) throw new AgentError(`one file is needed\n\n${USAGE}`);
  if (command === "serve") return runService(file, values);
  return command === "describe" ? runDescribe(file, values) : runWorker(file, values);
}

function say(text: string): number {
  process.stdout.write(`${text.trimEnd()}\n`);
  return 0;
}

async function runWorker(file: string, values: Values): Promise<number> {
  const concurrency = numberOf("concurrency", values.concurrency, CONCURRENCY, 1, CONCURRENCY_MAX);
  const suspended = numberOf("suspended", values.suspended, SUSPENDED_MAX, 0, 1_000_000);
  const output = claimOutput();
  // The daemon has gone: nobody reads any more, and the input ends, too.
  process.stdout.on("error", () => {});
  sayHello(output, concurrency);
  surviveRejections();
  await findOpenTelemetry();
  const runtime = new Runtime((await load(file)).agents, suspended);
  await work(runtime, output);
  return 0;
}

async function runService(file: string, values: Values): Promise<number> {
  const port = numberOf("port", values.port, 8701, 0, 65_535);
  const suspendedMax = numberOf("suspended", values.suspended, SUSPENDED_MAX, 0, 1_000_000);
  surviveRejections();
  await findOpenTelemetry();
  const { agents, endpoints } = await load(file);
  const host = values.host ?? "127.0.0.1";
  const serving = await serve([...agents, ...endpoints], {
    port,
    host,
    suspendedMax,
    secret: process.env.FORECOURT_SECRET,
  });
  console.error(`serving ${file} at http://${host.includes(":") ? `[${host}]` : host}:${serving.port}/`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  await serving.close();
  return 0;
}

async function runDescribe(file: string, values: Values): Promise<number> {
  const { endpoints } = await load(file);
  if (endpoints.length === 0) throw new AgentError(`${file} exports no endpoint`);
  const base = values.url ?? "http://127.0.0.1:8701";
  const described = endpoints.map((endpoint) => describe(endpoint, base));
  if (values.json) return say(JSON.stringify(described, null, 2));
  return say(described.map((one, at) => `# endpoints/${fileNameOf(endpoints[at]!)}\n${toToml(one)}`).join("\n"));
}

function numberOf(name: string, given: string | undefined, otherwise: number, min: number, max: number): number {
  const number = given === undefined ? otherwise : Number(given);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new AgentError(`--${name} is a number from ${min} to ${max}, not \`${given}\``);
}

/** A promise that nobody waits for must not end the answers of everybody else. */
function surviveRejections(): void {
  process.on("unhandledRejection", (error) => console.error("a rejection that nobody handles:", error));
}

function raise(error: unknown): never {
  throw error;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const { code, message } = error as { code?: string; message?: string };
    // Where a file can't be read, the runtime shows its line, but only of what nobody catches.
    if (error instanceof SyntaxError) return void setImmediate(() => raise(error));
    const isOurs = error instanceof AgentError || code?.startsWith("ERR_PARSE_ARGS") || code === "EADDRINUSE";
    console.error(isOurs ? `error: ${message}` : failureOf(error).stack);
    process.exit(1);
  },
);
