// Partitions that are found, held against all partitions and all merges of graphs drawn at random.

import { describe, expect, it, vi } from "vitest";
import { type Cost, type Forms, isForm, tally, timeOf } from "../../src/fusion/forms.ts";
import type { Graph } from "../../src/fusion/graph.ts";
import { fuseLikeXla, heapOf, mergeGreedily, pairOps } from "../../src/fusion/greedy.ts";
import { kernelsOf } from "../../src/fusion/group_kernels.ts";
import { broken, type Partition, wayBack } from "../../src/fusion/legality.ts";
import { fuse, groupBytes, partitionOf, unfused } from "../../src/fusion/partition.ts";
import { costOn, fasterOf, MAX_OPS_TRIED, searchPartition } from "../../src/fusion/search.ts";
import { judge } from "../../src/roofline/bound.ts";
import {
  best,
  byBytes,
  drawn,
  faultOf,
  formsIn,
  type Groups,
  greedy,
  likeXla,
  pairs,
  pausesOf,
  valuesOf,
  written,
} from "../graphs.ts";
import { makeChip, makeRoof, seeded, several } from "../helpers.ts";

const GPU = { bytes: 232_448, units: 132, shared: 52_428_800 };
/** A byte takes as long as 100 FLOPs of class tensor or as 10 others, and no kernel less than 5,000 bytes. */
const onChip =
  ({ classes }: Graph): Cost =>
  (flops, bytes) => {
    const compute = flops.reduce((sum, count, at) => sum + count / (classes[at] === "tensor" ? 100 : 10), 0);
    return Math.max(compute, bytes, 5000);
  };
const chainOf = (ops: number) => written(several(ops, (at) => `o${at}: t${at} > t${at + 1}`).join(";"));
const starOf = (ops: number) => written(several(ops, (at) => `o${at}: x > t${at}`).join(";"));

/** Forms in which only some groups are kernels. */
function fitting(graph: Graph, fits: (ops: readonly number[]) => boolean): Forms {
  const forms = formsIn(graph);
  const formOf: Forms["formOf"] = (ops) =>
    ops.length === 1 || fits(ops) ? forms.formOf(ops) : { code: "capacity", reason: "tiles", ops, need: 1 };
  return { ...forms, formOf, isOfCompilers: (ops) => isForm(formOf(ops)) };
}

/** All partitions of n ops. */
function* partitionsOf(n: number, groups: readonly (readonly number[])[] = [], op = 0): Generator<Groups> {
  if (op === n) return yield groups;
  for (const at of groups.keys())
    yield* partitionsOf(
      n,
      groups.map((group, other) => (other === at ? [...group, op] : group)),
      op + 1,
    );
  yield* partitionsOf(n, [...groups, [op]], op + 1);
}

