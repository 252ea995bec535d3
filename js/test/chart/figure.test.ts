// Figures for papers and slides: SVG text made without a DOM.

import { afterEach, describe, expect, it, vi } from "vitest";
import { type Figure, type FigureOptions, figureOf, type UnknownName } from "../../src/chart/figure/figure.tsx";
import { STYLES, type StyleName, textWidth } from "../../src/chart/figure/styles.ts";
import { DARK, LIGHT } from "../../src/chart/theme.ts";
import { createStore } from "../../src/state/store.ts";
import { catalogue as german } from "../../src/words/de.ts";
import { catalogue as english } from "../../src/words/en.ts";
import { type FakeModel, type KernelSpec, seeded, several, wireChip } from "../helpers.ts";
import { onOneChip, storeOf } from "../scenes.ts";

const CHIP = wireChip({ name: "One", peaks: { bf16: 1e15 }, memories: { HBM: 4e12 } });
const FASTER = wireChip({ id: "two", name: "Two", peaks: { bf16: 2.25e15 }, memories: { HBM: 8e12 } });
const ON_ONE = { chips: [CHIP], shown: ["chip"] };
const ON_TWO = { chips: [CHIP, FASTER], shown: ["chip", "two"] };

/** A kernel that reaches a share of its roof of 1 PFLOP/s and 4 TB/s. */
const kernel = (name: string, category: string, ai: number, time: number, share: number): KernelSpec => {
  const flops = share * Math.min(1e15, 4e12 * ai) * time;
  return { name, category, time, flops, bytes: flops / ai };
};
const copy = (name: string, time: number, share: number): KernelSpec => ({
  ...{ name, category: "copy", time, flops: 0, bytes: share * 4e12 * time },
});
const EIGHTEEN: readonly KernelSpec[] = [
  kernel("gemm 512×512", "matrix product", 90, 100e-6, 0.04),
  kernel("gemm 2048×512", "matrix product", 105, 50e-6, 0.1),
  kernel("gemm 512×2048", "matrix product", 105, 33e-6, 0.15),
  kernel("gemm 512×30522", "matrix product", 110, 55e-6, 0.3),
  kernel("flash_attention", "attention", 70, 65e-6, 0.015),
  kernel("layer_norm", "normalisation", 2, 58e-6, 0.03),
  kernel("gelu 141×2048", "element by element", 1.25, 12e-6, 0.2),
  kernel("gelu 141×512", "element by element", 1.25, 11e-6, 0.05),
  kernel("add", "element by element", 0.1667, 13e-6, 0.07),
  kernel("add again", "element by element", 0.1667, 7e-6, 0.065),
  kernel("rare", "look-up", 0.5, 1e-6, 0.5),
  ...Array.from({ length: 7 }, (_, at) => kernel(`dropout ${at}`, "element by element", 0.3 + 0.1 * at, 2e-6, 0.3)),
];
const next = seeded(5);
const spread = () => 4 ** (next() + next() - 1);
const MANY: readonly KernelSpec[] = several(256, (at) => {
  const [category, ai] = [
    ["matrix product", 200],
    ["attention", 110],
    ["normalisation", 2],
    ["element by element", 0.3],
  ][at % 4] as [string, number];
  const time = 1e-6 * (1 + 99 * next() ** 4);
  return kernel(`layer${at >> 3}/${category} ${at}`, category, ai * spread(), time, 0.05 + 0.9 * next());
});
const WITH_COPIES = [...EIGHTEEN, copy("memcpy 1", 80e-6, 0.02), copy("memcpy 2", 40e-6, 0.4)];
const STATES: Readonly<Record<string, () => FakeModel>> = {
  "18 kernels": () => onOneChip(EIGHTEEN, ON_ONE),
  "256 kernels on two chips": () => onOneChip(MANY, ON_TWO),
  "kernels without FLOPs": () => onOneChip(WITH_COPIES, ON_ONE),
  "one kernel": () => onOneChip([EIGHTEEN[0] as KernelSpec], ON_ONE),
  "two chips alone": () => onOneChip([], ON_TWO),
  "kernels without times": () =>
    onOneChip(
      EIGHTEEN.slice(0, 3).map(({ time, ...rest }) => rest),
      ON_TWO,
    ),
};
const NAMES = Object.keys(STYLES) as StyleName[];
const PLAIN: Omit<FigureOptions, "style"> = { caption: false, names: null, patterns: false, ceilings: false };

