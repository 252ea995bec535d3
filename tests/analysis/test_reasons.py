"""Why kernels are slow: each planted reason is told and no other, on files of a GPU and on made-up ones."""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roofwidget as rw
from roofwidget.analysis.reasons import rules
from tests import places
from tests.make_fixtures import slow_kernels

SLOW = places.FIXTURES / "gpu" / "slow.raw.csv.gz"
# For each launch of `tests/gpu/slow.cu` why it is slow, the known reason first, and what else is true of it.
TRUTH = [
    ("stream_triad", set()),
    ("small_copy", {"launch", "small grid", "memory latency"}),
    ("tail_wave", {"a busy pipe", "busy schedulers"}),
    ("tail_wave", {"tail", "a busy pipe", "busy schedulers"}),
    ("strided_read<0>", {"short blocks"}),
    ("strided_read<1>", set()),
    ("strided_read<8>", {"uncoalesced loads"}),
    ("strided_read<32>", {"uncoalesced loads"}),
    ("shared_read<1>", {"a busy pipe"}),
    ("shared_read<2>", {"bank conflicts"}),
    ("shared_read<32>", {"bank conflicts"}),
    ("many_registers", {"occupancy by registers", "memory latency"}),
    ("pointer_chase", {"small grid", "memory latency"}),
    ("pointer_chase", {"small grid", "uncoalesced loads", "memory latency"}),
    ("gather", {"uncoalesced loads"}),
    *[("tiny", {"launch", "small grid"})] * 5,
    ("divergent", {"divergence"}),
]


def told(kernels: rw.Kernels) -> list[set[str]]:
    return [{one.reason for one in found} for found in rw.reasons(kernels)]


def table(**columns: Any) -> rw.Kernels:
    return rw.Kernels(["k"], [1], [1], time=[1e-3], extra=columns)


def test_each_rule_has_its_texts_in_german_with_the_same_columns() -> None:
    for rule in rules():
        assert rule.translations.keys() == {"de"}, rule.sentence
        german = rule.translations["de"]
        assert german.keys() == {"sentence", "suggestion"}, rule.sentence
        for own, other in ((rule.sentence, german["sentence"]), (rule.suggestion, german["suggestion"])):
            assert sorted(re.findall(r"{.*?}", own)) == sorted(re.findall(r"{.*?}", other)), own
            assert own != other


# -- a GPU -------------------------------------------------------------------------------------------------------------


def test_each_kernel_of_a_gpu_is_slow_for_its_known_reason() -> None:
    kernels = rw.read(SLOW)
    names = [str(name).replace("void ", "").replace("(int)", "").partition("(")[0] for name in kernels.names]
    assert list(zip(names, told(kernels), strict=True)) == TRUTH


def test_sentences_have_the_numbers_and_the_counters_of_the_file() -> None:
    found = rw.reasons(rw.read(SLOW))
    (strided,) = found[6]
    assert strided.sentence == "A warp's load takes 32 sectors of 32 B, and threads use 4 B of each."
    assert strided.values == {"sectors per load request": 32.0, "bytes used per loaded sector": 4.0}
    counter = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"
    assert strided.counters["bytes used per loaded sector"] == counter
    assert str(strided).endswith(f"{counter})")
    registers = found[11][0]
    assert registers.sentence.startswith("174 registers a thread allow 12.5 % occupancy at most")
    assert registers.counters["registers per thread"] == "launch__registers_per_thread"
    # Nsight says of this kernel: 3.9 of 5.5 cycles, which is 71.7 %.
    assert found[11][1].values["stall 1 (%)"] == pytest.approx(71.7, abs=0.05)
    assert all(one.counters.keys() == one.values.keys() for reasons in found for one in reasons)


def test_shares_of_stalls_are_those_that_nsight_compute_prints() -> None:
    kernels = rw.read(SLOW)
    # Percent of the cycles between two instructions, as the rules of the page Details say them.
    printed = {0: 98.3, 1: 49.7, 4: 36.1, 5: 87.2, 6: 96.2, 7: 89.6, 8: 49.0, 9: 67.8, 10: 84.7, 11: 71.7}
    printed |= {12: 98.4, 13: 98.9, 14: 98.7}
    shares = kernels.extra["stall 1 (%)"]
    assert {row: round(float(shares[row]), 1) for row in printed} == printed
    stalls = kernels.extra["stall 1"].tolist()
    assert [stalls[row] for row in (0, 4, 8)] == ["long scoreboard", "short scoreboard", "mio throttle"]


