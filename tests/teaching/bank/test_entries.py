"""Questions that are data: draws, expressions, templates, what a file may hold, and what a check says of it."""

from __future__ import annotations

import hmac
import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.teaching.bank import package_entries, question_bank
from roofwidget.teaching.bank.arithmetic import Expression
from roofwidget.teaching.bank.check import check, effective_variants
from roofwidget.teaching.bank.draws import read_draw
from roofwidget.teaching.bank.entries import Entry, EntryError, read_file
from roofwidget.teaching.bank.exercise import BANK_VERSION, EXERCISES, Draw, draw
from roofwidget.teaching.bank.templates import Template, expanded
from tests.places import write

# -- draws -------------------------------------------------------------------------------------------------------------


def test_a_draw_is_the_first_eight_bytes_of_an_hmac_over_two_to_the_64() -> None:
    for seed, key, index in ((0, "ridge-point", 0), (2024, "chain-bytes", 3), (2**48 - 1, "q", 199)):
        digest = hmac.new(struct.pack(">Q", seed)[2:], f"{BANK_VERSION}|{key}|{index}".encode(), "sha256").digest()
        assert draw(seed, key, index) == struct.unpack(">Q", digest[:8])[0] / 2**64


def test_draws_of_this_version_of_the_bank_have_these_values() -> None:
    # printf '2|ridge-point|0' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0000000007e8
    assert BANK_VERSION == 2
    assert draw(2024, "ridge-point", 0) == 0x77B563A4832946B2 / 2**64


@pytest.mark.parametrize("seed", [-1, 2**48])
def test_a_seed_has_six_bytes(seed: int) -> None:
    with pytest.raises(ValueError, match=r"a seed is a whole number from 0 to 2\^48 - 1"):
        question_bank(seed)


def test_draws_of_a_range_are_its_steps_and_each_of_them_is_drawn() -> None:
    found = {read_draw("3; 1 to 2.5 step 0.5").draw(Draw(seed, "q"))[0] for seed in range(100)}
    assert found == {1.0, 1.5, 2.0, 2.5}
    whole = {read_draw("64; 64 to 256 step 64").draw(Draw(seed, "q"))[0] for seed in range(100)}
    assert whole == {64, 128, 192, 256}
    assert all(type(one) is int for one in whole)


def test_draws_with_digits_are_log_uniform() -> None:
    found = [read_draw("1e12; 1e10 to 1e14, 3 digits").draw(Draw(seed, "q"))[0] for seed in range(1000)]
    assert all(float(f"{one:.2e}") == one for one in found)
    decades = [sum(10**low <= one < 10 ** (low + 1) for one in found) for low in range(10, 14)]
    assert all(200 < many < 300 for many in decades)


def test_a_draw_of_values_has_the_printed_one_too() -> None:
    found = [read_draw("bf16; fp32, fp64").draw(Draw(seed, "q"))[0] for seed in range(300)]
    assert {one: 70 < found.count(one) < 130 for one in set(found)} == {"bf16": True, "fp32": True, "fp64": True}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (7, "a draw is"),
        ("7", "has no ';'"),
        ("7; 3 to 1", "a range goes from"),
        ("7; 0 to 3", "a range goes from"),
        ("7; 3, bf16", "'bf16' is no value such as 7"),
        ({"printed": 1, "or": [2]}, "a draw is"),
        ({"print": {"n": 1}, "or": []}, "a draw has no 'print'; did you mean 'printed'?"),
        ({"chips": ["h101-sxm"]}, "'h101-sxm' is no chip of the catalogue"),
        ({"chips": ["A"], "printed": {"name": "X"}}, "a printed chip is a name, or a table"),
        ({"chips": ["A"], "printed": "v5e", "ridge": [1]}, "'ridge' is"),
    ],
)
def test_what_is_no_draw_is_refused_with_the_forms_of_draws(written: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        read_draw(written)


@pytest.mark.parametrize("seed", [3, 4])
def test_what_was_drawn_gives_the_same_question_again_after_it_was_json(seed: int) -> None:
    for exercise in EXERCISES:
        question = exercise.question(seed)
        params = json.loads(json.dumps(dict(question.params)))
        assert params, exercise.key
        again = exercise.question(seed, params)
        assert again.to_record() == question.to_record()
        assert again.params == params
        assert exercise.question(None).params == {}


@pytest.mark.parametrize("param", [None, "1e12", -1.0, math.inf, math.nan, {"a": 1}, [1], 10**400])
def test_a_stored_number_that_is_none_is_refused(param: Any) -> None:
    (entry,) = [one for one in EXERCISES if one.key == "compute-time"]
    with pytest.raises((ValueError, OverflowError)):
        entry.question(1, {"chip": "h100-sxm", "flops": param})
    for chip in ({"precision": "bf16"}, {"precision": "x", "peak": 1.0, "bandwidth": 1.0}, "h101-sxm", "", 1, None):
        with pytest.raises(ValueError, match=r"is no value|is no format|there is no format|is no chip"):
            entry.question(1, {"chip": chip, "flops": 1e12})


# -- expressions and texts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * n // 3", 6),
        ("2 ** 70", 2**70),
        ("n / 4 - 1", 1.25),
        ("-n % 4", 3),
        ("min(n, 4) + max(n, 4)", 13),
        ("floor(2.5) + ceil(2.5) + log2(8) + abs(-1)", 9),
        ("size('bf16') + size('int4')", 2.5),
        ("1 if n > 8 and not n == 9 else 0", 0),
        ("chip.peak / 2", 5.0),
        ("'a' if n != 9 or n >= 9 else 'b'", "a"),
    ],
)
def test_expressions_have_arithmetic_conditions_and_a_few_functions(text: str, value: Any) -> None:
    assert Expression(text)({"n": 9, "chip.peak": 10.0}) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "n +", "n" * 401, "+".join("n" * 100), "open('x')", "n.a.b", "(lambda: 1)()", "[1]", "n[0]", "f'{n}'",
        "n < 2 < 3", "min(n, key=1)", "n if n", "~n", "n @ n", "n := 1", "__import__('os')", "n.__class__()", "b'1'",
        "((((" * 80,
    ],
)  # fmt: skip
def test_nothing_else_is_an_expression(text: str) -> None:
    with pytest.raises(ValueError, match=r"expression|function|too long"):
        Expression(text)


