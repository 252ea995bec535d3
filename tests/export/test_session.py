"""Sessions: what a model is saved as, and the model that is made of it again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import roofwidget as rw
from roofwidget import RooflineModel, wire
from roofwidget.export import session
from roofwidget.kernels import table_record
from roofwidget.workloads import graph_record as graph_records
from tests.agreement import draw
from tests.places import json_of, text_of, write

SEED = os.environ.get("ROOFWIDGET_SEED", "1")
CHIP = rw.Chip("One", {"bf16": "100 TFLOP/s"}, {"HBM": "1 TB/s", "L2": "10 TB/s"})
KERNELS = rw.Kernels(
    ["matmul", '</script><script>alert(1)</script> "=1+1"\ud800', ""],
    {"fp16": [4e12, 0, np.nan], "fp32": [np.nan, np.nan, 1e9]},
    {"HBM": [1e10, 1 / 3, np.nan], "L2": [1e11, 1e10, np.nan]},
    time=[0.08, np.nan, 1e-3],
    self_time=[0.07, np.nan, 1e-3],
    precision=["fp16", None, "fp32"],
    category=["gemm", "\N{RIGHT-TO-LEFT OVERRIDE}", None],
    count=[1, 2, 3],
    extra={"grid": [1.0, np.nan, np.inf], "stream": ["a", None, "b"], "host": "here", "none": [None, None, None]},
    origin={"flops": ["counted", None, "guessed"], "time": "measured"},
    chip=rw.chip("h100-sxm"),
    program=rw.Kernels(["total"], [4e12], [1e10], time=[0.2]),
    steps=rw.Kernels(["step 1", "step 2"], [2e12, 2e12], [5e9, 5e9]),
    warnings=["one time is missing"],
    source="run 1",
)
LAB = rw.Kernels(["triad", "dgemm", "spmv"], intensity=[0.083, 12.5, 0.17], rate=[15.4e9, 880e9, np.nan])
BLOCK = rw.workloads.transformer_block(rw.dim("batch", 1, 64, default=8), 2048, 4096, 32)
SHORT = rw.workloads.transformer_block(rw.dim("batch", 1, 64, default=8), 128, 4096, 32)


def again(model: RooflineModel, folder: Path) -> RooflineModel:
    return type(model).load(model.save(folder / "session.json"))


def assert_same(one: RooflineModel, other: RooflineModel) -> None:
    """Assert that two models show the same and would be saved as the same."""
    shown, expected = one.wire_state(), other.wire_state()
    assert [name for name in expected if shown[name] != expected[name]] == []
    assert one._to_session() == other._to_session()


def test_a_session_brings_back_intensities_and_rates(tmp_path: Path) -> None:
    model = RooflineModel([CHIP], LAB, baseline=LAB[:2])
    loaded = again(model, tmp_path)
    assert_same(loaded, model)
    assert (loaded.kernels, loaded.baseline) == (LAB, LAB[:2])
    assert loaded.bound().utilization[1] == model.bound().utilization[1] > 0


def test_a_session_brings_back_chips_what_ifs_filters_snapshots_and_view(tmp_path: Path) -> None:
    model = RooflineModel(
        [CHIP, "h100-sxm", "mi300x"],
        KERNELS,
        shown=["one", "mi300x"],
        focus_chip="one",
        search="mat",
        categories=["gemm"],
        phases=["decode", ""],
        time_share=0.9,
        top=10,
        selected=[0],
        sort_by="-time",
        view="time",
        zoom=(1e-7, 1e-3, 1e-7, 1e-3),
        title="A run",
        locale="de",
        baseline=KERNELS,
    )
    model.set_what_if("one", bandwidth="2 TB/s", memory="L2")
    model.set_what_if("mi300x", peak_flops="3 PFLOP/s", precision="bf16")
    model.move(0, bytes=5e9)
    model.freeze("before")
    found = again(model, tmp_path)
    assert found.kernels == KERNELS
    assert found.kernels.program == KERNELS.program
    assert found.kernels.steps == KERNELS.steps
    assert (found.kernels.chip, found.kernels.warnings, found.kernels.source) == (
        KERNELS.chip,
        KERNELS.warnings,
        KERNELS.source,
    )
    assert found.chips == model.chips
    assert found.what_if == model.what_if
    assert found.snapshots == model.snapshots
    assert (found.zoom, found.view, found.locale) == (model.zoom, "time", "de")
    assert_same(found, model)


def test_a_session_brings_back_every_phase_of_a_workload_with_its_partition(tmp_path: Path) -> None:
    model = RooflineModel(["v5p"], graphs={"train": BLOCK, "short": SHORT})
    model.partition = rw.Partition.best(BLOCK, "v5p")
    model.dims = {"batch": 16}
    model.phase = "short"
    model.convention = "mac"
    model.dtype = "fp8"
    model.partition = rw.Partition.pairs(SHORT)
    found = again(model, tmp_path)
    assert_same(found, model)
    assert found.graph is not None
    assert (found.graph.ops, found.graph.dims, found.graph.notes) == (SHORT.ops, SHORT.dims, SHORT.notes)
    model.phase = found.phase = "train"
    assert found.partition is not None
    assert model.partition is not None
    assert found.partition.groups == model.partition.groups == rw.Partition.best(BLOCK, "v5p").groups
    assert found.shown_kernels == model.shown_kernels


def test_kernels_that_a_graph_hides_and_series_come_back(tmp_path: Path) -> None:
    hidden = RooflineModel(["v5p"], graph=BLOCK)
    hidden.kernels = KERNELS
    found = again(hidden, tmp_path)
    found.graph = None
    assert found.kernels == KERNELS
    grown = RooflineModel(["v5p"], [("matmul", 4.3e9, 1.2e7, 1e-4)])
    grown.set_series("tiled", [("matmul", 4.3e9, 0.6e7, 8e-5)])
    assert again(grown, tmp_path).has_series


def test_columns_that_only_earlier_kernels_had_come_back(tmp_path: Path) -> None:
    model = RooflineModel(["v5p"], rw.Kernels(["a"], [1], [2], extra={"site": ["x"]}))
    model.sort_by, model.columns, model.colour_by = "-site", ["name", "site"], "site"
    model.kernels = [("b", 1, 2)]
    other = again(model, tmp_path)
    assert (other.sort_by, other.columns, other.colour_by) == ("-site", ("name", "site"), "site")


def test_launches_of_a_sum_come_back(tmp_path: Path) -> None:
    table = rw.Kernels(["a", "b", "a"], [1e9, 2e9, 3e9], [1e6, 1e6, 1e6], time=[1e-3, 2e-3, 3e-3])
    found = again(RooflineModel([CHIP], table.groupby("name")), tmp_path).kernels
    assert found == table.groupby("name")
    assert found.launches_of(0) == table[[0, 2]]


def test_eighty_random_models_come_back(tmp_path: Path) -> None:
    for case in range(80):
        model = draw.model(Random(f"{SEED} {case}"), RooflineModel)  # noqa: S311
        try:
            assert_same(again(model, tmp_path), model)
        except (AssertionError, ValueError) as error:
            raise AssertionError(f"ROOFWIDGET_SEED={SEED}, case {case}: {error}") from error


@pytest.mark.parametrize(
    "graph",
    [
        rw.workloads.resnet18(rw.dim("batch", 1, 256, default=8), training=True),
        rw.workloads.resnet50(),
        rw.workloads.hpc_set(),
        rw.workloads.decoder("llama-3-8b"),
        BLOCK.with_convention("mac").with_dtype("fp8"),
    ],
    ids=lambda graph: graph.name,
)
def test_the_record_of_a_workload_makes_the_same_workload(graph: rw.Graph) -> None:
    found = graph_records.from_record(json.loads(json.dumps(graph_records.to_record(graph))))
    assert graph_records.to_record(found) == graph_records.to_record(graph)
    assert (found.ops, found.dims, found.outputs, found.inputs) == (graph.ops, graph.dims, graph.outputs, graph.inputs)
    assert found.kernels() == graph.kernels()
    assert wire.graph_to_wire(found) == wire.graph_to_wire(graph)


def test_a_widget_is_made_of_a_session_too(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS, search="mat").save(tmp_path / "session.json")
    widget = rw.load(path)
    assert isinstance(widget, rw.RooflineWidget)
    assert widget.search == "mat"
    widget.close()


def test_the_same_session_is_always_the_same_text_with_a_column_in_a_line(tmp_path: Path) -> None:
    model = RooflineModel([CHIP], KERNELS)
    path = model.save(tmp_path / "session.json")
    assert text_of(path) == model._to_session()
    assert '    "time": [0.08, null, 0.001],\n' in model._to_session()
    assert again(model, tmp_path)._to_session() == model._to_session()


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    document = json.loads(RooflineModel([CHIP], KERNELS)._to_session())
    change(document)
    return json.dumps(document)


def with_trait(name: str) -> str:
    return changed(lambda document: document["traits"].update({name: "x"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{\n  nonsense", r"session.json: line 2, column 3: not JSON: Expecting.*writes a session"),
        (
            RooflineModel([CHIP], KERNELS)._to_session().replace('"search": ""', '"search": "", "search": "a"'),
            r"session.json: line \d+, column \d+: the key 'search' is twice in the object that ends here; save",
        ),
        (
            "\n<!doctype html><p>",
            r"session.json: a page holds no session: rw.read reads its kernels, and save\('….json'\)",
        ),
        ('{"chips": ' + "[" * 100_000 + "]" * 100_000 + "}", r"session.json: nested too deeply"),
        (changed(lambda document: document["kernels"].update(source=5)), r"session.json: kernels: source must be text"),
        (
            changed(lambda document: document["kernels"].update(warnings=[5])),
            r"session.json: kernels: each of warnings must be text, got 5",
        ),
        ("[1, 2]", r"session.json: the file is not a session that save\('….json'\) wrote; rw.read reads profiles"),
        (
            changed(lambda document: document.update(version=2)),
            r"session.json: the session has version 2, and this roofwidget reads versions up to 1: a newer roofwidget",
        ),
        (changed(lambda document: document.pop("what_if")), r"session.json: the session has no 'what_if'"),
        (changed(lambda document: document.update(kernel={})), r"a session has no 'kernel'; did you mean 'kernels'\?"),
        (
            changed(lambda document: document["kernels"]["time"].__setitem__(1, -1)),
            r"session.json: kernels: row 1, column 'time': -1.0 must be finite and not negative",
        ),
        (
            changed(lambda document: document["kernels"]["category"]["rows"].__setitem__(2, 9)),
            r"session.json: kernels: row 2, column 'category': there is no value 9; the column has 3",
        ),
        (
            changed(lambda document: document["kernels"].update(tiem=[])),
            r"session.json: kernels: a table of kernels has no 'tiem'; did you mean 'time'\?",
        ),
        (
            changed(lambda document: document["chips"]["one"].update(peak_flops={"bf16": -1})),
            r"session.json: chips: 'one': .*bf16",
        ),
        (
            changed(lambda document: document["what_if"].update(two={"peak_flops": {"bf16": 1e15}})),
            r"session.json: .*two",
        ),
        (
            changed(lambda document: document["traits"].update(sort_by="-tiem")),
            r"session.json: .*tiem",
        ),
        (changed(lambda document: document["traits"].update(selected=[7])), r"session.json: .*7"),
        (changed(lambda document: document["traits"].update(serach="x")), r"session.json: .*did you mean 'search'"),
        *(
            (with_trait(name), f"session.json: traits: a session has no '{name}'")
            for name in ("_esm", "_css", "_code", "_view_module", "layout", "comm", "baseline")
        ),
        (
            changed(lambda document: document.update(snapshots=[{"name": "a"}])),
            r"session.json: snapshots: there is no 'chip'",
        ),
        (
            changed(lambda document: document.update(graphs={"": {"name": "g"}})),
            r"session.json: graphs: '': a graph needs",
        ),
    ],
)
def test_a_file_that_is_not_understood_is_refused_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "session.json", text)
    with pytest.raises(ValueError, match=message):
        RooflineModel.load(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"session.json: the file is not UTF-8 text"):
        RooflineModel.load(path)


def test_the_reader_of_profiles_says_who_opens_a_session(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / "session.json")
    with pytest.raises(rw.ProfileError, match=r"session.json: the file is a session of roofwidget: rw.load opens it"):
        rw.read(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        RooflineModel.load(tmp_path / "none.json")


def test_a_record_of_kernels_has_only_what_is_known() -> None:
    assert table_record.to_record(rw.Kernels(["a"], [1e9], [1e6])) == {
        "names": ["a"],
        "flops": {"": [1e9]},
        "bytes": {"main": [1e6]},
    }


def test_the_version_of_the_form_is_one() -> None:
    assert (session.FORMAT, session.VERSION) == ("roofwidget session", 1)


@pytest.mark.parametrize("question", [True, "x", {}, {"key": "a", "prompt": 1, "explanation": ""}])
def test_a_session_whose_story_has_a_damaged_question_is_refused(question: object, tmp_path: Path) -> None:
    model = RooflineModel([CHIP], [("a", 1e9, 1e6, 1e-3)])
    asked = rw.Question(key="ridge", prompt="Where?", answer=100, unit="FLOP/B", explanation="100/1")
    rw.Story(model, [rw.Step("Look.", {}, asked)])
    path = model.save(tmp_path / "session.json")
    document = json.loads(path.read_text("utf-8"))
    assert RooflineModel.load(path).story is not None
    document["traits"]["story"]["steps"][0]["question"] = question
    write(path, document)
    with pytest.raises(ValueError, match=r"expected what rw\.Story makes"):
        RooflineModel.load(path)


def test_what_a_page_may_open_is_not_part_of_a_session(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS, open_files="nothing").save(tmp_path / "session.json")
    assert "open_files" not in text_of(path)
    write(path, changed(lambda document: document["traits"].update(open_files="folder")))
    assert rw.load(path).open_files == "uploads"


@pytest.mark.parametrize("name", ["open_files", "_esm", "_view_module", "chips", "comm", "title", "nonsense"])
def test_a_step_of_an_edited_session_sets_only_what_a_story_may_set(tmp_path: Path, name: str) -> None:
    widget = rw.roofline([CHIP], KERNELS)
    rw.Story(widget, ["one", ("two", {"search": "mat"})])
    path = widget.save(tmp_path / "session.json")
    document = json_of(path)
    document["traits"]["story"]["steps"][1]["changes"][name] = "folder"
    write(path, document)
    edited = rw.load(path)
    before = getattr(edited, name, None)
    with pytest.raises(TraitError, match=f"step 1 sets '{name}', which no step may set"):
        edited.step = 1
    assert getattr(edited, name, None) is before


def test_a_chip_that_1_0_0_added_is_the_one_whose_figures_it_had(tmp_path: Path) -> None:
    path = RooflineModel([CHIP], KERNELS).save(tmp_path / "session.json")
    document = json_of(path)
    ids = ["rtx-pro-6000", "apple-m4-max"]
    document["traits"].update(added_chips=[*ids, "b200"], shown=["one", *ids], focus_chip="rtx-pro-6000")
    document["what_if"] = {"apple-m4-max": {"bandwidth": {"Unified memory": 500e9}}}
    write(path, document)
    model = RooflineModel.load(path)
    # The workstation's card reads 1,792 GB/s, the server's 1,597 GB/s. The M4 Max with 40 cores reads 546 GB/s.
    assert [chip.bandwidth() for chip in model.all_chips[1:3]] == [1792e9, 546e9]
    assert model.chip().name == "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"
    assert model.added_chips == ("b200",)
    assert again(model, tmp_path).chip("apple-m4-max").name == "Apple M4 Max (40-core GPU)"
