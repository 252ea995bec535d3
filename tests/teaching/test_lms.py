"""Files for learning management systems: each is read by a parser of its own, which answers and gets points."""

from __future__ import annotations

import html
import io
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import roofwidget as rw
from roofwidget import units
from roofwidget.cli import main
from roofwidget.teaching.bank import question_bank
from roofwidget.teaching.lms import FORMATS, content
from roofwidget.teaching.misconceptions import misconceptions
from roofwidget.teaching.question import Question
from tests.places import write

ONE_PERCENT = 0.014355292977070055
WITHOUT_FEEDBACK = {"blackboard-txt"}
# Canvas has one text for all wrong numbers.
WITHOUT_LISTED = {"blackboard-txt", "canvas-qti"}


def ridge() -> Question:
    return Question(
        key="ridge",
        prompt="Peak 989.5 TFLOP/s, 3.35 TB/s. Ridge point in FLOP/B?",
        answer=295.4,
        unit="FLOP/B",
        tolerance=ONE_PERCENT,
        wrong_answers={0.003386: "You divided bandwidth by peak."},
        method="Peak divided by bandwidth.",
        explanation="989.5e12 / 3.35e12 = 295.4 FLOP/B",
    )


def side() -> Question:
    return Question(
        key="side",
        prompt="A kernel has 200 FLOP/B. Which roof is above it?",
        answer="the slope",
        options={
            "the slope": "200 is left of 295.4.",
            "the flat part": "That holds right of 295.4.",
            "both": "Only at 295.4.",
        },
    )


@dataclass
class Asked:
    """A question as a system would ask it: `judge` takes a typed number or the text of an option."""

    name: str
    prompt: str
    judge: Callable[[str], tuple[float, str]]
    options: list[str]


# -- small readers of each format --------------------------------------------------------------------------------------


def parsed(data: bytes) -> ET.Element:
    return ET.fromstring(data)  # noqa: S314 - our own files


def text_of_html(words: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", words))


def numeric(answers: list[tuple[float, float, float, str]], otherwise: str) -> Callable[[str], tuple[float, str]]:
    def judge(given: str) -> tuple[float, str]:
        for number, near, points, said in answers:
            if abs(float(given) - number) <= near:
                return points, said
        return 0.0, otherwise

    return judge


def chosen(options: dict[str, tuple[float, str]]) -> Callable[[str], tuple[float, str]]:
    return lambda given: options[given]


def read_gift(data: bytes) -> Iterator[Asked]:
    def plain(words: str) -> str:
        return text_of_html(re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], words))

    for block in re.split(r"\n\s*\n", data.decode().strip()):
        if block.startswith("$CATEGORY: "):
            continue
        found = re.fullmatch(r"::(.*?)(?<!\\)::\[html\](.*?)(?<!\\)\{(#?)\n(.*)\n\}", block.strip(), re.DOTALL)
        assert found is not None, block
        name, prompt, is_number, body = found.groups()
        numbers, options, otherwise = [], {}, ""
        for line in body.split("\n"):
            if line.startswith("####"):
                continue
            sign, (answer, *said) = line[0], re.split(r"(?<!\\)#", line[1:])
            text = plain(said[0]) if said else ""
            if is_number and sign == "~":
                assert answer == ""
                otherwise = text
            elif is_number:
                wrong, number, near = re.fullmatch(r"(%0%)?([\d.]+):([\d.]+)", answer).groups()  # type: ignore[union-attr]
                numbers.append((float(number), float(near), 0.0 if wrong else 1.0, text))
            else:
                assert sign in "=~"
                options[plain(answer)] = (1.0 if sign == "=" else 0.0, text)
        judge = numeric(numbers, otherwise) if is_number else chosen(options)
        yield Asked(plain(name), plain(prompt), judge, list(options))


