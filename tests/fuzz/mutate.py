"""Damage to files and values, drawn from a seeded generator: the same seed gives the same damage."""

from __future__ import annotations

import copy
import gzip
import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

DEPTH: Final = 100_000
LONG: Final = 10_000

# What a number of a file becomes.
NUMBERS: Final = (
    *("nan", "NaN", "inf", "-inf", "Infinity", "-Infinity", "1e400", "-1e400", "1e308", "5e-324", "-0.0", "0", "-1"),
    *("9" * 5000, "9" * 4000, "1" + "0" * 400, "18446744073709551616", "9007199254740993", "0." + "3" * 5000),
    *("true", "false", "null", '""', '"1"', "1_000", "0x10", "1,5", "1.234,5", "1,234.5", "12 %", "n/a", "1e", "--1"),
    *("\N{ARABIC-INDIC DIGIT THREE}", "\N{FULLWIDTH DIGIT THREE}", "\N{SUPERSCRIPT TWO}", "\N{MINUS SIGN}1", "1 2"),
    *("[]", "{}", "[1]", '{"a": 1}', "1e-400", "3 GB", "1j"),
)
# What a name of a file becomes.
TEXTS: Final = (
    *(
        "",
        " ",
        "x" * LONG,
        "\N{COMBINING ACUTE ACCENT}" * 1000,
        "\N{RIGHT-TO-LEFT OVERRIDE}abc",
        "\N{ZERO WIDTH SPACE}",
    ),
    *("<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", '"><svg onload=alert(1)>', "&amp;&lt;"),
    *("=HYPERLINK(1)", "+cmd", "@SUM(1)", "{{7*7}}", "${x}", "%s%n", "__proto__", "constructor", "toString"),
    *("../../etc/passwd", "C:\\x", "CON", "a/b", "a\tb", "a,b", "a;b", 'a"b', "a'b", "a\nb", "a\rb", "\0", "\x1b[31m"),
    *("\x1f", "\ud800", "\N{GRINNING FACE}", "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 50, "nan", "None", "total", "IDLE"),
    *(
        "time",
        "bytes",
        "flops",
        "kernel (us)",
        "bytes:L2",
        "flops:fp8",
        "[",
        "]",
        "(",
        "**",
        "\\",
        "a" * 100 + "(" * 50,
    ),
)
_BYTES: Final = b'\x00\xff"0-9,{}[]\n e.nN;\t\r\xef\xbb\xbf\x80(:<'
_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_QUOTED: Final = re.compile(rb'"[^"\\\n]{1,200}"')
_WORD: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_.]{1,60}")
_KEY: Final = re.compile(rb'"([^"\\\n]{1,80})"\s*:\s*')
_MAX_SCANNED: Final = 400_000
"""Only so much of a file is searched for tokens: a search of more would take longer than reading the file."""

Damage = Callable[[bytes, bytes, Random], bytes]


# -- bytes ---------------------------------------------------------------------------------------------------------


