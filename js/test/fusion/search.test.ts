// Partitions that are found, on the golden file that the Python is held to as well.

import { describe, expect, it, vi } from "vitest";
import { type MergeGroup, mergeGroupsOf } from "../../src/fusion/bodies.ts";
import type { Graph, GraphValues } from "../../src/fusion/graph.ts";
import { fuseLikeXla, heapOf, mergeGreedily, pairOps } from "../../src/fusion/greedy.ts";
import { kernelsOf } from "../../src/fusion/group_kernels.ts";
import { mergesOf, whyNot } from "../../src/fusion/legality.ts";
import {
  type Cost,
  fuse,
  groupBytes,
  groupFlops,
  partitionOf,
  precisionOf,
  timeOf,
  unfused,
} from "../../src/fusion/partition.ts";
import { costOn, searchPartition } from "../../src/fusion/search.ts";
import { judge } from "../../src/roofline/bound.ts";
import { finish } from "../../src/ui/slices.ts";
import { best, cases, fully, likeXla, pairs, pausesOf, type Rates, valuesOf, written } from "../graphs.ts";
import { makeChip, makeRoof, seeded, several } from "../helpers.ts";

const costOf =
  (graph: Graph, values: GraphValues, { peak, bandwidth, launch_overhead }: Rates): Cost =>
  (flops, bytes, group) => {
    const tensor = peak.tensor[precisionOf(graph, values, group) ?? "bf16"];
    const peaks: Record<string, number | undefined> = { ...peak, tensor };
    const compute = graph.classes.reduce((sum, word, at) => sum + (flops[at] as number) / (peaks[word] as number), 0);
    return Math.max(compute, bytes / bandwidth, launch_overhead);
  };

