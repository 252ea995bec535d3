// The kernels that a person types or pastes, on the golden file that Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/playground.json";
import {
  EMPTY_TABLE,
  FORMS,
  type Form,
  type KernelTable,
  kernelsOf,
  MAX_ROWS,
  type Row,
  readPasted,
  recordOf,
  tableOf,
  withPasted,
} from "../../src/playground/kernel_table.ts";
import { wireKernels } from "../../src/playground/records.ts";
import { judge } from "../../src/roofline/bound.ts";
import { MEASURED, pointsOf } from "../../src/roofline/points.ts";
import { decodeKernels } from "../../src/wire/decode.ts";
import { makeChip, makeRoof, several } from "../helpers.ts";

const ROOF = makeRoof(makeChip({ peaks: { bf16: golden.peak }, memories: { HBM: golden.bandwidth } }));

const typed = (form: Form, ...rows: readonly Row[]): KernelTable => ({
  form,
  rows: { ...EMPTY_TABLE.rows, [form]: rows },
});
function pasted(text: string, form: Form = "work") {
  const read = readPasted(text, form);
  if (typeof read === "string") throw new Error(read);
  return withPasted(EMPTY_TABLE, read.form, read.rows);
}
const shown = (table: KernelTable) => decodeKernels(wireKernels(recordOf(table)));

describe("a pasted table", () => {
  it.each(FORMS)("has the points and bounds of the golden file: %s", (form) => {
    const kernels = shown(pasted(golden[form].text));
    const points = pointsOf(kernels, [ROOF], ROOF);
    expect(kernels.n).toBe(golden[form].kernels.length);
    for (const [row, expected] of golden[form].kernels.entries()) {
      const bound = judge(kernels, ROOF)(row);
      expect(kernels.name.values[kernels.name.codes[row] as number]).toBe(expected.name);
      expect(bound.boundBy).toBe(expected.bound_by);
      const found = { intensity: bound.ai, rate: bound.achieved, utilization: bound.utilization, bound: bound.time };
      for (const name of ["intensity", "rate", "utilization", "bound"] as const) {
        if (expected[name] === null) expect(found[name], name).toBeNaN();
        else expect(Math.abs(found[name] - expected[name]), name).toBeLessThanOrEqual(1e-15 * expected[name]);
      }
      const at = points.home[row] as number;
      expect(points.roof[at] === MEASURED).toBe(expected.rate !== null);
    }
  });
  it.each(FORMS)("may have tabs, no header, and units: %s", (form) => {
    const lines = golden[form].text.trim().split("\n");
    const bare = `${lines.slice(1).join("\r\n").replaceAll(",", "\t")}\r\n`;
    expect(recordOf(pasted(bare, form))).toEqual(recordOf(pasted(golden[form].text)));
  });
  it("may have its columns in another order, as its header says", () => {
    const read = readPasted("Time,Kernel,Bytes,FLOPs\n12 ms,a,12 GB,4 TFLOP", "ratios");
    expect(read).toEqual({ form: "work", rows: [["a", "4 TFLOP", "12 GB", "12 ms"]] });
  });
  it("takes the place of blank rows, and comes after the others", () => {
    const before = typed("work", ["own", "1", "2", ""], ["", "", " ", ""]);
    expect(withPasted(before, "work", [["a", "3", "4", ""]]).rows.work.map(([name]) => name)).toEqual(["own", "a"]);
  });
  it.each<[string, Form, string]>([
    [
      "a,1,2",
      "work",
      "Row 1 has 3 cells. The columns are name, FLOPs, bytes, time. Leave unknown cells empty, or name the columns in a header.",
    ],
    [
      "a\t12\t1 GFLOP/s\nb, or c\t12",
      "ratios",
      "Row 2 has 2 cells. The columns are name, intensity, rate. Leave unknown cells empty, or name the columns in a header.",
    ],
    [
      "name,flops,bytes,time\na,1,2,3\nb,1,2 apples,3",
      "work",
      "Row 3, bytes: “2 apples” is not a number of bytes; write for example “12 GB”.",
    ],
    ["a,1,12 ms,", "work", "Row 1, bytes: “12 ms” is not a number of bytes; write for example “12 GB”."],
    ["a,1,2,-3", "work", "Row 1, time: “-3” is below zero; write for example “12 ms”."],
    ["a,1e400,2,", "work", "Row 1, FLOPs: “1e400” is not a number of FLOPs; write for example “4 TFLOP”."],
    [
      "name,work,traffic,time\na,1,2,3",
      "work",
      "Row 1, FLOPs: “work” is not a number of FLOPs; write for example “4 TFLOP”.",
    ],
    [" \n", "work", "There is no row to add."],
    ["name,flops,bytes,time", "work", "There is no row to add."],
  ])("that cannot be read names the row, the column and what to do: %j", (text, form, sentence) => {
    expect(readPasted(text, form)).toBe(sentence);
  });
  it("has at most a number of rows, which a profile has more of", () => {
    const text = several(MAX_ROWS + 1, (at) => `k${at},1,1,`).join("\n");
    expect(readPasted(text, "work")).toBe(
      `The table has ${MAX_ROWS + 1} rows, and the playground takes ${MAX_ROWS}. roofwidget.read reads larger tables in Python.`,
    );
  });
});

