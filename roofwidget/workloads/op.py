"""`Op`: one operation of a graph, with the tensors that it reads and writes and its FLOPs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Final

from roofwidget.support.did_you_mean import choose_from, keywords
from roofwidget.support.precisions import precision_key
from roofwidget.workloads.expressions import Count, Expression
from roofwidget.workloads.index import Index, parsed, usual
from roofwidget.workloads.tensors import Tensor

KINDS: Final = ("elementwise", "broadcast", "injective", "reduction", "scan", "matmul", "opaque")
"""How an operation fuses. elementwise: output element i needs only the input elements i; broadcast: an input is
stretched; injective: elements change places; reduction: many elements are combined into one; scan: elements are
combined along an axis in order, such as a running sum; matmul: a matrix product or a convolution; opaque: a whole
algorithm that fuses with nothing."""

CLASSES: Final = ("tensor", "vector", "transcendental")
"""The classes of FLOPs; a chip may have a separate peak for each."""


@dataclass(frozen=True, init=False)
class Op:
    """An operation. It runs as one kernel unless it is fused with other operations.

    Parameters
    ----------
    name
        The display name, unique in a graph.
    kind
        One of `KINDS`.
    inputs, outputs
        The tensors that the op reads and writes. A tensor that is listed twice is read once.
    flops
        FLOPs by class (`CLASSES`), or one count. A single count has the class ``tensor`` for a matmul, and ``vector``
        for other kinds.
    extra_bytes
        Bytes in addition to one read of each input and one write of each output: repeated reads, temporary buffers,
        accumulators. Fusing the op does not remove these bytes.
    terms
        The derivation of the FLOPs: names, and counts whose sum is the FLOPs.
    precision
        The precision whose peak applies. With None, a matrix product (a matmul, or FLOPs of the class ``tensor``) has
        the dtype of the wider of its first two inputs. If both are equally wide, the floating-point dtype applies.
        Other ops have the dtype of the output.
    axes
        The axes of the first input that a reduction reduces: ``(1,)``, ``(0, -1)``. A kernel that uses the result has
        them whole on chip, or passes over them again. By default the last axis. An empty tuple means that the op
        combines only near elements, such as a window. Other kinds have no such axes.
    index
        The loops of the op, as in einsum: ``"mk,kn->mn"``. An axis is a letter, ``1`` if it is stretched, ``*`` if its
        elements are read in any order, or several letters in parentheses, the slowest first: ``"m(hd)->hmd"`` moves
        heads to the front. None: the loops that ops of this kind usually have. An injective op without an index moves
        elements in an unknown way.
    rescale
        Whether what is added up after a reduction can be corrected once the reduction is complete, as after a softmax,
        a norm or a sum. False, for example, if the result is rounded to a narrow dtype.
    stats
        The numbers that a reduction keeps for each result while it adds up: 1 for a sum, 2 for a softmax.

    Raises
    ------
    TypeError, ValueError
        If an argument has a wrong type or value; the message names the op.

    Examples
    --------
    >>> x, y = Tensor("x", (8,), "fp32"), Tensor("y", (8,), "fp32")
    >>> dict(Op("relu", "elementwise", [x], [y], 8).flops)
    {'vector': 8}
    """

    __module__ = "roofwidget.workloads"

    name: str
    kind: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    flops: Mapping[str, Count]
    extra_bytes: Count
    terms: tuple[tuple[str, Count], ...]
    precision: str | None
    axes: tuple[int, ...]
    index: str | None
    rescale: bool
    stats: int

    @keywords("Op")
    def __init__(
        self,
        name: str,
        kind: str,
        inputs: Iterable[Tensor],
        outputs: Iterable[Tensor],
        flops: Count | Mapping[str, Count],
        *,
        extra_bytes: Count = 0,
        terms: Iterable[tuple[str, Count]] = (),
        precision: str | None = None,
        axes: Iterable[int] | None = None,
        index: str | None = None,
        rescale: bool = True,
        stats: int = 1,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"an op's name must be text, got {name!r:.60}")
        if kind not in KINDS:
            raise ValueError(f"op '{name}': unknown kind {kind!r:.40}{choose_from(kind, KINDS)}")
        by_class = flops if isinstance(flops, Mapping) else {"tensor" if kind == "matmul" else "vector": flops}
        for word, count in by_class.items():
            if word not in CLASSES:
                raise ValueError(f"op '{name}': unknown class of FLOPs {word!r:.40}{choose_from(word, CLASSES)}")
            _checked(count, f"the {word} FLOPs of op '{name}'")
        derivation = tuple((str(word), _checked(count, f"term '{word}' of op '{name}'")) for word, count in terms)
        values: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "inputs": _tensors(inputs, f"inputs of op '{name}'"),
            "outputs": _tensors(outputs, f"outputs of op '{name}'"),
            "flops": MappingProxyType(dict(by_class)),
            "extra_bytes": _checked(extra_bytes, f"extra_bytes of op '{name}'"),
            "terms": derivation,
            "precision": None if precision is None else _precision(precision, f"precision of op '{name}'"),
        }
        if not values["outputs"]:
            raise ValueError(f"op '{name}' writes no tensor; give at least one output")
        values["axes"] = _axes(name, kind, values["inputs"], axes)
        values |= {"index": index, "rescale": bool(rescale), "stats": stats}
        if index is not None:
            parsed(index, name, values["inputs"], values["outputs"])
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def __hash__(self) -> int:
        return hash((self.name, self.kind, self.inputs, self.outputs))

    def __reduce__(self) -> tuple[object, ...]:
        # A mapping proxy cannot be pickled.
        rest: dict[str, Any] = {"extra_bytes": self.extra_bytes, "terms": self.terms, "precision": self.precision}
        rest |= {"axes": self.axes, "index": self.index, "rescale": self.rescale, "stats": self.stats}
        return partial(Op, self.name, self.kind, self.inputs, self.outputs, dict(self.flops), **rest), ()

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}): {', '.join(map(str, self.inputs))} -> {', '.join(map(str, self.outputs))}"

    @property
    def loops(self) -> Index | None:
        """The loops of each axis of the inputs and outputs; None if they are unknown."""
        if self.index is not None:
            return parsed(self.index, self.name, self.inputs, self.outputs)
        return usual(self.kind, self.inputs, self.outputs, self.axes)

    @property
    def total_flops(self) -> Count:
        """FLOPs of all classes, an expression over the dimensions and the convention."""
        return added(tuple(self.flops.values()))

    @property
    def own_bytes(self) -> Count:
        """Bytes that the op moves as an unfused kernel, an expression over dimensions, convention and dtypes."""
        return added((self.extra_bytes, *(t.bytes for t in dict.fromkeys((*self.inputs, *self.outputs)))))


@lru_cache(maxsize=4096)
def added(counts: tuple[Count, ...]) -> Count:
    """Return the sum of counts. Results are cached, because the layers of a model repeat the same sums."""
    return sum(counts)


def _tensors(tensors: Iterable[Tensor], what: str) -> tuple[Tensor, ...]:
    found = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    for tensor in found:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{what} must be tensors, got {tensor!r:.60}")
    return found


def _precision(word: str, what: str) -> str:
    if not isinstance(word, str):
        raise TypeError(f"{what} must be text, got {word!r:.60}")
    return precision_key(word)


def _axes(name: str, kind: str, inputs: tuple[Tensor, ...], given: Iterable[int] | None) -> tuple[int, ...]:
    """Return the reduced axes in ascending order, counted from 0."""
    rank = len(inputs[0].shape) if inputs else 0
    if kind != "reduction" or given is None:
        if given is not None and tuple(given):
            raise ValueError(f"op '{name}' is {kind}, so it has no axes to reduce; only a reduction has axes")
        return (rank - 1,) if kind == "reduction" and rank else ()
    axes = tuple(given)
    for axis in axes:
        if type(axis) is not int or not -rank <= axis < rank:
            where = f"its first input {inputs[0]}" if inputs else "its inputs, because it has none"
            raise ValueError(f"axis {axis!r:.20} of op '{name}' is none of the {rank} axes of {where}")
    return tuple(sorted({axis % rank for axis in axes}))


def _checked(count: Count, what: str) -> Count:
    if type(count) is not int and not isinstance(count, Expression):
        raise TypeError(f"{what} must be an int or an expression, got {count!r:.60}")
    if isinstance(count, int) and count < 0:
        raise ValueError(f"{what} must not be negative, got {count}")
    return count