describe("the search", () => {
  // Of 14 ops, a branch of two and one of three beside a single op each: 20 sets of ops can be finished.
  const branched = written(
    "a: x > a; b: a > b; p: b > p; q: p b > q; r: b > r; c: q r > c; d: c > d; s: d > s; t: s d > t; u: t d > u; v: d > v; " +
      "e: u v > e; f: e > f; g: f > g",
  );
  const values = valuesOf(branched);
  const byBytes: Cost = (_, bytes) => bytes;

  it("looks at 181 groups of a graph of 14 ops with 20 sets of finished ops", () => {
    const found = best(branched, values, byBytes);
    expect([branched.ops.length, found.how, found.evaluations]).toEqual([14, "optimal", 181]);
    expect(found.groups).toEqual([several(14, (op) => op)]);
    expect(found.seconds).toBe(4000);
  });
  it("says that it was greedy where its limit does not suffice, and exact where it just does", () => {
    expect(best(branched, values, byBytes, undefined, 181).how).toBe("optimal");
    const greedy = best(branched, values, byBytes, undefined, 180);
    expect([greedy.how, greedy.evaluations, greedy.seconds]).toEqual(["greedy", 180, 4000]);
  });
  it("looks at parts of a graph that share no tensor one by one", () => {
    const islands = written(several(20, (at) => `o${at}: x${at} > t${at}`).join(";"));
    const found = best(islands, valuesOf(islands), byBytes);
    expect([found.how, found.evaluations, found.groups.length]).toEqual(["optimal", 20, 20]);
  });
  const chainOf = (ops: number) => written(several(ops, (at) => `o${at}: t${at} > t${at + 1}`).join(";"));
  const starOf = (ops: number) => written(several(ops, (at) => `o${at}: x > t${at}`).join(";"));
  const countsOf = (graph: Graph) => valuesOf(graph);
  it("looks at the n (n + 1) / 2 runs of a chain of n ops, each once", () => {
    const chain = chainOf(20);
    const counts = countsOf(chain);
    expect(best(chain, counts, byBytes, undefined, 210)).toMatchObject({
      how: "optimal",
      evaluations: 210,
      seconds: 4000,
    });
    expect(best(chain, counts, byBytes, undefined, 209)).toMatchObject({
      how: "greedy",
      evaluations: 209,
      seconds: 4000,
    });
  });
  it("prefers fewer kernels where times differ by less than 1e-12, and else the shorter time", () => {
    const pair = chainOf(2);
    const kernels = (merged: number) =>
      best(pair, countsOf(pair), (_, __, ops) => (ops.length === 2 ? merged : 0.5)).groups.length;
    expect([1 + 0.9e-12, 1 + 1.1e-12, 1 - 1.1e-12].map(kernels)).toEqual([1, 2, 1]);
    // Of 3 ops, of which 2 fit together, the last two are tried first.
    const three = chainOf(3);
    const fits = (ops: readonly number[]) => ops.length <= 2;
    expect(best(three, countsOf(three), () => 1, fits)).toMatchObject({ groups: [[0], [1, 2]], seconds: 2 });
    const last = (_: Float64Array, __: number, ops: readonly number[]) => (ops.join() === "1,2" ? 1 + 2e-12 : 1);
    expect(best(three, countsOf(three), last, fits).groups).toEqual([[0, 1], [2]]);
  });
  it("replaces a way to the same set of ops by a later way with fewer kernels", () => {
    // 0 | 1 | 2 3 is found before 0 1 2 | 3.
    const refused = ["0,1", "1,2,3", "0,1,2,3"];
    const four = chainOf(4);
    const found = best(
      four,
      countsOf(four),
      () => 0,
      (ops) => !refused.includes(ops.join()),
    );
    expect(found.groups).toEqual([[0, 1, 2], [3]]);
  });
  it("tries each group of ops that share one tensor once, whatever is finished", () => {
    // For each set of finished ops, all sets of the others but the empty one: 3^5 - 2^5.
    expect(best(starOf(5), countsOf(starOf(5)), byBytes)).toMatchObject({ how: "optimal", evaluations: 243 - 32 });
  });
  it("finishes the same set of ops once, in whichever order they run", () => {
    const twins = written("a: x > p; b: x > q; c: p > r; d: q > s");
    // 8 groups can run first; 3 after a or b; 2 after a b, a c or b d; 1 after a b c or a b d.
    expect(best(twins, countsOf(twins), byBytes).evaluations).toBe(8 + 3 + 3 + 2 + 2 + 2 + 1 + 1);
  });
  it("takes an op into a group once, also if several ops of the group need it", () => {
    const needed = written("x: i > p; a: j > q; b: q > r; c: q > s; d: p r s > t");
    const repeated: string[] = [];
    const found = best(needed, countsOf(needed), (_, bytes, ops) => {
      if (new Set(ops).size < ops.length) repeated.push(ops.join());
      return bytes;
    });
    expect([repeated, found.groups, found.seconds]).toEqual([[], [[0, 1, 2, 3, 4]], 6000]);
  });
  it("has one limit for all parts of a graph", () => {
    const two = written("a: x > p; b: p > q; c: q > r; d: y > s; e: s > t; f: t > u");
    const within = (limit: number) => best(two, countsOf(two), byBytes, undefined, limit);
    expect(within(12)).toMatchObject({ how: "optimal", evaluations: 12 });
    expect(within(11)).toMatchObject({ how: "greedy", evaluations: 11 });
  });
  it("does not start where the runs alone are more than its limit", () => {
    const chain = chainOf(60);
    const cost = vi.fn(byBytes);
    const found = best(chain, valuesOf(chain), cost, undefined, 60 * 30);
    expect([found.how, found.evaluations, found.groups.length]).toEqual(["greedy", 1800, 1]);
    // 60 ops and 59 pairs; 59 new groups, all but the last with one neighbour; the whole once more.
    expect(cost.mock.calls.length).toBe(60 + 59 + 59 + 58 + 1);
  });
  it("does not start where the runs between ops that merge with no other are more than its limit", () => {
    // 30 ops have 465 runs, 29 ops 435, and the op between them is one of its own.
    const step = (at: number) => `${at === 30 ? "?" : ""}o${at}: t${at} > t${at + 1}`;
    const parted = written(several(60, (at) => step(at)).join(";"));
    const cost = vi.fn(byBytes);
    const found = (limit: number) => best(parted, countsOf(parted), cost, undefined, limit);
    expect(found(901)).toMatchObject({ how: "optimal", evaluations: 901 });
    cost.mockClear();
    expect(found(900)).toMatchObject({ how: "greedy", evaluations: 900 });
    // 59 ops that can merge and 57 pairs; of each side the new groups, all but the last with one neighbour; 3 kernels.
    expect(cost.mock.calls.length).toBe(59 + 57 + (29 + 28) + (28 + 27) + 3);
  });
  it("counts only runs whose ops are connected before it starts", () => {
    // Connected are five ops alone, d e, c d e, b c d e and all five.
    const crossed = written("a: x > p; b: y > q; c: p > r; d: q > s; e: r s > t");
    const cost = vi.fn(byBytes);
    const calls = (limit: number) => {
      cost.mockClear();
      best(crossed, countsOf(crossed), cost, undefined, limit);
      return cost.mock.calls.length;
    };
    // 5 ops and 4 pairs; 4 new groups, all but the last with one neighbour; the whole once more.
    const greedy = 5 + 4 + 4 + 3 + 1;
    expect(calls(8)).toBe(greedy);
    expect(calls(9)).toBeGreaterThan(greedy);
  });
  it("counts runs whose ops are connected in several ways once", () => {
    const calls = (text: string, limit: number) => {
      const graph = written(text);
      const cost = vi.fn(byBytes);
      best(graph, countsOf(graph), cost, undefined, limit);
      return cost.mock.calls.length;
    };
    // 3 runs: 2 ops and their pair, the new group, and the whole once more.
    expect(calls("a: x > p q; b: p q > r", 2)).toBe(2 + 1 + 1 + 1);
    // 6 runs: 3 ops and 2 pairs, for a and c alone are not convex; 2 new groups, one with a neighbour.
    expect(calls("a: x > p q; b: p > r; c: q r > s", 5)).toBe(3 + 2 + 2 + 1 + 1);
  });
  it("weighs each pair of ops that read one tensor once, and each new group with those that are left", () => {
    const shared = starOf(40);
    const cost = vi.fn(byBytes);
    const found = best(shared, valuesOf(shared), cost, undefined, 0);
    expect([found.groups.length, found.seconds]).toEqual([1, 41 * 2000]);
    // 40 ops, 40·39 / 2 pairs; 39 new groups, with 38, 37, … others; the whole once more.
    expect(cost.mock.calls.length).toBe(40 + 780 + 39 + (38 * 39) / 2 + 1);
  });
  it("can pause after a few steps, and comes to the same", () => {
    const work = searchPartition(branched, values, byBytes);
    let pauses = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) pauses++;
    expect(pauses).toBeGreaterThan(181 / 16);
    expect(step.value).toEqual(best(branched, values, byBytes));
  });
  it("can pause while it prepares, after each op, and after every 16 steps", () => {
    const pauses = (ops: number) => pausesOf(mergeGroupsOf(chainOf(ops), countsOf(chainOf(ops))));
    // Three passes, each with a pause for every 64 ops.
    expect([64, 65, 128, 129].map(pauses)).toEqual([3, 6, 6, 9]);
    // 20 ends and 20 starts of sequences, and 210 steps.
    expect(pausesOf(searchPartition(chainOf(20), countsOf(chainOf(20)), byBytes))).toBe(3 + 20 + 20 + 13);
  });
  it("can pause while groups merge: after each group, each merge, and every 16 offers", () => {
    const [chain, star] = [chainOf(40), starOf(40)];
    const [chained, starred] = [chain, star].map(countsOf) as [GraphValues, GraphValues];
    // 3 pauses prepare, then 40 groups offer 39 merges, of which 20 are made.
    expect(pausesOf(pairOps(chain, chained))).toBe(3 + 40 + 2 + 20);
    // The group of op n has n groups before it: 16 of them have 16 or more, 8 of them 32 or more. 780 merges are offered.
    expect(pausesOf(pairOps(star, starred))).toBe(3 + 40 + 16 + 2 * 8 + 48 + 20);
    // Each of 39 merges is followed by the offers of the new group; all but the last have one.
    expect(pausesOf(fuseLikeXla(chain, chained, byBytes))).toBe(3 + 40 + 2 * 39 + 4);
  });
  it("makes no kernel that does not fit on chip", () => {
    const fits = (ops: readonly number[]) => ops.length <= 2;
    const partitions = [
      best(branched, values, byBytes, fits),
      best(branched, values, byBytes, fits, 0),
      fully(branched, values, fits),
      likeXla(branched, values, byBytes, fits),
    ];
    for (const { groups } of partitions) expect(Math.max(...groups.map((group) => group.length))).toBe(2);
  });
  it("hands every group to the cost with its own bytes and FLOPs, whatever was tried before", () => {
    let tried = 0;
    const wrong: string[] = [];
    for (const { graph, values: counts } of cases.slice(0, 60)) {
      const checked: Cost = (flops, bytes, group) => {
        const exact = groupBytes(graph, counts, group);
        const isRight = groupFlops(counts, group).every(
          (n, word) => Math.abs((flops[word] as number) - n) <= 1e-12 * n,
        );
        if (!isRight || Math.abs(bytes - exact) > 1e-9 * exact)
          wrong.push(`${graph.name} ${group}: ${bytes} B, ${flops}`);
        return tried++;
      };
      best(graph, counts, checked);
      const afterSearch = tried;
      best(graph, counts, checked, undefined, 0);
      likeXla(graph, counts, checked);
      expect(tried).toBeGreaterThan(afterSearch);
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(1000);
  });
  it("asks whether ops fit on chip in the order of the graph, whatever was merged before", () => {
    // p and r save most: a, c and d merge before b does.
    const crossed = written("a: x > p; b: y > q; c: p > r; d: q r > s", { shapes: { p: [3000], r: [2000] } });
    const asked: string[] = [];
    const fits = (ops: readonly number[]) => {
      asked.push(ops.join(" "));
      return true;
    };
    expect(fully(crossed, countsOf(crossed), fits).groups).toEqual([[0, 1, 2, 3]]);
    expect(asked).toEqual(["0 2", "1 3", "2 3", "0 2 3", "0 1 2 3"]);
    asked.length = 0;
    best(crossed, countsOf(crossed), byBytes, fits);
    likeXla(crossed, countsOf(crossed), byBytes, fits);
    for (const ops of asked) expect(ops).toBe(ops.split(" ").sort().join(" "));
  });
});

