"""Agents of the OpenAI Agents SDK: `helper = to_agent(my_agent)`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from agents import Agent as TheirAgent
from agents import FunctionTool, RunConfig, Runner, RunResultStreaming, Usage
from agents.exceptions import InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered
from agents.items import ToolApprovalItem, ToolCallItem, ToolCallOutputItem

from ..agent import Agent
from ..context import Context
from ..message import Message
from ..outcomes import CallError
from ..schema import json_of
from ..view import Tool


def to_agent(
    agent: TheirAgent[Any],
    handle: str | None = None,
    context: Callable[[Context], Any] | None = None,
    run_config: RunConfig | None = None,
    max_turns: int = 10,
    model: str | None = None,
) -> Agent:
    """Makes an agent of one of the OpenAI Agents SDK. `context` makes what its tools are given.

    The host's tools are added to its own. A tool that needs approval is asked about. What a guardrail stops is
    declined. The SDK sends its traces to OpenAI unless `run_config` says otherwise.
    """

    async def answer(message: Message, ctx: Context) -> None:
        tools = [*agent.tools, *(_tool(one) for one in ctx.tools)]
        begun = agent.clone(tools=tools)
        asked: Any = [*_history(ctx), {"role": "user", "content": message.text}]
        given = context(ctx) if context else None
        used = Usage()
        try:
            while True:
                result = Runner.run_streamed(begun, asked, context=given, max_turns=max_turns, run_config=run_config)
                try:
                    await _stream(ctx, result)
                finally:
                    used = _use(ctx, result, used, model or str(begun.model or "default"))
                if not result.interruptions:
                    break
                asked = await _approved(ctx, result)
        except (InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered):
            ctx.decline("This agent does not answer that.")
        if not isinstance(result.final_output, str):
            ctx.data(json_of(result.final_output))

    return Agent(answer, handle or agent.name.lower().replace(" ", "-"))


async def _stream(ctx: Context, result: RunResultStreaming) -> None:
    names: dict[str, str] = {}
    try:
        async for event in result.stream_events():
            if event.type == "raw_response_event":
                if event.data.type == "response.output_text.delta":
                    ctx.text(event.data.delta)
            elif event.type == "run_item_stream_event":
                _show(ctx, event.item, names)
    finally:
        # Without this its tasks go on when the turn is cancelled.
        if not result.is_complete:
            result.cancel()


def _show(ctx: Context, item: Any, names: dict[str, str]) -> None:
    if isinstance(item, ToolCallItem):
        call = str(_of(item.raw_item, "call_id") or _of(item.raw_item, "id"))
        names[call] = str(_of(item.raw_item, "name") or _of(item.raw_item, "type"))
        ctx.tool_call(names[call], _arguments(_of(item.raw_item, "arguments")), id=call)
    elif isinstance(item, ToolCallOutputItem):
        call = str(_of(item.raw_item, "call_id"))
        ctx.tool_call(names.get(call, "tool"), id=call, result=json_of(item.output))


async def _approved(ctx: Context, result: RunResultStreaming) -> Any:
    state = result.to_state()
    for item in result.interruptions:
        if await ctx.ask(f"May `{item.name}` be called with {_told(item)}?", type="boolean"):
            state.approve(item)
        else:
            state.reject(item)
    return state


def _told(item: ToolApprovalItem) -> str:
    return str(item.arguments or "nothing")


def _tool(tool: Tool) -> FunctionTool:
    async def invoke(_: Any, arguments: str) -> Any:
        try:
            return json.dumps(await tool(**_arguments(arguments)))
        except CallError as error:
            return f"error: {error}"

    return FunctionTool(tool.name, tool.description, dict(tool.input_schema), invoke, strict_json_schema=False)


def _arguments(text: Any) -> Any:
    return json.loads(text) if isinstance(text, str) and text else text or {}


def _of(raw: Any, name: str) -> Any:
    return raw.get(name) if isinstance(raw, dict) else getattr(raw, name, None)


def _history(ctx: Context) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.text} for turn in ctx.history if turn.text]


def _use(ctx: Context, result: RunResultStreaming, before: Usage, model: str) -> Usage:
    """Tells what was used since `before`: a run that goes on after an approval has what went before in its sum."""
    used = copy.deepcopy(result.context_wrapper.usage)
    cached = (used.input_tokens_details.cached_tokens or 0) - (before.input_tokens_details.cached_tokens or 0)
    fresh = (used.input_tokens - before.input_tokens, used.output_tokens - before.output_tokens)
    ctx.usage(model, *fresh, cached=cached)
    return used
