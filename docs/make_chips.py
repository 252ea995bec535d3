"""Write `chips.md` and `roofwidget/chips/chips.json` from the catalogue: `python docs/make_chips.py`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from roofwidget import units
from roofwidget.chips import Chip, Figure, Source, chip, chips, toml
from roofwidget.chips import chip_record as records
from roofwidget.chips.card import shown

PAGE = DOCS / "chips.md"
JSON = Path(toml.__file__).with_name("chips.json")
SCHEMA_VERSION = 1

TOP = """# Chips

The {count} chips that `rw.chip(name)` knows. This page is written by `docs/make_chips.py` from
`roofwidget/chips/catalogue.toml`, where each figure names its source.

- Peaks are **dense**, in TFLOP/s (TOP/s for int8 and int4). The bold one is the chip's default precision: `"auto"`.
- Bandwidths are those of the whole chip, in TB/s, main memory first. A level with a **?** has no published bandwidth;
  asking for it is an error.
- **~** marks a measured rate, such as the fastest matrix multiplication that someone found. It stands beside the figure
  of the data sheet and is drawn in its own style. `chip.achievable()` is the chip whose peaks and bandwidths are the
  measured ones. The list of sources has the size of each matrix multiplication.
- Capacities are in **GiB, MiB and KiB**, because memories are made of powers of two: the "80 GB" of HBM that a data
  sheet prints is 80 GiB, and its "50 MB" of L2 are 50 MiB. In brackets is what the driver lets programs allocate, where
  it is known; error correction and firmware take the rest. Bandwidths and all other rates are decimal: 1 TB/s = 10¹²
  bytes/s.
- The ridge point is the bold peak over the bandwidth of the main memory, in FLOP/B.
- Latencies are in ns, from a load to its data while nothing else uses the memory: those of a pointer chase of one
  thread. All are measured, none is from a data sheet; of measurements that disagree it is the shortest. A level without
  a number is unknown.
- Links count **one way**, over all links of one chip, in GB/s. A **?** means that the source does not say which way it
  counts, or over how many links.
- *Cross-checked* means that a second source was compared; *one source* means that none was found: take those figures
  as provisional.

In Python, `chip.figures` has every row with its source, `chip.disputed` the figures that others put more than 3 % off,
and a chip alone in a notebook cell shows its card. `chip.memories["HBM"].capacity` is all bytes, `usable` those of the
driver or None, and `allocatable` is `usable`, or 93 % of the capacity as an assumption: B200 and B300 have the smallest
known part, 93.3 %. `chip.memories["L1"].per_block` is what one block of threads can allocate: 227 KiB of the 256 KiB of
each SM of an H100. `chip.host_memories` is the memory of the CPU of a superchip; it is no level of the roofline.

A name that several products share is an error that lists them: `rw.chip("h100")`, `rw.chip("RTX PRO 6000")` and
`rw.chip("M4 Max")` name no chip, `rw.chip("rtx-pro-6000-server")` does.
"""

# Each rule with the file and the names of its tests.
RULES = (
    (
        "Every figure has its source, and a computed one its formula",
        "test_catalogue_figures",
        ("test_every_figure_of_every_chip_has_its_source", "test_a_figure_that_was_computed_says_how"),
    ),
    (
        "Capacities are binary, also those of caches",
        "test_catalogue_figures",
        ("test_capacities_are_binary_in_every_entry_also_where_the_source_prints_decimal_prefixes",),
    ),
    (
        "Of no chip with a figure of its driver are less than 93 % usable",
        "test_catalogue_figures",
        ("test_without_a_figure_of_the_driver_93_percent_are_usable_which_is_less_than_on_every_known_chip",),
    ),
    (
        "Peaks are dense: no narrow type is faster than its width explains, unless the notes of the chip say why",
        "test_printed_figures",
        ("test_a_narrow_type_is_no_faster_than_its_width_explains_unless_the_notes_say_why",),
    ),
    (
        "A measured rate never takes the place of the data sheet's",
        "test_catalogue_figures",
        ("test_a_measured_bandwidth_is_a_ceiling_and_never_the_bandwidth",),
    ),
    ("Links count one way", "test_catalogue_figures", ("test_a_link_counts_one_way_over_all_links_of_a_chip",)),
    (
        "A name that fits two products with different figures names neither",
        "test_catalogue",
        ("test_a_name_that_fits_two_products_with_different_figures_names_none_of_them",),
    ),
)

OWN = """## Chips of your own

