"""Rows of a trace: one per call of an operation on the device, per launch, or per call on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.readers.torch.calls import OpCall, OpWork, assumption_warnings, certainty_warnings
from roofwidget.readers.torch.captures import Replays
from roofwidget.readers.torch.events import NONE, Codes, Collected
from roofwidget.readers.torch.forms import MATRIX_PRODUCT
from roofwidget.readers.torch.messages import SENDING
from roofwidget.readers.torch.nesting import Launched, Nest, Positions
from roofwidget.readers.torch.phases import Phases
from roofwidget.readers.torch.proposals import proposed_product_flops, proposed_rule
from roofwidget.readers.torch.rules import WorkRules, whole_of
from roofwidget.readers.torch.steps import Step
from roofwidget.readers.torch.work import is_ruled, work_of
from roofwidget.support.arrays import Integers

# -- work of each different call -----------------------------------------------------------------------------------

COMPULSORY: Final = "compulsory bytes: each operand read once, each result written once"

_SIZES: Final = "the sizes of its inputs: profile with record_shapes=True"
_FLOATS: Final = ("fp64", "fp32", "fp16", "bf16", "fp8", "fp4")


class WorkTable:
    """Columns of work, with one row per call code. The code -1 means no call, so all its work is unknown.

    Parameters
    ----------
    calls
        The different calls, without repetitions.
    step
        A step of a serving engine, with which calls are tried whose work depends on a step. None tries none.
    rules
        Rules of people for the work of calls; those of the first have precedence.
    """

    def __init__(self, calls: Sequence[OpCall], rules: Sequence[WorkRules] = (), step: Step | None = None) -> None:
        self.rules = rules
        self.reads_step = [frozenset() if step is None else _reads_of_step(call, rules, step) for call in calls]
        """What the work of each call depends on: ``"step"``, and ``"nth"``."""
        tried = [
            replace(call, step=step, nth=0) if reads else call
            for call, reads in zip(calls, self.reads_step, strict=True)
        ]
        works = self._works = [*(work_of(call, rules) for call in tried), None]
        self.is_composite = np.array([*(call.name.startswith("aten::") for call in calls), False])
        self.has_work = np.array([work is not None and work.is_known for work in works])
        self.sends = np.array([*(call.name in SENDING for call in calls), False])
        self.is_vector = np.array([work is not None and work.vector for work in works])
        self.flops = _numbers(None if work is None else work.flops for work in works)
        self.bytes = _numbers(None if work is None else work.bytes for work in works)
        self.flops_by_user = np.array([work is not None and work.flops_by_user for work in works])
        self.bytes_by_user = np.array([work is not None and work.bytes_by_user for work in works])
        self.link_bytes = _numbers(None if work is None else work.link_bytes for work in works)
        pairs = [*zip(calls, works, strict=False), (OpCall("", ()), None)]
        self.name = _call_column(pairs, lambda call, _: call.name or None)
        self.shape = _call_column(pairs, _shape)
        self.dtype = _call_column(pairs, lambda call, _: call.dtype or None)
        self.precision = _call_column(pairs, _precision)
        self.category = _call_column(pairs, lambda _, work: work.family or None if work else None)
        self.flops_rule = _call_column(pairs, lambda _, work: work.rule or None if work else None)
        self.bytes_rule = _call_column(pairs, _bytes_rule)
        self.missing = _call_column(pairs, _missing)
        self.proposal = _call_column(pairs, _proposal)
        self.proposed_flops = np.array(
            [
                np.nan if line is None else proposed_product_flops(call)
                for (call, _), line in zip(pairs, self.proposal.texts(), strict=True)
            ]
        )
        self.arguments = _call_column(pairs, _arguments)

    def assumptions(self, rows: Rows) -> list[str]:
        """Return warnings of what the work of the rows assumes."""
        codes = sorted(set(rows.call[rows.has_work].tolist()))
        works = [(self.name.at(code), self._works[code]) for code in codes]
        return [*assumption_warnings(work for _, work in works), *certainty_warnings(works)]


class _Watched(OpCall):
    """A call that records what of its step a rule reads."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"step", "nth"}:
            object.__getattribute__(self, "seen").add(name)
        return super().__getattribute__(name)