def test_two_rows_of_a_tooltip_are_those_that_tell_most() -> None:
    kernels = rw.read(SLOW)
    rows = {row: rw.telling(kernels, row) for row in (0, 3, 6, 10, 11, -1)}
    assert rows == {
        0: (),
        3: (("waves per SM", "1.01"), ("busiest pipe (%)", "91.2 %")),
        6: (("bytes used per loaded sector", "4"), ("sectors per load request", "32")),
        10: (("bank conflict ways", "32"), ("L1 throughput (%)", "99.7 %")),
        11: (("theoretical occupancy (%)", "12.5 %"), ("stall 1 (%)", "71.7 %")),
        -1: (("threads per instruction", "1.21"), ("active lanes (%)", "3.78 %")),
    }


def test_columns_that_are_a_counter_equal_the_counter() -> None:
    kernels = rw.read(SLOW)
    rows = [row for row in csv.reader(io.StringIO(gzip.decompress(SLOW.read_bytes()).decode())) if len(row) > 5]
    header, units = rows[0], rows[1]
    checked = 0
    for name, counter in kernels.read_as.items():
        if name in kernels.extra and counter in header:
            at = header.index(counter)
            factor = {"Kbyte/block": 1e3}.get(units[at], 1)
            cells = [float(row[at].replace(",", "")) * factor for row in rows[2:]]
            if name in {"bytes used per loaded sector", "bytes used per stored sector"}:
                cells = [cell or np.nan for cell in cells]
            assert kernels.extra[name].tolist() == pytest.approx(cells, nan_ok=True), name
            checked += 1
    assert checked >= 17


def test_advice_says_why_by_counters() -> None:
    kernels = rw.read(SLOW)
    assert kernels.chip is not None
    advices = rw.advise(rw.bound(kernels, kernels.chip))
    assert [{one.reason for one in advice.reasons} for advice in advices] == told(kernels)
    assert "Why, by counters:" in repr(advices)
    assert "stride" not in advices[6].situation
    assert "shared memory" in advices[6].reasons[0].suggestion
    assert "4 B of each" in advices._repr_html_()


def test_launches_of_one_name_are_judged_by_their_sums() -> None:
    kernels = rw.read(SLOW).groupby("name")
    row = kernels.names.tolist().index("tiny(float *, float)")
    assert kernels.extra["warp instructions"][row] == 5 * 8
    assert {"launch", "small grid"} <= told(kernels)[row]


# -- planted reasons ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [slow_kernels.wide, slow_kernels.long])
@pytest.mark.parametrize("name", slow_kernels.REASONS)
def test_a_planted_reason_is_told_and_no_other(name: str, form: Any) -> None:
    kernel, expected = slow_kernels.planted(name)
    assert told(rw.read(form([("good", dict(slow_kernels.BASE)), (name, kernel)]))) == [set(), expected]


def test_reports_of_versions_that_count_no_barriers_say_what_limits_occupancy() -> None:
    kernel, expected = slow_kernels.planted("registers")
    del kernel["launch__occupancy_limit_barriers"]
    kernels = rw.read(slow_kernels.wide([("k", kernel)]))
    assert kernels.extra["occupancy limited by"].tolist() == ["registers"]
    assert told(kernels) == [expected]


def test_mixtures_of_reasons_are_told_with_all_their_reasons() -> None:
    mixtures = slow_kernels.mixtures(20)
    assert len(set(mixtures)) > 10
    made = [slow_kernels.planted(*names) for names in mixtures]
    kernels = rw.read(slow_kernels.wide((" + ".join(n), one) for n, (one, _) in zip(mixtures, made, strict=True)))
    assert told(kernels) == [expected for _, expected in made]


def test_stalls_have_no_share_if_the_file_lacks_a_reason() -> None:
    counters, _ = slow_kernels.planted()
    part = {name: value for name, value in counters.items() if "selected" not in name and "warp_latency" not in name}
    kernels = rw.read(slow_kernels.wide([("part", part)]))
    assert len(part) < len(counters)
    assert "stall 1" in kernels.extra
    assert "stall 1 (%)" not in kernels.extra


