"""The catalogue's figures: each has a source and equals the figure of the file it was made from."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from roofwidget.chips import Chip, Memory, MissingFigureError, chip, chips, is_off_chip
from tests.places import ROOT, text_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CHIPS = ROOT / "roofwidget" / "chips"
DATA = Path(__file__).parents[3] / "shared/data/chips.toml"
CATALOGUE: dict[str, Any] = tomllib.loads(text_of(CHIPS / "catalogue.toml"))
SOURCES: dict[str, Any] = tomllib.loads(text_of(CHIPS / "sources.toml"))["sources"]
ENTRIES = {entry["id"]: entry for entry in CATALOGUE["chips"]}
BYTES = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}
CONFIDENCES = {"datasheet", "vendor doc", "source code", "derived", "measured", "secondary"}
LEVELS = {"cmem": "CMEM", "l1": "L1", "l2": "L2", "l3": "L3", "lds": "LDS", "sbuf": "SBUF", "vmem": "VMEM"}
LINKS = {
    "gcd_to_gcd": "GCD to GCD",
    "ici": "ICI",
    "neuronlink": "NeuronLink",
    "nvlink": "NVLink",
    "pcie": "PCIe",
    "xgmi": "xGMI",
}
# The factors from a printed figure to the one-way bandwidth of all links, and of a single link.
DIRECTIONS = {
    "one direction": (1, None),
    "one direction, per link": (None, 1),
    "bidirectional": (0.5, None),
    "bidirectional total per GPU": (0.5, None),
    "bidirectional, per chip": (0.5, None),
    "bidirectional, per link": (None, 0.5),
    "bidirectional, per link, 7 links": (3.5, 0.5),
    "as printed, direction not stated": (None, None),
}
PrintedFigure = tuple[float, str, str]
# Peaks that the data file lacks: those that a chip of the same die has, and those of vector units.
ADDED_PEAKS = {
    "fp16_vector": "v100-sxm2-16gb v100-sxm2-32gb v100-pcie-16gb t4 mi300x mi325x mi350x mi355x",
    "bf16_vector": "a100-sxm-40gb a100-sxm-80gb a100-pcie-40gb a100-pcie-80gb h100-sxm",
    "fp16_vector bf16_vector": "a30 a40 rtx-3090 l4 l40s rtx-4090 h100-pcie h100-nvl h200-sxm",
    "fp64_tensor fp16_vector bf16_vector": "gh200-96gb gh200-144gb",
    "int4 fp16_vector bf16_vector": "a10",
    "tf32 int4 fp16_vector bf16_vector": "a10g",
    "tf32 int8 int4 fp16_vector bf16_vector": "rtx-6000-ada",
    "fp6": "b100",
    "fp32_matrix int8": "mi250x-gcd",
    "fp32_matrix fp16_vector": "mi300a",
    "fp16_acc16 tf32 int8 fp16_vector bf16_vector": "rtx-5090",
    "fp4": "tpu-8t",
}
ADDED = {
    name: {f"peak_flops.{key}" for key in keys.split()} for keys, names in ADDED_PEAKS.items() for name in names.split()
}
# Links between chips that the data file lacks.
ADDED_LINKS = {
    "NVLink.bandwidth": "p100-sxm2 a30 a40 rtx-3090 rtx-2080ti",
    "xGMI.bandwidth,xGMI.per_link": "mi100 mi210 mi250x-gcd mi300a mi350x mi355x",
    "xGMI.bandwidth": "mi250x",
    "RoCE.bandwidth,RoCE.per_link": "gaudi2 gaudi3",
    "Xe Link.bandwidth,Xe Link.per_link": "intel-max-1550",
    "NVLink-C2C.bandwidth": "gh200-96gb gh200-144gb",
    "ICI.bandwidth": "tpu-8i",
}
for _keys, _names in ADDED_LINKS.items():
    for _name in _names.split():
        ADDED[_name] = ADDED.get(_name, set()) | {f"links.{key}" for key in _keys.split(",")}
# Memory levels, and what drivers report of a memory, that the data file lacks.
for _name in ("b200", "gb200"):
    ADDED[_name] = {"memories.Tensor memory.capacity"}
for _name in ["tpu-v5p", "a100-sxm-80gb", "l40s", "h100-sxm", "h200-sxm", "b200", "gb200", "b300", "gb300"]:
    _main = "memories.GDDR6.usable" if _name == "l40s" else "memories.HBM.usable"
    ADDED[_name] = ADDED.get(_name, set()) | {_main}
# Sizes of L1, and what a block of threads can allocate of it.
for _name, _entry in ENTRIES.items():
    if "per_block" in _entry["memories"].get("L1", {}):
        ADDED[_name] = ADDED.get(_name, set()) | {"memories.L1.per_block"}
# Latencies.
for _name, _entry in ENTRIES.items():
    for _level, _memory in _entry["memories"].items():
        if "latency" in _memory:
            ADDED[_name] = ADDED.get(_name, set()) | {f"memories.{_level}.latency"}
for _name in ("p100-pcie-16gb", "t4", "rtx-2080ti", "a10g"):
    ADDED[_name] |= {"memories.L1.capacity"}
for _name in ("gh200-96gb", "gh200-144gb", "gb200", "gb300"):
    _added = {f"host_memories.LPDDR5X.{key}" for key in ENTRIES[_name]["host_memories"]["LPDDR5X"] if key != "scope"}
    ADDED[_name] = ADDED.get(_name, set()) | _added
# Figures that newer sources correct. The tests of these chips have them.
CORRECTED = {
    "tpu-v4": {"memories.CMEM.capacity"},
    "tpu-v5p": {"memories.HBM.capacity"},
    **{key: {"memories.HBM.bandwidth", "memories.HBM.capacity"} for key in ("tpu-8i", "tpu-8t")},
    **{key: {"memories.HBM.capacity"} for key in ("h200-sxm", "b300", "gb300")},
    **{key: {"memories.HBM.capacity", "memories.L1.capacity"} for key in ("b200", "gb200")},
}
# Chips of the data file that are several products.
DIVIDED = {"rtx-pro-6000", "apple-m4-max"}
# Sources that the data file lacks.
ADDED_SOURCES = {
    "ai_kernels",
    "own_chase",
    "gh200_page",
    "cuda_cc",
    "b60_table",
    "emr_page",
    "glenn_maia",
    "l20_notes",
    "l20_table",
    "maia_blog",
    "mi455x_page",
    "rocm_mi350",
    "rubin_page",
    "rx9070_page",
    "apple_m4",
    "cloudmatrix",
    "google_tpu8",
    "nvidia_smi",
    "rtxpro_maxq",
    "rtxpro_server",
    "rtxpro_wp",
    "ryzen_page",
    "strix_cache",
    "strix_memory",
    "a40_sheet",
    "amd_cpu_table",
    "apple_bw3",
    "azure_gb200",
    "azure_guide",
    "bridges",
    "bsc_max",
    "cdna2_wp",
    "chiao",
    "gaudi_net",
    "gnr_table",
    "gpu_flops_bench",
    "grace_blog",
    "grace_isambard",
    "grace_table",
    "h20_sms",
    "h800_cuts",
    "hf_hardware",
    "l40_table",
    "m5_forum",
    "max_note",
    "mlperf_grace",
    "navi48_specs",
    "navi48_tops",
    "r9700_page",
    "rtx5080_note",
    "spark_news",
    "stas_net",
    "strix_ref",
    "thor_note",
    "thor_peaks",
    "thor_table",
    "tpu_recipes",
    "turin_2p7",
    "turin_sku",
    "turing_link",
    "xelink_note",
}
# Chips that the data file lacks: `test_printed_figures.py` has their figures.
ADDED_CHIPS = {
    "arc-pro-b60",
    "l20",
    "maia-200",
    "mi350p",
    "mi455x",
    "rubin",
    "rx-9070",
    "xeon-8592plus",
    "apple-m4-max-32",
    "ascend-910c",
    "apple-m4-max-40",
    "rtx-4070",
    "rtx-5060-ti-16gb",
    "rtx-5060-ti-8gb",
    "rtx-5070",
    "rtx-5070-ti",
    "rtx-pro-6000-max-q",
    "rtx-pro-6000-server",
    "rtx-pro-6000-workstation",
    "ryzen-ai-max-395-cpu",
    "grace",
    "h20",
    "h800",
    "a800",
    "h200-nvl",
    "l40",
    "rtx-a6000",
    "rtx-3080",
    "rtx-4080",
    "rtx-5080",
    "gb10",
    "jetson-thor",
    "mi250",
    "mi250-gcd",
    "epyc-9755",
    "epyc-9965",
    "xeon-6980p",
    "xeon-max-9480",
    "apple-m3-ultra",
    "apple-m4-pro",
    "apple-m5",
    "ryzen-ai-max-395",
    "r9700",
    "rx-9070-xt",
    "ascend-910b",
}
# Chips whose missing peaks have a note.
ADDED_NOTES = {"b100": 1, "tpu-8i": 2, "tpu-8t": 1, "aws-trainium3": 2, "gb200": 1, "b300": 1, "gb300": 3}


def written(entry: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Figures of one entry of the catalogue as they stand there, under the keys of `Chip.sources`."""
    found = {f"peak_flops.{precision}": figure for precision, figure in entry["peak_flops"].items()}
    for kind in ("memories", "links", "host_memories"):
        for name, part in entry.get(kind, {}).items():
            found |= {f"{kind}.{name}.{key}": figure for key, figure in part.items() if key != "scope"}
    found |= {key: entry[key] for key in ("clock", "units", "power") if key in entry}
    return found | {ceiling_key(one): one for one in entry.get("ceilings", ())}


