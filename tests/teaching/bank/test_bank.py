"""All questions of the bank: what is said to right, wrong and absurd answers, keys, seeds, records, setups."""

from __future__ import annotations

import hmac
import json
import math
import os
import random
import re
import statistics
from dataclasses import replace
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.model import RooflineModel
from roofwidget.teaching.bank import package_entries, question_bank
from roofwidget.teaching.bank.exercise import EXERCISES
from roofwidget.teaching.misconceptions import misconceptions
from roofwidget.teaching.question import Question
from tests.teaching.bank import test_fusion, test_links, test_ridges_and_sizes, test_serving
from tests.teaching.bank.prompts import SEEDS, bank, check_answers, drawn, numbers

KEYS = list(bank(None))
# The chips whose peak and bandwidth a prompt names.
CHIPS = ("h100-sxm", "h200-sxm", "b200", "a100-sxm-80gb", "v5e", "v5p", "v6e", "v7x")
ABSURD = [10**400, 10**5000, None, "banana", -1, math.nan, math.inf, [], {}, True, "1e999", object()]
TOPICS = (test_fusion, test_links, test_ridges_and_sizes, test_serving)


@pytest.mark.parametrize(("topic", "key"), [(topic, key) for topic in TOPICS for key in topic.PRINTED])
def test_the_answer_is_the_printed_one_and_follows_from_the_prompt_with_any_seed(topic: Any, key: str) -> None:
    check_answers(key, topic.PRINTED[key], lambda prompt: topic.FORMULAS[key](*numbers(prompt)))


@pytest.mark.parametrize("topic", TOPICS[1:])
def test_the_choices_without_a_seed_are_those_of_the_source(topic: Any) -> None:
    assert {key: bank(None)[key].answer for key in topic.CHOICES} == topic.CHOICES


def wrong_answer(question: Question) -> Any:
    """Return an answer of the right form that is wrong."""
    if question.kind == "choice":
        return next(option for option in question.options if option != question.answer)
    if question.kind == "merge":
        assert question.graph is not None
        return [[op.name] for op in question.graph.ops]
    return 3 * question.answer


def test_keys_are_unique_and_the_same_for_all_seeds() -> None:
    assert len(EXERCISES) == len(KEYS) >= 50
    assert all(list(bank(seed)) == KEYS for seed in SEEDS)


def test_a_seed_gives_the_same_questions_each_time_and_another_seed_gives_others() -> None:
    first, again, other = ([one.to_record() for one in question_bank(seed)] for seed in (7, 7, 8))
    assert first == again
    assert sum(one != two for one, two in zip(first, other, strict=True)) > len(KEYS) / 2


def test_a_seed_does_not_depend_on_the_state_of_random() -> None:
    random.seed(1)
    first = [one.to_record() for one in question_bank(3)]
    random.seed(2)
    assert [one.to_record() for one in question_bank(3)] == first


@pytest.mark.parametrize("key", KEYS)
def test_right_answers_are_right_and_wrong_ones_are_told_why(key: str) -> None:
    for seed in (None, *SEEDS):
        question = bank(seed)[key]
        assert question.check(question.answer).correct
        wrong = question.check(wrong_answer(question))
        assert not wrong.correct
        assert wrong.message


@pytest.mark.parametrize("absurd", ABSURD, ids=range(len(ABSURD)))
def test_absurd_answers_are_refused_with_a_message(absurd: Any) -> None:
    for question in (*bank(None).values(), *bank(1).values()):
        said = question.check(absurd)
        assert not said.correct, question.key
        assert said.message, question.key


@pytest.mark.parametrize("key", KEYS)
def test_a_question_survives_its_record(key: str) -> None:
    for seed in (None, *range(5)):
        question = bank(seed)[key]
        record = json.loads(json.dumps(question.to_record()))
        assert Question.from_record(record).to_record() == question.to_record() == record


@pytest.mark.parametrize("key", KEYS)
def test_a_question_has_a_prompt_a_source_and_something_to_say_after_a_right_answer(key: str) -> None:
    for seed in (None, *range(20)):
        question = bank(seed)[key]
        assert question.source
        assert question.prompt.endswith((".", "?"))
        assert question.explanation or question.options[question.answer]
        texts = [question.prompt, question.explanation, *question.options.values()]
        assert not [text for text in texts if "  " in text or "None" in text or "nan" in text.split() or "\n" in text]


