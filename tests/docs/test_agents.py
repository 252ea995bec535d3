"""docs/agents.md and the file of its skill name commands, functions and keys that exist."""

from __future__ import annotations

import re
import shlex

import pytest

import roofwidget as rw
from roofwidget.analysis.plan import KINDS
from roofwidget.cli import make_parser
from tests.places import DOCS, ROOT, json_of, text_of

PAGE = text_of(DOCS / "agents.md")
SKILL = text_of(DOCS / "skills" / "roofwidget" / "SKILL.md")
STEP = json_of(ROOT / "roofwidget" / "cli" / "check.schema.json")["properties"]["plan"]["properties"]["steps"]["items"]


@pytest.mark.parametrize("text", [PAGE, SKILL], ids=["page", "skill"])
def test_every_command_is_one_that_the_command_line_takes(text: str) -> None:
    commands = re.findall(r"`roofwidget ([^`]+)`", text)
    assert len(commands) > 3
    for command in commands:
        words = [word for word in shlex.split(command) if word != "…"]
        make_parser(words).parse_args(words)


@pytest.mark.parametrize("text", [PAGE, SKILL], ids=["page", "skill"])
def test_every_function_is_public(text: str) -> None:
    names = set(re.findall(r"\brw\.(\w+)\(", text))
    assert names
    assert names <= set(dir(rw))


def test_the_page_has_every_key_and_kind_of_a_step() -> None:
    table = PAGE.partition("## The plan")[2].partition("```")[0]
    assert {key for key in STEP["properties"] if f"`{key}`" not in table} == set()
    assert {kind for kind in KINDS if f"`{kind}`" not in table} == set()
    described = STEP["properties"]["kind"]["description"]
    assert {kind for kind in KINDS if f"{kind}:" not in described} == set()


def test_the_skill_begins_with_its_name_and_when_to_use_it() -> None:
    head = re.match(r"---\nname: ([a-z]+)\ndescription: (.+)\n---\n", SKILL)
    assert head is not None
    assert head[1] == "roofwidget"
    assert "Use when" in head[2]
    assert len(head[2]) < 1024
