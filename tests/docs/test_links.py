"""Links of the documentation lead somewhere, on GitHub and in the site. The site itself is not built here."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.places import ROOT, text_of

MAKER: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "make_site.py"))
TEXTS = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))


@pytest.mark.parametrize("suffix", ["*.md", "*.py", "*.ipynb", "*.yml", "*.tsx", "*.ts"])
def test_no_command_installs_a_package_of_this_name_from_an_index(suffix: str) -> None:
    files = [
        path
        for folder in ("docs", "roofwidget", "notebooks", "js/src", ".github")
        for path in (ROOT / folder).rglob(suffix)
    ]
    commands = re.compile(r"pip install [^\n]*roofwidget[^\n]*")
    found = [command for path in (*files, *ROOT.glob("*.md")) for command in commands.findall(path.read_text("utf-8"))]
    # With " @ " an address follows the name.
    assert [command for command in found if "] @ git+" not in command and "roofwidget @ git+" not in command] == []


def targets(text: str) -> list[str]:
    found: list[str] = []

    def keep(target: str) -> str:
        found.append(target)
        return target

    MAKER["with_targets"](text, keep)
    return [target for target in found if not re.match("[a-z]+:", target)]


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives to headings; the site has the same."""
    text = re.sub(r"^ *```.*?^ *```", "", text_of(path), flags=re.DOTALL | re.MULTILINE)
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)", text, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return set(found)


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_leads_to_a_file_and_its_anchor_to_a_heading(name: str) -> None:
    file = ROOT / name
    for target in targets(text_of(file)):
        path, _, anchor = target.partition("#")
        place = file.parent / path if path else file
        assert place.exists(), f"{name}: {target}"
        assert not anchor or anchor in anchors(place), f"{name}: {target}"


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "README.md"])
def test_in_the_site_every_link_leads_to_a_page_or_a_picture(name: str) -> None:
    pages = {MAKER["place_in_site"](file) for file in MAKER["files"]()}
    pages |= {MAKER["place_in_site"](PurePosixPath(f"notebooks/{path.name}")) for path in ROOT.glob("notebooks/*")}
    pages |= {PurePosixPath("course/index.md")}
    here = MAKER["place_in_site"](PurePosixPath(name))
    assert here in pages
    for target in targets(MAKER["for_site"](text_of(ROOT / name), PurePosixPath(name))):
        path = target.partition("#")[0]
        assert not path or PurePosixPath(*_plain(here.parent / path)) in pages, target


def _plain(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return parts


def test_links_change_and_code_does_not() -> None:
    text = "[a](../README.md#ten-lines) `[b](../README.md)` ![c](levels.png) [d](https://example.org)\n"
    fenced = "```md\n[e](../notebooks/01_first_roofline.ipynb)\n```\n[f](../notebooks/01_first_roofline.ipynb)"
    assert MAKER["for_site"](text + fenced, PurePosixPath("docs/using.md")) == (
        "[a](index.md#ten-lines) `[b](../README.md)` ![c](levels.png) [d](https://example.org)\n"
        "```md\n[e](../notebooks/01_first_roofline.ipynb)\n```\n[f](course/01_first_roofline.md)"
    )
    assert MAKER["for_site"]("[g](docs/using.md)", PurePosixPath("CHANGELOG.md")) == "[g](../using.md)"
    with pytest.raises(ValueError, match=r"docs/using\.md: the site has no page of \.\./Makefile"):
        MAKER["for_site"]("[h](../Makefile)", PurePosixPath("docs/using.md"))


def test_links_of_a_lesson_leave_its_frame() -> None:
    lesson = MAKER["Lesson"]("02_next.html", "Next", ())
    page = '<a href="02_next.html">a</a> <a href="https://example.org">b</a> <a href="#c">c</a>'
    assert MAKER["_for_frame"](page, [lesson]) == (
        '<a target="_top" href="../course/02_next.html">a</a> <a target="_top" href="https://example.org">b</a> '
        '<a href="#c">c</a>'
    )
