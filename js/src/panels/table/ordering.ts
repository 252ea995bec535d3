// Rows in the order of a column, ties as they come, what is unknown last: fast enough for very many of them.

/** These rows by rising or falling values; equal ones as they come, NaN last. */
export function orderOf(rows: Int32Array, values: Float64Array, falling: boolean): Int32Array {
  const n = rows.length;
  const digits = digitsOf(rows, values, falling);
  let before = Int32Array.from(rows.keys());
  let after = new Int32Array(n);
  // The last digit first: each turn keeps what the one before has put in order.
  for (let digit = 0; digit < 4; digit++) {
    const free = new Int32Array(65_536);
    for (let at = digit; at < digits.length; at += 4) raise(free, digits[at] as number);
    let start = 0;
    for (let value = 0; value < free.length; value++) {
      start += free[value] as number;
      free[value] = start - (free[value] as number);
    }
    for (const at of before) after[raise(free, digits[4 * at + digit] as number)] = at;
    [before, after] = [after, before];
  }
  return before.map((at) => rows[at] as number);
}

/** Counts one more, and returns what the count was. */
function raise(counts: Int32Array, at: number): number {
  const count = counts[at] as number;
  counts[at] = count + 1;
  return count;
}

/** Four digits a row, the last first, that rise as the values do, or as they fall; those of NaN are the highest. */
function digitsOf(rows: Int32Array, values: Float64Array, falling: boolean): Uint16Array {
  // Zero has one sign here, or it would have two places.
  const doubles = Float64Array.from(rows, (row) => (values[row] as number) + 0);
  const words = new Uint32Array(doubles.buffer);
  for (let at = 0; at < doubles.length; at++) {
    const value = doubles[at] as number;
    // The bits of a negative number fall as it rises; the sign puts it below all others.
    const flip = value < 0 === falling ? 0 : 0xffffffff;
    const sign = value < 0 ? 0 : 0x80000000;
    words[2 * at] = Number.isNaN(value) ? 0xffffffff : (words[2 * at] as number) ^ flip;
    words[2 * at + 1] = Number.isNaN(value) ? 0xffffffff : (words[2 * at + 1] as number) ^ flip ^ sign;
  }
  return new Uint16Array(words.buffer);
}