def test_a_question_with_numbers_that_its_source_does_not_print_is_derived() -> None:
    for seed in range(20):
        for question, printed in zip(bank(seed).values(), bank(None).values(), strict=True):
            if question.prompt != printed.prompt and question.source == printed.source:
                assert "Derived" in question.source, question.key
    assert bank(7)["ridge-point"].source == "Derived, after TPU roofline guide"
    # The numbers of another machine of the paper are printed too.
    assert {one.source.partition("; ")[2] for one in drawn("opteron-x2-ridge")} == {
        "peak of the Opteron X2, and bandwidth by a benchmark of the authors",
        "peak of the Xeon E5345, and bandwidth by STREAM",
        "peak of the Xeon E5345, and bandwidth by the tuned roof of the paper's figure",
    }


@pytest.mark.parametrize("key", [key for key in KEYS if bank(None)[key].setup])
def test_a_setup_makes_a_model_that_has_what_the_question_names(key: str) -> None:
    for seed in (None, 1, 2):
        question = bank(seed)[key]
        model = RooflineModel(**question.setup)
        assert question.kernel is None or question.kernel in model.kernels.names
        assert question.graph is None or model.graph is question.graph


# -- rules for every seed ----------------------------------------------------------------------------------------------

SEED = os.environ.get("ROOFWIDGET_SEED", "") or str(random.SystemRandom().randrange(10**9))
# Each run adds seeds that were never tried. A message names the seed.
MORE_SEEDS = (*SEEDS, *(int(SEED) + number for number in range(20)))


def test_no_two_questions_of_a_seed_have_the_same_prompt() -> None:
    for seed in (None, *MORE_SEEDS):
        questions = bank(seed)
        assert len({question.prompt for question in questions.values()}) == len(questions), seed


def test_every_number_is_finite_and_above_zero() -> None:
    for seed in (None, *MORE_SEEDS):
        wrong = [
            question.key
            for question in bank(seed).values()
            if question.kind in ("number", "drag") and not 0 < question.answer < math.inf
        ]
        assert not wrong, seed


def test_a_roof_that_is_dragged_does_not_start_at_the_answer() -> None:
    asked = [one for seed in (None, *MORE_SEEDS) for one in bank(seed).values() if one.on == "bandwidth"]
    assert asked
    for question in asked:
        (chip,) = question.setup["chips"]
        assert not question.check(chip.bandwidth()).correct, question.key


def test_a_chip_with_a_real_name_has_the_figures_of_the_catalogue_and_others_are_called_chip_a() -> None:
    catalogue = {rw.chip(name).name.split(" (")[0]: rw.chip(name) for name in CHIPS}
    found: dict[str, set[str]] = {}
    rates = re.compile(
        r"(The [\w ]+?|Chip A) computes (\S+ \w)FLOP/s in (\w+)(?: and transfers (\S+ \w)B/s to and from HBM)?\."
    )
    for seed in SEEDS:
        for question in bank(seed).values():
            for name, peak, precision, bandwidth in rates.findall(question.prompt):
                found.setdefault(name, set()).add(peak)
                if name == "Chip A":
                    continue
                chip = catalogue[name.removeprefix("The ")]
                assert numbers(f"{peak}FLOP/s") == [pytest.approx(chip.peak(precision))]
                if bandwidth:
                    assert numbers(f"{bandwidth}B/s") == [pytest.approx(chip.bandwidth())]
    assert len(found.pop("Chip A")) > 500
    assert {name: many for name, many in found.items() if len(many) > 2} == {}  # bf16 and perhaps int8 or fp8
    assert {name.removeprefix("The ") for name in found} == set(catalogue)


# -- options -----------------------------------------------------------------------------------------------------------


def test_the_right_option_is_in_every_place() -> None:
    asked = [key for key in KEYS if bank(None)[key].options]
    for key in asked:
        places = {list(bank(seed)[key].options).index(bank(seed)[key].answer) for seed in SEEDS}
        assert places == set(range(len(bank(None)[key].options))), key
    own = [one.question for one in misconceptions()]
    assert {list(one.options).index(one.answer) for one in own} == {0, 1, 2}


def test_the_order_of_options_is_that_of_their_hmac() -> None:
    question = Question(key="key", prompt="Which?", answer="b", options={"b": "", "a": "No.", "None of these": "No."})
    for seed in (None, 1, 2, 3):
        order = list(question.shuffled(seed).options)
        digests = {one: hmac.new(str(seed).encode(), f"key|{one}".encode(), "sha256").digest() for one in "ab"}
        assert order == [*sorted("ab", key=digests.__getitem__), "None of these"]
        assert question.shuffled(seed).check("b").correct


