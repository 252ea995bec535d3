"""Write the golden file of the filters that pytest and vitest both hold the code to. Run this file to write it anew.

Nothing of the package is imported here. What passes stands beside each case, counted by hand; this file checks it by
the filters' definitions in exact fractions of the printed seconds, and by regular expressions, before it writes.

In the file a table is its columns: names, categories, precisions, phases and answers of what binds (null is none), and
seconds (null is not measured). A case is a table, the filters that are not at their defaults, the rows that pass, and
their share of the table's self time (null where the table has none).
"""

# ruff: noqa: RUF001 - letters that look alike are what some cases are about

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

HERE: Final = Path(__file__).parent
# Name, category, precision, what binds it, seconds.
Row: TypeAlias = tuple[str, str | None, str | None, str, str | None]
# Case, table, filters, rows that pass.
Case: TypeAlias = tuple[str, str, dict[str, Any], list[int]]


def _named(*names: str) -> list[Row]:
    return [(name, None, None, "unknown", "1") for name in names]


def _timed(*seconds: str | None) -> list[Row]:
    return [(f"k{row}", None, None, "unknown", one) for row, one in enumerate(seconds)]


TABLES: Final[dict[str, list[Row]]] = {
    # 20 seconds.
    "step": [
        ("fusion.1", "loop fusion", "bf16", "HBM", "4"),
        ("fusion.12", "loop fusion", "bf16", "compute", "2"),
        ("Convolution.3", "convolution", "bf16", "compute", "9"),
        ("copy-start.1", "async-start", None, "unknown", "0"),
        ("infeed.5", "Infeed", None, "HBM", "1"),
        ("dequeue", "host OUTFEED", None, "VMEM read", "1"),
        ("custom-call", None, None, "unknown", None),
        ("all-reduce.2", "", "fp32", "network", "3"),
    ],
    "skewed": _timed("4", "50", "1", "30", "15"),
    "tied": _timed("2", None, "2", "2", "0", "2", "2"),
    "tenths": _timed(*["0.1"] * 10),
    "thirds": _timed("0.7", "0.1", "0.2"),
    "rounded": _timed("0.1", "0.6", "0.7", "0.6"),
    "rounded one": _timed("0.8", "0.9", "0.7", "0.1"),
    "micro": _timed("0.000003", "0.000001", "0.000004", "0.000002"),
    "apart": _timed("1000000000000", "0.000000000001", "0.000000000001"),
    "zero": _timed("0", None, "0"),
    "unmeasured": _timed(None, None),
    "one": _timed("3"),
    "none": [],
    "C++": _named(
        "void cutlass::gemm<128, 64>(int*)",
        "ampere_bf16_s16816gemm_bf16_128x64_tn",
        "triton_poi_fused_add_0",
        "a*b",
        "",
        "line\none",
        "gemm",
    ),
    "scripts": _named(
        "Straße",
        "STRASSE",
        "STRAẞE",
        "İSTANBUL",
        "istanbul",
        "ΟΔΟΣ",
        "οδοσ.1",
        "ＭＡＴＭＵＬ",
        "matmul",
        "КЕРНЕЛ",
        "核 🚀 one",
        "ﬁne",
        "K-value",
        "café",
        "cafe\u0301",
    ),
}

# The phase of each row, by table; all others have none.
PHASES: Final[dict[str, list[str | None]]] = {
    "step": ["prefill", "prefill", "prefill", "decode", None, "", "decode", "decode"],
}