def _reads_of_step(call: OpCall, rules: Sequence[WorkRules], step: Step) -> frozenset[str]:
    """Return which of ``"step"`` and ``"nth"`` the rule of a call reads."""
    watched = _Watched.__new__(_Watched)
    seen: set[str] = set()
    object.__setattr__(watched, "seen", seen)
    for field in fields(OpCall):
        object.__setattr__(watched, field.name, {"step": step, "nth": 0}.get(field.name, getattr(call, field.name)))
    work_of(watched, rules)
    return frozenset(seen)


def dict_column(words: Sequence[str | None], codes: npt.NDArray[np.signedinteger[Any]]) -> DictColumn:
    """Return a dictionary-encoded column from texts (possibly repeated) and their codes."""
    index: Codes[str | None] = Codes()
    place = np.array([index(word) for word in words], dtype=np.int32)
    return DictColumn(tuple(index.values()), place[codes])


def with_words(column: DictColumn, replaced: Sequence[tuple[str | None, Bools]]) -> DictColumn:
    """Return the column with other words where the masks are true; later masks replace earlier ones."""
    words, codes = [*column.values], column.codes
    for word, where in replaced:
        codes = np.where(where, len(words), codes)
        words.append(word)
    return dict_column(words, codes)


def _call_column(
    pairs: Sequence[tuple[OpCall, OpWork | None]], word: Callable[[OpCall, OpWork | None], str | None]
) -> DictColumn:
    words = [word(call, work) for call, work in pairs]
    return dict_column(words, np.arange(len(words)))


def _numbers(amounts: Iterable[float | None]) -> Floats:
    return np.array([np.nan if amount is None else amount for amount in amounts], dtype=np.float64)


def _shape(call: OpCall, work: OpWork | None) -> str | None:
    detail = f"; {work.detail}" if work and work.detail else ""
    return f"{call.shape}{detail}" or None


def _missing(call: OpCall, work: OpWork | None) -> str | None:
    """Return what is missing to know the FLOPs; None if they are known."""
    if not call.name or (work is not None and work.flops is not None):
        return None
    if work is not None and work.missing:
        return work.missing
    return _SIZES if not call.dims and is_ruled(call.name) else "a rule for this operation"


def _proposal(call: OpCall, work: OpWork | None) -> str | None:
    return None if not call.name or (work is not None and work.flops is not None) else proposed_rule(call)


def _arguments(call: OpCall, work: OpWork | None) -> str | None:
    """Return the arguments of a call whose work is unknown."""
    is_known = work is not None and None not in (work.flops, work.bytes)
    return None if not call.name or is_known else call.to_text()


def _bytes_rule(_: OpCall, work: OpWork | None) -> str | None:
    if work is None:
        return None
    return work.bytes_rule or (None if work.bytes is None else COMPULSORY)


def _precision(call: OpCall, work: OpWork | None) -> str | None:
    """Return the dtype of the first floating-point tensor. In a matrix product an int8 tensor counts too.

    A rule may name another precision.
    """
    if work is not None and work.precision is not None:
        return work.precision
    found = [call.precision(position) for position, sizes in enumerate(call.dims) if sizes]
    wanted = (*_FLOATS, "int8") if work and work.family == MATRIX_PRODUCT else _FLOATS
    return next((word for word in found if word in wanted), None)


# -- rows ----------------------------------------------------------------------------------------------------------

_COPIES: Final = ("gpu_memcpy", "gpu_memset")


