"""Hostile texts, by what they try, and widgets that have each of them in every place for a text.

Only roofwidget is imported: the kernels of the tested hosts import this file too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Final

import roofwidget as rw

_RUN: Final = "window.PWNED=1"

TEXTS: Final = MappingProxyType(
    {
        # Markup
        "an image that fails and runs a script": f"<img src=x onerror={_RUN}>",
        "the end of a script, and another script": f"</script><script>{_RUN}</script>",
        "the end of an attribute, and a drawing that runs a script": f'"><svg onload={_RUN}>',
        "the end of an attribute in single quotes": f"'><svg/onload={_RUN}>",
        "an attribute of its own": f'" onmouseover="{_RUN}" x="',
        "the end of an XML text, and a script": f"</text></title><script>{_RUN}</script>",
        "a script in capitals, cut in two": f"<ScRiPt\n>{_RUN}</sCrIpT\t>",
        "a frame with a page of its own": f'<iframe srcdoc="<script>parent.{_RUN}</script>">',
        "a page in a data address": f"data:text/html,<script>{_RUN}</script>",
        "an end of raw text": f"</style></textarea></noscript><img src=x onerror={_RUN}>",
        "a comment that hides the rest": f"<!--><script>{_RUN}</script>-->",
        "a start of a comment with a script": f"<!--<script>{_RUN}",
        "the end of CDATA": f"]]><script>{_RUN}</script>",
        "entities that are a tag when read twice": f"&lt;img src=x onerror={_RUN}&gt; &#60;b&#62; &amp;amp;",
        "an XML entity that grows": '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;&a;</x>',
        "a link that is a script": f"javascript:{_RUN}//",
        "a link in Markdown that is a script": f"[press](javascript:{_RUN}) ![x](x) <b>bold</b>",
        "mathematics that is a link": rf"$$\href{{javascript:{_RUN}}}{{x}}$$",
        # Templates and formats
        "a template": "{{7*7}} {%raw%} <%= 7*7 %>",
        "a template literal": f"${{{_RUN}}} `${{{_RUN}}}`",
        "formats of C and Python": "%s%n%d {0} {0.__class__} {!r}",
        "escapes of a string": f'\\";{_RUN};\\u003cscript\\u003e\\x3c\\',
        # Styles
        "a colour that asks another machine": "red;background:url(http://example.com/x)",
        "a style that is a script": f"expression({_RUN})}}</style>*{{color:red}}",
        "a reference to a part of the drawing": "url(#x) url(http://example.com/x.svg#y)",
        # Spreadsheets
        "a formula that is a link": '=HYPERLINK("http://example.com","x")',
        "a formula that is a command": "=cmd|' /C calc'!A0",
        "a formula with a plus": "+1+1",
        "a formula with a minus": "-2+3",
        "a formula with an at": "@SUM(1,1)",
        "a formula after a tab": "\t=1+1",
        "a formula after a line break": "\r=2+2",
        "a formula in full width": "\uff1d1+1",
        "separators, quotes and lines of a table": 'a,b;c\td"e"\'f\r\n=1+1,"',
        # Characters
        "a change of direction": "\u202egnp.exe\u202d \u2066a\u2067b",
        "characters of no width": "a\u200bb\u200d\ufeffc\u2060\u00ad",
        "piles of accents": "Z\u0351\u036b\u0343" * 100,
        "half a character": "half \ud800 of a pair",
        "zero and other control characters": "\0=1+1\0b\x07c\x0bd\x1b[31me\x7ff\x85g\uffffh",
        "emoji and Chinese": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u540d\u524d \U0001f680",
        # Names with a meaning
        "the prototype of all objects": "__proto__",
        "a member of all objects": "constructor",
        "nothing but spaces": "   ",
        # Long names
        "a mangled name of C++": "void at::native::elem<float&, (T<1>)&&0>" + "_ZN2at6native<&>" * 320,
        "a million letters": "x" * 1_000_000,
        # Files
        "a path out of the folder": "../../../etc/passwd",
        "a path and a device of Windows": "C:\\x\\CON",
        "a name that is no file": "a/b:c*d?e|f.svg.exe",
    }
)
"""The texts, by what they try."""

_CHIP: Final = ({"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s"})
MAX_LETTERS: Final = 10_000
"""Letters of a text in places that are sent or drawn several times. Names of kernels have all letters."""


def short(text: str) -> str:
    """Return the text for a place that is sent several times."""
    return text[:MAX_LETTERS]


def accepted(make: Callable[[str], object]) -> list[str]:
    """Return the texts that a function accepts. It refuses the others by an error that the documentation names."""
    found = []
    for text in map(short, TEXTS.values()):
        try:
            make(text)
        except (ValueError, TypeError):
            continue
        found.append(text)
    return found


def kernels(texts: Sequence[str] = tuple(TEXTS.values())) -> rw.Kernels:
    """Return a kernel for each text, with the text in every column of texts."""
    count = len(texts)
    part = [short(text) for text in texts]
    return rw.Kernels(
        texts,
        [(1 + row) * 1e11 for row in range(count)],
        {"HBM": [1e10 + row * 1e8 for row in range(count)]},
        time=[0.1 + row / 100 for row in range(count)],
        category=part,
        origin={"flops": part, "time": part},
        extra={"note": part} | dict.fromkeys(part[:3], part),
        warnings=part,
        source=part[0],
    )


def chips() -> list[rw.Chip]:
    """Return a chip for each text that may be the name of a chip."""
    found = accepted(lambda text: rw.Chip(text, *_CHIP))
    return [
        rw.Chip(
            text,
            *_CHIP,
            id=f"chip-{number}",
            vendor=text,
            family=text,
            notes=[text],
            sources={"peak_flops.bf16": rw.Source(text, text, "given")},
        )
        for number, text in enumerate(found)
    ]


def described() -> rw.RooflineWidget:
    """Return a widget whose chips, kernels, columns, series and title are the texts."""
    made = chips()
    widget = rw.roofline(made, kernels(), title=" ".join(map(short, TEXTS.values()))[:MAX_LETTERS], top=None)
    widget.shown = [chip.id for chip in made[:2]]
    return widget


def merged() -> rw.RooflineWidget:
    """Return a widget with a graph whose ops are the texts."""
    ops = [(text, 1) for text in accepted(lambda text: rw.chain([(text, 1)], elements=1000))]
    return rw.roofline(chips()[:1], graph=rw.chain(ops, elements=1_000_000, name=ops[0][0]))


def asked() -> rw.RooflineWidget:
    """Return a widget with a story whose captions, questions and answers are the texts."""
    first, *_ = TEXTS.values()

    def question(options: Sequence[str]) -> rw.Question:
        told = dict.fromkeys(options, first) | {"right": ""}
        return rw.Question(key="q", prompt=first, answer="right", options=told, explanation=first, source=first)

    caption = "\n\n".join(f"# {text}\n\n- {text}\n\n`{text}`" for text in map(short, TEXTS.values()))
    widget = rw.roofline(chips()[:1], [("copy", 0, 8e9, 4e-3)])
    rw.Story(widget, [rw.Step(caption, {}, question(accepted(lambda text: question([text]))))])
    return widget