def ceiling_key(ceiling: dict[str, Any]) -> str:
    return f"ceilings.measured.{ceiling.get('memory') or ceiling['precision']}"


def is_latency(figure: str) -> bool:
    return figure.endswith(".latency")


def added_ceilings(entry: dict[str, Any]) -> set[str]:
    """Keys of the ceilings that the data file lacks: those that say how they were measured."""
    return {ceiling_key(one) for one in entry.get("ceilings", ()) if "note" in one}


def level_names(original: dict[str, Any]) -> dict[str, str]:
    """Return what the levels of the data file are called here: main memories and large caches keep their label."""
    main, *nearer = original["levels"]
    return {main["id"]: main["label"]} | {level["id"]: LEVELS.get(level["id"], level["label"]) for level in nearer}


def told(figure: dict[str, Any], value: float | None = None) -> PrintedFigure:
    return figure["value"] if value is None else value, figure["source"], figure["confidence"]


def original_figures(original: dict[str, Any]) -> dict[str, PrintedFigure]:
    """Return the figures of one chip of the data file under the same keys: value, source, confidence."""
    found = {f"peak_flops.{precision}": told(figure) for precision, figure in original["compute"].items()}
    found |= original_levels(original)
    for link, figure in original.get("links", {}).items():
        key = f"links.{LINKS[link.removesuffix('_total')]}"
        for part, share in zip(("bandwidth", "per_link"), DIRECTIONS[figure["direction"]], strict=True):
            if share is not None:
                found[f"{key}.{part}"] = told(figure, share * figure["value"])
    rest = {"clock": "boost_clock_hz", "power": "tdp_w", "units": "units"}
    return found | {key: told(original[field]) for key, field in rest.items() if field in original}


