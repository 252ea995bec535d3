"""The recipe, the lock and the image in `docs/packaging` agree with `pyproject.toml`."""

from __future__ import annotations

import re
import sys
from typing import Any

from tests.places import DOCS, ROOT, text_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT: dict[str, Any] = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
PACKAGING = DOCS / "packaging"
LEFT_OUT_OF_CONDA = {"font-hanken-grotesk", "quickjs-ng", "resvg-py"}


def named(requirement: str) -> tuple[str, str]:
    """Return the name and the bounds of a requirement, without its marker."""
    found = re.match(r"([A-Za-z0-9_-]+)(?:\[.*\])? ?([^;]*)", requirement)
    assert found, requirement
    return found[1], found[2].strip()


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for() -> None:
    recipe = text_of(PACKAGING / "recipe.yaml")
    assert f'version: "{PROJECT["version"]}"' in recipe
    assert f'summary: "{PROJECT["description"]}"' in recipe
    assert f"license: {PROJECT['license']}" in recipe
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    asked = dict(named(line.strip("- ")) for line in run.splitlines())
    assert asked.pop("python").startswith(">=")
    wanted = dict(map(named, PROJECT["dependencies"]))
    assert asked == {name: bounds for name, bounds in wanted.items() if name not in LEFT_OUT_OF_CONDA}
    assert set(wanted) >= LEFT_OUT_OF_CONDA


def test_the_lock_of_the_demo_has_one_version_of_each_package_that_the_demo_needs() -> None:
    lines = text_of(PACKAGING / "demo.lock").splitlines()
    assert all(re.match(r"[a-z0-9-]+==[^ ]+( ; |$)", line) for line in lines)
    locked = {named(line)[0] for line in lines}
    assert {named(line)[0] for line in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["demo"])} <= locked


def test_the_image_installs_what_the_lock_names() -> None:
    assert "--requirement docs/packaging/demo.lock" in text_of(PACKAGING / "Dockerfile")
