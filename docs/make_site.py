"""Write the sources of the documentation site into `build/site`: `make site` does this, then Sphinx makes the pages.

In the checkout, links between files work on GitHub. In the site they lead to the pages that these files become. The
lessons are the pages of `make course`, each in a frame within a page of the site. The playground is a page of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any, Final

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

import roofwidget as rw
from docs import make_playground
from roofwidget.export.course import CONTENTS, Lesson
from roofwidget.export.notebook import lesson_of
from roofwidget.state.field import Field
from roofwidget.state.state import TRAITS

SITE: Final = ROOT / "build" / "site"
FRAMES: Final = ROOT / "build" / "frames"
"""Holds the playground, and the folder `live`, whose pages are shown in frames. Sphinx copies it as it is."""
COURSE: Final = ROOT / "course"

# The pages of files that are not in this folder. A file that does not exist has none.
_PAGES_OF_ROOT: Final = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
}
_FENCE: Final = re.compile(r" *(```|~~~)")
# Code within a line, or the target of a link or a picture.
_CODE_OR_TARGET: Final = re.compile(r"(`+)(?:(?!\1).)+\1|(?<=\]\()[^()\s]+(?=\))")
_ADDRESS: Final = re.compile(r"[a-z]+:")
_LINK: Final = re.compile(r'<a href="(?!#)([^"]*)"')
# A name in the help of a trait.
_NAME: Final = re.compile(r"`(\w+)`")
_HEAD_OF_TRAITS: Final = """\
.. list-table::
   :header-rows: 1
   :class: traits

   * - trait
     - owner
     - default
     - what it is
"""


def with_targets(text: str, change: Callable[[str], str]) -> str:
    """Return a Markdown text with the target of each link and picture changed. Code has no links."""
    lines, in_code = [], False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        lines.append(line if in_code else _CODE_OR_TARGET.sub(lambda m: m[0] if m[1] else change(m[0]), line))
    return "\n".join(lines)


def place_in_site(file: PurePosixPath) -> PurePosixPath | None:
    """Return the place of a file in `build/site`, both relative; None if the site does not have the file."""
    match file.parts:
        case ("docs", *below):
            return PurePosixPath(*below)
        case ("notebooks",):
            return PurePosixPath("course/index.md")
        case ("notebooks", name):
            return PurePosixPath("course", name).with_suffix(".md")
        case (name,) if name in _PAGES_OF_ROOT:
            return PurePosixPath(_PAGES_OF_ROOT[name])
    return None


def for_site(text: str, file: PurePosixPath) -> str:
    """Return the Markdown text of a file of the checkout with the links of the site.

    Raises
    ------
    ValueError
        If a link leads to a file that the site does not have.
    """
    here = (place_in_site(file) or file).parent

    def change(target: str) -> str:
        path, mark, anchor = target.partition("#")
        if not path or _ADDRESS.match(path):
            return target
        place = place_in_site(PurePosixPath(os.path.normpath(file.parent / path)))
        if place is None:
            raise ValueError(f"{file}: the site has no page of {path}")
        return f"{os.path.relpath(place, here)}{mark}{anchor}"

    return with_targets(text, change)


def files() -> Iterator[PurePosixPath]:
    """Yield the files of the checkout that are pages and pictures of the site."""
    for pattern in ("*.md", "*.png", "*.webp", "api/*.rst"):
        yield from (PurePosixPath(path.relative_to(ROOT).as_posix()) for path in sorted(DOCS.glob(pattern)))
    yield from (PurePosixPath(name) for name in _PAGES_OF_ROOT if (ROOT / name).exists() and name != "README.md")


def main() -> None:
    """Write the sources."""
    for folder in (SITE, FRAMES):
        shutil.rmtree(folder, ignore_errors=True)
    for file in files():
        place = SITE / str(place_in_site(file))
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            place.write_text(for_site((ROOT / file).read_text(encoding="utf-8"), file), encoding="utf-8")
        else:
            shutil.copy(ROOT / file, place)
    (SITE / "api" / "traits.inc").write_text(traits(), encoding="utf-8")
    _write_course()
    rw.RooflineModel(title="Drag a roof, a slider or a point").save(FRAMES / "live" / "first.html")
    (FRAMES / "playground.html").write_text(make_playground.text(), encoding="utf-8")


def traits() -> str:
    """Return the table of the traits of `RooflineModel`, as reStructuredText, in the order of effect."""
    model = rw.RooflineModel()
    return _HEAD_OF_TRAITS + "".join(_row(field, getattr(model, name)) for name, field in TRAITS.items())


def _row(field: Field[Any], at_first: Any) -> str:
    what = field.help
    default = dict(at_first) if isinstance(at_first, Mapping) else at_first
    is_fixed = default == field.default or not default
    shown = f"``{default!r}``" if is_fixed else "depends on others"
    return f"""\
   * - .. attribute:: RooflineModel.{field.name}
          :no-contents-entry:

     - {field.owner}
     - {shown}
     - {_NAME.sub(_as_trait, what.strip())}
"""


def _as_trait(name: re.Match[str]) -> str:
    return f":py:obj:`~RooflineModel.{name[1]}`" if hasattr(rw.RooflineModel, name[1]) else name[0]


def _write_course() -> None:
    (SITE / "course").mkdir()
    (FRAMES / "live").mkdir(parents=True)
    lessons = [lesson_of(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    for lesson in lessons:
        live = (COURSE / lesson.page).read_text(encoding="utf-8")
        (FRAMES / "live" / lesson.page).write_text(_for_frame(live, lessons), encoding="utf-8")
        (SITE / "course" / lesson.page).with_suffix(".md").write_text(_lesson(lesson), encoding="utf-8")
    (SITE / "course" / "index.md").write_text(_contents(lessons), encoding="utf-8")


def _for_frame(live: str, lessons: list[Lesson]) -> str:
    """Return a lesson whose links leave the frame: to the site's page of a lesson, or to another machine."""
    pages = {name: f"../course/{name}" for name in (CONTENTS, *(lesson.page for lesson in lessons))}
    pages["glossary.html"] = "../glossary.html"
    return _LINK.sub(lambda link: f'<a target="_top" href="{pages.get(link[1], link[1])}"', live)


def _lesson(lesson: Lesson) -> str:
    return f"""---
hide-toc: true
---

# {lesson.title}

<p class="of-lesson"><a href="../live/{lesson.page}">This lesson on a page of its own</a></p>
<iframe class="lesson" src="../live/{lesson.page}" title="{escape(lesson.title)}"></iframe>
"""


def _contents(lessons: list[Lesson]) -> str:
    items = "\n".join(
        f"1. [{lesson.title}]({Path(lesson.page).stem}.md)\n\n   {' · '.join(lesson.sections)}" for lesson in lessons
    )
    names = "\n".join(Path(lesson.page).stem for lesson in lessons)
    return f"""# The course

Lessons of 30 to 60 minutes: a live chart, a story with questions that check the answers, and an exercise with its
solution. The widgets are alive on these pages: no Python is needed.

{items}

```{{toctree}}
:hidden:

{names}
```
"""


if __name__ == "__main__":
    main()