def test_no_option_is_much_longer_than_the_others() -> None:
    asked = [question for seed in (None, *SEEDS) for question in bank(seed).values() if question.options]
    for question in [*asked, *(one.question for one in misconceptions())]:
        for option in question.options:
            others = [len(other) for other in question.options if other != option]
            assert len(option) <= 1.5 * statistics.median(others), (question.key, option)


def test_all_drags_and_merges_have_a_setup() -> None:
    assert not [key for key, one in bank(None).items() if one.kind in ("drag", "merge") and not one.setup]


# -- listed wrong answers ----------------------------------------------------------------------------------------------


def test_every_number_has_listed_wrong_answers_that_are_wrong_and_get_their_text() -> None:
    for seed in (None, *MORE_SEEDS):
        for question in bank(seed).values():
            if question.kind not in ("number", "drag"):
                continue
            assert question.wrong_answers, (seed, question.key)
            for number, said in question.wrong_answers.items():
                assert math.isfinite(number)
                assert number > 0
                # Farther from the answer than the tolerance.
                assert abs(math.log2(number / question.answer)) > (question.tolerance or 0), (seed, question.key, said)
                check = question.check(number)
                assert (check.correct, check.message) == (False, f"Not yet. {said}"), (seed, question.key)


def test_no_text_of_a_listed_wrong_answer_has_the_answer() -> None:
    for seed in (None, *SEEDS):
        for question in bank(seed).values():
            said = " ".join(question.wrong_answers.values()).replace("10³", "")
            assert question.wrong_answers == {} or question.answer_text.split()[0] not in re.findall(
                r"(?<![\w.])[0-9.]+[0-9]\b", said
            )


@pytest.mark.parametrize(
    ("key", "wrong", "text"),
    [
        # The four figures of the sources: 459 TFLOP/s and 2.76 TB/s; 9 tensors before and 3 after; 4 arrays of 80 MB.
        ("ridge-point", 2.76e12 / 459e12, "This is bytes for each FLOP."),
        ("residual-speed-up", 4.5, "The fused kernel must read the residual too"),
        ("residual-speed-up", 8 / 3, "Before fusion the Add reads two tensors."),
        ("residual-of-the-own-input-speed-up", 3, "The fused kernel reads its input once"),
        ("residual-of-the-own-input-speed-up", 4, "Before fusion the Add reads two tensors."),
        ("residual-bytes-unfused", 8 * 2**29, "The Add reads two tensors."),
        ("saxpy-bytes", 240e6, "The cache also reads the lines of `result`."),
        ("square-matmul-rate", 2307e12, "This is the peak."),
        ("square-matmul-size", 250, "This holds for elements of 1 byte."),
        ("llama-step-time", 26e9 / (8 * 819e9), "The KV cache must be read too"),
        ("kv-cache-of-a-sequence", 3.36e9 * 1e9 / 2**30, "GB and GiB are different"),
        ("triad-intensity", 2 / 32, "These stores bypass the cache"),
        ("critical-batch-of-a-data-sheet", 2 * 298.5, "This takes the peak with sparsity."),
    ],
)
def test_a_usual_slip_is_named(key: str, wrong: float, text: str) -> None:
    check = bank(None)[key].check(wrong)
    assert check.said == "listed"
    assert text in check.message


# -- facts -------------------------------------------------------------------------------------------------------------

BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}


def test_bytes_of_an_element_are_those_of_its_format() -> None:
    formats = "|".join(BYTES)
    named = re.compile(rf"\b({formats}) \((\d) B(?:ytes?)?\)|\b({formats}) \((\d) bytes?\)|(\d) bytes \(({formats})\)")
    found = 0
    for seed in (None, *SEEDS):
        for question in bank(seed).values():
            for one in named.findall(question.prompt):
                name = one[0] or one[2] or one[5]
                assert BYTES[name] == int(one[1] or one[3] or one[4]), (seed, question.key)
                found += 1
    assert found > 1000


def test_a_product_in_one_format_has_elements_of_its_size_unless_the_prompt_names_another() -> None:
    computed = re.compile(r"computes \S+ [PTG]FLOP/s in (\w+)")
    size = re.compile(r"(\d) bytes?\b")
    for seed in (None, *SEEDS):
        for question in bank(seed).values():
            names = {name for name in computed.findall(question.prompt) if name in BYTES}
            said = {int(number) for number in size.findall(question.prompt)}
            if len(names) == 1 and said:
                (name,) = names
                others = {BYTES[other] for other in BYTES if other in question.prompt}
                # Gradients and their traffic are counted by weight; int8 weights are named as such.
                allowed = {BYTES[name], *others, *({4} if "gradients" in question.prompt else ())}
                assert said <= allowed | {1 if "int8" in question.prompt else BYTES[name]}, (seed, question.key)


