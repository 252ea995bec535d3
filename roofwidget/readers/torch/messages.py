"""Collectives of PyTorch's profiler: kind, message size, group and bytes over the link.

The profiler writes the metadata of a collective on the operation ``record_param_comms``, and since 2024 a copy of it on
the kernels of NCCL and RCCL. Without metadata the arguments of the operation are used: ``c10d::…``,
``_c10d_functional::…``, ``symm_mem::…``, and the collectives of vLLM and SGLang. The name of a kernel then gives the
dtype of a reduction, and the header's ``distributedInfo`` the number of ranks. An operation without a kernel sends
nothing.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from roofwidget.kernels.columns import Floats
from roofwidget.readers.input.documents import list_at
from roofwidget.readers.torch.calls import NotEnoughArguments, OpCall, whole
from roofwidget.readers.torch.dtypes import BY_NAME
from roofwidget.support.arrays import Integers

METADATA: Final = "Collective name"
"""The key of an event's arguments that only collectives have."""

# -- metadata ------------------------------------------------------------------------------------------------------

# Dtypes in names of kernels, such as AllReduce_Sum_bf16_RING_LL and AllReduce_RING_LL_Sum_float.
_IN_NAMES: Final = re.compile(
    r"(?:AllReduce|Reduce|ReduceScatter)_(?:RING_LL_|TREE_LL_)?[A-Z][A-Za-z]*_([a-z_]*[a-z]\d*)(?=_|\(|$)"
)
_NAMED_DTYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("f32", "float"), "Float"),
    **dict.fromkeys(("f64", "double"), "Double"),
    **dict.fromkeys(("f16", "half"), "Half"),
    **dict.fromkeys(("bf16", "__nv_bfloat16", "hip_bfloat16", "rccl_bfloat16"), "BFloat16"),
    "i8": "Char",
    "u8": "Byte",
    "i32": "Int",
    "i64": "Long",
}
# The beginnings of collectives' names without underscores. A longer beginning comes before a shorter one.
_KINDS: Final = (
    ("allreduce", "all-reduce"),
    ("allgather", "all-gather"),
    ("reducescatter", "reduce-scatter"),
    ("alltoall", "all-to-all"),
    ("broadcast", "broadcast"),
    ("gather", "gather"),
    ("scatter", "scatter"),
    ("reduce", "reduce"),
    ("send", "send"),
    ("recv", "receive"),
)


class Message(NamedTuple):
    """The metadata of a collective as the profiler writes it; texts are empty and numbers None if they are missing."""

    collective: str
    elements_in: int | None
    elements_out: int | None
    dtype: str
    ranks: int | None
    group: str
    description: str
    members: str
    splits_in: str
    splits_out: str
    peer: str


def message_of(args: Mapping[str, Any]) -> Message | None:
    """Return the metadata of an event's arguments, or None if it has none.

    Raises
    ------
    ValueError
        If a number is negative or no number.

    Examples
    --------
    >>> message_of({"Collective name": "send", "In msg nelems": 8, "dtype": "Half", "Dst Rank": 3}).peer
    'to rank 3'
    """
    if METADATA not in args:
        return None
    name = str(args[METADATA])
    ways = (("Dst Rank", "to"), ("Src Rank", "from")) if _kind(name) in {"send", "receive"} else ()
    return Message(
        name,
        # "size" counted elements too, until PyTorch 2.3 gave it another name.
        _count(args, "In msg nelems", "In msg size"),
        _count(args, "Out msg nelems", "Out msg size"),
        str(args.get("dtype", "")),
        _count(args, "Group size"),
        str(args.get("Process Group Name", "")),
        str(args.get("Process Group Description", "")),
        str(args.get("Process Group Ranks", "")),
        str(args.get("In split size", "")),
        str(args.get("Out split size", "")),
        next((f"{way} rank {args[key]}" for key, way in ways if _whole(args.get(key)) is not None), ""),
    )


def _count(args: Mapping[str, Any], *keys: str) -> int | None:
    for key in keys:
        if key in args:
            given = args[key]
            number = whole(given) if isinstance(given, str) else int(given) if _is_whole(given) else None
            if number is None or not 0 <= number < _MAX_COUNT:
                raise ValueError(f"expected a number from 0 as its '{key}', got {given!r:.40}")
            return number
    return None


_MAX_COUNT: Final = 2**63


def _is_whole(given: object) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and given % 1 == 0


