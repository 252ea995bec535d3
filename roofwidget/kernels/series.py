"""Series: the rows of a table that share a category, such as the operations of one run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import numpy as np

from roofwidget.kernels.concat import concat, joined_texts, one_text
from roofwidget.kernels.table import Kernels


def with_series(table: Kernels, name: str, rows: Kernels) -> Kernels:
    """Return `table` with `rows` as its last rows, all of category `name`. Earlier rows of this category are left out.

    `rows` may have other columns than `table`: what one of the two lacks is unknown there. The chip, the totals and the
    source of the result are those of `table`.

    Examples
    --------
    >>> run = with_series(Kernels(["a"], [1], [2], category=["loop"]), "run 1", Kernels(["b"], [3], [4], time=[5]))
    >>> run.names.tolist(), run.category.tolist(), run.time.tolist()
    (['a', 'b'], ['loop', 'run 1'], [nan, 5.0])
    """
    others = table if name not in table.category else table[table.category != name]
    joined = concat({"others": others, "rows": rows})
    kept: dict[str, Any] = {}
    if others.launches is not None:
        launches, owners = others.launches_with_rows()
        earlier = launches if launches is not None else Kernels()
        kept["launches"] = concat({"earlier": earlier, "rows": rows}).replace(
            category=joined_texts([earlier.codes("category"), one_text(name, len(rows))])
        )
        kept["launch_rows"] = np.concatenate([owners, len(others) + np.arange(len(rows))])
    return joined.replace(
        category=joined_texts([others.codes("category"), one_text(name, len(rows))]),
        chip=table.chip,
        program=table.program,
        steps=table.steps,
        source=table.source,
        fitting_chips=list(dict.fromkeys([*table.fitting_chips, *rows.fitting_chips])),
        warnings=list(dict.fromkeys([*table.warnings, *rows.warnings])),
        series=True,
        **kept,
    )


def as_series(tables: Iterable[Kernels]) -> Kernels:
    """Return one table in which each of the tables is a series with the name of its file.

    A single table stays as it is. The result names a chip if all tables name the same.

    Examples
    --------
    >>> one, other = Kernels(["a"], [1], [2], source="runs/1.csv"), Kernels(["a"], [1], [2], source="runs/2.csv")
    >>> as_series([one, other]).category.tolist(), as_series([one]) is one
    (['1.csv', '2.csv'], True)
    """
    tables = list(tables)
    if len(tables) == 1:
        return tables[0]
    chips = {table.chip for table in tables}
    found = Kernels(chip=chips.pop() if len(chips) == 1 else None)
    names: list[str] = []
    for table in tables:
        names.append(unused_name(PurePath(table.source).name or "file", names))
        found = with_series(found, names[-1], table)
    return found.replace(source=", ".join(names))


def is_last(table: Kernels, name: str) -> bool:
    """Return whether all rows of category `name` follow the other rows.

    Then `with_series` keeps the row numbers of the other rows.
    """
    rows = np.flatnonzero(table.category == name)
    return not len(rows) or int(rows[0]) == len(table) - len(rows)


def unused_name(wanted: str, taken: Iterable[str | None]) -> str:
    """Return the wanted name of a series or, if a series has this name, the name with a number.

    Examples
    --------
    >>> unused_name("tiled", ["naive"]), unused_name("tiled", ["tiled", "tiled (2)"])
    ('tiled', 'tiled (3)')
    """
    names, number = set(taken), 2
    if wanted not in names:
        return wanted
    while f"{wanted} ({number})" in names:
        number += 1
    return f"{wanted} ({number})"
