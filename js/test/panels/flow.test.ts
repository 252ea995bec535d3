// The graph as it is drawn, and what the fusion panel says and does to it.

import { describe, expect, it } from "vitest";
import { tally } from "../../src/fusion/forms.ts";
import type { Graph } from "../../src/fusion/graph.ts";
import { whyNot } from "../../src/fusion/legality.ts";
import { fuse, groupBytes, unfused } from "../../src/fusion/partition.ts";
import { type Box, boxesOf, type Flow, flowing, layersOf, spread } from "../../src/panels/fusion/flow.ts";
import {
  boxAt,
  endsOf,
  isOut,
  outlineOf,
  seen,
  shortened,
  sideTexts,
  stepFrom,
  thickness,
} from "../../src/panels/fusion/flow_parts.ts";
import {
  cut,
  downstream,
  formSentence,
  sentenceOf,
  sharedInputPairs,
  spoken,
} from "../../src/panels/fusion/merging.ts";
import { finish } from "../../src/ui/slices.ts";
import { fusionWords } from "../../src/words/words.ts";
import { at, byBytes, drawn, faultOf, formsIn, greedy, pairs, valuesOf, written } from "../graphs.ts";
import { makeChip, several } from "../helpers.ts";

const flowOf = (...given: Parameters<typeof flowing>) => finish(flowing(...given));
const ROOM = { width: 360, height: 400 };
const TAIL = "!norm: x > y; gelu: y > z; drop: z > d; +add: d x > out";
/** An edge goes past two layers. */
const RESIDUAL = "!norm: x > y; gelu: y > z; drop: z > d; +add: d y > out";
const chain = (n: number) => written(several(n, (i) => `op${i}: t${i} > t${i + 1}`).join("; "));

function overlaps({ boxes, boxHeight }: Flow): number {
  let found = 0;
  boxes.forEach((a, i) => {
    for (const b of boxes.slice(i + 1)) {
      if (Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < boxHeight) found++;
    }
  });
  return found;
}

describe("layers", () => {
  it("put each op below all that it reads from", () => {
    for (const graph of drawn) {
      const layer = layersOf(graph);
      graph.after.forEach((readers, op) => {
        for (const reader of readers) expect(layer[reader]).toBeGreaterThan(layer[op] as number);
      });
      expect(Math.min(...layer)).toBe(0);
      expect(new Set(layer).size).toBe(Math.max(...layer) + 1);
    }
  });
  it("put an op that reads graph inputs only right above its reader", () => {
    expect(layersOf(written("a: x > p; b: p > q; mask: m > n; +c: q n > out"))).toEqual([0, 1, 1, 2]);
  });
});