class MessageTable:
    """The metadata of a trace: by call of an operation, and by kernel."""

    def __init__(self) -> None:
        self._different: dict[Message, int] = {}
        self._calls: dict[int, int] = {}
        self._kernels, self._kernel_codes = array("q"), array("q")
        self._numbers_of_kernels: dict[int, int] = {}
        self._numbers_of_ids: dict[int, int] = {}

    def with_same_calls(self) -> MessageTable:
        """Return an empty table for a trace that shares the operations of this trace, and their messages."""
        other = MessageTable()
        other._different, other._calls = self._different, self._calls
        return other

    def all(self) -> list[Message]:
        """Return the different messages. The code of a message is its position in this list."""
        return list(self._different)

    def add_call(self, call: int, message: Message) -> None:
        """Keep the message of a call of an operation."""
        self._calls[call] = self._different.setdefault(message, len(self._different))

    def add_sequence_number(self, external: int, args: Mapping[str, Any]) -> None:
        """Keep the number in its group of the collective of the operation with this id, if the arguments have it."""
        number = _count(args, "Seq")
        if number is not None:
            self._numbers_of_ids[external] = number

    def add_kernel(self, row: int, args: Mapping[str, Any]) -> None:
        """Keep the message of a kernel, if its event has any; `row` is its position in the device activity."""
        message = message_of(args)
        if message is not None:
            self._kernels.append(row)
            self._kernel_codes.append(self._different.setdefault(message, len(self._different)))
            number = _count(args, "Seq")
            if number is not None:
                self._numbers_of_kernels[row] = number

    def of_calls(self, n: int) -> Integers:
        """Return the code of the message of each of n calls, or -1; one -1 more is that of the call -1."""
        codes = np.full(n + 1, -1)
        codes[list(self._calls)] = list(self._calls.values())
        return codes

    def of_kernels(self, n: int) -> Integers:
        """Return the code of the message of each of n kernels, or -1."""
        codes = np.full(n, -1)
        codes[np.array(self._kernels, dtype=np.intp)] = np.array(self._kernel_codes, dtype=np.intp)
        return codes

    def number_kernels(self, external: Integers) -> None:
        """Give kernels the numbers of their operations. `external`: the id of each device activity, shape (n,)."""
        for row in np.flatnonzero(np.isin(external, list(self._numbers_of_ids))).tolist():
            self._numbers_of_kernels.setdefault(row, self._numbers_of_ids[int(external[row])])

    def numbers(self, kernel: Integers) -> Floats:
        """Return the number in its group of the collective of each row, NaN if unknown, shape (n,).

        Parameters
        ----------
        kernel
            The position of a kernel in the device activity, shape (n,).
        """
        found = (
            [self._numbers_of_kernels.get(at, np.nan) for at in kernel.tolist()] if self._numbers_of_kernels else np.nan
        )
        return np.full(len(kernel), found, dtype=np.float64)


