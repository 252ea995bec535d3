// The selection after a click or a key, and the row where the next range starts.

export interface Picked {
  readonly selected: readonly number[];
  /** The row where a range starts. */
  readonly anchor: number | null;
}

export interface PickMode {
  /** With a modifier key: adds to the selection. */
  readonly add: boolean;
  /** With Shift: selects all rows from the anchor to this one, in table order. */
  readonly range: boolean;
}

/** Selects the row alone; deselects it if it was selected alone. */
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
