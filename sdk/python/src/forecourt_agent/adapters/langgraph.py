"""Graphs of LangGraph: `helper = to_agent(graph)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt

from ..agent import Agent
from ..context import Context
from ..message import Message
from ..question import Field


def to_agent(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    handle: str | None = None,
    to_input: Callable[[Message, Context], Any] | None = None,
    config: Callable[[Context], dict[str, Any]] | None = None,
) -> Agent:
    """Makes an agent of a compiled graph. `to_input` makes its input where that is not a list of `messages`.

    With a checkpointer each conversation is a thread of the graph, and an interrupt is a question: the next message
    resumes it, also after a restart where the checkpointer outlives one. `ctx` is in the config, under
    `configurable.forecourt`, for nodes that call the host's tools.
    """

    async def answer(message: Message, ctx: Context) -> None:
        given = config(ctx) if config else {}
        thread = {"thread_id": ctx.conversation or message.id, "forecourt": ctx}
        settings: Any = {**given, "configurable": {**given.get("configurable", {}), **thread}}
        snapshot = await graph.aget_state(settings) if graph.checkpointer else None
        if snapshot is not None and snapshot.interrupts:
            asked: Any = Command(resume=message.answers.get("answer", message.text))
        elif to_input is not None:
            asked = to_input(message, ctx)
        else:
            is_known = snapshot is not None and bool(snapshot.values)
            asked = {"messages": [*([] if is_known else _history(ctx)), HumanMessage(message.text)]}
        await _stream(graph, ctx, asked, settings)

    return Agent(answer, handle or getattr(graph, "name", None) or "agent")


async def _stream(graph: Any, ctx: Context, asked: Any, settings: Any) -> None:
    said: set[str] = set()
    interrupt: Interrupt | None = None
    async for mode, value in graph.astream(asked, settings, stream_mode=["messages", "updates"]):
        if mode == "messages":
            _chunk(ctx, value[0], said)
        elif "__interrupt__" in value:
            interrupt = value["__interrupt__"][0]
        else:
            for update in value.values():
                for message in _messages(update):
                    _whole(ctx, message, said)
    if interrupt is not None:
        _ask(ctx, interrupt.value)


def _chunk(ctx: Context, message: BaseMessage, said: set[str]) -> None:
    # Models stream in chunks; what a node returns at once comes whole, and then again among the updates.
    if isinstance(message, AIMessageChunk) and message.text:
        said.add(message.id or "")
        ctx.text(str(message.text))


def _whole(ctx: Context, message: BaseMessage, said: set[str]) -> None:
    if isinstance(message, ToolMessage):
        content = message.text if isinstance(message.content, str) else message.content
        ctx.tool_call(message.name or "tool", id=message.tool_call_id, result=content)
    if not isinstance(message, AIMessage):
        return
    if message.text and (message.id or "") not in said:
        ctx.text(str(message.text))
    for call in message.tool_calls:
        ctx.tool_call(call["name"], call["args"], id=call["id"])
    used = message.usage_metadata
    if used is not None:
        model = str(message.response_metadata.get("model_name") or "model")
        cached = (used.get("input_token_details") or {}).get("cache_read", 0)
        ctx.usage(model, used["input_tokens"], used["output_tokens"], cached=cached)


def _messages(update: Any) -> list[BaseMessage]:
    found = update.get("messages") if isinstance(update, dict) else None
    several = found if isinstance(found, list) else [found]
    return [one for one in several if isinstance(one, BaseMessage)]


def _ask(ctx: Context, value: Any) -> None:
    """An interrupt as a question: a text, or a dict with `question` and `options`."""
    if not isinstance(value, dict):
        ctx.question(str(value))
    text = str(value.get("question") or value.get("text") or value)
    options = value.get("options")
    fields = [{"id": "answer", "text": text, "options": options}] if options else []
    ctx.question(text, list[Field | dict[str, Any]](fields))


def _history(ctx: Context) -> list[BaseMessage]:
    turns = [turn for turn in ctx.history if turn.text]
    return [HumanMessage(turn.text) if turn.role == "user" else AIMessage(turn.text) for turn in turns]
