"""Checks of a bank of questions over many seeds: rules, texts, and how many variants there are."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from roofwidget.teaching.bank.entries import Entry, EntryError
from roofwidget.teaching.bank.exercise import Draw

SEEDS: Final = 500
VARIANT_SEEDS: Final = 2000
"""Variants are counted over this many seeds."""
MIN_PROMPTS: Final = 1000
MIN_EFFECTIVE: Final = 20
MARKED_TOLERANCE: Final = math.log2(1.01)
"""The tolerance |log2| of marked sheets, within which two answers are one."""
_MAX_LENGTH: Final = 1.5
_MADE_SEEDS: Final = range(20)


@dataclass(frozen=True)
class Finding:
    """What a check found of an entry.

    Attributes
    ----------
    key
        The key of the entry.
    seeds
        How many seeds were drawn.
    prompts
        How many different prompts they have.
    effective
        1 over the probability that the answers of two seeds are within 1 % of each other; NaN for a choice.
    is_fixed
        Whether the entry is a choice or a drag, or its file calls it fixed.
    faults
        A sentence for each fault, with the file, the line, the key and the field.
    """

    key: str
    seeds: int
    prompts: int
    effective: float
    is_fixed: bool
    faults: tuple[str, ...]


def check(entries: Sequence[Entry], seeds: int = SEEDS) -> list[Finding]:
    """Return what is found of each entry with the printed numbers and with those of the seeds 0, 1, 2 and so on.

    Parameters
    ----------
    entries
        Of one bank: no two of their questions with the same seed may have the same prompt, nor the same key.
    seeds
        How many seeds are checked. Variants are counted over at least 2,000.
    """
    first: dict[tuple[int, str], str] = {}
    keys = Counter(one.key for one in entries)
    return [_Checked(entry, seeds, first, is_twice=keys[entry.key] > 1).finding() for entry in entries]


def effective_variants(answers: Sequence[float]) -> float:
    """Return 1 over the probability that two of the answers are within the tolerance |log2| of each other.

    Examples
    --------
    >>> effective_variants([1.0, 1.0, 2.0, 2.0])
    3.0
    """
    logs = np.sort(np.log2(np.asarray(answers, dtype=float)))
    ends = np.searchsorted(logs, logs + MARKED_TOLERANCE, side="right")
    near = int((ends - np.arange(len(logs)) - 1).sum())
    return math.comb(len(logs), 2) / near if near else math.inf


class _Checked:
    """The check of one entry. `first` has the key that had a prompt first, by seed and prompt."""

    def __init__(self, entry: Entry, seeds: int, first: dict[tuple[int, str], str], *, is_twice: bool) -> None:
        self.entry, self.first = entry, first
        self.seeds = seeds if entry.is_fixed else max(seeds, VARIANT_SEEDS)
        self.faults: dict[str, None] = {}
        self.places: set[int] = set()
        if is_twice:
            self._fault("", "two entries have this key; give one of them another")

    def _fault(self, part: str, what: object) -> None:
        self.faults[str(self.entry.where.wrong(self.entry.key, part, what))] = None

    def finding(self) -> Finding:
        prompts: set[str] = set()
        answers: list[float] = []
        effective = math.nan
        try:
            self._printed()
            for seed in range(self.seeds):
                values = self.entry.values(Draw(seed, self.entry.key))
                prompt = self._prompt(seed, values)
                prompts.add(prompt)
                answers += [values["answer"]] if "answer" in values else []
                self._wrong_answers(values)
                self._options(values)
            for seed in (None, *_MADE_SEEDS):
                question = self.entry.question(seed)
                if question.options:
                    self.places.add(list(question.options).index(question.answer))
            effective = self._variants(prompts, answers)
        except EntryError as error:
            self.faults[str(error)] = None
        except (ArithmeticError, TypeError, ValueError) as error:
            self._fault("", error)
        return Finding(self.entry.key, self.seeds, len(prompts), effective, self.entry.is_fixed, tuple(self.faults))

    def _printed(self) -> None:
        values = self.entry.values(Draw(None, self.entry.key))
        for part, what in self.entry.broken(values):
            if part not in ("require", "wrong"):
                self._fault(part, f"with the printed numbers {what}")
        for option in self.entry.parts.options:
            if option.right.compares and not self.entry.parts.apart:
                self._fault(
                    "options", f"'{option.right.text}' compares: give under 'apart' the ratio that is not near 1"
                )

    def _prompt(self, seed: int, values: Mapping[str, Any]) -> str:
        prompt = self.entry.parts.texts["prompt"](values)
        other = self.first.setdefault((seed, prompt), self.entry.key)
        if other != self.entry.key:
            self._fault("prompt", f"with the seed {seed} '{other}' has the same prompt; say what is different")
        return prompt

    def _wrong_answers(self, values: Mapping[str, Any]) -> None:
        for expression, _ in self.entry.parts.wrong:
            if not 0 < expression(values) < math.inf:
                self._fault("wrong", f"'{expression.text}' is not always a finite number above zero")

    def _options(self, values: Mapping[str, Any]) -> None:
        texts = [text for text, _, _ in self.entry.options(values)]
        for at, text in enumerate(texts):
            others = [len(other) for other in (*texts[:at], *texts[at + 1 :])]
            if others and len(text) > _MAX_LENGTH * statistics.median(others):
                self._fault("options", f"'{text}' is over {_MAX_LENGTH:g} times as long as the others; shorten it")

    def _variants(self, prompts: set[str], answers: Sequence[float]) -> float:
        if len(self.places) == 1:
            self._fault("options", "the right option is always at the same place; write it so that it can be elsewhere")
        if not answers:
            return math.nan
        effective = effective_variants(answers)
        if not self.entry.is_fixed and (len(prompts) < MIN_PROMPTS or effective < MIN_EFFECTIVE):
            self._fault(
                "draw",
                f"{self.seeds} seeds have {len(prompts)} prompts and {effective:.0f} different answers, and marks need "
                f"{MIN_PROMPTS} and {MIN_EFFECTIVE}; widen the draws, or write fixed = true",
            )
        return effective


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a table of findings as lines, and then the faults."""
    found = list(findings)
    width = max((len(one.key) for one in found), default=0)
    yield f"{'key':{width}}  {'seeds':>6} {'prompts':>8} {'answers':>8}"
    for one in found:
        effective = "" if math.isnan(one.effective) else f"{one.effective:.0f}"
        note = "  fixed" if one.is_fixed else ""
        yield f"{one.key:{width}}  {one.seeds:6} {one.prompts:8} {effective:>8}{note}".rstrip()
    yield from (fault for one in found for fault in one.faults)
