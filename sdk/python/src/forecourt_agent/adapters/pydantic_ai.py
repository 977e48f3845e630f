"""Agents of Pydantic AI: `helper = to_agent(my_agent)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent as TheirAgent
from pydantic_ai import (
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    Tool,
    ToolDenied,
)
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.usage import RunUsage

from ..agent import Agent
from ..context import Context
from ..message import Message
from ..schema import json_of


def to_agent(
    agent: TheirAgent[Any, Any],
    handle: str | None = None,
    deps: Callable[[Context], Any] | None = None,
    model: str | None = None,
) -> Agent:
    """Makes an agent of one of Pydantic AI. `deps` makes its dependencies, `model` names it in what was used.

    The host's tools are a toolset beside its own. A tool that needs approval is asked about, where the agent's
    output type has `DeferredToolRequests`. An output that is no text is data.
    """

    async def answer(message: Message, ctx: Context) -> None:
        more: dict[str, Any] = {"message_history": _history(ctx), "toolsets": [_toolset(ctx)] if ctx.tools else None}
        prompt: Any = _prompt(message)
        given = deps(ctx) if deps else None
        while True:
            used = RunUsage()
            try:
                result = await _run(agent, ctx, prompt, given, more | {"usage": used})
            finally:
                # What a run that failed has used was used all the same.
                ctx.usage(model or _model(agent), used.input_tokens, used.output_tokens, cached=used.cache_read_tokens)
            if not isinstance(result.output, DeferredToolRequests):
                break
            more |= {
                "message_history": result.all_messages(),
                "deferred_tool_results": await _approved(ctx, result.output),
            }
            prompt = None
        if not isinstance(result.output, str):
            ctx.data(json_of(result.output))

    return Agent(answer, handle or agent.name or "agent")


async def _run(agent: TheirAgent[Any, Any], ctx: Context, prompt: Any, deps: Any, more: dict[str, Any]) -> Any:
    result: Any = None
    async with agent.run_stream_events(prompt, deps=deps, **more) as events:
        async for event in events:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                ctx.text(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                ctx.text(event.delta.content_delta)
            elif isinstance(event, FunctionToolCallEvent):
                ctx.tool_call(event.part.tool_name, event.part.args_as_dict(), id=event.part.tool_call_id)
            elif isinstance(event, FunctionToolResultEvent):
                _show_result(ctx, event.part)
            elif isinstance(event, AgentRunResultEvent):
                result = event.result
    return result


def _show_result(ctx: Context, part: Any) -> None:
    if isinstance(part, ToolReturnPart):
        ctx.tool_call(part.tool_name, id=part.tool_call_id, result=part.model_response_str())
    else:
        ctx.tool_call(part.tool_name or "tool", id=part.tool_call_id, error=str(part.content))


async def _approved(ctx: Context, requests: DeferredToolRequests) -> DeferredToolResults:
    results = DeferredToolResults()
    for call in requests.approvals:
        is_approved = await ctx.ask(f"May `{call.tool_name}` be called with {call.args_as_json_str()}?", type="boolean")
        results.approvals[call.tool_call_id] = is_approved or ToolDenied("The caller does not want that.")
    for call in requests.calls:
        results.calls[call.tool_call_id] = await ctx.call(call.tool_name, call.args_as_dict())
    return results


def _toolset(ctx: Context) -> FunctionToolset[Any]:
    return FunctionToolset(
        [Tool.from_schema(one, one.name, one.description, dict(one.input_schema)) for one in ctx.tools]
    )


def _prompt(message: Message) -> Any:
    # A file that came as an address alone is not fetched: nobody has looked at where it leads.
    files = [BinaryContent(file.bytes(), media_type=file.mime) for file in message.files if file.url is None]
    return [message.text, *files] if files else message.text


def _history(ctx: Context) -> list[ModelRequest | ModelResponse]:
    return [
        ModelRequest([UserPromptPart(turn.text)]) if turn.role == "user" else ModelResponse([TextPart(turn.text)])
        for turn in ctx.history
        if turn.text
    ]


def _model(agent: TheirAgent[Any, Any]) -> str:
    return str(getattr(agent.model, "model_name", agent.model))
