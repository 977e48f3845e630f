// Traces that go on in the function, where OpenTelemetry is installed.

interface OpenTelemetry {
  context: { active(): unknown; with<T>(context: unknown, run: () => T): T };
  propagation: { extract(context: unknown, carrier: object): unknown };
}

let api: OpenTelemetry | undefined;

/** Looks for OpenTelemetry, once, before the first message. */
export async function findOpenTelemetry(): Promise<void> {
  // Not known to the compiler: who has no such package needs none.
  const name = "@opentelemetry/api";
  api = await (import(name) as Promise<OpenTelemetry>).catch(() => undefined);
}

/** Runs something as a part of the trace. */
export function inTrace<T>(traceparent: string | undefined, run: () => T): T {
  if (!api || traceparent === undefined) return run();
  return api.context.with(api.propagation.extract(api.context.active(), { traceparent }), run);
}
