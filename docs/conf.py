"""The settings of Sphinx for the documentation site; `make site` runs it on `build/site`."""

from __future__ import annotations

import builtins
import inspect
import re
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy.typing as npt
from sphinx.addnodes import pending_xref
from traitlets import HasTraits, TraitType

import roofwidget

DOCS: Final = Path(__file__).parent

project = "roofwidget"
author = "roofwidget contributors"
release = metadata.version("roofwidget")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_argparse_cli"]
nitpicky = True
nitpick_ignore_regex = [
    # Annotations also name types of other packages, and types that have no page.
    ("py:class", ".*"),
    # What other packages define. A plain name in a doc string may also be a column, a key or a variable.
    ("py:(exc|obj)", r"(?!roofwidget\b)[a-z]\w*(\.\w+)*"),
]

myst_heading_anchors = 4

default_role = "py:obj"
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_ivar = True

toc_object_entries_show_parents = "hide"
html_theme = "furo"
html_title = f"roofwidget {release}"
html_favicon = "_static/favicon.svg"
html_static_path = [str(DOCS / "_static")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_extra_path = [str(DOCS.parent / "build" / "frames")]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# The summaries would be fetched, which a browser refuses to a page that is opened from a file.
html_show_search_summary = False

# A name within single backticks in a doc string, without a dot.
_NAME: Final = re.compile(r"(?<![`:\w])`(\w+)`(?!`)")
_ATTRIBUTES: Final = re.compile(r"^:ivar (\w+(?:, \w+)+):(.*(?:\n +.*)*)", re.MULTILINE)
# Where a name may be that has no module before it.
_MODULES: Final = (
    "roofwidget",
    "roofwidget.workloads",
    "roofwidget.workloads.models.config",
    "roofwidget.workloads.models.transformer",
)
# Napoleon takes what is before a colon in the first line of a property for a type. This is no colon.
_COLON: Final = "\N{MODIFIER LETTER COLON}"

T = TypeVar("T")


class ArrayLike:
    """Is shown by its name in annotations, where numpy's own is shown as the long union that it stands for."""

    __module__ = "numpy.typing"


class NDArray(Generic[T]):
    """The same."""

    __module__ = "numpy.typing"


vars(npt).update(ArrayLike=ArrayLike, NDArray=NDArray)


def _process_docstring(_: Any, kind: str, __: str, thing: Any, ___: Any, lines: list[str]) -> None:
    # `chip` is a link to the function of this name, but not where it is a parameter or a field.
    own = _own_names(kind, thing)
    lines[:] = [_NAME.sub(lambda name: f"``{name[1]}``" if name[1] in own else name[0], line) for line in lines]
    if kind in {"attribute", "property"} and lines:
        lines[0] = lines[0].replace(":", _COLON)


def _finish_docstring(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    # Napoleon splits "a, b" of parameters, but not of attributes.
    lines[:] = _ATTRIBUTES.sub(_split, "\n".join(lines)).replace(_COLON, ":").split("\n")


def _split(attributes: re.Match[str]) -> str:
    return "\n".join(f":ivar {name}:{attributes[2]}" for name in attributes[1].split(", "))


def _process_signature(_: Any, __: str, ___: str, thing: Any, ____: Any, shown: str, returned: str) -> Any:
    if not inspect.isclass(thing) or not issubclass(thing, HasTraits):
        return shown, returned
    # Sphinx would take the signature of the metaclass.
    taken = inspect.signature(thing).parameters.values()
    public = (str(one.replace(annotation=one.empty)) for one in taken if not one.name.startswith("_"))
    return f"({', '.join(public)})", None


def _own_names(kind: str, thing: Any) -> set[str]:
    """Return the names of the parameters and fields of what is documented."""
    fields = set(inspect.get_annotations(thing)) if kind in {"class", "exception"} else set()
    try:
        return fields | set(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return fields


def _skip_member(_: Any, __: str, ___: str, thing: Any, ____: bool, _____: Any) -> bool | None:  # noqa: FBT001 - Sphinx calls it
    # Traits are in a table of their own.
    return True if isinstance(thing, TraitType) else None


def _simplify_types(_: Any, page: Any) -> None:
    """Show `bytes` as a type, not as a link to an attribute of this name, and no type where anything is taken."""
    for node in list(page.findall(pending_xref)):
        if node.get("reftype") == "class" and hasattr(builtins, node["reftarget"]):
            node.replace_self(node.children)
        elif node["reftarget"] in {"Any", "typing.Any"}:
            at = node.parent.index(node)
            around = [one.astext() for one in (node.parent[at - 1], *node.parent[at + 1 : at + 2])]
            if around == [" (", ")"]:
                del node.parent[at - 1 : at + 2]


def _within_package(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Find names of the package where another module is described, and those behind ``rw``."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].removeprefix("rw.")
    # A field has no entry of its own: the text of its class describes it.
    owner, _, field = name.removeprefix("roofwidget.").rpartition(".")
    if field in _own_names("class", getattr(roofwidget, owner, roofwidget)):
        name = owner
    candidates = (f"{module}.{name}" for module in _MODULES)
    find = env.domains["py"].resolve_xref
    found = (find(env, node["refdoc"], app.builder, node["reftype"], one, node, content) for one in candidates)
    return next(filter(None, found), None)


def setup(app: Any) -> None:
    """Tell Sphinx what this file adds."""
    app.connect("autodoc-process-docstring", _process_docstring, priority=100)
    app.connect("autodoc-process-docstring", _finish_docstring, priority=900)
    app.connect("autodoc-process-signature", _process_signature)
    app.connect("autodoc-skip-member", _skip_member)
    app.connect("doctree-read", _simplify_types)
    app.connect("missing-reference", _within_package)
