"""Calls of PyTorch's operations: the arguments that a trace records, and the work of a call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from math import prod
from typing import Final, NamedTuple

from roofwidget.readers.torch.dtypes import DTYPES
from roofwidget.readers.torch.steps import Requests, Step

Dims = tuple[int, ...]


class NotEnoughArguments(Exception):  # noqa: N818 - not an error: the work of the operation stays unknown
    """The arguments of a call are not enough to know its work. The message says what is missing; it may be empty."""


class Certainty(Enum):
    """What a number of FLOPs or bytes is. The value is a word for tables.

    An upper bound is never a number of a call: with it a kernel could seem to be above its roof. The rule of the number
    names the upper bound.
    """

    EXACT = ""
    AT_LEAST = "at least"
    ESTIMATE = "estimate"


# Products of complex numbers have other FLOPs, so their dtypes count as unknown.
_REAL: Final = [dtype for dtype in DTYPES if not dtype.ours.startswith("complex")]
_DTYPES: Final[Mapping[str, tuple[str, int]]] = {
    **{dtype.in_traces: (dtype.ours, dtype.itemsize) for dtype in _REAL},
    **{dtype.in_traces.removesuffix(" int"): (dtype.ours, dtype.itemsize) for dtype in _REAL},
}
_ARGUMENTS: Final[Mapping[str, int]] = {
    f"aten::{word}": count
    for count, words in {
        1: "relu sqrt rsqrt reciprocal exp log sin cos tanh erf sigmoid silu square neg abs",
        2: "cat mm bmm _int_mm mv dot gelu maximum minimum max min mul div sigmoid_backward tanh_backward "
        "silu_backward pow eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor",
        3: "where mse_loss add sub _softmax _log_softmax index_select gelu_backward threshold_backward native_dropout "
        "native_dropout_backward",
        4: "_softmax_backward_data _log_softmax_backward_data",
        5: "addmm baddbmm addmv native_layer_norm embedding",
        6: "_addmm_activation",
        8: "_scaled_mm native_group_norm native_batch_norm",
    }.items()
    for word in words.split()
}
"""How many arguments an operation has before ``out=``."""
# 18 digits fit into 64 bits.
_INT: Final = re.compile(r"-?[0-9]{1,18}")
_INTS: Final = re.compile(r"-?[0-9]{1,18}|\[(?:-?[0-9]{1,18}(?:, *-?[0-9]{1,18}){0,9})?\]")
# PyTorch's own limits: 64 axes, and a signed number of 64 bits for the elements.
_MAX_AXES: Final = 64
_MAX_NAMED: Final = 4
_MAX_LISTED: Final = 8
_MAX_ELEMENTS: Final = 2**63
_MAX_TEXT_LETTERS: Final = 10_000
_OURS: Final = {ours: (ours, size) for ours, size in _DTYPES.values()}
# Kernels that only move elements are compiled for their size.
_KNOWN: Final = {**_OURS, **_DTYPES, **{f"OpaqueType<{size}>": ("", size) for size in (1, 2, 4, 8, 16)}}


def precision_of(dtype: str) -> str | None:
    """Return our name for a dtype of PyTorch, or None if it is unknown.

    Examples
    --------
    >>> precision_of("c10::BFloat16"), precision_of("bf16"), precision_of("Scalar")
    ('bf16', 'bf16', None)
    """
    known = _KNOWN.get(dtype)
    return known[0] if known else None


def whole(text: str) -> int | None:
    """Return the whole number that a text of up to 18 digits is, or None.

    Examples
    --------
    >>> whole("-12"), whole("--5"), whole("1.0"), whole("9" * 19)
    (-12, None, None, None)
    """
    return int(text) if _INT.fullmatch(text) else None


def itemsize_of(dtype: str) -> int | None:
    """Return the bytes of an element of a dtype, by PyTorch's name or ours; None if it is unknown."""
    known = _KNOWN.get(dtype)
    return known[1] if known else None


