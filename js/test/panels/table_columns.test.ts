// The table's columns: what each holds of a kernel, by which key, and what its cells say.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/table_columns.json";
import {
  type Column,
  cellText,
  cellTitle,
  columnFor,
  columnsOf,
  picked,
  toggled,
  usualColumns,
} from "../../src/panels/table/columns.ts";
import { sentenceOf, tooltipRows } from "../../src/text/describe.ts";
import { catalogue } from "../../src/words/en.ts";
import { makeChip, makeKernels, makeRoof, several } from "../helpers.ts";

// Its ridge point is 100 FLOP/B.
const CHIP = makeChip({ peaks: { bf16: 1e14 }, memories: { HBM: 1e12, L2: 4e12, L1: 1e13 } });
const ROOF = makeRoof(CHIP);
const KERNELS = makeKernels(
  [
    // 1e12 FLOPs over 1e11 B: 10 FLOP/B, at least 0.1 s, and took 0.4 s.
    { name: "gemm", flops: 1e12, bytes: { DRAM: 1e11, L2: 2e11 }, time: 0.5, selfTime: 0.4, category: "matmul" },
    { name: "copy", flops: 0, bytes: { DRAM: 1e11 }, time: 0.1, category: null },
    { name: "", flops: null, bytes: null, time: null },
    { name: "tanh", flops: 1e12, bytes: { DRAM: 1e9 }, time: 0.5, count: 3, precision: "bf16" },
  ],
  {
    extra: { "XProf HBM bandwidth (B/s)": [2e11, 1e12, Number.NaN, 2e9], share: ["a", "b", null, "=d"] },
    origin: {
      flops: ["2MNK", null, null, "from the shapes"],
      "bytes:DRAM": ["dram__bytes", "dram__bytes", null, null],
    },
  },
);
const COLUMNS = columnsOf(KERNELS, ROOF);
const column = (key: string, columns: readonly Column[] = COLUMNS): Column => {
  const found = columnFor(columns, key);
  if (!found) throw new Error(`no column ${key}`);
  return found;
};
const cellsOf = (one: Column, rows: number) => several(rows, (row) => cellText(one, row));
const values = (key: string) => several(4, (row) => column(key).at(row));
const cells = (key: string) => cellsOf(column(key), 4);
/** Expects what `of` returns for each key. */
const expectEach = (of: (key: string) => unknown, wanted: Record<string, unknown>) =>
  expect(Object.fromEntries(Object.keys(wanted).map((key) => [key, of(key)]))).toEqual(wanted);

it("has cells that show control characters", () => {
  const kernels = makeKernels([{ name: "a", category: "\u202ea\0" }]);
  expect(cellText(column("category", columnsOf(kernels, ROOF)), 0)).toBe("\ufffda\ufffd");
});

