"""Endpoints with a contract: functions that a deployment of Forecourt calls, described by their types."""

from __future__ import annotations

import functools
import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from .schema import Schema, json_of, schema_of, schema_of_parameters, value_of

Impact = Literal["informational", "reversible", "irreversible"]


class EndpointError(Exception):
    """Ends a call in one of the errors that its endpoint declares. The caller reads all three."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(code, message)
        self.code, self.message, self.details = code, message, details


class Endpoint:
    """A function behind a method and a path. It can be called as it is, and by a deployment as `module.function`."""

    def __init__(self, function: Callable[..., Any], method: str, path: str, about: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.method, self.path = function, method, path
        self._about = dict(about)
        self._hints = typing.get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters)
        first = self._hints.get(parameters[0]) if len(parameters) == 1 else None
        # One parameter that is an object with fields is the whole input.
        self._whole = first if first is not None and _has_fields(first) else None
        self.input_schema: Schema = (
            schema_of(self._whole, "the input") if self._whole else schema_of_parameters(function, self._hints)
        )
        self.output_schema: Schema = schema_of(self._hints.get("return", dict), "what it returns")
        if self.output_schema.get("type") != "object":
            raise TypeError(f"{self.name} must return an object: a dict, a dataclass, a TypedDict or a model")
        # A result must have what it promises and may have more.
        self.output_schema.pop("additionalProperties", None)
        for name in re.findall(r"\{([^}]*)\}", path):
            if name not in self.input_schema.get("properties", {}):
                raise TypeError(f"{self.name} takes no `{name}`, which its path `{path}` has")

    @property
    def name(self) -> str:
        """The function as a deployment names it: `rooms.book` is `book` in `functions/rooms.py`."""
        return f"{self.function.__module__}.{self.function.__name__}"

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Calls the function: with its own arguments, or with the context of a deployment, which has an `input`."""
        context: Any = args[0] if len(args) == 1 and not more else None
        if not isinstance(getattr(context, "input", None), dict) or not hasattr(context, "agent_id"):
            return self.function(*args, **more)
        return self._answer(context.input)

    def call(self, given: Mapping[str, Any]) -> Any:
        """Calls it with an input in JSON; returns what it returns, in JSON. A coroutine where the function is one."""
        if self._whole is not None:
            result = self.function(value_of(self._whole, given))
        else:
            result = self.function(**{name: value_of(self._hints[name], value) for name, value in given.items()})
        return _later(result) if inspect.isawaitable(result) else json_of(result)

    def describe(self) -> dict[str, Any]:
        """Its definition, as an endpoint file has it."""
        words = inspect.getdoc(self.function) or self.function.__name__.replace("_", " ").capitalize() + "."
        first, _, rest = words.partition("\n\n")
        told = self._about
        return {
            "method": self.method,
            "path": self.path,
            "description": " ".join(first.split()),
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
            **({"required_scopes": list(told["scopes"])} if told["scopes"] else {}),
            # Said also where it is empty: the host wants to read that there are none.
            "errors": list(told["errors"]),
            "semantic": {
                "intent": told["intent"] or " ".join(first.split()),
                "actor": "agent",
                "outcome": told["outcome"] or " ".join(rest.split()) or "The caller has the result.",
                "capability": told["capability"],
                "confidence": told["confidence"],
                "impact": told["impact"],
                "is_idempotent": told["is_idempotent"],
            },
            "handler": {"type": "registered_function", "function": self.name},
        }

    def _answer(self, given: Mapping[str, Any]) -> Any:
        try:
            result = self.call(given)
        except EndpointError as error:
            raise _of_host(error) from error
        return _translated(result) if inspect.iscoroutine(result) else result


def endpoint(
    method: str,
    path: str,
    *,
    errors: Sequence[str] = (),
    scopes: Sequence[str] = (),
    impact: Impact = "irreversible",
    is_idempotent: bool = False,
    capability: str = "domain_spanning",
    confidence: float = 1.0,
    intent: str | None = None,
    outcome: str | None = None,
) -> Callable[[Callable[..., Any]], Endpoint]:
    """Makes an endpoint of a function: its parameters are the input, what it returns is the output.

    Agents choose endpoints by what they say of themselves. So `impact` and `is_idempotent` are the most careful where
    they are left out; the function's docs are its description, their second paragraph the outcome.
    """
    if not re.fullmatch(r"[A-Z][A-Z_]*", method):
        raise ValueError(f"a method is a verb in capitals, such as BOOK, unlike {method!r}")
    if not path.startswith("/"):
        raise ValueError(f"a path begins with a slash, unlike {path!r}")
    about = {
        "errors": errors,
        "scopes": scopes,
        "impact": impact,
        "is_idempotent": is_idempotent,
        "capability": capability,
        "confidence": confidence,
        "intent": intent,
        "outcome": outcome,
    }
    return lambda function: Endpoint(function, method, path, about)


async def _later(result: Any) -> Any:
    return json_of(await result)


async def _translated(result: Any) -> Any:
    try:
        return await result
    except EndpointError as error:
        raise _of_host(error) from error


def _of_host(error: EndpointError) -> Exception:
    """The host's own exception for it: a worker of functions knows no other."""
    kind = getattr(sys.modules.get("forecourt"), "EndpointError", None)
    return kind(error.code, error.message, error.details) if kind else error


def _has_fields(kind: Any) -> bool:
    is_known = hasattr(kind, "__dataclass_fields__") or hasattr(kind, "model_json_schema")
    return inspect.isclass(kind) and (is_known or typing.is_typeddict(kind))
