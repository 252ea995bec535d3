"""The charts of several questions in one widget, which has all chips and kernels. A step shows its own of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from roofwidget.chips import Chip
from roofwidget.kernels.concat import joined
from roofwidget.kernels.filters import PHASE
from roofwidget.kernels.table import Kernels
from roofwidget.model import RooflineModel
from roofwidget.state.state import TRAITS
from roofwidget.state.what_if import QUANTITIES
from roofwidget.teaching.question import Question

_PARTS: Final = frozenset({"chips", "kernels", "graph", "graphs"})
_OF_ROWS: Final = frozenset({"typed_work", "selected", "moves", "at_roof", "snapshots", "added_chips"})
"""Shared traits that belong to the rows or the chips of one chart."""


@dataclass(frozen=True)
class Charts:
    """What a widget needs to show a chart for each of its questions.

    Attributes
    ----------
    traits
        Arguments of `RooflineWidget`.
    changes
        For each question, what its step changes.
    """

    traits: Mapping[str, Any]
    changes: Sequence[Mapping[str, Any]]


def charts_of(questions: Sequence[Question], given: Mapping[str, Any]) -> Charts:
    """Return the charts of questions. `given` arguments replace those of all setups.

    Raises
    ------
    ValueError
        If one widget cannot show the charts: some have kernels and others a graph, or a setup sets what holds for all.
    """
    setups = [_setup(question, given) for question in questions]
    if all(setup == setups[0] for setup in setups[1:]):
        setup = setups[0] if setups else {}
        return Charts(_with_parts({**setup, **given}), [{} for _ in questions])
    names = dict.fromkeys("what_if" if name in QUANTITIES else name for setup in setups for name in setup)
    for question, setup in zip(questions, setups, strict=True):
        _check_setup(question, setup)
    _check_parts(questions, setups)
    known = {name: value for name, value in given.items() if name in TRAITS}
    models = [RooflineModel(**_with_parts({**setup, **known})) for setup in setups]
    traits: dict[str, Any] = {}
    changes: list[dict[str, Any]] = [
        {name: getattr(model, name) for name in names if name not in _PARTS} for model in models
    ]
    if "chips" in names:
        traits["chips"] = _chips(models, changes)
    if "kernels" in names:
        traits["kernels"] = _kernels(questions, models, changes)
        # A filter keeps the kernels of other questions off the chart: it is not the learner's to remove.
        traits["hidden_panels"] = ("filters",)
    if "graph" in names:
        traits["graphs"] = _graphs(questions, setups, changes)
    return Charts(_with_parts({**traits, **given}), changes)


def _setup(question: Question, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the setup of a question without what is given for all."""
    setup = dict(question.setup)
    if question.graph is not None and not _PARTS.difference({"chips"}) & setup.keys():
        setup["graph"] = question.graph
    if {"kernels", "graph", "graphs"} & given.keys():
        setup = {name: value for name, value in setup.items() if name not in ("kernels", "graph", "graphs")}
    return {name: value for name, value in setup.items() if name not in given}


def _with_parts(traits: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of a model that has no other chips and kernels than those that are given."""
    has_graph = "graph" in traits or "graphs" in traits
    return {"chips": [], "kernels": None if has_graph else [], **traits}


def _check_setup(question: Question, setup: Mapping[str, Any]) -> None:
    for name in setup:
        is_of_step = name in TRAITS and TRAITS[name].owner == "shared" and name not in _OF_ROWS
        if name not in _PARTS - {"graphs"} and not is_of_step:
            raise ValueError(
                f"question '{question.key}': its setup sets '{name}', which is the same for all questions of a widget; "
                f"give it to ask, as in rw.ask(…, {name}=…)"
            )


def _check_parts(questions: Sequence[Question], setups: Sequence[Mapping[str, Any]]) -> None:
    def first(name: str) -> str | None:
        return next((one.key for one, setup in zip(questions, setups, strict=True) if name in setup), None)

    kernels, graph = first("kernels"), first("graph")
    if kernels is not None and graph is not None:
        raise ValueError(
            f"question '{kernels}' shows kernels and question '{graph}' a graph: a widget shows one of both, so "
            "ask them in two widgets"
        )


def _chips(models: Sequence[RooflineModel], changes: Sequence[dict[str, Any]]) -> list[Chip]:
    """Return the chips of all models. Of several with the same id and other figures, only the first keeps the id."""
    found: dict[str, Chip] = {}
    for model, change in zip(models, changes, strict=True):
        ids = {}
        for chip in model.chips:
            at, ident = 1, chip.id
            while found.setdefault(ident, chip.replace(id=ident)) != chip.replace(id=ident):
                at, ident = at + 1, f"{chip.id}-{at + 1}"
            ids[chip.id] = ident
        change["shown"] = [ids[chip] for chip in model.shown]
        if model.focus_chip:
            change["focus_chip"] = ids[model.focus_chip]
        if "what_if" in change:
            change["what_if"] = {ids[chip]: rates for chip, rates in model.what_if.items()}
    return list(found.values())


def _kernels(
    questions: Sequence[Question], models: Sequence[RooflineModel], changes: Sequence[dict[str, Any]]
) -> Kernels:
    """Return the kernels of all models. A column says whose they are, by which each step filters."""
    parts = []
    for question, model, change in zip(questions, models, changes, strict=True):
        table = model.kernels
        if len(table):
            parts.append(table.replace(extra={**table.extra, PHASE: [question.key] * len(table)}))
        change["phases"] = [question.key] if len(table) else [""]
    return joined(parts)


def _graphs(
    questions: Sequence[Question], setups: Sequence[Mapping[str, Any]], changes: Sequence[dict[str, Any]]
) -> Mapping[str, Any]:
    """Return the graph of each question by its key, which is the phase that its step shows."""
    found = {one.key: setup["graph"] for one, setup in zip(questions, setups, strict=True) if "graph" in setup}
    for question, change in zip(questions, changes, strict=True):
        change["phase"] = question.key if question.key in found else next(iter(found))
    return found
