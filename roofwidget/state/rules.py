"""Rules of work that a person writes in the page: what a rule says of a table, and the file that keeps the rules."""

from __future__ import annotations

import functools
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from roofwidget import readers
from roofwidget.chips import toml
from roofwidget.kernels.columns import DictColumn
from roofwidget.kernels.non_kernels import is_idle
from roofwidget.kernels.unknown_work import ARGUMENTS
from roofwidget.kernels.work import NamedWork, with_named_work
from roofwidget.state.field import Refused
from roofwidget.support.text_tables import one_line

if TYPE_CHECKING:
    from roofwidget.kernels.metadata import Rows
    from roofwidget.kernels.table import Kernels
    from roofwidget.readers.torch.calls import OpWork
    from roofwidget.readers.torch.rules import WorkRules

RulesByName: TypeAlias = Mapping[str, str]
"""Lines of a file of rules by the name of the kernels for which a person has written them."""

FILE: Final = "work.toml"
"""The name of a file of rules beside a profile."""
MAX_LETTERS: Final = 100_000
"""The most letters of all rules in force."""
_MAX_READ_LETTERS: Final = 200
# A rule may go on in lines that begin with a space: TOML itself wants an inline table in one line.
_CONTINUED: Final = re.compile(r"\r?\n[ \t]+")
_OPEN: Final = re.compile(r'([A-Za-z_]+)\s*=\s*"\?"')


def read_only_rules(given: Any) -> RulesByName:
    """Return rules by name as a read-only mapping.

    Raises
    ------
    TypeError, ValueError
        If `given` is not a mapping from names to texts, the texts are too long, or a text is no rule.
    """
    if not isinstance(given, Mapping) or not all(isinstance(part, str) for one in given.items() for part in one):
        raise TypeError(f"expected a mapping from names to lines of a file of rules, got {given!r:.60}")
    if (letters := sum(map(len, given.values()))) > MAX_LETTERS:
        raise ValueError(f"{letters:,} letters of rules; at most {MAX_LETTERS:,} are taken")
    for text in given.values():
        parsed(text)
    return MappingProxyType(dict(given))


@functools.lru_cache(maxsize=1024)
def parsed(text: str) -> WorkRules:
    """Return the rules of a text. The lines in its messages are those of the text.

    Raises
    ------
    readers.ProfileError
        If the text is no TOML, or a rule is invalid. The message names the line and the pattern.
    """
    lines = [match.group(1) for match in _OPEN.finditer(text)]
    if lines:
        line = text.count("\n", 0, _OPEN.search(text).start()) + 1  # type: ignore[union-attr]
        raise readers.ProfileError(
            FILE, f'write a number or an expression for "?": {", ".join(lines)}', place=f"line {line}"
        )
    found: WorkRules = readers.rules_module().WorkRules.from_text(_CONTINUED.sub(" ", text), FILE)
    return found


def with_rules(kernels: Kernels, rules: RulesByName) -> Kernels:
    """Return the table with what the rules say of rows of unknown work. Rules that do not fit a row do not count."""
    found = [parsed(text) for text in rules.values()]

    def work_of(name: str, arguments: str | None) -> NamedWork | None:
        each = (readers.rules_module().named_work(one, name, arguments) for one in found)
        return next((work for work in each if work is not None), None)

    return with_named_work(kernels, work_of)


