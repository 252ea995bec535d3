"""The notebook that `make demo` opens is live before it is run, and leads to each lesson."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from tests.places import ROOT


def test_the_first_notebook_has_the_state_of_three_charts_and_a_link_to_each_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    path = runpy.run_path(str(ROOT / "docs/make_demo.py"))["main"](tmp_path / "demo")
    notebook = json.loads(path.read_text("utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert [output["output_type"] for output in outputs] == ["execute_result"] * 3
    states = notebook["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    views = [output["data"]["application/vnd.jupyter.widget-view+json"]["model_id"] for output in outputs]
    assert all(states[view]["state"]["_esm"] for view in views)
    links = re.findall(r"\]\(([^)]+\.ipynb)\)", "".join(notebook["cells"][-1]["source"]))
    targets = [(path.parent / link).resolve() for link in links]
    assert targets == sorted((ROOT / "notebooks").glob("*.ipynb"))
