// Links to what the playground shows, and sessions: they give the same again, and nothing else.

import { describe, expect, it } from "vitest";
import { areGraphs } from "../../src/playground/checks.ts";
import type { Values } from "../../src/playground/local_model.ts";
import {
  exampleOf,
  graphValues,
  lessonState,
  linkedState,
  linkOf,
  missingChips,
  NewerError,
  sessionState,
  sessionText,
} from "../../src/playground/play_state.ts";
import { chipRecord, wireChip, wireKernels } from "../../src/playground/records.ts";
import { LinkError, readLink } from "../../src/state/graph_link.ts";
import { linkLetters, linkValue, MAX_LINK_LETTERS } from "../../src/wire/link.ts";
import type { WireChip } from "../../src/wire/types.ts";
import { wireChip as chipOf, several } from "../helpers.ts";
import { EMPTY, GRAPH, STOCK } from "./stock.ts";

const KERNELS = wireKernels({
  names: ["a", "<b>", "a"],
  flops: { "": [1e12, null, 0] },
  bytes: { main: [1e9, 2, null], L2: [1, 2, 3] },
  time: [1e-3, null, 0.1],
  count: [1, 2, 3],
  category: { values: ["x", null], rows: [0, 1, 0] },
});
const OWN = chipOf({
  id: "own",
  name: "Mine",
  memories: { HBM: 1e12, L2: null },
  share: { level: "L1", bytes: 1e5, units: 4 },
});
const added = (id: string) => ({ ...(STOCK.chip(id) as object), added: true });
const ALL: Values = {
  ...EMPTY,
  chips: [OWN, added("one")],
  added_chips: ["one"],
  shown: ["own", "one"],
  focus_chip: "one",
  kernels: KERNELS,
  title: "Ours & <i>theirs</i>",
  what_if: { one: { bandwidth: { HBM: 5e12 } } },
  moves: { 0: { bytes: 0.5 } },
  view: "time",
  zoom: [1, 10, 2, 20],
};
/** The most bytes that a link inflates to here. */
const MOST = 2 ** 20;
const through = async (values: Values) =>
  linkedState(await linkValue(await linkLetters(linkOf(values, STOCK)), MOST), STOCK);
/** gelu and add in bf16 on tensors of 8 × 4 as one kernel, as roofwidget/export/graph_link.py writes them, on the chip "one". */
const LESSON =
  "#g=eNqFj0EOgjAURO8y65oAKjFdeANPQLooULCxtgQKmhDu7qdVE13o7k8682Y6YwJPGaqz7sDhrAKD194oUicdpLYDeFHgDlYc2E4wlE2aQ9DhuvVphiV3q8xI7gudyqirsv6mh5gnD6VX_-gDKnq_aY0JvBmTqrzrwbN9Tmt6aYdK2ZqI0oAnCyGpRJaboyyxsFgv6_pH-3Pcx4iQ-Lthm7372KuSfG3vxvD5ImGpiNRVBqpYHsTlZwE";
/** What matters of values: chips by their records, kernels as bytes. */
const plain = (values: Values) =>
  JSON.stringify(values, (_, value) => (value instanceof DataView ? [...new Uint8Array(value.buffer)] : value));

