"""Module paths in the names that JAX gives to operations, such as ``jit(f)/jvp(layer1)/dot_general``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Final

# What JAX writes around the names of scopes when it transforms a function, and the names of compiled functions.
_TRANSFORMATION: Final = re.compile(r"(?:custom_jvp|custom_vjp|jvp|linearize|transpose|vmap)\((.*)\)")
_FUNCTION: Final = re.compile(r"(?:jit|pjit|pmap|xla_call)\(.*\)")
_CONTROL_FLOW: Final = frozenset(
    {
        *("checkpoint", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"),
        *("pjit", "remat", "remat2", "rematted_computation", "shard_map"),
    }
)
# Two names in a row that stand for a loop or a branch.
_PART_OF: Final = re.compile(r"while/(?:body|cond)|cond/branch_\d+_fun")


@functools.lru_cache(maxsize=10_000)
def module_of(op_name: str) -> str:
    """Return the named scopes of an operation, outermost first; empty outside all scopes.

    The name of the operation itself, the names of functions, and what JAX adds for transformations, loops and branches
    are left out. So an operation and its gradient have the same path.

    Examples
    --------
    >>> module_of("jit(train)/transpose(jvp(encoder))/while/body/closed_call/attention/dot_general")
    'encoder/attention'
    >>> module_of("jit(f)/add"), module_of("")
    ('', '')
    """
    parts = [scope for part in _split(op_name.partition(";")[0])[:-1] for scope in _scopes(part)]
    kept: list[str] = []
    for part in parts:
        if kept and _PART_OF.fullmatch(f"{kept[-1]}/{part}"):
            kept.pop()
        elif part not in _CONTROL_FLOW:
            kept.append(part)
    return "/".join(kept)


def _scopes(part: str) -> Iterator[str]:
    inner = _TRANSFORMATION.fullmatch(part)
    if inner:
        for each in _split(inner[1]):
            yield from _scopes(each)
    elif part and "->" not in part and not _FUNCTION.fullmatch(part):
        # A part such as "ij,jk->ik" is the formula of an einsum.
        yield part


def _split(path: str) -> list[str]:
    """Split a path at the slashes outside brackets."""
    if "(" not in path:
        return path.split("/")
    parts, depth = [""], 0
    for letter in path:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "/" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
