// What one kernel can do on a chip, on graphs small enough to see through. The golden file has kernels that people write.

import { describe, expect, it } from "vitest";
import { type Form, formsOn, isForm } from "../../src/fusion/forms.ts";
import type { Graph } from "../../src/fusion/graph.ts";
import { broken, mergesOf, type Refusal, whyNot } from "../../src/fusion/legality.ts";
import { unfused } from "../../src/fusion/partition.ts";
import { formSentence, sentenceOf } from "../../src/panels/fusion/merging.ts";
import { at, best, byBytes, formsIn, type Groups, greedy, likeXla, pairs, valuesOf, written } from "../graphs.ts";
import { makeChip } from "../helpers.ts";

/** 132 units with 227 KiB each, and 50 MiB that they share. */
const GPU = { bytes: 232_448, units: 132, shared: 52_428_800 };
type Room = { readonly bytes?: number; readonly units?: number; readonly shared?: number };

const formOf = (graph: Graph, room: Room = GPU, ops = [...graph.ops.keys()]): Form => {
  const found = formsIn(graph, room).formOf(ops);
  if (!isForm(found)) throw new Error(found.reason);
  return found;
};
const chipOf = ({ bytes, units = 1, shared }: Room) =>
  makeChip({ name: "small", share: bytes === undefined ? null : { level: "SMEM", bytes, units, shared } });
/** Says why the ops are no kernel; undefined if they are one. */
const told = (graph: Graph, room: Room = GPU, ops = [...graph.ops.keys()]) => {
  const refusal = broken(graph, ops)?.form ?? formsIn(graph, room).refusalOf(ops);
  return refusal ? formSentence({ graph }, refusal, ops, chipOf(room)) : undefined;
};
/** Why the last two of these groups may not merge. */
const refusalIn = (graph: Graph, groups: Groups) =>
  whyNot(graph, at(graph, groups), groups.length - 2, groups.length - 1, formsIn(graph, GPU).refusalOf) as Refusal;
const bytesOf = (graph: Graph, room: Room = GPU) => formsIn(graph, room).loadOf([...graph.ops.keys()]).bytes;

describe("tiles on chip", () => {
  const need = (text: string, shapes: Record<string, number[]>, ops: number[], room: Room = GPU) =>
    formOf(written(text, { shapes }), room, ops).need;
  it("are vectors of 128 elements between elementwise ops, and there from write to last read", () => {
    expect(need("a: x > p; b: p > q; c: q > r", {}, [0, 1])).toBe(256);
    // p and q are there together, q and r are, but never all three.
    expect(need("a: x > p; b: p > q; c: q > r; d: r > s", {}, [0, 1, 2, 3])).toBe(512);
    expect(need("a: x > p; b: p > q; c: q p > r; d: r p > s", {}, [0, 1, 2, 3])).toBe(768);
    expect(need("a: x > p; b: p > q", { p: [10] }, [0, 1])).toBe(20);
  });
  it("are rows beside a reduction", () => {
    const shapes = { x: [10, 4096], p: [10, 4096], q: [10, 4096] };
    expect(need("!a: x > p; b: p > q", shapes, [0, 1])).toBe(8192);
    // A residual stays on chip as a row from the norm to the addition, beside a vector of the norm.
    expect(need("!norm: x > p; add: p x > q", shapes, [0, 1])).toBe(8192 + 256);
  });
  it("are of the result of a product: 128 by 128 elements where four of them fit, fewer where there are fewer", () => {
    const shapes = { x: [4, 64, 512], w: [512, 4096], p: [4, 64, 4096], q: [4, 64, 4096] };
    const product = "*a: x[bmk] w[kn] > p[bmn]; b: p > q[bmn]";
    expect(need(product, shapes, [0, 1])).toBe(2 * 128 * 128);
    expect(need(product, { ...shapes, x: [1, 64, 512], p: [1, 64, 4096], q: [1, 64, 4096] }, [0, 1])).toBe(
      2 * 64 * 128,
    );
    // The largest power of two whose tile of 2-byte elements takes half of the capacity, and never less than 64.
    expect(formOf(written(product, { shapes }), { bytes: 4 * 256 * 256 }).block).toBe(256);
    expect(formOf(written(product, { shapes }), { bytes: 4 * 256 * 256 - 1 }).block).toBe(128);
    expect(formOf(written(product, { shapes }), { bytes: 2 * 64 * 64 }).block).toBe(64);
  });
  it("are none for an op alone", () => {
    expect(need("a: x > p; b: p > q", {}, [0])).toBe(0);
    expect(need("*a: x w > p; b: p > q", {}, [0], { bytes: 0 })).toBe(0);
  });
  it("are never more than the tensor", () => {
    expect(need("a: x > p; b: p > q", { p: [] }, [0, 1])).toBe(2);
  });
});