def read_moodle_xml(data: bytes) -> Iterator[Asked]:
    def text(element: ET.Element, path: str) -> str:
        return element.findtext(f"{path}/text") or ""

    for question in parsed(data).iter("question"):
        if question.get("type") == "category":
            continue
        answers = [
            (text(one, "."), float(one.get("fraction", "")) / 100, text_of_html(text(one, "feedback")), one)
            for one in question.iter("answer")
        ]
        if question.get("type") == "multichoice":
            options = {text_of_html(answer): (points, said) for answer, points, said, _ in answers}
            judge = chosen(options)
        else:
            options = {}
            numbers = [
                (float(answer), float(one.findtext("tolerance") or ""), points, said)
                for answer, points, said, one in answers
                if answer != "*"
            ]
            judge = numeric(numbers, next((said for answer, _, said, _ in answers if answer == "*"), ""))
        yield Asked(text(question, "name"), text_of_html(text(question, "questiontext")), judge, list(options))


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def without_namespace(data: bytes) -> ET.Element:
    root = parsed(data)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def listed_files(files: dict[str, bytes]) -> list[str]:
    manifest = without_namespace(files["imsmanifest.xml"])
    found = [one.get("href", "") for one in manifest.iter("file")]
    assert set(found) == set(files) - {"imsmanifest.xml"}
    return found


def read_canvas_qti(data: bytes) -> Iterator[Asked]:
    files = unzipped(data)
    quiz = next(name for name in listed_files(files) if not name.endswith("assessment_meta.xml"))
    for item in without_namespace(files[quiz]).iter("item"):
        said = {
            one.get("ident", ""): text_of_html(one.findtext(".//mattext") or "") for one in item.iter("itemfeedback")
        }
        labels = {
            label.get("ident", ""): text_of_html(label.findtext("material/mattext") or "")
            for label in item.iter("response_label")
        }

        def holds(condition: ET.Element, given: str) -> bool:
            value = condition.text or ""
            tests: dict[str, Callable[[], bool]] = {
                "other": lambda: True,
                "varequal": lambda: value == given,
                "vargte": lambda: float(given) >= float(value),
                "varlte": lambda: float(given) <= float(value),
                "or": lambda: any(holds(one, given) for one in condition),
                "and": lambda: all(holds(one, given) for one in condition),
                "conditionvar": lambda: all(holds(one, given) for one in condition),
            }
            return bool(tests[condition.tag]())

        def judge(
            answer: str, item: ET.Element = item, labels: dict[str, str] = labels, said: dict[str, str] = said
        ) -> tuple[float, str]:
            given = next((ident for ident, text in labels.items() if text == answer), answer)
            score, texts = 0.0, []
            for rule in item.iter("respcondition"):
                if holds(rule[0], given):
                    score = max(score, float(rule.findtext("setvar") or 0) / 100)
                    texts += [said[one.get("linkrefid", "")] for one in rule.iter("displayfeedback")]
                    if rule.get("continue") == "No":
                        break
            return score, " ".join(texts)

        kind = item.findtext(".//fieldentry")
        options = [text for text in labels.values() if text] if kind == "multiple_choice_question" else []
        yield Asked(
            item.get("title", ""), text_of_html(item.findtext("presentation/material/mattext") or ""), judge, options
        )


def read_blackboard(data: bytes) -> Iterator[Asked]:
    for line in data.decode().splitlines():
        kind, prompt, *cells = line.split("\t")
        if kind == "NUM":
            number, near = map(float, cells)
            yield Asked("", prompt, numeric([(number, near, 1.0, "")], ""), [])
        else:
            assert kind == "MC"
            options = {
                option: ({"correct": 1.0, "incorrect": 0.0}[word], "")
                for option, word in zip(cells[::2], cells[1::2], strict=True)
            }
            yield Asked("", prompt, chosen(options), list(options))


def read_qti(data: bytes) -> Iterator[Asked]:
    files = unzipped(data)
    for name in listed_files(files):
        yield read_qti_item(without_namespace(files[name]))