def test_what_limits_is_never_asked_within_ten_per_cent_of_a_ridge_point() -> None:
    def layer(batch: float) -> float:
        return 2 * batch * 4096**2 / (2 * (4096**2 + 2 * batch * 4096))

    def flash(prompt: str) -> float:
        at = prompt.index("One attention head")
        tokens, _, head = numbers(prompt[at:])[:3]
        flops = (4 * head + 5) * tokens**2
        moved = 2 * 2 * tokens * head * (1 + tokens / 128) if "FlashAttention" in prompt else 8 * tokens * head
        return flops / moved / (989.5e12 / 3.35e12)

    ratios: dict[str, Any] = {
        "ridge-point-of-a-precision": lambda text: [numbers(text)[2] / ridge for ridge in numbers(text)[:2]],
        "square-matmul-limit": lambda text: [numbers(text)[2] / 3 * numbers(text)[1] / numbers(text)[0]],
        "square-matmul-rate": lambda text: [numbers(text)[2] / 3 * numbers(text)[1] / numbers(text)[0]],
        "gemv-what-binds": lambda text: [layer(numbers(text)[2]) * numbers(text)[1] / numbers(text)[0]],
        "small-kernel-what-binds": lambda text: [4 * numbers(text)[3] / 3.35e12 / 5e-6],
        "flash-what-binds": lambda text: [flash(text)],
        "opteron-what-binds": lambda text: [numbers(text)[2] / numbers(text)[3] * numbers(text)[1] / numbers(text)[0]],
        "data-parallel-limit": lambda text: [numbers(text)[-1] / (numbers(text)[0] / numbers(text)[1])],
        "llama-limit": lambda text: [numbers(text)[7] * 4096 * 819_200 / 26e9],
    }
    choices = {key for key in KEYS if key.endswith(("-limit", "-what-binds")) and bank(None)[key].options}
    assert choices - {"matrix-for-each-row-limit"} <= ratios.keys()
    for seed in (None, *MORE_SEEDS):
        for key, of in ratios.items():
            for ratio in of(bank(seed)[key].prompt):
                assert abs(math.log(ratio)) > math.log(1.1), (seed, key, ratio)


def test_a_sentence_of_a_source_stands_beside_the_machine_that_it_is_about() -> None:
    machines = ("Opteron X2", "Xeon E5345", "Opteron X4", "UltraSPARC T2+", "Cell QS20")
    for seed in (None, *SEEDS):
        for question in bank(seed).values():
            asked = {name for name in machines if name in question.prompt}
            named = {name for name in machines if name in f"{question.source} {question.explanation}"}
            assert named <= asked, (seed, question.key)


def test_no_text_calls_a_rule_of_a_compiler_impossible() -> None:
    impossible = re.compile(
        r"(cannot|may not|can not|never) (be fused|join|merge|share a kernel|run before a product)", re.IGNORECASE
    )
    for question in [*bank(None).values(), *bank(3).values()]:
        assert not impossible.search(
            f"{question.prompt} {question.explanation} {question.options.get(str(question.answer))}"
        )
    for one in misconceptions():
        assert not impossible.search(f"{one.truth} {one.question.answer}")


@pytest.mark.parametrize("key", ["int8-layer-from-hbm", "int8-layer-from-vmem", "flash-no-reuse-intensity"])
def test_an_explanation_with_a_number_near_the_answer_prints_the_answer_too(key: str) -> None:
    for seed in SEEDS[:20]:
        question = replace(bank(seed)[key], tolerance=math.log2(1.001), wrong_answers={})
        found = re.findall(r"[0-9][0-9,.]*", question.explanation)
        assert any(question.check(number).correct for number in found), question.explanation


def test_an_explanation_prints_an_answer_that_counts_as_right_where_marks_are_given() -> None:
    """A sheet may have 0.1 % of tolerance. Whoever types the answer of an explanation has four digits of it."""
    for entry in package_entries():
        shown = entry.parts.texts.get("explanation")
        if shown is None or entry.parts.answer is None:
            continue
        for expression, form in shown._fields:
            for seed in SEEDS[:40] if expression.text == "answer" else ():
                question = entry.question(seed)
                question = replace(question, tolerance=math.log2(1.001), wrong_answers={})
                assert question.check(form(question.answer)).correct, (entry.key, form(question.answer))