describe("a chip's share", () => {
  const graph = written("a: x > p; b: p > q; c: q > r");
  it("takes kernels up to the last byte, and an op alone in any case", () => {
    expect(told(graph, { bytes: 256 }, [0, 1])).toBeUndefined();
    expect(told(graph, { bytes: 255 }, [0, 1])).toBe(
      "the tiles of a + b need 256 B at a time; the SMEM of small holds 255 B",
    );
    expect(told(graph, { bytes: 0 }, [0])).toBeUndefined();
  });
  it("is asked anew for a partition that stays, as sizes change in a drag", () => {
    const partition = unfused(graph);
    const codes = [256, 255, 256].map(
      (bytes) => whyNot(graph, partition, 0, 1, formsIn(graph, { bytes }).refusalOf)?.code ?? null,
    );
    expect(codes).toEqual([null, "capacity", null]);
  });
  it("that is unknown takes any kernel", () => {
    expect(told(graph, {}, [0, 1])).toBeUndefined();
    const shapes = { x: [4096, 2 ** 22], y: [4096, 2 ** 22], z: [4096, 2 ** 22] };
    expect(formOf(written("!norm: x > y; add: y > z", { shapes }), {})).toMatchObject({ name: "rows", need: 2 ** 23 });
  });
  it("keeps pairs, presets and the search to kernels that fit", () => {
    const four = written("a: x > p; b: p > q; c: q > r; d: r > s");
    const [none, two, all] = [255, 511, 512].map((bytes) => formsIn(four, { bytes }));
    const twos = [
      [0, 1],
      [2, 3],
    ];
    expect(pairs(four, none).groups).toHaveLength(4);
    expect(pairs(four, two).groups).toEqual(twos);
    for (const partition of [best(four, byBytes, two), greedy(four, byBytes, two), likeXla(four, byBytes, two)])
      expect(partition.groups).toEqual(twos);
    for (const partition of [best(four, byBytes, all), greedy(four, byBytes, all), likeXla(four, byBytes, all)])
      expect(partition.groups).toEqual([[0, 1, 2, 3]]);
    expect(mergesOf(four, unfused(four), 1, none?.refusalOf)).toEqual([]);
    expect(mergesOf(four, unfused(four), 1, two?.refusalOf)).toEqual([0, 2]);
  });
});

/** A softmax over rows, its sums over columns, and the division by these sums. */
const balanced = (rows: number, columns: number) =>
  written("!softmax: x > s[rc]; !sum: s > c[c]; +divide: s c > y[rc]", {
    shapes: { x: [rows, columns], s: [rows, columns], c: [columns], y: [rows, columns] },
    ops: { softmax: { index: "rc->rc" }, sum: { axes: [0] } },
  });

