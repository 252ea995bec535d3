// Rows for spreadsheets: every digit, and no text that one would take for a formula.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/csv_guard.json";
import { columnsOf, exportedColumns, picked } from "../../src/panels/table/columns.ts";
import { harmless, toCsv, toTsv } from "../../src/panels/table/csv.ts";
import { fileName } from "../../src/ui/download.ts";
import type { Kernels } from "../../src/wire/columns.ts";
import { makeChip, makeKernels, makeRoof } from "../helpers.ts";

const KERNELS = makeKernels(
  [
    { name: 'say "hi", you', flops: 1 / 3, bytes: 12, time: 1e-7 },
    { name: "=HYPERLINK(1)", flops: null, bytes: 3e21, time: 2 },
    { name: "two\nlines\tand a tab", flops: -0, bytes: 1, time: null },
  ],
  { extra: { "@column, odd": [-1.5, 2, Number.NaN] } },
);
const COLUMNS = picked(columnsOf(KERNELS, undefined), ["name", "flops", "bytes:main", "time", "@column, odd"]);
const ROWS = Int32Array.of(2, 0, 1);

describe("a CSV file", () => {
  it("has a line of keys and one a row, in the order asked for, quoted where need be", () => {
    expect(toCsv(COLUMNS, ROWS)).toBe(
      [
        `name,flops,bytes:main,time,"'@column, odd"`,
        `"two\nlines\tand a tab",0,1,,`,
        `"say ""hi"", you",0.3333333333333333,12,1e-7,-1.5`,
        `'=HYPERLINK(1),,3e+21,2,2`,
        "",
      ].join("\r\n"),
    );
  });
});

describe("the names in a file", () => {
  it("are those by which it may be read again, and none stands twice", () => {
    const columns = columnsOf(makeKernels([{ bytes: 1 }], { extra: { "grid size": [1], time: [2] } }), undefined);
    const some = picked(columns, ["name", "bytes:main", "grid size", "time", "extra:time"]);
    expect(toCsv(some, new Int32Array(0))).toBe("name,bytes:main,grid size,time,extra:time\r\n");
  });
});

describe("the columns of a file", () => {
  const ran = makeChip({ id: "h100", name: "NVIDIA H100", memories: { HBM: 1e12, L2: 1e13 } });
  const roof = makeRoof(makeChip({ id: "mi300x", name: "AMD MI300X" }));
  const specs = [
    { name: "gemm", flops: { bf16: 3, fp32: 5 }, bytes: { DRAM: 7, L2: 9 }, time: 2, selfTime: 1, count: 4 },
    { name: "copy", flops: 1, bytes: 2, time: 1, precision: "bf16", category: "loop" },
  ];
  const told = { extra: { shape: ["8x8", "4x4"], stream: [1, 2] } };
  const written = (kernels: Kernels, keys: readonly string[]) => {
    const columns = columnsOf(kernels, roof);
    const all = exportedColumns(columns, picked(columns, keys), kernels, roof);
    return toCsv(
      all,
      Int32Array.from({ length: kernels.n }, (_, row) => row),
    )
      .trimEnd()
      .split("\r\n");
  };
  it("are those shown, then what it takes to read it again, and the chips that judge and that it ran on", () => {
    expect(written({ ...makeKernels(specs.slice(1), told), chip: ran }, ["name", "utilization"])).toEqual([
      "name,utilization,category,precision,count,time,self_time,flops,bytes:HBM,shape,chip,measured on",
      "copy,2e-12,loop,bf16,1,1,1,1,2,8x8,AMD MI300X,NVIDIA H100",
    ]);
  });
  it("tell FLOPs by precision without their sum, which would be counted twice", () => {
    expect(written(makeKernels(specs, told), ["flops", "name"])).toEqual([
      "flops,name,category,precision,count,time,self_time,flops:bf16,flops:fp32,bytes:HBM,bytes:L2,shape,chip",
      ",gemm,,,4,2,1,3,5,7,9,8x8,AMD MI300X",
      "1,copy,loop,bf16,1,1,1,,,2,,4x4,AMD MI300X",
    ]);
  });
  it("keep what a file that was read again tells of where it ran, and name the chip that judges now", () => {
    const again = { extra: { chip: ["old", "old"], "measured on": ["NVIDIA H100", null] } };
    const [head, first] = written(makeKernels(specs.slice(1), again), ["name", "chip", "stream"]);
    expect(head).toBe("name,category,precision,count,time,self_time,flops,bytes:HBM,measured on,chip");
    expect(first).toBe("copy,loop,bf16,1,1,1,1,2,NVIDIA H100,AMD MI300X");
  });
});

describe("a text with NUL", () => {
  it("has the replacement character instead", () => {
    expect(harmless("\0=1+1\0")).toBe("\ufffd=1+1\ufffd");
  });
});

describe("rows on the clipboard", () => {
  it("are apart by tabs", () => {
    expect(toTsv(COLUMNS, Int32Array.of(2, 0)).split("\n")).toEqual([
      "name\tflops\tbytes:main\ttime\t'@column, odd",
      `"two`,
      `lines\tand a tab"\t0\t1\t\t`,
      `"say ""hi"", you"\t0.3333333333333333\t12\t1e-7\t-1.5`,
      "",
    ]);
  });
});

describe("a text", () => {
  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠A"])(
    "such as %j is kept from being a formula",
    (text) => {
      expect(harmless(text)).toBe(`'${text}`);
    },
  );
  it.each(["", "gemm", "a=b", "'1", "%fusion.1", "(x)"])("such as %j stays as it is", (text) => {
    expect(harmless(text)).toBe(text);
  });
});

describe("a file's name", () => {
  it.each([
    ["/home/me/run 1.xplane.pb", "run-1.csv"],
    ["C:\\profiles\\A100.csv", "A100.csv"],
    ["Größe: 2×", "Größe-2.csv"],
    ["../..", "kernels.csv"],
    ["", "kernels.csv"],
  ])("out of %j is %j", (text, name) => {
    expect(fileName(text, "csv", "kernels")).toBe(name);
  });
});

describe("the guard of a text that a spreadsheet would take for a formula", () => {
  it.each(golden.guarded)("makes of %j the text %j, which Python reads back", (text, guarded) => {
    expect(harmless(text as string)).toBe(guarded);
  });
});
