// What a change of the theme, the selection or the filter computes anew: a theme changes colours only.

import { expect, it } from "vitest";
import { labelColour } from "../../src/chart/labels/engine.ts";
import { lineBoxes, pointBoxes } from "../../src/chart/labels/obstacles.ts";
import { placedLabels, rooflineData, rooflineMarks, rooflineScene } from "../../src/chart/roofline_layers.tsx";
import type { Scene } from "../../src/chart/scene.ts";
import { DARK, LIGHT } from "../../src/chart/theme.ts";
import { seeded, several, wireChip, wireKernels } from "../helpers.ts";
import { onOneChip, storeOf } from "../scenes.ts";

const SIZE = { width: 760, height: 420 };
const random = seeded(17);
const KERNELS = several(60, (row) => {
  const bytes = 1e8 + 1e9 * random();
  return { name: `kernel ${row}`, flops: bytes * 10 ** (3 * random()), bytes, time: 0.002 + 0.05 * random() };
});
const CHIPS = [wireChip({ memories: { HBM: 1e12, L2: 1e13 }, name: "One" }), wireChip({ id: "two", name: "Two" })];
const STATE = { chips: CHIPS, shown: ["chip", "two"], selected: [3] };

/** Draws the states of a chart one after the other, as the chart on the screen does. */
function chart(more: Record<string, unknown> = {}) {
  const store = storeOf(onOneChip(KERNELS, { ...STATE, ...more }));
  const data = rooflineData(store, store.rows.points);
  let last: Scene | undefined;
  const draw = (theme = LIGHT) => {
    const { scene, ghosts } = rooflineScene(store, data, SIZE, theme, { scene: last, axes: undefined });
    last = scene;
    const marks = rooflineMarks(store, data, scene, ghosts);
    return { labels: placedLabels(scene, marks), marks, scene };
  };
  return { store, draw };
}

it.each([
  ["one memory", {}],
  ["all memory levels", { memory: "all", all_levels: true }],
])("a change of the theme places no label and no arrow anew: %s", (_, more) => {
  const { draw } = chart(more);
  const [light, dark] = [draw(LIGHT), draw(DARK)];
  expect(light.labels.length).toBeGreaterThan(5);
  expect(dark.labels).toBe(light.labels);
  expect(dark.marks.gaps).toBe(light.marks.gaps);
});

it("after a change of the theme labels look as in a fresh chart of that theme", () => {
  const { draw } = chart();
  const drawn = ({ labels, scene }: ReturnType<typeof draw>) =>
    labels.map((label) => [label.key, label.text, label.x, label.y, labelColour(label, scene)]);
  const light = drawn(draw(LIGHT));
  const dark = drawn(draw(DARK));
  expect(dark).toEqual(drawn(chart().draw(DARK)));
  expect(dark).not.toEqual(light);
});

it("a change of the selection or of the filter places labels anew", () => {
  const { store, draw } = chart();
  const keys = () => draw().labels.map(({ key }) => key);
  const boldKeys = () => draw().labels.flatMap(({ key, bold }) => (bold && key.startsWith("kernel ") ? [key] : []));
  expect(boldKeys()).toEqual(["kernel 3"]);
  store.rows.selected.value = [7];
  expect(boldKeys()).toEqual(["kernel 7"]);
  store.rows.selected.value = [];
  store.view.search.value = "12";
  expect(keys().filter((key) => key.startsWith("kernel "))).toEqual(["kernel 12"]);
});

it("a change of the selection moves no point and no roof, so the boxes that labels avoid stay", () => {
  const { store, draw } = chart();
  const boxes = () => {
    const { scene } = draw();
    return { lines: lineBoxes(scene), points: pointBoxes(scene) };
  };
  const first = boxes();
  expect(first.points.length).toBe(KERNELS.length);
  store.rows.selected.value = [7];
  expect(boxes().lines).toBe(first.lines);
  expect(boxes().points).toBe(first.points);
  store.view.zoom.value = [1, 1000, 1e11, 1e14];
  expect(boxes().lines).not.toEqual(first.lines);
  expect(boxes().points).not.toEqual(first.points);
});

it("in hierarchical mode the boxes of the lines that join the points of a kernel follow the marked kernel", () => {
  const onTwoLevels = KERNELS.map((kernel) => ({ ...kernel, bytes: { HBM: kernel.bytes, L2: 3 * kernel.bytes } }));
  const many = several(15, () => onTwoLevels).flat();
  const { store, draw } = chart({ kernels: wireKernels(many), memory: "all", all_levels: true, selected: [] });
  const lines = () => lineBoxes(draw().scene);
  const first = lines();
  store.rows.selected.value = [7];
  expect(lines().length).toBe(first.length + 1);
  store.rows.selected.value = [8];
  expect(lines()).not.toEqual(first);
});
