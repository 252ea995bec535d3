"""The reference of the site has every public name once, and every trait."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from collections.abc import Iterator

import pytest
from traitlets import TraitType

import roofwidget as rw
from tests.places import DOCS, text_of

PAGES = sorted((DOCS / "api").glob("*.rst"))
DIRECTIVE = re.compile(r"^\.\. (\w+):: (\S+)", re.MULTILINE)
DESCRIBES = {"module", "automodule", "autoclass", "autoexception", "autofunction", "data"}


def described() -> Iterator[str]:
    """Yield the full name of everything that the reference describes."""
    for page in PAGES:
        module = ""
        for directive, name in DIRECTIVE.findall(text_of(page)):
            if directive in {"module", "currentmodule", "automodule"}:
                module = name
            if directive in DESCRIBES:
                yield name if name.startswith("roofwidget.") else f"{module}.{name}"


def test_every_public_name_is_described_once() -> None:
    names = Counter(described())
    assert [name for name, times in names.items() if times > 1] == []
    assert [name for name in vars(rw)["__all__"] if f"roofwidget.{name}" not in names] == []


def test_every_name_that_a_result_is_an_instance_of_is_described_too() -> None:
    # IPython calls the last one.
    assert {f"roofwidget.{name}" for name in rw._NAMES} - set(described()) == {"roofwidget.load_ipython_extension"}


@pytest.mark.parametrize("module", ["companions", "network", "workloads"])
def test_every_name_of_a_public_module_is_described(module: str) -> None:
    public = getattr(rw, module)
    of_package = {name for name in public.__all__ if name in vars(rw)["__all__"]}
    whole = f".. automodule:: roofwidget.{module}\n   :members:"
    if not any(whole in text_of(page) for page in PAGES):
        assert {f"roofwidget.{module}.{name}" for name in public.__all__ if name not in of_package} <= set(described())


def test_the_table_of_traits_has_each_with_its_owner_its_default_and_its_help() -> None:
    table = runpy.run_path(str(DOCS / "make_site.py"))["traits"]()
    rows = table.split("   * - .. attribute:: RooflineModel.")[1:]
    owned = {
        name: trait
        for name, trait in rw.RooflineWidget.class_traits().items()
        if isinstance(trait, TraitType) and "owner" in trait.metadata and not name.startswith("_")
    }
    assert sorted(row.split()[0] for row in rows) == sorted(owned)
    for row in rows:
        name, owner, default, *what = (
            part.strip() for part in row.replace(":no-contents-entry:", "").split("\n     - ")
        )
        trait = owned[name]
        assert owner == trait.metadata["owner"]
        assert default == "depends on others" or default.startswith("``")
        assert what, name
        help_text = re.sub(r":py:obj:`~RooflineModel\.(\w+)`", r"`\1`", " - ".join(what))
        assert trait.help.startswith(help_text)
    assert "- ``'roofline'``" in table
