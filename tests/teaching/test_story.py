"""Stories: what each step shows, what is refused, answers, and grades."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import roofwidget as rw
from tests.places import write

KERNELS = [("attention", 4.3e12, 4e10), ("layer norm", 5e9, 3e9)]


def bound_by() -> rw.Question:
    return rw.Question(key="bound", prompt="What binds?", answer="HBM", options={"compute": "No.", "HBM": ""})


def ridge() -> rw.Question:
    return rw.Question(key="ridge", prompt="Where is the ridge?", answer=166.3, unit="FLOP/B", explanation="459/2.76")


def told(model: rw.RooflineModel | None = None) -> tuple[rw.RooflineModel, rw.Story]:
    model = rw.RooflineModel(["v5p", "h100-sxm"], KERNELS) if model is None else model
    story = rw.Story(
        model,
        [
            "The **start**.",
            ("Half the bandwidth.", {"focus_chip": "v5p", "bandwidth": "1.38 TB/s"}, bound_by()),
            rw.Step("Another chip.", {"focus_chip": "h100-sxm", "search": "norm"}),
            ridge(),
        ],
    )
    return model, story


def graph() -> rw.Graph:
    found = rw.Graph("tail")
    x = found.input("x", (rw.dim("n", 1, 4096, default=64), 64), "bf16")
    found.output(found.relu(found.gelu(x, name="gelu"), name="relu"))
    return found


def test_texts_with_half_a_character_can_be_sent_to_a_page() -> None:
    half = "a\ud800"
    widget = rw.RooflineWidget(["v5p"], [(half, 4.3e12, 4e10)])
    question = rw.Question(
        key="q", prompt=half, answer=half, options={half: half, "b": half}, explanation=half, source=half
    )
    rw.Story(widget, [rw.Step(half, {}, question, [half]), rw.Question(key="r", prompt=half, answer=1, unit=half)])
    assert "a?" in json.dumps(widget.get_state()["story"], ensure_ascii=False).encode().decode()
    assert widget.get_state()["story"]["steps"][0]["hides"] == ["a?"]


def test_a_step_shows_its_changes_and_those_of_the_steps_before() -> None:
    model, story = told()
    assert (model.step, model.focus_chip, dict(model.what_if)) == (0, "tpu-v5p", {})
    story.show(1)
    assert model.bandwidth == 1.38e12
    model.step = 2
    assert (model.focus_chip, model.search) == ("h100-sxm", "norm")
    assert model.what_if["tpu-v5p"]["bandwidth"]["HBM"] == 1.38e12


def test_a_step_is_the_same_whatever_was_done_before() -> None:
    model, story = told()
    story.show(3)
    straight = model.wire_state()
    model.peak_flops, model.search, model.view, model.selected = "1 PFLOP/s", "att", "time", (1,)
    story.show(0)
    assert (dict(model.what_if), model.search, model.view, model.selected) == ({}, "", "roofline", ())
    story.show(3)
    assert {k: v for k, v in model.wire_state().items() if k != "kernels"} == {
        k: v for k, v in straight.items() if k != "kernels"
    }


def test_showing_the_present_step_goes_back_to_its_start() -> None:
    model, story = told()
    story.show(1)
    model.bandwidth = "9 TB/s"
    story.show(1)
    assert model.bandwidth == 1.38e12


def test_a_story_moves_operations_and_sizes_of_a_graph() -> None:
    model = rw.RooflineModel(["v5p"], graph=graph())
    story = rw.Story(model, ["Two kernels.", ("One.", {"partition": [["gelu", "relu"]], "dims": {"n": 4096}})])
    story.show(1)
    assert (list(model.shown_kernels.names), dict(model.dims)) == (["gelu + relu"], {"n": 4096})
    story.show(0)
    assert (list(model.shown_kernels.names), dict(model.dims)) == (["gelu", "relu"], {})


@pytest.mark.parametrize(
    ("steps", "error", "message"),
    [
        ([], ValueError, "a story has at least one step"),
        ([7], TypeError, "a step is a Step, a Question, a text or a tuple, not 7"),
        ([("x", {"bandwith": 1})], TypeError, "did you mean 'bandwidth'"),
        ([("x", {"kernels": []})], TypeError, "kernels"),
        (["x", ("y", {"bandwidth": "fast"})], TraitError, "steps[1]: "),
        (["x", ("y", {"focus_chip": "h200-sxm"})], TraitError, "steps[1]: "),
        (
            [rw.Step("x", hides=["atention"])],
            ValueError,
            "steps[0]: there is no kernel 'atention' to hide; did you mean 'attention'",
        ),
        ([ridge(), ridge()], ValueError, "two questions have the key 'ridge'"),
    ],
)
def test_a_wrong_step_is_refused_and_the_model_stays_as_it_was(
    steps: list[Any], error: type[Exception], message: str
) -> None:
    model = rw.RooflineModel(["v5p"], KERNELS)
    before = dict(model.what_if), model.focus_chip
    with pytest.raises(error) as refusal:
        rw.Story(model, steps)
    assert message in str(refusal.value)
    assert model.story is None
    assert (dict(model.what_if), model.focus_chip) == before


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((ridge(),), "a step's changes are a mapping from traits to values, not Question(key='ridge', "),
        ((ridge(),), "; write question=…"),
        (({}, "Where is it?"), "a step's question is a Question or None, not 'Where is it?'"),
    ],
)
def test_a_step_whose_parts_have_another_type_is_refused(parts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError) as refusal:
        rw.Step("x", *parts)
    assert message in str(refusal.value)


def test_a_step_that_is_not_there_is_refused() -> None:
    _, story = told()
    with pytest.raises(TraitError, match="step 4: the last step is 3"):
        story.show(4)


def test_an_answer_is_none_until_it_is_given_and_all_are_kept() -> None:
    model, _ = told()
    assert model.answer("ridge") is None
    model.answers = {"ridge": [100.0, 166.0], "bound": ["compute"]}
    assert (model.answer("ridge"), model.answer("bound")) == (166.0, "compute")
    with pytest.raises(KeyError, match="did you mean 'ridge'"):
        model.answer("rigde")
    with pytest.raises(TraitError, match="an answer is a finite number, a text or a list of groups"):
        model.answers = {"ridge": [{}]}
    with pytest.raises(TraitError, match="at most 1,000 are kept"):
        model.answers = {"ridge": [1] * 1001}


def test_an_answer_may_be_any_real_number_that_a_double_holds() -> None:
    model, _ = told()
    model.answers = {"ridge": [np.float32(1.5), np.int64(3), Fraction(1, 2), 7]}
    assert model.answers["ridge"] == (1.5, 3, 0.5, 7)
    assert json.loads(model.export_answers())["answers"] == {"ridge": [1.5, 3.0, 0.5, 7]}


@pytest.mark.parametrize("wrong", [math.nan, -math.inf, 10**400, None, True, b"ab", ["gelu", "relu"], [["gelu", 7]]])
def test_an_answer_that_no_question_can_have_is_refused(wrong: Any) -> None:
    model, _ = told()
    with pytest.raises(TraitError, match="an answer is a finite number, a text or a list of groups of names, not "):
        model.answers = {"ridge": [wrong]}
    assert model.answer("ridge") is None


@pytest.mark.parametrize("wrong", ["166", b"ab", {"166": 1}])
def test_answers_that_are_no_list_are_refused(wrong: Any) -> None:
    with pytest.raises(TraitError, match="expected a mapping from the keys of questions to lists of answers"):
        rw.RooflineModel(answers={"ridge": wrong})


def test_the_first_answer_is_the_first_that_can_be_read_and_later_ones_are_told_more() -> None:
    question = rw.Question(key="q", prompt="How many?", answer=100.0)
    model = rw.RooflineModel(["v5p"], [])
    rw.Story(model, [question])
    model.answers = {"q": ["many", 100, 400]}
    assert rw.grade(model, counts="first").points == 1
    assert (
        rw.grade(model, counts="last")["q"].message
        == "Not yet: too large, 2 to 10 times off: a factor such as 2, or the bytes of a number."
    )
    model.answers = {"q": ["many"]}
    assert rw.grade(model, counts="first")["q"].message == "'many' is not a number."


def test_grades_count_the_last_the_first_or_a_right_answer() -> None:
    model, _ = told()
    model.answers = {"ridge": [166.0, 100.0], "bound": ["HBM"]}
    last = rw.grade(model, counts="last")
    assert [one.correct for one in last] == [True, False]
    assert [one.correct for one in rw.grade(model, counts="first")] == [True, True]
    best = rw.grade(model, counts="best")
    assert (best.points, best.score, best["ridge"].answer, best["ridge"].attempts) == (2, 1.0, 166.0, 2)
    assert repr(last).splitlines()[0] == "1 of 2 questions right"
    assert "<caption>1 of 2 questions right</caption>" in last._repr_html_()


SHOWN: list[Any] = []
"""The entry among answers that says that the page showed the right one."""


@pytest.mark.parametrize(
    ("answers", "points"),
    [
        # By decay, first, last and best.
        ([100], (1, 1, 1, 1)),
        ([50, 100], (2 / 3, 0, 1, 1)),
        ([50, 60, 100], (1 / 3, 0, 1, 1)),
        ([50, 60, 70, 100], (0, 0, 1, 1)),
        ([50, 50, 100], (2 / 3, 0, 1, 1)),
        (["banana", 100], (1, 1, 1, 1)),
        ([100, 50], (1, 1, 0, 1)),
        ([50, SHOWN, 100], (0, 0, 0, 1)),
        ([SHOWN, 100], (0, 0, 0, 1)),
        ([100, SHOWN], (1, 1, 1, 1)),
        ([50], (0, 0, 0, 0)),
        ([], (0, 0, 0, 0)),
    ],
)
def test_a_number_earns_points_by_the_rule_that_the_lecturer_chooses(
    answers: list[Any], points: tuple[float, ...]
) -> None:
    model = rw.RooflineModel(["v5p"], [])
    rw.Story(model, [rw.Question(key="q", prompt="How many?", answer=100.0)])
    model.answers = {"q": answers}
    rules: tuple[Any, ...] = ("decay", "first", "last", "best")
    assert [rw.grade(model, counts=rule).points for rule in rules] == pytest.approx(list(points))
    assert rw.grade(model).points == pytest.approx(points[0])
    # Different answers that can be read.
    assert rw.grade(model)["q"].attempts == len({one for one in answers if isinstance(one, int)})


@pytest.mark.parametrize(
    ("options", "answers", "points"),
    [
        (3, ["c0"], 1),
        (3, ["c1", "c0"], 0),
        (4, ["c0"], 1),
        (4, ["c1", "c0"], 1 / 3),
        (4, ["c1", "c2", "c0"], 0),
        (4, ["c1", "a2", "c1", "c0"], 1 / 3),
    ],
)
def test_guessing_among_few_options_earns_little(options: int, answers: list[str], points: float) -> None:
    texts = {f"c{at}": "No." for at in range(options)}
    question = rw.Question(key="q", prompt="Which?", answer="c0", options=texts)
    model = rw.RooflineModel(["v5p"], [])
    rw.Story(model, [question])
    model.answers = {"q": answers}
    assert rw.grade(model).points == pytest.approx(points)
    assert rw.grade(model)["q"].correct


def test_blind_guesses_among_three_options_earn_a_third_on_average() -> None:
    question = rw.Question(key="q", prompt="Which?", answer="c0", options=dict.fromkeys(("c0", "c1", "c2"), "No."))
    model = rw.RooflineModel(["v5p"], [])
    rw.Story(model, [question])
    earned = []
    for order in itertools.permutations(question.options):
        model.answers = {"q": list(order[: order.index("c0") + 1])}
        earned.append(rw.grade(model).points)
    assert sum(earned) / len(earned) == pytest.approx(1 / 3)


def test_an_answer_that_was_shown_is_no_answer() -> None:
    model, _ = told()
    model.answers = {"ridge": [150, SHOWN], "bound": [SHOWN]}
    assert (model.answer("ridge"), model.answer("bound")) == (150, None)
    model.answers = {"ridge": [150, SHOWN, 166.3], "bound": [SHOWN]}
    grades = rw.grade(model)
    assert (grades["ridge"].correct, grades["ridge"].points, grades["ridge"].attempts) == (False, 0, 2)
    assert grades["bound"].message == "Not answered."
    assert rw.grade(model, counts="best").points == 1
    model.answers = {"ridge": [SHOWN, 166.3]}
    assert rw.grade(model)["ridge"].message == "Given after the answer was shown."


def test_the_result_shows_points_where_they_differ_from_the_right_answers() -> None:
    model, _ = told()
    model.answers = {"ridge": [100, 166.3], "bound": ["compute", "HBM"]}
    lines = repr(rw.grade(model)).splitlines()
    assert lines[0] == "0.667 points in 2 questions"
    assert [line.split("  ")[0] for line in lines[2:]] == ["bound", "ridge"]
    assert "right, 0 points" in lines[2]
    assert "right, 0.67 points" in lines[3]


def test_plain_values_are_graded_without_a_widget() -> None:
    grades = rw.grade({"ridge": "166.3 FLOP/B", "bound": None}, [ridge(), bound_by()])
    assert [(one.key, one.correct, one.attempts) for one in grades] == [("ridge", True, 1), ("bound", False, 0)]
    assert grades["bound"].message == "Not answered."
    misspelt = rw.grade({"rigde": 166.3, "bound": "HBM"}, [ridge(), bound_by()])
    assert misspelt["ridge"].message == (
        "Not answered. There is an answer to 'rigde', which no question has: is it meant for this one?"
    )
    assert [one.correct for one in misspelt] == [False, True]
    with pytest.raises(TypeError, match="give the questions"):
        rw.grade({"ridge": 166})
    message = "counts is one of 'decay', 'first', 'last', 'best', 'mastery', not 'lst'; did you mean 'last'"
    with pytest.raises(ValueError, match=message):
        rw.grade({}, [ridge()], counts="lst")  # type: ignore[arg-type]


def test_answers_of_version_1_0_0_are_graded_by_their_own_questions_and_others_say_that_they_differ(
    tmp_path: Path,
) -> None:
    # A question of the bank with the options that 1.0.0 had.
    asked: dict[str, Any] = {
        "key": "data-parallel-limit",
        "kind": "choice",
        "prompt": "Data-parallel training on TPU v5p chips. Each chip has 1024 tokens. Which takes longer?",
        "answer": "The links",
        "options": [["The links", ""], ["The arithmetic", "No."], ["The size of the layer decides", "No."]],
    }
    document = {
        "format": "roofwidget answers",
        "version": 1,
        "questions": [asked],
        "answers": {asked["key"]: ["The links"]},
    }
    file = write(tmp_path / "ada.json", document)
    assert rw.grade(file)["data-parallel-limit"].correct
    message = rw.grade(file, rw.question_bank(7))["data-parallel-limit"].message
    assert message.startswith("'The links' is none of the options. The answers come with another prompt")
    document["answers"] = {"data-parallel-limit": []}
    write(file, document)
    assert rw.grade(file, rw.question_bank(7))["data-parallel-limit"].message == "Not answered."


def test_the_questions_of_an_opened_lesson_grade_a_file(tmp_path: Path) -> None:
    model, _ = told()
    model.answers = {"ridge": [166]}
    file = write(tmp_path / "ada.json", model.export_answers())
    model.save(tmp_path / "lesson.json")
    lesson = rw.load(tmp_path / "lesson.json")
    of_the_file = rw.grade(file)
    assert of_the_file["ridge"].correct
    assert list(rw.grade(file, lesson)) == list(rw.grade(file, lesson.questions)) == list(of_the_file)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (ridge(), "questions is a list of questions or a widget with a story, not Question(key='ridge'"),
        (3, "questions is a list of questions or a widget with a story, not 3"),
        (["ridge"], "a question is a Question or its record, not 'ridge'"),
    ],
)
def test_questions_of_another_type_are_refused(questions: Any, message: str) -> None:
    with pytest.raises(TypeError) as refusal:
        rw.grade({"ridge": 166}, questions)
    assert message in str(refusal.value)


def test_exported_answers_are_graded_from_their_file(tmp_path: Path) -> None:
    model, _ = told()
    model.answers = {"ridge": [166.3], "bound": ["compute"]}
    file = write(tmp_path / "answers.json", model.export_answers())
    grades = rw.grade(file)
    assert [(one.key, one.correct) for one in grades] == [("bound", False), ("ridge", True)]
    # A learner can edit the file: the lecturer's own questions count.
    assert not rw.grade(file, [rw.Question(key="ridge", prompt="?", answer=295.4)])["ridge"].correct


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no file of answers: line 1, column 2: not JSON"),
        ('{"format": "roofwidget answers", "answers": {"a": [1], "a": [2]}}', "the key 'a' is twice in the object"),
        ("[]", "is no file of answers: a page writes one by its button"),
        ('{"format": "roofwidget answers", "version": 9}', "has version 9, and this roofwidget reads up to 1"),
        ('{"format": "roofwidget answers", "version": 1}', "is damaged: 'questions'"),
        ('{"format": "roofwidget answers", "version": 1, "questions": [{"key": 1}], "answers": {}}', "is damaged: "),
        (
            '{"format": "roofwidget answers", "version": 1, "questions": [], "answers": {"ridge": "166"}}',
            "is damaged: expected a mapping from the keys of questions to lists of answers",
        ),
        (
            '{"format": "roofwidget answers", "version": 1, "questions": [], "answers": {"ridge": [NaN]}}',
            "is damaged: an answer is a finite number",
        ),
        ("[" * 100_000, "is no file of answers: nested too deeply"),
    ],
)
def test_a_file_that_has_no_answers_is_refused_with_its_name(text: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", text)
    with pytest.raises(ValueError, match=r"^a\.json") as error:
        rw.grade(file)
    assert message in str(error.value)


def test_a_session_keeps_the_story_its_step_and_its_answers(tmp_path: Path) -> None:
    model, story = told()
    story.show(1)
    model.bandwidth = "2 TB/s"
    model.answers = {"bound": ["HBM"]}
    model.locks, model.hidden_panels = ["bandwidth"], ["table"]
    model.ranges, model.snap = {"bandwidth": ("1 TB/s", "4 TB/s")}, {"peak_flops": ["2 PFLOP/s", "1 PFLOP/s"]}
    again = rw.RooflineModel.load(model.save(tmp_path / "lesson.json"))
    assert (again.story, again.step, again.bandwidth, again.answer("bound")) == (model.story, 1, 2e12, "HBM")
    assert (again.locks, again.hidden_panels) == (("bandwidth",), ("table",))
    assert (dict(again.ranges), dict(again.snap)) == ({"bandwidth": (1e12, 4e12)}, {"peak_flops": (1e15, 2e15)})
    again.step = 0
    assert dict(again.what_if) == {}


def test_a_key_of_another_question_of_the_lesson_is_no_misspelling(tmp_path: Path) -> None:
    model, _ = told()
    model.answers = {"bound": ["HBM"]}
    file = write(tmp_path / "ada.json", model.export_answers())
    around = rw.Question(key="bounds", prompt="?", answer=1)
    for answers in (model, file):
        assert rw.grade(answers, [around])["bounds"].message == "Not answered."


def test_rates_to_snap_to_must_have_one_within_the_range() -> None:
    model, _ = told()
    model.ranges = {"bandwidth": ("1 TB/s", "2 TB/s")}
    model.snap = {"bandwidth": ["500 GB/s", "1.5 TB/s"], "peak_flops": ["1 PFLOP/s"]}
    message = r"no rate of snap for bandwidth \(3 TB/s, 4 TB/s\) is within ranges \(1 TB/s to 2 TB/s\)"
    with pytest.raises(TraitError, match=f"snap: {message}"):
        model.snap = {"bandwidth": ["3 TB/s", "4 TB/s"]}
    with pytest.raises(TraitError, match="ranges: no rate of snap for bandwidth"):
        model.ranges = {"bandwidth": ("5 TB/s", "6 TB/s")}
    assert (model.ranges["bandwidth"], model.snap["bandwidth"]) == ((1e12, 2e12), (5e11, 1.5e12))
    with model.hold_trait_notifications():
        model.ranges, model.snap = {"bandwidth": ("3 TB/s", "6 TB/s")}, {"bandwidth": ["4 TB/s"]}
    assert model.snap["bandwidth"] == (4e12,)
    with pytest.raises(TraitError, match="is within ranges"):
        rw.RooflineModel(ranges={"peak_flops": ("1 PFLOP/s", "2 PFLOP/s")}, snap={"peak_flops": ["3 PFLOP/s"]})


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("locks", ["bandwith"], "lock 'bandwith' is unknown; did you mean 'bandwidth'"),
        ("hidden_panels", ["tabel"], "panel 'tabel' is unknown; did you mean 'table'"),
        ("ranges", {"bandwidth": ("4 TB/s", "1 TB/s")}, "expected a lower and a higher rate"),
        ("ranges", {"banwidth": (1, 2)}, "ranges 'banwidth' is unknown"),
        ("snap", {"bandwidth": []}, "expected at least one rate"),
        ("terms", {"intensity": "operationl"}, "did you mean 'operational'"),
    ],
)
def test_a_setting_of_a_lesson_that_is_unknown_is_refused_by_name(trait: str, value: Any, message: str) -> None:
    with pytest.raises(TraitError) as error:
        setattr(rw.RooflineModel(["v5p"], KERNELS), trait, value)
    assert message in str(error.value)


def test_a_page_changes_a_step_and_python_has_the_values_of_the_page() -> None:
    widget = rw.RooflineWidget(["v5p", "h100-sxm"], KERNELS)
    told(widget)
    # The learner went to the step and has dragged the roof since: both are in one message.
    widget.set_state({"step": 1, "what_if": {"tpu-v5p": {"bandwidth": {"HBM": 2e12}}}, "answers": {"bound": ["HBM"]}})
    assert (widget.step, widget.bandwidth, widget.answer("bound")) == (1, 2e12, "HBM")
    widget.set_state({"story": None, "locks": ["bandwidth"]})
    assert widget.story is not None
    assert widget.locks == ()


@pytest.mark.parametrize("given", [False, True, -1, 0.5, "1", None])
def test_a_step_is_a_whole_number_from_0(given: Any) -> None:
    widget = rw.RooflineWidget(["v5p", "h100-sxm"], KERNELS)
    told(widget)
    with pytest.raises(TraitError, match="step: expected the number of a step, from 0"):
        widget.step = given
    assert (widget.step, type(widget.step)) == (0, int)


def test_a_refused_message_takes_back_its_step_and_what_the_step_has_set() -> None:
    widget = rw.RooflineWidget(["v5p", "h100-sxm"], KERNELS)
    told(widget)
    widget.bandwidth = "4 TB/s"
    names = ["step", "what_if", "focus_chip", "shown", "view", "memory"]
    before = widget.wire_values(names)
    with pytest.raises(TraitError, match="infeed"):
        widget.set_state({"step": 1, "infeed": "yes"})
    assert widget.wire_values(names) == before
    widget.set_state({"step": 1})
    assert widget.wire_values(names) != before


def test_the_front_end_gets_texts_as_elements_and_never_as_markup() -> None:
    model = rw.RooflineModel(["v5p"], KERNELS)
    rw.Story(model, ["A <b>tag</b> and `code`", bound_by()])
    sent = json.loads(json.dumps(model.wire_values(["story"])["story"]))
    assert sent["steps"][0]["caption"] == [["p", "A <b>tag</b> and ", ["code", "code"]]]
    assert sent["steps"][1]["question"]["prompt"] == [["p", "What binds?"]]


def test_the_front_end_has_the_graph_of_a_merge_for_the_file_of_answers() -> None:
    merge = rw.Question(key="m", prompt="?", answer=[["gelu", "relu"]], graph=graph())
    [step] = rw.ask(merge, chips=["v5p"]).wire_values(["story"])["story"]["steps"]
    record = json.loads(json.dumps({**step["question"], "prompt": "?", "explanation": ""}))
    assert rw.Question.from_record(record).check([["gelu", "relu"]]).correct


def test_given_questions_replace_those_of_a_file_even_if_they_are_damaged(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    document = {"format": "roofwidget answers", "version": 1, "questions": [{"key": 1}], "answers": {"ridge": [166.3]}}
    write(file, document)
    assert rw.grade(file, [ridge()]).points == 1
    with pytest.raises(ValueError, match=r"answers\.json is damaged"):
        rw.grade(file)


def test_asking_shows_the_setup_of_the_question() -> None:
    question = rw.Question(key="q", prompt="?", answer=1.0, setup={"chips": ["v5p"], "kernels": KERNELS})
    widget = rw.ask(question, title="One question")
    assert (len(widget.kernels), widget.title, widget.questions[0]["key"]) == (2, "One question", "q")
    assert rw.ask(ridge(), chips=["v5p"]).focus_chip == "tpu-v5p"
    merge = rw.Question(key="m", prompt="?", answer=[["gelu", "relu"]], graph=graph())
    assert rw.ask(merge, chips=["v5p"]).partition is not None


def setup_of(name: str, peak: str, kernel: str, **more: Any) -> dict[str, Any]:
    chip = rw.Chip(name, {"bf16": peak}, {"HBM": "1 TB/s"})
    return {"chips": [chip], "kernels": [rw.Kernel(kernel, 1e12, 1e10)], **more}


def test_each_question_has_its_own_chip_its_own_kernels_and_its_own_rates() -> None:
    one = rw.Question(key="one", prompt="?", answer=2e12, on="bandwidth", setup=setup_of("One", "9 TFLOP/s", "matmul"))
    two = rw.Question(
        key="two", prompt="?", answer=3e12, on="bandwidth", setup=setup_of("Two", "8 TFLOP/s", "copy", precision="bf16")
    )
    # The same chip with another peak, and a kernel of the same name.
    other = rw.Question(key="other", prompt="?", answer=1.0, setup=setup_of("One", "7 TFLOP/s", "matmul"))
    widget = rw.ask(one, two, ridge(), other)
    seen = []
    for step in range(4):
        widget.step = step
        shown = [widget.chip(key).peak_flops["bf16"] for key in widget.shown]
        seen.append((shown, widget.precision, widget.kernels.names[widget.filtered_rows].tolist()))
    assert seen == [
        ([9e12], "auto", ["matmul"]),
        ([8e12], "bf16", ["copy"]),
        ([], "auto", []),
        ([7e12], "auto", ["matmul"]),
    ]
    assert widget.hidden_panels == ("filters",)
    # Each drag moves the roof of its own chip, and another step takes it back.
    widget.step = 0
    widget.bandwidth = 2e12
    assert list(widget.what_if) == [widget.chip("One").id]
    widget.step = 1
    assert widget.bandwidth == 1e12
    widget.bandwidth = 3e12
    assert list(widget.what_if) == [widget.chip("Two").id]
    widget.answers = {"one": [2e12], "two": [widget.bandwidth]}
    assert [grade.correct for grade in rw.grade(widget)] == [True, True, False, False]


def test_the_bank_drags_two_different_chips_in_one_widget() -> None:
    bank = {question.key: question for question in rw.question_bank()}
    widget = rw.ask(bank["square-matmul-bandwidth"], bank["stencil-bandwidth-needed"])
    dragged = []
    for step, question in enumerate(widget.questions):
        widget.step = step
        widget.bandwidth = question["answer"]
        dragged.append(list(widget.what_if))
    chips = [bank[key].setup["chips"][0].id for key in ("square-matmul-bandwidth", "stencil-bandwidth-needed")]
    assert dragged == [[chip] for chip in chips]
    assert chips[0] != chips[1]


def test_two_merges_have_their_own_graphs() -> None:
    other = rw.Graph("other")
    x = other.input("x", (8, 8), "bf16")
    other.output(other.relu(other.gelu(x, name="a"), name="b"))
    one = rw.Question(key="one", prompt="?", answer=[["gelu", "relu"]], graph=graph())
    two = rw.Question(key="two", prompt="?", answer=[["a", "b"]], graph=other, setup={"chips": ["h100-sxm"]})
    widget = rw.ask(one, two)
    seen = []
    for step in (0, 1, 0):
        widget.step = step
        assert widget.partition is not None
        seen.append(([op.name for op in widget.partition.graph.ops], widget.shown))
    assert seen == [(["gelu", "relu"], ()), (["a", "b"], ("h100-sxm",)), (["gelu", "relu"], ())]


def test_what_is_given_to_ask_holds_for_all_questions() -> None:
    one = rw.Question(key="one", prompt="?", answer=1.0, setup=setup_of("One", "9 TFLOP/s", "matmul"))
    two = rw.Question(key="two", prompt="?", answer=2e12, on="bandwidth", setup=setup_of("Two", "8 TFLOP/s", "copy"))
    widget = rw.ask(one, two, chips=["v5p"], title="Sheet")
    widget.step = 1
    assert (widget.shown, widget.kernels.names[widget.filtered_rows].tolist()) == (("tpu-v5p",), ["copy"])
    widget = rw.ask(one, two, kernels=KERNELS, hidden_panels=["table"])
    widget.step = 1
    assert (len(widget.filtered_rows), widget.chip().name, widget.hidden_panels) == (2, "Two", ("table",))


@pytest.mark.parametrize(
    ("setup", "message"),
    [
        ({}, r"steps\[1\]: question 'two' drags the roof of a chip, and none is shown"),
        ({"graph": graph(), "chips": ["v5p"]}, "question 'one' shows kernels and question 'two' a graph"),
        ({"title": "Two"}, r"question 'two': its setup sets 'title', .* rw\.ask\(…, title=…\)"),
        ({"selected": [0]}, "question 'two': its setup sets 'selected'"),
    ],
)
def test_charts_that_one_widget_cannot_show_are_refused(setup: dict[str, Any], message: str) -> None:
    one = rw.Question(key="one", prompt="?", answer=1.0, setup=setup_of("One", "9 TFLOP/s", "matmul"))
    two = rw.Question(key="two", prompt="?", answer=2e12, on="bandwidth", setup=setup)
    with pytest.raises(ValueError, match=message):
        rw.ask(one, two)


def test_a_roof_cannot_be_asked_for_without_a_chip() -> None:
    with pytest.raises(ValueError, match="question 'q' drags the roof of a chip, and none is shown"):
        rw.ask(rw.Question(key="q", prompt="?", answer=2e12, on="bandwidth"))


def test_a_story_that_replaces_another_shows_its_own_first_step() -> None:
    model, story = told()
    story.show(2)
    rw.Story(model, [("Three.", {"focus_chip": "v5p", "bandwidth": "3 TB/s", "search": "att"}), "Four."])
    assert (model.step, model.bandwidth, model.search) == (0, 3e12, "att")


def test_a_story_that_is_taken_away_leaves_no_step_behind(tmp_path: Path) -> None:
    model, story = told()
    story.show(2)
    model.story = None
    assert model.step == 0
    assert rw.RooflineModel.load(model.save(tmp_path / "plain.json")).step == 0


def test_a_step_whose_chip_was_taken_away_is_refused_with_its_number() -> None:
    model, story = told()
    model.chips = ["v5p"]
    with pytest.raises(TraitError, match=r"^step 2: .*'h100-sxm'.*make the story again"):
        story.show(2)


def merge() -> rw.Question:
    return rw.Question(key="m", prompt="?", answer=[["gelu", "relu"]], graph=graph())


@pytest.mark.parametrize("model", [rw.RooflineModel(["v5p"], KERNELS), rw.RooflineModel(["v5p"], graph=rw.Graph("o"))])
def test_a_merge_of_operations_that_the_widget_does_not_have_is_refused(model: rw.RooflineModel) -> None:
    with pytest.raises(ValueError, match="question 'm' merges other ops than those of the widget's graph"):
        rw.Story(model, ["First.", merge()])
    assert model.story is None


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple, iter])
def test_hidden_kernels_may_be_in_any_collection(kind: Any) -> None:
    step = rw.Step("x", hides=kind(["layer norm", "attention", "layer norm"]))
    for _ in range(2):
        model = rw.RooflineModel(["v5p"], KERNELS)
        rw.Story(model, [step])
        assert model.story is not None
        # A set has no order: names are in that of the alphabet, so that the same story is saved as the same text.
        names = ("attention", "layer norm") if kind in {set, frozenset} else ("layer norm", "attention")
        assert model.story.steps[0].hides == names


def test_a_hidden_kernel_that_is_also_asked_for_is_named_once() -> None:
    model = rw.RooflineModel(["v5p"], KERNELS)
    place = rw.Question(key="place", prompt="?", answer=107.5, on="intensity", kernel="attention")
    rw.Story(model, [rw.Step(question=place, hides="attention")])
    assert model.story is not None
    assert model.story.steps[0].hides == ("attention",)


def test_a_step_that_keeps_hidden_what_a_later_one_asks_for_says_so_to_the_page(tmp_path: Path) -> None:
    widget = rw.RooflineWidget(["v5p"], KERNELS)
    rw.Story(widget, [rw.Step(question=bound_by(), keeps_hidden=True), ridge()])
    kept = [step.get("keeps_hidden") for step in widget.get_state()["story"]["steps"]]
    assert kept == [True, None]
    assert rw.load(widget.save(tmp_path / "one.json")).story == widget.story


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"caption": 5}, "caption is text, not 5"),
        ({"changes": ["search"]}, "changes are a mapping from traits to values, not ['search']"),
        ({"changes": None}, "changes are a mapping from traits to values, not None"),
        ({"question": "ridge"}, "question is a Question or None, not 'ridge'"),
        ({"hides": None}, "hides is True, False or names of kernels, not None"),
        ({"hides": [7]}, "hides is True, False or names of kernels, not [7]"),
        ({"keeps_hidden": 1}, "keeps_hidden is True or False, not 1"),
    ],
)
def test_a_step_with_a_part_of_another_type_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as error:
        rw.Step(**parts)
    assert str(error.value) == f"a step's {message}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": []},
        {"base": {}, "steps": []},
        {"base": {}, "steps": "x"},
        {"base": 1, "steps": [{}]},
        {"base": {}, "steps": [{"caption": "x"}]},
        {"base": {}, "steps": [7]},
        {"base": {}, "steps": [{"caption": "x", "changes": {}, "question": None, "hides": None}]},
    ],
)
def test_a_story_that_is_damaged_is_refused(wrong: Any) -> None:
    with pytest.raises(TraitError, match=r"story: expected what rw\.Story makes, got "):
        rw.RooflineModel(["v5p"], KERNELS, story=wrong)