`rw.load_chips("chips.toml")` reads a file such as this one; each figure may also say where it is from. What is wrong
in it is named with its line.

```toml
[sources.sheet]
title = "Data sheet of My chip, rev. 3"
confidence = "datasheet"

[[chips]]
name = "My chip"
vendor = "My company"
peak_flops.bf16 = { value = "400 TFLOP/s", source = "sheet" }
peak_flops.fp8 = "800 TFLOP/s"
memories.HBM = { bandwidth = "2 TB/s", capacity = "64 GiB", usable = "60 GiB" }
memories.CMEM = { bandwidth = "20 TB/s", scope = "shared by all cores" }
links.Fabric = { bandwidth = "300 GB/s", per_link = "50 GB/s", latency = "1 us" }
ceilings = [{ name = "measured", rate = "1.8 TB/s", memory = "HBM", measured = true }]
```

In a file a prefix means what it says: `"64 GB"` are 64 · 10⁹ bytes. For the 64 GB of a data sheet write `"64 GiB"`.

For a what-if no file is needed: `rw.chip("h100-sxm").replace(name="H100, faster HBM", memories={"HBM": "4.8 TB/s"})`.
"""


HERE = """## The chip of this machine

`rw.this_chip()` is the chip of the device here: of NVIDIA by `nvidia-smi` or `pynvml`, of AMD by `amd-smi` or
`rocm-smi`, a TPU by JAX if it is imported, others by their PCI id; without an accelerator the processor. Its first
notes have the power limit and the highest clock, and what they are below the data sheet. A MIG slice of an A30, A100,
H100, H200, GH200 or B200 and a partition of an MI300 or MI350 has the part of the peaks that the documentation of
NVIDIA and AMD gives.

No chip is guessed. A name that the catalogue does not have, a memory of another size, a slice without documentation or
a virtual machine with a part of a processor is an error that names the nearest chips and the reason.
`rw.measure_peaks()` measures what is here.
"""

FOR_OTHERS = """## The catalogue for other programs