def test_reasons_planted_in_dispatches_of_amd_are_told(tmp_path: Path) -> None:
    names = list(slow_kernels.AMD_REASONS)
    for file, content in slow_kernels.rocprof_folder(names).items():
        (tmp_path / file).write_bytes(content)
    kernels = rw.read(tmp_path)
    assert told(kernels) == [set(slow_kernels.AMD_REASONS[name][1]) for name in names]
    assert kernels.extra["warp instructions"].tolist() == [1_000_000.0] * 4
    assert kernels.extra["L1 transactions"].tolist() == [500_000.0] * 4
    assert kernels.extra["L2 transactions"].tolist() == [300_000.0] * 4
    assert kernels.extra["HBM transactions"].tolist() == [120_000.0] * 4
    assert kernels.extra["L2 hit rate (%)"].tolist() == [75.0] * 4
    # 64, and 8, of the 64 lanes of a wavefront.
    assert kernels.extra["active lanes (%)"].tolist() == [100.0, 100.0, 100.0, 12.5]
    assert kernels.extra["stall 1"].tolist() == ["dependency"] * 4
    assert kernels.extra["stall 1 (%)"].tolist() == [75.0] * 4
    assert kernels.read_as["L2 hit rate (%)"] == "TCC_HIT_sum / TCC_HIT_sum + TCC_MISS_sum"
    found = rw.instruction_roofline(kernels)
    # One instruction a cycle of each of 104 compute units at 1.7 GHz.
    assert found.peak == pytest.approx(104 * 1.7e9)
    assert found.rate.tolist() == pytest.approx([1e6 / 1e-4] * 4)
    # 64 B a read and a write.
    assert kernels.chip is not None
    assert found.bandwidths["HBM"] == pytest.approx(kernels.chip.bandwidth() / 64)


# -- what no counter supports ------------------------------------------------------------------------------------------


def test_nothing_is_said_without_counters() -> None:
    assert rw.reasons(rw.Kernels(["k"], [1], [1], time=[1])) == ((),)
    assert rw.telling(rw.Kernels(["k"], [1], [1], time=[1]), 0) == ()
    assert rw.advise(rw.bound([("k", 1, 1, 1)], rw.Chip("c", {"fp32": 1}, {"HBM": 1})))[0].reasons == ()


@pytest.mark.parametrize("lacking", ["waves per SM", "full waves (%)", "blocks"], ids=lambda name: f"without {name}")
def test_a_reason_needs_every_counter_of_its_conditions_and_of_its_sentence(lacking: str) -> None:
    columns: dict[str, Any] = {"waves per SM": [1.01], "full waves (%)": [50.4], "blocks": [133.0]}
    assert told(table(**columns)) == [{"tail"}]
    assert told(table(**{**columns, lacking: [np.nan]})) == [set()]
    assert told(table(**{name: column for name, column in columns.items() if name != lacking})) == [set()]


def test_a_counter_that_contradicts_a_reason_silences_it() -> None:
    columns = {"waves per SM": [1.01], "full waves (%)": [50.4], "blocks": [133.0]}
    assert told(table(**columns, **{"SM active (%)": [50.0]})) == [{"tail"}]
    assert told(table(**columns, **{"SM active (%)": [96.0]})) == [set()]


@pytest.mark.parametrize(
    ("sectors", "used", "expected"),
    [
        (4.0, 32.0, set()),
        (16.0, 32.0, set()),  # 16 B a thread
        (16.0, None, set()),  # 16 B a thread, or a stride
        (1.0, 4.0, set()),  # one element for all threads
        (8.0, 16.0, {"uncoalesced loads"}),
        (32.0, 4.0, {"uncoalesced loads"}),
        (32.0, None, {"uncoalesced loads"}),
    ],
)
def test_wide_loads_and_broadcasts_are_not_uncoalesced(sectors: float, used: float | None, expected: set[str]) -> None:
    columns = {"sectors per load request": [sectors]}
    if used is not None:
        columns["bytes used per loaded sector"] = [used]
    assert told(table(**columns)) == [expected]


def test_a_block_of_one_thread_does_not_diverge() -> None:
    kernels = rw.read(SLOW)
    assert kernels.extra["threads per instruction"][12] == 1
    assert kernels.extra["active lanes (%)"][12] == 100
    assert "divergence" not in told(kernels)[12]


# -- rules -------------------------------------------------------------------------------------------------------------


def test_each_rule_has_a_condition_a_suggestion_and_a_printed_source() -> None:
    for rule in rules():
        assert rule.where, rule.reason
        assert rule.rows, rule.reason
        assert rule.suggestion.endswith("."), rule.reason
        assert rule.sentence.endswith("."), rule.reason
        sources = ("NVIDIA, ", "AMD, ", "LIKWID, ", "Ding and Williams 2019")
        assert any(word in rule.source for word in sources), rule.reason


def test_each_rule_fires_on_numbers_that_fulfil_it() -> None:
    for rule in rules():
        columns: dict[str, Any] = {name: ["fma" if name == "busiest pipe" else 50.0] for name in rule.columns}
        for name, condition in rule.where.items():
            if isinstance(condition, list):
                columns[name] = [condition[0]]
            elif condition[0] in "<>":
                sign, number = condition.split()
                columns[name] = [float(number) + {"<": -0.25, "<=": 0, ">": 0.25, ">=": 0}[sign]]
            else:
                columns[name] = [condition]
        assert rule.reason in told(table(**columns))[0], rule.reason
