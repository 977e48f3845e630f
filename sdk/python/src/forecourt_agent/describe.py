"""Prints the endpoint files of a Python file, as a deployment reads them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .endpoint import Endpoint
from .load import LoadError, all_of, module_of

_HEAD = "# Written by `forecourt_agent describe`: changes belong into the Python file.\n"


def describe(file: str, as_json: bool, folder: str | None) -> int:
    """Prints the endpoints of a file, or writes a file for each into `folder`. `LoadError` where there is none."""
    endpoints = all_of(module_of(file), Endpoint)
    if not endpoints:
        raise LoadError(f"{file} has no endpoint: mark a function with `@endpoint`")
    if folder is not None:
        for one in endpoints:
            path = Path(folder) / f"{one.name.replace('.', '-').replace('_', '-')}.toml"
            if path.exists() and not path.read_text(encoding="utf-8").startswith(_HEAD):
                raise LoadError(f"{path} is there and was written by hand: remove it, or print to standard output")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_HEAD + toml(one), encoding="utf-8")
            print(path, file=sys.stderr)
    elif as_json:
        print(json.dumps([one.describe() for one in endpoints], indent=2, ensure_ascii=False))
    else:
        print("\n".join(f"# endpoints/{one.name.replace('.', '-')}.toml\n{toml(one)}" for one in endpoints), end="")
    return 0


def toml(endpoint: Endpoint) -> str:
    """The endpoint file of an endpoint."""
    described = endpoint.describe()
    tables = {key: described.pop(key) for key in ("semantic", "handler")}
    lines = ["[endpoint]", *_pairs(described)]
    for name, table in tables.items():
        lines += ["", f"[endpoint.{name}]", *_pairs(table)]
    return "\n".join(lines) + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        # TOML has no null: a member without a value is left out.
        return "{ " + ", ".join(_pairs({key: one for key, one in value.items() if one is not None})) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    raise TypeError(f"{value!r} can't be written as TOML")


def _text(text: str) -> str:
    # The escapes of JSON are those of TOML, but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