describe("the columns of a table", () => {
  it("have the keys that Python accepts", () => {
    expect(Object.keys(catalogue.tableWords.heads).sort()).toEqual([...golden.columns].sort());
  });
  it("hold counts, times and launches as they were told", () => {
    expectEach(values, {
      flops: [1e12, 0, Number.NaN, 1e12],
      time: [0.5, 0.1, Number.NaN, 0.5],
      self_time: [0.4, 0.1, Number.NaN, 0.5],
      count: [1, 1, 1, 3],
      precision: [null, null, null, "bf16"],
      name: ["gemm", "copy", "", "tanh"],
    });
  });
  it("hold shares of the self time of all, and sums of those that take longer", () => {
    expectEach(values, {
      share: [0.4, 0.1, Number.NaN, 0.5],
      rank: [2, 3, Number.NaN, 1],
      cumulative_share: [0.9, 1, Number.NaN, 0.5],
    });
    const others = columnsOf(makeKernels([{ time: 1 }, { time: 3 }]), undefined);
    for (const [key, expected] of Object.entries({ share: [0.25, 0.75], cumulative_share: [1, 0.75] })) {
      expect(several(2, (row) => column(key, others).at(row))).toEqual(expected);
    }
  });
  it("hold bytes, intensity and rate at every level of the chip that any kernel tells of", () => {
    expectEach(values, {
      "bytes:HBM": [1e11, 1e11, Number.NaN, 1e9],
      "ai:HBM": [10, 0, Number.NaN, 1000],
      "ai:L2": [5, Number.NaN, Number.NaN, Number.NaN],
      "rate:HBM": [2e11, 1e12, Number.NaN, 2e9],
      "bandwidth_utilization:HBM": [0.2, 1, Number.NaN, 0.002],
    });
    expect(values("bandwidth_utilization:L2")[0]).toBe(0.1);
    expect(COLUMNS.some(({ key }) => key.endsWith(":L1") || key.endsWith(":DRAM"))).toBe(false);
  });
  it("hold what the roof says", () => {
    expectEach(values, {
      achieved: [2e12, 0, Number.NaN, 2e12],
      attainable: [1e13, 0, Number.NaN, 1e14],
      bound_by: ["HBM", "HBM", "unknown", "compute"],
      bound_time: [0.1, 0.1, Number.NaN, 0.01],
      utilization: [0.2, 1, Number.NaN, 0.02],
      roof_fraction: [0.2, Number.NaN, Number.NaN, 0.02],
      peak_fraction: [0.02, 0, Number.NaN, 0.02],
      headroom: [0.4 * (0.4 / 0.5), 0, Number.NaN, 0.49],
    });
  });
  it("without a roof tell nothing of one, and keep the levels' own names", () => {
    const keys = columnsOf(KERNELS, undefined).map(({ key }) => key);
    expect(keys).toContain("bytes:DRAM");
    expect(keys).toContain("ai:L2");
    for (const key of ["attainable", "bound_by", "headroom", "bandwidth_utilization:DRAM"]) {
      expect(keys).not.toContain(key);
    }
  });
  it("of the file come last, their unit off the heading, and their names give way to ours", () => {
    expect(COLUMNS.slice(-2).map(({ key, title }) => [key, title])).toEqual([
      ["XProf HBM bandwidth (B/s)", "XProf HBM bandwidth"],
      ["extra:share", "share"],
    ]);
    expect(cells("XProf HBM bandwidth (B/s)")).toEqual(["200 GB/s", "1 TB/s", "–", "2 GB/s"]);
  });
  it("have keys of their own each", () => {
    const keys = COLUMNS.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });
  it("tell FLOPs by precision apart where kernels have several", () => {
    const mixed = makeKernels([{ flops: { fp16: 3, fp32: 5 }, bytes: 1 }]);
    const found = columnsOf(mixed, undefined).filter(({ key }) => key.startsWith("flops"));
    expect(found.map(({ key }) => [key, found.find((one) => one.key === key)?.at(0)])).toEqual([
      ["flops", 8],
      ["flops:fp16", 3],
      ["flops:fp32", 5],
    ]);
  });
});

describe("the usual columns", () => {
  const keys = (columns: readonly Column[]) => columns.map(({ key }) => key);
  it("of a measured profile are those of a performance engineer", () => {
    expect(keys(usualColumns(COLUMNS, KERNELS, ROOF))).toEqual([
      ...["rank", "name", "self_time", "share", "cumulative_share", "utilization", "headroom", "bound_by"],
      ...["achieved", "attainable", "peak_fraction", "ai:HBM", "flops", "bytes:HBM", "category"],
    ]);
  });
  it("leave out time, and what hangs on it, where none was measured", () => {
    const kernels = makeKernels([{ flops: 1, bytes: 1 }]);
    expect(keys(usualColumns(columnsOf(kernels, ROOF), kernels, ROOF))).toEqual([
      ...["name", "bound_time", "bound_by", "attainable", "ai:HBM", "flops", "bytes:HBM"],
    ]);
  });
  it("end with where a kernel is in its program, if the file says so", () => {
    const kernels = makeKernels([{ flops: 1, bytes: 1 }]);
    const extra = new Map([
      ["source_info", ["model.py:12"]],
      ["program id", ["7"]],
      ["resources", ["a"]],
    ]);
    const told = {
      ...kernels,
      extra: new Map([...extra].map(([name, values]) => [name, { codes: new Int32Array(1), values }])),
    };
    expect(keys(usualColumns(columnsOf(told, ROOF), told, ROOF)).slice(-2)).toEqual(["source_info", "program id"]);
  });
  it("with all levels hold each that kernels tell of", () => {
    const all = makeRoof(CHIP, "auto", "all");
    expect(keys(usualColumns(columnsOf(KERNELS, all), KERNELS, all))).toEqual(
      expect.arrayContaining(["bytes:HBM", "bytes:L2", "ai:HBM", "ai:L2"]),
    );
  });
  it("are picked by key, and keys of no column are passed over", () => {
    expect(keys(picked(COLUMNS, ["headroom", "ai:VMEM", "name"]))).toEqual(["headroom", "name"]);
  });
  it("take one in where it stands among all, and out again", () => {
    const shown = ["name", "flops", "headroom"];
    expect(toggled(COLUMNS, shown, "time")).toEqual(["name", "time", "flops", "headroom"]);
    expect(toggled(COLUMNS, shown, "extra:share")).toEqual([...shown, "extra:share"]);
    expect(toggled(COLUMNS, shown, "flops")).toEqual(["name", "headroom"]);
  });
});

