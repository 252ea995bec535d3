"""Ask the page's own code, in Node, what it shows of models."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import roofwidget as rw

JS: Final = ROOT / "js"
NODE: Final = shutil.which("node") or "node"
# Far more than thousands of models need.
_MAX_SECONDS: Final = 300


def on_the_wire(model: rw.RooflineModel) -> dict[str, Any]:
    """Return the model's traits as a widget sends them."""
    found = {}
    for name, trait in model.traits(sync=True).items():
        to_json = trait.metadata.get("to_json")
        value = getattr(model, name)
        found[name] = value if to_json is None else to_json(value, model)
    return found


def line_of(model: rw.RooflineModel) -> str:
    """Return the model's traits as one line of JSON, with each buffer as text."""
    return json.dumps(on_the_wire(model), default=_encoded)


def _encoded(value: Any) -> Any:
    if isinstance(value, (bytes, memoryview)):
        return {"buffer": base64.b64encode(value).decode("ascii")}
    return list(value)


def program(folder: Path) -> Path:
    """Bundle the page's code for Node."""
    script = folder / "shown.mjs"
    command = [
        *(NODE, str(JS / "node_modules/esbuild/bin/esbuild"), "test/agreement/run.mjs", "--bundle"),
        *("--platform=node", "--format=esm", "--jsx=automatic", "--jsx-import-source=preact", "--log-level=error"),
    ]
    subprocess.run([*command, f"--outfile={script}"], cwd=JS, check=True, timeout=_MAX_SECONDS)
    return script


def shown(script: Path, lines: Iterable[str], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the page shows of each model that a line describes."""
    asked, answered = folder / "models.jsonl", folder / "shown.jsonl"
    asked.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with asked.open("rb") as source, answered.open("wb") as target:
        subprocess.run([NODE, str(script)], stdin=source, stdout=target, check=True, timeout=_MAX_SECONDS)
    with answered.open(encoding="utf-8") as texts:
        for text in texts:
            yield json.loads(text)
