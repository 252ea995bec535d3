"""The front end's code: sent once for all widgets of a kernel, or with each widget if pages find no shared model."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import comm
import ipywidgets
import pytest
from ipywidgets.embed import dependency_state, embed_minimal_html
from traitlets import TraitError

import roofwidget as rw
from roofwidget import Chip, RooflineModel, RooflineWidget
from roofwidget import bundle as delivery
from roofwidget.state.messages import STAMP
from roofwidget.support import languages
from tests.places import ROOT, text_of

SMALL = Chip("Small", {"bf16": 100e12}, {"HBM": 1e12})
TEXTS = {
    "loader.en.js": "export default () => {}; // ∞",
    "loader.de.js": "export default () => {}; // ∞ de",
    "words.en.js": "let words; // en",
    "words.de.js": "let words; // ∞ de",
    "widget.js": "export default {}; // ∞",
    "widget.css": ".roofwidget {}",
}
# Files that a page inflates.
GZIPPED = {name: gzip.compress(text.encode(), mtime=0) for name, text in TEXTS.items() if not name.startswith("loader")}
COMPRESSED = {name: base64.b64encode(data).decode() for name, data in GZIPPED.items()}
OTHER_HOSTS = ("google.colab", "ipywidgets_bokeh", "marimo", "shinywidgets", "solara.server")


@pytest.fixture(autouse=True)
def _no_widget_is_left_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ROOFWIDGET_INLINE", raising=False)
    for name in OTHER_HOSTS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    ipywidgets.Widget.close_all()
    yield
    ipywidgets.Widget.close_all()


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        packed = name in GZIPPED
        (tmp_path / (f"{name}.gz" if packed else name)).write_bytes(GZIPPED[name] if packed else text.encode())
    monkeypatch.setattr(languages, "STATIC", tmp_path)
    return tmp_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the list of first states that models send, in order."""
    states: list[dict[str, Any]] = []
    create = comm.create_comm

    def record(**arguments: Any) -> Any:
        states.append(arguments["data"]["state"])
        return create(**arguments)

    monkeypatch.setattr(comm, "create_comm", record)
    return states