@pytest.mark.parametrize("text", ["n / 0", "log2(0)", "2.0 ** 5000", "9 ** 9 ** 9", "size('bf15')", "n + 'a'", "min()"])
def test_an_expression_without_a_value_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="has no value"):
        Expression(text)({"n": 9})


def test_a_template_writes_numbers_as_prompts_do() -> None:
    values = {"n": 1536, "peak": 989.5e12, "time": 1.23456e-5, "name": "x"}
    text = "{n} {n:,} {peak:FLOP/s} {time:~s} {peak / 3.35e12:~} {n / 7:.2f} {2.5 * n} {'s' if n > 1 else ''} {name}"
    assert Template(text)(values) == "1536 1,536 989.5 TFLOP/s 12.35 µs 295.4 219.43 3840 s x"


@pytest.mark.parametrize("text", ["{n", "n}", "{}", "{n:FLOPS}", "{n:>9999999999}", "{n:~x}"])
def test_a_broken_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"brace|expression|format"):
        Template(text)


def test_texts_that_include_each_other_are_refused() -> None:
    assert expanded("a {@b} d", {"b": "b {@c}", "c": "c"}) == "a b c d"
    with pytest.raises(ValueError, match="include each other"):
        expanded("{@a}", {"a": "{@b}", "b": "{@a}"})
    with pytest.raises(ValueError, match="there is no text 'x'"):
        expanded("{@x}", {})


# -- files -------------------------------------------------------------------------------------------------------------

OWN = """\
[copy-time]
prompt = "A copy reads and writes {n} million numbers of {size(dtype)} bytes at {rate:B/s}. How long does it take?"
answer = "2e6 * n * size(dtype) / rate"
unit = "s"
source = "Mine"
explanation = "2 · {n} million · {size(dtype)} B / {rate:B/s} = {answer:~s}."
wrong = [{ answer = "answer / 2", text = "The copy reads and writes." }]
draw.n = "100; 1 to 499"
draw.dtype = "fp64; fp32"
draw.rate = "100e9; 20e9 to 500e9, 3 digits"
"""


def entries(tmp_path: Path, text: str) -> list[Entry]:
    return read_file(write(tmp_path / "mine.toml", text))