`rw.chips_json()` is the whole catalogue as JSON, and so is the file `roofwidget/chips/chips.json` of the package.
`chips.schema.json` beside it describes every key as a [JSON Schema](https://json-schema.org); `schema_version` rises if
a key goes or changes its meaning. `roofwidget chips h100 --json` prints it for the chips that have these words. All
numbers are in base units, each with its source:

```python
import json

catalogue = json.loads(rw.chips_json())
h100 = next(one for one in catalogue["chips"] if "NVIDIA H100 80GB HBM3" in one["aliases"])
h100["peak_flops"]["bf16"]["value"], h100["memories"][h100["main_memory"]]["bandwidth"]["value"]
```
"""


def page() -> str:
    """Return the page's text."""
    known = chips()
    vendors = dict.fromkeys(one.vendor for one in known)
    documents = records.documents(toml.parse(toml.packaged(toml.__file__, "sources.toml"))["sources"])
    numbers = {document: number for number, document in enumerate(documents.values(), 1)}
    parts = [TOP.format(count=len(known)), _rules(), HERE, OWN, FOR_OTHERS]
    parts += [_vendor(vendor, [one for one in known if one.vendor == vendor]) for vendor in vendors]
    parts += [_disagreements(known, numbers), _origins(known, numbers), _sources(documents)]
    return "\n".join(parts)


def _rules() -> str:
    rows = (
        f"| {rule} | {', '.join(f'`tests/chips/{file}.py::{test}`' for test in tests)} |" for rule, file, tests in RULES
    )
    return "\n".join(["Tests hold these rules for every chip:", "", "| rule | test |", "| --- | --- |", *rows, ""])


def as_json() -> str:
    """Return the catalogue as JSON with a chip on each line, see `chips.schema.json`."""
    sources = toml.parse(toml.packaged(toml.__file__, "sources.toml"))["sources"]
    catalogue = toml.parse(toml.packaged(toml.__file__, "catalogue.toml"))["chips"]
    documents = {
        key: {word: source[word] for word in ("title", "url", "confidence") if source[word]}
        for key, source in sources.items()
    }
    parts = [f"{json.dumps(key)}: {_line(document)}" for key, document in documents.items()]
    lines = [_line(_entry(chip(entry["id"]), entry, documents)) for entry in catalogue]
    sep = ",\n"
    return (
        f'{{\n"schema_version": {SCHEMA_VERSION},\n"sources": {{\n{sep.join(parts)}\n}},\n'
        f'"chips": [\n{sep.join(lines)}\n]\n}}\n'
    )


def main() -> None:
    """Write the page and the catalogue as JSON."""
    PAGE.write_text(page(), encoding="utf-8")
    JSON.write_text(as_json(), encoding="utf-8")


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _entry(one: Chip, entry: Mapping[str, Any], documents: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return an entry of the catalogue with numbers in base units and with every confidence."""
    values = {figure.key: figure.value for figure in one.figures}

    def figure(written: Mapping[str, Any], **changed: object) -> dict[str, Any]:
        confidence = written.get("confidence", documents[written["source"]]["confidence"])
        return {**written, "confidence": confidence, **changed}

    def parts(kind: str) -> dict[str, Any]:
        return {
            name: {
                word: figure(value, value=values.get(f"{kind}.{name}.{word}", value["value"]))
                if isinstance(value, Mapping)
                else value
                for word, value in part.items()
            }
            for name, part in entry.get(kind, {}).items()
        }

    plain = ("id", "name", "vendor", "kind", "family", "generation", "year", "status", "default_precision")
    return {
        **{word: entry[word] for word in plain if word in entry},
        "aliases": list(one.aliases),
        "shared_names": [name for name in entry["short"] if name not in one.aliases],
        "main_memory": one.main_memory,
        **{word: figure(entry[word]) for word in ("clock", "units", "power") if word in entry},
        "peak_flops": {key: figure(value) for key, value in entry["peak_flops"].items()},
        "memories": parts("memories"),
        "links": parts("links"),
        **({"host_memories": parts("host_memories")} if "host_memories" in entry else {}),
        "ceilings": [figure(ceiling) for ceiling in entry.get("ceilings", ())],
        "checks": [
            figure(written, value=check.value)
            for written, check in zip(entry.get("checks", ()), one.checks, strict=True)
        ],
        "notes": entry.get("notes", []),
    }


def _vendor(vendor: str, known: list[Chip]) -> str:
    rows = (
        (
            f"{one.name}<br>`{one.id}`",
            str(one.year or ""),
            _memory(one),
            _peaks(one),
            _bandwidths(one),
            _latencies(one),
            units.format_significant(one.ridge_point(), 4),
            _links(one),
            "one source" if one.status == "single-source" else "cross-checked",
        )
        for one in known
    )
    columns = (
        "chip",
        "year",
        "memory",
        "peaks, TFLOP/s",
        "bandwidths, TB/s",
        "latencies, ns",
        "ridge",
        "links, GB/s",
        "figures",
    )
    return f"## {vendor}\n\n{_table(columns, rows)}"


def _memory(one: Chip) -> str:
    level = one.memories[one.main_memory]
    if level.capacity is None:
        return level.name
    usable = "" if level.usable is None else f" ({units.format_capacity(level.usable)})"
    return f"{level.name}, {units.format_capacity(level.capacity)}{usable}"


def _peaks(one: Chip) -> str:
    measured = {ceiling.precision: ceiling.rate for ceiling in one.ceilings if ceiling.measured}
    said = {}
    for precision, rate in one.peak_flops.items():
        beside = f" (~{_scaled(measured[precision], 1e12)})" if precision in measured else ""
        said[precision] = f"{precision} {_scaled(rate, 1e12)}{beside}"
    said[one.default_precision] = f"**{said[one.default_precision]}**"
    return " · ".join(said.values())


def _bandwidths(one: Chip) -> str:
    measured = {ceiling.memory: ceiling.rate for ceiling in one.ceilings if ceiling.measured}
    said = []
    for level in one.memories.values():
        rate = "?" if level.bandwidth is None else _scaled(level.bandwidth, 1e12)
        beside = f" (~{_scaled(measured[level.name], 1e12)})" if level.name in measured else ""
        said.append(f"{level.name} {rate}{beside}")
    return " · ".join(said)


def _latencies(one: Chip) -> str:
    return " · ".join(
        f"{level.name} {_scaled(level.latency, 1e-9)}" for level in one.memories.values() if level.latency is not None
    )


def _links(one: Chip) -> str:
    return " · ".join(
        f"{link.name} {'?' if link.bandwidth is None else _scaled(link.bandwidth, 1e9)}" for link in one.links.values()
    )


def _disagreements(known: Iterable[Chip], numbers: dict[Source, int]) -> str:
    rows = []
    for one in known:
        ours = {figure.key: figure for figure in one.figures}
        for key, checks in one.disputed.items():
            for check in checks:
                ratio = units.format_significant(check.value / (ours[key].value or 1), 3)
                theirs = shown(Figure(key, "", check.value, ours[key].unit))
                who = f"{_cell(check.source.title)} [{numbers[_document(check.source, numbers)]}]"
                rows.append((f"`{one.id}`", _short(key), shown(ours[key]), theirs, ratio, who))
    columns = ("chip", "figure", "ours", "theirs", "theirs / ours", "who says so")
    text = (
        "## Where sources disagree\n\n"
        "Figures that another source puts more than 3 % off. Some are rounded, some count another thing (sparsity,\n"
        "another clock, half a chip), and some are mistakes: they are kept so that nobody has to find them again.\n\n"
    )
    return text + _table(columns, rows)


def _origins(known: Iterable[Chip], numbers: dict[Source, int]) -> str:
    lines = []
    for one in known:
        by_source: dict[str, list[str]] = {}
        for figure in one.figures:
            if figure.source is not None:
                by_source.setdefault(_origin(figure.source, numbers), []).append(_short(figure.key))
        told = "; ".join(f"{', '.join(dict.fromkeys(keys))} {source}" for source, keys in by_source.items())
        lines.append(f"- `{one.id}`: {told}")
    return "## Where each figure is from\n\nThe numbers are those of the list below.\n\n" + "\n".join(lines) + "\n"


def _document(source: Source, numbers: Iterable[Source]) -> Source:
    """Return the document of a source, whose title may have a note."""
    fitting = [known for known in numbers if known.url == source.url and source.title.startswith(known.title)]
    return max(fitting, key=lambda known: len(known.title))


def _origin(source: Source, numbers: dict[Source, int]) -> str:
    """Return a document's number, and what a derived figure was computed from."""
    document = _document(source, numbers)
    more = source.title.removeprefix(document.title).removeprefix(": ").strip()
    if document.confidence == "derived":
        return f"= {more}"
    return f"[{numbers[document]}]" + (f" ({more.removeprefix('(').removesuffix(')')})" if more else "")


def _short(key: str) -> str:
    """Return a figure's name without the words that every figure of its kind has."""
    kind, _, name = key.partition(".")
    if kind == "ceilings":
        return f"{name.rpartition('.')[2]} {name.rpartition('.')[0]}"
    return name.replace(".bandwidth", "").replace(".", " ") or kind


def _sources(documents: dict[str, Source]) -> str:
    lines = [
        f"{number}. {_linked(document.title, document.url)} ({key}, {document.confidence})"
        for number, (key, document) in enumerate(documents.items(), 1)
    ]
    return "## Sources\n\n" + "\n".join(lines) + "\n"


def _linked(title: str, url: str) -> str:
    return f"[{_cell(title)}]({url})" if url else _cell(title)


def _scaled(value: float, scale: float) -> str:
    return units.format_significant(value / scale, 4)


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(columns)
    return "\n".join(_rows([head, ["---"] * len(head), *(list(row) for row in rows)])) + "\n"


def _rows(rows: Iterable[list[str]]) -> Iterator[str]:
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("[", "(").replace("]", ")")


if __name__ == "__main__":
    main()