def original_levels(original: dict[str, Any]) -> dict[str, PrintedFigure]:
    """Return those of its memory levels; the main memory's capacity is the printed size, whose GB are GiB."""
    found: dict[str, PrintedFigure] = {}
    for level_id, name in level_names(original).items():
        level = next(level for level in original["levels"] if level["id"] == level_id)
        keys = {"bandwidth": f"memories.{name}.bandwidth", "bandwidth_measured": f"ceilings.measured.{name}"}
        if level is not original["levels"][0]:
            keys["capacity_bytes"] = f"memories.{name}.capacity"
        found |= {key: told(level[field]) for field, key in keys.items() if field in level}
    size = original["memory"].get("size_gb")
    if size:
        main = f"memories.{original['levels'][0]['label']}.capacity"
        found[main] = told(size, size["value"] * 2**30)
    return found


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    if not DATA.exists():
        pytest.skip("the file that the catalogue was made from is not here")
    found = tomllib.loads(text_of(DATA))
    return found | {"chips": [one for one in found["chips"] if one["id"] not in DIVIDED]}


def test_every_figure_of_every_chip_has_its_source() -> None:
    for one in chips():
        for figure in one.figures:
            assert (figure.source is not None) == (figure.value is not None or "printed" in figure.label), figure.key
        for source in [
            *one.sources.values(),
            *(c.source for c in one.ceilings if c.source),
            *(c.source for c in one.checks),
        ]:
            assert source.title
            assert source.url == "" or re.fullmatch(r"https?://\S+", source.url)
            assert source.confidence in CONFIDENCES