def test_a_file_of_ones_own_is_a_bank(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.toml", OWN)
    (question,) = rw.question_bank(files=[path])
    assert question.prompt.startswith("A copy reads and writes 100 million numbers of 8 bytes at 100 GB/s.")
    assert (question.answer, question.unit) == (pytest.approx(16e-3), "s")
    assert question.check("8 ms").message == "Not yet. The copy reads and writes."
    assert question.explanation.endswith("= 16 ms.")
    (drawn,) = rw.question_bank(7, files=[path])
    assert drawn.source == "Derived, after Mine"
    n, dtype, rate = (drawn.params[name] for name in ("n", "dtype", "rate"))
    assert drawn.answer == pytest.approx(2e6 * n * {"fp64": 8, "fp32": 4}[dtype] / rate)
    assert check(read_file(path), 50)[0].faults == ()
    with pytest.raises(ValueError, match="two questions have the key 'copy-time'"):
        rw.question_bank(files=[path, path])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("* n *", "* m *", "mine.toml, line 3, [copy-time] answer: '2e6 * m * size(dtype) / rate' has"),
        ("{n} million", "{x} million", "line 2, [copy-time] prompt: 'x' has the unknown name 'x'; there are"),
        ("unit = ", "units = ", "line 4, [copy-time] units: there is no such field; did you mean 'unit'?"),
        ('"100; 1 to 499"', '"100"', "line 8, [copy-time] draw.n: '100' has no ';'"),
        ("answer / 2", "answer /", "[copy-time] wrong: 'answer /' is no expression"),
        ('source = "Mine"\n', "", "[copy-time]: an entry has a 'prompt' and a 'source'"),
        ('answer = "2e6 * n * size(dtype) / rate"\n', "", "[copy-time]: give an 'answer', an expression, or 'options'"),
        ("[copy-time]\n", '[copy-time]\nlike = "x"\n', "[copy-time] like: there is no [shared.x]"),
        ("[copy-time]\n", '[copy-time]\nfits = ["n"]\n', "[copy-time] fits: 'fits' has the bytes"),
        ("[copy-time]\n", '[copy-time]\non = "ridge"\n', "[copy-time] on: 'on' is"),
        ("[copy-time]\n", '[copy-time]\nvalue = { a = "b", b = "a" }\n', "[copy-time] value.a: 'b' has the unknown"),
        ("[copy-time]\n", '[copy-time]\nrequire = ["n > 1000"]\n', "none of 200 draws fits; widen the draws, or"),
        ("[copy-time]\n", "[copy-time]\nprompt_ = 1\n", "there is no such field; did you mean 'prompt'?"),
    ],
)  # fmt: skip
def test_an_error_names_file_line_key_field_and_what_to_write(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in OWN
    with pytest.raises(EntryError) as refused:
        entries(tmp_path, OWN.replace(old, new, 1))[0].question(1)
    assert message in str(refused.value)


def test_a_file_that_is_no_toml_or_has_no_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EntryError, match=r"mine\.toml: .*line 1"):
        entries(tmp_path, "[copy-time\n")
    with pytest.raises(EntryError, match="an entry is a table with a 'prompt'"):
        entries(tmp_path, "n = 1\n")


CHOICE = """\
[side]
prompt = "A kernel has {ai} FLOP/B on a chip with a ridge point of 100 FLOP/B. What limits it?"
source = "Mine"
apart = ["ai / 100"]
draw.ai = "10; 10 to 1000, 3 digits"
options = [
  { text = "memory", right = "ai < 100", reason = "{ai} is right of 100." },
  { text = "compute", right = "ai > 100", reason = "{ai} is left of 100." },
]
"""


TWO = CHOICE + CHOICE.replace("[side]", "[other]")


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (OWN, 'draw.rate = "100e9; 20e9 to 500e9, 3 digits"', "value.rate = 1e11", "prompts and"),
        (OWN, "2e6 * n * size(dtype) / rate", "5 - n", "none of 200 draws fits"),
        (OWN, "answer / 2", "1.01 * answer", "none of 200 draws fits"),
        (OWN, "answer / 2", "answer - 1", "[copy-time] wrong: 'answer - 1' is not always a finite number above zero"),
        (OWN, "[copy-time]", '[copy-time]\nfits = ["n", "50"]', "the printed numbers 100 B are more than 90% of 50 B"),
        (CHOICE, 'apart = ["ai / 100"]\n', "", "'ai < 100' compares: give under 'apart' the ratio"),
        (CHOICE, '"memory"', '"the memory, which is slow"', "is over 1.5 times as long as the others"),
        (CHOICE, '"ai > 100"', "true", "one option is right, not 'memory', 'compute'"),
        (CHOICE, '"memory"', '"None of these"', "the right option is always at the same place"),
        (TWO, "10; 10 to 1000, 3 digits", "10; 1000", "'side' has the same prompt"),
    ],
)  # fmt: skip
def test_a_check_finds_the_fault(tmp_path: Path, text: str, old: str, new: str, message: str) -> None:
    changed = text.replace(old, new)
    if "None of these" in new:
        changed = changed.replace('right = "ai < 100"', "right = true").replace(', right = "ai > 100"', "")
    faults = [fault for finding in check(entries(tmp_path, changed), 30) for fault in finding.faults]
    assert [fault for fault in faults if message in fault], faults
    assert all("mine.toml, line " in fault for fault in faults)


