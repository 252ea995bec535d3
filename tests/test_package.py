"""What `import roofwidget` provides, and what it does not load."""

from __future__ import annotations

import ast
import doctest
import inspect
import pickle
from importlib import import_module, resources
from pathlib import Path

import pytest

import roofwidget as rw
from tests.places import text_of
from tests.processes import run_python

LISTED: list[str] = vars(rw)["__all__"]
HEAVY = ("pandas", "bqplot", "torch", "jax", "ipywidgets", "anywidget", "IPython")


def test_the_public_names_are_sorted_and_there_is_no_name_twice() -> None:
    assert sorted(set(LISTED)) == LISTED


@pytest.mark.parametrize("name", [*LISTED, "__version__"])
def test_every_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(rw, name) is not None
    assert name in dir(rw)


@pytest.mark.parametrize("name", rw._NAMES)
def test_every_name_is_in_the_module_that_it_is_loaded_from(name: str) -> None:
    assert getattr(import_module(rw._NAMES[name]), name) is getattr(rw, name)


def test_the_names_are_those_that_type_checkers_know() -> None:
    stub = text_of(Path(inspect.getfile(rw)).with_suffix(".pyi"))
    imports = [one for one in ast.parse(stub).body if isinstance(one, ast.ImportFrom)]
    known = {alias.asname: (one.module, alias.name) for one in imports for alias in one.names}
    assert known == {name: (module, name) for name, module in rw._NAMES.items()}


@pytest.mark.parametrize("name", rw._NAMES)
def test_a_public_class_is_found_in_the_package_so_that_its_pickles_survive_a_move(name: str) -> None:
    public = getattr(rw, name)
    if inspect.isclass(public):
        assert (public.__module__, public.__qualname__) == ("roofwidget", name)
        assert pickle.loads(pickle.dumps(public)) is public  # noqa: S301 - made in this line


def test_the_doctests_of_a_public_class_are_found_in_its_file() -> None:
    found = [test.name for test in doctest.DocTestFinder().find(import_module("roofwidget.model")) if test.examples]
    assert {"roofwidget.model.RooflineModel", "roofwidget.model.RooflineModel.move"} <= set(found)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'roofwidget' has no attribute 'rooflin'"):
        rw.rooflin  # type: ignore[attr-defined]  # noqa: B018 - asking is the test


@pytest.mark.parametrize("name", HEAVY)
def test_importing_the_package_does_not_import(name: str) -> None:
    run_python(f"import sys, roofwidget; sys.exit({name!r} in sys.modules)")


def test_looking_up_a_chip_and_its_bound_imports_nothing_heavy() -> None:
    run_python(
        "import sys, roofwidget as rw; rw.bound([('matmul', 4.3e9, 1.2e7)], rw.chip('v5p'));"
        f"sys.exit(any(name in sys.modules for name in {HEAVY}))"
    )


def test_importing_every_name_at_once_works() -> None:
    run_python("from roofwidget import *; roofline(); RooflineModel()")


@pytest.mark.parametrize(
    "asked",
    [
        "import roofwidget.analysis.roofline, roofwidget as rw",
        "from roofwidget.analysis.bound import bound; import roofwidget as rw",
        "import roofwidget as rw; import roofwidget.analysis.roofline, roofwidget.widget",
    ],
)
def test_roofline_is_the_function_even_after_its_module_is_imported(asked: str) -> None:
    then = f"{asked}; print(repr(rw.roofline(['v5p'])))"
    shown = run_python(then)
    assert shown == "RooflineWidget(TPU v5p; 0 kernels)\n"


def test_no_file_or_folder_takes_the_place_of_a_public_name_of_the_same_name() -> None:
    asked = (
        "import pkgutil, types, importlib, roofwidget as rw\n"
        "names = [one.name for one in pkgutil.iter_modules(rw.__path__)]\n"
        "for name in names: importlib.import_module(f'roofwidget.{name}')\n"
        "print([name for name in rw.__all__ if isinstance(getattr(rw, name), types.ModuleType)], 'chips' in names)"
    )
    shown = run_python(asked)
    assert shown == "['companions', 'network', 'workloads'] True\n"


def test_a_module_that_loads_late_has_the_names_and_the_text_of_the_module_and_can_be_patched() -> None:
    asked = (
        "import sys, pytest\n"
        "from roofwidget.export import pictures\n"
        "print('roofwidget.export.pictures' in sys.modules)\n"
        "print(pictures.__doc__[:8], 'png' in dir(pictures), vars(pictures)['PRINT_DPI'])\n"
        "import roofwidget.export.pictures as loaded\n"
        "known = loaded.png\n"
        "with pytest.MonkeyPatch.context() as patch:\n"
        "    patch.setattr(pictures, 'png', list)\n"
        "    print(loaded.png is list)\n"
        "print(loaded.png is known)\n"
    )
    assert run_python(asked).split("\n") == ["False", "Turns a  True 600.0", "True", "True", ""]


def test_a_package_has_no_module_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"module 'roofwidget\.export' has no attribute 'nothing'"):
        getattr(import_module("roofwidget.export"), "nothing")  # noqa: B009 - it is not there for type checkers either


def test_the_module_of_the_arithmetic_can_still_be_imported() -> None:
    assert import_module("roofwidget.analysis.roofline").attainable is rw.attainable


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files("roofwidget").joinpath("py.typed").is_file()