describe("the search", () => {
  it("has the shortest time of all legal partitions, and the fewest bytes with it", () => {
    let tried = 0;
    for (const graph of drawn) {
      const cost = onChip(graph);
      const forms = formsIn(graph, { ...GPU, cost });
      const found = best(graph, cost, forms);
      expect(faultOf(graph, found.groups), graph.name).toBeNull();
      const totals = [...partitionsOf(graph.ops.length)]
        .filter((groups) => groups.every((group) => group.length === 1 || isForm(forms.formOf(group))))
        .filter((groups) => faultOf(graph, groups) === null)
        .map((groups) => tally(forms, { groups }, cost));
      const least = Math.min(...totals.map(({ seconds }) => seconds));
      expect(found.how).toBe("optimal");
      expect(found.seconds / least, graph.name).toBeCloseTo(1, 11);
      const fewest = Math.min(
        ...totals.filter(({ seconds }) => seconds <= least * (1 + 1e-12)).map(({ bytes }) => bytes),
      );
      expect(tally(forms, found).bytes, graph.name).toBe(fewest);
      tried += totals.length;
    }
    expect(tried).toBeGreaterThan(1000);
  });
  it("tries all partitions of at most 12 ops, and says that it was greedy with more", () => {
    const found = [MAX_OPS_TRIED, MAX_OPS_TRIED + 1].map((ops) => best(chainOf(ops)));
    expect(found).toMatchObject([
      { how: "optimal", groups: [several(12, (op) => op)], seconds: 4000 },
      { how: "greedy", groups: [several(13, (op) => op)], seconds: 4000 },
    ]);
  });
  it("prefers fewer bytes, then fewer kernels, where times differ by less than 1e-12, and else the shorter time", () => {
    const pair = chainOf(2);
    const kernels = (merged: number) =>
      best(pair, (_, __, ops) => (ops.length === 2 ? merged : 0.5), formsIn(pair)).groups.length;
    expect([1 + 0.9e-12, 1 + 1.1e-12, 1 - 1.1e-12].map(kernels)).toEqual([1, 2, 1]);
    // Of 3 ops, of which 2 fit together: with p larger than q, the first two save more bytes.
    const fits = (ops: readonly number[]) => ops.length <= 2;
    const larger = (tensor: string) => written("a: x > p; b: p > q; c: q > r", { shapes: { [tensor]: [3000] } });
    const groups = (graph: Graph, cost: Cost = () => 1) => best(graph, cost, fitting(graph, fits)).groups;
    expect(groups(larger("p"))).toEqual([[0, 1], [2]]);
    expect(groups(larger("q"))).toEqual([[0], [1, 2]]);
    expect(groups(larger("q"), (_, __, ops) => (ops.join() === "1,2" ? 1 + 2e-12 : 1))).toEqual([[0, 1], [2]]);
    // Without bytes of any tensor, fewer kernels.
    const empty = written("a: x > p; b: p > q", { shapes: { x: [0], p: [0], q: [0] } });
    expect(best(empty, () => 0).groups).toEqual([[0, 1]]);
  });
  it("replaces a way to the same set of ops by a later way with fewer kernels", () => {
    // 0 | 1 | 2 3 is found before 0 1 2 | 3.
    const refused = ["0,1", "1,2,3", "0,1,2,3"];
    const four = chainOf(4);
    const forms = fitting(four, (ops) => !refused.includes(ops.join()));
    expect(best(four, () => 0, forms).groups).toEqual([[0, 1, 2], [3]]);
  });
  it("asks for the form of a group once, with its ops in the order of the graph, and of none that is not connected", () => {
    const needed = written("x: i > p; a: j > q; b: q > r; ?c: q > s; d: p r s > t");
    const asked: string[] = [];
    const forms = fitting(needed, (ops) => {
      asked.push(ops.join(" "));
      return true;
    });
    best(needed, () => 1, forms);
    // c is opaque. d waits for it, so b is with d only if a ran before.
    expect([...new Set(asked)].sort()).toEqual(["0 4", "0 2 4", "1 2", "2 4"].sort());
  });
  it("can pause after every 16 groups, and comes to the same", () => {
    const star = starOf(6);
    const work = searchPartition(star, formsIn(star), byBytes);
    let pauses = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) pauses++;
    // All sets of ops but the empty one.
    expect(pauses).toBe(Math.floor((2 ** 6 - 1) / 16));
    expect(step.value).toEqual(best(star));
  });
  it("proves a greedy result that takes the time of the speed of light", () => {
    const compiler = best(chainOf(2));
    const found = { ...compiler, how: "greedy" } as const;
    const light = { seconds: found.seconds, bytes: 0 };
    expect(fasterOf(found, compiler, light).how).toBe("optimal");
    expect(fasterOf(found, compiler, { ...light, seconds: 0.99 * found.seconds }).how).toBe("greedy");
    expect(fasterOf(found, compiler).how).toBe("greedy");
  });
  it("makes no kernel that does not fit on chip", () => {
    const branched = written("a: x > a; b: a > b; p: b > p; q: p b > q; r: b > r; c: q r > c; d: c > d; s: d > s");
    const forms = fitting(branched, (ops) => ops.length <= 2);
    for (const { groups } of [best, greedy, likeXla].map((find) => find(branched, byBytes, forms)))
      expect(Math.max(...groups.map((group) => group.length))).toBe(2);
  });
  it("is never slower than greedy merges, which are never slower than single ops", () => {
    for (const graph of drawn) {
      const cost = onChip(graph);
      const forms = formsIn(graph, { ...GPU, cost });
      const [exact, merged, apart] = [best(graph, cost, forms), greedy(graph, cost, forms), unfused(graph)].map(
        (one) => tally(forms, one, cost).seconds,
      ) as [number, number, number];
      expect(exact, graph.name).toBeLessThanOrEqual(merged * (1 + 1e-12));
      expect(merged, graph.name).toBeLessThanOrEqual(apart * (1 + 1e-12));
    }
  });
});

interface Merges {
  /** Returns the merges of a partition, as numbers of its groups. */
  readonly merges: (partition: Partition) => readonly (readonly number[])[];
  readonly isAllowed: (union: readonly number[]) => boolean;
}