def test_every_source_is_used() -> None:
    text = text_of(CHIPS / "catalogue.toml")
    assert [key for key in SOURCES if not re.search(rf"\b{re.escape(key)}\b", text)] == []


def test_a_figure_that_was_computed_says_how() -> None:
    for entry in CATALOGUE["chips"]:
        for key, figure in written(entry).items():
            assert ("formula" in figure) == (figure["confidence"] == "derived"), (entry["id"], key)
    title = chip("xeon-8380").sources["peak_flops.fp64"].title
    assert title.startswith("Derived from other figures of this catalogue: 40 cores x 32 FP64 FLOP/cycle x 2.3 GHz")


def test_a_note_on_a_figure_joins_its_source() -> None:
    assert chip("xeon-8380").sources["clock"].title.endswith(" (base clock)")


def test_the_main_memory_has_a_name_that_means_off_chip() -> None:
    assert all(is_off_chip(one.main_memory) for one in chips())


def test_capacities_are_binary_in_every_entry_also_where_the_source_prints_decimal_prefixes() -> None:
    for entry in CATALOGUE["chips"]:
        one = chip(entry["id"])
        for name, level in one.memories.items():
            for part in ("capacity", "usable", "per_block"):
                if part in entry["memories"][name]:
                    size, unit = entry["memories"][name][part]["value"].split()
                    assert unit == ("GiB" if name == one.main_memory and part == "capacity" else unit), one.id
                    assert unit in {"GiB", "MiB", "KiB"}, (one.id, name)
                    assert getattr(level, part) == float(size) * BYTES[unit]
            assert level.usable is None or name == one.main_memory


@pytest.mark.parametrize(
    ("name", "stacks", "mebibytes", "usable"),
    [
        ("a100-sxm-80gb", 5 * 16, 81_920, 85_899_345_920),
        ("h100-sxm", 5 * 16, 81_559, 85_520_809_984),
        ("h200-sxm", 6 * 24, 143_771, 150_754_820_096),
        ("h200-nvl", 6 * 24, 143_771, 150_754_820_096),
        ("b200", 8 * 24, 183_359, 192_265_846_784),
        ("gb200", 8 * 24, 189_471, 198_674_743_296),
        ("b300", 8 * 36, 275_040, 288_400_343_040),
        ("gb300", 8 * 36, 284_208, 298_013_687_808),
        ("rtx-pro-6000-server", 96, 97_887, 102_641_958_912),
        ("rtx-pro-6000-workstation", 96, 97_887, 102_641_958_912),
        ("l40s", 48, 46_068, 48_305_799_168),
        ("tpu-v5p", 96, 95 * 1024, 102_005_473_280),
    ],
)
def test_a_capacity_is_that_of_the_stacks_and_usable_what_the_driver_reports(
    name: str, stacks: int, mebibytes: int, usable: int
) -> None:
    main = chip(name).memories[chip(name).main_memory]
    assert (main.capacity, main.usable) == (stacks * 2**30, mebibytes * 2**20)
    assert main.allocatable == usable


