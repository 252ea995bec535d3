"""Rules of work that a person writes in the page: what they say, how they are shared, and the file that keeps them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import roofwidget as rw
from roofwidget.state import rules
from roofwidget.state.field import Refused
from tests.readers.test_work_rules import EXPERTS, MOE, op, trace
from tests.state.test_requests import Page

CHIP = rw.Chip("Example", {"bf16": "100 TFLOP/s", "fp8": "200 TFLOP/s"}, {"HBM": "1 TB/s"})
MM = {"Input Dims": [[512, 1024], [1024, 256]], "Input type": ["c10::BFloat16"] * 2}
# 6 x 8192 x 4 x 2880 x 2880, and x and the result of 2880 columns with 32 experts of 3 matrices of 4.25 bits.
MOE_FLOPS = 1_630_745_395_200
MOE_BYTES = 8192 * 2 * 2880 * 2 + 32 * 3 * 2880 * 2880 * 4.25 / 8
TRACE = trace(
    op("mine::moe", 1, [("experts", 60_000)], **EXPERTS),
    op("mine::moe", 70_000, [("experts", 60_000)], **EXPERTS),
    op("aten::mm", 140_000, [("gemm", 10_000)], **MM),
    op("mine::scale", 160_000, [("scale", 30_000)], **{"Input Dims": [[1000, 100]], "Input type": ["c10::BFloat16"]}),
)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_bytes(TRACE)
    return path


@pytest.fixture
def page(profile: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(rw.roofline([CHIP], profile), monkeypatch)


def row_of(kernels: rw.Kernels, name: str) -> int:
    return int(np.flatnonzero(kernels.names == name)[0])


def test_a_rule_in_force_gives_what_a_file_of_it_gives_when_the_profile_is_read(profile: Path) -> None:
    lines = [
        MOE,
        '"mine::scale" = { op = "elements", x = 0, each = 3 }',
        '"mine::moe" = { flops = "2 * dims[0][0]", bytes = "tensors", precision = "fp8", category = "mine" }',
    ]
    for line in lines:
        widget = rw.roofline([CHIP], profile)
        name = line.split('"')[1]
        assert np.isnan(widget.shown_kernels.flops[row_of(widget.kernels, name)])
        widget.rules = {name: line}
        read = rw.read(profile, work=rw.WorkRules.from_text(line))
        for column in ("flops", "bytes"):
            np.testing.assert_array_equal(getattr(widget.shown_kernels, column), getattr(read, column))
        row = row_of(read, name)
        classes = [
            [key for key, column in table.flops_by_precision.items() if column[row] > 0]
            for table in (widget.shown_kernels, read)
        ]
        assert classes[0] == classes[1]
        for column in ("names", "precision", "category"):
            assert getattr(widget.shown_kernels, column).tolist() == getattr(read, column).tolist()
        assert widget.shown_kernels.origin["flops"].tolist() == read.origin["flops"].tolist()
    assert np.isnan(widget.kernels.flops[row_of(widget.kernels, "mine::moe")])


def test_a_row_of_different_calls_gets_their_sum() -> None:
    data = trace(
        op("mine::op", 1, [("k", 5)], **{"Input Dims": [[4], []], "Concrete Inputs": ["", "10"]}),
        op("mine::op", 30, [("k", 5)], **{"Input Dims": [[4], []], "Concrete Inputs": ["", "20"]}),
    )
    model = rw.RooflineModel([CHIP], rw.read(data, idle=False))
    assert model.kernels.count.tolist() == [2]
    model.rules = {"mine::op": '"mine::op" = { flops = "value[1] * dims[0][0]", bytes = 3 }'}
    assert (model.shown_kernels.flops.tolist(), model.shown_kernels.bytes.tolist()) == ([120], [6])


def test_a_rule_is_for_kernels_without_an_operation_too() -> None:
    model = rw.RooflineModel([CHIP], [("flash", None, None, 6), ("gemm", 1e14, 1e11, 2)])
    model.rules = {"flash": '"fl*" = { flops = "3 TFLOP", bytes = "1 GB" }', "gemm": '"gemm" = { flops = 1 }'}
    assert model.shown_kernels.flops.tolist() == [3e12, 1e14]
    assert model.shown_kernels.origin["flops"][0] == 'work.toml:1 "fl*": 3000000000000.0'


def test_rules_stay_with_other_kernels_and_those_that_do_not_fit_do_not_count(profile: Path) -> None:
    widget = rw.roofline([CHIP], profile, rules={"mine::moe": '"mine::moe" = { op = "linear", x = 0, weight = 7 }'})
    assert np.isnan(widget.shown_kernels.flops[row_of(widget.kernels, "mine::moe")])
    widget.show_profile([("mine::moe", None, None, 6)])
    widget.rules = {"mine::moe": '"mine::moe" = { flops = 7 }'}
    assert widget.shown_kernels.flops.tolist() == [7]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (5, "from names to lines"),
        ({"a": 5}, "from names to lines"),
        ({"a": '"a" = { flop = 1 }'}, r"line 1: 'a': .* has no key 'flop'"),
        ({"a": '"a" = { flops = "?" }'}, r'for "\?": flops'),
        ({"a": "#" * 100_001}, "100,001 letters"),
    ],
)
def test_what_is_no_rule_is_refused_and_nothing_changes(given: Any, reason: str) -> None:
    model = rw.RooflineModel([CHIP], [("a", None, None, 6)], rules={"a": '"a" = { flops = 7 }'})
    with pytest.raises(TraitError, match=reason):
        model.rules = given
    assert model.shown_kernels.flops.tolist() == [7]


def test_sessions_pages_pictures_and_copies_have_the_rules(profile: Path, tmp_path: Path) -> None:
    widget = rw.roofline([CHIP], profile, rules={"mine::moe": MOE})
    row = row_of(widget.kernels, "mine::moe")
    again = rw.load(widget.save(tmp_path / "s.json"))
    assert (again.rules, again.shown_kernels == widget.shown_kernels) == (widget.rules, True)
    again.rules = {}
    assert np.isnan(again.shown_kernels.flops[row])
    again.rules = {"mine::moe": MOE}
    assert again.shown_kernels.flops[row] == 2 * MOE_FLOPS
    assert rw.read(widget.save(tmp_path / "p.html")).flops[row] == 2 * MOE_FLOPS
    assert widget.copy_without_browser().shown_kernels == widget.shown_kernels
    assert "mine::moe" in widget.to_svg()


def test_pages_get_the_kernels_with_the_rules_of_a_page_or_of_python(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[set[str]] = []
    monkeypatch.setattr(page.widget, "_send", lambda msg, **_: sent.append(set(msg.get("state", ()))))
    page.widget.selected = [0]
    sent.clear()
    page.widget.rules = {"mine::moe": MOE}
    assert sent == [{"rules", "kernels"}]
    sent.clear()
    page.widget.set_state({"rules": {}})
    assert {"rules", "kernels"} in sent
    assert page.widget.selected == (0,)


def test_a_page_is_told_what_a_rule_says_before_it_is_in_force(page: Page) -> None:
    reply = page.asks(ask="rule", name="mine::moe", text=MOE)["effect"]
    assert (reply["flops"], reply["bytes"], reply["calls"]) == (2 * MOE_FLOPS, 2 * MOE_BYTES, 2)
    assert reply["time"] == pytest.approx(0.12)
    assert reply["peak"] == pytest.approx(2 * MOE_FLOPS / 0.12 / 100e12)
    assert reply["roof"] == pytest.approx(reply["peak"])
    assert (reply["chip"], reply["precision"]) == ("Example", "bf16")
    # 10 ms of 160 ms are the matrix product.
    assert reply["known"] == pytest.approx([10 / 160, 130 / 160])
    assert reply["at_least"] is False
    assert reply["read"] == "6 T k D F = 6 x 8192 x 4 x 2880 x 2880"
    assert reply["typed"] == ["active", "ffn", "d", "weight_bits"]
    assert dict(page.widget.rules) == {}


def test_the_effect_of_a_rule_is_beside_the_other_rules(page: Page) -> None:
    page.widget.rules = {"mine::scale": '"mine::scale" = { flops = 5, bytes = 7 }', "mine::moe": MOE}
    line = '"mine::moe" = { bytes = "tensors", at_least = true }'
    reply = page.asks(ask="rule", name="mine::moe", text=line)["effect"]
    assert (reply["flops"], reply["at_least"]) == (None, True)
    assert reply["bytes"] == 2 * 2 * (8192 * 3072 + 8192 * 32)
    assert reply["known"][0] == pytest.approx(40 / 160)


def test_a_rule_whose_pattern_is_no_name_is_for_the_rows_that_it_matches(page: Page) -> None:
    text = '"mine::*" = { flops = 7, bytes = 1 }'
    effect = page.asks(ask="rule", name="mine::*", text=text)["effect"]
    assert (effect["flops"], effect["calls"], effect["time"]) == (21, 3, pytest.approx(0.15))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MOE.replace("4,", '"?",'), 'Line 1: write a number or an expression for "?": active'),
        (MOE.replace("x = 0", "x = 5"), "Line 1: 'mine::moe' for mine::moe: x = 5: input 5 is not a tensor"),
        (MOE.replace("active = 4, ", ""), "Line 1: 'active' is not in the trace"),
        (f"# mine\n\n{MOE.replace('ffn', 'fnf')}", "Line 3: 'mine::moe': the form 'moe' has no key 'fnf'"),
        ('"mine::moe" = { part_of = "x" }', "part_of shares work when a profile is read"),
        ('"other" = { flops = 1 }', 'no rule is for this name; begin the line with "mine::moe" = {'),
        ('"mine::moe" = { flops = 1', "not TOML: "),
        ("#" * 100_001, "100,001 letters"),
    ],
)
def test_a_page_is_told_what_is_wrong_with_a_rule(page: Page, text: str, reason: str) -> None:
    assert page.asks(ask="rule", name="mine::moe", text=text)["refused"].startswith(reason)


def test_a_rule_may_go_on_in_lines_that_begin_with_a_space(page: Page) -> None:
    text = MOE.replace("experts", "\n    experts")
    assert page.asks(ask="rule", name="mine::moe", text=text)["effect"]["flops"] == 2 * MOE_FLOPS
    assert page.asks(ask="save rules", text=text) == {"saved": "work.toml"}


def test_rules_are_saved_beside_the_profile_and_found_there(page: Page, profile: Path) -> None:
    file = profile.with_name("work.toml")
    file.write_text('# ours\n"aten::mm" = { flops = 1 }\n"mine::moe" = { flops = 2 } # old\n', encoding="utf-8")
    assert page.asks(ask="save rules", text=MOE) == {"saved": "work.toml"}
    assert file.read_text(encoding="utf-8") == f'# ours\n"aten::mm" = {{ flops = 1 }}\n{MOE}\n'
    assert rw.read(profile).flops[row_of(rw.read(profile), "mine::moe")] == 2 * MOE_FLOPS
    other = '"mine::scale" = { flops = 5 }'
    page.asks(ask="save rules", text=other)
    assert file.read_text(encoding="utf-8").endswith(f"{MOE}\n{other}\n")
    assert sorted(path.name for path in profile.parent.iterdir()) == ["trace.json", "work.toml"]


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ('["mine::moe"]\nflops = 2\n', "work.toml: line 1: the rule for mine::moe is not in one line"),
        ('"mine::moe" = { flop = 2 }\n', "work.toml: line 1: 'mine::moe': "),
    ],
)
def test_a_file_that_cannot_take_a_rule_is_left_as_it_is(page: Page, profile: Path, before: str, reason: str) -> None:
    file = profile.with_name("work.toml")
    file.write_text(before, encoding="utf-8")
    assert page.asks(ask="save rules", text=MOE)["refused"].startswith(reason)
    assert file.read_text(encoding="utf-8") == before


def test_without_a_folder_a_page_is_told_to_keep_the_file_itself(
    monkeypatch: pytest.MonkeyPatch, profile: Path
) -> None:
    page = Page(rw.roofline([CHIP], rw.read(profile)), monkeypatch)
    assert page.asks(ask="save rules", text=MOE) == {"saved": None}
    closed = Page(rw.roofline([CHIP], profile, open_files="nothing"), monkeypatch)
    assert closed.asks(ask="save rules", text=MOE) == {"saved": None}
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert Page(rw.roofline([CHIP], profile), monkeypatch).asks(ask="save rules", text=MOE) == {"saved": None}
    assert not profile.with_name("work.toml").exists()


def test_a_file_of_rules_is_read_as_lines_by_pattern(page: Page) -> None:
    text = f'# ours\n{MOE}\n["mine::*"]\nflops = 3\n'
    assert page.asks(ask="rules", text=text) == {"rules": {"mine::moe": MOE, "mine::*": '"mine::*" = { flops = 3 }'}}
    assert page.asks(ask="rules", text="x = 1")["refused"].startswith("work.toml: line 1: ")


def test_the_kernels_of_a_graph_take_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(rw.RooflineWidget([CHIP], graph=rw.chain([("scale", 1)], elements=10)), monkeypatch)
    assert "graph" in page.asks(ask="rule", name="scale", text='"scale" = { flops = 1 }')["refused"]


def test_a_line_is_not_merged_into_a_file_that_is_none() -> None:
    with pytest.raises(Refused, match="not TOML"):
        rules.merged("{", {"a": '"a" = { flops = 1 }'})