/** Merges by looking at all merges again after each one. */
function slowly(graph: Graph, forms: Forms, cost: Cost, { merges, isAllowed }: Merges): Groups {
  const seconds = timeOf(forms, cost);
  let partition = unfused(graph);
  for (;;) {
    const { groups } = partition;
    const offers = merges(partition).flatMap((some) => {
      const parts = [...some].sort((a, b) => (groups[a]?.[0] ?? 0) - (groups[b]?.[0] ?? 0));
      const each = parts.map((part) => groups[part] as readonly number[]);
      const union = each.flat().sort((a, b) => a - b);
      if (broken(graph, union) || wayBack(graph, union, partition) || !isAllowed(union)) return [];
      const alone = each.reduce((sum, part) => sum + seconds(part), 0);
      const gain = alone - seconds(union);
      return gain > 1e-12 * alone ? [{ parts, gain, firsts: each.map(([first = 0]) => first) }] : [];
    });
    const later = (a: readonly number[], b: readonly number[]) =>
      a.map((one, at) => one - (b[at] ?? 0)).find(Boolean) ?? 0;
    const [first] = offers.sort((a, b) => b.gain - a.gain || later(a.firsts, b.firsts));
    if (!first) return groups;
    partition = fuse(graph, partition, ...first.parts);
  }
}
const groupsOn = ({ groups, groupOf }: Partition, along: Graph["after"], group: number) => {
  const others = (groups[group] ?? []).flatMap((op) => along[op] ?? []).map((op) => groupOf[op] as number);
  return [...new Set(others)].filter((other) => other !== group);
};

describe("greedy merges", () => {
  it("are the ones that save most, each time: of two groups, or of a reduction with the products around it", () => {
    const [found, slow] = [new Map<string, Groups>(), new Map<string, Groups>()];
    for (const graph of drawn) {
      const cost = onChip(graph);
      const forms = formsIn(graph, { ...GPU, cost });
      const merges = (partition: Partition) => {
        const { groups } = partition;
        const numbers = [...groups.keys()];
        const isDot = (group: number) => groups[group]?.some((op) => graph.ops[op]?.kind === "matmul");
        const touches = (group: number) => (groups[group] ?? []).flatMap((op) => graph.touches[op] ?? []);
        const two = numbers.flatMap((a) => numbers.flatMap((b) => (a < b ? [[a, b]] : [])));
        const around = numbers.filter(
          (at) => !isDot(at) && groups[at]?.some((op) => graph.ops[op]?.kind === "reduction"),
        );
        const more = around.flatMap((at) => {
          const after = groupsOn(partition, graph.after, at).filter(isDot);
          const before = groupsOn(partition, graph.before, at).filter(isDot);
          const both = before.flatMap((one) => after.flatMap((other) => (one === other ? [] : [[one, at, other]])));
          return after.length > 1 ? [...both, [at, ...after]] : both;
        });
        return [...two.filter(([a = 0, b = 0]) => touches(a).some((tensor) => touches(b).includes(tensor))), ...more];
      };
      found.set(graph.name, greedy(graph, cost, forms).groups);
      slow.set(graph.name, slowly(graph, forms, cost, { merges, isAllowed: (ops) => isForm(forms.formOf(ops)) }));
    }
    expect(found).toEqual(slow);
  });
  it("find attention, whose softmax is slower with either product alone", () => {
    const attention = written("*qk: q[md] k[nd] > s[mn]; !softmax: s > p[mn]; *pv: p v[ne] > o[me]", {
      sizes: { m: 64, d: 64, n: 65_536, e: 1024 },
    });
    const cost: Cost = ([, vector = 0], bytes) => Math.max(20 * vector, bytes);
    const forms = formsIn(attention, { ...GPU, cost });
    const seconds = timeOf(forms, cost);
    // 64 rows of scores do not fit, and the softmax runs 8 times before the second product: 4.19e6 FLOPs each.
    expect(isForm(forms.formOf([0, 1]))).toBe(false);
    expect(seconds([1, 2])).toBeGreaterThan(seconds([1]) + seconds([2]));
    expect(greedy(attention, cost, forms).groups).toEqual([[0, 1, 2]]);
  });
  it("find a norm with all products that read it, none of which saves the result alone", () => {
    const qkv = written("!norm: x[mk] > h[mk]; *q: h u[kq] > a[mq]; *r: h v[kr] > b[mr]", {
      sizes: { m: 16, k: 4096, q: 128, r: 128 },
    });
    const forms = formsIn(qkv, GPU);
    // With one product the norm's result still leaves for the other.
    expect(forms.loadOf([0, 1]).bytes + forms.loadOf([2]).bytes).toBeGreaterThan(forms.loadOf([0, 1, 2]).bytes);
    expect(greedy(qkv, byBytes, forms).groups).toEqual([[0, 1, 2]]);
  });
  it("are made only if they save more than rounding errors", () => {
    const pair = chainOf(2);
    const kernels = (merged: number) =>
      greedy(pair, (_, __, ops) => (ops.length === 2 ? merged : 0.5), formsIn(pair)).groups.length;
    expect([1 - 1.1e-12, 1 - 0.9e-12, 1].map(kernels)).toEqual([1, 2, 2]);
    expect(likeXla(pair, () => 0).groups.length).toBe(2);
  });
  it("make one kernel of a hundred ops that read one input, and none around an op that runs alone", () => {
    const chain = (alone: number) =>
      written(several(100, (op) => `${op === alone ? "?" : ""}o${op}: t${op} mask > t${op + 1}`).join("; "));
    const ops = several(100, (op) => op);
    expect(greedy(chain(-1)).groups).toEqual([ops]);
    expect(greedy(chain(40)).groups).toEqual([ops.slice(0, 40), [40], ops.slice(41)]);
  });
  it("can pause after every 8 offers and before each merge", () => {
    const [chain, star] = [chainOf(40), starOf(40)];
    // 39 pairs are offered, and 20 of them are merged.
    expect(pausesOf(pairOps(chain, valuesOf(chain), formsIn(chain)))).toBe(4 + 20);
    expect(pausesOf(pairOps(star, valuesOf(star), formsIn(star)))).toBe(Math.floor(780 / 8) + 20);
    // Each of 39 merges is followed by the offers of the new group, and of its makers if it is like XLA.
    expect(pausesOf(mergeGreedily(chain, formsIn(chain), byBytes, () => true))).toBeGreaterThanOrEqual(39 + 4);
    expect(pausesOf(fuseLikeXla(chain, formsIn(chain), byBytes))).toBeGreaterThanOrEqual(39 + 4);
  });
});