# -- what a message means ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """What one collective sends.

    Parameters
    ----------
    kind
        One of `roofwidget.network.MESSAGES`.
    size
        The message size S in bytes, or None if the dtype is unknown. For an uneven all-to-all it is the size of an
        even one whose ranks send as much as the busiest rank here.
    local
        Bytes that this rank puts in and gets out, which its memory reads and writes; None if unknown.
    ranks
        The number of ranks, or None.
    elements
        The elements of the message.
    dtype
        Our name of the dtype, or the profiler's.
    group, description
        The group's name and its ranks, and what the program calls the group.
    peer
        The rank at the other end of a send or receive.
    is_even
        Whether all ranks send as much.
    rule
        How `size` was found.
    """

    kind: str
    size: float | None
    local: float | None
    ranks: int | None
    elements: int | None
    dtype: str | None
    group: str = ""
    description: str = ""
    peer: str = ""
    is_even: bool = True
    rule: str = "metadata of the collective"

    def shape(self, *, with_group: bool) -> str:
        """Return the message in words."""
        parts = [f"{self.elements:,} elements"] if self.elements is not None else []
        parts += [f"{self.ranks} ranks"] if self.ranks is not None and not self.peer else []
        parts += [self.peer] * bool(self.peer) + ["uneven"] * (not self.is_even)
        return ", ".join(parts) + (f" of {self.description}" if with_group and self.description else "")


_ROOTED: Final = ("gather", "scatter")


def _kind(name: str) -> str | None:
    bare = name.lower().replace("_", "")
    return next((kind for start, kind in _KINDS if bare.startswith(start)), None)


def sent_by(message: Message, world: World) -> Sent | None:
    """Return what a message with metadata sends, or None if it is no transfer, such as a barrier."""
    kind = _kind(message.collective)
    if kind is None:
        return None
    ranks = message.ranks or world.ranks_of(message.group)
    counts = [count for count in (message.elements_in, message.elements_out) if count is not None]
    elements = max(counts, default=None)
    parts = [count for count in counts if count > 0]
    if kind in _ROOTED and parts and ranks is not None:
        # The root has the parts of all ranks, and another rank only its own.
        elements = min(parts) * ranks
    known = BY_NAME.get(message.dtype)
    dtype, item = (known.ours, known.itemsize) if known is not None else (message.dtype or None, None)
    size = None if elements is None or item is None else float(elements * item)
    local = None if not counts or item is None else float(sum(counts) * item)
    group = f"{message.group} {message.members}".strip()
    found = Sent(kind, size, local, ranks, elements, dtype, group, message.description or message.group, message.peer)
    if kind == "all-to-all" and size is not None and ranks is not None:
        return _uneven(found, message, world, float(item or 0))
    return found


def _uneven(even: Sent, message: Message, world: World, item: float) -> Sent:
    """Return the all-to-all with the splits of its metadata, if these are complete and uneven."""
    ranks, own = even.ranks or 1, world.place_in(message.members)
    sides = [_splits(message.splits_in), _splits(message.splits_out)]
    if all(len(set(side)) <= 1 for side in sides) or ranks < 2:  # noqa: PLR2004 - one rank sends nothing
        is_cut = "..." in message.splits_in + message.splits_out
        rule = f"{even.rule}; its list of splits is cut, so they count as even" if is_cut else even.rule
        return replace(even, rule=rule)
    busiest = 0.0
    for side, elements in zip(sides, (message.elements_in, message.elements_out), strict=True):
        if side and sum(side) and elements:
            kept = side[own] if own is not None and own < len(side) else sum(side) / len(side)
            busiest = max(busiest, (sum(side) - kept) * elements / sum(side) * item)
    rule = f"{even.rule}; its splits: the larger of what the rank sends to and gets from others"
    rule += " (its own part is taken as the mean)" if own is None else ""
    return replace(even, size=busiest * ranks / (ranks - 1), is_even=False, rule=rule)


def _splits(text: str) -> list[int]:
    """Return the parts of a list in text; empty if the profiler has cut it."""
    return [] if "..." in text else [int(number) for number in re.findall(r"\d{1,18}", text)]


class World:
    """The groups of the program: the header's ``distributedInfo``."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        info = properties.get("distributedInfo")
        given: Mapping[str, Any] = info if isinstance(info, dict) else {}
        groups = [one for one in list_at(given, "pg_config") if isinstance(one, dict)]
        sizes = {str(one.get("pg_name")): _whole(one.get("pg_size")) for one in groups}
        self._sizes = {group: size for group, size in sizes.items() if size}
        self._size = _whole(given.get("world_size"))
        self.rank = _whole(given.get("rank"))

    def ranks_of(self, group: str) -> int | None:
        """Return the number of ranks of a group; without its name, of the program's only group."""
        if group in self._sizes:
            return self._sizes[group]
        is_only = len({*self._sizes.values()} - {1}) <= 1
        return (self._size or None) if not group and is_only else None

    def place_in(self, members: str) -> int | None:
        """Return the place of this rank among the ranks of a group."""
        ranks = _splits(members)
        return ranks.index(self.rank) if self.rank is not None and self.rank in ranks else None


def _whole(given: object) -> int | None:
    """Return a whole number from 0, or None if the value is none."""
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None


# -- operations without metadata -----------------------------------------------------------------------------------