describe("a cell", () => {
  it("says numbers as the chart does, and a dash for what is unknown", () => {
    expectEach(cells, {
      flops: ["1 TFLOP", "0 FLOP", "–", "1 TFLOP"],
      "ai:HBM": ["10 FLOP/B", "0 FLOP/B", "–", "1000 FLOP/B"],
      share: ["40 %", "10 %", "–", "50 %"],
      headroom: ["320 ms", "0 s", "–", "490 ms"],
      category: ["matmul", "–", "–", "–"],
    });
  });
  it("says of a kernel without bytes what the tooltip says: an infinite intensity", () => {
    const kernels = makeKernels([
      { flops: 1e12, bytes: 0, time: 1 },
      { flops: 0, bytes: 0, time: 1 },
    ]);
    const ai = column("ai:HBM", columnsOf(kernels, ROOF));
    expect(cellsOf(ai, 2)).toEqual(["∞ FLOP/B", "–"]);
    expect(tooltipRows(kernels, 0, ROOF)).toContainEqual(["AI", "∞ FLOP/B"]);
  });
  it("says an attainable rate with the digits of the tooltip and the sentence: four where it is a peak", () => {
    const roof = makeRoof(
      makeChip({ peaks: { bf16: 9.894e14 }, memories: { HBM: 3.352e12 } }),
      "auto",
      "main",
      {},
      {
        launchOverhead: 1,
      },
    );
    const kernels = makeKernels([
      { flops: 1e12, bytes: 1e6 },
      { flops: 1e12, bytes: 1e12 },
      { flops: 1e15, bytes: 1 },
    ]);
    const attainable = column("attainable", columnsOf(kernels, roof));
    const rates = ["989.4 TFLOP/s", "3.35 TFLOP/s", "989.4 TFLOP/s"];
    for (const [row, rate] of rates.entries()) {
      expect(cellText(attainable, row)).toBe(rate);
      expect(tooltipRows(kernels, row, roof)).toContainEqual(["attainable", rate]);
      expect(sentenceOf(kernels, row, roof)).toContain(`= ${rate} attainable`);
    }
  });
  it("does not write out what a share is that is next to none", () => {
    const share = column("share", columnsOf(makeKernels([{ time: 1e-9 }, { time: 1 }, { time: 0 }]), undefined));
    expect(cellsOf(share, 3)).toEqual(["< 0.01 %", "99.9999999 %", "0 %"]);
  });
  it("has the kernel's short name, the whole one when it is pointed at, and a word for none", () => {
    const named = makeKernels([{ name: "void at::add<float>(int)", short: "add" }, { name: "plain" }, { name: " " }]);
    const name = column("name", columnsOf(named, undefined));
    expect(cellsOf(name, 3)).toEqual(["add", "plain", "(unnamed 2)"]);
    expect(cellTitle(name, 0, named)).toBe("void at::add<float>(int)");
  });
  it("shows characters that turn the text as the replacement character when a cell is pointed at", () => {
    const named = makeKernels([{ name: "a\u202egnp.exe" }], { origin: { flops: ["from \u202ea file"] } });
    const columns = columnsOf(named, undefined);
    const title = (key: string) => cellTitle(column(key, columns), 0, named);
    expect(title("name")).toBe("a\ufffdgnp.exe");
    expect(title("flops")).toContain("from \ufffda file");
  });
  it("does not round whole numbers without a unit: they may be identifiers", () => {
    const told = makeKernels([{}, {}], { extra: { program: [123_456_789_012, 0.123456] } });
    const program = columnsOf(told, undefined).at(-1) as Column;
    expect(cellsOf(program, 2)).toEqual(["123456789012", "0.1235"]);
  });
  it("says why the bound of a kernel with bytes at other levels is unknown", () => {
    const kernels = makeKernels([{ flops: 1, bytes: { L9: 1 } }]);
    const bound = column("bound_by", columnsOf(kernels, ROOF));
    expect(cellTitle(bound, 0, kernels)).toBe("unknown\nits bytes are at L9, which chip lacks; it has HBM, L2, L1");
  });
  it("tells where its number came from", () => {
    const title = (key: string) => cellTitle(column(key), 0, KERNELS);
    expect(title("flops")).toBe("flops: 2MNK");
    expect(title("bytes:HBM")).toBe("bytes:DRAM: dram__bytes");
    expect(cellTitle(column("achieved"), 3, KERNELS)).toBe("flops: from the shapes");
    expectEach(title, { headroom: "flops: 2MNK\nbytes:DRAM: dram__bytes", "ai:L2": "flops: 2MNK", time: "" });
    expect(cellTitle(column("flops"), 2, KERNELS)).toBe("unknown");
  });
});
