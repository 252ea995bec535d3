// Labels never overlap, the most important come first, and labels without room are left out.

import { describe, expect, it } from "vitest";
import { overlap } from "../../src/chart/labels/box_index.ts";
import type { Anchor, Mark } from "../../src/chart/labels/candidates.ts";
import {
  boxAt,
  boxesAt,
  boxOf,
  type Label,
  leaderOf,
  type PlacedLabel,
  placeLabels,
} from "../../src/chart/labels/engine.ts";
import { shortenToWords, textWidth } from "../../src/chart/labels/text_fitting.ts";
import type { Box } from "../../src/chart/scales.ts";
import { seeded, several } from "../helpers.ts";

const BOUNDS: Box = { left: 0, top: 0, right: 400, bottom: 300 };
const ANCHORS: readonly Anchor[] = ["start", "middle", "end"];

// A "roof" is written even across lines or points; a "region" covers nothing.
const label = (key: string, positions: Label["positions"], more: Partial<Label> = {}): Label => ({
  kind: "region",
  key,
  text: key,
  colour: "#000",
  positions,
  ...more,
});
const at = (x: number, y: number, anchor: Anchor = "start") => ({ x, y, anchor });
const named = (x: number, y: number, mark: Mark): PlacedLabel => ({
  ...{ kind: "kernel", key: "kernel 0", text: "gelu", colour: "#000", choice: 0, mark },
  ...at(x, y),
});

function randomScene(random: () => number) {
  const spot = () => at(450 * random() - 25, 340 * random() - 20, ANCHORS[Math.floor(3 * random())]);
  const labels = several(30, (index) =>
    label(`label ${index}`, several(1 + Math.floor(6 * random()), spot), {
      text: "Wi".repeat(1 + Math.floor(9 * random())),
      bold: random() < 0.3,
      kind: random() < 0.2 ? "roof" : "region",
    }),
  );
  const taken = several(Math.floor(20 * random()), (): Box => {
    const [left, top] = [400 * random(), 300 * random()];
    return { left, top, right: left + 60 * random(), bottom: top + 60 * random() };
  });
  return { labels, taken };
}

describe("placed labels", () => {
  it("never overlap one another, and stay inside", () => {
    const random = seeded(7);
    let count = 0;
    for (let round = 0; round < 300; round++) {
      const { labels, taken } = randomScene(random);
      const boxes = placeLabels(labels, { bounds: BOUNDS, points: taken }).map(boxOf);
      count += boxes.length;
      for (const [index, box] of boxes.entries()) {
        expect(
          boxes.slice(index + 1).some((other) => overlap(box, other)),
          `round ${round}`,
        ).toBe(false);
        expect(box.left >= 0 && box.right <= 400 && box.top >= 0 && box.bottom <= 300, `round ${round}`).toBe(true);
      }
    }
    expect(count).toBeGreaterThan(1000);
  });
  it("keep clear of what is drawn, unless one must be written", () => {
    const random = seeded(11);
    for (let round = 0; round < 300; round++) {
      const { labels, taken } = randomScene(random);
      for (const placed of placeLabels(labels, { bounds: BOUNDS, points: taken })) {
        if (placed.kind === "region")
          expect(
            taken.some((other) => overlap(boxOf(placed), other)),
            `round ${round}`,
          ).toBe(false);
      }
    }
  });
  it("of one line have a gap between them that reads as one", () => {
    const width = textWidth("first");
    const second = (gap: number) => label("second", [at(100 + width + gap, 100)]);
    const first = label("first", [at(100, 100)]);
    expect(placeLabels([first, second(1)], { bounds: BOUNDS })).toHaveLength(1);
    expect(placeLabels([first, second(10)], { bounds: BOUNDS })).toHaveLength(2);
  });
  it("stand at one of their own places", () => {
    const random = seeded(13);
    const { labels, taken } = randomScene(random);
    for (const { key, x, y, anchor } of placeLabels(labels, { bounds: BOUNDS, points: taken })) {
      expect(labels.find((each) => each.key === key)?.positions).toContainEqual({ x, y, anchor });
    }
  });
});

