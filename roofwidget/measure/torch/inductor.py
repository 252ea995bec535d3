"""The groups of operations that TorchInductor fuses, with their bytes and FLOPs.

TorchInductor has a private hook that sees the groups after it has decided what to fuse. This module alone uses it.
Where a PyTorch lacks the hook, `fused` says so and gives no groups.

The bytes are those of the compiler: each buffer that enters or leaves a group once. The FLOPs are those of
`roofwidget.measure.torch.flops`, over the operations into which the compiler splits a group. An operation that several
groups compute again counts in the first.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from typing import Any, Final

import torch
from torch.utils._pytree import tree_map

from roofwidget.measure.counts import OpCount
from roofwidget.measure.torch.flops import flops, precision
from roofwidget.measure.torch.tensors import OpCall

_HOOK: Final = "_post_fusion_custom_pass"
_NO_HOOK: Final = "this PyTorch does not show what its compiler fuses: rows are operations, not fused groups"
_NOTHING_COMPILED: Final = "the compiler compiled nothing: rows are operations, not fused groups"
_NO_COMPILER: Final = (
    'by="fusion" compiles the function, which needs a C++ compiler: install g++ and put it on the PATH, or use by="op"'
)

_Groups = tuple[OpCount, ...]


def fused(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[_Groups | None, Callable[..., Any], tuple[str, ...]]:
    """Compile a function, run it once, and return the fused groups, the compiled function and warnings.

    The groups are None if the compiler does not show them. Settings of the compiler are put back, and code that was
    compiled before stays.

    Raises
    ------
    RuntimeError
        If there is no C++ compiler.
    """
    compiler = _compiler()
    if compiler is None:
        return None, function, (_NO_HOOK,)
    settings, compile_graph = compiler
    groups: list[OpCount] = []
    with _seen(settings, groups):
        compiled = torch.compile(function, backend=_Backend(compile_graph))
        try:
            compiled(*args, **kwargs)
        except Exception as error:
            if any(type(cause).__name__ == "InvalidCxxCompiler" for cause in _causes(error)):
                raise RuntimeError(_NO_COMPILER) from error
            raise
    if not groups:
        return None, function, (_NOTHING_COMPILED,)
    return tuple(groups), compiled, ()


class _Backend:
    """TorchInductor as a backend of its own: what was compiled before is compiled again, with the hook."""

    def __init__(self, compile_graph: Callable[..., Any]) -> None:
        self._compile_graph = compile_graph

    def __call__(self, graph: Any, inputs: Any) -> Any:
        return self._compile_graph(graph, inputs)


def _compiler() -> tuple[Any, Callable[..., Any]] | None:
    """Return the settings of TorchInductor and what compiles a graph; None if there is no hook."""
    try:
        with warnings.catch_warnings():
            # Some of its files use what PyTorch itself has deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            from torch._inductor import config  # noqa: PLC0415 - takes a second
            from torch._inductor.compile_fx import compile_fx  # noqa: PLC0415 - the same
    except ImportError:
        return None
    return (config, compile_fx) if hasattr(config, _HOOK) else None


@contextmanager
def _seen(settings: Any, groups: list[OpCount]) -> Iterator[None]:
    """Append each group that is compiled while the context is open."""
    earlier = getattr(settings, _HOOK)
    counted: set[Any] = set()

    def hook(nodes: Any) -> Any:
        kept = nodes if earlier is None else earlier(nodes)
        calls = {origin for node in kept for part in node.get_nodes() for origin in _call_of(part)}
        groups.extend(group for group in (_group(node, calls, counted) for node in kept) if group is not None)
        return kept

    with ExitStack() as stack:
        # What comes from a cache does not reach the hook.
        stack.enter_context(settings.patch({_HOOK: hook, "fx_graph_cache": False}))
        autograd = torch._functorch.config  # noqa: SLF001 - no public name
        if hasattr(autograd, "enable_autograd_cache"):
            stack.enter_context(autograd.patch(enable_autograd_cache=False))
        yield


def _group(node: Any, calls: set[Any], counted: set[Any]) -> OpCount | None:
    """Return a group as a row; None if it neither moves nor computes.

    Parameters
    ----------
    node
        A node of the compiler's schedule.
    calls
        The operations that are calls of a library, in all groups.
    counted
        The operations whose FLOPs earlier groups have. Those of this group are added.
    """
    everything = _origins(node, calls)
    origins = [origin for origin in everything if _computes(origin)]
    read, written = int(node.get_read_buffer_sizes()), int(node.get_write_buffer_sizes())
    own = [origin for origin in origins if origin not in counted]
    counted.update(own)
    parts = [_flops_of(origin) for origin in own]
    known = [found for found, _ in parts if found]
    if not read and not written and not known:
        return None
    total = Counter[str]()
    for found in known:
        total.update(found)
    most = max(parts, key=lambda part: sum((part[0] or {}).values()), default=(None, None))
    return OpCount(
        " + ".join(dict.fromkeys(map(_name_of, origins or everything))) or str(node.get_name()),
        None if any(found is None for found, _ in parts) else dict(total),
        read,
        written,
        most[1],
        _module_of(origins),
    )


def _call_of(part: Any) -> list[Any]:
    """Return the operation of a part of a group that is a call of a library."""
    is_call = type(part).__name__ == "ExternKernelSchedulerNode" and part.node is not None
    return [part.node.origin_node] if is_call and part.node.origin_node is not None else []


def _origins(node: Any, calls: set[Any]) -> list[Any]:
    """Return the operations that a group computes, in the order of the program."""
    found: dict[Any, None] = {}
    for part in node.get_nodes():
        # The origins of a call include the operations that made its inputs, and the other way round.
        own = _call_of(part) or [origin for origin in getattr(part.node, "origins", ()) if origin not in calls]
        found.update(dict.fromkeys(origin for origin in own if hasattr(origin.target, "_schema")))
    if not found:
        return []
    places = {origin: place for place, origin in enumerate(next(iter(found)).graph.nodes)}
    return sorted(found, key=lambda origin: places.get(origin, len(places)))


def _computes(origin: Any) -> bool:
    """Return whether an operation of the program is no view."""
    returns = origin.target._schema.returns  # noqa: SLF001 - no public name
    return not any(each.alias_info is not None and not each.alias_info.is_write for each in returns)


def _flops_of(origin: Any) -> tuple[dict[str, int] | None, str | None]:
    """Return the FLOPs and the precision of one operation of the program."""
    if origin.target.namespace == "prims" and "convert_element_type" in str(origin.target):
        return {}, None
    call = OpCall(origin.target, *tree_map(_value, (origin.args, origin.kwargs, origin)))
    try:
        found = flops(call)
    except (AttributeError, IndexError, TypeError):
        # Without the shapes of its tensors an operation has no known FLOPs.
        return None, None
    return found, precision(call, found)


def _value(part: Any) -> Any:
    """Return what stands for the tensors of a node: fake tensors, which have shapes and dtypes."""
    return part.meta.get("val") if isinstance(part, torch.fx.Node) else part


def _name_of(origin: Any) -> str:
    packet = getattr(origin.meta.get("original_aten") or origin.target, "_overloadpacket", None)
    return str(origin.name if packet is None else packet.__name__)


def _module_of(origins: Sequence[Any]) -> str:
    """Return the path of the innermost module to which all operations of a group belong."""
    paths = []
    for origin in origins:
        stack = list((origin.meta.get("nn_module_stack") or {}).values())
        # L['self'].layer1._modules['0'] is layer1.0 of the compiled model.
        path = re.sub(r"\._modules\['(\w+)'\]", r".\1", str(stack[-1][0]) if stack else "")
        paths.append([part for part in re.sub(r"^\w\['\w+'\]", "", path).split(".") if part])
    # A set of one name: all operations agree so far.
    common = takewhile(lambda names: len(names) == 1, map(set, zip(*paths, strict=False)))
    return ".".join(name for names in common for name in names)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and the errors that caused it."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        yield current
        seen.add(id(current))
        current = getattr(current, "inner_exception", None) or current.__cause__ or current.__context__
