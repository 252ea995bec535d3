// The selection after a click or a key, and the row where the next range selection starts.

interface Picked {
  readonly selected: readonly number[];
  /** The row where the next range selection starts. Null if there is no such row. */
  readonly anchor: number | null;
}

interface PickMode {
  /** Whether the click adds to the selection. True if Ctrl or Cmd is pressed. */
  readonly add: boolean;
  /**
   * Whether the click selects all rows from the anchor to the clicked row, in table order. True if Shift is pressed.
   */
  readonly range: boolean;
}

/**
 * Returns the selection after a click on `row`. With `range`, the click selects all rows from the anchor to `row`. With
 * `add`, the click adds the row or removes it. Otherwise it selects only this row, or deselects the row if no other row
 * is selected.
 */
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
