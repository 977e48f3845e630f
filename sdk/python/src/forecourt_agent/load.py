"""Finds the agents and endpoints of a Python file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from .agent import Agent
from .failures import traceback_of

Kind = TypeVar("Kind")


class LoadError(Exception):
    """A file can't be used, and why."""


def module_of(path: str) -> ModuleType:
    """Runs a file as a module. Files beside it can be imported from it. `LoadError` where none is, or it fails."""
    file = Path(path).resolve()
    if not file.is_file():
        raise LoadError(f"file not found: {path}")
    root, name = _root(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise LoadError(f"not a Python file: {path}")
    sys.path.insert(0, str(root))
    module = importlib.util.module_from_spec(spec)
    # Under its name, so that dataclasses, pickles and `typing` find it.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise LoadError(f"{path} can't be loaded\n{traceback_of(error).rstrip()}") from error
    return module


def _root(file: Path) -> tuple[Path, str]:
    """Where a module's imports begin, and its name: below `functions` the dotted path by which deployments know it."""
    for folder in file.parents:
        if folder.name == "functions":
            return folder, ".".join(file.relative_to(folder).with_suffix("").parts)
    return file.parent, file.stem


def agents_of(path: str) -> list[Agent]:
    """The agents of `FILE`, or the one of `FILE:HANDLE`. `LoadError` where there is none."""
    file, handle = _split(path)
    found = all_of(module_of(file), Agent)
    if handle is not None:
        found = [agent for agent in found if agent.is_named(handle)]
    if not found:
        wanted = f"agent `{handle}`" if handle else "agent: mark a function with `@agent`"
        raise LoadError(f"{file} has no {wanted}")
    return found


def all_of(module: ModuleType, kind: type[Kind]) -> list[Kind]:
    """What a module has of one kind, each once, in its order."""
    return once(value for value in vars(module).values() if isinstance(value, kind))


def once(values: Iterable[Kind]) -> list[Kind]:
    """Values without those that were there before, by identity."""
    return list({id(value): value for value in values}.values())


def _split(path: str) -> tuple[str, str | None]:
    file, colon, handle = path.rpartition(":")
    # The colon of a drive is none.
    return (file, handle) if colon and file and not Path(path).exists() else (path, None)