describe("a softmax over rows and sums over columns", () => {
  const tall = balanced(2 ** 24, 64);
  it("are one kernel that adds up across blocks: each unit writes its 64 sums, and they are read once", () => {
    const form = formOf(tall, GPU, [0, 1]);
    expect(form).toMatchObject({ name: "rows", workspace: 2 * 4 * 64 * 132 });
    const forms = formsIn(tall, GPU);
    const wide = 2 * 64 * 2 ** 24;
    expect(forms.loadOf([0, 1]).bytes).toBe(2 * wide + 128 + 2 * 4 * 64 * 132);
    expect(best(tall, byBytes, forms).groups).toEqual([[0, 1], [2]]);
    // By twos, what is read again does not count: the sums stay on chip.
    expect(pairs(tall, forms).groups).toEqual([[0], [1, 2]]);
    // Compilers do not add up across blocks.
    expect([forms.isOfCompilers([0, 1]), forms.isOfCompilers([1, 2])]).toEqual([false, true]);
    expect(likeXla(tall, byBytes, forms).groups).toEqual([[0], [1, 2]]);
  });
  it("are no kernel with what needs the sums of all rows, if a column does not fit on chip", () => {
    expect(told(tall)).toBe(
      "softmax reduces axis 1 and sum reduces axis 0: one kernel of softmax + sum + divide would keep 4.29 GB on chip " +
        "at a time; a unit's share of the SMEM of small holds 232 kB",
    );
    expect(sentenceOf({ graph: tall, partition: at(tall, [[0, 1], [2]]) }, 1, 2, refusalIn(tall, [[0, 1], [2]]))).toBe(
      "softmax reduces axis 1 and sum reduces axis 0: one kernel of softmax + sum + divide would keep 4.29 GB on chip " +
        "at a time; show the chip that holds this much",
    );
    expect(formsOn(tall, valuesOf(tall), undefined, byBytes).refusalOf([0, 1, 2])).toMatchObject({ reason: "differ" });
    expect(formsOn(tall, valuesOf(tall), null, byBytes).refusalOf([0, 1, 2])).toBeNull();
    // The sums and the division alone read the softmax twice.
    expect(formOf(tall, GPU, [1, 2])).toMatchObject({ name: "two passes", reads: new Map([[1, 2]]) });
  });
  it("are one kernel where all of the input and of the softmax fit", () => {
    const square = balanced(64, 64);
    expect(formOf(square, { bytes: 16_384 })).toMatchObject({ name: "rows", need: 2 * 8192, workspace: 0 });
    expect(told(square, { bytes: 16_383 })).toMatch(/would keep 16.384 kB on chip .* holds 16.383 kB$/);
  });
});

describe("a kernel without a product", () => {
  it("passes twice over rows that do not fit, once for each reduction that needs the last one", () => {
    const shapes = Object.fromEntries([..."xyzw"].map((name) => [name, [16, 4096]]));
    const graph = written("act: x > y; !norm: y > z; add: z > w", { shapes });
    const row = 2 * 4096;
    expect(formOf(graph, { bytes: row + 256 })).toMatchObject({ name: "rows", need: row + 256 });
    const form = formOf(graph, { bytes: row + 255 });
    // Vectors of the two tensors inside. The norm needs act, so both run for the statistics and for the result.
    expect(form).toMatchObject({
      name: "two passes",
      need: 2 * 256,
      reads: new Map([[0, 2]]),
      times: new Map([[0, 2]]),
    });
    expect(formsIn(graph, { bytes: row }).loadOf([0, 1, 2])).toEqual({
      bytes: 3 * 16 * row,
      flops: Float64Array.of(4 * 16 * 4096),
      times: new Map([[0, 2]]),
    });
    // The second of two norms needs a pass of its own.
    const two = written("!norm: x > y; !again: y > z; add: z > w", { shapes });
    expect(formOf(two, { bytes: row - 1 })).toMatchObject({ reads: new Map([[0, 3]]), times: new Map([[0, 2]]) });
  });
  it("takes so many columns that each access of 32 B is used whole", () => {
    const shapes = { x: [512, 1024], y: [512, 1024], z: [512, 1024] };
    const loops = (dtype: "bf16" | "fp32") =>
      written("scale: x > y[rc]; !softmax: y > z[rc]", {
        shapes,
        dtypes: { x: dtype, y: dtype, z: dtype },
        ops: { scale: { index: "rc->rc" }, softmax: { axes: [0] } },
      });
    expect(formOf(loops("bf16")).need).toBe(16 * 512 * 2);
    expect(formOf(loops("fp32")).need).toBe(8 * 512 * 4);
  });
  it("adds up along the axes of one sum for free, and across blocks for the others", () => {
    const sums = written("!rows: x[ab] > r[a]; !columns: x > c[b]", {
      shapes: { x: [8192, 512], r: [8192], c: [512] },
      ops: { columns: { axes: [0] } },
    });
    // A row has one block of columns: 8,192 sums once each. A column has as many blocks as units: 512 sums of 132 blocks.
    expect(formOf(sums)).toMatchObject({ name: "stream", workspace: Math.min(2 * 4 * 8192 * 132, 2 * 4 * 512 * 132) });
    const stats = { ...sums, ops: sums.ops.map((op) => ({ ...op, stats: 2 })) };
    expect(formOf(stats).workspace).toBe(2 * 2 * 4 * 512 * 132);
  });
});

