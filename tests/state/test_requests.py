"""Requests of pages: the catalogue, files in parts, paths, and what is refused."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest

import roofwidget as rw
from roofwidget.export.engine import Style
from roofwidget.state.requests import _MAX_KEPT_BYTES, EXPIRY_SECONDS, MAX_FILE_BYTES, page_request
from tests.places import FIXTURES, write

ROCPROF = FIXTURES / "rocprof" / "gfx90a"
PROFILE = b"name,flops,bytes,time (us)\nmatmul,4.3e9,1.2e7,31\ncopy,0,8e6,9\n"


class Page:
    """A page that asks, and hears the replies to its requests."""

    def __init__(self, widget: rw.RooflineWidget, monkeypatch: pytest.MonkeyPatch) -> None:
        self.widget = widget
        self.number = 0
        self.replies: list[dict[str, Any]] = []
        monkeypatch.setattr(widget.comm, "send", self._hear)

    def _hear(self, data: dict[str, Any], **_: Any) -> None:
        if data["method"] == "custom":
            self.replies.append(data["content"])

    def asks(self, data: bytes | None = None, *, page: str = "page", number: int | None = None, **asked: Any) -> Any:
        """Send a request, and return what the reply says."""
        self.number = self.number + 1 if number is None else number
        content = {"kind": "roofwidget-request", "page": page, "number": self.number, **asked}
        buffers = [] if data is None else [memoryview(data)]
        self.widget._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": buffers})
        reply = dict(self.replies[-1])
        assert [reply.pop(key) for key in ("kind", "page", "number")] == ["roofwidget-reply", page, self.number]
        return reply

    def sends(self, name: str, data: bytes, part: int = 32) -> None:
        """Send a file in parts."""
        for offset in range(0, len(data), part):
            piece = data[offset : offset + part]
            reply = self.asks(piece, ask="part", name=name, size=len(data), offset=offset)
            assert reply == {"received": offset + len(piece)}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    yield Page(rw.roofline("v5p", [("old", 1e9, 1e6, 1e-3)], open_files="folder"), monkeypatch)
    ipywidgets.Widget.close_all()


def test_the_catalogue_has_every_chip_with_its_rates_and_travels_in_15_kb(page: Page) -> None:
    packed = page.asks(ask="catalogue")["catalogue"]
    assert len(packed) < 15_000
    sent = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert [chip["id"] for chip in sent] == [chip.id for chip in rw.chips()]
    assert [dict(chip["peaks"]) for chip in sent] == [dict(chip.peak_flops) for chip in rw.chips()]
    assert [dict(chip["memories"]) for chip in sent] == [
        {memory.name: memory.bandwidth for memory in chip.memories.values()} for chip in rw.chips()
    ]


def test_a_file_whose_reading_is_interrupted_is_refused_and_not_read_again(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []

    def interrupted(given: Any) -> None:
        read.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr("roofwidget.readers.read", interrupted)
    page.sends("run.csv", PROFILE)
    assert page.asks(ask="show", compare=False) == {"refused": "KeyboardInterrupt"}
    assert page.asks(ask="show", compare=False, number=page.number) == {"refused": "KeyboardInterrupt"}
    assert len(read) == 1


def test_a_file_that_arrives_in_parts_is_shown(page: Page) -> None:
    page.sends("run.csv", PROFILE)
    assert page.asks(ask="show", compare=False) == {"shown": 2}
    assert page.widget.kernels.names.tolist() == ["matmul", "copy"]
    assert page.widget.baseline is None


def test_a_second_file_is_compared_with_what_is_shown(page: Page) -> None:
    page.sends("run.csv", PROFILE)
    page.asks(ask="show", compare=True)
    assert page.widget.baseline is not None
    assert page.widget.baseline.names.tolist() == ["old"]


def test_several_files_are_shown_as_series_named_after_them(page: Page) -> None:
    for name, is_beside in (("one.csv", False), ("two.csv", True)):
        sent: dict[str, Any] = {"ask": "part", "name": name, "size": len(PROFILE), "offset": 0, "beside": is_beside}
        assert page.asks(PROFILE, **sent) == {"received": len(PROFILE)}
    assert page.asks(ask="show", compare=False) == {"shown": 4}
    kernels = page.widget.kernels
    assert kernels.series
    assert list(zip(kernels.category, kernels.names, strict=True)) == [
        ("one.csv", "matmul"),
        ("one.csv", "copy"),
        ("two.csv", "matmul"),
        ("two.csv", "copy"),
    ]
    assert kernels.source == "one.csv, two.csv"
    # A file that is not beside the others replaces them.
    page.sends("three.csv", PROFILE)
    assert page.asks(ask="show", compare=False) == {"shown": 2}


def test_a_page_opens_at_most_64_files_at_once(page: Page) -> None:
    sent: dict[str, Any] = {"ask": "part", "name": "a.csv", "size": 0, "offset": 0, "beside": True}
    assert [page.asks(b"", **sent) for _ in range(64)] == [{"received": 0}] * 64
    assert page.asks(b"", **sent)["refused"].startswith("a page opens at most 64 files at once")


def test_the_runs_of_a_comparison_change_places_and_a_comparison_ends(page: Page) -> None:
    page.sends("run.csv", PROFILE)
    page.asks(ask="show", compare=True)
    assert page.asks(ask="swap") == {}
    assert page.widget.baseline is not None
    assert (page.widget.baseline.names.tolist(), page.widget.kernels.names.tolist()) == (["matmul", "copy"], ["old"])
    assert page.asks(ask="stop") == page.asks(ask="swap") == {}
    ended: rw.Kernels | None = page.widget.baseline
    assert ended is None
    assert page.widget.kernels.names.tolist() == ["old"]


def test_an_example_is_shown_on_the_chip_that_it_ran_on(page: Page) -> None:
    assert page.asks(ask="example") == {"shown": 36}
    kernels = page.widget.kernels
    assert (page.widget.focus_chip, kernels.source) == ("h100-sxm", "example.csv")
    # The example does not tell phases apart.
    recorded = rw.read(FIXTURES / "gpu" / "block_training.json.gz").groupby("name", "shape", "dtype")
    assert kernels.names.tolist() == recorded.names.tolist()
    assert kernels.time == pytest.approx(recorded.time, rel=1e-5)


def test_a_repeated_request_is_done_once_and_gets_the_same_reply(page: Page) -> None:
    first: dict[str, Any] = {"ask": "part", "name": "run.csv", "size": len(PROFILE), "offset": 0}
    assert page.asks(PROFILE, **first, number=1) == page.asks(PROFILE, **first, number=1) == {"received": len(PROFILE)}
    assert page.asks(ask="show", compare=False, number=2) == {"shown": 2}
    page.widget.kernels = rw.Kernels()
    assert page.asks(ask="show", compare=False, number=2) == {"shown": 2}
    assert len(page.widget.kernels) == 0


def test_two_pages_send_their_files_at_the_same_time(page: Page) -> None:
    halves = PROFILE[:40], PROFILE[40:]
    for name in ("one", "two"):
        page.asks(halves[0], page=name, ask="part", name=f"{name}.csv", size=len(PROFILE), offset=0)
    for name in ("one", "two"):
        page.asks(halves[1], page=name, ask="part", name=f"{name}.csv", size=len(PROFILE), offset=40)
        assert page.asks(page=name, ask="show", compare=False) == {"shown": 2}
        assert page.widget.kernels.source.startswith(f"{name}.csv")


def test_a_refusal_has_the_readers_own_words_and_changes_nothing(page: Page) -> None:
    page.sends("broken.csv", PROFILE.replace(b"1.2e7", b"lots"))
    reason = page.asks(ask="show", compare=False)["refused"]
    assert "broken.csv" in reason
    assert "'lots'" in reason
    assert page.widget.kernels.names.tolist() == ["old"]


@pytest.mark.parametrize(
    ("request_of", "reason"),
    [
        ({"ask": "show", "compare": False}, "a part of the file is missing: open the file again"),
        ({"ask": "part", "name": "x", "size": 10, "offset": 5}, "a part of x is missing: open the file again"),
        ({"ask": "part", "name": "x", "size": MAX_FILE_BYTES + 1, "offset": 0}, "most 200 MB: open it by its path, "),
        ({"ask": "show", "path": "../x.csv"}, "../x.csv is not in the folder of the notebook: read it in a cell "),
        ({"ask": "show", "path": "/etc/passwd"}, "/etc/passwd is not in the folder of the notebook: read it in a "),
        ({"ask": "show", "path": "missing.csv"}, "missing.csv: there is no such file"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_the_reason(
    page: Page, request_of: dict[str, Any], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert reason in page.asks(**request_of)["refused"]
    assert page.widget.kernels.names.tolist() == ["old"]


def test_a_part_that_is_longer_than_its_file_is_refused(page: Page) -> None:
    assert "missing" in page.asks(b"12345", ask="part", name="x", size=3, offset=0)["refused"]


def test_a_path_in_the_working_directory_is_opened(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.csv").write_bytes(PROFILE)
    assert page.asks(ask="show", path="runs/a.csv", compare=False) == {"shown": 2}


def test_a_link_does_not_lead_out_of_the_working_directory(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.csv").write_bytes(PROFILE)
    (inside := tmp_path / "inside").mkdir()
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    monkeypatch.chdir(inside)
    assert "not in the folder" in page.asks(ask="show", path="link.csv")["refused"]


def test_very_many_unfinished_files_are_not_kept(page: Page) -> None:
    for sender in range(1000):
        assert page.asks(b"", ask="part", name="run.csv", size=1, offset=0, page=f"page {sender}") == {"received": 0}
    assert len(page.widget._requests._files) == 64
    last = page.asks(PROFILE[:1], ask="part", name="run.csv", size=1, offset=0, page="page 999")
    assert last == {"received": 1}


def test_a_profile_of_several_files_has_no_file_that_its_path_would_not_open(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run := tmp_path / "inside" / "run").mkdir(parents=True)
    (hidden := run / ".hidden").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    refused = {"refused": "run: not opened as a profile; rw.read in a cell says why"}
    shutil.copy(ROCPROF / "pmc_perf.csv", hidden)
    assert len(rw.read("run")) > 0
    assert page.asks(ask="show", path="run") == refused
    shutil.rmtree(hidden)
    for name in ("pmc_perf.csv", "sysinfo.csv", "roofline.csv"):
        shutil.copy(ROCPROF / name, tmp_path)
        (run / name).symlink_to(tmp_path / name)
    assert rw.read("run").chip is not None
    assert page.asks(ask="show", path="run") == refused
    (run / "pmc_perf.csv").unlink()
    shutil.copy(ROCPROF / "pmc_perf.csv", run)
    for path in ("run", "run/pmc_perf.csv"):
        assert rw.read(path).chip is not None
        page.asks(ask="show", path=path)
        assert page.widget.kernels.source == path
        assert page.widget.kernels.chip is None


WORDS = "SECRET_KEY=abc"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".env", ".env is a hidden file: read it in a cell with rw.read"),
        ("link.txt", "link.txt is a hidden file: read it in a cell with rw.read"),
        (".git/config", ".git/config is a hidden file: read it in a cell with rw.read"),
        (".", ".: not opened as a profile; rw.read in a cell says why"),
        ("notes.txt", "notes.txt: not opened as a profile; rw.read in a cell says why"),
        ("people.csv", "people.csv: not opened as a profile; rw.read in a cell says why"),
        ("half.json", "half.json: not opened as a profile; rw.read in a cell says why"),
        ("broken.csv", "broken.csv: not opened as a profile; rw.read in a cell says why"),
        ("store.db", "store.db: not opened as a profile; rw.read in a cell says why"),
    ],
)
def test_a_refused_path_tells_a_page_nothing_of_what_is_there(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "link.txt").symlink_to(".env")
    contents = {
        **dict.fromkeys([".env", ".git/config", "notes.txt"], WORDS),
        "people.csv": f"{WORDS},salary\nx,5\n",
        "half.json": f'{{"{WORDS}": 1, "{WORDS}": 2}}',
        "broken.csv": f"name,flops,bytes\nmatmul,{WORDS},5\n",
        "store.db": f"SQLite format 3\0{WORDS}",
    }
    for name, text in contents.items():
        write(tmp_path / name, text)
    assert page.asks(ask="show", path=path) == {"refused": reason}


def test_python_is_told_in_full_what_a_page_is_not(tmp_path: Path) -> None:
    write(tmp_path / "notes.txt", WORDS)
    with pytest.raises(rw.ProfileError, match=f"{tmp_path}.*begins with '{WORDS}'"):
        rw.read(tmp_path / "notes.txt")


def test_a_page_learns_no_absolute_path_of_the_file_that_it_opened(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.csv").write_bytes(PROFILE)
    for path in ("run.csv", str(tmp_path / "run.csv")):
        page.asks(ask="show", path=path)
        assert page.widget.kernels.source == "run.csv"
    assert str(tmp_path) not in json.dumps(page.widget.wire_state(), default=repr)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "No space left on device", "/srv/tmp/x"), "No space left on device"),
        (ImportError("cannot import name 'x' from 'y' (/srv/y.py)", path="/srv/y.py"), "ImportError"),
        (ImportError("reading this needs pyarrow"), "reading this needs pyarrow"),
    ],
)
def test_an_error_of_the_machine_names_no_path_of_it(
    page: Page, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fails(_: Any) -> None:
        raise error

    monkeypatch.setattr("roofwidget.readers.read", fails)
    page.sends("run.csv", PROFILE)
    assert page.asks(ask="show") == {"refused": told}


@pytest.mark.parametrize(
    ("kind", "metadata", "default"),
    [
        ("execute_request", {"cellId": "5c1a"}, "folder"),
        ("execute_request", {}, "uploads"),
        # A visitor writes the messages of his page.
        ("comm_msg", {"cellId": "5c1a"}, "uploads"),
        ("comm_open", {"cellId": "5c1a"}, "uploads"),
        (None, None, "uploads"),
    ],
)
def test_only_a_cell_that_a_person_runs_makes_a_widget_that_opens_paths(
    monkeypatch: pytest.MonkeyPatch, kind: str | None, metadata: dict[str, Any] | None, default: str
) -> None:
    message = {} if kind is None else {"header": {"msg_type": kind}, "metadata": metadata}
    kernel = SimpleNamespace(get_parent=lambda: message)
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=kernel))
    assert rw.RooflineModel().open_files == default
    assert rw.RooflineModel(open_files="nothing").open_files == "nothing"


@pytest.mark.parametrize("shell", [None, SimpleNamespace(), SimpleNamespace(kernel=object())])
def test_where_there_is_no_jupyter_kernel_no_paths_are_opened(monkeypatch: pytest.MonkeyPatch, shell: object) -> None:
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert rw.RooflineModel().open_files == "uploads"


@pytest.mark.parametrize(("mode", "default"), [("edit", "folder"), ("run", "uploads"), ("script", "uploads")])
def test_marimo_opens_paths_only_where_it_edits(monkeypatch: pytest.MonkeyPatch, mode: str, default: str) -> None:
    marimo = SimpleNamespace(running_in_notebook=lambda: True, app_meta=lambda: SimpleNamespace(mode=mode))
    monkeypatch.setitem(sys.modules, "marimo", marimo)
    assert rw.RooflineModel().open_files == default


@pytest.mark.parametrize(("open_files", "refused"), [("uploads", {"path"}), ("nothing", {"path", "part"})])
def test_an_author_decides_what_a_page_may_open(page: Page, open_files: str, refused: set[str]) -> None:
    page.widget.open_files = open_files
    replies = {
        "part": page.asks(PROFILE, ask="part", name="run.csv", size=len(PROFILE), offset=0),
        "path": page.asks(ask="show", path="x.csv"),
    }
    does_not = {name for name, reply in replies.items() if "does not open files" in reply.get("refused", "")}
    assert does_not == refused


def unfinished(page: Page, name: str, size: int = 100) -> None:
    """Send the first part of a file."""
    asked: dict[str, Any] = {"ask": "part", "name": f"{name}.csv", "size": size, "offset": 0}
    assert page.asks(b"name,flops", page=name, **asked) == {"received": 10}


def test_a_closed_widget_keeps_no_unfinished_file(page: Page) -> None:
    unfinished(page, "one")
    timer = page.widget._requests._timer
    assert timer is not None
    page.widget.close()
    assert page.widget._requests._files == {}
    timer.join()


def test_a_file_that_no_part_comes_of_is_forgotten_and_others_are_not(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    unfinished(page, "one")
    clock[0] += EXPIRY_SECONDS - 1
    unfinished(page, "two")
    clock[0] += 1
    page.widget._requests.expire()
    assert list(page.widget._requests._files) == ["two"]
    clock[0] += EXPIRY_SECONDS
    page.widget._requests.expire()
    assert page.widget._requests._files == {}
    assert page.widget._requests._timer is None


def test_a_timer_forgets_unfinished_files_without_another_request(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roofwidget.state.requests.EXPIRY_SECONDS", 0.01)
    unfinished(page, "one")
    while (timer := page.widget._requests._timer) is not None:
        timer.join()
    assert page.widget._requests._files == {}


def test_a_file_replaces_the_unfinished_file_of_its_page(page: Page) -> None:
    unfinished(page, "one")
    unfinished(page, "one", size=50)
    assert [file.size for files in page.widget._requests._files.values() for file in files] == [50]


def test_of_unfinished_files_of_more_than_400_mb_the_oldest_are_forgotten(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _MAX_KEPT_BYTES == 400 * 10**6
    monkeypatch.setattr("roofwidget.state.requests._MAX_KEPT_BYTES", 25)
    for name in ("one", "two", "three"):
        unfinished(page, name)
    assert list(page.widget._requests._files) == ["two", "three"]


def test_a_cancelled_file_is_forgotten(page: Page) -> None:
    page.sends("run.csv", PROFILE)
    assert page.asks(ask="cancel") == {}
    assert "missing" in page.asks(ask="show", compare=False)["refused"]


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"page": "p", "number": 1},
        {"page": "p", "number": 0, "ask": "catalogue"},
        {"page": "p", "number": True, "ask": "catalogue"},
        {"page": "", "number": 1, "ask": "catalogue"},
        {"page": "p" * 65, "number": 1, "ask": "catalogue"},
        {"page": "p", "number": 1, "ask": "delete"},
        {"page": "p", "number": 1, "ask": "show", "path": 5},
        {"page": "p", "number": 1, "ask": "show", "compare": 1},
        {"page": "p", "number": 1, "ask": "part", "size": 1.5},
        {"page": "p", "number": 1, "ask": "part", "else": 1},
    ],
)
def test_a_message_of_another_form_is_no_request(content: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has not the form"):
        page_request({"kind": "roofwidget-request", **content}, [])


def test_other_messages_are_no_requests() -> None:
    assert page_request({"kind": "roofwidget", "page": "p", "number": 1}, []) is None
    assert page_request("text", []) is None


def test_a_page_gets_the_figures_and_the_files_that_save_writes(page: Page) -> None:
    styles: tuple[tuple[Style, bool], ...] = (("paper-1col", False), ("slide", True))
    for style, caption in styles:
        reply = page.asks(ask="save", name="svg", style=style, caption=caption)
        assert reply == {"saved": page.widget.to_svg(style=style, caption=caption)}
    assert 'width="252pt" height="168pt"' in page.asks(ask="save", name="svg", style="paper-1col")["saved"]
    assert page.asks(ask="save", name="html") == {"saved": page.widget.to_html()}
    session = json.loads(page.asks(ask="save", name="json")["saved"])
    assert session == json.loads(page.widget._to_session())


def test_a_page_is_told_which_files_it_can_save(page: Page) -> None:
    assert page.asks(ask="save", name="exe") == {"refused": "a page saves svg, html or json, not exe"}
    assert "style is 'paper-1col'" in page.asks(ask="save", name="svg", style="poster")["refused"]
