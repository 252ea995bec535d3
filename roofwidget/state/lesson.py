"""Lessons: a script with its steps, answers, and what a learner may change."""

from __future__ import annotations

import contextlib
import json
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from roofwidget import units, wire
from roofwidget.state.field import Field, Refused, put
from roofwidget.state.forms import optional, step_number
from roofwidget.state.what_if import QUANTITIES, parsed_rate
from roofwidget.support.did_you_mean import did_you_mean, listed

if TYPE_CHECKING:
    from roofwidget.state.state import State

LOCKS: Final = (
    *("peak_flops", "bandwidth", "chips", "precision", "memory", "partition", "dims"),
    *("phase", "moves", "filters", "view"),
)
"""What `locks` can hold."""
PANELS: Final = (
    *("chips", "hardware", "workload", "fusion", "projection", "filters", "comparison", "table", "sentence", "tools"),
)
"""What `hidden_panels` can hold."""
TERMS: Final[Mapping[str, tuple[str, ...]]] = {
    "intensity": ("arithmetic", "operational"),
    "ridge": ("ridge point", "knee", "machine balance"),
}
"""The words between which a lecturer can choose. The first of each is the default."""
MAX_ATTEMPTS: Final = 1000
"""The most answers to one question."""
MAX_ANSWERS_BYTES: Final = 1_000_000
"""The most bytes of all answers as JSON."""

# Each step sets these traits, and those that a step of the script changes. A trait that no step has changed gets the
# value that it had when the script was made.
ALWAYS_RESTORED: Final = (
    *("phase", "partition", "dims", "convention", "dtype", "shown", "focus_chip", "precision", "memory"),
    *("link", "topology", "what_if", "typed_work", "moves", "selected", "view", "zoom", "search"),
)


_TEXTS_OF_QUESTION: Final = ("key", "prompt", "explanation")


@dataclass(frozen=True)
class ScriptStep:
    """A step of a script.

    Attributes
    ----------
    caption
        The text, as Markdown.
    changes
        Values on the wire of the traits that differ from the script's own values.
    question
        The record of a question, or None.
    hides
        The names of kernels whose points are hidden until the question is answered; True for all kernels.
    recalls
        The key of an earlier question whose answer is shown; "" for none.
    keeps_hidden
        Whether what the question hides stays hidden after its answer.
    """

    caption: str
    changes: Mapping[str, Any]
    question: Mapping[str, Any] | None = None
    hides: bool | tuple[str, ...] = False
    recalls: str = ""
    keeps_hidden: bool = False


@dataclass(frozen=True)
class Script:
    """The steps of a story as the front end needs them.

    Attributes
    ----------
    base
        Values on the wire of all traits that a step sets.
    steps
        The steps in order.
    """

    base: Mapping[str, Any]
    steps: tuple[ScriptStep, ...]

    def at(self, step: int) -> dict[str, Any]:
        """Return the values of all traits that a step sets, on the wire."""
        return {**self.base, **self.steps[step].changes}

    @property
    def questions(self) -> list[Mapping[str, Any]]:
        """The records of the questions, in the order of the steps."""
        return [step.question for step in self.steps if step.question is not None]

    def to_record(self) -> dict[str, Any]:
        """Return the script as JSON can hold it."""
        steps = [
            {
                "caption": step.caption,
                "changes": dict(step.changes),
                "question": step.question,
                "hides": step.hides if isinstance(step.hides, bool) else list(step.hides),
                **({"recalls": step.recalls} if step.recalls else {}),
                **({"keeps_hidden": True} if step.keeps_hidden else {}),
            }
            for step in self.steps
        ]
        return {"base": dict(self.base), "steps": steps}


def script_of(value: Any) -> Script:
    """Return a script, or the script of a record. Raise `TypeError` for anything else."""
    if isinstance(value, Script):
        return value
    try:
        script = Script(dict(value["base"]), tuple(map(_step_of, value["steps"])))
    except (LookupError, TypeError, ValueError):
        script = None
    if script is None or not script.steps:
        raise TypeError(f"expected what rw.Story makes, got {value!r:.60}")
    return script


def _step_of(record: Mapping[str, Any]) -> ScriptStep:
    hides = record["hides"]
    return ScriptStep(
        str(record["caption"]),
        dict(record["changes"]),
        _question_of(record["question"]),
        hides if isinstance(hides, bool) else tuple(map(str, hides)),
        str(record.get("recalls", "")),
        record.get("keeps_hidden") is True,
    )


def _question_of(record: Any) -> Mapping[str, Any] | None:
    """Return the record of a question. Raise `TypeError` if a text is missing that every question has."""
    if record is None:
        return None
    if not isinstance(record, Mapping) or not all(isinstance(record.get(key), str) for key in _TEXTS_OF_QUESTION):
        raise TypeError(f"expected the record of a question, got {record!r:.60}")
    return record


