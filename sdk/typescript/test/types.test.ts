import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, type Message } from "forecourt-agent";
import { host } from "forecourt-agent/testing";

// What the compiler must refuse stands behind `@ts-expect-error`: it fails where nothing is refused.
test("types say what comes of a question, and what may be yielded", async () => {
  const helper = agent<{ count?: number }>(async function* helper(message: Message, ctx) {
    ctx.state.count = (ctx.state.count ?? 0) + 1;
    const one: string = await ctx.ask("One?", { options: ["a"] });
    const several: string[] = await ctx.ask("Several?", { options: ["a"], several: true });
    const number: number = await ctx.ask("How many?", { type: "number" });
    const truth: boolean = await ctx.ask("Sure?", { type: "boolean" });
    yield { "@type": "Thing", one, several, number, truth, text: message.text };
  });
  // @ts-expect-error a number is nothing to yield
  agent(async function* () {
    yield 7;
  });
  // @ts-expect-error there is no such option
  agent(async (_message, ctx) => void (await ctx.ask("x", { optionz: ["a"] })));
  await using h = host(helper);
  for (const said of ["hi", "a", "a", "2"]) await h.say(said);
  const { items } = await h.say("yes");
  assert.deepEqual(items, [{ "@type": "Thing", one: "a", several: ["a"], number: 2, truth: true, text: "hi" }]);
  assert.deepEqual(h.state, { count: 1 });
});