describe("a typed table", () => {
  it("has units as the rest of the package reads them", () => {
    const table = typed(
      "work",
      ["a", "4 TFLOP", "1.6 GB", "12 ms"],
      ["b", "2^", "", ""],
      ["c", "1e9", "3 GiB", "7 µs"],
    );
    const { kernels, faults } = kernelsOf(table);
    expect(kernels).toEqual({
      names: ["a", "c"],
      numbers: { flops: [4e12, 1e9], bytes: [1.6e9, 3 * 2 ** 30], time: [0.012, 7e-6] },
    });
    expect(faults).toEqual([
      { row: 1, column: 1, text: "Row 2, FLOPs: “2^” is not a number of FLOPs; write for example “4 TFLOP”." },
    ]);
    expect(kernelsOf(typed("ratios", ["d", "12.5", "4.3 TFLOP/s"])).kernels.numbers).toEqual({
      intensity: [12.5],
      rate: [4.3e12],
    });
  });
  it("has no kernel for a row without a number, and unknown amounts for empty cells", () => {
    const { kernels } = kernelsOf(typed("work", ["a name alone", "", "", ""], ["", "", "8 GB", ""]));
    expect(kernels).toEqual({
      names: ["kernel 2"],
      numbers: { flops: [Number.NaN], bytes: [8e9], time: [Number.NaN] },
    });
  });
  it.each<[Form, Row[]]>([
    [
      "work",
      [
        ["a", "4 TFLOP", "1.6 GB", "12 ms"],
        ["b", "1 FLOP", "", ""],
        ["c", "1.23456789012 GFLOP", "3 B", "0 s"],
      ],
    ],
    [
      "ratios",
      [
        ["a", "0.083 FLOP/B", "15.4 GFLOP/s"],
        ["b", "0.1 FLOP/B", ""],
      ],
    ],
  ])("is the same after its kernels became a table again: %s", (form, rows) => {
    expect(tableOf(wireKernels(recordOf(typed(form, ...rows))))?.rows[form]).toEqual(rows);
  });
  it("is no table of kernels that have other columns", () => {
    const record = { names: ["a"], flops: { "": [1] }, bytes: { main: [1] } };
    expect(tableOf(wireKernels(record))).toBeDefined();
    for (const more of [
      { flops: { bf16: [1] } },
      { bytes: { L2: [1] } },
      { count: [2] },
      { category: { values: ["x"] } },
      { intensity: [1] },
    ]) {
      expect(tableOf(wireKernels({ ...record, ...more }))).toBeUndefined();
    }
  });
});