describe("a merge of pairs", () => {
  const pair = written("a: x > p; b: p > q");
  const values = valuesOf(pair);
  const merged = (least: number, cost: Cost) =>
    finish(mergeGreedily(pair, finish(mergeGroupsOf(pair, values)), { cost, least })).groups.length;
  it("is made if it saves more than the least share of the time of the two", () => {
    // 8,000 B apart and 4,000 B together.
    const byBytes: Cost = (_, bytes) => bytes;
    expect([0, 0.499, 0.5, 0.501].map((least) => merged(least, byBytes))).toEqual([1, 1, 2, 2]);
  });
  it("comes first of equal ones if its first op does, and rules out the other if both would wait for each other", () => {
    // a d and b c each read 6,000 B once instead of twice. c reads from a, and d from b.
    const text = "a: u > p; b: v > q; c: p v > r; d: q u > s";
    const crossed = written(text, { shapes: { u: [3000], v: [3000] } });
    expect(pairs(crossed, valuesOf(crossed)).groups).toEqual([[1], [0, 3], [2]]);
  });
  it("that saves nothing is made only if every legal merge is asked for", () => {
    expect([-1, 0].map((least) => merged(least, () => 0))).toEqual([1, 2]);
    expect(likeXla(pair, values, () => 0).groups.length).toBe(2);
  });
});

