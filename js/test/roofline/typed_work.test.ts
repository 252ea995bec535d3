// FLOPs and bytes that are typed for kernels without.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/typed_work.json";
import { pointsOf } from "../../src/roofline/points.ts";
import { bytesAt } from "../../src/roofline/roofline.ts";
import { TYPED_ORIGIN, unknownWork, withTypedWork } from "../../src/roofline/typed_work.ts";
import { textAt } from "../../src/wire/columns.ts";
import type { TypedWork } from "../../src/wire/types.ts";
import { type KernelSpec, makeChip, makeKernels, makeRoof } from "../helpers.ts";

const known = (column: Float64Array) => [...column].map((value) => (Number.isNaN(value) ? null : value));
const CHIP = makeChip();

describe("typed work", () => {
  it.each(golden.cases)("fills what is unknown: $title", ({ kernels, typed, flops, bytes, origins }) => {
    const given = makeKernels(kernels as readonly KernelSpec[]);
    const found = withTypedWork(given, typed as TypedWork);
    expect(known(found.totalFlops)).toEqual(flops);
    expect(known(bytesAt(found, CHIP, "HBM"))).toEqual(bytes);
    const texts = [...found.origin].map(([key, column]) => [key, kernels.map((_, row) => textAt(column, row))]);
    const typedTexts = Object.entries(origins).map(([key, marks]) => [
      key,
      marks.map((mark) => (mark ? TYPED_ORIGIN : null)),
    ]);
    expect(texts).toEqual(typedTexts);
    expect(golden.origin).toBe(TYPED_ORIGIN);
  });
  it("gives a measured kernel a point, and one without time a mark on its roof", () => {
    const roof = makeRoof(CHIP);
    const specs = [{ time: 1 }, {}];
    const [before, after] = [
      makeKernels(specs),
      withTypedWork(makeKernels(specs), { 0: { flops: 1e12, bytes: 1e10 }, 1: { flops: 1e12, bytes: 1e10 } }),
    ];
    expect(pointsOf(before, [roof], roof).n).toBe(0);
    const { n, x, y } = pointsOf(after, [roof], roof);
    expect([n, [...x], [...y]]).toEqual([2, [100, 100], [1e12, 1e14]]);
  });
  it("can be typed where the chip of the kernels has no bytes in its main memory", () => {
    const chip = makeChip({ memories: { HBM: 4e12, LPDDR5X: 5e11 } });
    const kernels = { ...makeKernels([{ flops: 1, bytes: { LPDDR5X: 2 } }]), chip };
    expect(unknownWork(kernels, 0)).toEqual({ flops: false, bytes: true });
    expect([...bytesAt(withTypedWork(kernels, { 0: { bytes: 7 } }), chip, "HBM")]).toEqual([7]);
    expect(unknownWork({ ...kernels, chip: null, byLevel: new Map() }, 0)).toEqual({ flops: false, bytes: false });
  });
});
