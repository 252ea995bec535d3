"""`roofwidget check`: the verdict for people, for CI and for programs."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import roofwidget as rw
from roofwidget.cli import main
from tests.cli.profiles import WITH_CHIP, WITHOUT_ANSWER, chip_file, profile_file
from tests.places import FIXTURES, ROOT, json_of, text_of, write
from tests.readers.test_torch_graphs import captured, replayed
from tests.readers.test_torch_graphs import trace as trace_of
from tests.readers.test_work_rules import op, trace

SCHEMA = json_of(ROOT / "roofwidget" / "cli" / "check.schema.json")
Capture = pytest.CaptureFixture[str]


def document(capsys: Capture, *arguments: str) -> dict[str, Any]:
    status = main(["check", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(found)
    assert found["exit_status"] == status
    assert isinstance(found, dict)
    return found


@pytest.fixture
def mine(tmp_path: Path) -> list[str]:
    """Return a profile with its chip: a matmul at half of its roof for 2 s, and a copy at its roof for 2 s."""
    return [profile_file(tmp_path, "matmul,1e14,1e11,2\ncopy,0,2e12,2"), "--chip", chip_file(tmp_path)]


def test_rules_of_work_fill_in_what_the_profile_does_not_say(capsys: Capture, tmp_path: Path) -> None:
    profile = profile_file(tmp_path, "matmul,,,2")
    rules = str(
        write(tmp_path / "rules.toml", '"mat*" = { op = "gemm", m = 1000, n = 1000, k = 1000, precision = "bf16" }')
    )
    (kernel,) = document(capsys, profile, "--chip", chip_file(tmp_path), "--work", rules)["kernels"]
    assert kernel["flops"] == 2e9
    bad = str(write(tmp_path / "bad.toml", '\n"mat*" = { flop = 1 }'))
    assert main(["check", profile, "--chip", chip_file(tmp_path), "--work", bad]) == 2
    assert "bad.toml: line 2: 'mat*': a rule without op has no key 'flop'" in capsys.readouterr().err
    assert main(["read", profile, "--work", rules]) == 0
    assert "2 GFLOP" in capsys.readouterr().out


def test_the_schema_is_one_and_says_what_each_key_is() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert {"kernels", "program", "baseline", "other_chips", "model"} <= set(SCHEMA["required"])


def test_a_plan_has_steps_with_gains_evidence_and_checks(capsys: Capture, mine: list[str]) -> None:
    assert document(capsys, *mine)["plan"] is None
    plan = document(capsys, *mine, "--plan")["plan"]
    (step,) = plan["steps"]
    assert (step["kind"], step["kernels"], step["gain_s"], step["gain_share"]) == ("kernel", ["matmul"], 1.0, 0.25)
    assert [fact["unit"] for fact in step["evidence"]] == ["1", "s"]
    assert step["check"].startswith("Run it with a lower clock")
    assert plan["not_listed"] == 0
    assert main(["check", *mine, "--plan"]) == 0
    out = capsys.readouterr().out
    assert "Step 1, at most 1 s, 25 % of the time: matmul: compute-bound, below its roof" in out
    for word in ("  Try: ", "  Evidence: ", "  Check: "):
        assert word in out
    for note in {*plan["notes"]} - {*document(capsys, *mine, "--plan")["notes"]}:
        assert note in " ".join(out.split())
    assert document(capsys, *mine, "--plan", "--top", "1", "--memory", "all")["plan"]["not_listed"] == 0


def test_a_clock_lowers_the_roofs(capsys: Capture, tmp_path: Path) -> None:
    profile = profile_file(tmp_path, "matmul,1e14,1e11,2")
    at_its_own = document(capsys, profile, "--chip", "h100-sxm")
    capped = document(capsys, profile, "--chip", "h100-sxm", "--clock", "0.99GHz")
    assert capped["chip"]["peak_flops"] == at_its_own["chip"]["peak_flops"] / 2
    assert capped["chip"]["name"].endswith(" at 990 MHz")
    assert main(["check", profile, "--chip", "b300", "--clock", "1 GHz"]) == 2
    assert "has no clock" in capsys.readouterr().err


def test_a_plan_is_part_of_the_summary_of_a_ci_run(
    capsys: Capture, mine: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    main(["check", *mine, "--plan"])
    capsys.readouterr()
    assert "- Step 1, at most 1 s, 25 % of the time: matmul" in text_of(tmp_path / "summary.md")
    assert "  - Check: " in text_of(tmp_path / "summary.md")


MODEL = """
from roofwidget import Graph
tail = Graph("tail")
x = tail.input("x", (1000, 1000), "bf16")
tail.output(tail.relu(tail.relu(x)))
"""


def test_the_profile_is_compared_with_four_times_of_its_model(capsys: Capture, mine: list[str], tmp_path: Path) -> None:
    model = str(write(tmp_path / "model.py", MODEL))
    found = document(capsys, *mine, "--model", model)["model"]
    assert [found["file"], found["graph"], found["how"]] == [model, "tail", "optimal"]
    # Two ops that each read and write 1,000,000 numbers of 2 B, and one kernel of both, at 1 TB/s.
    assert found["unfused"] == {"time_s": pytest.approx(8e-6), "bytes": 8_000_000}
    for word in ("compiler", "best", "light"):
        assert found[word] == {"time_s": pytest.approx(4e-6), "bytes": 4_000_000}
    assert main(["check", *mine, "--model", model]) == 0
    # The profile takes 4 s.
    assert "unfused   8 µs  8 MB   500000×            one kernel per op" in capsys.readouterr().out
    assert document(capsys, *mine)["model"] is None


@pytest.mark.parametrize("name", WITH_CHIP)
def test_each_fixture_that_names_a_chip_is_judged_and_its_json_is_of_the_schema(capsys: Capture, name: str) -> None:
    found = document(capsys, str(FIXTURES / name), "--on", "b200")
    assert found["verdict"] == "fine"
    assert found["program"]["judged_kernels"] > 0
    gains = [one["headroom_s"] for one in found["kernels"] if one["headroom_s"] is not None and not one["above_roof"]]
    assert gains == sorted(gains, reverse=True)
    assert main(["check", str(FIXTURES / name)]) == 0


@pytest.mark.parametrize("name", [*WITHOUT_ANSWER, "none.csv"])
def test_a_file_without_an_answer_gives_status_2_and_one_sentence_that_names_it(capsys: Capture, name: str) -> None:
    assert main(["check", str(FIXTURES / name)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert str(FIXTURES / name) in said.err


def test_a_broken_table_names_the_file_the_row_and_the_column(capsys: Capture, tmp_path: Path) -> None:
    path = profile_file(tmp_path, "matmul,1e14,1e11,2\ncopy,many,2e12,2")
    assert main(["check", path, "--chip", "h100-sxm"]) == 2
    assert f"{path}: row 3, column 'flops'" in capsys.readouterr().err


def test_a_profile_without_a_chip_says_how_to_name_one(capsys: Capture, mine: list[str]) -> None:
    assert main(["check", mine[0]]) == 2
    assert "--chip h100-sxm" in capsys.readouterr().err


def test_the_numbers_are_those_of_the_roofline(capsys: Capture, mine: list[str]) -> None:
    found = document(capsys, *mine)
    assert found["program"] == {
        "kernels": 2,
        "judged_kernels": 2,
        "time_s": 4.0,
        "judged_time_s": 4.0,
        "bound_time_s": 3.0,
        "headroom_s": 1.0,
        "utilization": 0.75,
        "known_share": 1.0,
    }
    first = found["kernels"][0]
    assert (first["name"], first["utilization"], first["headroom_s"], first["bound_by"]) == (
        "matmul",
        0.5,
        1.0,
        "compute",
    )
    assert first["time_share"] == 0.5
    assert [one["done"] for one in found["kernels"]] == [False, True]


@pytest.mark.parametrize(("limit", "status"), [("75%", 0), ("0.75", 0), ("75.1%", 1), ("90 %", 1)])
def test_less_of_the_roof_than_the_limit_gives_status_1(
    mine: list[str], capsys: Capture, limit: str, status: int
) -> None:
    assert main(["check", *mine, "--fail-below", limit]) == status
    assert ("Below: " in capsys.readouterr().out) == bool(status)


def test_a_limit_for_each_kernel_names_those_below(mine: list[str], capsys: Capture) -> None:
    assert main(["check", *mine, "--fail-below", "60%", "--each"]) == 1
    assert "1 kernel reaches less than 60 % of the roof: matmul (50 %)" in capsys.readouterr().out
    assert main(["check", *mine, "--fail-below", "50%", "--each"]) == 0


def test_a_share_just_below_the_limit_does_not_look_like_it(tmp_path: Path, mine: list[str], capsys: Capture) -> None:
    assert main(["check", *mine, "--fail-below", "0.7501"]) == 1
    assert "reach 75 % of their roofs, less than 75.01 %" in " ".join(capsys.readouterr().out.split())
    near = profile_file(tmp_path, "matmul,1e14,1e11,2.0002\ncopy,0,2e12,2", "near.csv")
    assert main(["check", near, *mine[1:], "--fail-below", "75%"]) == 1
    assert "reach 74.996 % of their roofs, less than 75 %" in " ".join(capsys.readouterr().out.split())


def test_only_some_kernels_can_be_checked(mine: list[str], capsys: Capture) -> None:
    assert main(["check", *mine, "--fail-below", "60%", "--only", "mat*"]) == 1
    assert main(["check", *mine, "--fail-below", "60%", "--only", "copy"]) == 0
    capsys.readouterr()
    assert main(["check", *mine, "--only", "flash"]) == 2
    assert "no kernel has a name with 'flash'; the longest are 'matmul', 'copy'" in capsys.readouterr().err


def test_as_many_kernels_are_listed_as_asked_for(mine: list[str], capsys: Capture) -> None:
    found = document(capsys, *mine, "--top", "1")
    assert (len(found["kernels"]), found["not_listed"]) == (1, 1)
    main(["check", *mine, "--top", "1"])
    assert "… and 1 more" in capsys.readouterr().out


def test_launches_of_like_work_are_added_and_others_are_not(tmp_path: Path, capsys: Capture) -> None:
    rows = "a,1e14,1e11,2\na,1.01e14,1e11,2\na,2e13,1e12,2"
    found = document(capsys, profile_file(tmp_path, rows), "--chip", chip_file(tmp_path))
    assert [(one["name"], one["launches"], one["bound_by"]) for one in found["kernels"]] == [
        ("a", 2, "compute"),
        ("a", 1, "HBM"),
    ]


def test_a_kernel_above_its_roof_counts_for_nothing_and_is_named(tmp_path: Path, capsys: Capture) -> None:
    path, chip = profile_file(tmp_path, "matmul,1e14,1e11,2\nfast,1e14,1e11,0.5"), chip_file(tmp_path)
    found = document(capsys, path, "--chip", chip)
    assert found["program"]["utilization"] == 0.5
    assert found["kernels"][-1]["above_roof"] is True
    main(["check", path, "--chip", chip])
    assert "above its roof" in capsys.readouterr().out


def test_a_slower_kernel_gives_status_1_only_beyond_the_limit(tmp_path: Path, mine: list[str], capsys: Capture) -> None:
    old = profile_file(tmp_path, "matmul,1e14,1e11,1.5\ncopy,0,2e12,2\ngone,1,1,1", "old.csv")
    assert main(["check", *mine, "--baseline", old]) == 0
    out = capsys.readouterr().out
    assert "slower" in out
    assert "only before: gone" in out
    assert main(["check", *mine, "--baseline", old, "--fail-slower", "40%"]) == 0
    capsys.readouterr()
    found = document(capsys, *mine, "--baseline", old, "--fail-slower", "5%")
    assert found["reasons"] == ["1 kernel is slower than before by more than 5 %: matmul (1.3× the time, 2 s)"]
    assert found["baseline"]["kernels"][0]["verdict"] == "slower"
    assert found["baseline"]["only_before"] == ["gone"]


def test_runs_without_a_kernel_or_a_time_in_common_cannot_be_compared(
    tmp_path: Path, mine: list[str], capsys: Capture
) -> None:
    other = profile_file(tmp_path, "another,1,1,1", "other.csv")
    assert main(["check", *mine, "--baseline", other]) == 2
    assert f"{other} have no kernel in common" in capsys.readouterr().err
    untimed = profile_file(tmp_path, "matmul,1e14,1e11,\ncopy,0,2e12,", "untimed.csv")
    assert main(["check", *mine, "--baseline", untimed]) == 0
    assert main(["check", *mine, "--baseline", untimed, "--fail-slower", "5%"]) == 2
    assert "no kernel with two times of the same work" in capsys.readouterr().err


def test_the_text_fits_the_columns_of_the_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(FIXTURES)
    for name in WITH_CHIP:
        main(["check", name, "--on", "b200", "--baseline", name])
        for line in capsys.readouterr().out.splitlines():
            assert len(line) <= 80, line


def test_other_chips_have_the_projected_time_fastest_first(mine: list[str], capsys: Capture) -> None:
    found = document(capsys, *mine, "--on", "a100-sxm-80gb", "--on", "b200")
    assert [one["id"] for one in found["other_chips"]] == ["a100-sxm-80gb", "b200"]
    a100 = found["other_chips"][0]
    # The matmul keeps half of 312 TFLOP/s, the copy all of 2.039 TB/s.
    assert a100["time_s"] == pytest.approx(2e14 / 312e12 + 2e12 / 2.039e12)
    main(["check", *mine, "--on", "a100-sxm-80gb", "--on", "b200"])
    out = capsys.readouterr().out
    assert out.index("NVIDIA B200") < out.index("NVIDIA A100")


def test_a_chip_without_the_precision_takes_its_own_and_says_so(tmp_path: Path, capsys: Capture) -> None:
    chip = tmp_path / "half.toml"
    text = '[[chips]]\nname = "Half"\npeak_flops.fp16 = "100 TFLOP/s"\nmemories.HBM = "1 TB/s"\n'
    write(chip, text)
    path = profile_file(tmp_path, "matmul,1e14,1e11,2")
    (found,) = document(capsys, path, "--chip", str(chip), "--on", "v5p")["other_chips"]
    assert found["precision"] == "bf16"
    assert found["time_s"] == pytest.approx(2e14 / 459e12)
    assert "TPU v5p has no fp16" in found["notes"][0]


def test_the_summary_of_a_ci_run_gets_markdown_in_which_names_are_no_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    summary = write(tmp_path / "summary.md", "before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    path = profile_file(tmp_path, "a|b <img> `x` @someone #7,1e14,1e11,2")
    assert main(["check", path, "--chip", chip_file(tmp_path), "--fail-below", "60%"]) == 1
    text = text_of(summary)
    assert text.startswith("before\n### ❌ Roofline of ")
    row = next(line for line in text.splitlines() if line.startswith("| 1 |"))
    assert row.count("|") == 8
    assert "<img>" not in text
    assert "@someone" not in text
    assert "Below: the kernels together reach 50 %" in text
    assert "###" not in capsys.readouterr().out


def test_the_headline_leads_the_text_the_markdown_and_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    path = write(
        tmp_path / "profile.csv",
        "name,category,flops,bytes,time (s)\nmatmul,matrix product,1e14,1e11,2\nidle,idle,,,8\n",
    )
    given = [str(path), "--chip", chip_file(tmp_path)]
    headline = "The chip is idle 80 % of the time."
    detail = (
        "Kernels run 2 s of 10 s, in one launch. The one to fix first could save up to 1 s; at every roof 1 s would "
        "remain."
    )
    monkeypatch.setenv("COLUMNS", "200")
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert main(["check", *given]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [headline, detail, "", str(path)]
    assert text_of(summary).splitlines()[2] == f"**{headline}** {detail}"
    found = document(capsys, *given)["summary"]
    assert found == {"rule": "idle", "headline": headline, "detail": detail, "is_alert": False}


def test_the_largest_unknown_work_follows_the_headline_with_what_is_missing_and_a_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    kernels = "matmul,,1e14,1e11,1\nvery long,,,,5\nmine,,,1e9,2\nmore,,,,1\nother,,,,1\nidle,idle,,,10\n"
    path = write(tmp_path / "profile.csv", f"name,category,flops,bytes,time (s)\n{kernels}")
    given = [str(path), "--chip", chip_file(tmp_path)]
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["check", *given]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:6] == [
        "Unknown: very long, 50 % of kernel time; missing: FLOPs and bytes",
        "Unknown: mine, 20 % of kernel time; missing: FLOPs",
        "Unknown: more, 10 % of kernel time; missing: FLOPs and bytes",
        "Unknown: 1 more; 'roofwidget check --json' lists them",
    ]
    found = document(capsys, *given)
    assert found["program"]["known_share"] == pytest.approx(0.1)
    assert [row["name"] for row in found["unknown_work"]["rows"]] == ["very long", "mine", "more", "other"]
    assert main(["show", *given, "--width", "100", "--height", "30"]) == 0
    drawn = capsys.readouterr().out.splitlines()
    assert drawn[1].startswith("Unknown: very long, 50 % of kernel time")
    assert len(drawn) <= 30


def test_unknown_work_of_a_trace_has_the_proposed_rule_in_a_line_of_its_own(tmp_path: Path, capsys: Capture) -> None:
    sizes = {"Input Dims": [[64, 32], [16, 32], [64, 16]], "Input type": ["c10::BFloat16"] * 3}
    known = {"Input Dims": [[5, 11], [11, 7]], "Input type": ["c10::BFloat16"] * 2}
    data = trace(op("mine::mlp", 100, [("k", 30)], **sizes), op("aten::mm", 300, [("g", 10)], **known))
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    given = [str(path), "--chip", chip_file(tmp_path)]
    rule = '"mine::mlp" = { op = "linear", x = 0, weight = 1, out = 2 }'
    (row,) = document(capsys, *given)["unknown_work"]["rows"]
    assert (row["missing"], row["rule"]) == ("a rule for this operation", rule)
    assert main(["check", *given]) == 0
    assert f"\n  {rule}\n" in capsys.readouterr().out


def test_captures_of_graphs_are_an_option_of_check_show_and_read(tmp_path: Path, capsys: Capture) -> None:
    for name, data in (("step", trace_of(*replayed())), ("a4", trace_of(*captured(4))), ("b8", trace_of(*captured(8)))):
        (tmp_path / f"{name}.json").write_bytes(data)
    patterns = ["--captures", str(tmp_path / "a*.json"), "--captures", str(tmp_path / "b8.json")]
    given = [str(tmp_path / "step.json"), *patterns]
    assert main(["read", str(tmp_path / "step.json")]) == 0
    assert "mine::gemm" not in capsys.readouterr().out
    assert main(["read", *given]) == 0
    assert "mine::gemm" in capsys.readouterr().out
    chip = ["--chip", chip_file(tmp_path)]
    assert "aten::mm" in [one["name"] for one in document(capsys, *given, *chip)["kernels"]]
    assert main(["show", *given, *chip]) == 0
    assert "aten::mm" in capsys.readouterr().out
    assert main(["check", given[0], "--captures", "none*.json", *chip]) == 2
    assert "no file of captures matches 'none*.json'" in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "status"), [("25%", 0), ("0.26", 1), ("80%", 1)])
def test_less_known_work_than_the_limit_gives_status_1(
    tmp_path: Path, capsys: Capture, limit: str, status: int
) -> None:
    given = [profile_file(tmp_path, "matmul,1e14,1e11,2\nmine,,,6"), "--chip", chip_file(tmp_path)]
    found = document(capsys, *given, "--min-known", limit)
    assert (found["exit_status"], len(found["reasons"])) == (status, status)
    assert main(["check", *given, "--min-known", limit]) == status
    said = capsys.readouterr().out.splitlines()[-1]
    assert "the roof is known for" in said
    assert said.startswith("Below: " if status else "Fine: ")


def test_a_rule_of_work_that_gives_no_kernel_its_work_is_named_in_a_note(tmp_path: Path, capsys: Capture) -> None:
    profile = profile_file(tmp_path, "matmul,,,2\ncopy,0,2e12,2")
    lines = ['"mat*" = { flops = 1e12, bytes = 1e9 }', '"matmull" = { flops = 1 }', '"copy" = { flops = 1 }']
    rules = write(tmp_path / "rules.toml", "\n".join(lines))
    notes = document(capsys, profile, "--chip", chip_file(tmp_path), "--work", str(rules))["notes"]
    (note,) = (note for note in notes if note.startswith("rules.toml: no kernel got its work from"))
    assert note.endswith("from 'matmull', 'copy': no operation has such a name, or its work was known")
    rules.write_text(lines[0], encoding="utf-8")
    notes = document(capsys, profile, "--chip", chip_file(tmp_path), "--work", str(rules))["notes"]
    assert not any("no kernel got" in note for note in notes)


def test_with_a_baseline_the_headline_compares_the_runs(tmp_path: Path, mine: list[str], capsys: Capture) -> None:
    old = profile_file(tmp_path, "matmul,1e14,1e11,3\ncopy,0,2e12,2", "old.csv")
    found = document(capsys, *mine, "--baseline", old)["summary"]
    assert (found["rule"], found["headline"]) == ("runs", "20 % less time: 5 s before, 4 s now.")
    assert found["detail"] == "1 kernel faster (−1 s), 1 the same within 1 %. All 2 kernels are in both runs."


@pytest.mark.parametrize("given", ["60 percent", "-1", "0", "160%", "nan"])
def test_an_absurd_limit_is_refused_with_an_example(mine: list[str], capsys: Capture, given: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["check", *mine, f"--fail-below={given}"])
    assert stopped.value.code == 2
    assert "write for example 60% or 0.6" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "needed"), [(["--fail-slower", "5%"], "--baseline"), (["--each"], "--fail-below")])
def test_an_option_without_the_one_that_it_needs_is_refused(
    mine: list[str], capsys: Capture, option: list[str], needed: str
) -> None:
    assert main(["check", *mine, *option]) == 2
    assert needed in capsys.readouterr().err


def test_a_misspelt_chip_names_the_nearest(mine: list[str], capsys: Capture) -> None:
    assert main(["check", mine[0], "--chip", "h100-smx"]) == 2
    err = capsys.readouterr().err
    assert "'h100-sxm'" in err
    assert "roofwidget chips" in err


def test_one_phase_of_a_trace_is_checked_and_the_warm_up_that_is_left_out_is_named(
    capsys: Capture, tmp_path: Path
) -> None:
    events: list[dict[str, object]] = []
    # Three steps of 100 us on the host after one of 500 us. Each launches a product forward and one backward.
    for at, (begin, long) in enumerate([(0, 500), (600, 100), (700, 100), (800, 100)]):
        events.append({"cat": "user_annotation", "name": f"ProfilerStep#{at}", "ts": begin, "dur": long, "tid": 1})
        for kernel, name, start in (
            ("f", "aten::mm", 10),
            ("b", "MmBackward0", 40),
        ):
            number = 100 * at + start
            shapes = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::BFloat16"] * 2}
            events += [
                {"cat": "cpu_op", "name": name, "ts": begin + start, "dur": 20, "tid": 1, "args": shapes},
                {"cat": "cpu_op", "name": "aten::mm", "ts": begin + start, "dur": 19, "tid": 1, "args": shapes},
                {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": begin + start + 1, "dur": 1, "tid": 1}
                | {"args": {"correlation": number}},
                {"cat": "kernel", "name": kernel, "ts": 2000 + begin + start, "dur": 3, "tid": 7, "pid": 0}
                | {"args": {"device": 0, "stream": 7, "correlation": number}},
            ]
    whole = [{"ph": "X", "pid": 1, "args": {}, **event} for event in events]
    trace = str(write(tmp_path / "step.json", json.dumps({"schemaVersion": 1, "traceEvents": whole})))
    mine = [trace, "--chip", chip_file(tmp_path)]
    assert main(["check", *mine, "--phase", "backward"]) == 0
    said = capsys.readouterr().out
    # The step of 500 us is left out: three of four products.
    assert "note: only kernels of the phase 'backward' count" in said
    assert "mm ×3" in said
    assert "note: warm-up is left out: iteration '0' took more than 2 times the median iteration" in " ".join(
        said.split()
    )
    found = document(capsys, *mine, "--phase", "backward", "--phase", "forward")
    assert sum(one["launches"] for one in found["kernels"] if one["name"] == "aten::mm") == 6
    assert main(["read", trace, "--phase", "forward"]) == 0
    assert "format 'torch', 1 row," in capsys.readouterr().out
    assert main(["check", *mine, "--phase", "decode"]) == 2
    assert "no kernel is of the phase 'decode': the phases are 'forward', 'backward'" in capsys.readouterr().err


def test_the_measured_rates_of_a_chip_can_judge(capsys: Capture, tmp_path: Path) -> None:
    file = profile_file(tmp_path, "gemm,1e12,1e9,0.1")
    printed = document(capsys, file, "--chip", "h100-sxm")["chip"]["peak_flops"]
    achieved = document(capsys, file, "--chip", "h100-sxm", "--peaks", "achievable")["chip"]
    measured = rw.chip("h100-sxm").measured_rates["peak_flops.bf16"].rate
    assert (printed, achieved["peak_flops"]) == (rw.chip("h100-sxm").peak("bf16"), measured)
    assert main(["check", file, "--chip", chip_file(tmp_path), "--peaks", "achievable"]) == 2
    assert "Mine has no measured peak or bandwidth" in capsys.readouterr().err


def test_a_chip_other_than_that_of_the_profile_is_said(capsys: Capture) -> None:
    trace = str(FIXTURES / "gpu" / "block_eager.json.gz")
    assert main(["check", trace, "--chip", "mi300x"]) == 0
    said = "ran on NVIDIA H100 SXM5 80GB, and --chip judges it by AMD Instinct MI300X"
    assert said in capsys.readouterr().err
    assert main(["check", trace, "--chip", "h100-sxm"]) == 0
    assert capsys.readouterr().err == ""


def test_the_file_that_was_read_of_a_folder_is_named_and_one_that_was_given_is_not_named_again(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    file = str(tmp_path / "runs")
    (tmp_path / "runs").mkdir()
    for name, events in (("step", replayed()), ("capture", captured())):
        (tmp_path / "runs" / f"{name}.trace.json").write_bytes(trace_of(*events))
    assert main(["check", file, "--chip", "h100-sxm"]) == 0
    assert f"{file}, from which 'step.trace.json' was read" in capsys.readouterr().out
    assert document(capsys, file, "--chip", "h100-sxm")["read"] == "step.trace.json"
    alone = str(tmp_path / "runs" / "step.trace.json")
    assert main(["check", alone, "--chip", "h100-sxm"]) == 0
    assert "from which" not in capsys.readouterr().out


def test_all_notes_can_be_printed(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, read = profile_file(tmp_path, "gemm,1e12,1e9,0.1"), rw.read
    notes = [f"note {number}" for number in range(9)]
    monkeypatch.setattr(
        "roofwidget.cli.several.read", lambda *args, **more: read(*args, **more).replace(warnings=notes)
    )
    assert main(["check", file, "--chip", "h100-sxm"]) == 0
    few = capsys.readouterr().out.splitlines()
    assert [line for line in few if line.startswith("note: ")] == [
        *(f"note: note {number}" for number in range(6)),
        "note: … and 3 more; --all-notes prints them",
    ]
    assert main(["check", file, "--chip", "h100-sxm", "--all-notes"]) == 0
    every = capsys.readouterr().out.splitlines()
    assert [line for line in every if line.startswith("note: ")] == [f"note: {one}" for one in notes]


def unnamed_device(tmp_path: Path) -> str:
    """Return a trace whose device has no name, and the memory and units of an MI300X."""
    device = {"id": 0, "name": "", "totalGlobalMem": 206_141_652_992, "numSms": 304}
    args = {"External id": 1, "Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::BFloat16"] * 2}
    events = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": args},
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 5, "dur": 4, "args": {"device": 0, "External id": 1}},
    ]
    write(path := tmp_path / "trace.json", json.dumps({"deviceProperties": [device], "traceEvents": events}))
    return str(path)


def test_a_device_without_a_name_has_the_chip_with_its_memory_and_units_as_the_example(
    capsys: Capture, tmp_path: Path
) -> None:
    file = unnamed_device(tmp_path)
    assert main(["check", file]) == 2
    said = capsys.readouterr().err
    assert "its kernels have no roof: its memory and units are those of 'mi300x'; say which chip they ran on" in said
    assert "--chip mi300x" in said


def test_a_chip_with_another_memory_or_other_units_than_the_device_is_said(capsys: Capture, tmp_path: Path) -> None:
    file = unnamed_device(tmp_path)
    said = f"{file}: --chip judges it by NVIDIA H100 SXM5 80GB; its memory and units are those of 'mi300x'"
    for chip, is_said in (("h100-sxm", True), ("mi300x", False), (chip_file(tmp_path), False)):
        assert main(["check", file, "--chip", chip]) == 0
        err = capsys.readouterr().err
        assert (said in err) == ("judges it" in err) == is_said


def test_a_tar_archive_is_refused_in_words(capsys: Capture, tmp_path: Path) -> None:
    write(tmp_path / "trace.json", "{}")
    with tarfile.open(tmp_path / "both.tgz", "w:gz") as archive:
        archive.add(tmp_path / "trace.json", "trace.json")
    assert main(["check", str(tmp_path / "both.tgz")]) == 2
    assert "a tar archive, which is not opened: unpack it into a folder" in capsys.readouterr().err