describe("a priority queue", () => {
  it("has its items in order, whatever the order in which they came and went", () => {
    const random = seeded(7);
    for (let size = 0; size < 40; size++) {
      const heap = heapOf<number>((one, other) => one < other);
      const left: number[] = [];
      for (let step = 0; step < 3 * size; step++) {
        if (random() < 0.6) {
          const item = Math.floor(random() * size);
          heap.push(item);
          left.push(item);
          left.sort((a, b) => a - b);
        } else expect(heap.pop()).toBe(left.shift());
      }
      while (left.length > 0) expect(heap.pop()).toBe(left.shift());
      expect(heap.pop()).toBeUndefined();
    }
  });
  it("compares an item once on each level that the item rises", () => {
    const isBefore = vi.fn((one: number, other: number) => one < other);
    const heap = heapOf<number>(isBefore);
    // Each new item is the first: it rises over 0, 1, 1, 2, 2, 2 and 2 others.
    for (const item of [7, 6, 5, 4, 3, 2, 1]) heap.push(item);
    expect(isBefore).toHaveBeenCalledTimes(10);
  });
});

describe("the groups that merge", () => {
  const ops = 70;
  const chain = written(several(ops, (at) => `o${at}: t${at} > t${at + 1}`).join(";"));
  const listed = (bits: Uint32Array | undefined) =>
    several(ops, (op) => op).filter((op) => Math.floor((bits?.[op >> 5] ?? 0) / 2 ** (op % 32)) % 2);
  const groupsOf = (text: string) => {
    const graph = written(text);
    const { singles, ...rules } = finish(mergeGroupsOf(graph, valuesOf(graph)));
    const joined = (...ops: readonly number[]) => ops.map((op) => singles[op] as MergeGroup).reduce(rules.join);
    return { ...rules, joined };
  };
  it("count how often they read the tensors that other groups touch too, and no others", () => {
    const { joined } = groupsOf("a: x y > p; b: p x > q; c: q x > r");
    // x, y, p, q and r are tensors 0 to 4.
    const open = (...ops: readonly number[]) => Object.fromEntries(joined(...ops).open);
    expect(several(3, (op) => open(op))).toEqual([
      { 0: 1, 2: 0 },
      { 2: 1, 0: 1, 3: 0 },
      { 3: 1, 0: 1 },
    ]);
    expect([open(0, 1), open(1, 2), open(2, 0), open(0, 1, 2)]).toEqual([
      { 0: 2, 3: 0 },
      { 0: 2, 2: 1 },
      { 0: 2, 2: 0, 3: 1 },
      {},
    ]);
  });
  it("have the kinds of their ops", () => {
    const { joined, clashes, isLegal } = groupsOf("a: x > p; ~b: p > q; *m: q w > r; c: q > s; ?d: s > t; e: p > u");
    expect(joined(0)).toMatchObject({ movers: [], matmuls: [], isStrange: false, isOpaque: false });
    expect(joined(0, 1)).toMatchObject({ movers: [1], matmuls: [], isStrange: true, isOpaque: false });
    expect(joined(2, 3)).toMatchObject({ movers: [], matmuls: [2], isStrange: false, isOpaque: false });
    expect([joined(3, 4).isOpaque, joined(4, 3).isOpaque, clashes(joined(3, 4), joined(0))]).toEqual(
      Array(3).fill(true),
    );
    // c reads what the matmul reads, and not what it writes. a and e have no matmul.
    expect([isLegal(joined(2, 3)), isLegal(joined(0, 5)), isLegal(joined(0, 2))]).toEqual([false, true, false]);
  });
  it("know the ops inside, before and after, of more than 64 ops", () => {
    const { singles } = finish(mergeGroupsOf(chain, valuesOf(chain)));
    for (const op of [0, 1, 31, 32, 33, 63, 64, 69]) {
      const { inside, before, after } = singles[op] as MergeGroup;
      expect(listed(inside)).toEqual([op]);
      expect(listed(before)).toEqual(several(op, (at) => at));
      expect(listed(after)).toEqual(several(ops - op - 1, (at) => op + 1 + at));
    }
  });
});

