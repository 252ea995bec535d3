"""Rules of work: what an operation or a kernel of a name does, as data. People write them, and `rules.toml` has ours.

A rule is a table. With ``op`` it names a form of `roofwidget.readers.torch.forms` and says which inputs are what.
Without ``op`` it types ``flops`` and ``bytes``.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase, translate
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from roofwidget.chips import toml
from roofwidget.kernels.work import NamedWork
from roofwidget.readers.errors import ProfileError, RuleDoesNotFitError
from roofwidget.readers.kernel_families import kernel_family
from roofwidget.readers.torch.attention import PAIRS, UNKNOWN
from roofwidget.readers.torch.calls import Certainty, NotEnoughArguments, OpCall, OpWork
from roofwidget.readers.torch.forms import FORMS
from roofwidget.readers.torch.given import Given, Key, RuleError, total
from roofwidget.readers.torch.meanings import MEANINGS
from roofwidget.readers.torch.typed import typed
from roofwidget.support.arguments import shown_value
from roofwidget.support.did_you_mean import choose_from, did_you_mean
from roofwidget.units import parse

_AMOUNTS: Final = {"flops": "FLOP", "bytes": "B", "link_bytes": "B"}
_OPEN: Final = "?"
_EACH_TENSOR: Final = "tensors"
_COMMON: Final[Mapping[str, Key]] = MappingProxyType(
    {
        **dict.fromkeys(_AMOUNTS, Key.AMOUNT),
        **dict.fromkeys(("at_least", "at_most", "vector"), Key.FLAG),
        **dict.fromkeys(("precision", "category", "part_of", "missing"), Key.TEXT),
    }
)
# Rules of this package say with it what is missing; a person has nothing to say with it.
_NO_FORM: Final = "unknown"
_PLACES: Final = (Key.INPUT, Key.INPUTS)
_EXAMPLE: Final = '{ op = "linear", x = 0, weight = 1 }'
_KNOWN: Final = frozenset(("op", *_COMMON))
_LARGEST: Final = 1e30
MAX_BYTES: Final = 2**18
"""The largest file of rules."""
_MAX_RULES: Final = 10_000
_WILDCARDS: Final = "*?["
_WILDCARD: Final = re.compile(r"\[[^\]]*\]|[*?]")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, eq=False)
class Rule:
    """The work of the calls and kernels whose name matches a pattern.

    Parameters
    ----------
    pattern
        A pattern of names as in `fnmatch`, in which case matters.
    keys
        What the rule says, by key.
    place
        Where the rule is, such as ``"work.toml:3"``; empty for a rule of this package.
    proposal
        What a rule of a person would say, with ``"?"`` for what only a person knows; None if there is none.
    """

    pattern: str
    keys: Mapping[str, Any]
    place: str = ""
    proposal: Mapping[str, Any] | None = None

    @property
    def rank(self) -> tuple[bool, int]:
        """How exact the pattern is: a name without wildcards first, then by the number of other characters."""
        return not any(mark in self.pattern for mark in _WILDCARDS), len(_WILDCARD.sub("", self.pattern))

    def work(self, call: OpCall) -> OpWork | None:
        """Return the work of a call. A rule of this package that does not fit the call gives None.

        Raises
        ------
        ProfileError
            If a rule of the user does not fit the call. The message names file, line and operation.
        """
        given = Given(call, self.keys)
        try:
            return self._named(call, self._typed(given, self._of_form(given)))
        except NotEnoughArguments as error:
            missing = str(self.keys.get("missing", error))
            work = OpWork(self._family(call), None, None, UNKNOWN + missing, missing=missing)
            return self._named(call, work) if missing else None
        except RuleError as error:
            if not self.place:
                return None
            file, _, line = self.place.rpartition(":")
            raise RuleDoesNotFitError(
                file, f"'{self.pattern}' for {call.name}: {error}", place=f"line {line}"
            ) from None

    def _of_form(self, given: Given) -> OpWork:
        if "op" not in self.keys:
            return OpWork(self._family(given.call), None, None, "")
        work = FORMS[self.keys["op"]].work(given)
        if "category" in self.keys:
            work = work._replace(family=self.keys["category"])
        return work

    def _family(self, call: OpCall) -> str:
        return str(self.keys.get("category") or kernel_family(call.name) or "")

    def _typed(self, given: Given, work: OpWork) -> OpWork:
        """Replace the amounts that the rule types, and mark the bounds."""
        if "flops" in self.keys:
            value = self.keys["flops"]
            work = work._replace(
                flops=given.valued("flops", value), rule=str(value), vector=bool(self.keys.get("vector", work.vector))
            )
        if "bytes" in self.keys:
            value = self.keys["bytes"]
            places = range(len(given.call.dims))
            moved = (
                total(given.call.bytes_of(place) for place in places if given.call.is_tensor(place))
                if value == _EACH_TENSOR
                else given.valued("bytes", value)
            )
            rule = "each tensor once" if value == _EACH_TENSOR else str(value)
            work = work._replace(bytes=moved, bytes_rule=rule, bytes_are=Certainty.EXACT)
        if "link_bytes" in self.keys:
            value = self.keys["link_bytes"]
            rule = work.bytes_rule or f"{value} over the link"
            work = work._replace(link_bytes=given.valued("link_bytes", value), bytes_rule=rule)
        if self.keys.get("at_least"):
            work = self._at_least(work)
        if self.keys.get("at_most"):
            # An upper bound must not put a kernel above its roof, so it is said and not counted.
            work = work._replace(
                flops=None,
                bytes=None,
                rule=f"{UNKNOWN}at most {work.flops:g}: {work.rule}" if work.flops is not None else work.rule,
                bytes_rule=f"{UNKNOWN}at most {work.bytes:g}: {work.bytes_rule}" if work.bytes is not None else "",
            )
        return work._replace(
            precision=self.keys.get("precision", work.precision),
            flops_by_user=bool(self.place) and work.flops is not None,
            bytes_by_user=bool(self.place) and work.bytes is not None,
        )

    def _at_least(self, work: OpWork) -> OpWork:
        """Mark the amounts that the rule types as lower bounds; those of its form if it types none."""
        note = f" (lower bound: {self.keys.get('missing', 'by the rule')})"
        is_all = not self.keys.keys() & {"flops", "bytes"}
        if is_all or "flops" in self.keys:
            work = work._replace(rule=work.rule and work.rule + note, flops_are=Certainty.AT_LEAST)
        if is_all or "bytes" in self.keys:
            work = work._replace(bytes_rule=work.bytes_rule and work.bytes_rule + note, bytes_are=Certainty.AT_LEAST)
        return work

    def _named(self, call: OpCall, work: OpWork) -> OpWork:
        """Put the place of the rule before the rules of FLOPs and bytes."""
        if self.place:
            begin = f'{self.place} "{self.pattern}": '
        else:
            begin = f"built-in: {call.name.rpartition('::')[2]}{self._inputs(call)}: "

        def placed(rule: str) -> str:
            unknown = rule.startswith(UNKNOWN)
            return rule and (UNKNOWN if unknown else "") + begin + rule.removeprefix(UNKNOWN) + self._by_user()

        return work._replace(rule=placed(work.rule), bytes_rule=placed(work.bytes_rule))

    def _inputs(self, call: OpCall) -> str:
        kinds = FORMS[self.keys["op"]].keys if "op" in self.keys else {}
        given = [self.keys[key] for key, kind in kinds.items() if kind in _PLACES and key in self.keys]
        listed = [place for value in given for place in (value if isinstance(value, tuple) else [value])]
        places = sorted({place for place in listed if call.is_tensor(place) or call.is_list(place)})
        return f" from inputs {', '.join(map(str, places))}" if places else ""

    def _by_user(self) -> str:
        """Return which amounts of a form a person has typed."""
        if not self.place or "op" not in self.keys:
            return ""
        kinds = FORMS[self.keys["op"]].keys
        amounts = (Key.AMOUNT, Key.AMOUNTS)
        words = [key for key in self.keys if kinds.get(key) in amounts]
        return f"; {', '.join(words)} by the user" if words else ""


class WorkRules(Mapping[str, Mapping[str, Any]]):
    """Rules of work by pattern of names: the FLOPs and bytes of operations that a profile cannot tell.

    Parameters
    ----------
    rules
        What each rule says, by pattern. A pattern is matched as by `fnmatch`, and case matters. See docs/readers.md for
        the keys.

    Raises
    ------
    TypeError, ValueError
        If a key is unknown or a value invalid. The message names the pattern and the key.

    Examples
    --------
    >>> rules = WorkRules({"my::mlp": {"op": "linear", "x": 0, "weight": 1}})
    >>> print(rules)
    "my::mlp" = { op = "linear", x = 0, weight = 1 }
    >>> WorkRules.from_text(str(rules)) == rules
    True
    """

    __module__ = "roofwidget"

    def __init__(self, rules: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> None:
        if not isinstance(rules, Mapping):
            raise TypeError(f"WorkRules: rules must map patterns to rules, got {shown_value(rules)}")
        self._rules = tuple(
            _rule(pattern, value, f"WorkRules:{at}") for at, (pattern, value) in enumerate(rules.items(), 1)
        )

    @functools.cached_property
    def _exact(self) -> Mapping[str, Rule]:
        """The rules without wildcards by name; of several for a name the first."""
        return {rule.pattern: rule for rule in reversed(self._rules) if rule.rank[0]}

    @functools.cached_property
    def _patterns(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self._rules if not rule.rank[0])

    @functools.cached_property
    def _has_match(self) -> Callable[[str], object]:
        """Whether any pattern with wildcards matches a name: one search for all, as most names match none."""
        return re.compile("|".join(translate(rule.pattern) for rule in self._patterns) or r"(?!)").match

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ([(rule.pattern, dict(rule.keys), rule.place) for rule in self._rules],)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> WorkRules:
        """Read a file of rules, one rule a line.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ProfileError
            If the file is not TOML, or a rule is invalid. The message names the file, the line and the pattern.
        """
        file = Path(path)
        data = file.read_bytes()
        if len(data) > MAX_BYTES:
            raise ProfileError(str(path), f"a file of rules has at most {MAX_BYTES:,} bytes, this one {len(data):,}")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ProfileError(str(path), f"not UTF-8 text (byte {error.start})") from None
        return cls.from_text(text, file.name)

    @classmethod
    def from_text(cls, text: str, name: str = "work.toml") -> WorkRules:
        """Return the rules of a TOML text; `name` is the file's name in messages and origins."""
        try:
            tables = toml.parse(text)
        except ValueError as error:
            raise ProfileError(name, f"not TOML: {error}") from None
        if len(tables) > _MAX_RULES:
            raise ProfileError(name, f"a file has at most {_MAX_RULES:,} rules, this one has {len(tables):,}")
        lines = toml.line_numbers(text)
        rules = []
        for pattern, value in tables.items():
            line = toml.line_of(lines, (pattern,))
            try:
                rules.append(_rule(pattern, value, f"{name}:{line}"))
            except (TypeError, ValueError) as error:
                raise ProfileError(name, str(error), place=f"line {line}") from None
        found = cls()
        found._rules = tuple(rules)
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to a file, one rule a line."""
        Path(path).write_text(f"{self}\n" if len(self) else "", encoding="utf-8", newline="\n")

    def __getitem__(self, pattern: str) -> Mapping[str, Any]:
        for rule in self._rules:
            if rule.pattern == pattern:
                return rule.keys
        raise KeyError(pattern)

    def __iter__(self) -> Iterator[str]:
        return (rule.pattern for rule in self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def __str__(self) -> str:
        return "\n".join(rule_line(rule.pattern, rule.keys) for rule in self._rules)

    def __repr__(self) -> str:
        return f"WorkRules({len(self)} rules)"


def are_rules(data: bytes) -> bool:
    """Whether a file is not too large and has only tables with keys of rules, so that no other program wrote it.

    Examples
    --------
    >>> are_rules(b'"aten::mm" = { flops = 3, wrong = 4 }'), are_rules(b'title = "my thesis"'), are_rules(b"no TOML")
    (True, False, False)
    """
    if len(data) > MAX_BYTES:
        return False
    try:
        tables = toml.parse(data.decode("utf-8-sig"))
    except ValueError:
        return False
    return all(isinstance(value, dict) and not value.keys().isdisjoint(_KNOWN) for value in tables.values())


def rule_for(rules: WorkRules, name: str) -> Rule | None:
    """Return the rule for a name: of the rules that match the one with the most exact pattern, then the first."""
    rule = rules._exact.get(name)  # noqa: SLF001 - of this module
    if rule is not None or not rules._has_match(name):  # noqa: SLF001 - of this module
        return rule
    matching = [rule for rule in rules._patterns if fnmatchcase(name, rule.pattern)]  # noqa: SLF001 - of this module
    return max(matching, key=lambda rule: rule.rank, default=None)


def named_work(rules: WorkRules, name: str, arguments: str | None = None) -> NamedWork | None:
    """Return the work that the rules give to a kernel of a name, whose call has these arguments if they are known.

    Rules that do not fit the arguments give None.
    """
    try:
        work = checked_work(rules, name, arguments)
    except ProfileError:
        return None
    if work is None:
        return None
    return NamedWork(
        *(work.flops, work.bytes, work.precision, work.rule, work.bytes_rule, work.link_bytes),
        vector=work.vector,
        category=work.family or None,
        is_precision_typed=arguments is not None and work.precision is not None,
    )


def checked_work(rules: WorkRules, name: str, arguments: str | None = None) -> OpWork | None:
    """Return the work that the rules give to a kernel as `named_work`, or None without a rule for it.

    Raises
    ------
    ProfileError
        If the rule does not fit the arguments. The message names the line and the operation.
    """
    call = OpCall(name, ()) if arguments is None else OpCall.from_text(arguments)
    rule = rule_for(rules, call.name) or rule_for(rules, name)
    return None if rule is None or "part_of" in rule.keys else rule.work(call)


def amounts() -> frozenset[str]:
    """Return the keys of all forms whose values are numbers that people may type."""
    of_forms = {key for form in FORMS.values() for key, kind in form.keys.items() if kind in (Key.AMOUNT, Key.AMOUNTS)}
    return frozenset(of_forms | {key for key, kind in _COMMON.items() if kind is Key.AMOUNT})


def whole_of(rules: WorkRules, kernel: str) -> str | None:
    """Return the pattern of the operations of whose work a kernel does a part; None if no rule says so."""
    rule = rule_for(rules, kernel)
    return None if rule is None else rule.keys.get("part_of")


def _restored(rules: Iterable[tuple[str, Mapping[str, Any], str]]) -> WorkRules:
    found = WorkRules()
    found._rules = tuple(Rule(*rule) for rule in rules)  # noqa: SLF001 - of this module
    return found


def rule_line(pattern: str, keys: Mapping[str, Any]) -> str:
    """Return a rule as a line of TOML.

    Examples
    --------
    >>> rule_line("my::mlp", {"flops": "2 * dims[0][0]", "at_least": True, "windows": [128, 0]})
    '"my::mlp" = { flops = "2 * dims[0][0]", at_least = true, windows = [128, 0] }'
    """
    pairs = ", ".join(f"{_key(key)} = {_value(value)}" for key, value in keys.items())
    return f"{_quoted(pattern)} = {{ {pairs} }}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    shown = (escapes.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text)
    return f'"{"".join(shown)}"'


# -- checks --------------------------------------------------------------------------------------------------------


def _rule(pattern: object, value: object, place: str) -> Rule:
    """Return a checked rule."""
    if not isinstance(pattern, str) or not pattern:
        raise TypeError(f"{shown_value(pattern)} is no pattern of names")
    try:
        re.compile(translate(pattern))
    except re.error as error:
        raise ValueError(f"'{pattern}' is no pattern of names: {error}") from None
    if not isinstance(value, Mapping):
        raise TypeError(
            f"'{pattern}' must be a table such as {{ op = \"linear\", x = 0, weight = 1 }}, got {shown_value(value)}"
        )
    op = value.get("op")
    forms = [form for form in FORMS if not place or form != _NO_FORM]
    if op is not None and op not in forms:
        raise ValueError(f"'{pattern}': op = {shown_value(op)}{choose_from(op, forms)}")
    kinds = {**_COMMON, **(FORMS[op].keys if op is not None else {}), "op": Key.TEXT}
    keys = {}
    for key, given in value.items():
        if key not in kinds:
            of = f"the form '{op}'" if op else "a rule without op"
            hint = did_you_mean(str(key), kinds, f"; it has {', '.join(kinds)}")
            raise TypeError(f"'{pattern}': {of} has no key '{key}'{hint}")
        if given == _OPEN:
            raise ValueError(f"'{pattern}': {key} is still \"{_OPEN}\": give {MEANINGS[key]}")
        keys[key] = _checked(key, given, kinds[key], f"'{pattern}': {key}")
    if op is None and not keys.keys() & {*_AMOUNTS, "part_of"}:
        raise ValueError(f"'{pattern}' gives neither op, flops, bytes, link_bytes nor part_of")
    if keys.get("at_least") and keys.get("at_most"):
        raise ValueError(f"'{pattern}': at_least and at_most contradict each other")
    return Rule(pattern, MappingProxyType(keys), place)


def _checked(key: str, value: Any, kind: Key, what: str) -> Any:
    """Return a checked value of a key."""
    if key in _AMOUNTS and isinstance(value, str):
        return _amount(key, value, what)
    fits = {
        Key.INPUT: _is_place(value),
        Key.INPUTS: isinstance(value, (list, tuple)) and all(map(_is_place, value)),
        Key.AMOUNT: _is_amount(value) or isinstance(value, str),
        Key.PAIRS: _is_amount(value) or isinstance(value, str),
        Key.AMOUNTS: isinstance(value, (list, tuple)) and all(map(_is_amount, value)),
        Key.FLAG: isinstance(value, bool),
        Key.FLAG_OR_INPUT: isinstance(value, bool) or _is_place(value),
        Key.TEXT: isinstance(value, str),
    }[kind]
    if not fits:
        raise TypeError(f"{what} must be {kind.value}, got {shown_value(value)}")
    if isinstance(value, str) and (kind is Key.AMOUNT or (kind is Key.PAIRS and value not in PAIRS)):
        try:
            typed(value)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    return tuple(value) if isinstance(value, list) else value


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _amount(key: str, value: str, what: str) -> str | float:
    """Return an expression, or the number of a text with a unit."""
    if key == "bytes" and value == _EACH_TENSOR:
        return value
    try:
        typed(value)
    except ValueError as error:
        try:
            return parse(value, _AMOUNTS[key], what)
        except ValueError:
            raise ValueError(f"{what}: {error}") from None
    return value


# -- rules of this package -----------------------------------------------------------------------------------------


@functools.cache
def built_in() -> WorkRules:
    """Return the rules of this package."""
    rules = []
    for entry in toml.parse(toml.packaged(__file__, "rules.toml"))["rules"]:
        keys = entry["work"] | {key: entry[key] for key in ("missing",) if key in entry}
        rules += [replace(_rule(name, keys, ""), proposal=entry.get("proposal")) for name in entry["names"]]
    found = WorkRules()
    found._rules = tuple(rules)  # noqa: SLF001 - of this module
    return found
