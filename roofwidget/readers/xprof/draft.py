"""Operations on their way from XProf's rows to `Kernels`: columns that may still be corrected and completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from roofwidget.chips import Chip
from roofwidget.kernels.columns import Floats, Texts
from roofwidget.kernels.table import Kernels

__all__ = ["CONTAINERS", "IDLE", "Draft", "texts"]

IDLE: Final = "idle"
# XProf leaves these out of the program's sums: their time holds that of other rows.
CONTAINERS: Final = ("call", "conditional", "while", "megacore fusion")


@dataclass
class Draft:
    """Columns of n operations: FLOPs, bytes by level, seconds with and without children, launches, and the rest."""

    names: Texts
    flops: Floats
    bytes: dict[str, Floats]
    time: Floats
    self_time: Floats
    category: Texts
    count: Floats
    precision: Texts
    origin: dict[str, Texts]
    extra: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def programs(self) -> Sequence[str]:
        """The program of each operation; ``"0"`` where none is told."""
        return [word or "0" for word in self.extra["program"]] if "program" in self.extra else ["0"] * len(self)

    @property
    def contains_others(self) -> npt.NDArray[np.bool_]:
        """Whether an operation's time holds that of other rows."""
        return np.isin(self.category.astype(str), CONTAINERS)

    def rows(self, mask: npt.NDArray[np.bool_]) -> Draft:
        """Return the part of it that the mask picks."""
        return Draft(
            self.names[mask],
            self.flops[mask],
            _picked(self.bytes, mask),
            self.time[mask],
            self.self_time[mask],
            self.category[mask],
            self.count[mask],
            self.precision[mask],
            _picked(self.origin, mask),
            _picked(self.extra, mask),
        )

    def set_work(self, row: int, flops: float, moved: float, why: str) -> None:
        """Set one operation's FLOPs and HBM bytes."""
        self.flops[row], self.bytes["HBM"][row] = flops, moved
        self.origin["flops"][row], self.origin["bytes:HBM"][row] = (
            why,
            f"compulsory bytes, operands and outputs once: {why}",
        )

    def with_idle(self, seconds: float, name: str) -> Draft:
        """Return it with one more row, the time in which none of these operations ran."""
        nothing = np.array([None], dtype=object)
        origin = texts(["the program's time less the self time of its operations"])
        return Draft(
            np.append(self.names, texts([name])),
            np.append(self.flops, np.nan),
            {level: np.append(amount, np.nan) for level, amount in self.bytes.items()},
            np.append(self.time, seconds),
            np.append(self.self_time, seconds),
            np.append(self.category, texts([IDLE])),
            np.append(self.count, 1.0),
            np.append(self.precision, nothing),
            {key: np.append(why, origin if "time" in key else nothing) for key, why in self.origin.items()},
            {key: np.append(c, np.nan if c.dtype == np.float64 else nothing) for key, c in self.extra.items()},
        )

    def kernels(self, chip: Chip | None, source: str, **more: Any) -> Kernels:
        """Return it as `Kernels`."""
        return Kernels(
            self.names,
            self.flops,
            self.bytes,
            time=self.time,
            self_time=self.self_time,
            precision=self.precision,
            category=self.category,
            count=self.count,
            origin={key: why for key, why in self.origin.items() if any(why)},
            extra={key: c for key, c in self.extra.items() if c.dtype == np.float64 or any(c)},
            chip=chip,
            source=source,
            **more,
        )


def texts(values: Sequence[str | None]) -> Texts:
    """Return a column of texts."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _picked(columns: Mapping[str, npt.NDArray[Any]], mask: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[Any]]:
    return {key: column[mask] for key, column in columns.items()}
