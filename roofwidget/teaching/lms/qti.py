"""QTI 2.1 and QTI 3.0: a package with an XML file for each item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from roofwidget.support import markdown
from roofwidget.teaching.lms.items import Answer, Item
from roofwidget.teaching.lms.package import MANIFEST, document, manifest, resource, zipped

_RESPONSE, _SCORE, _FEEDBACK = "RESPONSE", "SCORE", "FEEDBACK"
_OTHERS: Final = "others"
_EXPECTED_LETTERS: Final = "12"


@dataclass(frozen=True)
class Version:
    """What differs between the versions of QTI, other than their spelling of names.

    Attributes
    ----------
    namespace, manifest
        The namespaces of items and of the manifest.
    schema, version
        How the manifest names the version.
    resource
        The type of a resource that is an item.
    is_hyphenated
        Whether names are written as in ``qti-item-body``, else as in ``itemBody``.
    """

    namespace: str
    manifest: str
    schema: str
    version: str
    resource: str
    is_hyphenated: bool


QTI_2_1: Final = Version(
    "http://www.imsglobal.org/xsd/imsqti_v2p1",
    "http://www.imsglobal.org/xsd/imscp_v1p1",
    "QTIv2.1 Package",
    "1.0.0",
    "imsqti_item_xmlv2p1",
    is_hyphenated=False,
)
QTI_3_0: Final = Version(
    "http://www.imsglobal.org/xsd/imsqtiasi_v3p0",
    "http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1",
    "QTI Package",
    "3.0.0",
    "imsqti_item_xmlv3p0",
    is_hyphenated=True,
)


def content(items: Sequence[Item], version: Version) -> bytes:
    """Return the bytes of a zip archive with the items."""
    root, resources = manifest(version.manifest, version.schema, version.version)
    files = {}
    for item in items:
        path = f"items/{item.ident}.xml"
        files[path] = document(_spelled(_item(item), version), is_indented=False)
        resource(resources, item.ident, version.resource, path, href=path)
    return zipped({MANIFEST: document(root), **files})


def _spelled(root: Element, version: Version) -> Element:
    """Change the names of QTI 2.1 to those of a version. Names of HTML stay."""
    if version.is_hyphenated:
        for feedback in root.findall("modalFeedback"):
            blocks = list(feedback)
            body = SubElement(feedback, "contentBody")
            for block in blocks:
                feedback.remove(block)
                body.append(block)
        for element in list(root.iter()):
            is_html = element.tag in markdown.ELEMENTS
            element.tag = element.tag if is_html else f"qti-{_hyphenated(element.tag)}"
            element.attrib = {_hyphenated(name): value for name, value in element.attrib.items()}
    root.set("xmlns", version.namespace)
    return root


def _hyphenated(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name)


def _item(item: Item) -> Element:
    root = Element("assessmentItem", identifier=item.ident, title=item.name, adaptive="false", timeDependent="false")
    kind, right = ("identifier", _option_id(item, item.right)) if item.is_choice else ("float", item.right.text)
    declared = SubElement(root, "responseDeclaration", identifier=_RESPONSE, cardinality="single", baseType=kind)
    SubElement(SubElement(declared, "correctResponse"), "value").text = right
    score = SubElement(root, "outcomeDeclaration", identifier=_SCORE, cardinality="single", baseType="float")
    SubElement(SubElement(score, "defaultValue"), "value").text = "0"
    SubElement(root, "outcomeDeclaration", identifier=_FEEDBACK, cardinality="single", baseType="identifier")
    body, processing = SubElement(root, "itemBody"), SubElement(root, "responseProcessing")
    _add_markdown(body, item.prompt)
    if item.is_choice:
        _choices(body, item)
        _rules_of_choice(processing)
    else:
        entry = {"responseIdentifier": _RESPONSE, "expectedLength": _EXPECTED_LETTERS}
        SubElement(SubElement(body, "p"), "textEntryInteraction", entry)
        _rules_of_number(processing, item)
    if item.explanation:
        _add_markdown(_modal(root, _option_id(item, item.right) if item.is_choice else item.right.id), item.explanation)
    if not item.is_choice:
        said = {answer.id: answer.said for answer in item.answers[1:]} | {_OTHERS: item.method}
        for ident, words in said.items():
            if words:
                SubElement(_modal(root, ident), "p").text = words
    return root


def _option_id(item: Item, answer: Answer) -> str:
    """Return a name by the place of an option: the ids of options may tell which one is right."""
    return f"option-{item.answers.index(answer) + 1}"


def _modal(root: Element, ident: str) -> Element:
    """Add feedback that is shown for one value of the outcome, and return its element."""
    shown = {"outcomeIdentifier": _FEEDBACK, "identifier": ident, "showHide": "show"}
    return SubElement(root, "modalFeedback", shown)


def _choices(body: Element, item: Item) -> None:
    shuffle = {"responseIdentifier": _RESPONSE, "shuffle": "true", "maxChoices": "1"}
    interaction = SubElement(body, "choiceInteraction", shuffle)
    for answer in item.answers:
        ident = _option_id(item, answer)
        choice = SubElement(interaction, "simpleChoice", identifier=ident, fixed="true" if answer.is_last else "false")
        choice.text = answer.text
        if answer.said:
            shown = {"outcomeIdentifier": _FEEDBACK, "identifier": ident, "showHide": "show"}
            SubElement(choice, "feedbackInline", shown).text = answer.said


def _rules_of_choice(processing: Element) -> None:
    right = SubElement(SubElement(processing, "responseCondition"), "responseIf")
    match = SubElement(right, "match")
    SubElement(match, "variable", identifier=_RESPONSE)
    SubElement(match, "correct", identifier=_RESPONSE)
    _set(right, _SCORE, "float", "1")
    SubElement(SubElement(processing, "setOutcomeValue", identifier=_FEEDBACK), "variable", identifier=_RESPONSE)


def _rules_of_number(processing: Element, item: Item) -> None:
    condition = SubElement(processing, "responseCondition")
    for answer in item.answers:
        rule = SubElement(condition, "responseIf" if answer.is_right else "responseElseIf")
        # Programs disagree on whether a relative tolerance is a share or in %.
        equal = SubElement(rule, "equal", toleranceMode="absolute", tolerance=answer.tolerance)
        SubElement(equal, "variable", identifier=_RESPONSE)
        if answer.is_right:
            SubElement(equal, "correct", identifier=_RESPONSE)
            _set(rule, _SCORE, "float", "1")
        else:
            SubElement(equal, "baseValue", baseType="float").text = answer.text
        _set(rule, _FEEDBACK, "identifier", answer.id)
    _set(SubElement(condition, "responseElse"), _FEEDBACK, "identifier", _OTHERS)


def _set(rule: Element, outcome: str, kind: str, value: str) -> None:
    SubElement(SubElement(rule, "setOutcomeValue", identifier=outcome), "baseValue", baseType=kind).text = value


def _add_markdown(parent: Element, text: str) -> None:
    """Add the elements of a Markdown text."""
    for node in markdown.tree(text):
        _add(parent, node)


def _add(parent: Element, node: markdown.Node) -> None:
    if not isinstance(node, str):
        name, *nodes = node
        element = SubElement(parent, name)
        for inner in nodes:
            _add(element, inner)
    elif len(parent):
        parent[-1].tail = node
    else:
        parent.text = node
