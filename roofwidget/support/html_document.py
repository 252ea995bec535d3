"""An HTML document that asks no network for anything: its policy allows only the scripts and styles that it has."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from typing import Final

from roofwidget.support.text_tables import escaped

# Without this word, a policy's hashes do not count for attributes.
_FOR_ATTRIBUTES: Final = "'unsafe-hashes'"
_NOTHING: Final = "'none'"


def document(
    body: str,
    *,
    title: str,
    language: str,
    style: str,
    styles: Iterable[str] = (),
    style_attributes: Iterable[str] = (),
    scripts: Iterable[str] = (),
) -> str:
    """Return the HTML of a document.

    Parameters
    ----------
    body
        The HTML of its body.
    title
        The title, as text.
    language
        The code of its language.
    style
        Its style sheet.
    styles, style_attributes, scripts
        The texts of further style sheets, of style attributes and of scripts in the body that the policy allows.
    """
    attributes = list(style_attributes)
    looks = " ".join(dict.fromkeys(map(policy_hash, (*styles, style, *attributes))))
    policy = (
        f"default-src 'none'; script-src {' '.join(map(policy_hash, scripts)) or _NOTHING}; "
        f"style-src {looks}{' ' + _FOR_ATTRIBUTES if attributes else ''}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="roofwidget">
<meta http-equiv="x-dns-prefetch-control" content="off">
<title>{escaped(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def policy_hash(text: str) -> str:
    """Return the hash by which a content security policy allows a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
