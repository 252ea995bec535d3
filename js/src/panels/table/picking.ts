// The selection after a click or a key, and the row where the next range selection starts.

export interface Picked {
  readonly selected: readonly number[];
  /** The row where a range selection starts. */
  readonly anchor: number | null;
}

export interface PickMode {
  /** Adds to the selection. Set if a modifier key is pressed. */
  readonly add: boolean;
  /** Selects all rows from the anchor to the clicked row, in table order. Set if Shift is pressed. */
  readonly range: boolean;
}

/** Selects only this row. If this row was the only selected row, deselects the row. */
export function pick({ selected, anchor }: Picked, order: Int32Array, row: number, { add, range }: PickMode): Picked {
  const from = range && anchor !== null ? order.indexOf(anchor) : -1;
  if (from >= 0) {
    const to = order.indexOf(row);
    const between = [...order.subarray(Math.min(from, to), Math.max(from, to) + 1)];
    return { selected: add ? [...new Set([...selected, ...between])] : between, anchor };
  }
  const others = selected.filter((other) => other !== row);
  const isIn = others.length < selected.length;
  if (add) return { selected: isIn ? others : [...selected, row], anchor: row };
  return { selected: isIn && others.length === 0 ? [] : [row], anchor: row };
}
