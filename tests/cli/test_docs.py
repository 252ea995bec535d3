"""docs/ci.md says what the command does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from roofwidget import cli
from roofwidget.cli import main, make_parser
from tests.places import DOCS, FIXTURES, text_of

TEXT = text_of(DOCS / "ci.md")


def test_every_command_is_in_the_table() -> None:
    assert {name for name in cli._COMMANDS if not re.search(rf"`roofwidget {name}[ `]", TEXT)} == set()


def test_each_line_of_the_workflow_that_runs_the_command_is_one_that_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workflow = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert workflow is not None
    lines = re.findall(r"run: roofwidget (.*)", workflow[1])
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line)
        make_parser(words).parse_args(words)
    # The same lines on a profile of this kind; its kernel has another name.
    profile = str(FIXTURES / "ncu" / "two_kernels.ncu-rep")
    page = str(tmp_path / "roofline.html")
    here = {"profile.ncu-rep": profile, "flash*": "gemm", "roofline.html": page}
    statuses = [main([here.get(word, word) for word in shlex.split(line)]) for line in lines]
    assert statuses == [1, 0]
    assert Path(page).exists()
    assert "Below: the kernels together reach 33 %" in capsys.readouterr().out


def test_the_example_in_python_prints_the_version_of_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    example = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert example is not None
    exec(example[1], {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "1\n"
