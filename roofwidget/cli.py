"""The command `roofwidget`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from roofwidget.export.notebook import notebook_page

_BUNDLE = """\
Write an executed notebook as one HTML page: its texts, code and outputs, with its roofwidgets alive. The page needs no
Python, no network and no other file.

Run the notebook first, so that it has the state of its widgets:
  jupyter nbconvert --to notebook --execute --inplace lesson.ipynb
  roofwidget bundle-html lesson.ipynb
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with arguments, by default those of the process. Return the exit status."""
    parser = argparse.ArgumentParser(prog="roofwidget", description="Rooflines outside a notebook.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    bundle = commands.add_parser(
        "bundle-html",
        help="write an executed notebook as one HTML page with its widgets alive",
        description=_BUNDLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    bundle.add_argument("paths", type=Path, nargs="+", metavar="NOTEBOOK", help="a notebook, or a folder of notebooks")
    bundle.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where the pages go; by default beside the notebooks"
    )
    bundle.set_defaults(run=_bundle)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (ImportError, OSError, ValueError) as error:
        print(f"roofwidget: {error}", file=sys.stderr)  # noqa: T201 - a command speaks to its user
        return 1


def _bundle(options: argparse.Namespace) -> int:
    notebooks = list(_notebooks(options.paths))
    if not notebooks:
        raise ValueError(f"there is no notebook (.ipynb) in {', '.join(map(str, options.paths))}")
    today = datetime.now().astimezone().date()
    for path in notebooks:
        html = notebook_page(path, today)
        target = (options.out or path.parent) / f"{path.stem}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(html, encoding="utf-8")
        print(target)  # noqa: T201 - the command's result
    return 0


def _notebooks(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (sorted(path.glob("*.ipynb")) if path.is_dir() else [path])


if __name__ == "__main__":
    sys.exit(main())