describe("a merge of pairs", () => {
  it("comes first of equal ones if its first op does, and rules out the other if both would wait for each other", () => {
    // a d and b c each read 6,000 B once instead of twice. c reads from a, and d from b.
    const text = "a: u > p; b: v > q; c: p v > r; d: q u > s";
    const crossed = written(text, { shapes: { u: [3000], v: [3000] } });
    expect(pairs(crossed).groups).toEqual([[1], [0, 3], [2]]);
  });
  it("is the one that saves most bytes of all ops that are left, each time", () => {
    for (const graph of drawn) {
      const forms = formsIn(graph, GPU);
      const bytes = (ops: readonly number[]) => groupBytes(graph, valuesOf(graph), ops);
      let partition = unfused(graph);
      const two = graph.ops.flatMap((_, a) => graph.ops.flatMap((__, b) => (a < b ? [[a, b] as const] : [])));
      const saved = ([a, b]: readonly [number, number]) => bytes([a]) + bytes([b]) - bytes([a, b]);
      const isOpen = (op: number) => partition.groups.some((group) => group.length === 1 && group[0] === op);
      for (const [a, b] of two.sort((one, other) => saved(other) - saved(one))) {
        const isLegal = faultOf(graph, [[a, b]]) === null && isForm(forms.formOf([a, b]));
        if (!isLegal || !isOpen(a) || !isOpen(b) || wayBack(graph, [a, b], partition)) continue;
        partition = fuse(graph, partition, partition.groupOf[a] as number, partition.groupOf[b] as number);
      }
      expect(pairs(graph, forms).groups, graph.name).toEqual(partition.groups);
    }
  });
});