def test_the_printed_80_gb_of_an_h100_are_16848_tokens_of_llama_70b_more_than_80e9_bytes() -> None:
    main = chip("h100-sxm").memories["HBM"]
    assert main.capacity == 85_899_345_920
    assert int(((main.allocatable or 0) - 80e9) // 327_680) == 16_848


def test_without_a_figure_of_the_driver_93_percent_are_usable_which_is_less_than_on_every_known_chip() -> None:
    main = chip("mi300x").memories["HBM"]
    assert (main.capacity, main.usable) == (192 * 2**30, None)
    assert main.allocatable == pytest.approx(0.93 * 192 * 2**30, rel=1e-15)
    assert chip("xeon-6980p").memories["DRAM"].allocatable is None
    known = [one.memories[one.main_memory] for one in chips()]
    shares = [level.usable / level.capacity for level in known if level.usable and level.capacity]
    assert min(shares) == pytest.approx(0.9326, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "level", "size"),
    [
        ("a100-sxm-80gb", "L2", 40 * 2**20),
        ("h100-sxm", "L2", 50 * 2**20),
        ("rtx-5090", "L2", 96 * 2**20),
        ("h20", "L2", 60 * 2**20),
        ("xeon-6980p", "L3", 504 * 2**20),
        ("tpu-v4", "CMEM", 128 * 2**20),
        ("b200", "L2", 126.5 * 2**20),
        ("b200", "L1", 148 * 256 * 2**10),
        ("gb200", "L1", 148 * 256 * 2**10),
        ("b200", "Tensor memory", 148 * 256 * 2**10),
        ("gb200", "Tensor memory", 148 * 256 * 2**10),
        ("tpu-8i", "VMEM", 384 * 2**20),
        ("tpu-8t", "VMEM", 128 * 2**20),
        ("ryzen-ai-max-395", "Infinity Cache", 32 * 2**20),
        ("ryzen-ai-max-395", "L2", 2 * 2**20),
        ("ryzen-ai-max-395-cpu", "L3", 64 * 2**20),
        ("ryzen-ai-max-395-cpu", "L2", 16 * 2**20),
    ],
)
def test_a_cache_or_a_scratchpad_has_its_size_in_powers_of_two(name: str, level: str, size: float) -> None:
    assert chip(name).memories[level].capacity == size


@pytest.mark.parametrize(
    ("name", "main", "cycles", "mhz"),
    [
        ("v100-pcie-16gb", "HBM", 434, 1380),
        ("a100-sxm-80gb", "HBM", 552, 1410),
        ("a40", "GDDR6", 556, 1740),
        ("l40", "GDDR6", 625, 2490),
        ("gh200-96gb", "HBM", 688, 1980),
        ("mi100", "HBM", 634, 1430),
        ("mi210", "HBM", 690, 1700),
        ("mi300a", "HBM", 826, 2096),
        ("mi300x", "HBM", 890, 2092),
        ("h100-sxm", "HBM", 689, 1980),
        ("rtx-4090", "GDDR6X", 636, 2520),
        ("rtx-5090", "GDDR7", 936, 2407),
        ("rtx-pro-6000-server", "GDDR7", 864, 2430),
        ("b200", "HBM", 860, 1965),
        ("b300", "HBM", 810, 2032),
    ],
)
def test_a_latency_is_the_cycles_that_its_source_counts_over_the_clock(
    name: str, main: str, cycles: int, mhz: int
) -> None:
    assert chip(name).memories[main].latency == pytest.approx(cycles / (mhz * 1e6), rel=2e-3)


def test_latencies_are_measured_never_from_a_data_sheet_and_grow_with_the_distance() -> None:
    for one in chips():
        known = [level.latency for level in one.memories.values() if level.latency is not None]
        assert known == sorted(known, reverse=True), one.id
        for key, source in one.sources.items():
            if key.startswith("memories.") and key.endswith(".latency"):
                assert source.confidence in {"measured", "derived"}, (one.id, key)
                assert "cycles" in source.title


def test_two_measurements_of_a_latency_agree_and_an_unknown_one_is_none() -> None:
    h100 = chip("h100-sxm")
    assert h100.memories["HBM"].latency == 348e-9
    assert h100.memories["HBM"].latency == pytest.approx(700 / 1.98e9, rel=0.02)
    assert "memories.HBM.latency" not in h100.disputed
    assert chip("tpu-v5p").memories["HBM"].latency is chip("epyc-9654").memories["L3"].latency is None


