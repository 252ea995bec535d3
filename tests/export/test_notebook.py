"""Executed notebooks as pages, by the command `roofwidget page`."""

from __future__ import annotations

import re
import subprocess
import sys
from base64 import b64encode
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

import roofwidget as rw
from roofwidget.cli import main
from roofwidget.export import foreign_html
from roofwidget.export.course import Lesson, contents_page
from roofwidget.export.foreign_html import sanitized, style_sheet
from roofwidget.export.notebook import STATE, VIEW, lesson_of
from tests.places import json_of, text_of, write

NOTHING_ATTACHED = """{
  "cells": [{"cell_type": "markdown", "metadata": {}, "source": "![a](attachment:b)"}],
  "metadata": {}, "nbformat": 4, "nbformat_minor": 4
}"""
REL = ' rel="noopener noreferrer"'
CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})


def written(folder: Path, *widgets: ipywidgets.Widget, name: str = "lesson", has_state: bool = True) -> Path:
    """Write a notebook that shows the widgets, with their state, as JupyterLab saves it."""
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {VIEW: {"model_id": widget.model_id}, "text/plain": "w"},
        }
        for widget in widgets
    ]
    state = ipywidgets.Widget.get_manager_state(drop_defaults=False) if has_state else {"state": {}}
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": "# A lesson\n\n<script>window.PWNED = 1</script>",
        },
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {},
            "execution_count": 1,
            "source": "print(1)",
            "outputs": outputs,
        },
    ]
    notebook = {"cells": cells, "metadata": {"widgets": {STATE: state}}, "nbformat": 4, "nbformat_minor": 5}
    return write(folder / f"{name}.ipynb", notebook)


def test_a_notebook_becomes_a_page_with_its_texts_and_its_widgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    widgets = [rw.roofline([CHIP], [(name, 4e12, 1e10, 0.08)]) for name in ("first", "second")]
    path = written(tmp_path, *widgets)
    assert main(["page", str(path)]) == 0
    page = tmp_path / "lesson.html"
    assert capsys.readouterr().out.split() == [str(page)]
    html = text_of(page)
    assert "<title>A lesson</title>" in html
    assert '<span class="nb">print</span>' in html
    assert [rw.read(page, widget=number).names.tolist() for number in (1, 2)] == [["first"], ["second"]]
    assert "default-src 'none'; script-src 'sha256-" in html
    assert "PWNED" not in html


def test_the_earlier_name_of_the_command_does_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, rw.roofline([CHIP]))
    pages = []
    for command in ("page", "bundle-html"):
        assert main([command, str(path)]) == 0
        pages.append(text_of(tmp_path / "lesson.html"))
    assert pages[0] == pages[1]


def test_a_folder_of_notebooks_becomes_pages_in_another_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        written(tmp_path, rw.roofline([CHIP]), name=name)
    assert main(["page", str(tmp_path), "--out", str(tmp_path / "pages" / "new")]) == 0
    assert sorted(path.name for path in (tmp_path / "pages" / "new").iterdir()) == ["one.html", "two.html"]


def test_a_table_of_contents_has_titles_headings_and_no_script(tmp_path: Path) -> None:
    for name, text in (
        ("1", "# *Roofs* & `x < y`\n\n## First part ##\n\n```sh\n# no heading\n```"),
        ("2", "no heading"),
    ):
        document = json_of(written(tmp_path, rw.roofline([CHIP]), name=name))
        document["cells"][0]["source"] = text
        write(tmp_path / f"{name}.ipynb", document)
    assert main(["page", str(tmp_path), "--out", str(tmp_path / "pages"), "--contents", "A & B"]) == 0
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["1.html", "2.html", "index.html"]
    html = text_of(tmp_path / "pages" / "index.html")
    assert "<title>A &amp; B</title>" in html
    assert '<li><a href="1.html">Roofs &amp; x &lt; y</a><p>First part</p></li>' in html
    assert '<li><a href="2.html">2</a><p></p></li>' in html
    assert "default-src 'none'; script-src 'none'; style-src 'sha256-" in html
    assert "<script" not in html


def test_a_heading_with_very_many_spaces_takes_no_long_time(tmp_path: Path) -> None:
    spaces = " " * 1_000_000
    document = json_of(written(tmp_path))
    document["cells"][0]["source"] = f"# a{spaces}b # #{spaces}\n## {spaces}\n## `c`##"
    write(tmp_path / "lesson.ipynb", document)
    assert lesson_of(tmp_path / "lesson.ipynb") == Lesson("lesson.html", f"a{spaces}b #", ("c##",))