# The kind of an operation, the positions of what a rank puts in and gets out, and that of the group's size. None stands
# for a position that the operation does not have: its other size then follows from the number of ranks.
_OPERATIONS: Final[Mapping[str, tuple[str, int | None, int | None, int | None]]] = {
    "c10d::allreduce_": ("all-reduce", 0, 0, None),
    "c10d::allreduce_coalesced_": ("all-reduce", 0, 0, None),
    "c10d::broadcast_": ("broadcast", 0, 0, None),
    "c10d::reduce_": ("reduce", 0, 0, None),
    "c10d::_allgather_base_": ("all-gather", 1, 0, None),
    "c10d::_reduce_scatter_base_": ("reduce-scatter", 1, 0, None),
    "c10d::alltoall_base_": ("all-to-all", 1, 0, None),
    "c10d::send": ("send", 0, 0, None),
    "c10d::recv_": ("receive", 0, 0, None),
    "_c10d_functional::all_reduce": ("all-reduce", 0, 0, None),
    "_c10d_functional::all_reduce_": ("all-reduce", 0, 0, None),
    "_c10d_functional::broadcast": ("broadcast", 0, 0, None),
    "_c10d_functional::all_gather_into_tensor": ("all-gather", 0, None, 1),
    "_c10d_functional::reduce_scatter_tensor": ("reduce-scatter", 0, None, 2),
    "_c10d_functional::all_to_all_single": ("all-to-all", 0, None, None),
    **dict.fromkeys(("_C_custom_ar::all_reduce", "sgl_kernel::all_reduce"), ("all-reduce", 1, 2, None)),
    **dict.fromkeys(
        (
            "symm_mem::multimem_all_reduce_",
            "symm_mem::multimem_one_shot_all_reduce",
            "symm_mem::one_shot_all_reduce",
            "symm_mem::two_shot_all_reduce_",
            "vllm::all_reduce",
            "vllm::inplace_all_reduce",
            "vllm::outplace_all_reduce",
            "sglang::inplace_all_reduce",
            "sglang::outplace_all_reduce",
        ),
        ("all-reduce", 0, 0, None),
    ),
    "symm_mem::multimem_all_gather_out": ("all-gather", 0, 2, None),
    "vllm::all_gather": ("all-gather", 0, None, 2),
    "vllm::reduce_scatter": ("reduce-scatter", 0, None, 2),
}
SENDING: Final = frozenset(_OPERATIONS)
"""Operations whose arguments say what they send."""
KEEPS_VALUES: Final = frozenset(name for name, (*_, size) in _OPERATIONS.items() if size is not None)
"""Operations whose arguments that are not tensors are needed too."""
_TEMPLATE: Final = re.compile(r"cross_device_reduce_\w+<[^<>]*,\s*(\d{1,3})")


def sent_by_call(call: OpCall, kernel: str, world: World) -> Sent | None:
    """Return what an operation without metadata sends, from its arguments; None if it is unknown."""
    if call.name not in _OPERATIONS:
        return None
    kind, at_in, at_out, at_size = _OPERATIONS[call.name]
    put, got = _elements(call, at_in), _elements(call, at_out)
    ranks = _group_size(call, at_size, kernel) or world.ranks_of("")
    if got is None and put is not None:
        got = _got(kind, put, ranks)
    if put is None or got is None:
        return None
    found = Sent(kind, None, None, ranks, max(put, got), None, rule=f"arguments of {call.name}")
    element = _element_of(call, at_in, at_out) or _element_in(kernel)
    if element is None:
        return found
    dtype, item = element
    return replace(found, size=float(max(put, got) * item), local=float((put + got) * item), dtype=dtype)


def _element_of(call: OpCall, *positions: int | None) -> tuple[str | None, int] | None:
    """Return the dtype of the first of some arguments, and the bytes of its elements; None if it is unknown."""
    for position in positions:
        item = None if position is None else call.itemsize(position)
        if position is not None and item is not None:
            return call.precision(position), item
    return None


def _got(kind: str, put: int, ranks: int | None) -> int | None:
    """Return the elements that a rank gets out for those that it puts in."""
    if kind == "all-gather":
        return None if ranks is None else put * ranks
    if kind == "reduce-scatter":
        return None if ranks is None else put // ranks
    return put


def _elements(call: OpCall, position: int | None) -> int | None:
    if position is None:
        return None
    try:
        return prod(call.tensor(position))
    except NotEnoughArguments:
        pass
    try:
        return sum(map(prod, call.tensors(position)))
    except NotEnoughArguments:
        return None


def _group_size(call: OpCall, position: int | None, kernel: str) -> int | None:
    template = _TEMPLATE.search(kernel)
    if template:
        return int(template[1])
    value = str(call.values[position]) if position is not None and call.values and position < len(call.values) else ""
    return int(value) if re.fullmatch(r"[1-9]\d{0,8}", value) else None


def _element_in(kernel: str) -> tuple[str | None, int] | None:
    """Return the dtype that the name of a kernel has, and the bytes of its elements; None if it has none."""
    found = _IN_NAMES.search(kernel)
    dtype = BY_NAME.get(_NAMED_DTYPES.get(found[1], "")) if found else None
    return None if dtype is None else (dtype.ours, dtype.itemsize)
