"""Write the course as a JupyterLite site, with Python in the reader's browser: `make lite` does this.

`python docs/lite/make_lite.py WHEEL FOLDER JUPYTER`: the wheel of roofwidget, the folder of the site, and the command
`jupyter` of an environment with `requirements.txt`.

The site holds roofwidget and all of its dependencies that are pure Python. The reader's browser fetches Pyodide, with
numpy and pandas, from where Pyodide serves it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import nbformat

# nbformat has types for a part of its functions.
NOTEBOOKS: Any = nbformat
CELLS: Any = nbformat.v4
ROOT: Final = Path(__file__).parents[2]
WHEELS: Final = (
    *("anywidget", "bqplot", "bqscales", "font-hanken-grotesk", "ipywidgets", "jupyterlab-widgets", "markdown-it-py"),
    *("mdurl", "plotille", "psygnal", "traittypes", "typing-extensions", "widgetsnbextension"),
)
"""What roofwidget needs beside what Pyodide itself has."""
FIRST_CELL: Final = """import piplite  # the packages of this site

await piplite.install("roofwidget")"""


def download(folder: Path) -> None:
    """Download the wheels of `WHEELS` that run on every machine."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    where = ["--platform=any", "--implementation=py", "--abi=none", f"--dest={folder}"]
    subprocess.run([*pip, *where, *WHEELS], check=True)  # noqa: S603 - pip of this interpreter


def write_lessons(folder: Path) -> None:
    """Write the lessons, each with a cell in front that installs roofwidget."""
    folder.mkdir(parents=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        lesson = NOTEBOOKS.read(path, as_version=4)
        lesson.cells.insert(1, CELLS.new_code_cell(FIRST_CELL, id="install"))
        NOTEBOOKS.write(lesson, folder / path.name)


def main(wheel: Path, folder: Path, jupyter: str) -> None:
    """Write the site."""
    sources = folder.with_name(f"{folder.name}-sources")
    for old in (folder, sources):
        shutil.rmtree(old, ignore_errors=True)
    wheels = sources / "wheels"
    wheels.mkdir(parents=True)
    shutil.copy(wheel, wheels)
    download(wheels)
    write_lessons(sources / "lessons")
    # Without this, a package that the site lacks would be asked of the package index.
    kernel = {"@jupyterlite/pyodide-kernel-extension:kernel": {"disablePyPIFallback": True}}
    settings = {"appName": "Rooflines: a course", "litePluginSettings": kernel}
    text = json.dumps({"jupyter-lite-schema-version": 0, "jupyter-config-data": settings})
    (sources / "jupyter-lite.json").write_text(text, encoding="utf-8")
    command = [jupyter, "lite", "build", "--apps=lab", "--no-sourcemaps", "--no-unused-shared-packages"]
    files = [f"--contents={sources / 'lessons'}", f"--piplite-wheels={wheels}", f"--output-dir={folder.resolve()}"]
    subprocess.run([*command, *files], check=True, cwd=sources)  # noqa: S603 - named on the command line


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3])
