// Pictures of states: SVG text made without a DOM and without a clock.

import { afterEach, describe, expect, it, vi } from "vitest";
import { pictureOf } from "../../src/chart/picture.tsx";
import { chartHeight } from "../../src/chart/scales.ts";
import { DARK, LIGHT } from "../../src/chart/theme.ts";
import type { Store } from "../../src/state/store.ts";
import type { Terms } from "../../src/wire/types.ts";
import { catalogue as german } from "../../src/words/de.ts";
import { catalogue as english } from "../../src/words/en.ts";
import { chain, stateOf } from "../chains.ts";
import { FakeModel, type KernelSpec, seeded, several, wireChip, wireKernels } from "../helpers.ts";
import { onOneChip, storeOf } from "../scenes.ts";

const SIZE = { width: 760, height: chartHeight(760) };
const HOSTILE = `</text><script>alert("1")</script>&amp; 'a' \u0000 \ud800`;
const MEASURED = { name: "matmul", flops: 4e12, bytes: 1e10, time: 0.08, category: "gemm" };
const KERNELS: readonly KernelSpec[] = [
  MEASURED,
  { name: "layer norm", flops: 5e9, bytes: 1.6e9, time: 3e-3, category: "norm" },
  { name: "above", flops: 5e13, bytes: 1.6e9, time: 0.1, category: "gemm" },
  { name: "copy", flops: 0, bytes: 1e9, time: 2e-3 },
  { name: "unmeasured", flops: 2e12, bytes: 3e9 },
];
const CHIPS = [
  wireChip({ memories: { HBM: 1e12, L2: 1e13 }, name: "One" }),
  wireChip({ id: "two", peaks: { bf16: 4e14 }, memories: { HBM: 2e12 }, name: "Two" }),
];
const SNAPSHOT = {
  ...{ name: "before", chip: "chip", precision: "bf16", memory: "HBM", peak: 5e13, bandwidth: 1e12, hidden: false },
  kernels: [["matmul", 400, 2e13]],
};
/** An earlier run, in which the first kernel was slower. */
const BASELINE = {
  kernels: wireKernels([{ ...MEASURED, time: 0.2 }]),
  match: new DataView(Int32Array.of(0).buffer),
  verdict: wireKernels([{ category: "faster" }])["category"],
};
const STATES: Readonly<Record<string, () => FakeModel>> = {
  empty: () => onOneChip([], { chips: [], shown: [], focus_chip: "" }),
  "one chip": () => onOneChip(KERNELS),
  "two chips": () => onOneChip(KERNELS, { chips: CHIPS, shown: ["chip", "two"], title: "Two chips" }),
  "all levels": () => onOneChip(KERNELS, { memory: "all", all_levels: true }),
  "a selected kernel, zoomed": () => onOneChip(KERNELS, { selected: [1], zoom: [1, 1000, 1e11, 1e14] }),
  "a snapshot and a what-if": () =>
    onOneChip(KERNELS, { snapshots: [SNAPSHOT], what_if: { chip: { peak_flops: { bf16: 2e14 } } } }),
  "a moved kernel": () => onOneChip(KERNELS, { moves: { 0: { time: 0.05 } } }),
  "an earlier run": () => onOneChip(KERNELS, { baseline: BASELINE }),
  "the time view": () => onOneChip(KERNELS, { view: "time", launch_overhead: 1e-5 }),
  "the time view on linear axes": () => onOneChip(KERNELS, { view: "time", time_scale: "linear" }),
  "a graph": () => new FakeModel(stateOf([["", chain("two ops")]])),
  "hostile names": () =>
    onOneChip(
      KERNELS.map((kernel) => ({ ...kernel, name: HOSTILE, category: `${HOSTILE} ${kernel.category ?? 0}` })),
      {
        title: HOSTILE,
        chips: [wireChip({ name: HOSTILE, memories: { [HOSTILE]: 1e12, L2: 1e13 } })],
        snapshots: [{ ...SNAPSHOT, name: HOSTILE }],
        rulers: true,
        selected: [0],
      },
    ),
};
/** What a browser or Node has beyond the language. */
const OF_HOSTS = ["performance", "setTimeout", "setInterval", "queueMicrotask", "Date", "navigator", "crypto"];