def effect(
    kernels: Kernels,
    rules: RulesByName,
    name: str,
    text: str,
    judged: Callable[[Kernels], tuple[Any, float]],
) -> dict[str, Any]:
    """Return what a rule says of the rows of a name whose work is unknown, as a page receives it.

    Parameters
    ----------
    kernels
        The kernels without rules.
    rules
        The rules in force. The rule of this name among them is replaced.
    name, text
        The name, and the lines of the rule.
    judged
        Returns the bound of a table, None without a roof, and the time of kernels whose roof is known.

    Returns
    -------
    dict
        FLOPs and bytes of all calls (null if unknown), the number of `calls`, the share of the `peak` and of the
        `roof`, the `chip` and the `precision` of the peak, the `known` share of kernel time before and after, whether
        the numbers are `at_least` what is done, how FLOPs (or bytes) are counted (`read`), and the keys that a person
        has `typed`.

    Raises
    ------
    Refused
        If the text is no rule, no rule is for this name, or the rule does not fit a call. The message says the line.
    """
    try:
        found = parsed(text)
        rows = rows_of(kernels, name, found)
        works = _works(kernels, rows, found)
    except readers.ProfileError as error:
        raise Refused(": ".join(filter(None, ((error.place or "").capitalize(), error.reason)))) from None
    if not works and any("part_of" in keys for keys in found.values()):
        raise Refused(
            f"part_of shares work when a profile is read: copy the line to {FILE}, and read the profile again"
        )
    if not works:
        begin = readers.rules_module().rule_line(name, {}).removesuffix("{  }")
        raise Refused(f"no rule is for this name; begin the line with {begin}{{")
    others = {key: one for key, one in rules.items() if key != name}
    before, after = with_rules(kernels, others), with_rules(kernels, {**others, name: text})
    own = after[rows]
    if np.isnan(own.flops).all() and np.isnan(own.bytes).all():
        missing = next((work.missing for work in works if work.missing), "")
        raise Refused(f"Line 1: {missing or 'the rule gives no FLOPs and no bytes of these calls'}")
    time = float(np.nan_to_num(own.self_time).sum())
    bound, _ = judged(own)
    total = max(_kernel_time(kernels), math.ulp(0))
    origin = own.codes("origin:flops").at(0) or own.codes("origin:bytes:main").at(0) or own.codes("origin:bytes").at(0)
    return {
        "flops": _total(own.flops),
        "bytes": _total(own.bytes),
        "calls": float(own.count.sum()),
        "time": time,
        "known": [judged(before)[1] / total, judged(after)[1] / total],
        "at_least": any(
            certainty is not certainty.EXACT
            for work in works
            for amount, certainty in ((work.flops, work.flops_are), (work.bytes, work.bytes_are))
            if amount is not None
        ),
        "read": one_line((origin or "").partition('": ')[2].partition("; ")[0], _MAX_READ_LETTERS),
        "typed": [key for each in found.values() for key, value in each.items() if _is_typed(key, value)],
        **_shares(own, bound, time),
    }


def rows_of(kernels: Kernels, name: str, rules: WorkRules) -> Rows:
    """Return the rows of a name whose FLOPs or bytes are unknown, longest time first.

    If no kernel has the name, it is the pattern of a rule: then these are the rows for which `rules` has a rule.
    """
    unknown = np.isnan(kernels.flops) | np.isnan(kernels.bytes)
    named = unknown & kernels.codes("name").where(lambda one: one == name)
    if not named.any():
        given = with_named_work(kernels, functools.partial(readers.rules_module().named_work, rules))
        named = (np.isnan(kernels.flops) & ~np.isnan(given.flops)) | (np.isnan(kernels.bytes) & ~np.isnan(given.bytes))
    rows = np.flatnonzero(named)
    return rows[np.argsort(-np.nan_to_num(kernels.self_time[rows]), kind="stable")]


def _works(kernels: Kernels, rows: Rows, rules: WorkRules) -> list[OpWork]:
    """Return the work of each different call of the rows for which there is a rule."""
    found = []
    for name, arguments in dict.fromkeys(_calls(kernels, rows)):
        work = readers.rules_module().checked_work(rules, name, arguments)
        found += [] if work is None else [work]
    return found