# Name, table, search, rows that pass.
SEARCHES: Final[list[tuple[str, str, str, list[int]]]] = [
    ("no search lets all pass", "C++", "", [0, 1, 2, 3, 4, 5, 6]),
    ("blanks are no search", "C++", " \t\n\u00a0\u3000 ", [0, 1, 2, 3, 4, 5, 6]),
    ("a word may stand anywhere", "C++", "gemm", [0, 1, 6]),
    ("case does not count in the search", "C++", "GEMM", [0, 1, 6]),
    ("case does not count in the name", "step", "convolution", [2]),
    ("every word must occur", "C++", "gemm 128", [0, 1]),
    ("words in any order", "C++", "128 gemm", [0, 1]),
    ("the same word twice is one", "C++", "gemm gemm", [0, 1, 6]),
    ("words may overlap", "C++", "gemm emm", [0, 1, 6]),
    ("a word that is nowhere", "C++", "gemm conv", []),
    ("a star is any run of characters", "C++", "gemm*64", [0, 1]),
    ("a star is no character too", "C++", "ge*mm", [0, 1, 6]),
    ("what stands around a star has an order", "C++", "64*gemm", []),
    ("what stands around a star does not overlap", "C++", "gem*mm", []),
    ("the first place for a part is as good as any", "C++", "bf16*bf16*128", [1]),
    ("a star at the ends changes nothing", "C++", "*gemm*", [0, 1, 6]),
    ("a star alone lets all pass", "C++", "*", [0, 1, 2, 3, 4, 5, 6]),
    ("several stars are one", "C++", "gemm***64", [0, 1]),
    ("a star runs over blanks", "C++", "void*int", [0]),
    ("a star runs over lines", "C++", "line*one", [5]),
    ("a dot is a dot", "step", "fusion.1", [0, 1]),
    ("a dot is nothing else", "C++", "l.ne", []),
    ("brackets are brackets", "C++", "<128 (int", [0]),
    ("a backslash is a backslash", "C++", "\\d", []),
    ("a question mark is one", "C++", "gem?", []),
    ("a separator of files is a blank", "C++", "gemm\x1c128", [0, 1]),
    ("a mark of the order of bytes is a blank", "C++", "\ufeffgemm\u0085128", [0, 1]),
    ("ß is not ss", "scripts", "STRASSE", [1]),
    ("ß and its capital are one", "scripts", "straße", [0, 2]),
    ("its capital and ß are one", "scripts", "STRAẞE", [0, 2]),
    ("the dotted capital I is an i", "scripts", "istanbul", [3, 4]),
    ("an i is the dotted capital I", "scripts", "İSTANBUL", [3, 4]),
    ("the dotless i is none", "scripts", "ıstanbul", []),
    ("all three sigmas are one", "scripts", "οδος", [5, 6]),
    ("a capital sigma is any", "scripts", "ΟΔΟΣ", [5, 6]),
    ("a sigma before a star is one as elsewhere", "scripts", "ΔΟΣ*", [5, 6]),
    ("a full-width letter has its own small one", "scripts", "ｍａｔｍｕｌ", [7]),
    ("a full-width letter is not the narrow one", "scripts", "matmul", [8]),
    ("other scripts have cases too", "scripts", "кернел", [9]),
    ("a sign of two units is one", "scripts", "🚀*one", [10]),
    ("an ideograph is a word", "scripts", "核", [10]),
    ("a ligature is not its letters", "scripts", "fine", []),
    ("the sign of kelvin is a k", "scripts", "k-value", [12]),
    ("letters and marks are not composed", "scripts", "CAFÉ", [13]),
]

CHOICES: Final[list[Case]] = [
    ("one category", "step", {"categories": ["loop fusion"]}, [0, 1]),
    ("two categories", "step", {"categories": ["convolution", "async-start"]}, [2, 3]),
    ("no category, or an empty one", "step", {"categories": [""]}, [6, 7]),
    ("a category and none", "step", {"categories": ["", "convolution"]}, [2, 6, 7]),
    ("a category has its case", "step", {"categories": ["infeed"]}, []),
    ("a category that no kernel has", "step", {"categories": ["scatter"]}, []),
    ("no categories at all", "step", {"categories": []}, []),
    ("one answer of what binds", "step", {"bounds": ["compute"]}, [1, 2]),
    ("a level's name", "step", {"bounds": ["HBM"]}, [0, 4]),
    ("several answers", "step", {"bounds": ["network", "VMEM read"]}, [5, 7]),
    ("unknown is an answer", "step", {"bounds": ["unknown"]}, [3, 6]),
    ("no answers at all", "step", {"bounds": []}, []),
    ("one precision", "step", {"precisions": ["bf16"]}, [0, 1, 2]),
    ("a precision that is not told", "step", {"precisions": [""]}, [3, 4, 5, 6]),
    ("precisions and none", "step", {"precisions": ["", "fp32"]}, [3, 4, 5, 6, 7]),
    ("one phase", "step", {"phases": ["decode"]}, [3, 6, 7]),
    ("no phase, or an empty one", "step", {"phases": [""]}, [4, 5]),
    ("a phase and none", "step", {"phases": ["prefill", ""]}, [0, 1, 2, 4, 5]),
    ("a phase has its case", "step", {"phases": ["Decode"]}, []),
    ("a phase of a table without phases", "skewed", {"phases": ["decode"]}, []),
    ("no phase of a table without phases", "skewed", {"phases": [""]}, [0, 1, 2, 3, 4]),
    ("without infeed and outfeed, in any case", "step", {"infeed": False}, [0, 1, 2, 3, 6, 7]),
    ("with infeed and outfeed", "step", {"infeed": True}, [0, 1, 2, 3, 4, 5, 6, 7]),
]