describe("ops before a product", () => {
  const dequantised = (m: number) =>
    written("cast: q[kn] > w[kn]; *mm: x[mk] w > y[mn]", {
      shapes: { q: [512, 4096], w: [512, 4096], x: [m, 512], y: [m, 4096] },
      dtypes: { q: "int4" },
    });
  it("run once for each block along the axes that their operand lacks, and their result stays on chip", () => {
    const [q, x, y] = [512 * 4096 * 0.5, 2 * 16 * 512, 2 * 16 * 4096];
    expect(formOf(dequantised(16))).toMatchObject({ name: "tiles", block: 128, need: 2 * 16 * 128, times: new Map() });
    expect(bytesOf(dequantised(16))).toBe(q + x + y);
    expect(formOf(dequantised(1024)).times).toEqual(new Map([[0, 8]]));
    expect([128, 129].map((m) => formOf(dequantised(m)).times.get(0) ?? 1)).toEqual([1, 2]);
    const { flops } = formsIn(dequantised(1024), GPU).loadOf([0, 1]);
    expect([...flops]).toEqual([1000 * 1024 * 4096, 8 * 512 * 4096]);
  });
  it("run for the blocks of each product that uses them", () => {
    const three = written("norm: x[mk] > h[mk]; *q: h u[kq] > a[mq]; *r: h v[kr] > b[mr]; *s: h w[ks] > c[ms]", {
      shapes: {
        ...{ x: [256, 64], h: [256, 64], u: [64, 512], v: [64, 128], w: [64, 256] },
        ...{ a: [256, 512], b: [256, 128], c: [256, 256] },
      },
    });
    expect(formOf(three).times).toEqual(new Map([[0, 4 + 1 + 2]]));
  });
  const scaled = (m: number, k: number, dtype: "bf16" | "fp8", rescale: boolean) =>
    written("!amax: x[mk] > a[m]; scale: x a > q[mk]; *mm: q w[kn] > y[mn]", {
      shapes: { x: [m, k], a: [m], q: [m, k], w: [k, 512], y: [m, 512] },
      dtypes: { a: "fp32", q: dtype },
      ops: { amax: { rescale } },
    });
  it("that reduce keep 64 rows if what they add up cannot be corrected later, or read them twice", () => {
    const kept = (dtype: "bf16" | "fp8", rescale: boolean) =>
      [16, 256].map((m) => formOf(scaled(m, 8192, dtype, rescale)));
    // What is rounded to 8 bits cannot be corrected. Rows of x and a tile of at most 64 by 64 results fit for 8 rows.
    for (const forms of [kept("fp8", true), kept("bf16", false)])
      expect(forms[1]).toMatchObject({ keeps: "again", reads: new Map([[0, 2]]) });
    expect(formOf(scaled(8, 8192, "fp8", true))).toMatchObject({ keeps: "rows", need: 8 * 8192 * 2 + 2 * 8 * 64 });
    expect(kept("bf16", true)).toMatchObject(Array(2).fill({ name: "tiles", keeps: "", reads: new Map() }));
  });
  it("may not reduce an axis that the product does not add up", () => {
    const graph = written("!norm: x[mk] > h[mk]; *mm: h w[kn] > y[mn]", {
      shapes: { x: [64, 512], h: [64, 512], w: [512, 64], y: [64, 64] },
      ops: { norm: { axes: [0] } },
    });
    expect(told(graph)).toBe("norm reduces axis 0, which mm does not add up: every block would need all of its rows");
  });
  it("are no ops beside it", () => {
    const shapes = { x: [64, 64], w: [64, 64], y: [64, 64], z: [64, 64] };
    expect(told(written("*mm: x[mk] w[kn] > y[mn]; act: x > z[mk]", { shapes }))).toBe(
      "act neither feeds mm nor uses its result",
    );
  });
});