@dataclass
class Rows:
    """Rows of the result, with the positions of the trace rows from which they are made.

    -1 instead of a code or a position means that the row has none.

    Parameters
    ----------
    call
        Code of the call whose work the row has, shape (n,).
    time, self_time
        Microseconds, shape (n,).
    has_work
        Whether the call's work counts in this row, shape (n,).
    device
        The position in the device activity of one kernel of the row, shape (n,).
    kernels
        The kernels of the row, as a code into `kernel_words`, shape (n,).
    kernel_words
        Names of kernels, several joined by `` + ``.
    members
        The number of kernels of the row, shape (n,).
    share
        The share of the call's work that the row has, shape (n,).
    """

    call: Positions
    time: Floats
    self_time: Floats
    has_work: Bools
    device: Positions
    kernels: Positions
    kernel_words: Sequence[str]
    members: Integers
    share: Floats

    def __len__(self) -> int:
        return len(self.call)

    def where(self, kept: Bools) -> Rows:
        """Return the rows of a mask, shape (n,)."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return Rows(**{name: column if name == "kernel_words" else column[kept] for name, column in columns.items()})


def is_copy(collected: Collected) -> Bools:
    """Return a mask of device rows, shape (m,): true for copies and fills. Their events have bytes."""
    of_category = np.array([word in _COPIES for word in collected.categories.values()], dtype=np.bool_)
    return of_category[collected.device.category.integers()]


def _outermost_with_work(nest: Nest, has_work: Bools) -> Integers:
    """Return for each operation the outermost enclosing operation (or itself) with known work; -1 if there is none.

    If the work of an operation is known, it includes the work of all operations inside, so their work is not counted
    again. For example, a convolution includes the transposition inside it.
    """
    found = np.full(len(nest.parent), NONE)
    for level in nest.levels():
        above = nest.parent[level]
        outer = np.where(above >= 0, found[above], NONE)
        found[level] = np.where(outer >= 0, outer, np.where(has_work[level], level, NONE))
    return found


@dataclass(frozen=True, eq=False)
class Owners:
    """The operation that owns each row on the device.

    Parameters
    ----------
    call
        The operation's call as a code of the table of work, -1 if unknown, shape (m,).
    run
        A number for each run of an operation: an operation of a capture runs once per replay of its graph. Rows
        without an operation have a run each, shape (m,).
    is_own_work
        Whether the operation's own work counts; False if operations inside it do this work, shape (m,).
    is_replay, from_capture
        Whether a graph launched the row, and whether its operation comes from the capture of this graph, shape (m,).
    is_named
        Whether the name of its kernel agrees with the capture, shape (m,).
    """

    call: Positions
    run: Positions
    is_own_work: Bools
    is_replay: Bools
    from_capture: Bools
    is_named: Bools


def owners_of(collected: Collected, table: WorkTable, nest: Nest, launched: Launched, replays: Replays) -> Owners:
    """Return the owner of each row on the device: the innermost operation with a rule, else the launching operation."""
    is_replay, from_capture = replays.number >= 0, replays.operation >= 0
    operation = np.where(is_copy(collected), NONE, launched.operation)
    call = collected.operations.call.integers()
    n = len(operation)
    if not len(call):
        every = np.ones(n, dtype=np.bool_)
        return Owners(operation, np.arange(n), every, is_replay, from_capture, replays.is_named)
    sends = collected.messages.of_calls(len(table.sends) - 1) >= 0
    owner, outer = _with_rule(nest, (table.has_work | table.sends | sends)[call], table.is_composite[call])
    operation = np.where((operation >= 0) & (owner[operation] >= 0), owner[operation], operation)
    is_own = _is_own_work(operation, outer, call, table)
    replay = np.where(from_capture, replays.number, NONE).astype(np.int64)
    run = _numbered(np.where(operation >= 0, operation + len(call) * (replay + 1), -1 - np.arange(n)))
    owner_call = _calls_of(call, operation).astype(np.intc)
    return Owners(owner_call, run, is_own, is_replay, from_capture, replays.is_named)


def _numbered(keys: Positions) -> Positions:
    """Return the keys as numbers from 0 in their order, equal keys as equal numbers."""
    order = np.argsort(keys).astype(np.intc)
    numbers = np.empty(len(keys), dtype=np.intc)
    ordered = keys[order]
    numbers[order] = np.cumsum(np.append(False, ordered[1:] != ordered[:-1])[: len(keys)], dtype=np.intc)
    return numbers


def _with_rule(nest: Nest, has_work: Bools, is_composite: Bools) -> tuple[Positions, Positions]:
    """Return two columns: the owner of what each operation launches, and the next owner around this owner.

    -1 means none. The owner is the innermost operation with a rule. Rules of PyTorch's own operations include what
    such operations call, so of several nested ones the outermost is the owner: a convolution includes the
    transposition inside it. Rules of other libraries' operations may be rough, so a product of matrices inside one
    owns its kernels.
    """
    owner, outer = (np.full(len(nest.parent), NONE, dtype=np.intc) for _ in range(2))
    for level in nest.levels():
        above = nest.parent[level]
        around = np.where(above >= 0, owner[above], NONE)
        is_part = ~has_work[level] | ((around >= 0) & is_composite[around] & is_composite[level])
        owner[level] = np.where(is_part, around, level)
        outer[level] = np.where(is_part, np.where(above >= 0, outer[above], NONE), around)
    return owner, outer


def _is_own_work(operation: Positions, outer: Positions, call: Positions, table: WorkTable) -> Bools:
    """Return whether each row's operation does its work itself: owners inside it have less than half of its work.

    Otherwise the rows are what the operation launched beside the operations that do its work.
    """
    has_kernels = np.zeros(len(outer), dtype=np.bool_)
    has_kernels[operation[operation >= 0]] = True
    # Pairs of an owner that has kernels and each owner around it.
    inner = np.flatnonzero(has_kernels)
    around = outer[inner]
    pairs = []
    while (around >= 0).any():
        inner, around = inner[around >= 0], around[around >= 0]
        pairs.append((inner, around))
        around = outer[around]
    if not pairs:
        return np.ones(len(operation), dtype=np.bool_)
    inner, around = (np.concatenate(column) for column in zip(*pairs, strict=True))
    enclosing, place = np.unique(around, return_inverse=True)
    flops, moved = np.nan_to_num(table.flops), np.nan_to_num(table.bytes)
    inside_flops, inside_bytes = (np.bincount(place, amounts[call[inner]]) for amounts in (flops, moved))
    own_flops, own_bytes = flops[call[enclosing]], moved[call[enclosing]]
    is_done = np.where(own_flops > 0, inside_flops >= own_flops / 2, inside_bytes >= own_bytes / 2)
    return ~np.isin(operation, enclosing[is_done])


def in_steps(collected: Collected, table: WorkTable, owners: Owners, phases: Phases) -> tuple[WorkTable, Owners]:
    """Return the table of work and the owners, with a call per step where the work depends on the step."""
    reads = np.array([*map(len, table.reads_step), 0])[owners.call]
    rows = np.flatnonzero(reads)
    if not len(rows):
        return table, owners
    nth = np.where(reads[rows] > 1, _nth(collected, table, owners, phases.step, rows), NONE)
    pairs, pair = np.unique(np.stack([owners.call[rows], phases.step[rows], nth]), axis=1, return_inverse=True)
    calls = [
        replace(collected.calls[call], step=phases.steps[step] if step >= 0 else None, nth=nth if nth >= 0 else None)
        for call, step, nth in pairs.T.tolist()
    ]
    call = owners.call.copy()
    call[rows] = len(collected.calls) + pair.reshape(-1)
    return WorkTable([*collected.calls, *calls], table.rules), replace(owners, call=call)


def _nth(collected: Collected, table: WorkTable, owners: Owners, step: Positions, rows: Integers) -> Integers:
    """Return for each of the rows which run of an operation of its name the row is in its step, from 0."""
    name, run, start = table.name.codes[owners.call[rows]], owners.run[rows], collected.device.start.floats()[rows]
    begins = np.full(owners.run.max() + 1, np.inf)
    np.minimum.at(begins, run, start)
    first = begins[run]
    key = np.stack([step[rows], name])
    order = np.lexsort((run, first, *key))
    is_new = np.append(True, (np.diff(key[:, order]) != 0).any(axis=0))
    number = np.cumsum(np.append(True, np.diff(run[order]) != 0) | is_new)
    since = np.maximum.accumulate(np.where(is_new, number, 0))
    found = np.empty(len(rows), dtype=np.int64)
    found[order] = number - since
    return np.where(step[rows] >= 0, found, NONE)


def launch_rows(collected: Collected, owners: Owners) -> Rows:
    """Return a row for each launch; the longest kernel of an operation has the operation's work."""
    n, time = len(owners.run), collected.device.duration.floats()
    order = np.lexsort((-time, owners.run))
    longest = np.ones(n, dtype=np.bool_)
    longest[order[1:]] = owners.run[order[1:]] != owners.run[order[:-1]]
    rows = np.argsort(collected.device.start.floats(), kind="stable")
    time = time[rows]
    return Rows(
        owners.call[rows],
        time,
        time,
        (longest & owners.is_own_work)[rows],
        rows,
        collected.device.name.integers()[rows],
        collected.names.values(),
        np.broadcast_to(np.int64(1), n),
        np.broadcast_to(1.0, n),
    )