# Name, table, share of the time, rows that pass.
SHARES: Final[list[tuple[str, str, str, list[int]]]] = [
    ("the whole time is everything", "tied", "1", [0, 1, 2, 3, 4, 5, 6]),
    ("half met by one exactly", "skewed", "0.5", [1]),
    ("a little more than half", "skewed", "0.51", [1, 3]),
    ("met by two exactly", "skewed", "0.8", [1, 3]),
    ("met by three exactly", "skewed", "0.95", [1, 3, 4]),
    ("met by four exactly", "skewed", "0.99", [0, 1, 3, 4]),
    ("almost all", "skewed", "0.999", [0, 1, 2, 3, 4]),
    ("hardly any", "skewed", "0.000001", [1]),
    ("of equals those that stand first", "tied", "0.4", [0, 2]),
    ("of equals one more than their share", "tied", "0.41", [0, 2, 3]),
    ("neither zero nor unmeasured in a share", "tied", "0.999", [0, 2, 3, 5, 6]),
    ("three tenths are three of ten", "tenths", "0.3", [0, 1, 2]),
    ("six tenths are six of ten", "tenths", "0.6", [0, 1, 2, 3, 4, 5]),
    ("seven tenths are seven of ten", "tenths", "0.7", [0, 1, 2, 3, 4, 5, 6]),
    ("nine tenths are nine of ten", "tenths", "0.9", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("what doubles do not sum to exactly", "thirds", "0.9", [0, 2]),
    # In doubles 0.7 + 0.6 is less than 0.65 of their sum, and 0.9 less than 0.36 of it.
    ("a share that rounding misses", "rounded", "0.65", [1, 2]),
    ("a share of one that rounding misses", "rounded one", "0.36", [1]),
    ("microseconds", "micro", "0.7", [0, 2]),
    ("more than 24 decades apart", "apart", "0.5", [0]),
    ("no time to share lets all pass", "zero", "0.5", [0, 1, 2]),
    ("nothing measured lets all pass", "unmeasured", "0.5", [0, 1]),
    ("one kernel has any share", "one", "0.001", [0]),
]

TOPS: Final[list[Case]] = [
    ("the first two", "skewed", {"top": 2}, [1, 3]),
    ("in the table's order", "micro", {"top": 2}, [0, 2]),
    ("of equals the first of the table", "tied", {"top": 2}, [0, 2]),
    ("zero before unmeasured", "tied", {"top": 6}, [0, 2, 3, 4, 5, 6]),
    ("unmeasured at last", "tied", {"top": 7}, [0, 1, 2, 3, 4, 5, 6]),
    ("unmeasured in the table's order", "unmeasured", {"top": 1}, [0]),
    ("zeros in the table's order", "zero", {"top": 2}, [0, 2]),
    ("more than there are", "one", {"top": 1000}, [0]),
    ("no limit", "skewed", {"top": None}, [0, 1, 2, 3, 4]),
]

TOGETHER: Final[list[Case]] = [
    ("search and category", "step", {"search": "1", "categories": ["loop fusion"]}, [0, 1]),
    ("category and what binds", "step", {"categories": ["loop fusion"], "bounds": ["compute"]}, [1]),
    ("precision and search", "step", {"precisions": ["bf16"], "search": "fus"}, [0, 1]),
    ("a phase and the first of it", "step", {"phases": ["decode"], "top": 2}, [3, 7]),
    ("infeed left out of what binds", "step", {"bounds": ["HBM"], "infeed": False}, [0]),
    ("infeed left out though its category is asked for", "step", {"categories": ["Infeed"], "infeed": False}, []),
    # 13 of 20 s are 65 %: without the convolution the rest would have had to make up its share.
    ("a share of the whole table", "step", {"time_share": "0.65", "search": "fusion"}, [0]),
    ("a share of the whole table, infeed too", "step", {"time_share": "0.9", "infeed": False}, [0, 1, 2, 7]),
    ("the first of those that pass", "step", {"search": "fusion", "top": 1}, [0]),
    ("the first of a share", "step", {"time_share": "0.8", "top": 2}, [0, 2]),
    ("the first of those without infeed", "step", {"infeed": False, "top": 6}, [0, 1, 2, 3, 6, 7]),
    (
        "all at once",
        "step",
        {
            "search": "*u*i*n",
            "categories": ["loop fusion", "convolution"],
            "bounds": ["compute", "HBM"],
            "precisions": ["bf16"],
            "time_share": "0.95",
            "infeed": False,
            "top": 2,
        },
        [0, 2],
    ),
]
ALL: Final[list[Case]] = [
    *((name, table, {"search": search} if search else {}, rows) for name, table, search, rows in SEARCHES),
    *CHOICES,
    *((name, table, {"time_share": share}, rows) for name, table, share, rows in SHARES),
    ("no kernels", "none", {"time_share": "0.5", "search": "a", "top": 3}, []),
    *TOPS,
    *TOGETHER,
]

# What separates words: the blanks of Unicode, controls that are blanks to some, and the mark of the order of bytes.
BLANKS: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def folded(text: str) -> str:
    """Small letters one by one, so that no letter hangs on its neighbours; one sigma, and no dot of its own on i."""
    return "".join(letter.lower() for letter in text).replace("ς", "σ").replace("i\u0307", "i")


def _matches(name: str, search: str) -> bool:
    words = re.split(f"[{re.escape(BLANKS)}]+", folded(search))
    patterns = [".*".join(map(re.escape, word.split("*"))) for word in words]
    return all(re.search(pattern, folded(name), re.DOTALL) for pattern in patterns)


def _seconds(table: list[Row]) -> list[Fraction | None]:
    return [None if row[4] is None else Fraction(row[4]) for row in table]


def _longest_first(rows: list[int], seconds: list[Fraction | None]) -> list[int]:
    return sorted(rows, key=lambda row: (seconds[row] is None, -(seconds[row] or 0), row))


def _share(seconds: list[Fraction | None], rows: list[int]) -> Fraction | None:
    total = sum(one or 0 for one in seconds)
    return Fraction(sum(seconds[row] or 0 for row in rows)) / total if total else None


def _of_share(seconds: list[Fraction | None], share: Fraction) -> list[int]:
    every = list(range(len(seconds)))
    if share == 1 or _share(seconds, every) is None:
        return every
    order = _longest_first(every, seconds)
    return next(order[: n + 1] for n in every if (_share(seconds, order[: n + 1]) or 0) >= share)


def passing(table: list[Row], phases: list[str | None], filters: Mapping[str, Any]) -> list[int]:
    """Return the rows that pass, by the definitions."""
    seconds = _seconds(table)
    rows = set(_of_share(seconds, Fraction(filters.get("time_share", "1"))))
    for row, (name, category, precision, binds, _) in enumerate(table):
        words = {"categories": category, "bounds": binds, "precisions": precision, "phases": phases[row]}
        for key, word in words.items():
            if filters.get(key) is not None and (word or "") not in filters[key]:
                rows.discard(row)
        is_feed = re.search("(in|out)feed", category or "", re.IGNORECASE) is not None
        if not _matches(name, filters.get("search", "")) or (is_feed and not filters.get("infeed", True)):
            rows.discard(row)
    return sorted(_longest_first(sorted(rows), seconds)[: filters.get("top")])


def _phases(table: str) -> list[str | None]:
    return PHASES.get(table, [None] * len(TABLES[table]))


def _columns(name: str, table: list[Row]) -> dict[str, list[Any]]:
    names = ("name", "category", "precision", "bound")
    columns: dict[str, list[Any]] = {key: [row[at] for row in table] for at, key in enumerate(names)}
    seconds = [None if one is None else float(one) for one in _seconds(table)]
    return columns | {"phase": _phases(name), "self_time": seconds}


def _case(name: str, table: str, filters: dict[str, Any], rows: list[int]) -> dict[str, Any]:
    found = passing(TABLES[table], _phases(table), filters)
    if found != rows:
        msg = f"'{name}' lets {found} pass by the definitions, but {rows} by hand"
        raise ValueError(msg)
    given = {key: float(value) if key == "time_share" else value for key, value in filters.items()}
    share = _share(_seconds(TABLES[table]), rows)
    shown = None if share is None else float(share)
    return {"name": name, "table": table, "filters": given, "rows": rows, "share": shown}


def main() -> None:
    """Write filters.json."""
    golden = {
        "tables": {name: _columns(name, table) for name, table in TABLES.items()},
        "folded": [[row[0], folded(row[0])] for row in TABLES["scripts"]],
        "blanks": BLANKS,
        "cases": [_case(*case) for case in ALL],
    }
    text = json.dumps(golden, ensure_ascii=True, indent=1, allow_nan=False)
    (HERE / "filters.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
