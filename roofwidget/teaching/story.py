"""`Story`: a widget in steps, each with a text, a state of the chart, and perhaps a question."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from traitlets import TraitError

from roofwidget.export.engine import Picture
from roofwidget.export.pictures import png
from roofwidget.export.slides import Slide, slides_page
from roofwidget.model import RooflineModel
from roofwidget.state.lesson import ALWAYS_RESTORED, Script, ScriptStep, script_of
from roofwidget.state.what_if import QUANTITIES
from roofwidget.support import markdown
from roofwidget.support.did_you_mean import did_you_mean, unknown_keyword
from roofwidget.support.text_tables import escaped
from roofwidget.teaching.charts import charts_of
from roofwidget.teaching.question import Question, by_key
from roofwidget.widget import RooflineWidget

Model = TypeVar("Model", bound=RooflineModel)
SLIDE_PX: Final = (720, 405)
"""Width and height of the picture of a slide. It is small, so that its texts are large on a projector."""
SLIDE_SCALE: Final = 8 / 3
"""Pixels for each px in the PNG of a slide, which has 1920 by 1080 pixels."""
_NOT_IN_STEPS: Final = frozenset({"step", "answers", "presentation"})
"""The shared traits that a step cannot change."""


@dataclass(frozen=True)
class Step:
    """A step of a story.

    Parameters
    ----------
    caption
        The text, as Markdown. HTML in it is shown as text.
    changes
        Values of shared traits of the model, by name, such as ``{"focus_chip": "v5p", "bandwidth": "3 TB/s"}``. They
        hold from this step on, until a later step changes them.
    question
        What the learner is asked.
    hides
        Names of kernels whose points are hidden until the question is answered, or True for all kernels. In a step
        without a question they stay hidden. The kernel of a drag question is hidden without being named here.
    recalls
        The key of a question of an earlier step. The page shows what the learner answered there.
    keeps_hidden
        Whether the step still hides, after its answer, what its question hides. A later step asks for it.

    Raises
    ------
    TypeError
        If an argument has another type.
    """

    __module__ = "roofwidget"

    caption: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    question: Question | None = None
    hides: bool | Iterable[str] = False
    recalls: str = ""
    keeps_hidden: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.caption, str):
            raise TypeError(f"a step's caption is text, not {self.caption!r:.60}")
        if not isinstance(self.changes, Mapping):
            hint = "; write question=…" if isinstance(self.changes, Question) else ""
            raise TypeError(f"a step's changes are a mapping from traits to values, not {self.changes!r:.60}{hint}")
        if not isinstance(self.question, Question | None):
            raise TypeError(f"a step's question is a Question or None, not {self.question!r:.60}")
        if not isinstance(self.recalls, str):
            raise TypeError(f"a step recalls the key of a question, not {self.recalls!r:.60}")
        if not isinstance(self.keeps_hidden, bool):
            raise TypeError(f"a step's keeps_hidden is True or False, not {self.keeps_hidden!r:.60}")
        object.__setattr__(self, "hides", _hides(self.hides))


class Story:
    """Makes a widget show a story.

    A step always shows the same state, whatever the learner did before. So a link to a step shows the same state as the
    steps before it. Within a step the learner can use the whole widget. A story is part of the widget: it is in pages,
    sessions and saved notebooks.

    Parameters
    ----------
    widget
        A widget or a model. It shows the first step at once. The new story replaces an earlier story of the widget.
    steps
        `Step` objects. A text is a step with this caption. A `Question` is a step that asks this question. A tuple has
        the arguments of `Step`.

    Raises
    ------
    TypeError
        If a step is of another type, or changes something that is not a shared trait.
    traitlets.TraitError
        If the widget refuses a value. The message begins with the step, such as ``steps[1]``.
    ValueError
        If there is no step, if two questions have the same key, if a step hides a kernel that the widget does not have,
        or if a question merges ops that the widget does not have.

    Examples
    --------
    >>> from roofwidget.model import RooflineModel
    >>> model = RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7)])
    >>> story = Story(model, ["One kernel under one roof.", ("Twice the bandwidth.", {"bandwidth": "5 TB/s"})])
    >>> story.show(1)
    >>> model.bandwidth
    5000000000000.0
    >>> story.show(0)
    >>> model.bandwidth == model.chip().bandwidth()
    True
    """

    __module__ = "roofwidget"

    def __init__(self, widget: RooflineModel, steps: Iterable[Step | Question | str | tuple[Any, ...]]) -> None:
        self.widget = widget
        self.steps = tuple(_step(given) for given in steps)
        if not self.steps:
            raise ValueError("a story has at least one step")
        self.questions = tuple(step.question for step in self.steps if step.question is not None)
        by_key(self.questions)
        self._script = _script(widget, self.steps)
        widget.story = self._script
        self.show(0)

    def show(self, step: int) -> None:
        """Show a step, counted from 0.

        Raises
        ------
        traitlets.TraitError
            If there is no such step, or if it needs a chip, a kernel or a graph that the widget no longer has.
        """
        if step == self.widget.step:
            self.widget.restart_step()
        self.widget.step = step

    def slides(self, folder: str | os.PathLike[str]) -> Path:
        """Write the steps as slides, and return the path of the page that shows them.

        Each step gives ``step-1.svg`` and ``step-1.png``, and so on: the chart, for slides of other programs. A step
        with a question also gives ``step-1-answer.svg`` and ``.png``, on which nothing is hidden. ``index.html`` has
        them with their texts. A slide fills the window. The page needs no other file and no network. The method deletes
        no files: those of a longer earlier story stay in the folder.

        Raises
        ------
        ImportError
            If a package that draws pictures is missing.
        OSError
            If the folder cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from roofwidget.model import RooflineModel
        >>> story = Story(RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7)]), ["One kernel."])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(path.name for path in story.slides(folder).parent.iterdir())
        ['index.html', 'step-1.png', 'step-1.svg']
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        shown = list(self._slides())
        for slide in shown:
            (target / f"{slide.key}.svg").write_text(slide.picture.svg, encoding="utf-8", newline="\n")
            (target / f"{slide.key}.png").write_bytes(png(slide.picture, scale=SLIDE_SCALE))
        index = target / "index.html"
        index.write_text(slides_page(shown, self.widget.title, self.widget.locale), encoding="utf-8", newline="\n")
        return index

    def _slides(self) -> Iterator[Slide]:
        def picture(at: int, answers: Mapping[str, Any]) -> Picture:
            values = {**self._script.at(at), "step": at, "answers": answers, "title": "", "hovered": None}
            return self.widget.picture_with(values, width=SLIDE_PX[0], height=SLIDE_PX[1])

        for at, step in enumerate(self.steps):
            key, asked, told = f"step-{at + 1}", step.question, markdown.html(step.caption)
            if asked is None:
                yield Slide(key, told, picture(at, {}))
                continue
            options = "".join(f"<li>{escaped(option)}</li>" for option in asked.options)
            prompt = f'<div class="asked">{markdown.html(asked.prompt)}</div>{f"<ul>{options}</ul>" if options else ""}'
            yield Slide(key, told + prompt, picture(at, {}))
            source = f"<p><small>{escaped(asked.source)}</small></p>" if asked.source else ""
            answer = f'<p class="asked">{escaped(asked.answer_text)}</p>{markdown.html(asked.explanation)}{source}'
            yield Slide(f"{key}-answer", answer, picture(at, {asked.key: [asked.attempt]}))

    def __repr__(self) -> str:
        return f"Story({len(self.steps)} steps, {len(self.questions)} questions)"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        shown = getattr(self.widget, "_repr_mimebundle_", None)
        return {"text/plain": repr(self)} if shown is None else shown(**options)