def read_qti_item(root: ET.Element) -> Asked:
    # Both versions have the same elements in other spellings.
    for element in root.iter():
        element.tag = element.tag.removeprefix("qti-").replace("-", "").lower()
        element.attrib = {name.replace("-", "").lower(): value for name, value in element.attrib.items()}
    body = next(root.iter("itembody"))
    choices = {one.text or "": one.get("identifier", "") for one in body.iter("simplechoice")}

    def judge(answer: str) -> tuple[float, str]:
        outcomes = qti_outcomes(root, choices.get(answer, answer))
        feedback = [*root.iter("modalfeedback"), *root.iter("feedbackinline")]
        said = ["".join(one.itertext()) for one in feedback if one.get("identifier") == outcomes.get("FEEDBACK")]
        return float(outcomes["SCORE"]), " ".join(said)

    prompt = " ".join("".join(one.itertext()) for one in body if one.tag != "choiceinteraction")
    return Asked(root.get("title", ""), prompt.strip(), judge, list(choices))


def qti_outcomes(root: ET.Element, given: str) -> dict[str, str]:
    """Return the outcomes of the rules of an item for a response."""
    right = root.findtext("responsedeclaration/correctresponse/value") or ""
    outcomes = {"SCORE": root.findtext("outcomedeclaration/defaultvalue/value") or ""}

    def value(element: ET.Element) -> str:
        return {"variable": given, "correct": right, "basevalue": element.text or ""}[element.tag]

    def holds(test: ET.Element) -> bool:
        one, other = map(value, test)
        if test.tag == "match":
            return one == other
        assert (test.tag, test.get("tolerancemode")) == ("equal", "absolute")
        return abs(float(one) - float(other)) <= float(test.get("tolerance", ""))

    def run(rules: Iterable[ET.Element]) -> None:
        for rule in rules:
            if rule.tag == "setoutcomevalue":
                outcomes[rule.get("identifier", "")] = value(rule[0])
            else:
                assert rule.tag == "responsecondition"
                assert rule[0].tag == "responseif"
                assert {one.tag for one in rule[1:]} <= {"responseelseif", "responseelse"}
                branch = next((one for one in rule if one.tag == "responseelse" or holds(one[0])), None)
                run([] if branch is None else [one for one in branch if one.tag == "setoutcomevalue"])

    run(next(root.iter("responseprocessing")))
    return outcomes


READERS: dict[str, Callable[[bytes], Iterator[Asked]]] = {
    "gift": read_gift,
    "moodle-xml": read_moodle_xml,
    "canvas-qti": read_canvas_qti,
    "blackboard-txt": read_blackboard,
    "qti21": read_qti,
    "qti30": read_qti,
}


def read_back(questions: list[Question], layout: str) -> list[Asked]:
    return list(READERS[layout](content(questions, layout, "Sheet 1")[0]))


# -- tests -------------------------------------------------------------------------------------------------------------


def test_gift_of_a_number_and_a_choice() -> None:
    assert content([ridge(), side()], "gift", "Sheet 1")[0].decode() == (
        "$CATEGORY: Sheet 1/ridge\n\n"
        "::ridge 1::[html]<p>Peak 989.5 TFLOP/s, 3.35 TB/s. Ridge point in FLOP/B? Give 3 digits.</p>{#\n"
        "=295.4:2.95\n"
        "=%0%0.003386:0.0000339#You divided bandwidth by peak.\n"
        "~#Peak divided by bandwidth.\n"
        "####<p>989.5e12 / 3.35e12 \\= 295.4 FLOP/B</p>\n"
        "}\n\n"
        "$CATEGORY: Sheet 1/side\n\n"
        "::side 1::[html]<p>A kernel has 200 FLOP/B. Which roof is above it?</p>{\n"
        "=the slope#200 is left of 295.4.\n"
        "~the flat part#That holds right of 295.4.\n"
        "~both#Only at 295.4.\n"
        "}\n"
    )


def test_blackboard_text_of_a_number_and_a_choice() -> None:
    assert content([ridge(), side()], "blackboard-txt", "Sheet 1")[0].decode() == (
        "NUM\tPeak 989.5 TFLOP/s, 3.35 TB/s. Ridge point in FLOP/B? Give 3 digits.\t295.4\t2.95\n"
        "MC\tA kernel has 200 FLOP/B. Which roof is above it?"
        "\tthe slope\tcorrect\tthe flat part\tincorrect\tboth\tincorrect\n"
    )


