// The units of operations: operations of integers are no FLOPs.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/operations.json";
import { unitsOf } from "../../src/chart/axis_units.ts";
import { unitsIn } from "../../src/chart/scene.ts";
import { cellText, columnFor, columnsOf } from "../../src/panels/table/columns.ts";
import { possibleCeilings, subRoofsOf } from "../../src/roofline/ceilings.ts";
import { type Operation, operationOf, operationsOf } from "../../src/roofline/operations.ts";
import { createStore } from "../../src/state/store.ts";
import { sentenceOf, sentenceOfRoof, tooltipRows } from "../../src/text/describe.ts";
import { parseRate, spokenRate } from "../../src/text/numbers.ts";
import { DEFAULT_AXES, eachWithClock, type KernelSpec, makeChip, makeKernels, makeRoof, wireChip } from "../helpers.ts";
import { onOneChip } from "../scenes.ts";

const abort = eachWithClock();
const { chip, kernels: told } = golden.reports;
const CARD = makeChip({ ...chip, id: "card" });
const ROOF = makeRoof(CARD);
const KERNELS = makeKernels(told as readonly KernelSpec[]);

describe("the unit of a kernel", () => {
  it("is that of its operations, as in Python", () => {
    for (const { flops, precision, asked, unit } of golden.units) {
      const kernels = makeKernels([{ flops, bytes: 1, precision } as KernelSpec]);
      expect([flops, precision, asked, operationOf(kernels, 0, asked)]).toEqual([flops, precision, asked, unit]);
    }
  });
  it("is found for a whole table at once", () => {
    expect([...operationsOf(KERNELS, "bf16")].sort()).toEqual(["FLOP", "OP"]);
    expect([...operationsOf(makeKernels([{ flops: 1, bytes: 1 }]), "int8")]).toEqual(["OP"]);
    expect(operationsOf(makeKernels([]), "int8").size).toBe(0);
  });
});

describe("the axes", () => {
  it("name every unit that they show", () => {
    for (const { operations, x, y } of golden.axes) {
      const units = unitsOf(DEFAULT_AXES, null, {}, new Set(operations as Operation[]));
      expect([units.xTitle, units.yTitle.join(" · ")]).toEqual([`arithmetic intensity (${x})`, y]);
    }
  });
  it("keep the unit in balance, in words and per cycle", () => {
    const integers = new Set<Operation>(["OP"]);
    const units = unitsOf({ ...DEFAULT_AXES, xAxis: "balance", rateUnit: "FLOP/cycle" }, 1e9, {}, integers);
    expect([units.xTitle, ...units.yTitle, units.rate(2e12)]).toEqual(["balance (B/OP)", "OP/cycle", "2000 OP/cycle"]);
    expect(unitsOf({ ...DEFAULT_AXES, word: 4 }, null, {}, integers).xShort).toBe("AI (OP/word of 4 B)");
  });
  it("of a chart are those of its kernels and of its shown roofs", () => {
    const titleOf = (specs: readonly KernelSpec[], precision = "auto") => {
      const chips = [wireChip({ peaks: { bf16: 1e14, int8: 2e14 } })];
      const store = createStore(onOneChip(specs, { chips, precision }), abort().signal);
      return unitsIn(store, store.rates.focusRoof.value).yTitle.join(" · ");
    };
    const [float, integer] = [
      { flops: { bf16: 1 }, bytes: 1 },
      { flops: { int8: 1 }, bytes: 1 },
    ];
    expect([titleOf([]), titleOf([float]), titleOf([{ flops: 1, bytes: 1 }])]).toEqual(["FLOP/s", "FLOP/s", "FLOP/s"]);
    // With the precision "auto", the roof has the precision that all kernels share.
    expect([titleOf([integer]), titleOf([], "int8"), titleOf([{ flops: 1, bytes: 1 }], "int8")]).toEqual(
      Array(3).fill("OP/s"),
    );
    expect([titleOf([float, integer]), titleOf([integer], "bf16")]).toEqual(Array(2).fill("FLOP/s · OP/s"));
  });
});