def hides_headline(question: Mapping[str, Any] | None) -> bool:
    """Return whether the verdict on a chart is hidden while a question is open, as `hintsTo` of the page does."""
    return question is not None and not question.get("reading")


def hides_numbers(question: Mapping[str, Any] | None) -> bool:
    """Return whether the numbers of kernels are hidden too. The kernel of a marker has no row on the page."""
    is_of_roof = question is not None and (question.get("kind") == "merge" or question.get("on") in QUANTITIES)
    return hides_headline(question) and not is_of_roof


def answer_text(kind: str, answer: Any, unit: str) -> str:
    """Return the right answer of a question as text, such as "166.3 FLOP/B"."""
    if kind == "choice":
        return str(answer)
    if kind == "merge":
        return " | ".join(" + ".join(group) for group in answer)
    if unit == "FLOP/B":
        return units.format_intensity(answer, 4)
    if unit in units.UNITS:
        return units.format_quantity(answer, unit, 4)
    return f"{units.format_significant(answer, 4)} {unit}".strip()


def attempts_by_key(value: Any) -> Mapping[str, tuple[Any, ...]]:
    """Return all answers by the key of their question: finite numbers, texts, or groups of names of ops.

    The latest answer is last.

    Raises
    ------
    TypeError
        If the value is no mapping from texts to lists of such answers.
    ValueError
        If there are more answers than `MAX_ATTEMPTS` or `MAX_ANSWERS_BYTES` allow.
    """
    what = "a mapping from the keys of questions to lists of answers"
    if not isinstance(value, Mapping):
        raise TypeError(f"expected {what}, got {value!r:.60}")
    found: dict[str, tuple[Any, ...]] = {}
    for key, attempts in value.items():
        if not isinstance(key, str) or not _is_list(attempts):
            raise TypeError(f"expected {what}, got {attempts!r:.60} by {key!r:.60}")
        if len(attempts) > MAX_ATTEMPTS:
            raise ValueError(f"question '{key:.60}' has {len(attempts):,} answers; at most {MAX_ATTEMPTS:,} are kept")
        found[key] = tuple(map(_attempt, attempts))
    if len(json.dumps(found)) > MAX_ANSWERS_BYTES:
        raise ValueError(f"the answers have more than {MAX_ANSWERS_BYTES:,} bytes")
    return MappingProxyType(found)


def _attempt(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            number = float(value)
            if math.isfinite(number):
                # JSON has no other numbers.
                return value if isinstance(value, int) else number
    elif _is_list(value) and all(_is_list(group) and all(isinstance(name, str) for name in group) for group in value):
        return [list(group) for group in value]
    raise TypeError(f"an answer is a finite number, a text or a list of groups of names, not {value!r:.60}")


def was_shown(attempt: Any) -> bool:
    """Return whether an entry among the answers says that the page showed the right one. It is an empty list."""
    return _is_list(attempt) and not attempt


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def _entries(given: Any, what: str) -> tuple[Any, ...]:
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"expected {what}, got {given!r:.60}")
    return tuple(given)