function figure(model: FakeModel, options: Partial<FigureOptions> = {}, draw = figureOf, create = createStore): Figure {
  const store = storeOf(model, create);
  const drawn = draw(store, { style: "paper-1col", ...PLAIN, ...options }, LIGHT);
  if ("unknownName" in drawn) throw new Error(drawn.unknownName);
  return drawn;
}
const stateOf = (name: string) => (STATES[name] as () => FakeModel)();

interface Drawn {
  readonly text: string;
  readonly box: { left: number; right: number; top: number; bottom: number };
  readonly isBold: boolean;
  readonly angle: number;
}

/** The texts of a figure with their boxes, computed from the attributes and the widths of Helvetica's letters. */
function textsOf({ svg }: Figure, style: StyleName): Drawn[] {
  const { font } = STYLES[style];
  const found: Drawn[] = [];
  const anchors = { start: 0, middle: 0.5, end: 1 };
  const groups: string[] = [];
  const elements = svg.matchAll(/<\/g>|<g\b([^>]*)>|<text\b([^>]*)>(.*?)<\/text>/g);
  for (const [tag, ofGroup, ofText, content = ""] of elements) {
    const attributes = ofGroup ?? ofText ?? "";
    const anchorIn = /text-anchor="(\w+)"/.exec(attributes)?.[1] ?? groups.at(-1) ?? "start";
    if (tag === "</g>") groups.pop();
    if (ofGroup !== undefined && !ofGroup.endsWith("/")) groups.push(anchorIn);
    if (ofText === undefined) continue;
    const isBold = content.startsWith("<tspan");
    const text = content.replace(/<[^>]*>/g, "").replaceAll("&amp;", "&");
    const parts = [...content.matchAll(/<tspan[^>]*>(.*?)<\/tspan>/g)].map(([, part = ""]) => part);
    const bold = parts.reduce((sum, part) => sum + textWidth(part, font, true), 0);
    const width = bold + textWidth(text.slice(parts.join("").length), font);
    const moved = /translate\(([-\d.]+) ([-\d.]+)\) rotate\(([-\d.]+)\)/.exec(attributes);
    const [x, y, angle] = moved
      ? moved.slice(1).map(Number)
      : [Number(/ x="([-\d.]+)"/.exec(attributes)?.[1]), Number(/ y="([-\d.]+)"/.exec(attributes)?.[1]), 0];
    const start = -width * anchors[anchorIn as "start"];
    const turn = ((angle as number) * Math.PI) / 180;
    const corners = [start, start + width].flatMap((along) =>
      [-0.72 * font, 0.2 * font].map((down) => [
        (x as number) + along * Math.cos(turn) - down * Math.sin(turn),
        (y as number) + along * Math.sin(turn) + down * Math.cos(turn),
      ]),
    );
    const [xs, ys] = several(2, (axis) => corners.map((corner) => corner[axis] as number)) as [number[], number[]];
    const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    found.push({ text, box, isBold, angle: angle as number });
  }
  return found;
}
const radiiOf = ({ svg }: Figure) =>
  [...(svg.split('data-layer="points"')[1]?.split("</g>")[0] ?? "").matchAll(/ r="([\d.]+)"/g)].map(([, r]) =>
    Number(r),
  );
const plotWidthOf = ({ svg }: Figure) => {
  const [, left = "", , right = ""] = /<path d="M([\d.]+),[\d.]+V([\d.]+)H([\d.]+)/.exec(svg) ?? [];
  return Number(right) - Number(left);
};

afterEach(() => void Object.assign(globalThis, { roofwidgetWords: english }));

