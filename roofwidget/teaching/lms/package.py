"""Content packages: a zip archive of XML files, and a manifest that lists them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

MANIFEST: Final = "imsmanifest.xml"
# The same questions give the same bytes.
_TIME: Final = (1980, 1, 1, 0, 0, 0)


def zipped(files: Mapping[str, str]) -> bytes:
    """Return the bytes of a zip archive of texts by name."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode())
    return content.getvalue()


def document(root: Element, *, is_indented: bool = True) -> str:
    """Return the text of an XML file. Indentation would change text that has elements in it."""
    if is_indented:
        indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def manifest(namespace: str, schema: str, version: str) -> tuple[Element, Element]:
    """Return a manifest, and its list of resources, which is empty."""
    root = Element("manifest", identifier="roofwidget-manifest", xmlns=namespace)
    metadata = SubElement(root, "metadata")
    SubElement(metadata, "schema").text = schema
    SubElement(metadata, "schemaversion").text = version
    SubElement(root, "organizations")
    return root, SubElement(root, "resources")


def resource(resources: Element, ident: str, kind: str, path: str, **more: str) -> Element:
    """Add a file to the list of resources, and return its entry."""
    entry = SubElement(resources, "resource", {"identifier": ident, "type": kind, **more})
    SubElement(entry, "file", href=path)
    return entry