def ask(*questions: Question, **traits: Any) -> RooflineWidget:
    """Return a widget that asks questions, one after the other.

    Parameters
    ----------
    questions
        Each is a step with the chips and kernels of its `Question.setup`, and with the focus chip, the rates and what
        else the setup says. A question without a setup has an empty chart.
    **traits
        Arguments of `RooflineWidget`, such as ``chips``. They hold for all questions and replace those of the setups.

    Raises
    ------
    ValueError
        If a question drags a roof without a chip, or if one widget cannot show the charts of all: some questions have
        kernels and others a graph, or a setup sets what is the same for all steps, such as the title.

    Examples
    --------
    >>> from roofwidget.teaching.question import Question
    >>> ridge = Question(key="ridge", prompt="Where is the ridge point?", answer=166.3, unit="FLOP/B")
    >>> widget = ask(ridge, chips=["v5p"])
    >>> widget.answer("ridge") is None
    True
    """
    return asked(RooflineWidget, questions, traits)


def asked(kind: type[Model], questions: Sequence[Question], traits: Mapping[str, Any]) -> Model:
    """Return a model or a widget that asks questions; see `ask`."""
    charts = charts_of(questions, traits)
    model = kind(**charts.traits)
    steps = zip(questions, charts.changes, strict=True)
    Story(model, [Step(changes=changes, question=question) for question, changes in steps])
    return model