def in_parts(rows: Rows, table: WorkTable, owners: Owners) -> Rows:
    """Return the rows of launches, where kernels that rules call a part of an operation share its work by time."""
    whole = [next(filter(None, (whole_of(given, name) for given in table.rules)), None) for name in rows.kernel_words]
    if not any(whole):
        return rows
    pairs, pair = np.unique(np.stack([rows.kernels, table.name.codes[rows.call]]), axis=1, return_inverse=True)
    is_part = np.array(
        [_matches(table.name.values[operation], whole[kernel]) for kernel, operation in pairs.T.tolist()],
        dtype=np.bool_,
    )[pair.reshape(-1)]
    run = owners.run[rows.device]
    of_parts = np.bincount(run, np.where(is_part, rows.time, 0))[run]
    shared = of_parts > 0
    return replace(
        rows,
        has_work=np.where(shared, is_part & owners.is_own_work[rows.device], rows.has_work),
        share=np.where(shared & is_part, rows.time / np.where(shared, of_parts, 1), rows.share),
    )


def _matches(name: str | None, pattern: str | None) -> bool:
    return name is not None and pattern is not None and fnmatchcase(name, pattern)


def operation_rows(collected: Collected, owners: Owners) -> Rows:
    """Return a row per call of an operation that ran on the device, and a row per launch without operation."""
    time, name = collected.device.duration.floats(), collected.device.name.integers()
    group = owners.run
    members = np.bincount(group)
    # The first row of each run in the order of the file.
    first = np.empty(len(members), dtype=np.intc)
    first[group[::-1]] = np.arange(len(group) - 1, -1, -1)
    names = collected.names.values()
    words: Codes[str] = Codes()
    for word in names:
        words(word)
    kernels = name[first]
    order = np.lexsort((collected.device.start.floats(), group))
    begins = np.searchsorted(group[order], np.arange(len(first)))
    for row in np.flatnonzero(members > 1):
        ran = dict.fromkeys(name[order[begins[row] : begins[row] + members[row]]].tolist())
        kernels[row] = words(" + ".join(names[code] for code in ran))
    total: Floats = np.bincount(group, time, len(first)).astype(np.float64, copy=False)
    # Sort the rows by start time, because users read the launches one by one.
    rows = np.argsort(collected.device.start.floats()[first], kind="stable")
    total = total[rows]
    return Rows(
        owners.call[first][rows],
        total,
        total,
        owners.is_own_work[first][rows],
        first[rows],
        kernels[rows],
        words.values(),
        members[rows],
        np.broadcast_to(1.0, len(first)),
    )


def host_rows(collected: Collected, table: WorkTable, nest: Nest) -> Rows:
    """Return a row per call on the host, without calls inside an operation of known work."""
    operations = collected.operations
    time = operations.duration.floats()
    call = operations.call.integers()
    root = _outermost_with_work(nest, table.has_work[call])
    inner = nest.parent >= 0
    within = np.bincount(nest.parent[inner], time[inner], len(call))
    own = np.where(root >= 0, time, np.maximum(time - within, 0))
    rows = np.flatnonzero((root < 0) | (root == np.arange(len(root))))
    none, every = np.full(len(rows), NONE), np.ones(len(rows))
    return Rows(call[rows], time[rows], own[rows], every > 0, none, none, (), none, every)


def _calls_of(call: Integers, owner: Integers) -> Integers:
    return np.where(owner >= 0, call[owner], NONE) if len(call) else np.full(len(owner), NONE)