describe("a link", () => {
  it("gives what was shown: chips, kernels, what-ifs, title and view", async () => {
    const again = await through(ALL);
    for (const name of Object.keys(ALL))
      if (name !== "chips") expect(plain({ [name]: again[name] })).toBe(plain({ [name]: ALL[name] }));
    const [own, one] = again["chips"] as Parameters<typeof chipRecord>[0][];
    expect(own && { ...chipRecord(own), share: own.share }).toEqual({
      ...chipRecord(OWN as never),
      share: ["L1", 1e5, 4],
    });
    expect(one).toEqual(added("one"));
  });
  it("of an empty page has its version alone", () => {
    expect(linkOf(EMPTY, STOCK)).toEqual({ v: 1 });
  });
  it("names chips of the catalogue and graphs of the page", () => {
    const values = { ...EMPTY, ...graphValues(GRAPH), partition: [[0, 1]], chips: [added("two")], shown: ["two"] };
    expect(linkOf(values, STOCK)).toEqual({
      v: 1,
      chips: ["two"],
      graphs: "example",
      phase: "",
      traits: { partition: [[0, 1]], shown: ["two"] },
    });
  });
  it("gives a graph with its partition again, whether the page has it or not", async () => {
    const other = { ...GRAPH, name: "another" };
    for (const graph of [GRAPH, other]) {
      const values = {
        ...EMPTY,
        ...graphValues(graph),
        graphs: [["prefill", graph]],
        phase: "prefill",
        partition: [[0, 1]],
      };
      const again = await through(values);
      expect(again).toMatchObject({
        graphs: [["prefill", graph]].map(([, one]) => [graph === GRAPH ? "" : "prefill", one]),
        partition: [[0, 1]],
      });
      expect(exampleOf(again, STOCK)).toBe(graph === GRAPH ? "example" : undefined);
    }
  });
  it("has only letters that an address may have, and few of them", async () => {
    const names = several(20, (at) => `kernel number ${at}`);
    const numbers = names.map((_, at) => 1e12 / (at + 3));
    const values = {
      ...EMPTY,
      kernels: wireKernels({ names, flops: { "": numbers }, bytes: { main: numbers }, time: numbers }),
    };
    const letters = await linkLetters(linkOf(values, STOCK));
    expect(letters).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(letters.length).toBeLessThan(MAX_LINK_LETTERS / 4);
  });
  it("has no kernel that no chip can run", () => {
    const [first, second] = GRAPH.ops;
    const opaque = { ...GRAPH, ops: [{ ...first, kind: "opaque" }, second] };
    const values = linkedState({ v: 1, graphs: [["", opaque]], traits: { partition: [[0, 1]] } }, STOCK);
    expect(values["partition"]).toEqual([[0], [1]]);
  });
  it("to a graph of the course, which Python wrote, shows the graph, its kernels, its chip and its title", async () => {
    const values = lessonState(await readLink(LESSON), STOCK);
    expect(values).toMatchObject({ added_chips: ["one"], focus_chip: "one", title: "Mine", partition: [[0, 1]] });
    const [[, graph]] = values["graphs"] as [[string, typeof GRAPH]];
    expect(graph.ops.map(({ name }) => name)).toEqual(["gelu", "add"]);
    expect(graph.tensors.map(({ bytes }) => bytes)).toEqual([64, 64, 64]);
    await expect(readLink(LESSON.slice(0, -4))).rejects.toThrow(LinkError);
  });
  it.each([{ v: 2 }, { v: 99, chips: 5 }])("of a newer version says so: %j", (link) => {
    expect(() => linkedState(link, STOCK)).toThrow(NewerError);
  });
  it.each(["", "%%%", "AAAA", "a".repeat(MAX_LINK_LETTERS + 1)])(
    "that is damaged is refused: %.12s",
    async (letters) => {
      await expect(linkValue(letters, MOST)).rejects.toThrow();
    },
  );
  it("that lost its end is refused", async () => {
    const letters = await linkLetters(linkOf(ALL, STOCK));
    await expect(linkValue(letters.slice(0, -9), MOST)).rejects.toThrow();
  });
  it("that grows a thousand times is refused before it is inflated", async () => {
    const letters = await linkLetters("a".repeat(2 ** 21));
    expect(letters.length).toBeLessThan(MAX_LINK_LETTERS);
    await expect(linkValue(letters, MOST)).rejects.toThrow("too much to inflate");
  });
  it.each<unknown>([
    null,
    [],
    "v",
    {},
    { v: "1" },
    { v: 1, chips: {} },
    { v: 1, chips: [{}] },
    { v: 1, chips: [{ name: "x", peak_flops: { bf16: -1 }, memories: { HBM: 1 } }] },
    { v: 1, chips: [{ name: "x", peak_flops: { bf16: 1 }, memories: [] }] },
    { v: 1, chips: several(101, () => "one") },
    { v: 1, kernels: [] },
    { v: 1, kernels: { names: [1] } },
    { v: 1, kernels: { names: ["a"], flops: { "": ["1"] } } },
    { v: 1, kernels: { names: ["a"], flops: { "": [1, 2] } } },
    { v: 1, kernels: { names: ["a"], category: { values: ["x"], rows: [1] } } },
    { v: 1, graphs: "no such graph" },
    { v: 1, graphs: "toString" },
    { v: 1, graphs: [["", { ...GRAPH, ops: [] }]] },
    { v: 1, graphs: [["", { ...GRAPH, ops: [...GRAPH.ops].reverse() }]] },
    { v: 1, graphs: [["", { ...GRAPH, outputs: [99] }]] },
  ])("of another form is refused as a whole: %j", (link) => {
    expect(() => linkedState(link, STOCK)).toThrow();
  });
  it("has no value of another form, and no value that a link does not hold", () => {
    const traits = {
      title: { toString: "x" },
      zoom: [0, 1, 2, 3],
      view: "<b>",
      what_if: { one: { bandwidth: { HBM: "fast" } } },
      top: 0,
      story: { steps: [] },
      answers: { a: [1] },
      shown: ["nobody"],
      partition: [[7]],
      word: 4,
    };
    const values = linkedState({ v: 1, traits, graphs: "example" }, STOCK);
    expect(values).toEqual({ ...EMPTY, ...graphValues(GRAPH), shown: [], word: 4 });
  });
  it.each([
    { zoom: [1, 1, 1, 2] },
    { zoom: [10, 1, 2, 20] },
    { zoom: [1e307, 1e308, 1, 2] },
    { exposed_roofs: [0.2, 1] },
    { exposed_comm: 1 },
    { moves: { x: { bytes: 2 } } },
    { moves: { "007": { bytes: 2 } } },
    { moves: { "-1": { bytes: 2 } } },
    { what_if: { one: { bandwidth: { HBM: 1e300 } } } },
    { what_if: { one: { latency: { HBM: 1e-300 } } } },
    { what_if: { one: { price: { HBM: 1 } } } },
  ])("has no value that the chart cannot draw: %j", (traits) => {
    expect(linkedState({ v: 1, traits: { ...traits, word: 4 } }, STOCK)).toEqual({ ...EMPTY, word: 4 });
  });
  it("names the chips that the catalogue lacks", () => {
    expect(missingChips(["one", "three", "four"], STOCK)).toEqual(["chips that this catalogue lacks (three, four)"]);
    expect(missingChips(["one", { ...chipRecord(OWN as WireChip) }], STOCK)).toEqual([]);
    const session = { ...JSON.parse(sessionText(EMPTY, STOCK)), traits: { added_chips: ["three"] } };
    expect(sessionState(session, STOCK).notTaken).toEqual(["chips that this catalogue lacks (three)"]);
  });
  it("has names of objects' own properties as text", () => {
    const names = ["__proto__", "constructor"];
    const link = JSON.parse(
      `{"v":1,"kernels":{"names":["__proto__"],"bytes":{"__proto__":[1]}},"traits":{"__proto__":{"title":"x"}}}`,
    );
    expect(() => linkedState(link, STOCK)).not.toThrow();
    expect(({} as Record<string, unknown>)["title"]).toBeUndefined();
    expect(wireKernels({ names }).n).toBe(2);
  });
});

