// What a click or a key does to the selection, and to the row that the next range starts from.

export interface Picked {
  readonly selected: readonly number[];
  /** The row that a range goes on from. */
  readonly anchor: number | null;
}

export interface PickMode {
  /** With a modifier: beside what is selected. */
  readonly add: boolean;
  /** With shift: all from the anchor to here, in the order of the table. */
  readonly range: boolean;
}

/** One row alone, or let go if it was alone already. */
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
