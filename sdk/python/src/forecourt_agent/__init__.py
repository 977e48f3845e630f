"""Agents for Forecourt, written as Python functions.

    from forecourt_agent import agent

    @agent
    async def helper(message, ctx):
        size = await ctx.ask("Which size?", options=["S", "M"])
        yield f"One in {size}."

`python -m forecourt_agent helper.py` answers messages of the `command` backend, `python -m forecourt_agent serve
helper.py --port 8701` those of the `http` backend.
"""

from . import parts, refuse
from .agent import Agent, agent
from .artifact import ArtifactWriter
from .cli import run
from .context import Context
from .endpoint import Endpoint, EndpointError, endpoint
from .message import Evidence, File, Message, Resolution, Sender, Turn
from .outcomes import CallError, Declined, Failed, Finished, QuestionAsked, Refused, StateError, TurnEnded, Unanswered
from .question import Field, Option
from .state import State
from .threads import SyncContext
from .view import Tool

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "ArtifactWriter",
    "CallError",
    "Context",
    "Declined",
    "Endpoint",
    "EndpointError",
    "Evidence",
    "Failed",
    "Field",
    "File",
    "Finished",
    "Message",
    "Option",
    "QuestionAsked",
    "Refused",
    "Resolution",
    "Sender",
    "State",
    "StateError",
    "SyncContext",
    "Tool",
    "Turn",
    "TurnEnded",
    "Unanswered",
    "agent",
    "endpoint",
    "parts",
    "refuse",
    "run",
]
