"""Keeps of somebody else's HTML what shows text, tables and pictures, and removes all else.

A page's policy stops scripts and requests. It stops neither ``<meta http-equiv="refresh">``, which opens another page,
nor a link that covers the page. So only elements, attributes and style properties that are listed here remain. Nothing
that is listed loads, opens, sends, runs or covers anything; a web address remains only in a link that a reader clicks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

_TEXT: Final = """
a abbr b bdi bdo blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption figure
font footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label li main mark ol p pre q rp rt ruby s samp section
small span strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr
"""
_DRAWINGS: Final = """
svg g defs path rect circle ellipse line polyline polygon text tspan clipPath linearGradient radialGradient stop
"""
_FORMULAS: Final = """
math mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup
mtable mtd mtext mtr munder munderover semantics
"""
# Removed with their contents, which are no text of a page.
_EMPTIED: Final = """
annotation annotation-xml desc foreignObject iframe metadata noembed noframes noscript script select style template
textarea title xmp
"""
_FOR_ALL: Final = "aria-hidden aria-label class dir id lang role style title"
_FOR_DRAWINGS: Final = """
clip-path clip-rule color cx cy d dominant-baseline dx dy fill fill-opacity fill-rule font-family font-size font-style
font-weight fx fy gradientTransform gradientUnits height offset opacity pathLength points preserveAspectRatio r rotate
rx ry spreadMethod stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
stroke-miterlimit stroke-opacity stroke-width text-anchor transform vector-effect version viewBox width x x1 x2 xmlns y
y1 y2
"""
_FOR_FORMULAS: Final = """
accent accentunder columnalign columnlines columnspacing columnspan depth display displaystyle fence form height
linethickness lspace mathbackground mathcolor mathsize mathvariant rowalign rowlines rowspacing rowspan rspace
scriptlevel separator stretchy symmetric voffset width xmlns
"""
_FOR_TEXT: Final = {
    "a": "href",
    "col colgroup": "align span width",
    "details": "open",
    "div h1 h2 h3 p tbody thead tr": "align valign",
    "font": "color face size",
    "img": "align alt height src width",
    "input": "checked disabled",
    "label": "for",
    "li": "value",
    "ol": "reversed start type",
    "table": "align border cellpadding cellspacing width",
    "td th": "abbr align bgcolor colspan headers height rowspan scope valign width",
    "time": "datetime",
}
_LISTED: Final = {"*": _FOR_ALL, _DRAWINGS: _FOR_DRAWINGS, _FORMULAS: _FOR_FORMULAS, **_FOR_TEXT}
_ATTRIBUTES: Final = {
    element: set(names.split()) for elements, names in _LISTED.items() for element in elements.split()
}
# A checkbox, without a form, folds parts of the tables of some packages. A box for text would ask for passwords.
_FIXED_ATTRIBUTES: Final = {"input": {"type": "checkbox"}}
# "data" is for pictures.
_SCHEMES: Final = {"data", "http", "https", "mailto"}
_PICTURE: Final = re.compile(r"data:image/(?:avif|bmp|gif|jpeg|png|svg\+xml|webp)[;,]", re.IGNORECASE)
# Names that the widgets have, and addresses of their stories' steps.
_OWN_NAMES: Final = ("roofwidget", "rw-", "step=", "story=")
_OF_DRAWING: Final = re.compile(r"""url\(["']?#[^()"'\\]*["']?\)""")

# The first words of the names of properties.
_PROPERTIES: Final = """
align background border bottom box caption clear color column dominant direction display empty fill flex float font
gap grid height hyphens justify left letter line list margin max min opacity order overflow padding place position
quotes right row stop stroke tab table text top unicode vertical visibility white width word writing z
"""
_FUNCTIONS: Final = """
calc clamp color color-mix conic-gradient fit-content hsl hsla hwb lab lch light-dark linear-gradient max min minmax
oklab oklch radial-gradient repeat repeating-linear-gradient repeating-radial-gradient rgb rgba var
"""
# "fixed" and "absolute" would cover other parts of the page.
_POSITIONS: Final = frozenset({"relative", "static", "sticky"})
# The parser takes the escapes out of a name: written back, an escaped "}" or ";" would end the rule or the declaration.
_PLAIN_NAME: Final = re.compile(r"[\w-]+", re.ASCII)
_SIMPLE_TOKENS: Final = frozenset(
    {"dimension", "hash", "ident", "literal", "number", "percentage", "string", "whitespace"}
)
_MAX_DEPTH: Final = 20
"""The most brackets within brackets of a value or a selector."""
_MAX_PASSES: Final = 8
"""The most passes until HTML stays the same. HTML that still changes loses all its elements."""
# A parser drops the line break after the tag, and nh3 writes no other for it.
_BREAK_IN_PRE: Final = re.compile(r"<pre\b[^<>]*>(?=\n)")
_STYLE_START: Final = re.compile(r"<style\b[^<>]*>", re.IGNORECASE)
_STYLE_END: Final = re.compile("</style", re.IGNORECASE)


def sanitized(html: str, link: Callable[[str], str | None]) -> str:
    """Return what may remain of HTML. Its elements are closed, and remain within the element that it is put into.

    Parameters
    ----------
    html
        Part of a document.
    link
        Returns the address that a link gets, or None for a link that becomes plain text.

    Examples
    --------
    >>> sanitized('<meta http-equiv="refresh" content="0;url=https://example.org"><b onclick="x()">text', str)
    '<b>text</b>'
    """
    import nh3  # noqa: PLC0415  # optional

    for _ in range(_MAX_PASSES):
        former, html = html, _clean(html, str)
        # An element that the parser has moved may be read at another place the next time, outside of elements that are
        # around the HTML then.
        if former == html:
            return _clean(html, link)
    return nh3.clean(html, tags=set())


def _clean(html: str, link: Callable[[str], str | None]) -> str:
    import nh3  # noqa: PLC0415  # optional

    def kept(_element: str, name: str, value: str) -> str | None:
        return link(value) if name == "href" else _kept_value(name, value)

    cleaned = nh3.clean(
        html,
        tags=set(f"{_TEXT}{_DRAWINGS}{_FORMULAS}".split()),
        clean_content_tags=set(_EMPTIED.split()),
        attributes=_ATTRIBUTES,
        attribute_filter=kept,
        link_rel="noopener noreferrer",
        set_tag_attribute_values=_FIXED_ATTRIBUTES,
        url_schemes=_SCHEMES,
    )
    return _BREAK_IN_PRE.sub(r"\g<0>\n", cleaned)


def style_sheet(html: str) -> str:
    """Return the rules of the style elements of HTML, with the properties that may remain. Rules with an at-word go.

    Examples
    --------
    >>> style_sheet("<style>@import 'x.css'; td { color: red; background: url(x.png); position: fixed }</style>")
    'td { color: red }'
    """
    import tinycss2  # noqa: PLC0415  # optional

    kept = []
    for sheet in _sheets(html):
        for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
            if rule.type == "qualified-rule" and not _has_errors(rule.prelude):
                declarations = _kept_declarations(rule.content)
                if declarations:
                    kept.append(f"{tinycss2.serialize(rule.prelude).strip()} {{ {declarations} }}")
    # A "<" could begin the end of the style element.
    return "\n".join(kept).replace("<", r"\3c ")


def _kept_value(name: str, value: str) -> str | None:
    """Return what may remain of the value of an attribute, or None."""
    import tinycss2  # noqa: PLC0415  # optional

    match name:
        case "style":
            return _kept_declarations(value) or None
        case "class":
            return " ".join(one for one in value.split() if not _is_own(one)) or None
        case "id":
            is_kept = not _is_own(value)
        case "src":
            is_kept = _PICTURE.match(value) is not None
        case "clip-path" | "fill" | "stroke":
            of_drawing = _OF_DRAWING.fullmatch(value) is not None
            is_kept = of_drawing or _is_harmless(tinycss2.parse_component_value_list(value))
        case _:
            is_kept = True
    return value if is_kept else None


def _sheets(html: str) -> Iterator[str]:
    for part in _STYLE_END.split(html)[:-1]:
        start = _STYLE_START.search(part)
        if start:
            yield part[start.end() :]


def _kept_declarations(declarations: Any) -> str:
    """Return the declarations that may remain, of a text or of the tokens of a rule."""
    import tinycss2  # noqa: PLC0415  # optional

    parsed = tinycss2.parse_declaration_list(declarations, skip_comments=True, skip_whitespace=True)
    return "; ".join(
        f"{one.name}: {tinycss2.serialize(one.value).strip()}{' !important' if one.important else ''}"
        for one in parsed
        if one.type == "declaration" and _is_kept(one)
    )


def _is_kept(declaration: Any) -> bool:
    name = declaration.lower_name
    if name == "position":
        words = [token for token in declaration.value if token.type != "whitespace"]
        return len(words) == 1 and words[0].type == "ident" and words[0].lower_value in _POSITIONS
    is_known = name.startswith("--") or name.partition("-")[0] in _PROPERTIES.split()
    return is_known and _PLAIN_NAME.fullmatch(name) is not None and _is_harmless(declaration.value)


def _is_harmless(tokens: Iterable[Any], depth: int = 0) -> bool:
    """Return whether a value loads nothing: it has no function but those that are listed, and no address."""
    return depth <= _MAX_DEPTH and all(
        token.type in _SIMPLE_TOKENS
        or (token.type == "() block" and _is_harmless(token.content, depth + 1))
        or (
            token.type == "function"
            and token.lower_name in _FUNCTIONS.split()
            and _is_harmless(token.arguments, depth + 1)
        )
        for token in tokens
    )


def _has_errors(tokens: Iterable[Any], depth: int = 0) -> bool:
    """Return whether a selector has what would end the block that contains its rule."""
    return depth > _MAX_DEPTH or any(
        token.type in {"error", "at-keyword"}
        or _has_errors(getattr(token, "content", None) or getattr(token, "arguments", None) or (), depth + 1)
        for token in tokens
    )


def _is_own(name: str) -> bool:
    return name.casefold().startswith(_OWN_NAMES)