def test_the_name_of_a_notebook_is_no_address_of_another_machine() -> None:
    html = contents_page([Lesson("https:example.org#1.html", "One", ())], "T", date(2026, 1, 1))
    assert '<a href="https%3Aexample.org%231.html">One</a>' in html


def test_links_between_notebooks_become_links_between_pages(tmp_path: Path) -> None:
    links = "[a](two%20b.ipynb#end) [b](other.ipynb) [c](../docs/c.md) [d](https://example.org/two.ipynb) [e](#here)"
    for name in ("one", "two b"):
        document = json_of(written(tmp_path, rw.roofline([CHIP]), name=name))
        document["cells"][0]["source"] = links
        write(tmp_path / f"{name}.ipynb", document)
    main(["page", str(tmp_path)])
    html = text_of(tmp_path / "one.html")
    kept = '<a href="https://example.org/two.ipynb">d</a> <a href="#here">e</a>'
    assert f'<a href="two%20b.html#end">a</a> <a>b</a> <a>c</a> {kept}' in html.replace(REL, "")


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (("a/one", "b/two"), "--contents: the pages go into several folders; name one folder with --out"),
        (("index",), "--contents writes index.html, and a notebook is named index.ipynb: rename the notebook"),
    ],
)
def test_a_table_of_contents_without_a_place_is_refused(
    places: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for place in places:
        (tmp_path / place).parent.mkdir(exist_ok=True)
        paths.append(str(written((tmp_path / place).parent, rw.roofline([CHIP]), name=Path(place).name)))
    assert main(["page", *paths, "--contents", "T"]) == 1
    assert capsys.readouterr().err == f"roofwidget: {message}\n"
    assert not list(tmp_path.rglob("*.html"))


def test_a_widget_of_another_package_stays_as_its_text_and_brings_no_script(tmp_path: Path) -> None:
    main(["page", str(written(tmp_path, ipywidgets.Label("elsewhere"), rw.roofline([CHIP])))])
    html = text_of(tmp_path / "lesson.html")
    assert "<pre>w</pre>" in html
    assert html.count("data-roofwidget") == 1
    assert "widget-state+json" not in html
    assert "widget-view+json" not in html
    assert "requirejs" not in html


def test_binary_values_of_a_former_state_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, rw.roofline([CHIP], [("first", 4e12, 1e10, 0.08)]))
    document = json_of(path)
    states = document["metadata"]["widgets"][STATE]["state"].values()
    model = next(one for one in states if "kernels" in one["state"] and one["buffers"])
    # nbclient keeps what an earlier state had here. Now all rows have the same text, or none.
    for place in (["kernels", "name", "codes"], ["kernels", "precision", "values"], ["baseline", "match"]):
        model["buffers"].append({"path": place, "encoding": "base64", "data": "AAAAAAAAAAA="})
    write(path, document)
    main(["page", str(path)])
    assert rw.read(tmp_path / "lesson.html").names.tolist() == ["first"]


def with_output(path: Path, html: str) -> str:
    """Return the page of a notebook that shows this HTML too."""
    document = json_of(path)
    document["cells"][1]["outputs"].append({"output_type": "display_data", "metadata": {}, "data": {"text/html": html}})
    write(path, document)
    assert main(["page", str(path)]) == 0
    return text_of(path.with_suffix(".html"))


def test_the_styles_of_outputs_are_allowed_and_their_scripts_are_not(tmp_path: Path) -> None:
    output = "<style>.a { color: red; }</style><p style='color: blue' onclick='x()'>table</p><script>x()</script>"
    html = with_output(written(tmp_path, rw.roofline([CHIP])), output)
    sheet = re.search("<style>(.*?)</style>", html, re.DOTALL)
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)
    assert sheet is not None
    assert policy is not None
    assert sheet[1].endswith("@scope (.from-notebook > :not([data-roofwidget])) {\n.a { color: red }\n}\n")
    hashes = {
        text: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (sheet[1], "color: blue")
    }
    scripts, styles = policy[1].split("; ")[1:3]
    assert [hash_ in styles for hash_ in hashes.values()] == [True, True]
    assert "'unsafe-hashes'" in styles
    assert "'unsafe-hashes'" not in scripts
    assert "x()" not in html
    assert '<p style="color: blue">table</p>' in html