describe("the cost on a roof", () => {
  const chip = makeChip({
    peaks: { bf16: 1e12, bf16_vector: 1e10, fp8: 2e12 },
    memories: { HBM: 1e9 },
  });
  const conditions = { overlap: 0.5, exposedComm: 0.2, launchOverhead: 1e-6 };
  const graph = written("*m: x w > y; act: y > z; move: z > o; small: o > e", { shapes: { o: [100000], e: [1] } });
  const values = valuesOf(graph);

  it.each(["auto", "fp8"])("is the bound of the kernel that the group becomes, judged at %s", (precision) => {
    const roof = makeRoof(chip, precision, "main", {}, conditions);
    const cost = costOn(graph, values, roof);
    const partition = partitionOf(graph, [[0, 1], [2], [3]]);
    const judged = judge(kernelsOf(graph, partition, values), roof);
    partition.groups.forEach((group, row) => {
      expect(timeOf(graph, values, cost)(group)).toBeCloseTo(judged(row).time, 15);
    });
  });
  it("is judged by each kernel's own dtype, not by that of its ops", () => {
    const dtypes: Record<string, string> = { y: "fp32", z: "bf16", o: "fp32", e: "bf16" };
    const tensors = graph.tensors.map((tensor) => ({ ...tensor, dtype: dtypes[tensor.name] ?? "bf16" }));
    const mixed = { ...graph, tensors };
    const roof = makeRoof(makeChip({ peaks: { bf16: 1e9, fp32: 1e6 }, memories: { HBM: 1e15 } }), "bf16", "main");
    const partition = partitionOf(mixed, [[0, 1], [2], [3]]);
    const judged = judge(kernelsOf(mixed, partition, values), roof);
    const seconds = partition.groups.map(timeOf(mixed, values, costOn(mixed, values, roof)));
    expect(seconds).toEqual(several(3, (row) => judged(row).time));
    expect(seconds).toEqual([1_001_000 / 1e9, 100_000 / 1e6, 1 / 1e9]);
  });
  it("is that at the main memory, whose bytes these are, whichever level is shown", () => {
    const graph = written("a: x > y; b: y > z");
    const values = valuesOf(graph);
    const chip = makeChip({ memories: { HBM: 1e12, L2: 4e12 } });
    const at = (memory: string) => timeOf(graph, values, costOn(graph, values, makeRoof(chip, "auto", memory)))([0, 1]);
    expect([at("L2"), at("all")]).toEqual([at("main"), at("main")]);
  });
  it("is that of the bytes where a peak is unknown and no FLOPs need this peak", () => {
    const cost = costOn(graph, values, makeRoof(makeChip({ peaks: { fp8: 1e12 }, memories: { HBM: 1e9 } })));
    expect(cost(Float64Array.of(0, 0), 2e9, [0])).toBe(2);
    expect(cost(Float64Array.of(0, 1), 2e9, [0])).toBeNaN();
  });
  it("may be told that the roof's precision judges every group", () => {
    const roof = makeRoof(makeChip({ peaks: { fp8: 2e12, bf16: 1e12 }, memories: { HBM: 1e15 } }), "fp8", "main");
    const seconds = (own: boolean) => timeOf(graph, values, costOn(graph, values, roof, own))([0]);
    expect(seconds(true)).toBe(2 * seconds(false));
  });
});

