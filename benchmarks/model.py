"""Processor time of a model and a widget of 1,000 kernels, and of an assignment that moves a rate, with its message.

The time is that of the thread: the picture's engine starts in another one, and other programs do not count.
"""

from __future__ import annotations

import gc
import itertools
import statistics
import sys
import time
from collections.abc import Callable

import roofwidget as rw

KERNELS, ROUNDS, MOVES = 1_000, 30, 200
LIMIT_MODEL_MS, LIMIT_MOVE_MS = 10.0, 0.5
RECORDS = [(f"kernel {row}", 1e9 + row, 1e8 + row, 1e-3) for row in range(KERNELS)]
CHIPS = ["v5p", "v6e"]


def median_ms(act: Callable[[], object], rounds: int) -> float:
    taken = []
    act()
    gc.collect()
    for _ in range(rounds):
        start = time.thread_time()
        act()
        taken.append(time.thread_time() - start)
    return statistics.median(taken) * 1e3


def main() -> None:
    table = rw.Kernels.from_records(RECORDS)
    models = {
        "rw.Kernels.from_records": lambda: rw.Kernels.from_records(RECORDS),
        "rw.RooflineModel of records": lambda: rw.RooflineModel(CHIPS, RECORDS),
        "rw.RooflineModel of Kernels": lambda: rw.RooflineModel(CHIPS, table),
        "rw.RooflineWidget of records": lambda: rw.RooflineWidget(CHIPS, RECORDS).close(),
        "rw.RooflineWidget of Kernels": lambda: rw.RooflineWidget(CHIPS, table).close(),
    }
    widget, sent, number = rw.RooflineWidget(CHIPS, table), [], itertools.count(1)
    widget.comm.send = lambda data, **_: sent.append(data)
    rate = (4e14 + 1e11 * step for step in itertools.count())

    def page() -> None:
        changes = {"what_if": {"tpu-v5p": {"peak_flops": {"bf16": next(rate)}}}}
        message = {"kind": "roofwidget", "page": "page", "number": next(number), "changes": changes}
        widget._handle_msg({"content": {"data": {"method": "custom", "content": message}}, "buffers": []})  # noqa: SLF001 - as a page

    moves = {
        "widget.peak_flops = rate": lambda: setattr(widget, "peak_flops", next(rate)),
        "widget.bandwidth = rate": lambda: setattr(widget, "bandwidth", next(rate) / 400),
        "widget.set_what_if(…)": lambda: widget.set_what_if("v5p", peak_flops=next(rate)),
        "a message of a page": page,
    }
    slow = []
    print(f"{KERNELS:,} kernels")
    for acts, rounds, limit in ((models, ROUNDS, LIMIT_MODEL_MS), (moves, MOVES, LIMIT_MOVE_MS)):
        for name, act in acts.items():
            sent.clear()
            took = median_ms(act, rounds)
            messages = f", {len(sent) / (rounds + 1):.0f} message" if acts is moves else ""
            print(f"{name:<30}{took:9.3f} ms (limit {limit} ms){messages}")
            slow += [name] if took > limit else []
    if slow:
        sys.exit(f"too slow: {', '.join(slow)}")


if __name__ == "__main__":
    main()