@pytest.mark.parametrize(
    ("sheet", "kept"),
    [
        (
            "#T_a td:nth-child(2) { width: 10em; background: linear-gradient(90deg, red 50%, #fff0 50%) !important }",
            "#T_a td:nth-child(2) { width: 10em; background: linear-gradient(90deg, red 50%, #fff0 50%) !important }",
        ),
        ("td { --fg: #fff; color: var(--fg) } /* text */", "td { --fg: #fff; color: var(--fg) }"),
        ("td { color: red; background: url(x) } p { list-style: image-set('x' 1x) }", "td { color: red }"),
        (r"td { background: u\72l(x); cursor: ur\4c ('x'); src: local(x) }", ""),
        ("td { --x: url(x); color: var(--x, url(x)); border: calc(url(x)) 1px }", ""),
        (
            "a { position: fixed } b { position: var(--x) } i { position: sticky; left: 0 }",
            "i { position: sticky; left: 0 }",
        ),
        (
            "@import 'x'; @font-face { src: url(x) } @media all { td { color: red } } @charset 'x'; b { color: red }",
            "b { color: red }",
        ),
        (f"td {{ color: {'(' * 9999} }}", ""),
        (f"td{':is(' * 9999}a{')' * 9999} {{ color: red }} b {{ color: red }}", "b { color: red }"),
        ("} body { color: red }", ""),
        # Escaped signs in the name of a property would be signs of the rule.
        (r"td { --\7d\7d body\7b display\3a none: 1; color: red }", "td { color: red }"),
        (r"td { color-\3b background\3a url\28 x\29 : 1; --\3b position\3a fixed: 1; --a_1: 1 }", "td { --a_1: 1 }"),
        ("a:is(} body { color: red } b { color: red }", ""),
        ('a[title="<!--"] { quotes: "<a" }', r'a[title="\3c !--"] { quotes: "\3c a" }'),
        ("a { color: red } b { color: red", "a { color: red }\nb { color: red }"),
    ],
)
def test_a_style_sheet_keeps_what_loads_and_covers_nothing(sheet: str, kept: str) -> None:
    assert style_sheet(f"<p>a</p><STYLE type='text/css'>{sheet}</STYLE >") == kept


def test_a_style_attribute_with_many_brackets_is_left_out() -> None:
    # The calls of the filter must not end in an error, which would be printed.
    assert sanitized(f"<b style='color: {'(' * 9999}'>a</b>", str) == "<b>a</b>"