def _flip(data: bytes, _other: bytes, chance: Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(chance.choice((1, 1, 3, 10, 40))):
        at = chance.randrange(len(changed))
        changed[at] = chance.choice(_BYTES) if chance.random() < 0.6 else changed[at] ^ (1 << chance.randrange(8))
    return bytes(changed)


def _cut(data: bytes, _other: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _drop(data: bytes, _other: bytes, chance: Random) -> bytes:
    begin, end = _span(data, chance)
    return data[:begin] + data[end:]


def _repeat(data: bytes, _other: bytes, chance: Random) -> bytes:
    begin, end = _span(data, chance)
    return data[:end] + data[begin:end] * chance.choice((1, 2, 20)) + data[end:]


def _splice(data: bytes, other: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _insert(data: bytes, _other: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    what = chance.choice(
        (
            *(b"\0" * 100, b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\n" * 50, b"," * 300, b"[" * DEPTH),
            *(b'{"a":' * DEPTH, b"(" * 999, b"\r\n", b"#", b"\x1f", b'"' * 99, b" " * 5000, b"x" * 200_000),
            *(bytes(range(256)), "\u2028\u00a0é".encode()),
        )
    )
    return data[:at] + what + data[at:]


def _recode(data: bytes, _other: bytes, chance: Random) -> bytes:
    text = data.decode("latin-1")
    return chance.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-be"),
            lambda: text.encode("utf-32-le"),
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: data.replace(b",", b";"),
            lambda: data.replace(b",", b"\t"),
            lambda: data.replace(b'"', b"'"),
            lambda: data.replace(b".", b","),
            lambda: data.replace(b"\n", b""),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.replace(b"e", b"\xe9"),
        )
    )()


def _span(data: bytes, chance: Random) -> tuple[int, int]:
    begin = chance.randrange(len(data) + 1)
    return begin, min(len(data), begin + chance.choice((1, 10, 100, 1000, len(data))))


# -- tokens --------------------------------------------------------------------------------------------------------


def _replace(data: bytes, token: re.Pattern[bytes], chance: Random, replacement: Callable[[bytes], bytes]) -> bytes:
    """Replace one token or several tokens."""
    found = [match.span() for match in token.finditer(data, 0, _MAX_SCANNED)]
    if not found:
        return data
    chosen = chance.sample(found, min(len(found), chance.choice((1, 1, 2, 8, 50))))
    parts, at = [], 0
    for begin, end in sorted(chosen):
        parts += [data[at:begin], replacement(data[begin:end])]
        at = end
    return b"".join([*parts, data[at:]])


def _numbers(data: bytes, _other: bytes, chance: Random) -> bytes:
    return _replace(data, _NUMBER, chance, lambda _: chance.choice(NUMBERS).encode())


def _names(data: bytes, _other: bytes, chance: Random) -> bytes:
    def quoted(_: bytes) -> bytes:
        text = chance.choice(TEXTS)
        return json.dumps(text, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")

    if chance.random() < 0.6:
        return _replace(data, _QUOTED, chance, quoted)
    return _replace(data, _WORD, chance, lambda _: chance.choice(TEXTS).encode("utf-8", "surrogatepass"))


def _keys(data: bytes, _other: bytes, chance: Random) -> bytes:
    """Write keys of JSON twice, or rename them."""
    found = [match[0] for match in _KEY.finditer(data, 0, _MAX_SCANNED)]

    def changed(key: bytes) -> bytes:
        if chance.random() < 0.5:
            return key + b"1, " + key
        return chance.choice(found) if chance.random() < 0.5 else b'"other": '

    return _replace(data, _KEY, chance, changed)


def _cells(data: bytes, _other: bytes, chance: Random) -> bytes:
    """Change columns of a table: swap, drop or repeat cells of one line or of all lines."""
    lines = data.split(b"\n")
    mark = max((b",", b";", b"\t"), key=data[:_MAX_SCANNED].count)
    at, width = chance.randrange(len(lines)), chance.randrange(1, 12)
    one, other = chance.randrange(width), chance.randrange(width)
    act = chance.choice(("swap", "drop", "repeat", "empty"))
    rows = range(len(lines)) if chance.random() < 0.5 else [at]
    for row in rows:
        cells = lines[row].split(mark)
        if max(one, other) >= len(cells):
            continue
        if act == "swap":
            cells[one], cells[other] = cells[other], cells[one]
        elif act == "drop":
            del cells[one]
        elif act == "repeat":
            cells.insert(other, cells[one])
        else:
            cells[one] = b""
        lines[row] = mark.join(cells)
    if chance.random() < 0.2:
        chance.shuffle(lines)
    return b"\n".join(lines)


def _nest(data: bytes, _other: bytes, chance: Random) -> bytes:
    depth = chance.choice((9, 900, 1200, DEPTH))
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opening * depth + b"1" + closing * (depth if chance.random() < 0.7 else 0)
    found = [match.span() for match in _NUMBER.finditer(data, 0, _MAX_SCANNED)] or [(0, 0)]
    begin, end = chance.choice(found)
    return data[:begin] + deep + data[end:]


# -- JSON ----------------------------------------------------------------------------------------------------------

_RAW: Final = re.compile(r'"@raw (\d+)"')


def value(chance: Random, depth: int = 3) -> Any:
    """Return a hostile JSON value. It may have numbers that JSON text cannot hold."""
    kind = chance.randrange(12 if depth else 9)
    if kind < 3:
        return chance.choice(
            (
                *(0, -1, 1, 1.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, -0.0, 2**53 + 1, 2**64, -(2**63)),
                *(10**400, True, False, None, 3, 99, -7, 1e-300, 1e30, 10**19, 0.1),
            )
        )
    if kind < 6:
        return chance.choice(TEXTS)
    if kind < 9:
        return chance.choice((None, [], {}, "", [None], {"": None}, [[]], 0, "x"))
    if kind == 9:
        if chance.random() < 0.2:
            return [chance.choice((0, 1, 1e9, "a", None))] * chance.choice((20, 2000, 20_000))
        return [value(chance, depth - 1) for _ in range(chance.choice((1, 2, 5)))]
    keys = chance.choices(TEXTS, k=chance.choice((1, 2, 4)))
    return {key: value(chance, depth - 1) for key in keys}


def changed(document: Any, chance: Random, other: Any = None) -> Any:
    """Return a copy of a JSON document in which some values or keys are changed, or taken from another document."""
    found = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        places = list(_places(found))
        if not places:
            return value(chance)
        # Few lists hold most of the places, so half of the changes are near the root.
        place, key = chance.choice(places[: max(1, len(places) // 30)] if chance.random() < 0.5 else places)
        _change(place, key, chance, found if other is None else other)
    return found


def _change(place: Any, key: Any, chance: Random, other: Any) -> None:
    act = chance.randrange(8)
    if act == 0:
        del place[key]
    elif act == 1 and isinstance(place, dict):
        place[chance.choice(TEXTS)] = place.pop(key)
    elif act == 1:
        place.insert(key, copy.deepcopy(place[key]))
    elif act == 2:
        places = list(_places(other))
        if places:
            there, name = chance.choice(places)
            place[key] = copy.deepcopy(there[name])
    elif act == 3 and isinstance(place, list):
        place *= chance.choice((0, 2, 3))
    elif act == 3:
        place[chance.choice(("extra", "", "name", "time"))] = value(chance)
    else:
        place[key] = value(chance)


def _places(document: Any) -> Any:
    """Yield each container with each key or index, the outer ones first."""
    level = [document]
    while level:
        inner = []
        for part in level:
            pairs = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
            for key, entry in pairs:
                yield part, key
                if isinstance(entry, (dict, list)):
                    inner.append(entry)
        level = inner


def text(document: Any) -> bytes:
    """Return JSON text. Integers of any length are written, and so are the constants that JSON does not have."""
    large: list[int] = []

    def plain(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: plain(entry) for key, entry in part.items()}
        if isinstance(part, list):
            return [plain(entry) for entry in part]
        if isinstance(part, int) and abs(part) > 10**300:
            large.append(part)
            return f"@raw {len(large) - 1}"
        return part

    written = json.dumps(plain(document))
    return _RAW.sub(lambda match: str(large[int(match[1])]), written).encode()


def _structure(data: bytes, other: bytes, chance: Random) -> bytes:
    """Change a JSON document; the text of another kind of file is damaged as bytes."""
    try:
        document = json.loads(data)
    except (RecursionError, ValueError):
        return chance.choice((_numbers, _names, _cells))(data, other, chance)
    try:
        beside = json.loads(other)
    except (RecursionError, ValueError):
        beside = None
    try:
        return text(changed(document, chance, beside))
    except RecursionError:
        # An earlier damage nested the document more deeply than Python copies it.
        return _numbers(data, other, chance)


TEXT_DAMAGES: Final[Sequence[Damage]] = (
    *(_flip, _cut, _drop, _repeat, _splice, _insert, _recode),
    *(_numbers, _numbers, _names, _names, _keys, _cells, _nest, _structure, _structure, _structure),
)


def damaged(data: bytes, other: bytes, chance: Random) -> tuple[str, bytes]:
    """Return the data after one or several damages, and their names."""
    names = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        damage = chance.choice(TEXT_DAMAGES)
        names.append(damage.__name__.strip("_"))
        data = damage(data, other, chance)
    return "+".join(names), data


# -- containers ----------------------------------------------------------------------------------------------------


def packed(files: Mapping[str, bytes], chance: Random) -> tuple[str, bytes]:
    """Return an archive of the files, whole or damaged."""
    name, data = next(iter(files.items()))
    kind = chance.choice(("gzip", "gzip", "gzip twice", "zip", "zip", "zip of several", "zip in gzip", "zip in zip"))
    made = {
        "gzip": lambda: _gzipped(data),
        "gzip twice": lambda: _gzipped(_gzipped(data)),
        "zip": lambda: _zipped({name: data}, chance),
        "zip of several": lambda: _zipped(files, chance),
        "zip in gzip": lambda: _gzipped(_zipped({name: data}, chance)),
        "zip in zip": lambda: _zipped({"inner.zip": _zipped({name: data}, chance)}, chance),
    }[kind]()
    if chance.random() < 0.4:
        damage = chance.choice((_flip, _cut, _drop, _repeat, _splice))
        return f"{kind}+{damage.__name__.strip('_')}", damage(made, data, chance)
    return kind, made


def _gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _zipped(files: Mapping[str, bytes], chance: Random) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            where = chance.choice((name, name, f"run/{name}", f"../{name}", f"/{name}", f"__MACOSX/{name}", "a" * 300))
            method = chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
            entry = zipfile.ZipInfo(where, (1980, 1, 1, 0, 0, 0))
            # A symbolic link.
            entry.external_attr = 0o120777 << 16 if chance.random() < 0.05 else 0o644 << 16
            with warnings.catch_warnings():
                # Two members of one name are a case, too.
                warnings.simplefilter("ignore")
                archive.writestr(entry, data, method)
        if chance.random() < 0.1:
            archive.mkdir("folder") if hasattr(archive, "mkdir") else None
    return buffer.getvalue()
