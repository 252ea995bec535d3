"""Put a software bill of materials into the wheel: the JavaScript packages that the front end bundles.

The wheel has it where PEP 770 says, in ``.dist-info/sboms/``. Python packages are not in the wheel, so they are not
listed: the metadata of the wheel names them.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BillOfMaterials(BuildHookInterface):  # type: ignore[type-arg]  # the parameters differ between releases
    """Writes the bill when a wheel is built, and deletes its folder afterwards."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the bill. An editable wheel has none: it may be made before the front end is built."""
        if version != "standard":
            return
        self._folder = TemporaryDirectory()
        file = Path(self._folder.name, f"{self.metadata.core.name}.cdx.json")
        bill = bill_of_materials(Path(self.root), self.metadata.core.name, self.metadata.version)
        file.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8", newline="\n")
        build_data["sbom_files"].append(str(file))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Delete the folder."""
        if version == "standard":
            self._folder.cleanup()


def bill_of_materials(root: Path, name: str, version: str) -> dict[str, Any]:
    """Return the bill as CycloneDX 1.6.

    It has neither a time nor a random number, so two builds of one source are equal.
    """
    lock = json.loads((root / "js" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    components = [_component(package, lock[f"node_modules/{package}"]) for package in bundled(root)]
    main = f"pkg:pypi/{name}@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": main,
                "name": name,
                "version": version,
                "licenses": [{"license": {"id": lock[""]["license"]}}],
                "purl": main,
            }
        },
        "components": components,
        "dependencies": [
            {"ref": main, "dependsOn": [component["bom-ref"] for component in components]},
            *({"ref": component["bom-ref"]} for component in components),
        ],
    }


def bundled(root: Path) -> list[str]:
    """Return the names of the bundled packages: js/build.mjs writes each, then its licence, then a line."""
    licences = (root / "roofwidget" / "static" / "LICENSES.txt").read_text(encoding="utf-8")
    return [part.split("\n", 1)[0] for part in licences.split("\n---\n\n")]


def _component(name: str, locked: dict[str, Any]) -> dict[str, Any]:
    algorithm, _, digest = locked["integrity"].partition("-")
    purl = f"pkg:npm/{name.replace('@', '%40')}@{locked['version']}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": locked["version"],
        "licenses": [{"license": {"id": locked["license"]}}],
        "purl": purl,
        "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}],
    }
