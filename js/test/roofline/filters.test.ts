// Which kernels are shown, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/filters.json";
import {
  byFallingTime,
  type Filters,
  filteredRows,
  inOrder,
  isInfeed,
  type Prepared,
  small,
  smallNames,
  UNFILTERED,
} from "../../src/roofline/filters.ts";
import type { Kernels } from "../../src/wire/columns.ts";
import { makeKernels, seeded, several } from "../helpers.ts";

interface Table {
  name: string[];
  category: (string | null)[];
  precision: (string | null)[];
  phase: (string | null)[];
  bound: string[];
  self_time: (number | null)[];
}

interface Asked {
  search?: string;
  categories?: string[];
  bounds?: string[];
  precisions?: string[];
  phases?: string[];
  time_share?: number;
  top?: number;
  infeed?: boolean;
}

const tables = golden.tables as unknown as Record<string, Table>;
const none: Filters = { ...UNFILTERED, top: null };

const kernelsOf = (table: Table) =>
  makeKernels(
    table.name.map((name, row) => ({
      name,
      category: table.category[row] ?? null,
      precision: table.precision[row] ?? null,
      // What it took with others within it is not what is judged.
      time: 1,
      selfTime: table.self_time[row] ?? null,
    })),
    { extra: { phase: table.phase } },
  );

function prepare(kernels: Kernels, bounds: readonly string[]): Prepared {
  const values = [...new Set(bounds)];
  return {
    names: () => smallNames(kernels),
    order: () => byFallingTime(kernels),
    boundBy: () => ({ values, codes: Int32Array.from(bounds, (word) => values.indexOf(word)) }),
  };
}

function rowsOf(name: string, { time_share = 1, ...asked }: Asked): number[] {
  const table = tables[name] as Table;
  const kernels = kernelsOf(table);
  return [...filteredRows(kernels, { ...none, ...asked, timeShare: time_share }, prepare(kernels, table.bound))];
}

describe("the golden file", () => {
  it("holds every case", () => {
    expect(golden.cases.length).toBeGreaterThan(100);
    for (const { name, table, filters, rows } of golden.cases) {
      expect(rowsOf(table, filters as Asked), `${name}: ${JSON.stringify(filters)}`).toEqual(rows);
    }
  });
  it("holds what small letters are", () => {
    for (const [text, folded] of golden.folded as [string, string][]) expect(small(text), text).toBe(folded);
  });
  it("holds what is blank between two words, and nothing else is", () => {
    const kernels = makeKernels([{ name: "b a" }]);
    const passes = (search: string) => filteredRows(kernels, { ...none, search }, prepare(kernels, [])).length === 1;
    const blanks = [...golden.blanks];
    for (const blank of blanks) expect(passes(`a${blank}b`), `U+${blank.codePointAt(0)?.toString(16)}`).toBe(true);
    for (let code = 1; code < 0x3100; code++) {
      const letter = String.fromCharCode(code);
      expect(passes(`a${letter}b`), `U+${code.toString(16)}`).toBe(blanks.includes(letter));
    }
  });
});

describe("the order of rows", () => {
  it("is that of falling self time, of equals the table's, at last those that were not measured", () => {
    const kernels = makeKernels([{ time: 2 }, {}, { time: 5 }, { time: 0 }, { time: 2 }, { time: 9, selfTime: 1 }]);
    expect([...byFallingTime(kernels)]).toEqual([2, 0, 4, 5, 3, 1]);
  });
  it("hangs on the last bit of a time, and on no sign of zero", () => {
    const times = [1, 1 + 2 ** -52, 1, 1 + 2 ** -51, -0, 5e-324, 0, 1e-323, -0, 1.7e308];
    const kernels = makeKernels(times.map((time) => ({ time })));
    expect([...byFallingTime(kernels)]).toEqual([9, 3, 1, 0, 2, 7, 5, 4, 6, 8]);
  });
  it("is what comparing each with each gives, of many that are nearly equal", () => {
    const random = seeded(3);
    for (let n = 0; n < 200; n++) {
      const any = () => [1 + Math.floor(random() * 9) * 2 ** -40, 2 ** (random() * 8), 0, null];
      const times = several(n, () => any()[Math.floor(random() * 4)] as number | null);
      const weight = (row: number) => times[row] ?? -1;
      const order = [...times.keys()].sort((a, b) => weight(b) - weight(a) || a - b);
      expect([...byFallingTime(makeKernels(times.map((time) => ({ time }))))], `${n} rows`).toEqual(order);
    }
  });
});

describe("rows in an order", () => {
  it("are those rows alone, and the order itself if they are all rows", () => {
    const order = Int32Array.of(3, 1, 0, 2);
    expect([...inOrder(order, Int32Array.of(0, 1, 2))]).toEqual([1, 0, 2]);
    expect([...inOrder(order, new Int32Array(0))]).toEqual([]);
    expect(inOrder(order, Int32Array.of(0, 1, 2, 3))).toBe(order);
  });
});

describe("a share of the time", () => {
  const rows = (timeShare: number, times = [2, 5, 3]) => {
    const kernels = makeKernels(times.map((time) => ({ time })));
    return [...filteredRows(kernels, { ...none, timeShare }, prepare(kernels, []))];
  };
  it("is reached by rows that make it up exactly, and rounding adds no row", () => {
    expect([0, 0.5, 0.5001, 0.8, 0.8001].map((share) => rows(share))).toEqual([[], [1], [1, 2], [1, 2], [0, 1, 2]]);
    // In doubles the sum is more than 1.2, so that half of it is more than 0.6.
    expect(rows(0.5, [0.1, 0.6, 0.1, 0.4])).toEqual([1]);
  });
  it("is that of all rows where all took no time", () => {
    expect(rows(0.5, [0, 0, 0])).toEqual([0, 1, 2]);
  });
});

describe("a table without names", () => {
  it("has empty names, which no word matches", () => {
    const kernels = { ...makeKernels([{ time: 1 }]), name: { values: [null], codes: Int32Array.of(0) } };
    expect(smallNames(kernels)).toEqual([""]);
  });
});

describe("waiting for the host", () => {
  it("is told by a category that holds one of two words in any case", () => {
    expect(["Infeed", "host outFEED", "feed", "", null].map(isInfeed)).toEqual([true, true, false, false, false]);
  });
});

describe("the default", () => {
  it("is the first thousand kernels by self time", () => {
    const random = seeded(5);
    const kernels = makeKernels(several(1500, () => ({ time: random() })));
    const rows = filteredRows(kernels, UNFILTERED, prepare(kernels, []));
    const least = Math.min(...Array.from(rows, (row) => kernels.time[row] as number));
    expect(rows.length).toBe(1000);
    expect(kernels.time.filter((seconds) => seconds >= least).length).toBe(1000);
    expect([...rows]).toEqual([...rows].sort((a, b) => a - b));
  });
});
