"""QTI 1.2 in a zip archive, as Canvas imports it."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from decimal import Decimal
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from roofwidget.support import markdown
from roofwidget.teaching.lms.items import Answer, Item, by_key
from roofwidget.teaching.lms.package import MANIFEST, document, manifest, resource, zipped

_QTI: Final = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
_PACKAGE: Final = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_META: Final = "http://canvas.instructure.com/xsd/cccv1p0"
_RESPONSE: Final = "response1"
_RIGHT, _WRONG = "correct_fb", "general_incorrect_fb"
# Canvas takes positive whole numbers as the names of options.
_FIRST_OPTION: Final = 1001


def content(items: Sequence[Item], title: str) -> bytes:
    """Return the bytes of a zip archive with a quiz. It draws one of the variants of each key."""
    ident = f"quiz-{hashlib.sha256('|'.join([title, *(item.name for item in items)]).encode()).hexdigest()[:16]}"
    points = len(by_key(items))
    root, resources = manifest(_PACKAGE, "IMS Content", "1.1.3")
    quiz = resource(resources, ident, "imsqti_xmlv1p2", f"{ident}/{ident}.xml")
    SubElement(quiz, "dependency", identifierref=f"{ident}-meta")
    meta_path = f"{ident}/assessment_meta.xml"
    kind = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
    resource(resources, f"{ident}-meta", kind, meta_path, href=meta_path)
    return zipped(
        {
            MANIFEST: document(root),
            f"{ident}/{ident}.xml": document(_quiz(items, ident, title)),
            meta_path: document(_meta(ident, title, points, can_shuffle=all(item.can_shuffle for item in items))),
        }
    )


def _meta(ident: str, title: str, points: int, *, can_shuffle: bool) -> Element:
    quiz = Element("quiz", identifier=ident, xmlns=_META)
    values = {"title": title, "quiz_type": "assignment", "points_possible": f"{points:.1f}", "allowed_attempts": "1"}
    values["shuffle_answers"] = "true" if can_shuffle else "false"
    for name, value in values.items():
        SubElement(quiz, name).text = value
    return quiz


def _quiz(items: Sequence[Item], ident: str, title: str) -> Element:
    root = Element("questestinterop", xmlns=_QTI)
    assessment = SubElement(root, "assessment", ident=ident, title=title)
    section = SubElement(assessment, "section", ident="root_section")
    for key, variants in by_key(items).items():
        place = section if len(variants) == 1 else _group(section, key)
        for item in variants:
            _item(place, item)
    return root


def _group(section: Element, key: str) -> Element:
    """Return a section from which a quiz draws one item."""
    group = SubElement(section, "section", ident=f"group-{key}", title=key)
    selection = SubElement(SubElement(group, "selection_ordering"), "selection")
    SubElement(selection, "selection_number").text = "1"
    SubElement(SubElement(selection, "selection_extension"), "points_per_item").text = "1"
    return group


def _item(section: Element, item: Item) -> None:
    element = SubElement(section, "item", ident=item.ident, title=item.name)
    options = {str(_FIRST_OPTION + at): answer for at, answer in enumerate(item.answers)} if item.is_choice else {}
    fields = {
        "question_type": "multiple_choice_question" if item.is_choice else "numerical_question",
        "points_possible": "1",
        "original_answer_ids": ",".join(options),
    }
    metadata = SubElement(SubElement(element, "itemmetadata"), "qtimetadata")
    for label, entry in fields.items():
        if entry:
            field = SubElement(metadata, "qtimetadatafield")
            SubElement(field, "fieldlabel").text = label
            SubElement(field, "fieldentry").text = entry
    presentation = SubElement(element, "presentation")
    _material(presentation, markdown.html(item.prompt))
    if item.is_choice:
        response = SubElement(presentation, "response_lid", ident=_RESPONSE, rcardinality="Single")
        choice = SubElement(response, "render_choice")
        for ident, answer in options.items():
            _material(SubElement(choice, "response_label", ident=ident), html.escape(answer.text))
    else:
        response = SubElement(presentation, "response_str", ident=_RESPONSE, rcardinality="Single")
        SubElement(SubElement(response, "render_fib", fibtype="Decimal"), "response_label", ident="answer1")
    said = _said(item, options)
    _processing(element, item, options, said)
    for ident, words in said.items():
        feedback = SubElement(element, "itemfeedback", ident=ident)
        _material(SubElement(feedback, "flow_mat"), words)


def _said(item: Item, options: dict[str, Answer]) -> dict[str, str]:
    """Return the HTML of all feedback by its name."""
    said = {f"{ident}_fb": html.escape(answer.said) for ident, answer in options.items()}
    said |= {_WRONG: html.escape(item.method), _RIGHT: markdown.html(item.explanation)}
    return {ident: words for ident, words in said.items() if words}


def _processing(element: Element, item: Item, options: dict[str, Answer], said: dict[str, str]) -> None:
    processing = SubElement(element, "resprocessing")
    SubElement(
        SubElement(processing, "outcomes"), "decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal"
    )
    for ident in options:
        if f"{ident}_fb" in said:
            SubElement(_condition(processing, f"{ident}_fb"), "varequal", respident=_RESPONSE).text = ident
    right = _condition(processing, _RIGHT if _RIGHT in said else "", score="100")
    if item.is_choice:
        found = next(ident for ident, answer in options.items() if answer.is_right)
        SubElement(right, "varequal", respident=_RESPONSE).text = found
    else:
        _range(right, item.right)
    if _WRONG in said:
        SubElement(_condition(processing, _WRONG), "other")


def _range(condition: Element, answer: Answer) -> None:
    """Add the condition that a number is the right one, or within its tolerance."""
    either = SubElement(condition, "or")
    SubElement(either, "varequal", respident=_RESPONSE).text = answer.text
    both = SubElement(either, "and")
    number, near = Decimal(answer.text), Decimal(answer.tolerance)
    SubElement(both, "vargte", respident=_RESPONSE).text = f"{number - near:f}"
    SubElement(both, "varlte", respident=_RESPONSE).text = f"{number + near:f}"


def _condition(processing: Element, feedback: str, score: str = "") -> Element:
    """Add a rule, and return the element that holds its condition. A rule with a score is the last that applies."""
    rule = SubElement(processing, "respcondition", {"continue": "No" if score else "Yes"})
    condition = SubElement(rule, "conditionvar")
    if score:
        SubElement(rule, "setvar", action="Set", varname="SCORE").text = score
    if feedback:
        SubElement(rule, "displayfeedback", feedbacktype="Response", linkrefid=feedback)
    return condition


def _material(parent: Element, words: str) -> None:
    SubElement(SubElement(parent, "material"), "mattext", texttype="text/html").text = words
