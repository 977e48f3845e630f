"""The host's traces go on in agents, where OpenTelemetry is installed."""

import contextlib
import importlib.util
import unittest

from forecourt_agent import Context, Message
from forecourt_agent.testing import host

PARENTS = [f"00-{number:032x}-{number:016x}-01" for number in (1, 2)]


def has(module: str) -> bool:
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.util.find_spec(module) is not None
    return False


@unittest.skipUnless(has("opentelemetry.sdk"), "opentelemetry-sdk is not installed")
class Traces(unittest.IsolatedAsyncioTestCase):
    async def test_spans_lie_in_the_trace_of_the_turn_in_which_they_begin(self) -> None:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
        tracer = trace.get_tracer("test")

        async def works(message: Message, ctx: Context) -> str:
            with tracer.start_as_current_span("before"):
                pass
            await ctx.ask("Well?")
            with tracer.start_as_current_span("behind"):
                return str(ctx.traceparent)

        async with host(works) as h:
            await h.say("hi", more={"traceparent": PARENTS[0]})
            self.assertEqual((await h.say("yes", more={"traceparent": PARENTS[1]})).text, PARENTS[1])
        traces = {span.name: span.context.trace_id for span in exporter.get_finished_spans()}
        self.assertEqual(traces, {"before": 1, "behind": 2, "agent works": 1})


if __name__ == "__main__":
    unittest.main()