describe("the golden file", () => {
  it("has the merges that are legal, judged by the totals of the two groups", () => {
    const [told, wrong]: [Map<boolean, number>, string[]] = [new Map(), []];
    for (const { wanted, graph, values } of cases) {
      const { singles, ...rules } = finish(mergeGroupsOf(graph, values));
      const joined = (ops: readonly number[] = []) =>
        ops.map((op) => singles[op] as MergeGroup).reduce((one, other) => rules.join(one, other));
      for (const { groups, a, b, refusal } of wanted.merges) {
        if (refusal === "same" || refusal === "not-connected") continue;
        const [one, two] = [joined(groups[a]), joined(groups[b])];
        const isLegal = !["barrier", "kinds", "not-convex"].includes(refusal ?? "");
        const both = [...one.ops, ...two.ops].sort((x, y) => x - y);
        const context = `${graph.name} ${JSON.stringify(groups)} ${a} ${b}`;
        if (rules.isLegalWith(one, two) !== isLegal || rules.isLegalWith(two, one) !== isLegal) wrong.push(context);
        const moved = groupBytes(graph, values, both);
        for (const bytes of [rules.bytesOf(one, two), rules.bytesOf(two, one), rules.join(two, one).bytes]) {
          if (Math.abs(bytes - moved) > 1e-9 * moved) wrong.push(`${context}: ${bytes} B`);
        }
        expect(rules.join(two, one).ops).toEqual(both);
        told.set(isLegal, (told.get(isLegal) ?? 0) + 1);
      }
    }
    expect(wrong).toEqual([]);
    expect(Math.min(told.get(true) ?? 0, told.get(false) ?? 0)).toBeGreaterThan(100);
  });
  it("has the groups that are convex, and whose ops all are connected to their matmuls", () => {
    const refused = new Map<string, number>();
    for (const { wanted, graph, values } of cases) {
      const { singles, ...rules } = finish(mergeGroupsOf(graph, values));
      for (const { groups, legal, refusal = "" } of wanted.partitions) {
        const areLegal = groups.map((ops) =>
          rules.isLegal(ops.map((op) => singles[op] as MergeGroup).reduce((one, other) => rules.join(one, other))),
        );
        const context = `${graph.name} ${JSON.stringify(groups)} ${refusal}`;
        if (legal || refusal === "cycle") expect(areLegal, context).not.toContain(false);
        else if (refusal === "not-convex") expect(areLegal, context).toContain(false);
        refused.set(refusal, (refused.get(refusal) ?? 0) + 1);
      }
    }
    expect(Math.min(refused.get("") ?? 0, refused.get("not-convex") ?? 0)).toBeGreaterThan(20);
  });
  it("has the shortest time of all legal partitions, and the fewest kernels with it", () => {
    let tried = 0;
    for (const { wanted, graph, values } of cases) {
      if (!wanted.best) continue;
      const found = best(graph, values, costOf(graph, values, wanted.best.chip));
      expect(found.how).toBe("optimal");
      expect(Math.abs(found.seconds - wanted.best.time), graph.name).toBeLessThanOrEqual(1e-12 * wanted.best.time);
      expect(found.groups.length, graph.name).toBe(wanted.best.groups.length);
      tried++;
    }
    expect(tried).toBeGreaterThan(100);
  });
  it("has the ops by twos", () => {
    for (const { wanted, graph, values } of cases) {
      expect(pairs(graph, values).groups, graph.name).toEqual(wanted.pairs);
    }
  });
  it("has what XLA's rules make", () => {
    for (const { wanted, graph, values } of cases) {
      if (wanted.xla === null) continue;
      expect(likeXla(graph, values, costOf(graph, values, wanted.chip)).groups, graph.name).toEqual(wanted.xla);
    }
  });
  it("is fused as far as it goes: of the result no two groups may be merged", () => {
    for (const { graph, values } of cases) {
      const found = fully(graph, values);
      found.groups.forEach((_, a) => {
        found.groups.forEach((__, b) => {
          expect(whyNot(graph, found, a, b), `${graph.name} ${a} ${b}`).not.toBe(null);
        });
      });
    }
  });
  it("is fused as far as it goes by the merge that saves most, each time", () => {
    const long = written(several(40, (at) => `o${at}: t${at} u${at % 7} > t${at + 1}`).join(";"), {
      shapes: Object.fromEntries(several(41, (at) => [`t${at}`, [1 + ((at * 37) % 101)]])),
    });
    const all = [...cases, { graph: long, values: valuesOf(long) }];
    for (const { graph, values } of all) {
      const bytes = (group: readonly number[]) => groupBytes(graph, values, group);
      let slowly = unfused(graph);
      for (;;) {
        const { groups } = slowly;
        const first = (at: number) => groups[at]?.[0] as number;
        const merges = groups.flatMap((a, i) =>
          mergesOf(graph, slowly, i)
            .filter((j) => first(i) < first(j))
            .map((j) => {
              const b = groups[j] as readonly number[];
              return { i, j, saved: bytes(a) + bytes(b) - bytes([...a, ...b]) };
            }),
        );
        merges.sort((a, b) => b.saved - a.saved || first(a.i) - first(b.i) || first(a.j) - first(b.j));
        if (!merges[0]) break;
        slowly = fuse(graph, slowly, merges[0].i, merges[0].j);
      }
      expect(fully(graph, values).groups, graph.name).toEqual(slowly.groups);
    }
  });
  it("has few kernels where all partitions take the same time", () => {
    for (const { graph, values } of cases) {
      const fewest = best(graph, values, () => 1).seconds;
      expect(best(graph, values, () => 0).groups.length, graph.name).toBe(fewest);
    }
  });
  it("is never faster by merging pairs than by the exact search, and never slower than unfused", () => {
    for (const { wanted, graph, values } of cases) {
      const cost = costOf(graph, values, wanted.chip);
      const exact = best(graph, values, cost);
      const greedy = best(graph, values, cost, undefined, 0);
      const apart = unfused(graph).groups.reduce((sum, group) => sum + timeOf(graph, values, cost)(group), 0);
      expect([exact.how, greedy.how], graph.name).toEqual(["optimal", "greedy"]);
      expect(greedy.seconds, graph.name).toBeGreaterThanOrEqual(exact.seconds * (1 - 1e-12));
      expect(greedy.seconds, graph.name).toBeLessThanOrEqual(apart * (1 + 1e-12));
    }
  });
});