def _known(given: Any, known: Sequence[str], what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else _entries(given, f"a list such as ['{known[0]}']")
    for name in names:
        if name not in known:
            raise ValueError(
                f"{what} '{name}' is unknown{did_you_mean(str(name), known)}; there are {listed(list(known))}"
            )
    return tuple(dict.fromkeys(names))


def lock_names(value: Any) -> tuple[str, ...]:
    """Return the names of what is locked. Raise `ValueError` for a name that is not in `LOCKS`."""
    return _known(value, LOCKS, "lock")


def panel_names(value: Any) -> tuple[str, ...]:
    """Return the names of panels. Raise `ValueError` for a name that is not in `PANELS`."""
    return _known(value, PANELS, "panel")


def _rates(value: Any, what: str) -> dict[str, tuple[float, ...]]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a mapping such as {{'bandwidth': …}} for {what}, got {value!r:.60}")
    found = {}
    for name, rates in value.items():
        _known([name], QUANTITIES, what)
        given = _entries(rates, f"a list of rates for {what} of {name}")
        found[name] = tuple(parsed_rate(rate, name, f"{what} of {name}") for rate in given)
    return found


def rate_ranges(value: Any) -> Mapping[str, tuple[float, ...]]:
    """Return the lowest and the highest rate that a learner may set, by quantity."""
    found = _rates(value, "ranges")
    for name, rates in found.items():
        if len(rates) != 2 or not rates[0] < rates[1]:  # noqa: PLR2004 - a range
            raise ValueError(f"ranges of {name}: expected a lower and a higher rate")
    return MappingProxyType(found)


def snap_rates(value: Any) -> Mapping[str, tuple[float, ...]]:
    """Return the only rates a learner may set, by quantity, in ascending order."""
    found = _rates(value, "snap")
    for name, rates in found.items():
        if not rates:
            raise ValueError(f"snap of {name}: expected at least one rate")
    return MappingProxyType({name: tuple(sorted(set(rates))) for name, rates in found.items()})


def check_stops(snap: Mapping[str, Sequence[float]], ranges: Mapping[str, Sequence[float]], trait: str) -> None:
    """Raise `Refused` if no rate of `snap` is within `ranges`: the page could not stop anywhere.

    `trait` is the one of the two that is set.
    """
    for name, stops in snap.items():
        low, high = ranges.get(name, (0.0, math.inf))
        if not any(low <= stop <= high for stop in stops):
            unit = "FLOP/s" if name == "peak_flops" else "B/s"
            given = ", ".join(units.format_quantity(stop, unit, 4) for stop in stops[:3])
            limits = " to ".join(units.format_quantity(end, unit, 4) for end in (low, high))
            raise Refused(
                f"{trait}: no rate of snap for {name} ({given}{', …' if len(stops) > 3 else ''}) is within ranges "  # noqa: PLR2004
                f"({limits}); to change both, set them within hold_trait_notifications()"
            )


def words_of(value: Any) -> Mapping[str, str]:
    """Return the words for the terms in `TERMS`. Raise `ValueError` for another term or word."""
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a mapping such as {{'intensity': 'operational'}}, got {value!r:.60}")
    for term, word in value.items():
        _known([term], tuple(TERMS), "term")
        _known([word], TERMS[term], f"word for '{term}'")
    return MappingProxyType(dict(value))


def _last_step(s: State) -> int:
    return 0 if s.story is None else len(s.story.steps) - 1


def _fit_step(s: State, step: int) -> int:
    last = _last_step(s)
    if step > last:
        raise Refused(f"step {step}: the last step is {last}")
    return step


def _follow_step(s: State, old: State, _named: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the new step sets."""
    put(s, "step", min(s.step, _last_step(s)))
    return None if s.step == old.step or s.story is None else s.story.at(s.step)


def _lists(given: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in given.items()}


class Lesson:
    """A story, what a learner has answered, and what a learner may do."""

    story = Field(
        "python",
        optional(script_of),
        help="The steps of a story, which `Story` makes; None without one.",
        to_wire=lambda story: wire.story_to_wire(None if story is None else story.to_record()),
        page_type="Story | null",
    )
    step = Field(
        "shared",
        step_number,
        0,
        help="The step of `story` that is shown, from 0. A step sets other traits.",
        fit=_fit_step,
        follow=_follow_step,
        also=("story",),
        undo="alone",
    )
    answers = Field(
        "shared",
        attempts_by_key,
        MappingProxyType({}),
        help="All answers of the learner by the key of their question, the latest last; see `answer`. An empty list "
        "says that the page showed the right answer.",
        to_wire=_lists,
        page_type="Readonly<Record<string, readonly Attempt[]>>",
    )
    locks = Field(
        "python",
        lock_names,
        (),
        page_type="readonly string[]",
        help="What the page does not let a learner change, such as ['bandwidth']. Python may change it, so it "
        "keeps nothing secret.",
    )
    hidden_panels = Field(
        "python",
        panel_names,
        (),
        help="Panels that the page leaves out, such as ['table'].",
        page_type="readonly string[]",
    )
    ranges = Field(
        "python",
        rate_ranges,
        MappingProxyType({}),
        help="The lowest and the highest rate that sliders and roof reach, such as "
        "{'bandwidth': ('1 TB/s', '4 TB/s')}.",
        to_wire=_lists,
        page_type="RatesByQuantity",
    )
    snap: Field[Mapping[str, tuple[float, ...]]] = Field(
        "python",
        snap_rates,
        MappingProxyType({}),
        help="The only rates that sliders and roof stop at, such as {'bandwidth': ['1 TB/s', '2 TB/s']}.",
        follow=lambda s, _old, named: check_stops(s.snap, s.ranges, "ranges" if "ranges" in named else "snap"),
        also=("ranges",),
        to_wire=_lists,
        page_type="RatesByQuantity",
    )
    terms = Field(
        "python",
        words_of,
        MappingProxyType({}),
        help="The page's words: 'arithmetic' or 'operational' for 'intensity'; 'ridge point', 'knee' or 'machine "
        "balance' for 'ridge'.",
        to_wire=dict,
        page_type="Terms",
    )
