// What a file exports: agents and endpoints.

import { pathToFileURL } from "node:url";

import { isAgent, type AgentDefinition } from "./agent.js";
import { isEndpoint, type EndpointDefinition } from "./endpoint.js";
import { AgentError } from "./endings.js";

export interface Loaded {
  agents: AgentDefinition[];
  endpoints: EndpointDefinition[];
}

/** Imports a file. Throws with a sentence for people. */
export async function load(file: string): Promise<Loaded> {
  const exported = Object.values(await imported(file)).flat() as unknown[];
  const all = [...new Set(exported)];
  const loaded = { agents: all.filter(isAgent), endpoints: all.filter(isEndpoint) };
  if (loaded.agents.length + loaded.endpoints.length === 0) {
    throw new AgentError(
      `${file} exports no agent: write \`export default agent(async function* helper(message, ctx) { … })\``,
    );
  }
  return loaded;
}

async function imported(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(file).href)) as object;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ERR_UNKNOWN_FILE_EXTENSION") {
      throw new AgentError(
        `${file}: this Node (${process.versions.node}) does not run TypeScript: use Node 22.18 or newer, Deno or Bun, or compile it to JavaScript`,
      );
    }
    throw error;
  }
}