describe("the texts of a kernel", () => {
  it("have the unit of its own operations", () => {
    told.forEach(({ name, ai, achieved, attainable }, row) => {
      const rows = new Map(tooltipRows(KERNELS, row, ROOF));
      expect([name, ...["AI", "achieved", "attainable"].map((key) => rows.get(key))]).toEqual([
        name,
        ai,
        achieved,
        attainable,
      ]);
      const cell = (key: string) => {
        const column = columnFor(columnsOf(KERNELS, ROOF), key);
        return column && cellText(column, row);
      };
      expect([cell("ai:HBM"), cell("achieved"), cell("attainable")]).toEqual([ai, achieved, attainable]);
    });
  });
  it("say the int8 peak in TOP/s", () => {
    expect(sentenceOf(KERNELS, 0, ROOF)).toBe(
      "quantized on card · min(200 TOP/s, 400 OP/B × 1 TB/s) = 200 TOP/s attainable · compute-bound · 50 % of peak · " +
        "50 % of roof · 2× possible",
    );
    expect(sentenceOfRoof(makeRoof(CARD, "int8"))).toContain("200 TOP/s");
    expect(sentenceOfRoof(makeRoof(CARD, "int8"))).toContain("200 OP/B");
    expect(sentenceOfRoof(ROOF)).toContain("100 FLOP/B");
  });
  it("speak of operations where a count or a peak is missing", () => {
    const one = (spec: KernelSpec) => sentenceOf(makeKernels([{ name: "k", bytes: 1, ...spec }]), 0, ROOF);
    expect(one({ flops: { int4: 1 } })).toBe("k on card · card has no peak for its int4 operations");
    expect(one({ flops: { fp8: 1 } })).toBe("k on card · card has no peak for its fp8 FLOPs");
    expect(one({ flops: null, precision: "int8" })).toContain("its operations or bytes are unknown");
    expect(one({ flops: 0, bytes: 1e9, precision: "int8" })).toContain("0 OP, 1 GB: at least 1 ms");
  });
});

describe("the table", () => {
  it("counts operations if some of them are of integers, and keeps the names of columns in files", () => {
    const heads = (kernels: ReturnType<typeof makeKernels>) =>
      columnsOf(kernels, ROOF).flatMap(({ key, title, meaning }) =>
        /^(flops|achieved|ai)/.test(key) ? [[key, title, meaning]] : [],
      );
    expect(heads(KERNELS)).toEqual([
      ["flops", "Operations", "Operations over all precisions"],
      ["flops:int8", "int8 operations", "Operations of int8"],
      ["flops:bf16", "bf16 FLOPs", "FLOPs of bf16"],
      ["ai:HBM", "HBM AI", "Operations over bytes, HBM"],
      ["achieved", "Achieved", "Operations over measured time"],
    ]);
    expect(heads(makeKernels([{ flops: 1, bytes: 1 }]))[0]).toEqual(["flops", "FLOPs", "FLOPs over all precisions"]);
  });
});

describe("a ceiling", () => {
  it("has the unit of its precision", () => {
    const found = subRoofsOf(
      makeRoof(CARD, "int8"),
      possibleCeilings(makeRoof(CARD, "int8"), "main", ["bf16"]),
      [0.5],
      String,
    );
    expect(found.map(({ name, operation }) => [name, operation])).toEqual([
      ["bf16", "FLOP"],
      ["0.5", "OP"],
    ]);
  });
});

describe("a typed rate of integers", () => {
  it("is read and spoken in operations", () => {
    expect([parseRate("2 POP/s", "OP/s", 1), parseRate("300 tops", "OP/s", 1)]).toEqual([2e15, 3e14]);
    expect(parseRate("2 TB/s", "OP/s", 1)).toBe("“TB/s” is not a unit of OP/s; write for example “2 POP/s”");
    expect(spokenRate(2e15, "OP/s")).toBe("2 petaoperations per second");
  });
});
