// Rows for spreadsheets: every digit, and no text that one would take for a formula.

import { describe, expect, it } from "vitest";
import { columnsOf } from "../src/panels/table/columns.ts";
import { harmless, toCsv, toTsv } from "../src/panels/table/csv.ts";
import { fileName } from "../src/panels/table/saving.ts";
import { picked } from "../src/panels/table/shown.ts";
import { makeKernels } from "./helpers.ts";

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
  it.each(["", "gemm", "a=b", "'=1", "%fusion.1", "(x)"])("such as %j stays as it is", (text) => {
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
    expect(fileName(text)).toBe(name);
  });
});