def _calls(kernels: Kernels, rows: Rows) -> Iterator[tuple[str, str | None]]:
    launches, owners = kernels.launches_with_rows()
    is_mixed = launches is not None and ARGUMENTS in launches.extra_columns
    parts = [kernels[rows], *([launches[np.flatnonzero(np.isin(owners, rows))]] if launches and is_mixed else [])]
    for at, part in enumerate(parts):
        texts = part.extra_columns.get(ARGUMENTS)
        words = texts.texts() if isinstance(texts, DictColumn) else [None] * len(part)
        for name, arguments in zip(part.names.tolist(), words, strict=True):
            if arguments is not None or (at == 0 and not is_mixed):
                yield str(name), arguments


def _kernel_time(kernels: Kernels) -> float:
    return float(np.nan_to_num(kernels.self_time)[~kernels.codes("category").where(is_idle)].sum())


def _total(column: Any) -> float | None:
    return None if np.isnan(column).all() else float(np.nansum(column))


def _shares(own: Kernels, bound: Any, time: float) -> dict[str, Any]:
    """Return the shares of the peak and of the roof, and what the peak is; null without a roof or a time."""
    shares: dict[str, Any] = dict.fromkeys(("peak", "roof", "chip", "precision"))
    if bound is None or not time:
        return shares
    known = ~np.isnan(bound.peak) & ~np.isnan(bound.measured) & ~np.isnan(own.flops)
    judged = ~np.isnan(bound.time) & ~np.isnan(bound.measured)
    possible = float((bound.peak[known] * bound.measured[known]).sum())
    if possible:
        shares["peak"] = float(own.flops[known].sum()) / possible
    if judged.any():
        shares["roof"] = float(bound.time[judged].sum() / bound.measured[judged].sum())
    precision = own.precision[0] or bound.precision
    return {**shares, "chip": one_line(bound.chip.name), "precision": one_line(str(precision))}


def _is_typed(key: str, value: object) -> bool:
    return (
        isinstance(value, (int, float, tuple))
        and not isinstance(value, bool)
        and key in readers.rules_module().amounts()
    )


# -- the file -----------------------------------------------------------------------------------------------------


def rules_in(text: str) -> dict[str, str]:
    """Return the rules of a file, one line by pattern.

    Raises
    ------
    Refused
        If the text is no file of rules. The message says the line.
    """
    try:
        found = readers.rules_module().WorkRules.from_text(text, FILE)
    except readers.ProfileError as error:
        raise Refused(str(error)) from None
    return lines_of(found)


def lines_of(rules: WorkRules) -> dict[str, str]:
    """Return each rule in one line, by pattern."""
    return {pattern: readers.rules_module().rule_line(pattern, keys) for pattern, keys in rules.items()}


def merged(before: str, lines: Mapping[str, str]) -> str:
    """Return the text of a file of rules with these lines, by pattern.

    A rule of the same pattern is replaced; all else stays.

    Raises
    ------
    Refused
        If the file is no file of rules, or has one of the patterns in a form other than one line.
    """
    text = before if not before or before.endswith("\n") else f"{before}\n"
    for pattern, line in lines.items():
        text = _with_line(text, pattern, line)
    rules_in(text)
    return text


def _with_line(text: str, pattern: str, line: str) -> str:
    known = rules_in(text)
    if pattern not in known:
        return f"{text}{line}\n"
    lines = text.split("\n")
    at = toml.line_of(toml.line_numbers(text), (pattern,)) - 1
    try:
        is_alone = list(rules_in(lines[at])) == [pattern]
    except Refused:
        is_alone = False
    if not is_alone:
        raise Refused(
            f"{FILE}: line {at + 1}: the rule for {one_line(pattern)} is not in one line; edit it in the file"
        )
    lines[at] = line
    return "\n".join(lines)


def save(folder: Path, lines: Mapping[str, str]) -> None:
    """Write lines of rules, by pattern, to the file in a folder, whose other lines stay.

    The file is replaced at once, or not at all.

    Raises
    ------
    OSError
        If the file cannot be written.
    Refused
        As `merged`.
    """
    file = folder / FILE
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    text = merged(before, lines)
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{FILE}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(name).chmod(file.stat().st_mode & 0o777 if file.exists() else 0o644)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
