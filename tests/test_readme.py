"""The README's example runs and prints what the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
USING = README.parent / "docs" / "using.md"


def test_the_readmes_example_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    example = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    names: dict[str, object] = {}
    exec(example[1], names)  # noqa: S102 - our own text
    printed = re.search(r"print\(.*#\s(.*)", example[1])
    assert printed is not None
    assert capsys.readouterr().out.strip() == printed[1]
    assert repr(names["widget"]) == "RooflineWidget(Mine, NVIDIA H100 SXM5 80GB, TPU v6e (Trillium); 2 kernels)"


def test_the_example_of_a_graph_runs() -> None:
    example = re.search(r"```python\n(.*?)```", USING.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    exec(example[1], {})  # noqa: S102 - our own text


def test_every_file_the_readme_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target


# Where the table of keys tells of keys, and the files with their objects of acts by key.
CHART = Path(__file__).parents[1] / "js" / "src" / "chart"
ACTS = {
    "chart": [
        ("gestures/pointing.ts", r"const keys\b"),
        ("gestures/navigate.ts", r"const acts\b"),
        ("gestures/kernel_drag.ts", r"only: false, act"),
    ],
    "a kernel that is being moved": [("gestures/kernel_drag.ts", r"const steps\b")],
}
# What a key is called there; those that a keyboard has above another are called by the other.
CALLED = {" ": "Space", "PageUp": "Page Up", "PageDown": "Page Down", "=": "+", "_": "-"}


def keys_of(file: str, head: str) -> set[str]:
    """Return the keys that a file of the front end acts on, as the README calls them."""
    found = re.search(head + r"[^{]*\{(.*?)\}(?:;| \};)\n", (CHART / file).read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"{file}: {head}"
    keys = re.findall(r"(?:^|[{,\n])\s*(?:\.\.\.\{ )?(?:\"([^\"]*)\"|(\w+)): ", found[1])
    return {CALLED.get(key, key.removeprefix("Arrow")) for key in map("".join, keys)}


@pytest.mark.parametrize("where", ACTS)
def test_the_table_of_keys_names_those_that_the_chart_acts_on_and_no_others(where: str) -> None:
    told: dict[str, set[str]] = {}
    place = ""
    for named, keys in re.findall(r"^\|([^|]*)\|([^|]*)\|[^|]*\|$", USING.read_text(encoding="utf-8"), re.MULTILINE):
        place = named.strip() or place
        told.setdefault(place, set()).update(re.split(r"[,;] | or ", keys.strip()))
    acts = set.union(*(keys_of(*source) for source in ACTS[where]))
    assert told[where] == {key.upper() if len(key) == 1 else key for key in acts}