describe.each(Object.keys(STATES))("a figure of %s", (name) => {
  it.each(NAMES)("in the style %s is as it was", async (style) => {
    const file = `./figures/${name.replaceAll(" ", "-")}-${style}.svg`;
    await expect(`${figure(stateOf(name), { style }).svg}\n`).toMatchFileSnapshot(file);
  });
  it.each(NAMES)("in the style %s has texts that are inside and clear of each other", (style) => {
    const drawn = figure(stateOf(name), { style });
    const { width } = STYLES[style];
    const texts = textsOf(drawn, style);
    expect(texts.length).toBeGreaterThan(7);
    for (const { text, box } of texts) {
      expect(box.left, text).toBeGreaterThanOrEqual(0);
      expect(box.right, text).toBeLessThanOrEqual(width);
      expect(box.top, text).toBeGreaterThanOrEqual(0);
      expect(box.bottom, text).toBeLessThanOrEqual((drawn.height * 72) / 96);
    }
    // The box around a text along a slope is larger than the text.
    const level = texts.filter(({ angle }) => angle === 0 || angle === -90);
    for (const [at, one] of level.entries()) {
      for (const other of level.slice(at + 1)) {
        const isClear =
          one.box.right <= other.box.left ||
          other.box.right <= one.box.left ||
          one.box.bottom <= other.box.top ||
          other.box.bottom <= one.box.top;
        expect(isClear, `${one.text} | ${other.text}`).toBe(true);
      }
    }
  });
  it.each(NAMES)("in the style %s has finite numbers, no sentence and no word of a region", (style) => {
    const drawn = figure(stateOf(name), { style });
    expect(drawn.svg).not.toMatch(/NaN|Infinity|undefined|\[object/);
    const texts = textsOf(drawn, style).map(({ text }) => text);
    expect(texts.join("\n")).not.toMatch(/bound|saved|share|\w\.(?: |$)|of its roof/m);
  });
  it.each(NAMES)("in the style %s has no dot wider than its share of the plot", (style) => {
    const drawn = figure(stateOf(name), { style });
    const most = { "paper-1col": 0.03, "paper-2col": 0.022, slide: 0.022 }[style] * plotWidthOf(drawn);
    for (const radius of radiiOf(drawn)) expect(2 * radius).toBeLessThanOrEqual(most + 0.02);
  });
});

describe("a figure", () => {
  it("has its size in points, in the unit of its coordinates", () => {
    const heads = NAMES.map((style) =>
      /width="(\S+)" height="(\S+)" viewBox="([^"]+)"/.exec(figure(stateOf("18 kernels"), { style }).svg)?.slice(1),
    );
    expect(heads).toEqual([
      ["252pt", "168pt", "0 0 252 168"],
      ["504pt", "336pt", "0 0 504 336"],
      ["960pt", "540pt", "0 0 960 540"],
    ]);
    expect(figure(stateOf("18 kernels"))).toMatchObject({ width: 336, height: 224 });
  });
  it("measures letters as Helvetica's metrics do", () => {
    // 667 + 556 + 333 + 278 + 556 + 333 + 833 + 556 + 556 + 500 + 556
    expect(textWidth("Performance", 1000)).toBe(5724);
    expect(textWidth("~ \u00a0", 1000)).toBe(584 + 278 + 278);
  });
  it("of one column numbers the five kernels to fix first and explains the numbers in a key", () => {
    const texts = textsOf(figure(stateOf("18 kernels")), "paper-1col");
    const bold = texts.filter(({ isBold }) => isBold).map(({ text }) => text);
    expect(bold.filter((text) => /^\d$/.test(text)).sort()).toEqual(["1", "1", "2", "2", "3", "3", "4", "4", "5", "5"]);
    // The savings are 96, 64, 56.3, 45 and 38.5 µs.
    const key = texts.map(({ text }) => text).filter((text) => EIGHTEEN.some((spec) => spec.name === text));
    expect(key).toEqual(["gemm 512×512", "flash_attention", "layer_norm", "gemm 2048×512", "gemm 512×30522"]);
  });
  it("of two columns names nine kernels beside their dots, and a slide seven", () => {
    const namedIn = (style: StyleName) =>
      textsOf(figure(stateOf("18 kernels"), { style }), style).filter(({ text }) =>
        EIGHTEEN.some((spec) => spec.name === text),
      ).length;
    expect(namedIn("paper-2col")).toBe(9);
    expect(namedIn("slide")).toBe(7);
  });
  it("has a legend of the categories with at least 1 % of the kernel time", () => {
    const texts = textsOf(figure(stateOf("18 kernels")), "paper-1col").map(({ text }) => text);
    expect(texts).toEqual(
      expect.arrayContaining(["matrix product", "attention", "normalisation", "element by element"]),
    );
    expect(texts).not.toContain("look-up");
  });
  it("has the name and the peak of the roof, the bandwidth along the slope, and plain numbers on its axes", () => {
    const texts = textsOf(figure(stateOf("18 kernels")), "paper-1col").map(({ text }) => text);
    for (const text of ["One 1 PFLOP/s", "HBM 4 TB/s", "1\u00a0000", "0.1", "Performance (PFLOP/s)"])
      expect(texts).toContain(text);
    expect(texts).toContain("Arithmetic intensity (FLOP/byte)");
  });
  it("tells other roofs apart by dashes, in black", () => {
    const chips = ["a", "b", "c", "d", "e"].map((id, at) =>
      wireChip({ id, name: id, peaks: { bf16: 1e15 / 3 ** at }, memories: { HBM: 4e12 } }),
    );
    const { svg } = figure(onOneChip([], { chips, shown: ["a", "b", "c", "d", "e"], focus_chip: "a" }));
    const roofs = svg.split('data-layer="roofs"')[1]?.split("</g>")[0] ?? "";
    expect(roofs).toMatch(/^ fill="none" stroke="#000000">/);
    const looks = [
      ...roofs.matchAll(/<path d="M[^"]*L[^"]*L[^"]*" stroke-width="([\d.]+)"(?: stroke-dasharray="([^"]+)")?/g),
    ];
    expect(looks.map(([, width, dashes]) => [width, dashes])).toEqual([
      ["1.2", "4 2"],
      ["1.2", "1.5 1.5"],
      ["1.2", "6 2 1.5 2"],
      ["0.8", "4 2"],
      ["1.2", undefined],
    ]);
  });
  it("has a strip for kernels without FLOPs only from 5 % of the kernel time on", () => {
    const hasStrip = (specs: readonly KernelSpec[]) => /0 FLOP</.test(figure(onOneChip(specs, ON_ONE)).svg);
    // 18 kernels take 419 µs: 22 µs are 4.99 % of 441 µs, and 23 µs are 5.2 % of 442 µs.
    const total = EIGHTEEN.reduce((sum, { time }) => sum + (time ?? 0), 0);
    expect(total).toBeCloseTo(419e-6, 9);
    expect(hasStrip([...EIGHTEEN, copy("memcpy", 22e-6, 0.5)])).toBe(false);
    expect(hasStrip([...EIGHTEEN, copy("memcpy", 23e-6, 0.5)])).toBe(true);
  });
  it("continues the slope in the strip", () => {
    const { svg } = figure(stateOf("kernels without FLOPs"));
    const paths = [...svg.matchAll(/<path d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)(L[^"]*)?" stroke-width="1.2"/g)];
    const slope = paths.find(([, , , , , flat]) => flat);
    const strip = paths.find(([, , y, , to, flat]) => !flat && y === to);
    expect(Number(strip?.[2])).toBeCloseTo(Number(slope?.[2]), 1);
  });
  it("says what it shows and what it leaves out in its description, and under it only on request", () => {
    const model = () => onOneChip([...EIGHTEEN, copy("memcpy", 20e-6, 0.5), { name: "opaque", time: 10e-6 }], ON_ONE);
    const drawn = figure(model());
    // 30 of 449 µs.
    const words =
      "Roofline of 18 kernels on One at bf16. Area: share of kernel time. Not shown: 1 kernel with 0 FLOP and 1 without counts, together 6.7 % of kernel time.";
    expect(drawn.title).toBe(words);
    expect(drawn.svg).toContain(`<desc>${words}</desc>`);
    const textIn = (one: Figure) =>
      textsOf(one, "paper-1col")
        .map(({ text }) => text)
        .join(" ");
    expect(textIn(drawn)).not.toContain("Roofline");
    const captioned = figure(model(), { caption: true });
    expect(textIn(captioned)).toContain(words);
    expect(captioned.height).toBeGreaterThan(224);
  });
  it("puts the key under the axis if no corner is free, and grows", () => {
    const everywhere = several(400, (at) =>
      kernel(`k${at}`, "x", 0.1 * 1.02 ** at, 1e-6 * (1 + (at % 7)), 10 ** (-4 * ((at * 0.618) % 1))),
    );
    const drawn = figure(onOneChip([...everywhere, ...EIGHTEEN], ON_ONE));
    expect(drawn.height).toBeGreaterThan(224);
    expect(Number.isInteger(drawn.height)).toBe(true);
    expect(drawn.width).toBe(336);
  });
  it("names as many kernels as asked, or those that were asked for", () => {
    const numbersIn = (names: FigureOptions["names"]) =>
      textsOf(figure(stateOf("18 kernels"), { names }), "paper-1col")
        .map(({ text }) => text)
        .filter((text) => EIGHTEEN.some((spec) => spec.name === text));
    expect(numbersIn(0)).toEqual([]);
    expect(numbersIn(2)).toEqual(["gemm 512×512", "flash_attention"]);
    expect(numbersIn(["add", "rare"])).toEqual(["add", "rare"]);
    const store = storeOf(stateOf("18 kernels"));
    const unknown = figureOf(store, { style: "slide", ...PLAIN, names: ["ad"] }, LIGHT) as UnknownName;
    expect(unknown.unknownName).toBe("ad");
    expect(unknown.knownNames).toContain("add");
  });
  it("tells categories and bounds apart without colour on request", () => {
    const marks = (patterns: boolean) =>
      figure(stateOf("18 kernels"), { patterns }).svg.split('data-layer="points"')[1]?.split("</g>")[0] ?? "";
    expect(marks(false)).not.toContain("<path");
    expect(marks(true)).not.toContain("<circle");
    expect(marks(true)).toMatch(/fill="none" stroke="#ffffff"/);
  });
  it("has ceilings only on request", () => {
    const ceiling = { key: "vector", name: "vector", rate: 1e14, memory: null, precision: null, measured: false };
    const chip = wireChip({
      name: "One",
      peaks: { bf16: 1e15 },
      memories: { HBM: 4e12 },
      ceilings: [ceiling] as never,
    });
    const textIn = (ceilings: boolean) =>
      textsOf(figure(onOneChip([], { chips: [chip], shown: ["chip"] }), { ceilings }), "paper-1col").map(
        ({ text }) => text,
      );
    expect(textIn(false).join()).not.toContain("vector");
    expect(textIn(true)).toContain("vector 100 TFLOP/s");
  });
  it("of chips alone has the number of each ridge point", () => {
    const texts = textsOf(figure(stateOf("two chips alone")), "paper-1col").map(({ text }) => text);
    // 1e15 / 4e12 and 2.25e15 / 8e12.
    expect(texts.join(" ")).toMatch(/ridge 250.*281\.2|281\.2.*ridge 250/);
  });
  it("can be dark", () => {
    const store = storeOf(stateOf("18 kernels"));
    const { svg } = figureOf(store, { style: "slide", ...PLAIN }, DARK) as Figure;
    expect(svg).toContain(`fill="${DARK.background}"`);
    expect(svg).not.toContain("#000000");
  });
  it("shows hostile names as text", () => {
    const hostile = `</text><script>alert("1")</script>&amp; \u0000`;
    const { svg } = figure(onOneChip([{ ...EIGHTEEN[0], name: hostile, category: hostile }], ON_ONE));
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;/text&gt;");
  });
  it("is in the language of the words", async () => {
    vi.resetModules();
    Object.assign(globalThis, { roofwidgetWords: german });
    const { figureOf: draw } = await import("../../src/chart/figure/figure.tsx");
    const { createStore: create } = await import("../../src/state/store.ts");
    const drawn = figure(stateOf("18 kernels"), {}, draw, create);
    const texts = textsOf(drawn, "paper-1col").map(({ text }) => text);
    for (const text of ["Leistung (PFLOP/s)", "Arithmetische Intensität (FLOP/Byte)", "0,1"])
      expect(texts).toContain(text);
    expect(drawn.title).toBe("Roofline von 18 Kerneln auf One bei bf16. Fläche: Anteil an der Kernelzeit.");
  });
});
