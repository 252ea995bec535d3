// The order of the table's rows: stable, and what is unknown last whichever way it goes.

import { describe, expect, it } from "vitest";
import { type Column, columnFor, columnsOf } from "../../src/panels/table/columns.ts";
import { orderOf } from "../../src/panels/table/natural.ts";
import { rankAhead, sortedNext, sortingOf, valuesOf } from "../../src/panels/table/sorting.ts";
import { makeChip, makeKernels, makeRoof, seeded, several } from "../helpers.ts";

const all = (n: number) => Int32Array.from({ length: n }, (_, row) => row);
const ordered = (values: readonly number[], falling = false) => [
  ...orderOf(all(values.length), Float64Array.from(values), falling),
];

describe("rows by numbers", () => {
  it("rise from the most negative to the infinite", () => {
    expect(ordered([3, -1, Infinity, 0, -Infinity, 1e-300, -2.5, 1e300])).toEqual([4, 6, 1, 3, 5, 0, 7, 2]);
  });
  it("fall the other way", () => {
    expect(ordered([3, -1, Infinity, 0, -Infinity, 1e-300, -2.5, 1e300], true)).toEqual([2, 7, 0, 5, 3, 1, 6, 4]);
  });
  it("keep their order where they are equal, zeros of either sign too", () => {
    expect(ordered([1, 0, 1, -0, 0, 1])).toEqual([1, 3, 4, 0, 2, 5]);
    expect(ordered([1, 0, 1, -0, 0, 1], true)).toEqual([0, 2, 5, 1, 3, 4]);
  });
  it("end with what is unknown, both ways", () => {
    expect(ordered([Number.NaN, 2, Number.NaN, 1])).toEqual([3, 1, 0, 2]);
    expect(ordered([Number.NaN, 2, Number.NaN, 1, Infinity], true)).toEqual([4, 1, 3, 0, 2]);
  });
  it("may be some of a table's", () => {
    expect([...orderOf(Int32Array.of(3, 0, 2), Float64Array.of(5, 0, 7, 6), false)]).toEqual([0, 3, 2]);
    expect([...orderOf(new Int32Array(0), Float64Array.of(1), true)]).toEqual([]);
  });
  it("stand as a plain sort would put them", () => {
    const random = seeded(3);
    const values = several(3000, () => Math.round((random() - 0.5) * 400) * 10 ** (random() * 40 - 20));
    const expected = values.map((_, row) => row).sort((a, b) => (values[a] as number) - (values[b] as number) || a - b);
    expect(ordered(values)).toEqual(expected);
  });
});

describe("rows by texts", () => {
  const order = (names: readonly string[], falling = false) => {
    const kernels = makeKernels(names.map((name) => ({ name })));
    const column = columnFor(columnsOf(kernels, undefined), "name") as Column;
    return [...orderOf(all(names.length), valuesOf(column, names.length, all(names.length)), falling)].map(
      (row) => names[row],
    );
  };
  it("compare numbers within them as numbers, and no case", () => {
    expect(order(["fusion.10", "copy", "Fusion.2", "fusion.1"])).toEqual(["copy", "fusion.1", "Fusion.2", "fusion.10"]);
    expect(order(["b", "A", "a", "B"], true)).toEqual(["b", "B", "A", "a"]);
  });
  it("of which there are very many do so too", () => {
    const names = several(6000, (at) => `${at % 2 ? "K" : "k"}ernel<${at}, ${(at * 7) % 100}>`);
    expect(order([...names].reverse())).toEqual(names);
  });
  it("stand as a collator that knows numbers puts them, however many share their beginnings", () => {
    const random = seeded(5);
    const word = () =>
      ["void ", "gemm", "Norm", "1", "20", "3x", "", "100000000000000000001"][Math.floor(random() * 8)];
    const names = several(3000, () => several(7, word).join(""));
    const { compare } = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    const expected = names.map((name, row) => ({ name, row })).sort((a, b) => compare(a.name, b.name) || a.row - b.row);
    expect(order(names)).toEqual(expected.map(({ name }) => name));
  });
  it("are the same worked out ahead, a slice at a time", () => {
    const names = several(20_000, (at) => `k${(at * 7919) % 20_000}`);
    const columns = columnsOf(makeKernels(names.map((name) => ({ name }))), undefined);
    const work = rankAhead(columns);
    let pauses = 0;
    while (!work.next().done) pauses++;
    expect(pauses).toBeGreaterThan(4);
    const column = columnFor(columns, "name") as Column;
    expect([...valuesOf(column, names.length, all(names.length))]).toEqual(names.map((name) => Number(name.slice(1))));
  });
  it("end with those that have none", () => {
    const kernels = makeKernels([{ category: null }, { category: "b" }, { category: null }, { category: "a" }]);
    const column = columnFor(columnsOf(kernels, undefined), "category") as Column;
    expect([...orderOf(all(4), valuesOf(column, 4, all(4)), false)]).toEqual([3, 1, 0, 2]);
    expect([...orderOf(all(4), valuesOf(column, 4, all(4)), true)]).toEqual([1, 3, 0, 2]);
  });
});

describe("the column that sorts", () => {
  const columns = columnsOf(makeKernels([{}], { extra: { odd: [1] } }), undefined);
  const by = (sortBy: string) => {
    const sorting = sortingOf(columns, sortBy);
    return [sorting?.column.key, sorting?.falling];
  };
  const column = (key: string) => columnFor(columns, key) as Column;
  it("is told by its key, with a minus before it when it falls", () => {
    expect(by("flops")).toEqual(["flops", false]);
    expect(by("-flops")).toEqual(["flops", true]);
    expect(by("-odd")).toEqual(["odd", true]);
  });
  it("is what each kernel could save where none is told, or one that is not there", () => {
    const judged = columnsOf(makeKernels([{}]), makeRoof(makeChip()));
    expect(["", "-ai:VMEM"].map((key) => sortingOf(judged, key)?.column.key)).toEqual(["headroom", "headroom"]);
    expect(sortingOf(judged, "")?.falling).toBe(true);
  });
  it("without a roof is the falling self time", () => {
    expect(by("")).toEqual(["self_time", true]);
    expect(by("-ai:VMEM")).toEqual(["self_time", true]);
  });
  it("turns round when its heading is pressed again; numbers begin with the largest", () => {
    const [flops, name] = [column("flops"), column("name")];
    expect(sortedNext(undefined, flops)).toBe("-flops");
    expect(sortedNext({ column: flops, falling: true }, flops)).toBe("flops");
    expect(sortedNext({ column: flops, falling: false }, name)).toBe("name");
    expect(sortedNext({ column: name, falling: false }, name)).toBe("-name");
  });
});
