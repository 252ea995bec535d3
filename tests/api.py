"""The public interface as lines of text, and the file that keeps them: ``make api`` writes it, a test compares.

A line is a name of ``roofwidget.__all__`` or of a public module, a public method or attribute, a subcommand or option
of the command, a key of a JSON schema, or a trait that pages see. Signatures are read from the source, so the lines are
the same in every version of Python.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from typing import Any, Final

import griffe
from griffe import ParameterKind

from roofwidget import cli
from roofwidget.model import RooflineModel

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "tests" / "api.txt"
_SCHEMAS: Final = ("chips/chips.schema.json", "cli/check.schema.json", "cli/sol.schema.json")
_STARS: Final = {ParameterKind.var_positional: "*", ParameterKind.var_keyword: "**"}


def lines() -> list[str]:
    """Return the public interface, sorted in each of its parts."""
    package = griffe.load("roofwidget", search_paths=[ROOT], resolve_aliases=True)
    parts = [_module(package, package), _command("roofwidget", cli.make_parser()), _schemas(), _wire()]
    return [line for part in parts for line in sorted(part)]


def _module(package: Any, module: Any) -> Iterator[str]:
    loaded = import_module(module.path)
    for name in loaded.__all__:
        target = module[name]
        target = target.final_target if target.is_alias else target
        function = getattr(loaded, name)
        if target.is_module and not ismodule(function):
            # The functions `chip` and `chips` have the names of a file and a folder, which griffe finds first.
            target = package[f"{function.__module__}.{function.__name__}".removeprefix("roofwidget.")]
        path = f"{module.path}.{name}"
        if target.is_module:
            yield from _module(package, target)
        elif target.is_class:
            yield from _class(path, target, set(loaded.__all__) - {name})
        else:
            yield f"{path}{_signature(target)}"


def _class(path: str, found: Any, others: set[str]) -> Iterator[str]:
    bases = list(_bases(found, others))
    known = {
        _target(one).path for base in found.resolved_bases if base.name in others for one in base.all_members.values()
    }
    yield f"class {path}{_signature(found, bound=True) if found.parameters else ''}"
    yield from (f"class {path} is a {base}" for base in bases)
    # What a class has of a base that is private is its own. Bases that are public have their lines.
    for name, one in found.all_members.items():
        member = _target(one)
        *_, owner, _ = member.path.split(".")
        if name.startswith("_") or not member.path.startswith("roofwidget.") or owner in others:
            continue
        if member.path in known:
            continue
        if member.is_function:
            yield f"{path}.{name}{_signature(member, bound='staticmethod' not in member.labels)}"
        elif member.is_attribute:
            yield f"{path}.{name}"


def _target(one: Any) -> Any:
    return one.final_target if one.is_alias else one


def _bases(found: Any, others: set[str]) -> Iterator[str]:
    """Yield the bases that a user knows: in place of a private base of this package, its own bases."""
    for base in found.bases:
        private = next((one for one in found.resolved_bases if one.name == str(base) and one.name not in others), None)
        if private is None or not private.path.startswith("roofwidget."):
            yield str(base)
        else:
            yield from _bases(private, others)


def _signature(found: Any, *, bound: bool = False) -> str:
    if found.is_attribute:
        return ""
    given = [one for one in found.parameters if not one.name.startswith("_")]
    if bound and given and given[0].name in {"self", "cls"}:
        del given[0]
    shown: list[str] = []
    for index, one in enumerate(given):
        before = given[index - 1].kind if index else None
        if before is ParameterKind.positional_only and one.kind is not before:
            shown.append("/")
        if one.kind is ParameterKind.keyword_only and before not in {one.kind, ParameterKind.var_positional}:
            shown.append("*")
        default = "" if one.default is None or one.kind in _STARS else f"={one.default}"
        shown.append(f"{_STARS.get(one.kind, '')}{one.name}{default}")
    if given and given[-1].kind is ParameterKind.positional_only:
        shown.append("/")
    return f"({', '.join(shown)})"


def _command(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, parser in action.choices.items():
                yield f"$ {name} {word}"
                yield from _command(f"{name} {word}", parser)
        elif action.dest != "help":
            yield f"$ {name} {_argument(action)}"


def _argument(action: argparse.Action) -> str:
    name = " ".join(action.option_strings) or str(action.metavar or action.dest)
    choices = "" if action.choices is None else f" {{{','.join(str(one) for one in action.choices)}}}"
    return f"{name}{choices}{'' if action.nargs is None else f' nargs={action.nargs}'}"


def _schemas() -> Iterator[str]:
    for name in _SCHEMAS:
        schema = json.loads((ROOT / "roofwidget" / name).read_text(encoding="utf-8"))
        yield from (f"{Path(name).name}: {key}" for key in _keys(schema, ""))


def _keys(schema: Any, path: str) -> Iterator[str]:
    """Yield the path of every property of a schema, of its definitions too."""
    if isinstance(schema, list):
        for one in schema:
            yield from _keys(one, path)
    if not isinstance(schema, dict):
        return
    for word, below in schema.items():
        if word in {"properties", "$defs"}:
            for name, one in below.items():
                inner = f"{path}/{name}"
                if word == "properties":
                    needed = name in schema.get("required", ())
                    yield f"{inner}{' (always)' if needed else ''}"
                yield from _keys(one, inner)
        elif word in {"items", "additionalProperties", "anyOf", "oneOf", "allOf", "then", "else", "if"}:
            yield from _keys(below, path)


def _wire() -> Iterator[str]:
    for name, trait in RooflineModel.class_traits(sync=True).items():
        yield f"wire: {name} ({trait.metadata['owner']})"


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8", newline="\n")