def test_moodle_xml_has_the_fields_of_a_number_and_a_choice() -> None:
    quiz = parsed(content([ridge(), side()], "moodle-xml", "Sheet 1")[0])
    number, choice = [one for one in quiz if one.get("type") != "category"]
    assert [one.findtext("category/text") for one in quiz if one.get("type") == "category"] == [
        "Sheet 1/ridge",
        "Sheet 1/side",
    ]
    fields = ("defaultgrade", "penalty", "unitgradingtype", "unitpenalty", "showunits", "unitsleft")
    assert [number.findtext(name) for name in fields] == ["1", "0.3333333", "0", "0.1", "3", "0"]
    assert [
        (one.get("fraction"), one.findtext("text"), one.findtext("tolerance")) for one in number.iter("answer")
    ] == [
        ("100", "295.4", "2.95"),
        ("0", "0.003386", "0.0000339"),
        ("0", "*", "0"),
    ]
    # A second guess among three options is worth nothing.
    choice_fields = ("penalty", "single", "shuffleanswers", "answernumbering")
    assert [choice.findtext(name) for name in choice_fields] == ["1", "true", "true", "none"]
    assert number.findtext("hint/text") == "Peak divided by bandwidth."


def test_canvas_gets_ranges_positive_answer_ids_and_a_meta_file() -> None:
    files = unzipped(content([ridge(), side()], "canvas-qti", "Sheet 1")[0])
    manifest = without_namespace(files["imsmanifest.xml"])
    kinds = [one.get("type") for one in manifest.iter("resource")]
    assert kinds == ["imsqti_xmlv1p2", "associatedcontent/imscc_xmlv1p1/learning-application-resource"]
    assert [one.get("identifierref") for one in manifest.iter("dependency")] == [
        list(manifest.iter("resource"))[1].get("identifier")
    ]
    quiz = without_namespace(next(data for name, data in files.items() if re.fullmatch(r"(quiz-\w+)/\1\.xml", name)))
    assert [(one.tag, one.text) for one in quiz.iter() if one.tag in {"vargte", "varlte"}] == [
        ("vargte", "292.45"),
        ("varlte", "298.35"),
    ]
    # Nothing to draw from: each question has one variant.
    assert [one.get("ident") for one in quiz.iter("section")] == ["root_section"]
    fields = dict(zip((one.text for one in quiz.iter("fieldlabel")), quiz.iter("fieldentry"), strict=False))
    assert fields["original_answer_ids"].text == "1001,1002,1003"
    assert [one.findtext(".//fieldentry") for one in quiz.iter("item")] == [
        "numerical_question",
        "multiple_choice_question",
    ]


def test_a_canvas_quiz_draws_one_of_the_variants_of_each_key() -> None:
    bank = [{one.key: one for one in question_bank(seed)}["ridge-point-of-a-gpu"] for seed in range(12)]
    files = unzipped(content(bank, "canvas-qti", "Sheet 1")[0])
    quiz = without_namespace(next(data for name, data in files.items() if re.fullmatch(r"(quiz-\w+)/\1\.xml", name)))
    (group,) = [one for one in quiz.iter("section") if one.get("title") == "ridge-point-of-a-gpu"]
    assert group.findtext("selection_ordering/selection/selection_number") == "1"
    assert len(list(group.iter("item"))) == len({one.prompt for one in bank}) > 1
    assert without_namespace(files[next(name for name in files if "meta" in name)]).findtext("points_possible") == "1.0"