def test_the_eighth_tpus_have_the_figures_of_googles_blog_and_the_peaks_of_jax() -> None:
    inference, training = chip("tpu-8i"), chip("tpu-8t")
    assert dict(inference.peak_flops) == {"bf16": 1101e12, "fp8": 8808e12}
    assert inference.bandwidth() == 8.601e12
    assert inference.memories["HBM"].capacity == 309_237_645_312
    assert inference.link_bandwidth() == 19.2e12 / 8 / 2
    assert training.peak("fp4") == 12.6e15 == pytest.approx(121e18 / 9600, rel=1e-3)
    assert training.bandwidth() == 6.528e12
    assert training.memories["HBM"].capacity == 231_928_233_984
    # Google prints 10.1 PFLOP/s of the 8i as fp4 in a table and 10.07 as fp8 in a picture.
    assert any("10.1 PFLOP/s at fp4" in note and "10.07, at fp8" in note for note in inference.notes)


def test_nvlink_c2c_leads_to_the_grace_cpu_and_is_never_the_link_between_gpus() -> None:
    for name in ("gh200-96gb", "gh200-144gb"):
        assert chip(name).link_bandwidth("NVLink-C2C") == 450e9
    for name in ("gb200", "gb300"):
        with pytest.raises(MissingFigureError, match="900 GB/s, bidirectional, from two GPUs to one Grace CPU"):
            chip(name).link_bandwidth("NVLink-C2C")
    with pytest.raises(MissingFigureError, match=r"1\.8 TB/s, bidirectional, from two GPUs to one Vera CPU"):
        chip("rubin").link_bandwidth("NVLink-C2C")
    assert {chip(name).link().name for name in ("gh200-96gb", "gh200-144gb", "gb200", "gb300", "rubin")} == {"NVLink"}


@pytest.mark.parametrize(
    ("name", "bandwidth", "gib", "scope"),
    [
        ("gh200-96gb", 512e9, 480, "of the Grace CPU, over NVLink-C2C"),
        ("gh200-144gb", 512e9, 480, "of the Grace CPU, over NVLink-C2C"),
        ("gb200", 512e9, 480, "of one Grace CPU, which two GPUs share, over NVLink-C2C"),
        # NVIDIA prints no bandwidth of one Grace CPU for GB300.
        ("gb300", None, 480, "of one Grace CPU, which two GPUs share, over NVLink-C2C"),
        ("rubin", 1.2e12, 1536, "of one Vera CPU, which two GPUs share, over NVLink-C2C"),
    ],
)
def test_a_superchip_has_the_memory_of_its_cpu_beside_the_levels_of_its_roofline(
    name: str, bandwidth: float | None, gib: int, scope: str
) -> None:
    one = chip(name)
    assert one.host_memories == {"LPDDR5X": Memory("LPDDR5X", bandwidth, gib * 2**30, scope)}
    assert "LPDDR5X" not in one.memories
    assert [one.id for one in chips() if one.host_memories] == ["gh200-96gb", "gh200-144gb", "gb200", "gb300", "rubin"]


def test_every_figure_is_the_one_of_the_data_file(data: dict[str, Any]) -> None:
    assert [entry["id"] for entry in data["chips"]] == [name for name in ENTRIES if name not in ADDED_CHIPS]
    assert set(ENTRIES) >= ADDED_CHIPS
    for original in data["chips"]:
        one, printed = chip(original["id"]), original_figures(original)
        corrected = CORRECTED.get(one.id, set())
        expected = {key: figure for key, figure in printed.items() if key not in corrected}
        values = {figure.key: figure.value for figure in one.figures if figure.value is not None}
        added = ADDED.get(one.id, set()) | added_ceilings(ENTRIES[one.id])
        assert not added & set(printed), one.id
        assert all(values[key] != printed[key][0] for key in corrected), one.id
        added |= corrected
        assert {key: value for key, value in values.items() if key not in added} == {
            key: value for key, (value, _, _) in expected.items()
        }, one.id
        assert added <= set(values)
        kept = {
            key: figure
            for key, figure in written(ENTRIES[one.id]).items()
            if not key.endswith(".printed") and key not in added
        }
        assert {key: (f["source"], f["confidence"]) for key, f in kept.items()} == {
            key: (source, confidence) for key, (_, source, confidence) in expected.items()
        }, one.id