describe("merges like those of XLA", () => {
  it("put each producer into all of its consumers, the one that saves most time first", () => {
    for (const graph of drawn) {
      const cost = onChip(graph);
      const forms = formsIn(graph, { ...GPU, cost });
      const merges = (partition: Partition) =>
        partition.groups.flatMap((_, at) => {
          const readers = groupsOn(partition, graph.after, at);
          return readers.length > 0 ? [[at, ...readers]] : [];
        });
      const slow = slowly(graph, forms, cost, { merges, isAllowed: forms.isOfCompilers });
      expect(likeXla(graph, cost, forms).groups, graph.name).toEqual(slow);
    }
  });
  it("have at most one product in a kernel, and no reduction, scan or gather beside it", () => {
    const square = Object.fromEntries([..."xuvwyzrst"].map((name) => [name, [64, 64]]));
    const isOf = (text: string, more: Parameters<typeof written>[1] = {}) => {
      const graph = written(text, { ...more, shapes: square });
      return formsIn(graph, GPU).isOfCompilers([...graph.ops.keys()]);
    };
    expect(isOf("act: x > y; *mm: y w[kn] > z[mn]; +add: z r > s")).toBe(true);
    expect(isOf("*mm: x[mk] u[kn] > y[mn]; *nn: x[mk] v[ko] > z[mo]")).toBe(false);
    expect(isOf("*mm: x[mk] w[kn] > y[mn]; !softmax: y > z")).toBe(false);
    expect(isOf("*mm: x[mk] w[kn] > y[mn]; scan: y > z", { ops: { scan: { kind: "scan" } } })).toBe(false);
    expect(isOf("~take: x[mk] > y[mk]; *mm: y w[kn] > z[mn]", { ops: { take: { index: "*k->mk" } } })).toBe(false);
    expect(isOf("!softmax: x > y; act: y > z")).toBe(true);
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

describe("the cost on a roof", () => {
  const chip = makeChip({
    peaks: { bf16: 1e12, bf16_vector: 1e10, fp8: 2e12 },
    memories: { HBM: 1e9 },
  });
  const conditions = { overlap: 0.5, exposedComm: 0.2, launchOverhead: 1e-6 };
  const graph = written("*m: x w > y; act: y > z; move: z > o; small: o > e", { shapes: { o: [100000], e: [1] } });
  const values = valuesOf(graph);
  const forms = formsIn(graph);

  it.each(["auto", "fp8"])("is the bound of the kernel that the group becomes, judged at %s", (precision) => {
    const roof = makeRoof(chip, precision, "main", {}, conditions);
    const cost = costOn(graph, values, roof);
    const partition = partitionOf(graph, [[0, 1], [2], [3]]);
    const judged = judge(kernelsOf(graph, partition, values, forms), roof);
    partition.groups.forEach((group, row) => {
      expect(timeOf(forms, cost)(group)).toBeCloseTo(judged(row).time, 15);
    });
  });
  it("is judged by each kernel's own dtype, not by that of its ops", () => {
    const dtypes: Record<string, string> = { y: "fp32", z: "bf16", o: "fp32", e: "bf16" };
    const tensors = graph.tensors.map((tensor) => ({ ...tensor, dtype: dtypes[tensor.name] ?? "bf16" }));
    const mixed = { ...graph, tensors };
    const roof = makeRoof(makeChip({ peaks: { bf16: 1e9, fp32: 1e6 }, memories: { HBM: 1e15 } }), "bf16", "main");
    const partition = partitionOf(mixed, [[0, 1], [2], [3]]);
    const judged = judge(kernelsOf(mixed, partition, values, formsIn(mixed)), roof);
    const seconds = partition.groups.map(timeOf(formsIn(mixed), costOn(mixed, values, roof)));
    expect(seconds).toEqual(several(3, (row) => judged(row).time));
    expect(seconds).toEqual([1_001_000 / 1e9, 100_000 / 1e6, 1 / 1e9]);
  });
  it("is that at the main memory, whose bytes these are, whichever level is shown", () => {
    const graph = written("a: x > y; b: y > z");
    const values = valuesOf(graph);
    const chip = makeChip({ memories: { HBM: 1e12, L2: 4e12 } });
    const at = (memory: string) =>
      timeOf(formsIn(graph), costOn(graph, values, makeRoof(chip, "auto", memory)))([0, 1]);
    expect([at("L2"), at("all")]).toEqual([at("main"), at("main")]);
  });
  it("is that of the bytes where a peak is unknown and no FLOPs need this peak", () => {
    const cost = costOn(graph, values, makeRoof(makeChip({ peaks: { fp8: 1e12 }, memories: { HBM: 1e9 } })));
    expect(cost(Float64Array.of(0, 0), 2e9, [0])).toBe(2);
    expect(cost(Float64Array.of(0, 1), 2e9, [0])).toBeNaN();
  });
  it("may be told that the roof's precision judges every group", () => {
    const roof = makeRoof(makeChip({ peaks: { fp8: 2e12, bf16: 1e12 }, memories: { HBM: 1e15 } }), "fp8", "main");
    const seconds = (own: boolean) => timeOf(forms, costOn(graph, values, roof, own))([0]);
    expect(seconds(true)).toBe(2 * seconds(false));
  });
});
