"""What a page does for each move of a drag and for each key: exact counts, with a budget for each.

A page is exported, and its clock stands still between the moves: each move takes 16 ms of the page's own time, so that
panels, which follow a drag eight times a second, are updated at the same moves on every machine.
"""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import roofwidget as rw
from tests.browser.drawn import Grip, centre, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import CDPSession, Page

    from tests.browser.conftest import OpenNotebook
    from tests.browser.exported import Exported

# For each action and number of points, per move: attributes set, texts changed, elements created and removed, reads of
# geometry, which can force a layout, calls of canvases, the area that is painted on those in sight, CSS px², and the
# memory that the page's own scripts allocate, kB, within 10 %. Rows of "bare" are the floor: what canvases and a slider
# alone do, without labels, numbers and panels, see benchmarks/common/canvas.js.
# Lower a budget when its count has become lower: a failed test, or "pytest -rP", prints the row.
BUDGETS = """
action points attributes texts created removed measured drawImage putImageData  rect canvas painted   kB
roof     1000      21.12  7.88    0.17    0.12        1        50            0    14      6    2919  770
roof    10000       19.5   7.5       0       0        1         0         9.25     0      1 9109.33  860
slider   1000      17.33  9.42    0.04    0.17        0     67.58            0 22.08      6 4566.21  750
slider  10000      15.88  8.67    0.04    0.04        0         0         9.88     0      1   10752  890
kernel   1000          6     2       0       0        1         0            0     0      0       0  650
kernel  10000          6     2       0       0        1         0            0     0      0       0  500
keys     1000      14.88  5.62    0.17    0.04        0      8.67            0  2.92   6.08  606.83  780
keys    10000      14.25  5.29    0.17    0.04        0         0         5.96     0   1.38 4458.67  760
bare     1000          0     0       0       0        0         0            0     0     65  360000   10
bare    10000          0     0       0       0        0         0            0     0 463.62  360000   20
"""
NAMES, *ROWS = [line.split() for line in BUDGETS.strip().splitlines()]
KINDS = NAMES[2:]
BUDGET = {(row[0], int(row[1])): dict(zip(KINDS, map(float, row[2:]), strict=True)) for row in ROWS}

# Nothing is counted before all that a drag shows is there, and the numbers have been updated once.
MOVES_BEFORE, MOVES = 8, 24
MOVE_MS = 16
START_MS = 3000
MAX_STARTS = 100
# Allocations are sampled, on average each so many bytes; the sum is then within a tenth of what is allocated.
SAMPLING_BYTES = 1024
TOLERANCE = {kind: 1.1 if kind == "kB" else 1.0 for kind in KINDS}
# How many of the largest counts a failed test names.
NAMED = 12
# What the counts of a kind are made of, where it has another name.
LISTS = {**dict.fromkeys(("drawImage", "putImageData", "rect", "painted"), "canvas"), "kB": "allocated"}
# The script of built-in functions in profiles.
BUILT_IN = "0"

HERE = Path(__file__).parent
BARE = (HERE.parents[1] / "benchmarks" / "common" / "canvas.js").read_text(encoding="utf-8")

# FLOP/s and bytes/s. The first roof moves, from 3e15 FLOP/s down through a tenth of the points.
ROOFS = ((3e15, 1e12), (8e15, 4e12), (5e13, 5e11), (2e13, 2e12))
# FLOP/B and FLOP/s of the kernel that is dragged; no other is near.
LONE = (2e3, 3e11)
# Powers of ten of both axes.
DOMAIN = (-1.5, 4.0, 9.0, 16.5)