describe("a layout", () => {
  it("has boxes that never overlap and lie inside it", () => {
    for (const graph of drawn) {
      const flow = flowOf(graph, ROOM);
      expect(overlaps(flow), graph.name).toBe(0);
      for (const { x, y, width } of flow.boxes) {
        expect(x - width / 2).toBeGreaterThanOrEqual(0);
        expect(x + width / 2).toBeLessThanOrEqual(flow.width);
        expect(y + flow.boxHeight / 2).toBeLessThan(flow.height);
      }
    }
  });
  it("draws a chain straight, as wide as the panel, with room for a pill at its right", () => {
    const flow = flowOf(chain(5), ROOM);
    expect(new Set(flow.boxes.map(({ x }) => x))).toEqual(new Set([ROOM.width - 212]));
    expect(new Set(flowOf(chain(5), { width: 440, height: 400 }).boxes.map(({ x }) => x))).toEqual(new Set([220]));
    expect(flow.width).toBe(ROOM.width);
    expect(flow.edges).toHaveLength(4);
  });
  it("leads an edge past the boxes of the layers between", () => {
    const flow = flowOf(written(RESIDUAL), ROOM);
    const long = flow.edges.find(({ from, to }) => from === 0 && to === 3);
    expect(long?.points).toHaveLength(6);
    for (const op of [1, 2]) {
      const box = flow.boxes[op] as Box;
      const beside = long?.points.filter(({ y }) => Math.abs(y - box.y) <= flow.boxHeight / 2) ?? [];
      expect(beside).toHaveLength(2);
      for (const { x } of beside) expect(Math.abs(x - box.x)).toBeGreaterThan(box.width / 2);
    }
  });
  it("has one edge for each op that reads from another, with the tensors between them", () => {
    const flow = flowOf(written("two: x > a b; +one: a b > c; last: a c > d"), ROOM);
    expect(flow.edges.map(({ from, to, tensors }) => [from, to, tensors.length])).toEqual([
      [0, 1, 2],
      [0, 2, 1],
      [1, 2, 1],
    ]);
  });
  it("starts and ends its edges at the boxes", () => {
    for (const graph of drawn) {
      const { boxes, edges, boxHeight } = flowOf(graph, ROOM);
      for (const { from, to, points } of edges) {
        expect(points[0]).toEqual({ x: boxes[from]?.x, y: (boxes[from]?.y as number) + boxHeight / 2 });
        expect(points.at(-1)).toEqual({ x: boxes[to]?.x, y: (boxes[to]?.y as number) - boxHeight / 2 });
      }
    }
  });
  it("is wider than the panel where many ops stand in a layer", () => {
    const many = several(12, (i) => `op${i}: x > t${i}`).join("; ");
    const flow = flowOf(written(many), ROOM);
    expect(flow.layers).toHaveLength(1);
    expect(flow.width).toBeGreaterThan(12 * (flow.boxes[0]?.width as number));
    expect(overlaps(flow)).toBe(0);
  });
  it("is as wide as the panel where its layers fit", () => {
    const heads =
      "!norm: x > n; *q: n wq > a; *k: n wk > b; *v: n wv > c; ~rope: a > d; *scores: d b > e; *out: e c > f";
    expect(flowOf(written(`${heads}; +add: f x > o; last: n o > end`), { width: 460, height: 400 }).width).toBe(460);
  });
  it("of no ops is empty", () => {
    const graph = { ops: [], before: [], after: [], makes: [], reads: [] } as unknown as Graph;
    expect(flowOf(graph, ROOM)).toMatchObject({ width: ROOM.width, layers: [], boxes: [], edges: [] });
  });
  it("of a thousand ops is there in a moment, and little of it is drawn", () => {
    const graph = chain(1000);
    const start = performance.now();
    const flow = flowOf(graph, ROOM);
    expect(performance.now() - start).toBeLessThan(250);
    const { boxes, edges } = seen(flow, { left: 0, top: 5000, right: ROOM.width, bottom: 5320 });
    expect(boxes.length).toBeGreaterThanOrEqual(5);
    expect(boxes.length).toBeLessThan(12);
    expect(edges.length).toBeLessThan(14);
    for (const box of boxes) expect(Math.abs((flow.boxes[box]?.y as number) - 5160)).toBeLessThan(300);
  });
  it("of few ops fills the height of the panel, of many it has low boxes and goes on below", () => {
    const middles = (ops: number, height: number) => flowOf(chain(ops), { width: 360, height }).boxes.map(({ y }) => y);
    // 400 px less 28 px at each end and four boxes of 40 px: 184 px for three spaces.
    expect(middles(4, 400)).toEqual([48, 149, 250, 351]);
    // A space is at most 86 px and at least 34 px high.
    expect(middles(2, 900)).toEqual([48, 174]);
    expect(middles(3, 100)).toEqual([48, 122, 196]);
    expect(middles(13, 400).slice(0, 3)).toEqual([42, 104, 166]);
  });
  it("folds a kernel of a large graph into one box, with all edges of its ops", () => {
    const graph = written("a: x > p; b: p > q; c: p > r; +d: q r > s; e: s > out");
    const partition = at(graph, [[0], [1, 2, 3], [4]]);
    const flow = flowOf(
      graph,
      ROOM,
      boxesOf(partition, (group) => group.length > 1),
    );
    expect(flow.boxes.map(({ ops }) => ops)).toEqual([[0], [1, 2, 3], [4]]);
    expect([...flow.boxOf]).toEqual([0, 1, 1, 1, 2]);
    expect(flow.edges.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    expect(stepFrom(flow, 0, "ArrowDown")).toBe(1);
    expect(stepFrom(flow, 2, "ArrowDown")).toBe(4);
    expect(stepFrom(flow, 2, "ArrowRight")).toBe(2);
    expect(outlineOf(flow, graph, [1, 2, 3])).toBeUndefined();
    expect(boxesOf(partition, () => false).flat()).toEqual([0, 1, 2, 3, 4]);
  });
  it("does not fold kernels that wait for each other", () => {
    const graph = written("a1: x > p; b1: y > q; b2: p > r; a2: q > s");
    const boxes = [
      [0, 3],
      [1, 2],
    ];
    expect(flowOf(graph, ROOM, boxes).boxes.map(({ ops }) => ops)).toEqual([[0], [1], [2], [3]]);
  });
});

describe("places side by side", () => {
  it("are those wanted where there is room", () => {
    expect(spread([0, 50, 90], [0, 10, 10])).toEqual([0, 50, 90]);
  });
  it("are as near as may be to those wanted where there is none", () => {
    expect(spread([0, 0, 0], [0, 10, 10])).toEqual([-10, 0, 10]);
    expect(spread([0, 8, 100], [0, 10, 10])).toEqual([-1, 9, 100]);
  });
  it("stay within the limit where they all fit", () => {
    expect(spread([30, 30], [0, 10], 20)).toEqual([10, 20]);
    expect(spread([-90, 0], [0, 10], 20)).toEqual([-20, 0]);
    expect(spread([-90, 90], [5, 10, 2], 20)).toEqual([-15, 18]);
    expect(spread([-90, 90], [0, 10], 4)).toEqual([-90, 90]);
  });
});

describe("what is drawn", () => {
  it("is thicker with more bytes, by their logarithm and within bounds", () => {
    expect(thickness(0)).toBe(3);
    expect(thickness(1e8)).toBeCloseTo(5.3);
    expect(thickness(1e9) - thickness(1e8)).toBeCloseTo(1);
    expect(thickness(1e30)).toBe(10);
  });
  it("names an op by both ends of a name that is too long", () => {
    expect(shortened("gelu", 64)).toBe("gelu");
    expect(shortened("layer0.attention.q_proj", 108)).toBe("…tention.q_proj");
    expect(shortened("attention_normalised", 108)).toBe("attenti…malised");
    expect(shortened("layer0.attention.q_proj", 108).length).toBeLessThanOrEqual(15);
  });
  it("has names and bytes beside edges, inputs and outputs, where they cover nothing", () => {
    const graph = written("norm: x > y; gelu: y > z");
    const flow = flowOf(graph, ROOM);
    const all = { left: 0, top: 0, right: flow.width, bottom: flow.height };
    const values = valuesOf(graph);
    const textsOf = (bytes: Float64Array | undefined) =>
      sideTexts(flow, seen(flow, all), graph, bytes).map(({ text, anchor }) => [text, anchor]);
    expect(textsOf(values.bytes)).toEqual([
      ["x · 2 kB", "middle"],
      ["z · 2 kB", "middle"],
      ["y · 2 kB", "end"],
    ]);
    // While a question hides the bytes.
    expect(textsOf(undefined).map(([text]) => text)).toEqual(["x", "z", "y"]);
    // Where the bytes have no room, the name is alone.
    const close = written("a: x > c; +add: c r > out");
    const low = flowOf(close, { ...ROOM, height: 120 });
    const inside = seen(low, { left: 0, top: 0, right: low.width, bottom: low.height });
    const large = valuesOf(close).bytes.map((count) => 268_500 * count);
    expect(sideTexts(low, inside, close, large).map(({ text }) => text)).toEqual([
      "x · 537 MB",
      "r · 537 MB",
      "out · 537 MB",
      "c",
    ]);
    // The texts of three edges into one box would cover each other.
    const many = written("a: x > p; b: x > q; c: x > r; d: x > s; +e: p q r s > out");
    const wide = flowOf(many, { width: 280, height: 200 });
    const shown = seen(wide, { left: 0, top: 0, right: wide.width, bottom: wide.height });
    const places = sideTexts(wide, shown, many, valuesOf(many).bytes);
    expect(places.length).toBeGreaterThan(4);
    const boxes = places.map(({ x, y, text, anchor }) => {
      const width = 6.4 * text.length;
      return { left: anchor === "end" ? x - width : x - width / 2, top: y - 7, width };
    });
    boxes.forEach((one, i) => {
      for (const other of boxes.slice(i + 1)) {
        const isApart =
          one.left >= other.left + other.width + 6 ||
          other.left >= one.left + one.width + 6 ||
          Math.abs(one.top - other.top) >= 14;
        expect(isApart).toBe(true);
      }
    });
  });
});

describe("outlines and ends", () => {
  const graph = written("!norm: x > y; gelu: y w > z; drop: z > d; +add: d x > out");
  it("are around the kernels of several ops, 7 px away", () => {
    const flow = flowOf(graph, ROOM);
    expect(outlineOf(flow, graph, [0])).toBeUndefined();
    const [first, third] = [flow.boxes[0] as Box, flow.boxes[2] as Box];
    const outline = outlineOf(flow, graph, [0, 1, 2]);
    expect(outline?.isBand).toBe(false);
    const [left, top] = [first.x - first.width / 2 - 7, first.y - 20 - 7];
    const [across, down] = [first.width + 14 - 24, third.y - first.y + 40 + 14 - 24];
    expect(outline?.d).toBe(
      `M${left + 12} ${top}h${across}q12 0 12 12v${down}q0 12 -12 12h${-across}q-12 0 -12 -12v${-down}q0 -12 12 -12z`,
    );
  });
  it("are bands over boxes and inner edges where a rectangle would hold another op", () => {
    const fan = written("a: x > p; b: p > q; c: p > r; d: p > s; +e: q s > out; f: r > end");
    const outline = outlineOf(flowOf(fan, { width: 600, height: 400 }), fan, [0, 1, 3, 4]);
    expect(outline?.isBand).toBe(true);
    // Four boxes and four inner edges.
    expect(outline?.d.match(/M/g)).toHaveLength(8);
  });
  it("say what an op reads of the inputs and makes for the outputs", () => {
    const names = (op: number) =>
      endsOf(graph, [op]).map(({ side, tensors, shared }) => [
        side,
        tensors.map((t) => graph.tensors[t]?.name),
        shared,
      ]);
    expect(names(0)).toEqual([[-1, ["x"], false]]);
    expect(names(1)).toEqual([[-1, ["w"], true]]);
    expect(names(2)).toEqual([]);
    expect(names(3)).toEqual([
      [-1, ["x"], true],
      [1, ["out"], false],
    ]);
  });
  it("tell a drop away from a group from one at it", () => {
    const flow = flowOf(graph, ROOM);
    const { x, y } = flow.boxes[3] as Box;
    expect(isOut(flow, [2, 3], { x, y: y + 20 + 15 })).toBe(false);
    expect(isOut(flow, [2, 3], { x, y: y + 20 + 25 })).toBe(true);
  });
});

describe("pointing and walking", () => {
  const flow = flowOf(written("a: x > p; b: p > q; c: p > r; +d: q r > out"), ROOM);
  it("finds the op under the pointer", () => {
    flow.boxes.forEach((middle, op) => {
      expect(boxAt(flow, middle)).toBe(op);
    });
    expect(boxAt(flow, { x: 0, y: 0 })).toBeUndefined();
  });
  it("goes along a layer and between layers, and stays at the ends", () => {
    const walk = (from: number, ...keys: string[]) => keys.reduce((op, key) => stepFrom(flow, op, key), from);
    expect(walk(0, "ArrowDown", "ArrowDown")).toBe(3);
    expect(walk(1, "ArrowRight")).toBe(2);
    expect(walk(2, "ArrowLeft", "ArrowLeft")).toBe(1);
    expect(walk(3, "ArrowDown")).toBe(3);
    expect(walk(0, "ArrowUp")).toBe(0);
    expect([walk(1, "Home"), walk(1, "End"), walk(1, "x")]).toEqual([0, 3, 1]);
  });
  it("reaches every op of any graph", () => {
    for (const graph of drawn) {
      const flow = flowOf(graph, ROOM);
      const reached = new Set([0]);
      for (const op of reached) {
        for (const key of ["Up", "Down", "Left", "Right"]) reached.add(stepFrom(flow, op, `Arrow${key}`));
      }
      expect(reached.size, graph.name).toBe(graph.ops.length);
    }
  });
});

describe("a seam", () => {
  it("cuts a group in two at an edge", () => {
    const graph = written(TAIL);
    expect(cut(graph, at(graph, [[0, 1, 2, 3]]), 2, formsIn(graph).refusalOf).groups).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });
  it("leaves groups that are legal, and all other groups as they are", () => {
    let tried = 0;
    for (const graph of drawn) {
      const forms = formsIn(graph);
      for (const partition of [greedy(graph, byBytes, forms), pairs(graph, forms)]) {
        for (const { from, to } of flowOf(graph, ROOM).edges) {
          if (partition.groupOf[from] !== partition.groupOf[to]) continue;
          const next = cut(graph, partition, to, forms.refusalOf);
          tried++;
          expect(next.groupOf[from], graph.name).not.toBe(next.groupOf[to]);
          expect(next.groups.flat().sort((a, b) => a - b)).toEqual([...graph.ops.keys()]);
          expect(faultOf(graph, next.groups)).toBeNull();
        }
      }
    }
    expect(tried).toBeGreaterThan(200);
  });
});

describe("a merge", () => {
  it("goes with the next op downstream of the group", () => {
    const graph = written(TAIL);
    expect(downstream(graph, unfused(graph), 0)).toBe(1);
    expect(downstream(graph, at(graph, [[0, 1, 2], [3]]), 0)).toBe(3);
    expect(downstream(graph, unfused(graph), 3)).toBeUndefined();
  });
  it("says whom it joins", () => {
    const graph = chain(5);
    expect(spoken(graph, [0, 1, 2])).toBe("op0 + op1 + op2");
    expect(spoken(graph, [0, 1, 2, 3])).toBe("op0 + … + op3 (4 ops)");
  });
  it("ties ops that only share what they read", () => {
    const graph = written("*q: x a > y; *k: x b > z; *v: x c > w");
    expect(sharedInputPairs(graph, [0, 1, 2])).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect(sharedInputPairs(written(TAIL), [0, 1, 2, 3])).toEqual([]);
    expect(sharedInputPairs(graph, [1])).toEqual([]);
  });
});

describe("a refusal", () => {
  const refusalOf = (text: string, a: number, b: number, groups?: number[][], shapes = {}) => {
    const graph = written(text, { shapes });
    const partition = groups ? at(graph, groups) : unfused(graph);
    const [one, other] = [a, b].map((op) => partition.groupOf[op] as number) as [number, number];
    const refusal = whyNot(graph, partition, one, other, formsIn(graph).refusalOf);
    return refusal && sentenceOf({ graph, partition }, a, b, refusal, makeChip());
  };
  it("says that ops are one kernel already", () => {
    expect(refusalOf(TAIL, 0, 1, [[0, 1], [2], [3]])).toBe("norm + gelu is already one kernel");
  });
  it("says that nothing joins them", () => {
    expect(refusalOf(TAIL, 0, 2)).toBe("norm and drop share no tensor");
  });
  it("names what runs between", () => {
    expect(refusalOf(RESIDUAL, 0, 3)).toBe("gelu + drop must run after norm and before add");
  });
  it("names the kernels that would wait for each other", () => {
    const text = "a1: x > p; b1: p > q; b2: y > r; a2: r > s; +a3: p s > o; +b3: q r > u";
    expect(refusalOf(text, 0, 4, [[0], [1, 2, 5], [3], [4]])).toBe(
      "a1 + a3 in one kernel would run both before and after b1 + b2 + a2",
    );
  });
  it("names the op that is opaque", () => {
    expect(refusalOf("?sort: x > y; gelu: y > z", 0, 1)).toBe(
      "sort is opaque: a whole algorithm that cannot share its kernel",
    );
  });
  it("says what a matrix product takes", () => {
    expect(refusalOf("gelu: x > y; *mm: y w > z", 0, 1)).toBeNull();
    expect(refusalOf("*mm: x w > y; gelu: x > z", 0, 1)).toBe("gelu neither feeds mm nor uses its result");
    expect(refusalOf("*one: x w > y; *two: a b > z; add: y z > o", 1, 0, [[0, 2], [1]])).toBeNull();
  });
});

describe("a kernel that does not fit on chip", () => {
  const graph = written("ln: x > y; gelu: y > z; drop: z > d", { shapes: { y: [1000, 1000], z: [1000, 1000] } });
  const small = (bytes: number, units = 1) => makeChip({ name: "small", share: { level: "SMEM", bytes, units } });
  const told = (bytes: number, units = 1) => {
    const partition = unfused(graph);
    const refusal = whyNot(graph, partition, 1, 2, formsIn(graph, { bytes, units }).refusalOf);
    return refusal && sentenceOf({ graph, partition }, 1, 2, refusal, small(bytes, units));
  };
  it("is refused with what it needs, what there is, and where", () => {
    expect(told(100)).toBe("the tiles of gelu + drop need 256 B at a time; the SMEM of small holds 100 B");
    expect(told(100, 132)).toBe(
      "the tiles of gelu + drop need 256 B at a time; a unit's share of the SMEM of small holds 100 B",
    );
    expect(told(256)).toBeNull();
  });
  it("is told apart from its room by all digits where three are the same", () => {
    const shapes = { x: [64, 500], y: [64, 500], z: [64, 500] };
    const norm = written("*mm: x[mk] w[kn] > y[mn]; !norm: y > z[mn]", { shapes: { ...shapes, w: [500, 500] } });
    const refusal = formsIn(norm, { bytes: 63_999 }).refusalOf([0, 1]);
    expect(refusal && formSentence({ graph: norm }, refusal, [0, 1], small(63_999))).toBe(
      "64 rows of y need 64 kB at a time; the SMEM of small holds 63.999 kB",
    );
  });
  it("is none on a chip whose memories are not known", () => {
    expect(formsIn(graph, {}).refusalOf([0, 1])).toBeNull();
  });
  it("is said to be counted as if it fitted, alone and among others", () => {
    expect(fusionWords.crowded("no", 0)).toBe("no: the figures assume that they fit");
    expect(fusionWords.crowded("no", 1)).toBe("no, and 1 more kernel does not fit: the figures assume that they fit");
    expect(fusionWords.crowded("no", 2)).toBe("no, and 2 more kernels do not fit: the figures assume that they fit");
  });
});

describe("the figures", () => {
  it("are the sums over the kernels", () => {
    const graph = written(TAIL);
    const [values, forms] = [valuesOf(graph), formsIn(graph)];
    const cost = (_: Float64Array, bytes: number) => bytes / 1e3;
    const all = fuse(graph, unfused(graph), 0, 1, 2, 3);
    expect(tally(forms, unfused(graph), cost)).toEqual({ kernels: 4, flops: 4000, bytes: 18_000, seconds: 18 });
    expect(tally(forms, all, cost)).toEqual({ kernels: 1, flops: 4000, bytes: 4000, seconds: 4 });
    expect(groupBytes(graph, values, [0, 1, 2, 3])).toBe(4000);
  });
  it("have no time without a roof", () => {
    const graph = written(TAIL);
    expect(tally(formsIn(graph), unfused(graph)).seconds).toBeNaN();
  });
});