describe("the order of labels", () => {
  it("is that of importance: of two that want one place the first has it", () => {
    const place = [at(100, 100)];
    expect(
      placeLabels([label("first", place), label("second", place)], { bounds: BOUNDS }).map(({ key }) => key),
    ).toEqual(["first"]);
    expect(
      placeLabels([label("second", place), label("first", place)], { bounds: BOUNDS }).map(({ key }) => key),
    ).toEqual(["second"]);
  });
  it("sends the second to its next place", () => {
    const labels = [label("first", [at(100, 100)]), label("second", [at(100, 100), at(100, 200)])];
    expect(placeLabels(labels, { bounds: BOUNDS }).map(({ key, y }) => [key, y])).toEqual([
      ["first", 100],
      ["second", 200],
    ]);
  });
});

describe("a label", () => {
  const everywhere = [{ left: 0, top: 0, right: 400, bottom: 300 }];
  it("takes the first of its places that is free", () => {
    const places = [at(-50, 100), at(100, 100), at(200, 100)];
    expect(placeLabels([label("name", places)], { bounds: BOUNDS })[0]).toMatchObject({ x: 100 });
    const taken = [{ left: 90, top: 80, right: 110, bottom: 110 }];
    expect(placeLabels([label("name", places)], { bounds: BOUNDS, points: taken })[0]).toMatchObject({ x: 200 });
  });
  it("is left out where none is free", () => {
    expect(placeLabels([label("name", [at(100, 100)])], { bounds: BOUNDS, points: everywhere })).toEqual([]);
    expect(placeLabels([label("name", [])], { bounds: BOUNDS })).toEqual([]);
  });
  it("that must be written stands across a line rather than nowhere, but never across another label", () => {
    const must = label("must", [at(100, 100)], { kind: "roof" });
    expect(placeLabels([must], { bounds: BOUNDS, points: everywhere })).toHaveLength(1);
    expect(placeLabels([label("first", [at(100, 100)]), must], { bounds: BOUNDS })).toHaveLength(1);
    expect(placeLabels([{ ...must, positions: [at(-50, 100)] }], { bounds: BOUNDS })).toEqual([]);
  });
  it("that must be written stands where the least of it is struck out, in full before in brief", () => {
    const flat = { left: 0, right: 400, top: 95, bottom: 99 };
    const slope = [0, 4, 8].map((by) => ({ left: 210 + by, right: 214 + by, top: 198 - by, bottom: 202 - by }));
    const must = label("a text", [at(100, 100), at(200, 200)], { kind: "roof", shorter: ["text"] });
    const lines = [flat, ...slope];
    expect(placeLabels([must], { bounds: BOUNDS, lines })).toMatchObject([{ choice: 1, text: "a text" }]);
    const beside = { ...must, positions: [at(100, 100), at(200, 96)] };
    expect(placeLabels([beside], { bounds: BOUNDS, lines })).toMatchObject([{ choice: 0, text: "a text" }]);
  });
  it("that must be written takes a free place first", () => {
    const taken = [{ left: 90, top: 80, right: 150, bottom: 110 }];
    const must = label("must", [at(100, 100), at(100, 200)], { kind: "roof" });
    expect(placeLabels([must], { bounds: BOUNDS, points: taken })[0]).toMatchObject({ y: 200 });
  });
});

describe("the box of a text", () => {
  it("starts, ends or is centred at its place", () => {
    expect(boxAt(30, at(100, 50, "start"))).toMatchObject({ left: 100, right: 130 });
    expect(boxAt(30, at(100, 50, "end"))).toMatchObject({ left: 70, right: 100 });
    expect(boxAt(30, at(100, 50, "middle"))).toMatchObject({ left: 85, right: 115 });
  });
  it("is wider for more text, larger text and bold text", () => {
    expect(textWidth("roofs")).toBeGreaterThan(textWidth("roof"));
    expect(textWidth("roof", false, 14)).toBeGreaterThan(textWidth("roof"));
    expect(textWidth("roof", true)).toBeGreaterThan(textWidth("roof"));
    expect(textWidth("")).toBe(0);
  });
});