def test_no_escaped_name_of_a_property_becomes_another_property() -> None:
    # Each time that HTML is sanitized, a name would lose an escape.
    names = [r"--\3b position\3a fixed\3b inset\3a 0", r"--\5c 3b\20 position\5c 3a\20 fixed\5c 3b\20 inset\5c 3a\20 0"]
    html = "".join(f'<a style="{name}: 1">a</a>' for name in names)
    assert sanitized(sanitized(html, str), str).count("style") == 0


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<dd><table><div><dd>a", "<dd><div></div></dd><dd>a</dd><table></table>"),
        ("<dt><div><form><dt></div><b>a", "<dt><div></div></dt><dt></dt><b>a</b>"),
        (
            "<center><h1><div><h1><option><h1></center><h1>a",
            "<center><h1><div><h1></h1><h1></h1></div></h1></center><h1>a</h1>",
        ),
        ("<pre>\n\n\na</pre><pre>\nb</pre>", "<pre>\n\n\na</pre><pre>b</pre>"),
        ('<p title="<pre>\n">a<pre>b', '<p title="&lt;pre&gt;\n">a</p><pre>b</pre>'),
    ],
)
def test_sanitized_html_ends_no_element_around_it(html: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sanitized(html, str) == kept
    around = f"<div>{kept}</div>b"
    assert sanitized(around, str) == around
    monkeypatch.setattr(foreign_html, "_MAX_PASSES", 1)
    assert sanitized("<dd><table><div><dd>a", str) == "a"


def test_the_page_of_a_notebook_asks_for_no_addresses_of_its_links(tmp_path: Path) -> None:
    html = with_output(
        written(tmp_path, rw.roofline([CHIP])), '<meta http-equiv="x-dns-prefetch-control" content="on">'
    )
    assert re.findall('<meta http-equiv="x-dns[^>]*>', html) == [
        '<meta http-equiv="x-dns-prefetch-control" content="off">'
    ]


def test_a_german_widget_has_its_words_on_the_page(tmp_path: Path) -> None:
    main(["page", str(written(tmp_path, rw.roofline([CHIP], locale="de")))])
    assert '<html lang="de">' in text_of(tmp_path / "lesson.html")


def test_other_widgets_show_what_stands_beside_them(tmp_path: Path) -> None:
    main(["page", str(written(tmp_path, ipywidgets.IntSlider(), rw.roofline([CHIP])))])
    assert text_of(tmp_path / "lesson.html").count("data-roofwidget>") == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no JSON", "lesson.ipynb is not a notebook"),
        ('{"cells": 1}', "lesson.ipynb is not a notebook"),
        ("[" * 100_000, "lesson.ipynb is not a notebook"),
        ('{"nbformat": 1, "cells": [{"cell_type": "other"}]}', "lesson.ipynb is not a notebook"),
        (
            '{"cells": [], "metadata": {"widgets": 5}, "nbformat": 4, "nbformat_minor": 5}',
            "lesson.ipynb: the notebook or the state of a widget is damaged",
        ),
        (
            NOTHING_ATTACHED,
            "lesson.ipynb: the notebook or the state of a widget is damaged (missing attachment: b)",
        ),
        (None, "lesson.ipynb shows a widget whose state is not saved: run it with 'jupyter nbconvert"),
    ],
)
def test_what_cannot_be_a_page_is_refused_in_one_line(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, rw.roofline([CHIP]), has_state=False)
    if content is not None:
        write(path, content)
    assert main(["page", str(path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"roofwidget: {words}")
    assert message.count("\n") == 1
    assert not (tmp_path / "lesson.html").exists()


def test_a_missing_notebook_and_an_empty_folder_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", str(tmp_path / "none.ipynb")]) == 1
    assert "none.ipynb" in capsys.readouterr().err
    assert main(["page", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"roofwidget: there is no notebook (.ipynb) in {tmp_path}\n"


def test_the_command_explains_itself() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "roofwidget", "page", "--help"], check=True, capture_output=True, encoding="utf-8"
    )
    assert "jupyter nbconvert --to notebook --execute --inplace lesson.ipynb" in said.stdout


def test_code_that_the_author_has_folded_is_folded_on_the_page(tmp_path: Path) -> None:
    path = written(tmp_path)
    notebook = json_of(path)
    shown = notebook["cells"][1]
    shown["outputs"] = []
    hidden = {**shown, "id": "c", "source": "answer = '<b>42</b>'", "metadata": {"jupyter": {"source_hidden": True}}}
    solution = {**hidden, "id": "d", "source": "print(2)", "metadata": {**hidden["metadata"], "tags": ["solution"]}}
    notebook["cells"] += [hidden, solution]
    write(path, notebook)
    assert main(["bundle-html", str(path)]) == 0
    html = text_of(tmp_path / "lesson.html")
    assert "<details><summary>Code</summary><pre>answer = &#x27;&lt;b&gt;42&lt;/b&gt;&#x27;</pre></details>" in html
    assert re.search(
        "<details><summary>Solution</summary>(?!.*<details>).*<pre>print\\(2\\)</pre>.*</details>", html, re.DOTALL
    )
    assert '<span class="nb">print</span><span class="p">(</span><span class="mi">1</span>' in html
    assert "roofwidget_folded" not in html


def test_no_text_of_a_notebook_stands_for_a_widget_or_for_folded_code(tmp_path: Path) -> None:
    path = written(tmp_path, rw.roofline([CHIP], [("first", 4e12, 1e10, 0.08)]))
    document = json_of(path)
    text, shown = document["cells"]
    texts = ["widget 0 of roofwidget", "<p>widget 0 of roofwidget</p>", "roofwidget_folded_0"]
    codes = ["roofwidget_folded_0", "roofwidget_folded_3"]
    hidden = {**shown, "source": "the_solution", "metadata": {"jupyter": {"source_hidden": True}}}
    cells = [hidden, *({**text, "source": one} for one in texts), *({**shown, "source": one} for one in codes)]
    document["cells"] = [shown, *({**one, "outputs": []} if "outputs" in one else one for one in cells)]
    for at, cell in enumerate(document["cells"]):
        cell["id"] = f"cell-{at}"
    write(path, document)
    pages = []
    for _ in range(2):
        assert main(["page", str(path)]) == 0
        pages.append(text_of(tmp_path / "lesson.html"))
    html, again = pages
    assert html == again
    assert html.count("<section data-roofwidget>") == 1
    assert html.count("the_solution") == html.count("<details><summary>Code</summary>") == 1
    assert html.count("<p>widget 0 of roofwidget</p>") == 2
    assert html.count("<p>roofwidget_folded_0</p>") == 1
    assert [html.count(f'<span class="n">{code}</span>') for code in codes] == [1, 1]