describe("a session", () => {
  it("gives what was shown again", () => {
    const { values, notTaken } = sessionState(JSON.parse(sessionText(ALL, STOCK)), STOCK);
    expect(notTaken).toEqual([]);
    const withoutChips = { ...values, chips: null, added_chips: null };
    expect(plain(withoutChips)).toBe(plain({ ...ALL, chips: null, added_chips: null }));
    expect((values["chips"] as { id: string }[]).map(({ id }) => id)).toEqual(["own", "one"]);
  });
  it("has chips of the catalogue by their rates, and says what is not taken", () => {
    const session = {
      ...{ format: "roofwidget session", version: 1, series: true, what_if: {}, baseline: { names: ["a"] } },
      chips: {
        one: { ...chipRecord(STOCK.chip("one") as never), units: "132 SM" },
        two: { ...chipRecord(STOCK.chip("two") as never), peak_flops: { bf16: 5 } },
      },
      kernels: { names: ["a"], flops: { "": [1] }, extra: { x: [1] }, origin: {} },
      graphs: { "": {} },
      snapshots: [{}],
      traits: { title: "T", story: { steps: [] }, added_chips: [] },
    };
    const { values, notTaken } = sessionState(session, STOCK);
    expect(notTaken).toEqual([
      "the earlier run",
      "graphs",
      "snapshots",
      "the series",
      "the story",
      "of the kernels: extra, origin",
    ]);
    expect(values).toMatchObject({
      title: "T",
      added_chips: ["one"],
      chips: [
        { id: "two", peaks: [["bf16", 5]] },
        { id: "one", added: true },
      ],
    });
  });
  it("of a newer version, or no session, is refused", () => {
    expect(() => sessionState({ format: "roofwidget session", version: 2 }, STOCK)).toThrow(NewerError);
    expect(() => sessionState({ format: "something", version: 1 }, STOCK)).toThrow("it is no session");
  });
});

describe("graphs of others", () => {
  it("are taken as Python sends them", () => {
    expect(areGraphs([["", GRAPH]])).toBe(true);
    expect(areGraphs([])).toBe(true);
  });
  it("have ops that read what was written before", () => {
    const [first, second] = GRAPH.ops;
    expect(areGraphs([["", { ...GRAPH, ops: [{ ...first, inputs: [2] }, second] }]])).toBe(false);
    expect(areGraphs([["", { ...GRAPH, ops: [first, first] }]])).toBe(false);
  });
  it("have counts of limited depth", () => {
    const deep = several(50, (at) => at).reduce<unknown>((count) => ["+", count, 1], 1);
    expect(areGraphs([["", { ...GRAPH, ops: [{ ...GRAPH.ops[0], extra: deep }, GRAPH.ops[1]] }]])).toBe(false);
  });
});

it("a chip has the rates of its record", () => {
  const record = {
    ...{ id: "x", name: "X", default_precision: "fp8", clock: { value: 2e9, source: "s" } },
    peak_flops: { bf16: { value: 1e15, source: "s" }, fp8: 2e15 },
    memories: { HBM: 3e12, L2: { bandwidth: { value: 1e13 }, latency: 1e-7, capacity: 5e7 }, L1: {} },
    links: { NVLink: { bandwidth: 4.5e11 } },
    ceilings: [{ name: "measured", rate: 9e14, precision: "bf16", measured: true }],
  };
  expect(wireChip(record)).toMatchObject({
    precision: "fp8",
    peaks: [
      ["bf16", 1e15],
      ["fp8", 2e15],
    ],
    memories: [
      ["HBM", 3e12],
      ["L2", 1e13],
      ["L1", null],
    ],
    latencies: { L2: 1e-7 },
    link: 4.5e11,
    clock: 2e9,
    ceilings: [{ key: "measured bf16", rate: 9e14, memory: null, precision: "bf16", measured: true }],
  });
});