@functools.cache
def points(count: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Return FLOP/B, FLOP/s and seconds of points that lie evenly below a roof and above it."""
    # Shares between 0 and 1 that are the same for every version of NumPy.
    across, up, long = (np.arange(count) * step % 1 for step in (0.6180339887, 0.7548776662, 0.5698402910))
    ai = 10 ** (4 * across - 1)
    rate = np.minimum(1e14, ai * ROOFS[0][1]) * (0.05 + 0.9 * up)
    passed = slice(0, count // 10)
    rate[passed] = 10 ** (14.3 + up[passed])
    # Right of the ridge point of a roof through the point, so that only the flat of the roof passes it.
    ridge = rate[passed] / ROOFS[0][1]
    ai[passed] = ridge * (1e4 / ridge) ** across[passed]
    ai[-1], rate[-1] = LONE
    return ai, rate, 10 ** (3 * long - 6)


@functools.cache
def widget_page(count: int) -> str:
    ai, rate, time = points(count)
    chips = [rw.Chip(f"chip {at}", {"bf16": peak}, {"HBM": slope}) for at, (peak, slope) in enumerate(ROOFS)]
    kernels = rw.Kernels([f"kernel {at}" for at in range(count)], rate * time, rate * time / ai, time=time)
    widget = rw.RooflineWidget(chips, kernels)
    # A point for each kernel.
    widget.top = None
    return widget.to_html()


def bare_page(count: int) -> str:
    ai, rate, _ = points(count)
    state = {"roofs": [list(one) for one in ROOFS], "domain": list(DOMAIN)}
    columns = np.concatenate([ai, rate]).tolist()
    return f"""<!doctype html><body style="margin: 0"><script type="module">
{BARE.replace("export default", "const bare =")}
const state = {{ ...{state}, points: new Float64Array({columns}) }};
bare.render({{ model: {{ get: (name) => state[name] }}, el: document.body }});
</script>"""


def rest(page: Page, milliseconds: int) -> None:
    """Let time pass on the page, and wait until the browser has laid it out."""
    page.clock.run_for(milliseconds)
    page.evaluate("work.laidOut()")


def settle(page: Page) -> None:
    """Wait until the page is at rest. From then on it is idle as soon as it may be."""
    # The browser tells the page its size in its own time: after that, the clock of the page must go on.
    slider = page.get_by_role("slider")
    for _ in range(MAX_STARTS):
        rest(page, START_MS)
        if slider.count() > 0:
            break
    page.evaluate("() => { window.requestIdleCallback = (act) => setTimeout(act); }")


def watch(page: Page) -> None:
    page.context.add_init_script(path=HERE / "work.js")
    page.clock.install(time=0)
    # The clock runs until it is here: on a busy machine for seconds.
    page.clock.pause_at(3600)


def grabbed(opened: Exported, action: str) -> Callable[[int], object]:
    """Take hold of something, and return what moves it on: a rate by a factor of 0.92, a kernel 4 px to the left."""
    page = opened.page
    if action in ("slider", "bare"):
        slider = page.get_by_role("slider").first
        grip = Grip(slider)
        decades = slider.evaluate("({ min, max }) => max - min")
        return lambda move: grip.to(grip.share - 0.036 * move / decades)
    drawn = opened.drawn
    if action == "keys":
        drawn.slider("peak").focus()
        return lambda _: page.keyboard.press("ArrowLeft")
    x, y = centre(drawn.locator("[data-part=peak]")) if action == "roof" else drawn.place(*LONE)
    page.mouse.move(x, y)
    page.mouse.down()
    if action == "roof":
        return lambda move: page.mouse.move(x, y + 2 * move)
    return lambda move: page.mouse.move(x - 4 * move, y)


def own_scripts(session: CDPSession) -> set[str]:
    """Return the scripts of the page, without those that drive it and count."""
    found: list[str] = []
    session.on("Debugger.scriptParsed", lambda script: found.append(script["scriptId"]))
    session.send("Debugger.enable")
    texts = {one: session.send("Debugger.getScriptSource", {"scriptId": one})["scriptSource"] for one in found}
    session.send("Debugger.disable")
    return {one for one, text in texts.items() if "roofwidget" in text or "bare-canvas" in text}


def allocated(profile: dict[str, Any], own: set[str]) -> Counter[str]:
    """Return what functions of some scripts and the built-in functions that they call have allocated, bytes."""
    sums: Counter[str] = Counter()

    def add(node: dict[str, Any], caller: str) -> None:
        frame = node["callFrame"]
        if frame["scriptId"] in own:
            caller = f"{frame['functionName']}:{frame['lineNumber'] + 1}:{frame['columnNumber'] + 1}"
        elif frame["scriptId"] != BUILT_IN:
            caller = ""
        if caller:
            sums[caller] += node["selfSize"]
        for called in node["children"]:
            add(called, caller)

    add(profile["head"], "")
    return sums


def counted(opened: Exported, action: str) -> dict[str, Any]:
    """Do something in equal moves, and return what was done for those that are counted."""
    page = opened.page
    settle(page)
    session = page.context.new_cdp_session(page)
    own = own_scripts(session)
    move = grabbed(opened, action)
    for number in range(1, MOVES_BEFORE + MOVES + 1):
        if number == MOVES_BEFORE + 1:
            collected = {"includeObjectsCollectedByMajorGC": True, "includeObjectsCollectedByMinorGC": True}
            session.send("HeapProfiler.startSampling", {"samplingInterval": SAMPLING_BYTES, **collected})
            page.evaluate("work.start(document)")
        move(number)
        rest(page, MOVE_MS)
    found: dict[str, Any] = page.evaluate("work.counts()")
    profile = session.send("HeapProfiler.stopSampling")["profile"]
    page.mouse.up()
    return {**found, "allocated": allocated(profile, own)}


def totals(found: dict[str, Any]) -> dict[str, float]:
    """Return the counts of each kind for a move, as the table has them."""
    canvas = Counter(found["canvas"])
    own = {name: canvas.pop(name, 0) for name in ("drawImage", "putImageData", "rect")}
    kinds = {kind: sum(found[kind].values()) for kind in ("attributes", "texts", "created", "removed", "measured")}
    every = {
        **kinds,
        **own,
        "canvas": canvas.total(),
        "painted": found["painted"],
        "kB": found["allocated"].total() / 1000,
    }
    did = {kind: round(every[kind] / MOVES, 2) for kind in KINDS}
    return {**did, "kB": 10 * math.ceil(did["kB"] / 10)}


def largest(found: dict[str, Any], kind: str, moves: int = MOVES) -> str:
    """Return what was counted most of a kind, for a move; of allocations, bytes by function, line and column."""
    lines = [f"{number / moves:9.2f}  {name}" for name, number in Counter(found[kind]).most_common(NAMED)]
    return "\n".join([f"  {kind}", *lines])


@pytest.mark.parametrize(("action", "count"), BUDGET)
def test_a_move_does_no_more_than_its_budget(action: str, count: int, exported: Callable[..., Exported]) -> None:
    opened = exported((bare_page if action == "bare" else widget_page)(count), prepare=watch)
    found = counted(opened, action)
    did, budget = totals(found), BUDGET[action, count]
    print(action, count, *(f"{did[kind]:.9g}" for kind in KINDS))  # noqa: T201 - the row of the table
    over = [kind for kind in KINDS if did[kind] > TOLERANCE[kind] * budget[kind]]
    if over:
        sums = "; ".join(f"{kind}: {did[kind]:.9g}, not {budget[kind]:.9g}" for kind in over)
        most = [largest(found, kind) for kind in dict.fromkeys(LISTS.get(kind, kind) for kind in over)]
        pytest.fail("\n".join([f"{action}, {count} points, a move: {sums}", *most]), pytrace=False)


# After a drag, until numbers, labels and rows of the table are as at rest and the result was spoken: attributes set,
# texts changed, elements created and removed, and reads of geometry. Rows of the table that come into another order
# keep their elements. There is room for two texts: a busy machine speaks a text once more.
RELEASES = """
action attributes texts created removed measured
roof           99   117       6       9        1
slider        128   133      14      13        0
keys           71    86       8       9        0
"""
RELEASE_KINDS, *RELEASE_ROWS = [line.split() for line in RELEASES.strip().splitlines()]
RELEASE_MS = 1000


@pytest.mark.parametrize("row", RELEASE_ROWS, ids=lambda row: row[0])
def test_a_release_does_no_more_than_its_budget(row: list[str], exported: Callable[..., Exported]) -> None:
    opened = exported(widget_page(1000), prepare=watch)
    page, action = opened.page, row[0]
    settle(page)
    move = grabbed(opened, action)
    for number in range(1, MOVES_BEFORE + MOVES + 1):
        move(number)
        rest(page, MOVE_MS)
    page.evaluate("work.start(document)")
    page.mouse.up()
    rest(page, RELEASE_MS)
    found = page.evaluate("work.counts()")
    did = {kind: sum(found[kind].values()) for kind in RELEASE_KINDS[1:]}
    print(action, *did.values())  # noqa: T201 - the row of the table
    budget = dict(zip(did, map(int, row[1:]), strict=True))
    over = [kind for kind in did if did[kind] > budget[kind]]
    assert not over, "\n".join(f"{did[kind]}, not {budget[kind]}\n{largest(found, kind, 1)}" for kind in over)


# Moves in a page whose clock runs: the browser may make all layers of the page anew when a panel follows the drag. It
# would do so in each move if a transform changed, something opaque moved, or the bounds of what is drawn between two
# clips changed.
LAYERED_MOVES, MAX_LAYERINGS = 40, 20


@pytest.mark.parametrize("action", ["slider", "roof"])
def test_a_drag_seldom_makes_the_layers_of_the_page_anew(action: str, exported: Callable[..., Exported]) -> None:
    opened = exported(widget_page(1000))
    page = opened.page
    move = grabbed(opened, action)
    browser = page.context.browser
    assert browser
    for number in range(1, LAYERED_MOVES + MOVES_BEFORE + 1):
        if number == MOVES_BEFORE + 1:
            browser.start_tracing(page=page, categories=["blink"])
        move(number)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    names = [event["name"] for event in json.loads(browser.stop_tracing())["traceEvents"]]
    page.mouse.up()
    assert names.count("Document::recalcStyle") > LAYERED_MOVES / 2
    assert names.count("PaintArtifactCompositor::Update") <= MAX_LAYERINGS


# Numbers the frames, also in the tasks after each, and keeps in which one an element was first there.
FRAMES = """(() => {
  const frames = window.framesOf = {};
  let number = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => (number += 0.5);
  const next = () => {
    number = Math.floor(number) + 1;
    port2.postMessage(0);
    requestAnimationFrame(next);
  };
  next();
  new MutationObserver(() => {
    for (const part of ['.rw-chart', '.rw-slider', '[data-rw=inspector]', '.rw-status'])
      if (document.querySelector(part)) frames[part] ??= number;
  }).observe(document, { childList: true, subtree: true });
})()"""


def test_the_panels_come_after_the_frame_with_the_chart(exported: Callable[..., Exported]) -> None:
    opened = exported(widget_page(1000), prepare=lambda page: page.context.add_init_script(FRAMES))
    opened.drawn.slider("peak").wait_for()
    chart, *panels = opened.page.evaluate("Object.values(framesOf)")
    assert len(panels) > 1
    assert min(panels) > chart


# A drag in a notebook: the messages to the widget's Python in each second, those at its start and end, and the size of
# each, bytes: some 360 of these are JupyterLab's own. With a clock that stands still js/test/state/work.test.ts counts
# messages exactly.
MESSAGES_A_SECOND, MESSAGES_AT_ENDS = 4.5, 2
MESSAGE_BYTES = 520

# Keeps the size of each message to a widget, without a global name.
LISTEN = """() => {
  const { send } = WebSocket.prototype;
  const start = performance.now();
  const sizes = [];
  WebSocket.prototype.send = function (data) {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data);
    if (new TextDecoder().decode(bytes).includes('"comm_msg"')) sizes.push(bytes.length);
    return send.call(this, data);
  };
  return () => {
    WebSocket.prototype.send = send;
    return [sizes, (performance.now() - start) / 1000];
  };
}"""

CELL = """import numpy as np, roofwidget as rw
at = np.arange(1000)
names = [f"kernel {one}" for one in at]
kernels = rw.Kernels(names, 1e9 * (1 + at % 97), 1e7 * (1 + at % 89), time=np.full(1000, 1e-3))
w = rw.roofline([rw.Chip("Mine", {"bf16": 3e15}, {"HBM": 1e12})], kernels)
w"""


def test_a_drag_sends_python_few_and_small_messages(notebook: OpenNotebook) -> None:
    book, drawn = shown(notebook, CELL)
    # The page and Python have told each other what they have.
    drawn.becomes("w.peak_flops", 3e15)
    grip = drawn.grip("peak")
    stop = book.page.evaluate_handle(LISTEN)
    grip.by(-0.3, steps=60)
    grip.release()
    drawn.eventually(lambda: bool(book.python("w.peak_flops") < 1e15))
    sizes, seconds = stop.evaluate("(stop) => stop()")
    # Python has heard of the drag before its end, too.
    assert 2 < len(sizes) <= MESSAGES_A_SECOND * seconds + MESSAGES_AT_ENDS, (sizes, seconds)
    assert max(sizes) <= MESSAGE_BYTES, sizes
