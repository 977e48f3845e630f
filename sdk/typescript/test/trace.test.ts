import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";

import { context, createContextKey, propagation, ROOT_CONTEXT, type Context } from "@opentelemetry/api";
import { agent } from "forecourt-agent";

import { Runtime } from "../dist/runtime.js";
import { findOpenTelemetry } from "../dist/trace.js";

const PARENT = createContextKey("parent");

test("a function runs in the trace of its turn", async () => {
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.call(self, ...args)),
    bind: (_active, target) => target,
    enable: () => context as never,
    disable: () => context as never,
  });
  propagation.setGlobalPropagator({
    inject: () => {},
    extract: (active, carrier: { traceparent?: string }) => active.setValue(PARENT, carrier.traceparent),
    fields: () => ["traceparent"],
  });
  await findOpenTelemetry();
  const seen: unknown[] = [];
  const runtime = new Runtime([
    agent(async function* helper() {
      await new Promise(setImmediate);
      seen.push(context.active().getValue(PARENT));
      yield "a";
      seen.push(context.active().getValue(PARENT));
    }),
  ]);
  const parts = [{ kind: "text", content: "hi" }];
  const channel = { canCall: true, write: () => {}, drained: () => Promise.resolve() };
  const turns = ["00-a-b-01", "00-c-d-01", undefined].map((traceparent, at) =>
    runtime.start({ id: `m${at}`, parts, traceparent }, channel),
  );
  await Promise.all(turns.map((turn) => turn.settled));
  assert.deepEqual(seen.sort(), ["00-a-b-01", "00-a-b-01", "00-c-d-01", "00-c-d-01", undefined, undefined]);
});
