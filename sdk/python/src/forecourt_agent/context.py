"""What an agent's function is given beside the message: all that it may read, say, ask and call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from . import parts, question
from .artifact import ArtifactWriter
from .outcomes import Declined, Failed, Finished, QuestionAsked, Refused, Unanswered
from .question import Field, FieldType
from .view import ConversationView

if TYPE_CHECKING:
    from .run import Run

Content = bytes | str | Iterable[bytes] | AsyncIterable[bytes]
"""What a file is made of: all of it, or its pieces."""


class Context(ConversationView):
    """A conversation as its agent sees it. After an `ask` it is that of the turn that brought the answer."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.log: logging.Logger = logging.getLogger(f"forecourt_agent.{run.agent.handle}")
        """Into the host's log, with the id of the request."""
        self.cancelled = asyncio.Event()
        """Set when the caller has left, has cancelled, or time is up."""
        self._made = 0

    # What it says, at once.

    def text(self, markdown: str) -> None:
        """The next piece of the answer."""
        if markdown:
            self._run.say({"text": str(markdown)})

    def progress(self, fraction: float | None = None, note: str | None = None) -> None:
        """Shown while the caller waits: from 0 to 1, and a sentence."""
        if fraction is not None and not 0 <= fraction <= 1:
            raise ValueError(f"progress is a number from 0 to 1, unlike {fraction!r}")
        self._run.say({key: value for key, value in {"progress": fraction, "note": note}.items() if value is not None})

    def part(self, part: Mapping[str, Any]) -> None:
        """A part of `forecourt_agent.parts`."""
        if not part.get("kind"):
            raise ValueError("a part needs a `kind`; `forecourt_agent.parts` makes them")
        self._run.say({"part": dict(part)})

    def item(self, thing: Mapping[str, Any]) -> None:
        """Something of schema.org, such as a product, which protocols list as a result."""
        self.part(parts.item(thing))

    def data(self, value: Any) -> None:
        """Structured data: any value that JSON holds."""
        self.part(parts.data(value))

    def link(self, url: str, title: str | None = None, description: str | None = None) -> None:
        """A link."""
        self.part(parts.link(url, title, description))

    def source(self, url: str, title: str | None = None, description: str | None = None) -> None:
        """A link on which the answer stands."""
        self.part(parts.source(url, title, description))

    def tool_call(
        self,
        name: str,
        args: Any = None,
        *,
        id: str | None = None,
        result: Any = None,
        error: str | None = None,
    ) -> str:
        """Shows that a tool is at work; with its id again, what came of it. Returns the id."""
        if result is not None and error is not None:
            raise ValueError("a tool call has a `result` or an `error`, not both")
        shown = {"id": id or self._new("t"), "name": name, "args": {} if args is None else args}
        if error is not None:
            shown["error"] = error
        elif result is not None:
            shown["result"] = result
        self._run.say({"tool_call": shown})
        return str(shown["id"])

    def usage(
        self,
        model: str,
        input: int = 0,
        output: int = 0,
        *,
        cached: int = 0,
        provider: str | None = None,
        cost: float | None = None,
    ) -> None:
        """What a request to a model has used: tokens, and cost where it is known. It counts in the host's budgets."""
        if min(input, output, cached) < 0 or (cost is not None and not cost >= 0):
            raise ValueError("tokens and costs can't be less than 0")
        used: dict[str, Any] = {"model": model, "input_tokens": int(input), "output_tokens": int(output)}
        more = {"cached_input_tokens": int(cached) or None, "provider": provider, "cost": cost}
        self._run.say({"usage": used | {key: value for key, value in more.items() if value is not None}})

    # What it waits for.

    async def file(self, name: str, data: Content, mime: str | None = None, *, description: str | None = None) -> None:
        """A file, in pieces of at most 256 KiB. Its media type follows from its name where it is left out."""
        async with self.artifact(name, mime, description=description) as writer:
            if isinstance(data, (bytes, bytearray, memoryview, str)):
                await writer.write(data)
            elif isinstance(data, AsyncIterable):
                async for piece in data:
                    await writer.write(piece)
            else:
                for piece in data:
                    await writer.write(piece)

    def artifact(self, name: str, mime: str | None = None, *, description: str | None = None) -> ArtifactWriter:
        """A file that is written little by little: `async with ctx.artifact("a.csv") as file: await file.write(…)`."""
        return ArtifactWriter(self._run, self._new("a"), name, mime or parts.mime_of(name), description)

    @overload
    async def ask(
        self, text: str, *, type: Literal["number"], default: float | None = ..., attempts: int = ...
    ) -> float: ...

    @overload
    async def ask(
        self, text: str, *, type: Literal["boolean"], default: bool | None = ..., attempts: int = ...
    ) -> bool: ...

    @overload
    async def ask(
        self,
        text: str,
        options: Sequence[str | Mapping[str, str]],
        *,
        several: Literal[True],
        default: list[str] | None = ...,
        attempts: int = ...,
    ) -> list[str]: ...

    @overload
    async def ask(
        self,
        text: str,
        options: Sequence[str | Mapping[str, str]] = ...,
        *,
        default: str | None = ...,
        attempts: int = ...,
    ) -> str: ...

    async def ask(
        self,
        text: str,
        options: Sequence[str | Mapping[str, str]] = (),
        *,
        several: bool = False,
        type: Literal["text", "number", "boolean"] = "text",
        default: Any = None,
        attempts: int = 3,
    ) -> Any:
        """Asks the caller, which ends the turn, and returns the answer in the next turn of the conversation.

        With `options` the answer is one of them (or a list, with `several`); it is asked again, `attempts` times in
        all, then `Unanswered` is raised. When the process was replaced meanwhile, the function has begun anew and is
        given the answers so far: what stands before an `ask` has then run twice.
        """
        kind: FieldType = type if not options else "multi_select" if several else "single_select"
        is_plain = kind == "text" and default is None
        # A file may be the answer, which has no words: it is in `ctx.message.files`.
        asked = Field(question.ONLY, text, kind, question.options(options), default, is_optional=is_plain)
        answered = await self._answers(text, [asked], [] if is_plain else [asked.to_json()], attempts)
        return answered[question.ONLY]

    async def ask_form(
        self, text: str, fields: Sequence[Mapping[str, Any] | Field], *, attempts: int = 3
    ) -> dict[str, Any]:
        """Asks for several things at once: fields of `id`, `text`, `type`, `options`, `default`. Returns them by id."""
        form = [question.field(one) for one in fields]
        if not form:
            raise ValueError("a form needs a field")
        return await self._answers(text, form, [one.to_json() for one in form], attempts)

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """Calls one of `tools` through the host, in the caller's name. `CallError` where it fails or is refused."""
        return await self._run.required_turn().call(tool, {**(arguments or {}), **more})

    async def journal(self, value: Any) -> None:
        """Notes how far the work has come, before what must not be done twice; returns once it is on disk."""
        await self._run.required_turn().note(value)

    # How it ends.

    def refuse(self, refusal: Refused) -> NoReturn:
        """Ends the turn with a refusal of `forecourt_agent.refuse`."""
        raise refusal

    def decline(self, sentence: str) -> NoReturn:
        """Ends the turn: the agent won't do it, and asking again changes nothing."""
        raise Declined(sentence)

    def fail(self, sentence: str) -> NoReturn:
        """Ends the turn: it failed, and the caller reads why."""
        raise Failed(sentence)

    def finish(self, markdown: str) -> NoReturn:
        """Ends the turn with one message, without a task where a protocol has the choice."""
        raise Finished(markdown)

    def question(self, text: str, fields: Sequence[Mapping[str, Any] | Field] = ()) -> NoReturn:
        """Ends the turn with a question for which nothing waits: unlike after `ask`, the next message begins anew."""
        shown = [question.field(one).to_json() for one in fields]
        raise QuestionAsked(question.in_words(text, shown), shown)

    async def _answers(
        self, text: str, fields: Sequence[Field], shown: Sequence[Mapping[str, Any]], attempts: int
    ) -> dict[str, Any]:
        words = text
        for _ in range(max(1, attempts)):
            given = question.values_of(await self._run.answer(words, shown), fields)
            try:
                return {field.id: field.read(given.get(field.id)) for field in fields}
            except ValueError as error:
                words = f"{error}.\n\n{text}"
        raise Unanswered(f"That is no answer to “{text}”, so let us begin anew.")

    def _new(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}{self._made}"