def _step(given: Any) -> Step:
    if isinstance(given, Step):
        return given
    if isinstance(given, Question):
        return Step(question=given)
    if isinstance(given, str):
        return Step(given)
    if isinstance(given, tuple):
        return Step(*given)
    raise TypeError(f"a step is a Step, a Question, a text or a tuple, not {given!r:.60}")


def _script(widget: RooflineModel, steps: Iterable[Step]) -> Script:
    """Return the script of steps. A copy of the model takes their values, so that a wrong value changes nothing."""
    steps = list(steps)
    known = {name for name in widget.trait_names() if widget.trait_metadata(name, "owner") == "shared"} - _NOT_IN_STEPS
    for step in steps:
        for name in step.changes:
            if name not in known:
                raise unknown_keyword("Step", name, sorted(known))
    changed = {"what_if" if name in QUANTITIES else name for step in steps for name in step.changes}
    names = list(dict.fromkeys((*ALWAYS_RESTORED, *changed)))
    asked: set[str] = set()
    for at, step in enumerate(steps):
        if step.recalls and step.recalls not in asked:
            hint = did_you_mean(step.recalls, asked)
            raise ValueError(f"steps[{at}]: no earlier step asks '{step.recalls}'{hint}")
        asked |= {step.question.key} if step.question is not None else set()
    copy = widget.copy_without_browser()
    base = copy.wire_values(names)
    made = []
    for at, step in enumerate(steps):
        _change(copy, step.changes, at)
        _check_graph(step.question, copy, at)
        _check_roof(step.question, copy, at)
        now = copy.wire_values(names)
        differing = {name: value for name, value in now.items() if value != base[name]}
        record = None if step.question is None else step.question.to_record()
        hidden = _hidden(step, copy, at)
        made.append(ScriptStep(step.caption, differing, record, hidden, step.recalls, step.keeps_hidden))
    # As JSON, so that a story which was saved and opened again is equal.
    return script_of(json.loads(json.dumps(Script(base, tuple(made)).to_record())))


def _change(copy: RooflineModel, changes: Mapping[str, Any], at: int) -> None:
    try:
        # Rates belong to the focus chip, so they come last.
        for name in sorted(changes, key=lambda one: one in QUANTITIES):
            if name == "what_if":
                copy.set_trait(name, changes[name])
            else:
                setattr(copy, name, changes[name])
    except (TraitError, TypeError, ValueError) as error:
        raise TraitError(f"steps[{at}]: {error}") from None


def _hides(given: Any) -> bool | tuple[str, ...]:
    if isinstance(given, bool):
        return given
    # The order of a set changes from run to run, and the same story is saved as the same text.
    names = (given,) if isinstance(given, str) else sorted(given, key=str) if isinstance(given, AbstractSet) else given
    names = tuple(dict.fromkeys(names)) if isinstance(names, Iterable) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"a step's hides is True, False or names of kernels, not {given!r:.60}")
    return names


def _hidden(step: Step, copy: RooflineModel, at: int) -> bool | tuple[str, ...]:
    """Return what a step hides. `copy` has the kernels of the step."""
    hides = _hides(step.hides)
    asked = step.question.kernel if step.question is not None else None
    named = () if isinstance(hides, bool) else hides
    names = named if asked is None else tuple(dict.fromkeys((*named, asked)))
    known = set(copy.shown_kernels.names)
    for name in names:
        if name not in known:
            raise ValueError(f"steps[{at}]: there is no kernel '{name}' to hide{did_you_mean(name, known)}")
    return True if hides is True else names or False


def _check_graph(question: Question | None, copy: RooflineModel, at: int) -> None:
    """Raise `ValueError` if a learner cannot answer a merge: `copy` has another graph, or no graph."""
    if question is None or question.graph is None:
        return
    shown = () if copy.partition is None else copy.partition.graph.ops
    if {op.name for op in shown} != {op.name for op in question.graph.ops}:
        raise ValueError(f"steps[{at}]: question '{question.key}' merges other ops than those of the widget's graph")


def _check_roof(question: Question | None, copy: RooflineModel, at: int) -> None:
    """Raise `ValueError` if a learner cannot drag the roof that a question asks for: no chip is shown."""
    if question is not None and question.on in QUANTITIES and copy.focus_chip not in copy.shown:
        raise ValueError(f"steps[{at}]: question '{question.key}' drags the roof of a chip, and none is shown")
