// The range of the axes that depends on the chips alone.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/chip_frame.json";
import { chipFrame, isInFrame } from "../../src/roofline/chip_frame.ts";
import { type ChipSpec, makeChip, makeRoof } from "../helpers.ts";

describe("the frame of the chips", () => {
  it.each(golden.cases)("is that of the golden file: $title", ({ memory, chips, x, y }) => {
    const roofs = chips.map(({ what_if = {}, ...figures }: { what_if?: object }, at) =>
      makeRoof(makeChip({ id: `${at}`, ...(figures as ChipSpec) }), "auto", memory, { [at]: what_if }),
    );
    const found = chipFrame(roofs);
    for (const [mine, wanted] of [[found?.x, x] as const, [found?.y, y] as const]) {
      expect(mine?.map((end, at) => end / (wanted?.[at] as number))).toEqual(wanted?.map(() => expect.closeTo(1, 12)));
    }
  });
  it("is the same for each precision of a chip", () => {
    const chip = makeChip({ peaks: { fp32: 2e13, bf16: 1e14 } });
    expect(chipFrame([makeRoof(chip, "fp32")])).toEqual(chipFrame([makeRoof(chip, "bf16")]));
  });
  it("leaves out points beyond an end, and keeps those that have a place beside the axes", () => {
    const frame = { x: [1, 10], y: [100, 1000] } as const;
    const inside = (x: number, y: number) => isInFrame(frame, x, y);
    expect([inside(1, 100), inside(10, 1000), inside(0, 1), inside(Number.POSITIVE_INFINITY, 500)]).toEqual(
      Array(4).fill(true),
    );
    expect([
      inside(0.9, 500),
      inside(11, 500),
      inside(5, 99),
      inside(5, 1001),
      inside(Number.POSITIVE_INFINITY, 1),
    ]).toEqual(Array(5).fill(false));
  });
});