def test_no_draw_is_within_ten_per_cent_of_the_limit_that_it_asks_about(tmp_path: Path) -> None:
    (entry,) = entries(tmp_path, CHOICE)
    drawn = [entry.question(seed).params["ai"] for seed in range(500)]
    assert [ai for ai in drawn if 100 / 1.1 <= ai <= 110] == []
    assert any(85 < ai < 100 / 1.1 for ai in drawn)
    assert any(110 < ai < 115 for ai in drawn)


def test_numbers_that_a_value_cannot_be_computed_from_are_drawn_again(tmp_path: Path) -> None:
    text = OWN.replace("[copy-time]\n", '[copy-time]\nrequire = ["n != 3"]\nvalue.x = "1 / (n - 3)"\n')
    (entry,) = entries(tmp_path, text.replace("100; 1 to 499", "100; 3, 4"))
    drawn = {entry.question(seed).params["n"] for seed in range(50)}
    assert drawn == {4, 100}
    with pytest.raises(ValueError, match=r"'1 / \(n - 3\)' has no value"):
        entry.question(1, {**entry.question(1).params, "n": 3})
    (never,) = entries(tmp_path, text.replace("100; 1 to 499", "3; 3 to 3"))
    with pytest.raises(ValueError, match=r"'1 / \(n - 3\)' has no value"):
        never.question(1)


def test_a_wrong_answer_at_the_limit_of_the_tolerance_is_no_wrong_answer() -> None:
    """126 / 120 is 1.05, the tolerance, to the last digit: both are right, in the entry as in its question."""
    (entry,) = (one for one in package_entries() if one.key == "norm-before-product-runs")
    for rows, columns in ((15360, 16128), (16128, 15360)):
        values = {"inner": 4096, "side": 128, "rows": rows, "columns": columns, "answer": columns // 128}
        assert [field for field, _ in entry.broken(values)] == ["wrong"]
        question = entry.question(1, {"rows": rows, "side": 128, "columns": columns})
        assert question.check(rows / 128).correct
        assert list(question.wrong_answers) == [rows * columns / 128**2]


def test_an_entry_has_the_fields_that_it_shares_and_its_own_take_their_place(tmp_path: Path) -> None:
    shared = """
[shared.base]
source = "Mine"
prompt = "{n} {m}?"
answer = "n + m"
draw.n = "1; 2, 3"
value.m = 10
require = ["n < 3"]
[shared.more]
like = "base"
require = ["n > 0"]
[as-shared]
like = "more"
[value-for-a-draw]
like = "more"
value.n = 2
[draw-for-a-value]
like = "more"
draw.m = "20; 30"
"""
    found = {one.key: {one.question(seed).prompt for seed in (None, *range(40))} for one in entries(tmp_path, shared)}
    assert found == {
        "as-shared": {"1 10?", "2 10?"},
        "value-for-a-draw": {"2 10?"},
        "draw-for-a-value": {"1 20?", "1 30?", "2 20?", "2 30?"},
    }


def test_the_examples_of_faults_have_none_before_they_are_changed(tmp_path: Path) -> None:
    assert [finding.faults for finding in check(entries(tmp_path, OWN + CHOICE), 30)] == [(), ()]


def test_effective_variants_are_one_over_the_share_of_pairs_with_nearly_equal_answers() -> None:
    answers = [1.0, 1.005, 1.5, 3.0, 3.02, 3.04, 9.0]
    pairs = [(a, b) for at, a in enumerate(answers) for b in answers[at + 1 :]]
    near = sum(max(a, b) / min(a, b) <= 1.01 for a, b in pairs)
    assert effective_variants(answers) == pytest.approx(len(pairs) / near)
    # Log-uniform over a factor R: ln R / (2 ln(1 + t)); here R = 100.
    assert effective_variants([100 ** (at / 40000) for at in range(40000)]) == pytest.approx(231, rel=0.02)


def test_the_bank_of_the_package_has_no_fault_with_500_seeds_and_enough_variants_for_marks() -> None:
    findings = check(package_entries(), 500)
    assert [fault for finding in findings for fault in finding.faults] == []
    marked = [finding for finding in findings if not finding.is_fixed]
    assert len(marked) > 70
    assert all(finding.prompts >= 1000 and finding.effective >= 20 for finding in marked)
    assert {finding.seeds for finding in marked} == {2000}


def test_the_command_prints_faults_and_its_status_says_whether_there_are_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "mine.toml", OWN)
    assert main(["bank", "check", str(path), "--seeds", "20"]) == 0
    assert "1 question, 0 faults" in capsys.readouterr().err
    write(path, OWN.replace("2e6 * n", "2e6 * m"))
    assert main(["bank", "check", str(path), "--seeds", "20"]) == 1
    said = capsys.readouterr()
    assert "has the unknown name 'm'" in said.out
    assert "1 fault" in said.err
    assert main(["bank", "check", str(tmp_path / "none.toml")]) == 2
