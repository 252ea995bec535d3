"""Why kernels are slow: rules over the low-level columns of a profile. The rules are data, in `reasons.toml`.

A rule says something only if the file has every column of its conditions, and each sentence has the numbers and the
names of the counters that it is made of.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from roofwidget.chips import toml
from roofwidget.kernels.columns import Bools, DictColumn, Floats
from roofwidget.kernels.low_level import LOW_LEVEL_COLUMNS
from roofwidget.support.did_you_mean import keywords
from roofwidget.units import format_percent, format_significant

if TYPE_CHECKING:
    from roofwidget.kernels.table import Kernels

Columns: TypeAlias = Mapping[str, "Floats | DictColumn"]

MAX_TELLING: Final = 2
"""The number of low-level rows that a tooltip shows."""
_PERCENT: Final = " (%)"
_NAMED: Final = re.compile(r"\{([^{}]+)\}")
_COMPARED: Final = re.compile(r"(<=|>=|<|>)\s*(\d+(?:\.\d+)?)")
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
_DIGITS: Final = 3
# Of a share `format_percent` shows two digits, which make 12 % of an occupancy of 12.5 %.
_MORE_OF_SHARES: Final = _DIGITS - 2


@dataclass(frozen=True)
class Reason:
    """Why a kernel is slow, as counters of its profile show.

    Parameters
    ----------
    reason
        The kind, such as ``"uncoalesced loads"``.
    sentence
        What the counters say, with their numbers.
    suggestion
        What to try.
    source
        The document that the rule is from.
    values
        The numbers and texts of the sentence and of the conditions, by column of `Kernels.extra`.
    counters
        The counters of the file behind `values`, by column. A column whose counter is not known is left out.
    rows
        The columns that show the reason, the most telling one first.

    Examples
    --------
    >>> print(Reason("tail", "133 blocks.", "", "", {"blocks": 133.0}, {"blocks": "launch__grid_size"}, ("blocks",)))
    133 blocks. (launch__grid_size)
    """

    __module__ = "roofwidget"

    reason: str
    sentence: str
    suggestion: str
    source: str
    values: Mapping[str, float | str]
    counters: Mapping[str, str]
    rows: tuple[str, ...]

    def __str__(self) -> str:
        names = list(dict.fromkeys(self.counters.values()))
        return f"{self.sentence} ({', '.join(names)})" if names else self.sentence


@dataclass(frozen=True)
class Rule:
    """A rule of `reasons.toml`: the reason that a kernel has if all conditions of `where` and none of `unless` hold."""

    reason: str
    where: Mapping[str, str | list[str]]
    unless: Mapping[str, str | list[str]]
    sentence: str
    suggestion: str
    source: str
    rows: tuple[str, ...]
    translations: Mapping[str, Mapping[str, str]]

    @property
    def columns(self) -> list[str]:
        """The columns of the conditions and of the sentence, those of the sentence first."""
        return list(dict.fromkeys([*_NAMED.findall(self.sentence), *self.where]))

    def holds(self, columns: Columns, n: int) -> Bools:
        """Return a mask of the rows for which the rule says something, shape (n,)."""
        found = np.ones(n, dtype=np.bool_)
        for name, condition in self.where.items():
            found &= _fulfils(columns.get(name), condition, n)
        for name, condition in self.unless.items():
            found &= ~_fulfils(columns.get(name), condition, n)
        for name in _NAMED.findall(self.sentence):
            found &= _known(columns.get(name), n)
        return found

    def reason_of(self, columns: Columns, counters: Mapping[str, str], row: int) -> Reason:
        """Return what the rule says of a row for which it holds."""

        def shown(match: re.Match[str]) -> str:
            return _text(match[1], _value(columns[match[1]], row))

        values = {name: _value(columns[name], row) for name in self.columns}
        return Reason(
            self.reason,
            _NAMED.sub(shown, self.sentence),
            self.suggestion,
            self.source,
            MappingProxyType(values),
            MappingProxyType({name: counters[name] for name in values if counters.get(name)}),
            self.rows,
        )


@keywords("reasons")
def reasons(kernels: Kernels) -> tuple[tuple[Reason, ...], ...]:
    """Return why each kernel is slow, as far as the counters of the profile show it.

    Parameters
    ----------
    kernels
        A profile with low-level columns, as of Nsight Compute or of rocprof.

    Returns
    -------
    tuple of tuples of Reason
        For each kernel its reasons: what keeps the chip empty first, then what warps wait for, then what is busy.
        Empty where the profile has no such counters, or where they show nothing.

    Examples
    --------
    >>> import roofwidget as rw
    >>> tail = {"waves per SM": [1.01], "full waves (%)": [50.4], "SM active (%)": [50.1], "blocks": [133]}
    >>> [[one.reason for one in found] for found in reasons(rw.Kernels(["k"], [1], [1], extra=tail))]
    [['tail']]
    """
    return found_in(kernels.extra_columns, kernels.read_as, len(kernels))


def found_in(columns: Columns, counters: Mapping[str, str], n: int) -> tuple[tuple[Reason, ...], ...]:
    """Return the reasons of n rows with these columns; see `reasons`."""
    found: list[list[Reason]] = [[] for _ in range(n)]
    for rule, rows in rows_by_rule(columns, n):
        for row in rows.tolist():
            found[row].append(rule.reason_of(columns, counters, row))
    return tuple(map(tuple, found))


def rows_by_rule(columns: Columns, n: int) -> list[tuple[Rule, npt.NDArray[np.intp]]]:
    """Return the rules that say something of n rows with these columns, in their order, each with its rows.

    Of several rules of one reason the first that holds says it.
    """
    earlier: dict[str, Bools] = {}
    found: list[tuple[Rule, npt.NDArray[np.intp]]] = []
    for rule in rules():
        if not rule.where.keys() <= columns.keys():
            continue
        before = earlier.get(rule.reason, np.zeros(n, dtype=np.bool_))
        holds = rule.holds(columns, n) & ~before
        earlier[rule.reason] = before | holds
        if holds.any():
            found.append((rule, np.flatnonzero(holds)))
    return found


def telling(kernels: Kernels, row: int) -> tuple[tuple[str, str], ...]:
    """Return the low-level columns that say most about why a kernel is slow, each with its value as text.

    Parameters
    ----------
    kernels
        The kernels.
    row
        The row of the kernel.

    Returns
    -------
    tuple of pairs of text
        At most two, for a tooltip: of two reasons the first column each, of one reason its first two. Empty if nothing
        explains the kernel.

    Examples
    --------
    >>> import roofwidget as rw
    >>> tail = {"waves per SM": [1.01], "full waves (%)": [50.4], "SM active (%)": [50.1], "blocks": [133]}
    >>> telling(rw.Kernels(["k"], [1], [1], extra=tail), 0)
    (('waves per SM', '1.01'), ('SM active (%)', '50.1 %'))
    """
    one = kernels[[row]]
    (found,) = reasons(one)
    first = [reason.rows[0] for reason in found]
    rest = [name for reason in found for name in reason.rows[1:]]
    columns = one.extra_columns
    names = [name for name in dict.fromkeys([*first, *rest]) if _known(columns.get(name), 1)[0]]
    return tuple((name, _text(name, _value(columns[name], 0))) for name in names[:MAX_TELLING])


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return the packaged rules.

    Raises
    ------
    ValueError
        If a rule names a column that no reader fills, or lacks a key.
    """
    parsed = toml.parse(toml.packaged(__file__, "reasons.toml"))["rules"]
    found = tuple(Rule(**{"unless": {}, **rule, "rows": tuple(rule["rows"])}) for rule in parsed)
    for rule in found:
        unknown = {*rule.columns, *rule.unless, *rule.rows} - set(LOW_LEVEL_COLUMNS)
        if unknown:
            raise ValueError(f"reasons.toml, '{rule.reason}': there is no low-level column '{min(unknown)}'")
    return found


def _fulfils(column: Floats | DictColumn | None, condition: str | Sequence[str], n: int) -> Bools:
    if column is None:
        return np.zeros(n, dtype=np.bool_)
    if isinstance(column, DictColumn):
        wanted = {condition} if isinstance(condition, str) else set(condition)
        return column.where(lambda word: word in wanted)
    match = _COMPARED.fullmatch(str(condition))
    if match is None:
        return np.zeros(n, dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        found: Bools = _COMPARISONS[match[1]](column, float(match[2]))
    return found


def _known(column: Floats | DictColumn | None, n: int) -> Bools:
    if column is None:
        return np.zeros(n, dtype=np.bool_)
    return column.where(lambda word: word is not None) if isinstance(column, DictColumn) else ~np.isnan(column)


def _value(column: Floats | DictColumn, row: int) -> float | str:
    if isinstance(column, DictColumn):
        return str(column.values[column.codes[row]])
    return float(column[row])


def _text(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    if name.endswith(_PERCENT):
        return format_percent(value / 100, _MORE_OF_SHARES)
    return f"{value:,.0f}" if value >= 10**_DIGITS or value == int(value) else format_significant(value, _DIGITS)
