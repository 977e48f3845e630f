"""Agents of Google's Agent Development Kit: `helper = to_agent(root_agent)`."""

from __future__ import annotations

from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import BaseTool, ToolContext
from google.genai import types

from ..agent import Agent
from ..context import Context
from ..message import Message
from ..outcomes import CallError
from ..state import size_of
from ..view import Tool

_STATE = "adk"
_APP = "forecourt"


def to_agent(agent: BaseAgent, handle: str | None = None) -> Agent:
    """Makes an agent of one of the Agent Development Kit.

    Each turn is a session of its own, made of what the host remembers: the turns before, and the session's state,
    which is kept in `ctx.state["adk"]`. The host's tools are added to those of an `LlmAgent`.
    """

    async def answer(message: Message, ctx: Context) -> None:
        chosen = agent
        if isinstance(agent, LlmAgent) and ctx.tools:
            chosen = agent.clone(update={"tools": [*agent.tools, *(_HostTool(one) for one in ctx.tools)]})
        sessions = InMemorySessionService()
        user = ctx.sender.subject or "anonymous"
        session = await sessions.create_session(app_name=_APP, user_id=user, state=dict(ctx.state.get(_STATE, {})))
        await _remember(sessions, session, ctx, agent.name)
        runner = Runner(app_name=_APP, agent=chosen, session_service=sessions)
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        events = runner.run_async(
            user_id=user, session_id=session.id, new_message=_content("user", message), run_config=config
        )
        try:
            is_streamed = False
            async for event in events:
                is_streamed = _show(ctx, event, is_streamed)
        finally:
            await events.aclose()
        ended = await sessions.get_session(app_name=_APP, user_id=user, session_id=session.id)
        if ended is not None:
            _keep(ctx, ended.state)

    return Agent(answer, handle or agent.name.replace("_", "-"))


class _HostTool(BaseTool):
    """A tool of the host."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description or tool.name)
        self._tool = tool

    def _get_declaration(self) -> types.FunctionDeclaration:
        schema = dict(self._tool.input_schema)
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        try:
            return {"result": await self._tool(**args)}
        except CallError as error:
            return {"error": str(error)}


def _show(ctx: Context, event: Event, is_streamed: bool) -> bool:
    """Says what an event holds. Returns whether the text that comes whole next has been said in pieces."""
    if event.error_code:
        ctx.log.error("the model failed: %s %s", event.error_code, event.error_message)
        ctx.fail("The model behind this agent failed.")
    for part in (event.content.parts or []) if event.content else []:
        if part.text and not part.thought and (event.partial or not is_streamed):
            ctx.text(part.text)
        if part.function_call and not event.partial:
            ctx.tool_call(part.function_call.name or "tool", part.function_call.args, id=part.function_call.id)
        if part.function_response:
            ctx.tool_call(
                part.function_response.name or "tool",
                id=part.function_response.id,
                result=part.function_response.response,
            )
    used = event.usage_metadata
    if used is not None and not event.partial:
        cached = used.cached_content_token_count or 0
        written = (used.candidates_token_count or 0) + (used.thoughts_token_count or 0)
        ctx.usage(event.model_version or "model", used.prompt_token_count or 0, written, cached=cached)
    return bool(event.partial)


def _content(role: str, message: Message) -> types.Content:
    files = [types.Part.from_bytes(data=one.bytes(), mime_type=one.mime) for one in message.files if one.url is None]
    return types.Content(role=role, parts=[types.Part(text=message.text), *files])


async def _remember(sessions: InMemorySessionService, session: Session, ctx: Context, author: str) -> None:
    for turn in ctx.history:
        if turn.text:
            is_user = turn.role == "user"
            content = types.Content(role="user" if is_user else "model", parts=[types.Part(text=turn.text)])
            await sessions.append_event(session, Event(author="user" if is_user else author, content=content))


def _keep(ctx: Context, state: dict[str, Any]) -> None:
    # What begins with `temp:` is this turn's alone, by ADK's own rule.
    kept = {name: value for name, value in state.items() if not name.startswith("temp:")}
    size_of(kept)
    if kept or _STATE in ctx.state:
        ctx.state[_STATE] = kept
