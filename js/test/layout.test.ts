import { expect, test } from "vitest";
import { layoutOf } from "../src/layout.ts";

test.each([
  [1368, 900, 440, 904, 580],
  [1248, 900, 416, 808, 580],
  [992, 768, 360, 608, 436],
])("a page of %i px in a window of %i px has an inspector of %i px and a chart of %i × %i px", (...sizes) => {
  const [width, visible, side, chartWidth, height] = sizes;
  const { kind, chart, inspector } = layoutOf({ width, visible, isOpen: true });
  expect([kind, inspector, chart]).toEqual([
    "wide",
    { width: side, height: height + 48 },
    { width: chartWidth, height },
  ]);
});

test("a narrow view has the inspector below a chart of 0.69 of its width", () => {
  const { kind, chart, inspector } = layoutOf({ width: 448, visible: 900, isOpen: true });
  expect([kind, inspector?.width, chart]).toEqual(["narrow", 448, { width: 448, height: 308 }]);
});

test("between the two the inspector has the whole width below the chart", () => {
  const { kind, chart, inspector } = layoutOf({ width: 800, visible: 900, isOpen: true });
  expect([kind, inspector?.width, chart.width]).toEqual(["medium", 800, 800]);
});

test("with no open tab the chart has the whole width", () => {
  expect(layoutOf({ width: 1248, visible: 900, isOpen: false })).toEqual({
    kind: "wide",
    chart: { width: 1248, height: 580 },
    inspector: undefined,
  });
});

test("a chart is never lower than 360 px nor higher than 640 px, and its height is a multiple of 4 px", () => {
  const heightOf = (visible: number) => layoutOf({ width: 1248, visible, isOpen: true }).chart.height;
  expect([300, 679, 683, 701, 5000].map(heightOf)).toEqual([360, 360, 364, 380, 580]);
  expect(layoutOf({ width: 2000, visible: 5000, isOpen: false }).chart.height).toBe(640);
});

test("below a story the chart takes what is left of the window, but at least 300 px", () => {
  const heightOf = (told: number, hasSliders = false) =>
    layoutOf({ width: 1248, visible: 720, isOpen: true, told, hasSliders });
  expect(heightOf(268).chart.height).toBe(452);
  expect(heightOf(600).chart.height).toBe(300);
  expect([heightOf(268).inspector?.height, heightOf(268, true).inspector?.height]).toEqual([452, 500]);
});