@pytest.mark.parametrize(("layout", "version"), [("qti21", "2.1"), ("qti30", "3.0")])
def test_qti_items_have_the_names_and_the_namespace_of_their_version(layout: str, version: str) -> None:
    files = unzipped(content([ridge(), side()], layout, "Sheet 1")[0])
    assert list(files) == ["imsmanifest.xml", "items/q-ridge-1.xml", "items/q-side-1.xml"]
    text = files["items/q-ridge-1.xml"].decode()
    expected = {
        "2.1": (
            (
                '<assessmentItem identifier="q-ridge-1" title="ridge 1" adaptive="false" timeDependent="false" '
                'xmlns="http://www.imsglobal.org/xsd/imsqti_v2p1">'
            ),
            '<equal toleranceMode="absolute" tolerance="2.95"><variable identifier="RESPONSE" />',
            '<textEntryInteraction responseIdentifier="RESPONSE" expectedLength="12" />',
        ),
        "3.0": (
            (
                '<qti-assessment-item identifier="q-ridge-1" title="ridge 1" adaptive="false" time-dependent="false" '
                'xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0">'
            ),
            '<qti-equal tolerance-mode="absolute" tolerance="2.95"><qti-variable identifier="RESPONSE" />',
            '<qti-text-entry-interaction response-identifier="RESPONSE" expected-length="12" />',
        ),
    }
    assert [part for part in expected[version] if part not in text] == []
    kind = {"2.1": "imsqti_item_xmlv2p1", "3.0": "imsqti_item_xmlv3p0"}[version]
    assert f'type="{kind}" href="items/q-side-1.xml"' in files["imsmanifest.xml"].decode()


def in_unit_of(asked: Asked, question: Question, number: float) -> str:
    """Return a number in the unit that a prompt asks for."""
    found = re.search(r"Enter a number in (.+?)(?: instead of dragging)?\.(?: Give \d digits\.)?$", asked.prompt)
    if found is None or question.unit not in units.UNITS or found[1] == question.unit:
        return repr(number)
    return repr(number / units.parse(f"1 {found[1]}", question.unit, "a unit"))


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_the_whole_bank_comes_back_with_its_right_answers_and_its_texts(layout: str, seed: int | None) -> None:
    questions = [one for one in question_bank(seed) if one.kind != "merge"]
    if seed is None:
        questions += [one.question for one in misconceptions()]
    found = read_back(questions, layout)
    assert len(found) == len(questions) > 100
    for asked, question in zip(found, questions, strict=True):
        assert asked.name in {"", f"{question.key} 1"}
        # There is no chart, and nothing to drag.
        before, *after = re.split(r"Drag\s+the [a-z ]+?\s+to\s+", re.sub(r"[`*]", "", question.prompt))
        assert "Find ".join([before, *after]) in asked.prompt.replace("*", "")
        if question.kind == "choice":
            assert asked.options == list(question.options)
            for option, said in question.options.items():
                points, text = asked.judge(option)
                assert points == (option == question.answer), question.key
                assert layout in WITHOUT_FEEDBACK or said in text, question.key
            continue
        share = 2 ** float(question.tolerance or 0) - 1
        for factor, points in ((1.0, 1.0), (1 + 0.99 * share, 1.0), (1 - 0.99 * share, 1.0), (1 + 1.02 * share, 0.0)):
            assert asked.judge(in_unit_of(asked, question, factor * question.answer))[0] == points, (
                question.key,
                factor,
            )
        for number, said in question.wrong_answers.items():
            points, text = asked.judge(in_unit_of(asked, question, number))
            assert points == 0, (question.key, number)
            assert layout in WITHOUT_LISTED or said in text, (question.key, number)


@pytest.mark.parametrize("layout", sorted(set(FORMATS) - WITHOUT_FEEDBACK))
def test_another_wrong_number_is_told_the_method_and_the_right_one_is_not(layout: str) -> None:
    (asked,) = read_back([ridge()], layout)
    assert asked.judge("1000") == (0.0, "Peak divided by bandwidth.")
    points, text = asked.judge("295")
    assert points == 1
    assert "Peak divided" not in text


NASTY = r"a = b {c} ~d #e :f \g <i>h</i> & \"i\" ]]> % ä × 10⁻³"


