"""The work of kernels that no counter and no formula knows: FLOPs and bytes that the user gives by kernel name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from roofwidget.chips import NETWORK, is_off_chip
from roofwidget.kernels.columns import ASKED_PRECISION, MAIN_LEVEL, Bools, DictColumn, Floats, dict_encoded
from roofwidget.kernels.filters import name_search
from roofwidget.kernels.kernel import Kernel
from roofwidget.kernels.metadata import Rows
from roofwidget.kernels.unknown_work import ARGUMENTS
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import listed, nearest, unknown_keyword
from roofwidget.support.text_tables import counted, one_line

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

_FORM: Final = "must map patterns of kernels' names to the work of one launch, such as {'flash*': {'flops': '4 TFLOP'}}"
_WORDS: Final = ("flops", "bytes", "precision")
_MAX_NAMED: Final = 3
# How origins begin that a reader takes from rules by name: these numbers give way to what the user gives.
_BY_RULE: Final = re.compile(r'built-in: |estimated|[^"]{1,200}:\d+ "')
TYPED_ORIGIN: Final = "typed per launch in the widget"
"""The origin of FLOPs and bytes that a user has typed."""


@dataclass(frozen=True)
class _Work:
    """The work of one launch. None means that the user does not give this part."""

    flops: Mapping[str, float] | None
    bytes: Mapping[str, float] | None
    precision: str | None
    origin: str


def with_work(
    kernels: Kernels,
    work: Mapping[str, Any],
    as_kernel: Callable[[Any], Kernel | None],
    *,
    replace: bool = False,
) -> Kernels:
    """Return the table with FLOPs and bytes filled in; see `Kernels.with_work`.

    `as_kernel` returns the kernel of an op, and None for a value that is no op.
    """
    if not isinstance(work, Mapping):
        raise TypeError(f"work {_FORM}, got {shown_value(work)}")
    filled = _Filled(kernels, replace=replace, over_rules=True)
    warnings = [message for pattern, value in work.items() for message in _fill(filled, pattern, value, as_kernel)]
    launches, owners = kernels.launches_with_rows()
    if launches is not None:
        launches = with_work(launches, work, as_kernel, replace=replace).replace(warnings=launches.warnings)
    return filled.table(warnings, launches=launches, launch_rows=owners)


def with_typed_work(kernels: Kernels, typed: Mapping[int, Mapping[str, float]]) -> Kernels:
    """Return the table with typed FLOPs and bytes where these are unknown.

    `typed` has ``"flops"`` and ``"bytes"`` of one launch by row. `js/src/roofline/typed_work.ts` mirrors this function.
    """
    filled = _Filled(kernels, replace=False)
    for row, amounts in typed.items():
        if row < len(kernels):
            flops, moved = amounts.get("flops"), amounts.get("bytes")
            work = _Work(
                None if flops is None else {ASKED_PRECISION: flops},
                None if moved is None else {MAIN_LEVEL: moved},
                None,
                TYPED_ORIGIN,
            )
            filled.put(np.array([row]), work)
    launches, owners = kernels.launches_with_rows()
    if launches is not None:
        of_launches = {at: typed[row] for at, row in enumerate(owners.tolist()) if row in typed}
        launches = with_typed_work(launches, of_launches)
    return filled.table([], launches=launches, launch_rows=owners)


class NamedWork(NamedTuple):
    """The work of one launch of the kernels of a name; None for a part that is not given."""

    flops: float | None
    bytes: float | None
    precision: str | None
    flops_origin: str
    bytes_origin: str
    link_bytes: float | None = None
    vector: bool = False
    category: str | None = None
    is_precision_typed: bool = False


NamedWorkOf: TypeAlias = "Callable[[str, str | None], NamedWork | None]"
"""Returns the work of a kernel of a name, whose call has these arguments (`ARGUMENTS`) if they are known."""


def with_named_work(kernels: Kernels, work_of: NamedWorkOf) -> Kernels:
    """Return the table with unknown FLOPs and bytes filled in by `work_of`.

    A row whose launches have different arguments gets the sum of what its launches get.
    """
    filled = _Filled(kernels, replace=False)
    names, arguments = kernels.codes("name"), kernels.extra_columns.get(ARGUMENTS)
    has_arguments = isinstance(arguments, DictColumn)
    texts = arguments if isinstance(arguments, DictColumn) else DictColumn((None,), np.zeros_like(names.codes))
    unknown = np.flatnonzero(np.isnan(kernels.flops) | np.isnan(kernels.bytes))
    pairs, pair = np.unique(np.stack([names.codes[unknown], texts.codes[unknown]]), axis=1, return_inverse=True)
    category = kernels.category.tolist()
    for at, (name, text) in enumerate(pairs.T.tolist()):
        work = work_of(str(names.values[name]), texts.values[text])
        if work is not None:
            rows = unknown[pair.reshape(-1) == at]
            filled.put_named(rows, work)
            for row in rows.tolist():
                category[row] = category[row] or work.category
    launches, owners = kernels.launches_with_rows()
    if launches is not None and (filled.changed or has_arguments):
        before, launches = launches, with_named_work(launches, work_of)
        if launches is not before:
            filled.add_up(launches, owners)
    return filled.table([], category=category, launches=launches, launch_rows=owners) if filled.changed else kernels


def _is_by_rule(kernels: Kernels, field: str) -> Bools:
    """Return a mask of the rows whose number a rule by name gave."""
    if field not in kernels.origin:
        return np.zeros(len(kernels), dtype=np.bool_)
    return kernels.codes(f"origin:{field}").where(lambda text: _BY_RULE.match(text or "") is not None)


def _fill(filled: _Filled, pattern: Any, value: Any, as_kernel: Callable[[Any], Kernel | None]) -> list[str]:
    """Fill in the work that one pattern gives, and return warnings."""
    if not isinstance(pattern, str):
        raise TypeError(f"work {_FORM}; {shown_value(pattern)} is no pattern")
    names = filled.kernels.codes("name")
    rows = np.flatnonzero(names.where(name_search(pattern)))
    is_function = callable(value) and as_kernel(value) is None
    given = None if is_function else _work_of(value, pattern, as_kernel)
    if not len(rows):
        known = list(dict.fromkeys(name for name in names.values if name))
        close = [one_line(name) for name in (nearest(pattern.replace("*", ""), known) or known)[:_MAX_NAMED]]
        return [f"work: no kernel's name matches '{pattern}'" + (f"; there are {listed(close)}" if close else "")]
    if given is None:
        for row in rows.tolist():
            found = value(filled.kernels[row])
            if found is not None:
                filled.put(np.array([row]), _work_of(found, pattern, as_kernel, is_computed=True))
        return []
    if filled.put(rows, given):
        return []
    what = f"work: '{pattern}' has no effect: the work of {counted(len(rows), 'kernel')} that it matches is known"
    return [f"{what}; with_work(work, replace=True) replaces it"]


class _Filled:
    """The columns of a table, into which work is filled. The first pattern that fills a part of a row counts."""

    def __init__(self, kernels: Kernels, *, replace: bool, over_rules: bool = False) -> None:
        self.kernels = kernels
        self._replace = replace
        self._flops = {key: column.copy() for key, column in kernels.flops_by_precision.items()}
        self._bytes = {key: column.copy() for key, column in kernels.bytes_by_level.items()}
        n = len(kernels)
        every = np.ones(n, dtype=np.bool_)
        self._open_flops = every if replace else np.isnan(kernels.flops)
        self._open_main = every.copy() if replace else np.isnan(kernels.bytes)
        if over_rules:
            self._open_flops = self._open_flops | _is_by_rule(kernels, "flops")
            self._open_main = self._open_main | _is_by_rule(kernels, "bytes:main")
        self._open_levels: dict[str, Bools] = {}
        self._precision = kernels.precision.tolist()
        self._origin: dict[str, list[str | None]] = {}
        self.changed = False
        memories = [level.casefold() for level in kernels.chip.memories] if kernels.chip is not None else []
        self._other_memories = frozenset(memories[1:])

    def put(self, rows: Rows, work: _Work) -> int:
        """Fill in the work of one launch times the number of launches. Return how many rows it changed."""
        changed = np.zeros(len(self.kernels), dtype=np.bool_)
        if work.flops is not None:
            how: dict[str, Any] = {"field": "flops", "origin": work.origin, "replaced": list(self._flops)}
            changed[self._put(rows, self._open_flops, self._flops, work.flops, **how)] = True
            for row in np.flatnonzero(changed).tolist():
                if work.precision is not None and (self._replace or self._precision[row] is None):
                    self._precision[row] = work.precision
        main = {level: amount for level, amount in (work.bytes or {}).items() if self._is_main(level)}
        if main:
            how = {"field": "bytes", "origin": work.origin, "replaced": list(filter(self._is_main, self._bytes))}
            changed[self._put(rows, self._open_main, self._bytes, main, **how)] = True
        for level, amount in (work.bytes or {}).items():
            if level not in main:
                how = {"field": f"bytes:{level}", "origin": work.origin}
                changed[self._put(rows, self._open_level(level), self._bytes, {level: amount}, **how)] = True
        self.changed |= bool(changed.any())
        return int(changed.sum())

    def put_named(self, rows: Rows, work: NamedWork) -> None:
        """Fill in the work of a name."""
        moved = {
            level: amount
            for level, amount in ((MAIN_LEVEL, work.bytes), (NETWORK, work.link_bytes))
            if amount is not None
        }
        flops = None if work.flops is None else {"vector" if work.vector else ASKED_PRECISION: work.flops}
        for row in rows[self._open_flops[rows]].tolist() if work.is_precision_typed else []:
            self._precision[row] = work.precision
        self.put(rows, _Work(flops, None, work.precision, work.flops_origin))
        self.put(rows, _Work(None, moved or None, work.precision, work.bytes_origin))

    def add_up(self, launches: Kernels, owners: Rows) -> None:
        """Fill in the sums over the launches, whose rows are `owners`, in the rows that are still unknown."""
        for field, is_open, columns, of_launches in (
            ("flops", self._open_flops, self._flops, launches.flops_by_precision),
            ("bytes", self._open_main, self._bytes, launches.bytes_by_level),
        ):
            total = launches.flops if field == "flops" else launches.bytes
            origins = launches.codes(f"origin:{'flops' if field == 'flops' else 'bytes:main'}")
            for row in np.flatnonzero(is_open & np.isin(np.arange(len(is_open)), owners)).tolist():
                own = np.flatnonzero(owners == row)
                if not np.isnan(total[own]).any():
                    sums = {key: float(column[own].sum()) for key, column in of_launches.items()}
                    for key, amount in sums.items():
                        if not np.isnan(amount):
                            self._column(columns, key)[row] = amount
                    self._note(field, [], np.array([row]), origins.at(int(own[0])) or "")
                    is_open[row] = False
                    self.changed = True

    def table(self, warnings: Sequence[str], **changes: Any) -> Kernels:
        origin: dict[str, Any] = {key: self.kernels.codes(f"origin:{key}") for key in self.kernels.origin}
        origin |= {key: dict_encoded(texts) for key, texts in self._origin.items()}
        return self.kernels.replace(
            flops=self._flops,
            bytes=self._bytes,
            precision=self._precision,
            origin=origin,
            warnings=[*self.kernels.warnings, *warnings],
            **changes,
        )

    def _put(
        self,
        rows: Rows,
        is_open: Bools,
        columns: dict[str, Floats],
        amounts: Mapping[str, float],
        *,
        field: str,
        origin: str,
        replaced: Iterable[str] = (),
    ) -> Rows:
        """Fill in amounts in the rows that are open, in place of the columns `replaced`. Return these rows."""
        rows = rows[is_open[rows]]
        is_open[rows] = False
        for key in replaced:
            columns[key][rows] = np.nan
        for key, amount in amounts.items():
            self._column(columns, key)[rows] = amount * self.kernels.count[rows]
        self._note(field, [f"{field}:{key}" for key in replaced], rows, origin)
        return rows

    def _is_main(self, level: str) -> bool:
        """Return whether the level is a name of the main memory."""
        return is_off_chip(level) and level.casefold() not in self._other_memories

    def _open_level(self, level: str) -> Bools:
        key = level.casefold()
        if key not in self._open_levels:
            column = self._column(self._bytes, level)
            self._open_levels[key] = np.ones(len(column), dtype=np.bool_) if self._replace else np.isnan(column)
        return self._open_levels[key]

    def _column(self, columns: dict[str, Floats], key: str) -> Floats:
        name = next((other for other in columns if other.casefold() == key.casefold()), key)
        return columns.setdefault(name, np.full(len(self.kernels), np.nan))

    def _note(self, field: str, parts: Iterable[str], rows: Rows, origin: str) -> None:
        """Set the origin of a field. The origins of its parts, such as ``flops:fp16``, no longer hold in these rows."""
        if not len(rows):
            return
        for key in (field, *(part for part in parts if part in self.kernels.origin)):
            texts = self._origin.setdefault(key, self._origins_before(key))
            for row in rows.tolist():
                texts[row] = origin if key == field else None

    def _origins_before(self, key: str) -> list[str | None]:
        before = self.kernels.origin.get(key)
        return [None] * len(self.kernels) if before is None else before.tolist()


def _work_of(
    value: Any, pattern: str, as_kernel: Callable[[Any], Kernel | None], *, is_computed: bool = False
) -> _Work:
    """Return the checked work of one launch that the user gives, or that a function of the user computes."""
    what = f"work['{pattern}']"
    origin = f"{'computed' if is_computed else 'given'} per launch by {what}"
    op = as_kernel(value)
    if op is not None:
        return _Work(
            _by_key(op.flops, ASKED_PRECISION),
            _by_key(op.bytes, MAIN_LEVEL),
            op.precision,
            f"{origin}, op '{one_line(op.name)}'",
        )
    if not isinstance(value, Mapping):
        or_else = "None" if is_computed else "a function of the row"
        raise TypeError(f"{what} must be a dict with 'flops' and 'bytes', an op or {or_else}, got {shown_value(value)}")
    for word in value:
        if word not in _WORDS:
            raise unknown_keyword(what, str(word), _WORDS)
    if value.get("flops") is None and value.get("bytes") is None:
        raise ValueError(f"{what} gives neither 'flops' nor 'bytes' of one launch")
    try:
        kernel = Kernel(pattern, value.get("flops"), value.get("bytes"), precision=value.get("precision"))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from None
    flops = _by_key(kernel.flops, ASKED_PRECISION)
    named = {key: amount for key, amount in (flops or {}).items() if key}
    precision = kernel.precision or (max(named, key=named.__getitem__) if named else None)
    return _Work(flops, _by_key(kernel.bytes, MAIN_LEVEL), precision, origin)


def _by_key(amount: float | Mapping[str, float] | None, plain: str) -> Mapping[str, float] | None:
    return {plain: amount} if isinstance(amount, (int, float)) else amount