describe("the boxes of a turned text", () => {
  const turned = (angle: number, anchor: Anchor) => boxesAt(100, { x: 200, y: 150, anchor, angle });
  it("follow it from its start to its end, without a gap", () => {
    const boxes = turned(-30, "start");
    const [first, last] = [boxes[0] as Box, boxes.at(-1) as Box];
    expect(first.left).toBeLessThan(205);
    expect(last.right).toBeCloseTo(200 + 100 * Math.cos(Math.PI / 6), -1);
    expect(last.bottom).toBeLessThan(150 - 100 * Math.sin(Math.PI / 6) + 12);
    for (const [index, box] of boxes.slice(1).entries()) expect(overlap(box, boxes[index] as Box)).toBe(true);
  });
  it("lie about its place as those of a straight text do", () => {
    const middle = turned(-45, "middle");
    expect((middle[0] as Box).right).toBeLessThan(200);
    expect((middle.at(-1) as Box).left).toBeGreaterThan(200);
    expect((turned(-45, "end").at(-1) as Box).right).toBeLessThan(206);
  });
  it("leave the place beside it free, where its upright box would not", () => {
    const along = label("along", [{ ...at(200, 150, "middle"), angle: -40 }]);
    const beside = label("beside", [at(215, 175)]);
    const wide = { ...along, text: "W".repeat(12) };
    expect(placeLabels([wide, beside], { bounds: BOUNDS })).toHaveLength(2);
    expect(placeLabels([wide, { ...beside, positions: [at(215, 140)] }], { bounds: BOUNDS })).toHaveLength(1);
    expect(overlap(boxAt(140, { x: 200, y: 150, anchor: "middle" }), boxAt(40, at(215, 140)))).toBe(true);
  });
});

describe("a name far from what it names", () => {
  // The letters reach from y = 89.68 to 103.12.
  const mark = { x: 50, y: 40, radius: 4 };
  it("has a line from its box to the rim of the mark", () => {
    expect(leaderOf(named(50, 100, mark))).toBe("M50,89.68L50,44");
    expect(leaderOf(named(80, 40, mark))).toBe("M80,40L54,40");
  });
  it("has none within 20 px of it, nor one without a mark", () => {
    expect(leaderOf(named(74, 40, mark))).toBe("");
    expect(leaderOf(named(74.1, 40, mark))).not.toBe("");
    const { mark: _, ...roof } = named(50, 100, mark);
    expect(leaderOf(roof)).toBe("");
  });
});

describe("a name with little room", () => {
  const within = (most: number) => (text: string) => text.length <= most;
  it("ends with a whole word", () => {
    expect(shortenToWords("RTX PRO 6000 Blackwell (Workstation/Server)", within(26))).toBe("RTX PRO 6000 Blackwell…");
    expect(shortenToWords("GH200 (96GB HBM3), GPU part", within(20))).toBe("GH200 (96GB HBM3)…");
    expect(shortenToWords("RTX 2080 Ti", within(11))).toBe("RTX 2080 Ti");
    expect(shortenToWords("RTX 2080 Ti", within(10))).toBe("RTX 2080…");
  });
  it("keeps its number, and is as short as can be where not even that fits", () => {
    expect(shortenToWords("RTX 2080 Ti", within(5))).toBe("RTX 2080…");
    expect(shortenToWords("Instinct MI300X", within(4))).toBe("Instinct MI300X");
    expect(shortenToWords("Ice Lake", within(4))).toBe("Ice…");
    expect(shortenToWords("Trainium2", within(4))).toBe("Trainium2");
  });
});