function svgOf(store: Store, { theme = LIGHT, size = SIZE, draw = pictureOf } = {}): string {
  for (const name of OF_HOSTS) vi.stubGlobal(name, undefined);
  try {
    return draw(store, size.width, () => size.height, theme).svg;
  } finally {
    vi.unstubAllGlobals();
  }
}

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** The text directly in the element, as a reader sees it. */
  text: string;
}

const plain = (text: string) =>
  text.replace(/&(lt|gt|amp|quot);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&", quot: '"' })[name as "lt"]);

/** Reads well-formed XML. Throws if the text is not well formed. */
function read(svg: string): Tag[] {
  const tags: Tag[] = [];
  const open: Tag[] = [];
  let rest = svg;
  while (rest) {
    const [whole, close, name, written = "", empty, text] =
      /^(?:<\/(\w+)>|<(\w+)((?: [\w:-]+="[^"<]*")*)(\/?)>|([^<]+))/.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`not XML: ${rest.slice(0, 80)}`);
    if (/&(?!(?:lt|gt|amp|quot);)/.test(whole)) throw new Error(`a bare & in ${whole}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids
    if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u.test(whole)) throw new Error("forbidden");
    if (close !== undefined && open.pop()?.name !== close) throw new Error(`</${close}> closes another element`);
    if (text !== undefined && open.length > 0) (open.at(-1) as Tag).text += plain(text);
    if (name !== undefined) {
      const pairs = [...written.matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key,
        plain(value),
      ]);
      const attributes = new Map(pairs as [string, string][]);
      expect(attributes.size).toBe(pairs.length);
      const tag = { name, attributes, text: "" };
      tags.push(tag);
      if (!empty) open.push(tag);
    }
    rest = rest.slice(whole.length);
  }
  expect(open).toEqual([]);
  return tags;
}

afterEach(() => void Object.assign(globalThis, { roofwidgetWords: english }));

describe.each(Object.entries(STATES))("a picture of %s", (_, model) => {
  it("is well-formed SVG of finite numbers", () => {
    const svg = svgOf(storeOf(model()));
    const [root, ...tags] = read(svg);
    expect(root?.attributes.get("xmlns")).toBe("http://www.w3.org/2000/svg");
    expect(tags.length).toBeGreaterThan(10);
    expect(svg).not.toMatch(/NaN|Infinity|undefined|\[object/);
    expect(new Set(tags.map(({ name }) => name))).not.toContain("script");
  });
  it("has the same text each time, in both themes, whatever was drawn before", () => {
    const store = storeOf(model());
    const [light, dark] = [svgOf(store), svgOf(store, { theme: DARK })];
    expect(dark).not.toBe(light);
    expect(svgOf(store, { size: { width: 400, height: 300 } })).not.toBe(light);
    expect(svgOf(store)).toBe(light);
    expect(svgOf(storeOf(model()))).toBe(light);
    expect(svgOf(storeOf(model()), { theme: DARK })).toBe(dark);
  });
});

describe("a plane without points", () => {
  const textsOf = (kernels: readonly KernelSpec[], state: Record<string, unknown> = {}) =>
    read(svgOf(storeOf(onOneChip(kernels, state)))).map(({ text }) => text);
  const UNKNOWN = { name: "opaque", time: 1 };
  const NO_CHIP = { chips: [], shown: [], focus_chip: "" };
  it("says that no kernel has FLOPs and bytes", () => {
    const texts = textsOf([UNKNOWN, { ...UNKNOWN, name: "second" }], NO_CHIP);
    expect(texts).toContain("None of the 2 kernels has FLOPs and bytes.");
    expect(texts).toContain("Their times are in the table.");
    expect(textsOf([UNKNOWN], NO_CHIP)).toContain("The kernel has no FLOPs or no bytes.");
  });
  it("says nothing across a roof, or if one kernel is drawn", () => {
    expect(textsOf([UNKNOWN]).join()).not.toMatch(/in the table/);
    expect(textsOf([UNKNOWN, MEASURED]).join()).not.toMatch(/in the table/);
  });
});

describe("a picture", () => {
  const textsOf = (svg: string) =>
    read(svg).flatMap(({ name, text }) => (/text|tspan/.test(name) && text ? [text] : []));
  const shapesOf = (svg: string) => svg.split('<g data-layer="points">')[1]?.split("</g></g>")[0] ?? "";

  it("has the title, the names and the legend, and no sentence", () => {
    const texts = textsOf(svgOf(storeOf(STATES["two chips"]?.() as FakeModel)));
    expect(texts[texts.indexOf("Two chips")]).toBe("Two chips");
    expect(texts).toEqual(expect.arrayContaining(["matmul", "layer norm", "gemm", "norm", "One", "Two"]));
    expect(texts.join(" ")).not.toMatch(/attainable|kernels left of/);
  });
  it("asks nobody to show a chip in a step of a story that shows none", () => {
    const step = { caption: [], changes: {}, question: null, hides: false };
    const said = (more: object) =>
      textsOf(svgOf(storeOf(onOneChip(KERNELS.slice(4), { shown: [], ...more })))).join(" ");
    expect(said({})).toContain("No chip is shown");
    expect(said({ story: { base: {}, steps: [step] } })).not.toContain("No chip is shown");
  });
  it("shows hostile names as text", () => {
    const shown = HOSTILE.replace("\u0000", "\ufffd").replace("\ud800", "\ufffd");
    const texts = textsOf(svgOf(storeOf(STATES["hostile names"]?.() as FakeModel)));
    expect(texts.filter((text) => text === shown).length).toBeGreaterThan(1);
  });
  it("has a shape for each point, with the sign of a point above its roof", () => {
    const shapes = shapesOf(svgOf(storeOf(STATES["two chips"]?.() as FakeModel)));
    // Four measured kernels, one of them above its roof, and a mark of the unmeasured kernel on each of two roofs.
    expect(shapes.match(/<path /g)).toHaveLength(4 + 2 + 1);
    expect(shapes.match(new RegExp(LIGHT.alert, "g"))).toHaveLength(1);
  });
  it("is the same after a drag of the roof and its undo", () => {
    const store = storeOf(STATES["two chips"]?.() as FakeModel);
    const before = svgOf(store);
    const drag = store.rates.dragRates({ quantity: "peak_flops" });
    drag.move([5e15]);
    expect(svgOf(store)).not.toBe(before);
    drag.end();
    store.history.undo();
    expect(svgOf(store)).toBe(before);
  });
  it("is in the language of the words", async () => {
    vi.resetModules();
    Object.assign(globalThis, { roofwidgetWords: german });
    const { pictureOf: draw } = await import("../../src/chart/picture.tsx");
    const { createStore: create } = await import("../../src/state/store.ts");
    const store = storeOf(STATES["one chip"]?.() as FakeModel, create);
    expect(textsOf(svgOf(store, { draw })).join(" ")).toMatch(
      /arithmetische Intensität, FLOP pro Byte →.*speichergebunden/,
    );
  });
  it("has a lecturer's words for the intensity and for the ridge point", () => {
    const told = (terms: Terms, width = 760) =>
      textsOf(svgOf(storeOf(onOneChip(KERNELS, { terms })), { size: { ...SIZE, width } }))
        .join(" ")
        .replaceAll("\u00a0", " ");
    expect(told({})).toMatch(/arithmetic intensity, FLOP per byte →.*ridge 100/);
    const chosen = told({ intensity: "operational", ridge: "knee" });
    expect(chosen).toMatch(/operational intensity, FLOP per byte →.*knee 100/);
    expect(chosen).not.toMatch(/arithmetic|ridge/);
    expect(told({ intensity: "operational", ridge: "machine balance" }, 400)).toMatch(/OI, FLOP\/B →.* 100 /);
  });
  it("leaves out of very many points those that others hide, but none above its roof", () => {
    const many = several(3000, (row) => (row < 2 ? (KERNELS[2] as KernelSpec) : MEASURED));
    const shapes = shapesOf(svgOf(storeOf(onOneChip(many, { top: null }))));
    expect(shapes.match(/<path /g)).toHaveLength(2 * 2 + 1);
  });
  it("of 10,000 kernels is smaller than 1.5 MB", () => {
    const next = seeded(7);
    const many = several(10_000, (row) => {
      const [flops, bytes] = [1e9 * 1e4 ** next(), 1e8 * 1e3 ** next()];
      const time = Math.max(flops / 1e14, bytes / 1e12) * (1 + 9 * next());
      return { flops, bytes, time, category: `${row % 8}` };
    });
    const svg = svgOf(storeOf(onOneChip(many, { top: null })));
    expect(shapesOf(svg).match(/<path /g)?.length).toBeGreaterThan(5000);
    expect(svg.length).toBeLessThan(1_500_000);
  });
});