def inline(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process look like one of `host`, or like one with the environment variable set."""
    if "=" in host:
        monkeypatch.setenv(*host.split("="))
    else:
        monkeypatch.setitem(sys.modules, host, ModuleType(host))


# -- once for all ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("built")
def test_the_shared_model_holds_the_built_text_and_its_digests() -> None:
    widget = RooflineWidget([SMALL])
    assert (widget._esm, widget._css) == (TEXTS["loader.en.js"], "")
    assert widget._code is not None
    assert (widget._code.script, widget._code.style) == (COMPRESSED["widget.js"], COMPRESSED["widget.css"])
    assert widget._code.words == {"en": COMPRESSED["words.en.js"]}
    files = {"script": "widget.js", "style": "widget.css", "words.en": "words.en.js", "words.de": "words.de.js"}
    expected = {name: hashlib.sha256(COMPRESSED[file].encode()).hexdigest() for name, file in files.items()}
    assert widget._code.digests == expected


def test_a_default_widget_sends_less_than_twenty_kilobytes_beside_its_kernels(opened: list[dict[str, Any]]) -> None:
    RooflineWidget()
    sent = {name: value for name, value in opened[-1].items() if name != "kernels"}
    assert sent["_anywidget_id"].endswith("RooflineWidget")
    assert len(json.dumps(sent).encode("utf-8")) < 20_000


def test_many_widgets_send_the_code_once_and_before_the_first_of_them(opened: list[dict[str, Any]]) -> None:
    widgets = [RooflineWidget([SMALL]) for _ in range(20)]
    sent = [("script" in state, "chips" in state) for state in opened]
    assert [order for order in sent if any(order)] == [(True, False)] + 20 * [(False, True)]
    codes = {state["_code"] for state in opened if "chips" in state}
    assert codes == {f"IPY_MODEL_{delivery.front_end().model_id}"}  # type: ignore[union-attr]
    assert len({widget._code for widget in widgets}) == 1


@pytest.mark.usefixtures("built")
def test_the_code_brings_its_loader_and_is_sent_before_python_reads_the_kernels(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[list[str]] = []
    check = RooflineModel._check_keywords

    def record(*arguments: Any, **more: Any) -> None:
        before.append([state["_esm"] for state in opened])
        check(*arguments, **more)

    monkeypatch.setattr(RooflineModel, "_check_keywords", record)
    RooflineWidget([SMALL], locale="de")
    assert before == [[TEXTS["loader.de.js"]]]
    assert {name: opened[0][name] for name in ("_model_module_version", "_view_name")} == {
        "_model_module_version": opened[-1]["_model_module_version"],
        "_view_name": None,
    }


def test_a_locale_without_a_catalogue_is_refused_as_before() -> None:
    with pytest.raises(TraitError, match="there is no catalogue for 'tlh'"):
        RooflineWidget([SMALL], locale="tlh")


def test_the_model_needs_no_code(opened: list[dict[str, Any]]) -> None:
    RooflineModel([SMALL])
    assert opened == []


def test_after_everything_was_closed_the_code_is_sent_anew(opened: list[dict[str, Any]]) -> None:
    first = RooflineWidget([SMALL])._code
    ipywidgets.Widget.close_all()
    second = RooflineWidget([SMALL])._code
    assert second is not None
    assert second is not first
    assert opened[-1]["_code"] == f"IPY_MODEL_{second.model_id}"


def test_the_first_widget_sends_less_than_290_kilobytes_beside_its_kernels(opened: list[dict[str, Any]]) -> None:
    RooflineWidget([SMALL], [])
    assert 100_000 < len(json.dumps([{**state, "kernels": None} for state in opened])) < 290_000


def test_a_closed_widget_leaves_the_code_open_for_the_next() -> None:
    first = RooflineWidget([SMALL])
    code = first._code
    first.close()
    assert RooflineWidget([SMALL])._code is code


def test_a_widget_whose_code_was_closed_can_still_be_asked_for_its_state() -> None:
    widget = RooflineWidget([SMALL])
    assert widget._code is not None
    widget._code.close()
    assert widget.get_state("_code") == {"_code": None}
    assert RooflineWidget([SMALL])._code is not widget._code


@pytest.mark.usefixtures("built")
def test_the_shared_model_is_told_in_few_words() -> None:
    made = delivery.front_end()
    assert made is not None
    digest = made.digests["script"]
    assert len(digest) == 64
    assert repr(made) == f"FrontEnd({digest[:8]})"


def test_the_state_of_one_widget_for_a_page_without_a_kernel_includes_the_code(built: Path) -> None:
    widget = RooflineWidget([SMALL])
    RooflineWidget([SMALL])
    state = dependency_state([widget])
    code = state[state[widget.model_id]["state"]["_code"].removeprefix("IPY_MODEL_")]
    assert (code["model_module"], code["model_name"]) == ("anywidget", "AnyModel")
    assert code["state"]["script"] == COMPRESSED["widget.js"]
    embed_minimal_html(str(built / "page.html"), [widget], state=state)
    assert text_of(built / "page.html").count(code["state"]["digests"]["script"]) == 1


# -- with each -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("host", [*OTHER_HOSTS, "ROOFWIDGET_INLINE=1"])
def test_where_no_shared_model_is_found_each_widget_brings_the_whole(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    inline(host, monkeypatch)
    RooflineWidget([SMALL])
    sent = {name: opened[-1][name] for name in ("_esm", "_css", "_code")}
    whole = f"{TEXTS['words.en.js']}\n{TEXTS['widget.js']}"
    assert sent == {"_esm": whole, "_css": TEXTS["widget.css"], "_code": None}
    assert not any("script" in state for state in opened)


@pytest.mark.parametrize("setting", ["0", ""])
def test_the_variable_can_be_set_to_nothing(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv("ROOFWIDGET_INLINE", setting)
    assert delivery.is_shared()


# -- in each language ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("built")
def test_widgets_of_two_languages_send_the_code_once_and_the_words_of_each(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = RooflineWidget([SMALL])
    assert first._code is not None
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(first._code.comm, "send", lambda data, **_: sent.append(data["state"]))
    widgets = [first, *(RooflineWidget([SMALL], locale=locale) for locale in ("de", "en", "de"))]
    assert [state["script"] for state in opened if "script" in state] == [COMPRESSED["widget.js"]]
    assert [widget._esm for widget in widgets] == 2 * [TEXTS["loader.en.js"], TEXTS["loader.de.js"]]
    assert {widget._code for widget in widgets} == {first._code}
    assert sent == [{"words": {"en": COMPRESSED["words.en.js"], "de": COMPRESSED["words.de.js"]}}]


@pytest.mark.usefixtures("built")
def test_a_widget_that_brings_the_whole_brings_that_of_its_language(
    opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    inline("ROOFWIDGET_INLINE=1", monkeypatch)
    widget = RooflineWidget([SMALL], locale="de")
    assert (opened[-1]["_esm"], opened[-1]["_code"]) == (f"{TEXTS['words.de.js']}\n{TEXTS['widget.js']}", None)
    widget.locale = "en"
    assert (widget._esm, widget._css) == (f"{TEXTS['words.en.js']}\n{TEXTS['widget.js']}", TEXTS["widget.css"])


def without_stamp(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != STAMP}


@pytest.mark.usefixtures("built")
def test_another_language_sends_its_words_before_the_loader_that_looks_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widget = RooflineWidget([SMALL])
    assert widget._code is not None
    sent: list[dict[str, Any]] = []
    for model in (widget, widget._code):
        monkeypatch.setattr(model.comm, "send", lambda data, **_: sent.append(without_stamp(data["state"])))
    widget.locale = "de"
    words = {"en": COMPRESSED["words.en.js"], "de": COMPRESSED["words.de.js"]}
    assert sent == [{"words": words}, {"_esm": TEXTS["loader.de.js"]}]
    widget.locale = "de-CH"
    assert len(sent) == 2


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("locale", "language"),
    [("en", "en"), ("de", "de"), ("de-AT", "de"), ("de_DE.UTF-8", "de"), ("DE", "de"), ("en_GB", "en")],
)
def test_a_locale_is_kept_as_its_language(locale: str, language: str) -> None:
    assert RooflineModel([SMALL], locale=locale).locale == language
    assert RooflineWidget([SMALL], locale=locale).locale == language


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("locale", ["fr", "", "deutsch", "C"])
def test_a_locale_without_a_catalogue_is_an_error_that_names_those_there_are(locale: str) -> None:
    model = RooflineModel([SMALL], locale="de")
    said = f"^RooflineModel.locale: there is no catalogue for '{locale}'; there are 'en', 'de'$"
    with pytest.raises(TraitError, match=said):
        model.locale = locale
    assert model.locale == "de"
    with pytest.raises(TraitError, match=said):
        RooflineModel([SMALL], locale=locale)
    with pytest.raises(TraitError, match="expected a language"):
        model.locale = None


def test_the_languages_are_those_of_the_files_that_are_there(built: Path) -> None:
    (built / "words.fr.js.gz").write_bytes(b"")
    assert languages.languages() == ("en", "de", "fr")
    for path in built.iterdir():
        path.unlink()
    assert languages.languages() == ("en",)
    assert RooflineModel([SMALL]).locale == "en"


# -- not built -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "missing"),
    [
        *(
            ("ROOFWIDGET_INLINE=0", name)
            for name in ("loader.en.js", "words.en.js.gz", "widget.js.gz", "widget.css.gz")
        ),
        *(("ROOFWIDGET_INLINE=1", name) for name in ("words.en.js.gz", "widget.js.gz", "widget.css.gz")),
    ],
)
def test_without_a_built_front_end_the_error_names_the_build_command(
    built: Path, monkeypatch: pytest.MonkeyPatch, host: str, missing: str
) -> None:
    inline(host, monkeypatch)
    (built / missing).unlink()
    with pytest.raises(FileNotFoundError, match=f"^the front end is not built: {missing} is missing; run 'make build'"):
        RooflineWidget([SMALL])
    assert RooflineModel([SMALL]).peak_flops == 100e12


@pytest.mark.parametrize("locale", ["en", "de"])
def test_the_built_loader_is_small_and_the_bundle_is_beside_it(locale: str) -> None:
    widget = rw.roofline(["v5p"], locale=locale)
    assert len(widget._esm.encode("utf-8")) <= 3_000
    assert widget._code is not None
    script, words = (
        gzip.decompress(base64.b64decode(part)).decode() for part in (widget._code.script, widget._code.words[locale])
    )
    assert len(script) > 200_000
    assert ('"rechengebunden"' in words, '"compute-bound"' in words) == (locale == "de", locale == "en")
    assert '"compute-bound"' not in script


def test_every_built_file_is_ensured_in_a_wheel() -> None:
    config = text_of(ROOT / "pyproject.toml")
    hook = config.partition("[tool.hatch.build.hooks.")[2]
    for path in languages.STATIC.iterdir():
        assert hook.count(f'"roofwidget/static/{path.name}"') == 2
