"""Parses Markdown into a tree of a few elements, from which the front end builds elements without parsing HTML.

Text that looks like HTML stays text, and so do links and images.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any, Final, TypeAlias

from roofwidget.support.text_tables import escaped

Node: TypeAlias = "str | list[Any]"
"""A text, or an element: its name, and its nodes."""

ELEMENTS: Final = frozenset({"p", "h3", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "br"})
"""The elements of a tree. The front end builds no others."""
_BLOCKS: Final = frozenset({"p", "h3", "ul", "ol", "pre", "blockquote"})
_MARKS: Final = {"strong": "**", "em": "*"}
_SIGNS: Final = re.compile(r"[\\`*_]|&(?=#|\w+;)")
_AT_BEGIN: Final = re.compile(r"\A(\s*)([#>+\-=])|\A(\s*\d+)([.)])(?=\s|\Z)")
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def tree(text: str) -> list[Node]:
    """Return the elements of a Markdown text.

    Examples
    --------
    >>> tree("Drag the **roof** to `2 TB/s`.")
    [['p', 'Drag the ', ['strong', 'roof'], ' to ', ['code', '2 TB/s'], '.']]
    >>> tree("<b>no markup</b>")
    [['p', '<b>no markup</b>']]
    """
    root: list[Any] = [""]
    _add(_parser().parse(text), [root])
    return root[1:]


def html(text: str) -> str:
    r"""Return the elements of a Markdown text as HTML. HTML within the text is escaped.

    Examples
    --------
    >>> html("a **b** <i>")
    '<p>a <strong>b</strong> &lt;i&gt;</p>'
    """
    return "".join(map(html_of, tree(text)))


def html_of(node: Node) -> str:
    """Return an element as HTML."""
    if isinstance(node, str):
        return escaped(node)
    name, *nodes = node
    return "<br>" if name == "br" else f"<{name}>{''.join(map(html_of, nodes))}</{name}>"


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - slow to import, and only lessons need it

    return MarkdownIt("commonmark", {"html": False, "breaks": False}).disable(["image", "link", "autolink"])


def _add(tokens: Any, open_nodes: list[list[Any]]) -> None:
    for token in tokens:
        if token.type == "inline":
            _add(token.children, open_nodes)
        elif token.nesting < 0:
            open_nodes.pop()
        elif token.nesting > 0:
            node = [_name(token.tag)]
            open_nodes[-1].append(node)
            open_nodes.append(node)
        elif token.type in {"text", "text_special", "html_inline", "html_block"}:
            _text(token.content, open_nodes[-1])
        elif token.type == "softbreak":
            _text(" ", open_nodes[-1])
        elif token.type == "code_inline":
            open_nodes[-1].append(["code", token.content])
        elif token.type in {"fence", "code_block"}:
            open_nodes[-1].append(["pre", token.content.rstrip("\n")])
        elif token.tag in ELEMENTS:
            open_nodes[-1].append([token.tag])


def _name(tag: str) -> str:
    return "h3" if tag in _HEADINGS else tag if tag in ELEMENTS else "p"


def _text(content: str, node: list[Any]) -> None:
    """Add a text to a node, joined to a text before it. The first entry of a node is its name."""
    if len(node) > 1 and isinstance(node[-1], str):
        node[-1] += content
    elif content:
        node.append(content)


def source(nodes: Sequence[Node]) -> str:
    r"""Return a Markdown text that has these elements: the inverse of `tree`.

    Examples
    --------
    >>> source([["p", "Drag the ", ["strong", "roof"], " by *2*."], ["ul", ["li", "a"], ["li", "b"]]])
    'Drag the **roof** by \\*2\\*.\n\n- a\n- b'
    """
    return "\n\n".join(map(_block, nodes))


def _block(node: Node) -> str:
    if isinstance(node, str):
        return _escape(node)
    name, *nodes = node
    if name in {"ul", "ol"}:
        marks = (f"{at}. " if name == "ol" else "- " for at in count(1))
        return "\n".join(mark + _indented(_inside(one[1:]), len(mark)) for mark, one in zip(marks, nodes, strict=False))
    if name == "pre":
        fence = max(("`" * (len(run) + 1) for run in re.findall("`+", "".join(nodes))), key=len, default="")
        fence = max(fence, "```", key=len)
        return f"{fence}\n{''.join(nodes)}\n{fence}"
    if name == "blockquote":
        return "\n".join(f"> {line}" for line in _inside(nodes).splitlines())
    return f"### {_inside(nodes)}" if name == "h3" else _inside(nodes)


def _inside(nodes: Sequence[Node]) -> str:
    """Return the text of elements within a block: blocks, or texts and their marks."""
    if any(not isinstance(one, str) and one[0] in _BLOCKS for one in nodes):
        return source(nodes)
    return "".join(map(_inline, nodes))


def _inline(node: Node) -> str:
    if isinstance(node, str):
        return _escape(node)
    name, *nodes = node
    if name == "br":
        return "\\\n"
    if name == "code":
        text = "".join(nodes)
        fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
        space = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{fence}{space}{text}{space}{fence}"
    mark = _MARKS[name]
    return f"{mark}{_inside(nodes)}{mark}"


def _indented(text: str, by: int) -> str:
    return text.replace("\n", f"\n{' ' * by}")


def _escape(text: str) -> str:
    """Return text with a backslash before each sign that Markdown would read."""
    return _AT_BEGIN.sub(r"\1\3\\\2\4", _SIGNS.sub(r"\\\g<0>", text))