def test_every_level_of_the_data_file_is_there_with_what_it_says(data: dict[str, Any]) -> None:
    for original in data["chips"]:
        one, names = chip(original["id"]), level_names(original)
        levels = [names[level["id"]] for level in original["levels"]]
        sized = [name for name in one.memories if f"memories.{name}.capacity" in ADDED.get(one.id, set())]
        assert [*one.memories] == [*levels, *(name for name in sized if name not in levels)]
        for level in original["levels"]:
            scope = one.memories[names[level["id"]]].scope
            label = [level["label"]] if level["label"] != names[level["id"]] else []
            assert scope == "; ".join([*label, *(level[key] for key in ("scope", "note") if key in level)])


def test_every_formula_is_the_one_of_the_data_file(data: dict[str, Any]) -> None:
    for original in data["chips"]:
        peaks = ENTRIES[original["id"]]["peak_flops"]
        for precision, figure in original["compute"].items():
            assert peaks[precision].get("formula") == figure.get("formula")


def test_every_check_is_the_one_of_the_data_file(data: dict[str, Any]) -> None:
    # A figure that a chip lacks has no checks; its notes name the values of other sources.
    left_out = []
    for original in data["chips"]:
        main = original["levels"][0]
        fields = {main["id"]: f"memories.{main['label']}.bandwidth", "l2": "memories.L2.capacity", "clock": "clock"}
        expected = [
            (fields.get(check["field"], f"peak_flops.{check['field']}"), check["value"], check["source"])
            for check in original["checks"]
        ]
        one = chip(original["id"])
        lacking = [want for want in expected if want[0] not in {figure.key for figure in one.figures}]
        left_out += [(one.id, *want[:2]) for want in lacking]
        expected = [want for want in expected if want not in lacking]
        if one.id in {"tpu-8i", "tpu-8t"}:
            # The figure of the data file is what another source says now.
            expected = [("memories.HBM.bandwidth", original["levels"][0]["bandwidth"]["value"], "jax")]
        # The data file has no latencies.
        written_ones = [check for check in ENTRIES[one.id].get("checks", ()) if not is_latency(check["figure"])]
        found = [(check.figure, check.value) for check in one.checks if not is_latency(check.figure)]
        assert found == [want[:2] for want in expected]
        assert [check["source"] for check in written_ones] == [want[2] for want in expected]
    assert left_out == [("tpu-v5p", "peak_flops.fp8", 459e12)]
    assert chip("v5p").notes[0].startswith("fp8 is not listed as a roof: the TPU7x page prints 459")


def test_every_description_is_the_one_of_the_data_file(data: dict[str, Any]) -> None:
    for original in data["chips"]:
        one = chip(original["id"])
        for field in ("name", "vendor", "kind", "family", "status"):
            assert getattr(one, field) == original[field]
        assert one.generation == original["order"]
        year = "2026" if one.id in {"tpu-8i", "tpu-8t"} else original.get("release", {}).get("value", "")[:4]
        assert str(one.year or "") == year
        assert len(one.notes) == len(original.get("notes", [])) + ADDED_NOTES.get(one.id, 0)
        entry = ENTRIES[one.id]
        names = {name.casefold() for name in (*entry["aliases"], *entry["short"], entry["name"], entry["id"])}
        assert {alias.casefold() for alias in original.get("aliases", [])} <= names


def test_every_source_points_where_the_data_file_says(data: dict[str, Any]) -> None:
    assert set(SOURCES) - set(data["sources"]) == ADDED_SOURCES
    for key, source in SOURCES.items():
        if key in ADDED_SOURCES:
            continue
        original = data["sources"][key]
        assert source["confidence"] == original["kind"]
        assert source["url"] == (original["url"] if original["url"].startswith("http") else "")


