"""JSON Schema of Python's types, and values of these types from JSON."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import types
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Union

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    uuid.UUID: {"type": "string", "format": "uuid"},
}


class SchemaError(TypeError):
    """A type has no JSON Schema here, and where it stands."""


def schema_of(kind: Any, where: str = "it") -> Schema:
    """The schema of a type: plain ones, dates, lists, dicts, `Literal`, enums, unions, dataclasses, `TypedDict`, and
    models of pydantic. `Annotated` adds a description (a text) or keywords (a dict)."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _annotated(inner, where)
    if origin is None and kind in _PLAIN:
        return dict(_PLAIN[kind])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _union(inner, where)
    if origin in (list, set, Sequence) or kind in (list, set):
        items = schema_of(inner[0], f"the elements of {where}") if inner else {}
        return {"type": "array", "items": items} | ({"uniqueItems": True} if set in (origin, kind) else {})
    if origin in (dict, Mapping) or kind is dict:
        return {"type": "object"} | (
            {"additionalProperties": schema_of(inner[1], f"the values of {where}")} if inner else {}
        )
    if inspect.isclass(kind):
        return _class(kind, where)
    raise SchemaError(f"{where} has the type {kind!r}, which has no JSON Schema here")


def value_of(kind: Any, value: Any) -> Any:
    """A value of a type from JSON that fits its schema. `ValueError` or `TypeError` where it does not."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return value_of(inner[0], value)
    if origin in (Union, types.UnionType):
        return _first_that_fits(inner, value)
    if value is None:
        return None
    if origin in (list, set, Sequence) and inner:
        read = [value_of(inner[0], one) for one in value]
        return set(read) if origin is set else read
    if origin in (dict, Mapping) and inner:
        return {key: value_of(inner[1], one) for key, one in value.items()}
    if not inspect.isclass(kind):
        return value
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return kind(**{key: value_of(hints.get(key, Any), one) for key, one in value.items()})
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    if issubclass(kind, (enum.Enum, uuid.UUID)):
        return kind(value)
    if issubclass(kind, datetime.date):
        # Before 3.11 a `Z` is not read.
        return kind.fromisoformat(value.replace("Z", "+00:00"))
    return float(value) if kind is float else value


def json_of(value: Any) -> Any:
    """JSON of a value: the other way of `value_of`."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: json_of(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_of(one) for one in value]
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else value


def schema_of_parameters(function: Callable[..., Any], hints: Mapping[str, Any]) -> Schema:
    """The schema of an object that has a function's parameters as its properties."""
    properties, required = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SchemaError(f"the parameter `{name}` must be one that can be given by its name")
        if name not in hints:
            raise SchemaError(f"the parameter `{name}` needs a type")
        properties[name] = schema_of(hints[name], f"the parameter `{name}`")
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = json_of(parameter.default)
    return _object(properties, required)


def _annotated(inner: Sequence[Any], where: str) -> Schema:
    schema = schema_of(inner[0], where)
    for note in inner[1:]:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, dict):
            schema |= note
    return schema


def _union(inner: Sequence[Any], where: str) -> Schema:
    several = [schema_of(one, where) for one in inner]
    names = [one["type"] for one in several if list(one) == ["type"]]
    return {"type": names} if len(names) == len(several) else {"anyOf": several}


def _class(kind: Any, where: str) -> Schema:
    if hasattr(kind, "model_json_schema"):
        schema: Schema = kind.model_json_schema()
        return schema
    if issubclass(kind, enum.Enum):
        return {"enum": [one.value for one in kind]}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = [field for field in dataclasses.fields(kind) if field.init]
        properties = {field.name: schema_of(hints[field.name], f"`{field.name}` of {where}") for field in fields}
        missing = dataclasses.MISSING
        required = [one.name for one in fields if one.default is missing and one.default_factory is missing]
        return _object(properties, required)
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        properties = {name: schema_of(_bare(hint), f"`{name}` of {where}") for name, hint in hints.items()}
        return _object(properties, [name for name in hints if name in kind.__required_keys__])
    raise SchemaError(f"{where} has the type {kind.__name__}, which has no JSON Schema here")


def _bare(hint: Any) -> Any:
    # `Required[…]` and `NotRequired[…]`, of `typing` or of `typing_extensions`.
    name = str(getattr(typing.get_origin(hint), "_name", ""))
    return typing.get_args(hint)[0] if name in ("Required", "NotRequired") else hint


def _object(properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _first_that_fits(kinds: Sequence[Any], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    for kind in kinds:
        is_plain = kind in (str, int, float, bool)
        if is_plain and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            continue
        try:
            return value_of(kind, value)
        except (TypeError, ValueError, AttributeError):
            continue
    raise ValueError(f"{value!r} fits none of {kinds!r}")
