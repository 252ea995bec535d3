"""Sampling for several benchmarks: states per second, long tasks, and websocket traffic with the Jupyter kernel."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.lab import Notebook

SECONDS = 3.0

# Counts distinct states; looks once per frame, in the first task after it.
SAMPLE = """(look) => {
  const start = performance.now();
  const sampler = window.sampler = { states: 0, frames: 0, last: look(), running: true, start, long: 0 };
  sampler.tasks = new PerformanceObserver((list) => { sampler.long += list.getEntries().length; });
  sampler.tasks.observe({ type: 'longtask' });
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = look();
    if (now !== sampler.last) { sampler.states += 1; sampler.last = now; }
  };
  const frame = () => {
    sampler.frames += 1;
    channel.port2.postMessage(0);
    if (sampler.running) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
STOP = """() => {
  const { sampler } = window;
  sampler.running = false;
  sampler.tasks.disconnect();
  const seconds = (performance.now() - sampler.start) / 1000;
  return { states: sampler.states / seconds, frames: sampler.frames / seconds, long: sampler.long };
}"""
# Moves back and forth between two fractions of the track, one input per frame.
SWEEP = """async ([slider, seconds, from, to, period]) => {
  slider.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    await new Promise(requestAnimationFrame);
    const turn = (performance.now() - start) / period % 2;
    slider.value = String(low + (high - low) * (from + (to - from) * (turn < 1 ? turn : 2 - turn)));
    slider.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }
  slider.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }));
}"""


@dataclass(frozen=True)
class Sample:
    """States and frames per second, and the number of tasks of more than 50 ms."""

    states: float
    frames: float
    long: int

    def __str__(self) -> str:
        return f"{self.states:5.1f} states/s of {self.frames:.1f} frames/s, {self.long} long tasks"


def sample(page: Page, state: str, action: Callable[[], object]) -> Sample:
    """Run an action and count the distinct results of the JavaScript function `state` meanwhile."""
    page.evaluate(f"({SAMPLE})({state})")
    action()
    return Sample(**page.evaluate(STOP))


def sweep(slider: Locator, low: float, high: float, *, period: int = 1500) -> None:
    """Drag a slider back and forth with events dispatched in its page, from end to end in `period` ms."""
    handle = slider.element_handle()
    slider.page.evaluate(SWEEP, [handle, SECONDS, low, high, period])


def mouse_drag(slider: Locator, low: int, high: int) -> float:
    """Drag a thumb back and forth with the mouse, between `low` and `high` px from its position; return moves/s."""
    box = slider.bounding_box()
    assert box is not None
    first, last, now = (float(slider.evaluate(f"(input) => input.{name}")) for name in ("min", "max", "value"))
    x = box["x"] + 8 + (box["width"] - 16) * (now - first) / (last - first)
    y = box["y"] + box["height"] / 2
    mouse = slider.page.mouse
    mouse.move(x, y)
    mouse.down()
    start, moves = time.monotonic(), 0
    while (passed := time.monotonic() - start) < SECONDS:
        turn = passed / 0.6 % 2
        mouse.move(x + low + (high - low) * (turn if turn < 1 else 2 - turn), y)
        moves += 1
        time.sleep(max(0.0, 1 / 70 - (time.monotonic() - start - passed)))
    mouse.up()
    return moves / SECONDS


class Traffic:
    """Counts messages of the Jupyter kernel's websocket, and bytes in both directions."""

    def __init__(self, book: Notebook) -> None:
        self.sent = self.received = self.bytes_received = self.size = 0
        self._times: list[float] = []
        client = book.page.context.new_cdp_session(book.page)
        client.send("Network.enable")
        client.on("Network.webSocketFrameSent", self._count_sent)
        client.on("Network.webSocketFrameReceived", lambda event: self._count(event["response"]))

    def _count_sent(self, event: dict[str, Any]) -> None:
        self._times.append(event["timestamp"])
        self._count(event["response"], sent=True)

    def most_in_a_second(self) -> int:
        """Return how many messages were sent in the busiest second."""
        return max((sum(start <= time < start + 1 for time in self._times) for start in self._times), default=0)

    def _count(self, frame: dict[str, Any], *, sent: bool = False) -> None:
        data = str(frame["payloadData"])
        # Binary frames are encoded as base 64.
        size = len(data.encode()) if frame["opcode"] == 1 else len(base64.b64decode(data))
        self.sent += sent
        self.received += not sent
        self.size += size
        self.bytes_received += 0 if sent else size

    def since(self, work: float) -> str:
        """Return the rates over `work` seconds, and reset the counts."""
        came = f"{self.received / work:5.1f} in ({self.bytes_received / work:,.0f} B)"
        text = f"{self.sent / work:5.1f} messages out, {came}"
        self.sent = self.received = self.bytes_received = self.size = 0
        return text + " a second"