@pytest.mark.parametrize("layout", FORMATS)
def test_signs_that_a_format_reserves_and_markup_stay_text(layout: str) -> None:
    question = Question(
        key="nasty.key_1",
        prompt=f"Prompt {NASTY}",
        answer=f"right {NASTY}",
        options={f"right {NASTY}": f"said {NASTY}", f"wrong {NASTY}": f"no {NASTY}", "tab\tand\nline": "no"},
        explanation=f"because {NASTY}",
    )
    number = Question(
        key="n", prompt=NASTY, answer=2, wrong_answers={7: NASTY}, method=f"method {NASTY}", explanation=NASTY
    )
    asked, typed = read_back([question, number], layout)
    # Markdown keeps the backslash only before a letter.
    shown = NASTY.replace(r"\"", '"')
    assert shown in asked.prompt
    assert [" ".join(option.split()) for option in asked.options] == [
        f"right {NASTY}",
        f"wrong {NASTY}",
        "tab and line",
    ]
    assert [asked.judge(option)[0] for option in asked.options] == [1, 0, 0]
    assert typed.judge("2")[0] == 1
    if layout not in WITHOUT_FEEDBACK:
        assert f"no {NASTY}" in asked.judge(asked.options[1])[1]
        assert f"method {NASTY}" in typed.judge("50")[1]
    if layout not in WITHOUT_LISTED:
        assert NASTY in typed.judge("7")[1]


@pytest.mark.parametrize("layout", FORMATS)
def test_characters_that_xml_has_not_become_question_marks_or_replacements(layout: str) -> None:
    question = Question(key="q", prompt="a\x00b\x0bc\ud800d", answer="yes", options={"yes": "", "no\x01": "n\x1bo"})
    (asked,) = read_back([question], layout)
    assert asked.prompt == "a\ufffdb\ufffdc?d"
    assert asked.options == ["yes", "no\ufffd"]


@pytest.mark.parametrize("layout", FORMATS)
def test_a_drag_becomes_a_number_and_a_merge_is_left_out_and_named(layout: str) -> None:
    bank = {one.key: one for one in question_bank(1)}
    drag, merge = bank["square-matmul-bandwidth"], bank["chain-merge"]
    data, notes = content([drag, merge], layout, "Sheet 1")
    (asked,) = READERS[layout](data)
    assert asked.prompt.endswith("Enter a number in TB/s.")
    assert asked.judge(repr(drag.answer / 1e12))[0] == 1
    assert notes[0] == "'chain-merge' merges operations, which these systems cannot ask: it is left out"
    with pytest.raises(ValueError, match="there is no question to export; 'chain-merge' merges operations"):
        content([merge], layout, "Sheet 1")


def test_a_canvas_quiz_shuffles_and_the_names_of_qti_options_say_only_their_place() -> None:
    options = {"no": "no", "a": "", "b": "no"}
    question = Question(key="q", prompt="?", answer="a", options=options, option_ids=("wrong", "right", "other"))
    files = unzipped(content([question], "canvas-qti", "Sheet 1")[0])
    assert "<shuffle_answers>true<" in files[next(name for name in files if "meta" in name)].decode()
    item = unzipped(content([question], "qti21", "Sheet 1")[0])["items/q-q-1.xml"].decode()
    assert re.findall(r'simpleChoice identifier="([^"]+)"', item) == ["option-1", "option-2", "option-3"]
    assert "<value>option-2</value>" in item


def test_an_option_that_makes_sense_only_after_the_others_stays_last() -> None:
    question = Question(key="q", prompt="?", answer="a", options={"a": "", "b": "no", "None of these": "no"})
    files = unzipped(content([question], "canvas-qti", "Sheet 1")[0])
    assert "<shuffle_answers>false<" in files[next(name for name in files if "meta" in name)].decode()
    quiz = content([question], "moodle-xml", "Sheet 1")[0].decode()
    assert "<shuffleanswers>false</shuffleanswers>" in quiz
    item = unzipped(content([question], "qti21", "Sheet 1")[0])["items/q-q-1.xml"].decode()
    assert re.findall(r'fixed="(\w+)"', item) == ["false", "false", "true"]


def test_equal_variants_are_written_once_and_others_are_numbered() -> None:
    variants = [{one.key: one for one in question_bank(seed)}["ridge-point"] for seed in (1, 1, 2, 3, 4, 5, 6)]
    names = [asked.name for asked in read_back(variants, "gift")]
    assert names == [f"ridge-point {number}" for number in range(1, len({one.prompt for one in variants}) + 1)]


