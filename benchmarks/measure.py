"""What counting costs: beside the run of a model of about a hundred operations, and for a model too large to run."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

import roofwidget as rw
from tests.measure.torch.models import ResNet18, decoder

ROUNDS = 15
LIMIT_TIMES_RUN = 2.0
LARGE_LIMIT_S = 3.0
LARGE_FLOPS = 28_587_302_322_176


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def counting() -> list[str]:
    """Compare a counted call of ResNet-18 with a plain call, in turns."""
    model, image = ResNet18().eval(), torch.rand(1, 3, 224, 224)
    operations = rw.profile(model, image, timing=None).calls
    with torch.no_grad():
        pairs = [
            (seconds(lambda: model(image)), seconds(lambda: rw.profile(model, image, timing=None)))
            for _ in range(ROUNDS)
        ]
    ratios = [counted / run for run, counted in pairs]
    run, counted = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(ratios)
    print(f"ResNet-18, {operations} operations: a call          {run * 1e3:7.1f} ms")
    print(f"a counted call                          {counted * 1e3:7.1f} ms")
    print(
        f"counted / plain, median of {ROUNDS}             {ratio:7.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}; limit {LIMIT_TIMES_RUN:g})"
    )
    print(f"counting one operation                  {(counted - run) / operations * 1e6:7.0f} µs")
    return [] if ratio < LIMIT_TIMES_RUN else ["counting costs too much beside the run"]


def large_model() -> list[str]:
    """Count a model of 6.44 billion parameters by its shapes."""
    with torch.device("meta"):
        model = decoder(32, 4096, 32).to(torch.bfloat16)
    tokens = torch.empty(1, 2048, 4096, dtype=torch.bfloat16, device="meta")
    flops = []
    took = min(seconds(lambda: flops.append(rw.count_flops(model, tokens).flops)) for _ in range(3))
    assert set(flops) == {LARGE_FLOPS}
    print(f"6.44 billion parameters, not run        {took:7.2f} s (limit {LARGE_LIMIT_S:g} s)")
    return [] if took < LARGE_LIMIT_S else ["counting a large model by its shapes takes too long"]


def main() -> None:
    misses = [*counting(), *large_model()]
    if misses:
        sys.exit("; ".join(misses))


if __name__ == "__main__":
    main()