def test_a_measured_bandwidth_is_a_ceiling_and_never_the_bandwidth() -> None:
    mi300x = chip("mi300x")
    assert {(c.name, c.memory, c.rate, c.measured) for c in mi300x.ceilings} == {
        ("measured", None, 668.4e12, True),
        ("measured", "HBM", 4.199e12, True),
        ("measured", "Infinity Cache", 8.2e12, True),
        ("measured", "L2", 26.5e12, True),
        ("measured", "L1", 39.3e12, True),
    }
    assert mi300x.bandwidth("L2") == 34.4e12
    with pytest.raises(
        MissingFigureError, match="AMD Instinct MI300X has no bandwidth for L1; it has those of 'HBM', "
    ):
        mi300x.bandwidth("L1")
    assert all(c.source and c.source.confidence == "measured" for one in chips() for c in one.ceilings)


def test_a_level_without_a_published_bandwidth_is_there_and_missing() -> None:
    assert chip("h100-sxm").memories["L2"].capacity == 50 * 2**20
    with pytest.raises(
        MissingFigureError, match="NVIDIA H100 SXM5 80GB has no bandwidth for L2; it has those of 'HBM', 'L1'"
    ):
        chip("h100-sxm").bandwidth("L2")
    with pytest.raises(MissingFigureError, match="TPU v4 has no bandwidth for CMEM"):
        chip("v4").bandwidth("CMEM")


@pytest.mark.parametrize(
    ("name", "link", "bandwidth", "per_link"),
    [
        ("h100-sxm", "NVLink", 450e9, None),
        ("a100-sxm-80gb", "NVLink", 300e9, None),
        ("v5p", "ICI", 600e9, 90e9),
        ("v5e", "ICI", 200e9, 45e9),
        ("tpu-7x", "ICI", 600e9, None),
        ("mi300x", "xGMI", 448e9, 64e9),
    ],
)
def test_a_link_counts_one_way_over_all_links_of_a_chip(
    name: str, link: str, bandwidth: float, per_link: float | None
) -> None:
    first = chip(name).link()
    assert (first.name, first.bandwidth, first.per_link) == (link, bandwidth, per_link)
    assert chip(name).link_bandwidth() == bandwidth


def test_the_link_between_chips_is_first_and_pcie_last() -> None:
    for one in chips():
        assert "PCIe" not in list(one.links)[:-1]
    assert list(chip("mi250x").links) == ["xGMI", "GCD to GCD", "PCIe"]


def test_a_link_keeps_what_its_source_prints() -> None:
    assert chip("v5p").link().printed == "90 GB/s, one direction, per link; 1.2 TB/s, bidirectional, per chip"
    assert chip("h100-sxm").link("pcie").printed == "64 GB/s, one direction (PCIe 5 x16)"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("trn2", "for NeuronLink: its source prints 1.28 TB/s, direction not stated$"),
        ("v3", "for ICI: its source prints 100 GB/s, one direction, per link$"),
        ("v4", "for ICI: its source prints 45 GB/s, one direction, per link; it has that of 'PCIe'$"),
    ],
)
def test_a_link_of_unstated_direction_or_number_has_no_bandwidth_and_says_why(name: str, words: str) -> None:
    with pytest.raises(MissingFigureError, match=f"has no one-way bandwidth .*{words}"):
        chip(name).link_bandwidth()


def test_disputed_figures_are_those_that_others_put_more_than_three_percent_off() -> None:
    def others(one: Chip) -> dict[str, list[float]]:
        return {key: [check.value for check in checks] for key, checks in one.disputed.items()}

    assert others(chip("h100-sxm")) == {
        "peak_flops.bf16": [1979e12, 1070.53056e12],
        "memories.HBM.bandwidth": [3.072e12],
    }
    assert others(chip("mi300x")) == {"peak_flops.bf16": [653.7e12], "memories.HBM.bandwidth": [6.81e12, 10.3e12]}
    assert others(chip("tpu-8i")) == {}


def test_a_chip_of_a_single_source_says_so() -> None:
    assert chip("tpu-8i").status == "single-source"
    assert repr(chip("tpu-8i")).endswith("; single-source)")
    assert "single-source" in chip("tpu-8i")._repr_html_()
    assert "single-source" not in repr(chip("v5p"))
