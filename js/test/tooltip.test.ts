import { describe, expect, it } from "vitest";
import { placeTooltip } from "../src/chart/tooltip.tsx";

const CHART = { width: 700, height: 400 };
const SIZE = { width: 250, height: 220 };

describe("the tooltip", () => {
  it("stands right of its point, or left of it where there is no room on the right", () => {
    expect(placeTooltip({ x: 100, y: 100 }, SIZE, CHART, 40)).toEqual({ left: 116, top: 70 });
    expect(placeTooltip({ x: 600, y: 100 }, SIZE, CHART, 40)).toEqual({ left: 334, top: 70 });
  });
  it("never leaves the widget at the top or at the bottom", () => {
    for (let y = 0; y <= CHART.height; y += 10) {
      const { top } = placeTooltip({ x: 100, y }, SIZE, CHART, 40);
      expect(top).toBeGreaterThanOrEqual(4);
      expect(top + SIZE.height).toBeLessThanOrEqual(CHART.height + 40);
    }
  });
  it("leaves a narrow chart in sight where the widget goes on below it", () => {
    const narrow = { width: 360, height: 280 };
    expect(placeTooltip({ x: 180, y: 40 }, SIZE, narrow, 228)).toEqual({ left: 55, top: 284 });
    expect(placeTooltip({ x: 20, y: 260 }, SIZE, narrow, 500)).toEqual({ left: 4, top: 284 });
  });
  it("goes below or above its point where neither side has room", () => {
    const narrow = { width: 360, height: 280 };
    expect(placeTooltip({ x: 180, y: 40 }, SIZE, narrow, 190)).toEqual({ left: 55, top: 56 });
    expect(placeTooltip({ x: 180, y: 260 }, SIZE, narrow, 0)).toEqual({ left: 55, top: 24 });
  });
});