class Assumption(Enum):
    """What a formula assumes of an argument that the profile did not record. The value is the warning."""

    ALL_PAIRS = (
        "the profile does not say whether attention is causal, so it is counted in full: if it is causal, half of its "
        "FLOPs are possible; traces of PyTorch 2.1 or newer with record_shapes=True say it"
    )
    NO_WINDOW = (
        "a trace does not say whether attention has a sliding window, so attention over a cache is counted without a "
        "window: with a window less work is possible; a rule in work.toml can give windows"
    )
    ERF = (
        "the profile does not say which formula gelu uses: 5 FLOPs per result are counted, and with tanh it "
        "has 8; in its gradient 11 and 16"
    )
    OPERANDS_DTYPE = (
        "the profile does not say the dtype of the results of _scaled_mm: their bytes are counted as if it were the "
        "dtype of its operands"
    )


class OpWork(NamedTuple):
    """The work of one call: FLOPs of tensor or vector units, and compulsory bytes.

    Parameters
    ----------
    family
        The category of the row.
    flops, bytes
        FLOPs and bytes of main memory of one call; None if unknown.
    rule, bytes_rule
        Where FLOPs and bytes come from, or what is missing to know them. An empty `bytes_rule` means compulsory bytes.
    vector
        Whether vector units do the FLOPs.
    detail
        What follows the shape in its column.
    assumed
        What the numbers assume.
    flops_are, bytes_are
        Whether the numbers are exact.
    precision
        The precision by a rule; None if the dtype of the operands says it.
    link_bytes
        Bytes that one call sends over a link to other devices; None if there are none.
    missing
        What is missing to know the FLOPs; empty if they are known or nobody says.
    flops_by_user, bytes_by_user
        Whether a rule of the user gives the number.
    """

    family: str
    flops: float | None
    bytes: float | None
    rule: str
    vector: bool = False
    detail: str = ""
    assumed: Assumption | None = None
    bytes_rule: str = ""
    flops_are: Certainty = Certainty.EXACT
    bytes_are: Certainty = Certainty.EXACT
    precision: str | None = None
    link_bytes: float | None = None
    missing: str = ""
    flops_by_user: bool = False
    bytes_by_user: bool = False

    @property
    def is_known(self) -> bool:
        """Whether FLOPs or bytes are known, so that the call stands for the operations inside it."""
        return self.flops is not None or self.bytes is not None


def assumption_warnings(works: Iterable[OpWork | None]) -> list[str]:
    """Return the warnings of what the work of calls assumes, each once."""
    assumed = {work.assumed for work in works if work is not None}
    return [assumption.value for assumption in Assumption if assumption in assumed]


def certainty_warnings(works: Iterable[tuple[str | None, OpWork | None]]) -> list[str]:
    """Return the warnings that name the operations whose work is a lower bound or an estimate."""
    names: dict[Certainty, dict[str, None]] = {certainty: {} for certainty in Certainty}
    for name, work in works:
        if name is not None and work is not None and work.is_known:
            names[work.flops_are][name] = names[work.bytes_are][name] = None
    what = {Certainty.AT_LEAST: "a lower bound", Certainty.ESTIMATE: "an estimate"}
    return [
        f"FLOPs or bytes are {word}, and `origin` says why: {_first(names[certainty])}"
        for certainty, word in what.items()
        if names[certainty]
    ]


def _first(names: Iterable[str]) -> str:
    listed_names = list(names)
    more = len(listed_names) - _MAX_NAMED
    return ", ".join([*listed_names[:_MAX_NAMED], *([f"{more} more"] if more > 0 else [])])