describe("ops after a product", () => {
  const product = (n: number, after: string, shapes = {}, ops: Record<string, object> = {}) =>
    written(`*mm: x[mk] w[kn] > y[mn]; ${after}`, {
      shapes: { x: [256, 64], w: [64, n], y: [256, n], z: [256, n], r: [256, n], v: [n], ...shapes },
      ops,
    });
  it("are free, and read other tensors once", () => {
    const graph = product(512, "+bias: y v[n] > u[mn]; add: u r[mn] > z[mn]", { u: [256, 512] });
    expect(formOf(graph)).toMatchObject({ name: "tiles", block: 128, times: new Map(), reads: new Map() });
    expect(bytesOf(graph)).toBe(2 * (256 * 64 + 64 * 512 + 512 + 2 * 256 * 512));
  });
  it("may move elements", () => {
    expect(told(product(512, "~turn: y[mn] > z[nm]", { z: [512, 256] }))).toBeUndefined();
  });
  it("that add up write partial sums of each block of columns", () => {
    const loss = (n: number, stats = 1) =>
      formOf(product(n, "!loss: y > l[m]", { l: [256] }, { loss: { stats, index: "mn->m" } })).workspace;
    expect([loss(128), loss(129), loss(1024)]).toEqual([0, 2 * 4 * 256 * 2, 2 * 4 * 256 * 8]);
    expect(loss(1024, 2)).toBe(2 * 2 * 4 * 256 * 8);
  });
  it("that need whole rows keep at least 64 of them", () => {
    const softmax = (n: number) => product(n, "!softmax: y > z[mn]");
    // A row of y becomes one of z in its place, so both are there once.
    expect(formOf(softmax(512))).toMatchObject({ name: "whole rows", block: 64, blocks: 4, need: 64 * 2 * 512 });
    expect(told(softmax(2048))).toBe(
      "64 rows of y need 262 kB at a time; a unit's share of the SMEM of small holds 232 kB",
    );
  });
  it("read what lacks the rows again in each wave of blocks that it does not outlast on chip", () => {
    const graph = written("*mm: x[mk] w[kn] > y[mn]; !softmax: y > z[mn]", {
      shapes: { x: [1024, 64], w: [64, 512], y: [1024, 512], z: [1024, 512] },
    });
    const small = { bytes: 64 * 1024, units: 4 };
    // 16 blocks of 64 rows on 4 units are 4 waves. The weights have 65,536 B.
    expect(formOf(graph, { ...small, shared: 65_535 })).toMatchObject({
      block: 64,
      blocks: 16,
      reads: new Map([[1, 4]]),
    });
    expect(formOf(graph, { ...small, shared: 65_536 }).reads).toEqual(new Map());
    expect(formOf(graph, { ...small, units: 16, shared: 0 }).reads).toEqual(new Map());
    // The one unit has what its rows leave.
    expect(formOf(graph, { bytes: 2 ** 17, units: 1, shared: 2 ** 17 }).reads).toEqual(new Map());
    expect(formOf(graph, { bytes: 2 ** 17 - 1, units: 1, shared: 2 ** 17 - 1 }).reads).toEqual(new Map([[1, 16]]));
  });
});

describe("two products one after the other", () => {
  const attention = (m: number, n: number, more = {}) =>
    written("*qk: q[hmd] k[hnd] > s[hmn]; !softmax: s > p[hmn]; *pv: p v[hne] > o[hme]", {
      shapes: { q: [2, m, 64], k: [2, n, 64], s: [2, m, n], p: [2, m, n], v: [2, n, 64], o: [2, m, 64] },
      ...more,
    });
  it("keep the rows of the second result, and walk the axis that it adds up 64 at a time", () => {
    // Rows of q and o, and 64 columns of s, in whose place those of p come.
    expect(formOf(attention(1024, 1024))).toMatchObject({
      ...{ name: "chain", keeps: "result", block: 64, blocks: 32 },
      need: 64 * (128 + 128 + 64 * 2 * 2),
    });
    expect(bytesOf(attention(1024, 1024))).toBe(4 * 2 * 2 * 1024 * 64);
    // The whole of 2^20 rows of scores never are.
    expect(formOf(attention(64, 2 ** 20)).need).toBe(64 * (128 + 128 + 64 * 4));
  });
  it("keep the rows between them if these leave or cannot be corrected later", () => {
    const kept = (n: number) => attention(1024, n, { outputs: ["p"] });
    expect(formOf(kept(256))).toMatchObject({ keeps: "middle", need: 64 * (2 * 256 * 2 + 128 + 64 * 2) });
    expect(told(kept(2048))).toBe(
      "64 rows of o and q need 32.8 kB, 64 rows of p 541 kB; a unit's share of the SMEM of small holds 232 kB",
    );
  });
  it("may be two whose operands are not both made", () => {
    const graph = written("*a: x[mk] u[kn] > s[mn]; *b: y[nk] u > t[nk]; *c: s t > o[mk]", {
      shapes: { x: [64, 64], u: [64, 64], s: [64, 64], y: [64, 64], t: [64, 64], o: [64, 64] },
      ops: { a: { index: "mk,kn->mn" }, b: { index: "nj,jk->nk" }, c: { index: "mn,nk->mk" } },
    });
    expect(told(graph)).toBe("both operands of c are products of the same kernel: a block has rows of only one");
  });
});