def test_an_exact_answer_keeps_its_digits() -> None:
    (asked,) = read_back([Question(key="q", prompt="?", answer=134217729, tolerance=0.0)], "gift")
    assert [asked.judge(text)[0] for text in ("134217729", "134217728")] == [1, 0]


@pytest.mark.parametrize(
    ("share", "note"),
    [(0.05, ""), (0.049, "3"), (0.01, "3"), (0.005, "3"), (0.001, "4"), (0.0001, "5"), (0, "all")],
)
def test_as_many_digits_are_asked_for_as_the_tolerance_needs(share: float, note: str) -> None:
    """1.0005 becomes 1.00 or 1.001 or 1.0005: an answer with n digits is off by up to half of the last one."""
    question = replace(ridge(), tolerance=math.log2(1 + share), wrong_answers={})
    (asked,) = read_back([question], "gift")
    assert re.findall(r"Give (\w+) digits\.", asked.prompt) == ([note] if note else [])
    if note.isdecimal():
        # The worst numbers begin with 1, and are in the middle between two with fewer digits.
        middle = 1 + 0.5 * 10 ** (1 - int(note))
        (asked,) = read_back([replace(question, answer=middle)], "gift")
        assert asked.judge(f"{math.nextafter(middle, 2):.{int(note) - 1}f}")[0] == 1


def test_export_questions_writes_a_file_and_warns_of_what_it_leaves_out(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="'chain-merge' merges operations"):
        path = rw.export_questions(rw.question_bank(3), tmp_path / "bank.xml", format="moodle-xml", title="Roofs")
    assert parsed(path.read_bytes()).findtext(".//category/text") == "Roofs/ridge-point"
    with pytest.raises(ValueError, match="there is no format 'gfit'; did you mean 'gift'"):
        rw.export_questions(rw.question_bank(3), path, format="gfit")


def test_the_command_writes_variants_of_a_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = write(
        tmp_path / "sheet.toml",
        'course = "HPC"\ntitle = "Sheet 1"\ntolerance = "1 %"\n'
        'questions = ["ridge-point", "square-matmul-bandwidth"]\n',
    )
    out = tmp_path / "sheet.gift"
    arguments = ["class", "lms", str(sheet), "--format", "gift", "--variants", "5", "--seed", "100", "--out", str(out)]
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(out)
    assert "5 variants of each question, with the seeds 100 to 104" in said.err
    found = list(read_gift(out.read_bytes()))
    prompts = {one.prompt for seed in range(100, 105) for one in question_bank(seed) if one.key == "ridge-point"}
    assert [one.name for one in found if one.name.startswith("ridge")] == [
        f"ridge-point {number}" for number in range(1, len(prompts) + 1)
    ]
    # The tolerance is for typed numbers: a dragged one keeps its own.
    assert [("3 digits" in one.prompt) for one in found] == [one.name.startswith("ridge") for one in found]
    out.unlink()
    assert main([*arguments[:-1], str(tmp_path / "no" / "file")]) == 2
    assert "no/file: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("course = 1", "'course' is a text"),
        ('course = "a"\ntitle = "b"', "'questions' is a list of keys of the bank"),
        (
            'course = "a"\ntitle = "b"\nquestions = ["ridge-pont"]',
            "the bank has no question 'ridge-pont'; did you mean",
        ),
        ('course = "a"\ntitle = "b"\nquestions = ["ridge-point", "ridge-point"]', "'ridge-point' is there twice"),
        ('course = "a"\ntitle = "b"\nquestions = ["ridge-point"]\ntolerance = "x"', "'x' is no tolerance"),
        (
            'course = "a"\ntitle = "b"\nquestions = ["ridge-point"]\ntolerance = "0 %"',
            "'0 %' is no tolerance; write a share from 0.01 % to 20 %",
        ),
        ('cours = "a"', "a sheet has no key 'cours'; did you mean 'course'"),
        ("course =", "Invalid value"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused_with_its_name(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = write(tmp_path / "sheet.toml", text)
    assert main(["class", "lms", str(sheet), "--format", "gift", "--out", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("roofwidget: sheet.toml: ")
    assert message in said