@dataclass(frozen=True)
class OpCall:
    """The arguments of a call by position.

    Parameters
    ----------
    name
        The operation, such as ``"aten::addmm"``.
    dims
        Sizes: a list of ints for a tensor, a list of such lists for a list of tensors, empty for other arguments.
    types
        PyTorch's names of dtypes, ``"Scalar"``, ``"TensorList"`` or ``""``; None if not recorded. A list of tensors has
        the dtype of its tensors if that is known otherwise.
    values
        Arguments that are not tensors, as text; None if not recorded.
    step
        The step of an inference server in which the call ran; None if no annotation says.
    nth
        Which call of this name the call is in its step, from 0; None if there is no step.
    metadata
        What a compiler wrote about the kernel of the call, such as ``kernel_num_gb``; None if it wrote nothing.
    """

    name: str
    dims: Sequence[object]
    types: Sequence[object] | None = None
    values: Sequence[object] | None = None
    step: Step | None = None
    nth: int | None = None
    metadata: Mapping[str, object] | None = None

    def to_text(self) -> str | None:
        """Return name, arguments and step as JSON; None if the text would be too long.

        Examples
        --------
        >>> OpCall("aten::relu", [[8, 16]], ["float"]).to_text()
        '{"name":"aten::relu","dims":[[8,16]],"types":["float"]}'
        """
        parts: dict[str, object] = {"name": self.name, "dims": self.dims, "types": self.types, "values": self.values}
        parts |= {"step": None if self.step is None else asdict(self.step), "nth": self.nth}
        text = json.dumps({key: part for key, part in parts.items() if part is not None}, separators=(",", ":"))
        return text if len(text) <= _MAX_TEXT_LETTERS else None

    @classmethod
    def from_text(cls, text: str) -> OpCall:
        """Return the call that `to_text` wrote.

        Examples
        --------
        >>> call = OpCall("aten::relu", [[8, 16]], ["float"])
        >>> OpCall.from_text(call.to_text()) == call
        True
        """
        parts = json.loads(text)
        step = parts.pop("step", None)
        if step is not None:
            parts["step"] = Step(Requests(**step["prefill"]), Requests(**step["decode"]), step["batch"])
        return cls(**parts)

    def tensor(self, position: int) -> Dims:
        """Return the sizes of a tensor; raise `NotEnoughArguments` if the argument is not a tensor."""
        sizes = self.dims[position] if position < len(self.dims) else None
        if not isinstance(sizes, (list, tuple)) or not self._is_tensor(position, sizes):
            raise NotEnoughArguments
        return _sizes(sizes)

    def tensors(self, position: int) -> list[Dims]:
        """Return the sizes of each tensor of a list."""
        listed = self.dims[position] if position < len(self.dims) else None
        if not isinstance(listed, (list, tuple)) or not listed:
            raise NotEnoughArguments
        return [_sizes(sizes) for sizes in listed if isinstance(sizes, (list, tuple))]

    def is_tensor(self, position: int) -> bool:
        """Whether the argument at a position is one tensor."""
        sizes = self.dims[position] if 0 <= position < len(self.dims) else None
        return isinstance(sizes, (list, tuple)) and self._is_tensor(position, sizes)

    def is_list(self, position: int) -> bool:
        """Whether the argument at a position is a list of tensors, and not empty."""
        listed = self.dims[position] if 0 <= position < len(self.dims) else None
        return isinstance(listed, (list, tuple)) and bool(listed) and isinstance(listed[0], (list, tuple))

    def elements(self, position: int) -> int:
        """Return the number of elements of a tensor, or of all tensors of a list."""
        if self.is_list(position):
            return sum(map(prod, self.tensors(position)))
        return prod(self.tensor(position))

    def bytes_of(self, position: int) -> int | None:
        """Return the bytes of a tensor, or of all tensors of a list; None if the dtype is unknown."""
        size = self.itemsize(position)
        return None if size is None else self.elements(position) * size

    def has(self, position: int) -> bool:
        """Whether an optional tensor was given."""
        return bool(position < len(self.dims) and self.dims[position])

    def itemsize(self, position: int) -> int | None:
        """Return the bytes of an element, or None if the dtype is unknown."""
        known = self._dtype(position)
        return known[1] if known else None

    def precision(self, position: int = 0) -> str | None:
        """Return our name for the dtype of an argument, or None."""
        known = self._dtype(position)
        return known[0] if known else None

    def read(self) -> int | None:
        """Return the bytes of all tensors that the call reads, each once; None if a dtype is unknown.

        PyTorch records a scalar argument as a tensor without sizes. The bytes of this scalar do not count, nor those of
        the tensor ``out=``, which is recorded after the other arguments.
        """
        total = 0
        for position, sizes in enumerate(self.dims[: _ARGUMENTS.get(self.name)]):
            if (sizes or not position) and isinstance(sizes, (list, tuple)) and self._is_tensor(position, sizes):
                size = self.itemsize(position)
                if size is None:
                    return None
                total += prod(_sizes(sizes)) * size
        return total

    def moved(self, written: int, position: int = 0, size: int | None = None) -> int | None:
        """Return the bytes that the call moves: the result of `read`, plus `written` elements; None if unknown.

        A written element has `size` bytes. Without `size` it has as many bytes as an element of the tensor ``out=``, or
        else of the argument at `position`.
        """
        read, size = self.read(), size or self.result_itemsize() or self.itemsize(position)
        return None if read is None or size is None else read + written * size

    def result_itemsize(self) -> int | None:
        """Return the bytes of an element of the tensor ``out=``, or None if there is none or its dtype is unknown."""
        after = range(_ARGUMENTS.get(self.name, len(self.dims)), len(self.dims))
        return next((self.itemsize(position) for position in after if self.has(position)), None)

    def value(self, position: int) -> str:
        """Return an argument that is not a tensor as text, ``""`` if not recorded."""
        values = self.values or ()
        return str(values[position]) if position < len(values) else ""

    def truth(self, position: int) -> bool:
        """Return a truth value; raise `NotEnoughArguments` if it was not recorded."""
        try:
            return {"True": True, "true": True, "False": False, "false": False}[self.value(position)]
        except KeyError:
            raise NotEnoughArguments from None

    def ints(self, position: int, rank: int) -> Dims:
        """Return a list of `rank` ints, such as strides; a single int is repeated."""
        listed = self.all_ints(position)
        if len(listed) not in {1, rank}:
            raise NotEnoughArguments
        return listed if len(listed) == rank else listed * rank

    def all_ints(self, position: int) -> Dims:
        """Return an int or a list of ints as a tuple, empty if not recorded."""
        text = self.value(position)
        if text and not _INTS.fullmatch(text):
            raise NotEnoughArguments
        return tuple(map(int, _INT.findall(text)))

    @property
    def shape(self) -> str:
        """The sizes of the call's tensors as text, such as ``"[512], [141, 512], [512, 512]"``.

        Of a long list of tensors the text has the number of tensors and of elements.
        """
        return ", ".join(self._shape_of(position) for position, sizes in enumerate(self.dims) if sizes)

    def _shape_of(self, position: int) -> str:
        sizes = self.dims[position]
        if self.is_list(position) and isinstance(sizes, (list, tuple)) and len(sizes) > _MAX_LISTED:
            try:
                return f"[{len(sizes)} tensors of {self.elements(position):,} elements]"
            except NotEnoughArguments:
                return f"[{len(sizes)} tensors]"
        return str(sizes)

    @property
    def dtype(self) -> str:
        """The dtypes of the call's tensors as text, without repetitions."""
        found = (self.precision(position) for position, sizes in enumerate(self.dims) if sizes)
        return ", ".join(dict.fromkeys(word for word in found if word))

    def _dtype(self, position: int) -> tuple[str, int] | None:
        word = self.types[position] if self.types is not None and position < len(self.types) else None
        return _KNOWN.get(word) if isinstance(word, str) else None

    def _is_tensor(self, position: int, sizes: Sequence[object]) -> bool:
        """Whether an argument is a tensor: it has sizes, or no sizes but a dtype (a single number on the device)."""
        return bool(sizes and not isinstance(sizes[0], (list, tuple))) or (
            not sizes and self._dtype(position) is not None
        )


def _sizes(given: Sequence[object]) -> Dims:
    sizes = tuple(size for size in given if isinstance(size, int) and not isinstance(size, bool) and size >= 0)
    if len(sizes) < len(given) or len(sizes) > _MAX_AXES or prod(sizes) > _MAX_ELEMENTS:
        raise NotEnoughArguments
    return sizes
