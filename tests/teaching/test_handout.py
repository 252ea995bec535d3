"""A sheet on paper: what each question has, and what only the key has."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import pytest

import roofwidget as rw
from roofwidget.cli import main
from tests.places import text_of, write
from tests.teaching.test_notebook_sheet import LIMIT, TIME, asking, notebook

KEYS = '["ridge-point", "layernorm-place", "saxpy-write-allocate", "chain-merge"]'


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    return write(tmp_path / "sheet.toml", f'course = "HPC"\ntitle = "Sheet <1>"\nquestions = {KEYS}\n')


def pages(sheet: Path, **options: int) -> tuple[str, str]:
    handout, key = sheet.with_name("handout.html"), sheet.with_name("key.html")
    assert rw.class_handout(sheet, handout, answer_key=key, **options) == handout
    return text_of(handout), text_of(key)


def charts(page: str) -> list[str]:
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [base64.b64decode(one).decode() for one in found]


def test_a_handout_has_boxes_lines_and_charts_and_only_the_key_has_answers(sheet: Path) -> None:
    handout, key = pages(sheet)
    sections = handout.split("<section>")[1:]
    assert len(sections) == len(key.split("<section>")[1:]) == 4
    # Three lines for a number, two beside a chart, none below options, four for a merge.
    assert [one.count('class="rule"') for one in sections] == [3, 2, 0, 4]
    assert [one.count('class="box"') for one in sections] == [0, 0, 4, 0]
    assert ('class="rule"' in key, key.count("×</span>")) == (False, 1)
    # The ridge point of the guide's TPU v5p, and the intensity of its LayerNorm.
    for answer in ("166.3 FLOP/B</strong>", "1.667 FLOP/B</strong>", "TPU roofline guide"):
        assert (answer in handout, answer in key) == (False, True)
    assert ("Name" in handout, "Name" in key) == (True, False)
    # 166.3 FLOP/B and 5 % on either side.
    accepted = "Accepted: 158.4 FLOP/B to 174.6 FLOP/B."
    assert (accepted in handout, accepted in key) == (False, True)
    assert "Sheet &lt;1&gt;" in handout
    assert "break-inside: avoid" in handout


def test_a_chart_is_that_of_the_open_question_and_hides_its_kernel(sheet: Path) -> None:
    handout, key = map(charts, pages(sheet))
    # Those of the LayerNorm and of the merge: the others have no chips.
    assert (len(handout), len(key)) == (2, 2)
    assert ("LayerNorm" in handout[0], "LayerNorm" in key[0]) == (False, True)


def test_a_small_tolerance_asks_for_digits(sheet: Path) -> None:
    assert "Give 3 digits." not in text_of(rw.class_handout(sheet, sheet.with_name("a.html")))
    write(sheet, f'{text_of(sheet)}tolerance = "1 %"\n')
    # A number has the tolerance of the sheet, a drag keeps its own.
    assert text_of(rw.class_handout(sheet, sheet.with_name("b.html"))).count("Give 3 digits.") == 1


def test_a_seed_gives_other_numbers(sheet: Path) -> None:
    question = next(one for one in rw.question_bank(5) if one.key == "ridge-point")
    handout, key = pages(sheet, seed=5)
    assert question.answer_text in key
    assert "· 5" in handout


def test_the_steps_of_a_notebook_are_printed_with_their_charts_and_captions(tmp_path: Path) -> None:
    model = asking(("**Look.**", {}, TIME), LIMIT, chips=["v5p"], kernels=[("softmax", 1e10, 8e9)])
    handout, key = pages(notebook(tmp_path / "s.ipynb", model))
    assert "<p><strong>Look.</strong></p><p>How long do <em>3.35 GB</em>" in handout
    assert [len(charts(page)) for page in (handout, key)] == [2, 2]
    assert ("1 ms</strong>" in handout, "1 ms</strong>" in key) == (False, True)


def test_a_pdf_has_numbered_pages_and_is_the_same_each_time(sheet: Path) -> None:
    paths = [sheet.with_name(name) for name in ("a.pdf", "b.pdf", "key.pdf")]
    assert main(["class", "handout", str(sheet), "--out", str(paths[0]), "--answer-key", str(paths[2])]) == 0
    assert main(["class", "handout", str(sheet), "--out", str(paths[1])]) == 0
    first, again, key = (path.read_bytes() for path in paths)
    assert first.startswith(b"%PDF-")
    assert first == again
    assert key != first


def test_without_typst_the_message_names_it_and_the_way_without_it(
    sheet: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    out = sheet.with_name("a.pdf")
    assert main(["class", "handout", str(sheet), "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "a PDF needs the package typst: pip install 'typst" in said
    assert "or write a page (.html) and print it from a browser" in said
    assert not out.exists()


def test_another_end_of_a_name_is_refused_before_anything_is_written(sheet: Path) -> None:
    out = sheet.with_name("handout.pdf")
    with pytest.raises(ValueError, match=r"a handout ends in \.pdf or \.html, not 'class\.key'"):
        rw.class_handout(sheet, out, answer_key=sheet.with_name("class.key"))
    assert not out.exists()