describe("a refusal", () => {
  const square = Object.fromEntries([..."abcdefghqrstuvwxyz"].map((name) => [name, [64, 64]]));
  const refused = (text: string, ops: number[], more: Parameters<typeof written>[1] = {}, room: Room = GPU) => {
    const graph = written(text, { ...more, shapes: { ...square, ...more.shapes } });
    return told(graph, room, ops);
  };
  it("of products names the one between two others, or says that two have nothing in common", () => {
    const three = "*a: x[mk] u[kn] > p[mn]; *b: p v[no] > q[mo]; *c: q w[or] > s[mr]";
    expect(refused(three, [0, 1, 2], { shapes: { p: [64, 64] } })).toBe(
      "a, b and c are three matrix products one after the other: a kernel has at most two",
    );
    // The two meet in an op that is not in the kernel.
    expect(
      refused("*a: x[mk] u[kn] > y[mn]; act: y > r; *b: s[mk] v[kn] > t[mn]; add: r t > z; all: y t > q", [0, 2]),
    ).toBe("a and b are matrix products that share no input and no result");
  });
  it("of a product names the sum beside it, and the neighbours that it reads", () => {
    expect(refused("act: x > y; !sum: y > v[m]; *mm: y w[kn] > z[mn]", [0, 1, 2], { shapes: { v: [64] } })).toBe(
      "sum neither feeds mm nor uses its result",
    );
    const shapes = { x: [64, 66], w: [64, 3], y: [64, 64], v: [64, 64], z: [64, 64] };
    const window = { shapes, ops: { conv: { index: "mk,nj->mn" } } };
    expect(refused("*mm: u[mk] v[kn] > x[mn]; *conv: x w > y", [0, 1], window)).toBe(
      "conv reads a window of the result of mm: neighbouring blocks would compute the same elements",
    );
    expect(refused("*conv: x w > y; !norm: y > z", [0, 1], window)).toBe(
      "conv reads neighbours of each element, so norm cannot have its rows whole",
    );
  });
  it("of what moves elements in an unknown way gives the size of its tensors", () => {
    const [turn, shapes] = ["*mm: x[mk] w[kn] > y[mn]; ~turn: y > z", { y: [64, 64], z: [4096] }];
    expect(refused(turn, [0, 1], { shapes }, { bytes: 16_384 })).toBeUndefined();
    expect(refused(turn, [0, 1], { shapes }, { bytes: 16_383 })).toBe(
      "turn moves elements in a way that is not described: its tensors (16.384 kB) do not fit on chip whole; the SMEM " +
        "of small holds 16.383 kB",
    );
    expect(refused("!norm: x > y; ~turn: y > z", [0, 1], {}, { bytes: 1000 })).toContain(
      "turn moves elements in a way",
    );
    // Before a reduction, and beside elementwise ops, the order of elements does not matter.
    expect(refused("~turn: x > y; !norm: y > z", [0, 1], {}, { bytes: 1000 })).toBeUndefined();
    expect(refused("act: x > y; ~turn: y > z", [0, 1], {}, { bytes: 1000 })).toBeUndefined();
  });
  it("of reductions says which axes they reduce, or that elements move between them", () => {
    const turned = "!sum: x > y; ~turn: y[mn] > z[nm]; !norm: z > u";
    expect(
      refused(turned, [0, 1, 2], { ops: { sum: { index: "mn->mn" }, norm: { index: "nm->nm" } } }, { bytes: 1000 }),
    ).toBe(
      "sum and norm reduce axis 1, but elements are moved between them: one kernel of sum + turn + norm would keep " +
        "16.4 kB on chip at a time; the SMEM of small holds 1 kB",
    );
  });
  it("of a reduction after a product says that its axes are others, or how much its rows need", () => {
    const stretched = "*mm: x[mk] w[kn] > y[mn]; +act: y v[bmn] > z[bmn]; !sum: z > r[mn]";
    const sum = { shapes: { v: [16, 64, 64], z: [16, 64, 64] }, ops: { sum: { axes: [0] }, norm: {} } };
    const norm = `${stretched}; add: z r > q[bmn]`;
    expect(refused(norm, [0, 1, 2, 3], { ...sum, shapes: { ...sum.shapes, q: [16, 64, 64] } })).toBe(
      "sum reduces other axes than those of mm",
    );
    expect(refused("*mm: x[mk] w[kn] > y[mn]; act: y > r; add: r v[mn] > z", [0, 1, 2], {}, { bytes: 8191 })).toBe(
      "tiles of 64 × 64 elements need 16.4 kB at a time; the SMEM of small holds 8.19 kB",
    );
    expect(refused("*mm: x[mk] w[kn] > y[mn]; !softmax: y > z[mn]", [0, 1], {}, { bytes: 8191 })).toBe(
      "64 rows of y need 8.192 kB at a time; the SMEM of small holds 8.191 kB",
    );
    const one = { x: [1, 64], y: [1, 8192], w: [64, 8192], z: [1, 8192] };
    expect(refused("*mm: x[mk] w[kn] > y[mn]; !softmax: y > z[mn]", [0, 1], { shapes: one }, { bytes: 16_000 })).toBe(
      "1 row of y needs 16.4 kB at a time; the SMEM of small holds 16 kB",
    );
  });
  it("of a chain says which axes or rows its products do not share", () => {
    const wide = [16, 64, 64];
    const chain = (first: string, middle: string, last: string, shapes: Record<string, number[]>) =>
      refused(`*a: x[mk] ${first}; ${middle}; *b: r ${last}`, [0, 1, 2], { shapes });
    expect(chain("u[kn] > y[mn]", "act: y > r[mn]", "v[no] > z[mo]", {})).toBeUndefined();
    expect(chain("u[jkn] > y[jmn]", "+act: y > r[mn]", "v[no] > z[mo]", { u: wide, y: wide })).toBe(
      "a has axes that b does not use",
    );
    expect(chain("u[kn] > y[mn]", "+act: y t[bmn] > r[bmn]", "v[no] > z[bmo]", { t: wide, r: wide, z: wide })).toBe(
      "a does not have the rows of b",
    );
    const rows = { ops: { norm: { axes: [0] } } };
    expect(refused("*a: x[mk] u[kn] > y[mn]; !norm: y > r[mn]; *b: r v[no] > z[mo]", [0, 1, 2], rows)).toBe(
      "norm reduces along the rows that are spread over blocks",
    );
    const sums = { shapes: { r: [64] }, ops: { sum: { axes: [0] } } };
    expect(refused("*a: x[mk] u[kn] > y[mn]; !sum: y > r[n]; *b: y v[no] > z[mo]", [0, 1, 2], sums)).toBe(
      "sum adds up rows that are spread over blocks",
    );
  });
  it("of elements that other blocks make names what they are of", () => {
    // Queries and keys are one tensor: each block of scores needs rows of it that other blocks make.
    const text = "act: x > y; q: y > r[mk]; k: y > t[nk]; *qk: r t > z[mn]";
    const ops = { act: { index: "ab->ab" }, q: { index: "mk->mk" }, k: { index: "nk->nk" } };
    expect(refused(text, [0, 1, 2, 3], { ops })).toBe("each block of z needs elements that other blocks make");
    expect(refused(text, [1, 2, 3], { ops })).toBeUndefined();
  });
  it("without a chip asks for the one that holds rows", () => {
    const none = (graph: Graph) => {
      const ops = [...graph.ops.keys()];
      const refusal = formsOn(graph, valuesOf(graph), undefined, byBytes).refusalOf(ops);
      return refusal && formSentence({ graph }, refusal, ops, undefined);
    };
    const of = (text: string) => written(text, { shapes: square });
    expect(none(of("*mm: x[mk] w[kn] > y[mn]; !softmax: y > z[mn]"))).toBe(
      "softmax needs rows of mm whole: show the chip that holds them",
    );
    expect(none(of("*a: x[mk] u[kn] > y[mn]; *b: y v[no] > z[mo]"))).toBe(
      "a and b are a chain of two products: show the chip that holds their rows",
    );
    expect(none(of("*mm: x[mk] w[kn] > y[mn]; ~turn: y > z"))).toBe(
      "turn moves elements in a way that is not described: its tensors (16.4 kB) do not fit on chip whole; show the " +
        "chip that holds this much",
    );
    expect(none(of("!norm: x > y; *mm: y w[kn] > z[mn]"))).toBeNull();
  });
});
