// Kernels, partitions and their counts, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/fusion.json";
import { formsOn, tally, timeOf } from "../../src/fusion/forms.ts";
import { type Environment, evaluate, type Graph } from "../../src/fusion/graph.ts";
import { broken, whyNot } from "../../src/fusion/legality.ts";
import { compulsory, groupBytes, groupFlops, precisionOf, split } from "../../src/fusion/partition.ts";
import { costOn, MAX_OPS_TRIED } from "../../src/fusion/search.ts";
import { at, best, decodeGraph, faultOf, type Groups, greedy, likeXla, pairs, valuesOf } from "../graphs.ts";
import { makeChip, makeRoof } from "../helpers.ts";

type Amount = number | string;
type Counts = Readonly<Record<string, number>>;

interface Case {
  readonly chip: "G" | "T" | "S";
  readonly graph: object;
  readonly groups: readonly {
    readonly ops: readonly number[];
    readonly refusal?: string;
    readonly form?: string;
    readonly keeps?: string;
    readonly need?: number;
    readonly block?: number;
    readonly reads?: Counts;
    readonly times?: Counts;
    readonly workspace?: number;
    readonly bytes?: number;
    readonly flops?: Counts;
    readonly seconds?: number;
  }[];
  readonly merges: readonly (readonly [groups: Groups, a: number, b: number, code: string | null])[];
  readonly splits: readonly (readonly [groups: Groups, op: number, after: Groups])[];
  readonly pairs: Groups;
  readonly xla: Groups;
  readonly best: { readonly groups: Groups; readonly seconds: number; readonly bytes: number };
}

interface Counted {
  readonly graph: unknown;
  readonly env: Counts;
  readonly own: Readonly<Record<string, Amount>>;
  readonly compulsory: Amount;
  readonly partitions: readonly {
    readonly groups: Groups;
    readonly legal: boolean;
    readonly refusal?: string;
    readonly bytes?: readonly Amount[];
    readonly flops?: readonly Readonly<Record<string, Amount>>[];
    readonly precision?: readonly (string | null)[];
    readonly total_bytes?: Amount;
  }[];
}

const { bits, conventions, chips } = golden;
const cases = (golden.cases as unknown as readonly Case[]).map((wanted) => {
  const { unit, units, shared, bandwidth, vector, tensor } = chips[wanted.chip];
  const peaks = Object.entries(tensor).flatMap(([precision, peak]) => [
    [precision, peak],
    [`${precision}_vector`, vector],
  ]);
  const share = { level: "SMEM", bytes: unit, units, shared };
  const chip = makeChip({ peaks: Object.fromEntries(peaks), memories: { HBM: bandwidth }, precision: "bf16", share });
  const graph = decodeGraph({ dims: [], convention: "textbook", dtypes: bits, conventions, ...wanted.graph });
  const values = valuesOf(graph);
  const cost = costOn(graph, values, makeRoof(chip));
  return { wanted, graph, values, cost, forms: formsOn(graph, values, share, cost) };
});

/** Exact up to 2^53, which is written as a number; beyond that within 1e-12. */
function same(found: number, wanted: Amount): boolean {
  if (typeof wanted === "number") return found === wanted;
  return Math.abs(found - Number(wanted)) <= 1e-12 * Math.abs(Number(wanted));
}
const near = (found: number, wanted: number) => Math.abs(found - wanted) <= 1e-12 * wanted;

describe("the kernels of the golden file", () => {
  it("have their forms, and what they keep, read again, run again, move and do", () => {
    const told = new Map<string, number>();
    for (const { wanted, graph, forms, cost } of cases) {
      const names = (counts: ReadonlyMap<number, number>, of: readonly { readonly name: string }[]) =>
        Object.fromEntries([...counts].map(([one, often]) => [of[one]?.name, often]));
      for (const { ops, refusal, ...form } of wanted.groups) {
        const context = `${graph.name} ${ops}`;
        const found = broken(graph, ops) ?? forms.formOf(ops);
        const kind = "name" in found ? `${found.name} ${found.keeps}` : found.code;
        told.set(kind, (told.get(kind) ?? 0) + 1);
        if (!("name" in found)) {
          expect(found.code, context).toBe(refusal);
          continue;
        }
        expect(refusal, context).toBeUndefined();
        const { need, block, workspace, keeps } = found;
        const { bytes, flops } = forms.loadOf(ops);
        const done = [...flops]
          .map((count, word) => [graph.classes[word], count] as const)
          .filter(([, count]) => count);
        const wantedForm = { keeps: "", need: 0, block: 0, workspace: 0, reads: {}, times: {}, flops: {}, ...form };
        const { seconds = 0, ...rest } = wantedForm;
        expect(
          {
            ...{ form: found.name, keeps, need, block, workspace, bytes, flops: Object.fromEntries(done) },
            ...{ reads: names(found.reads, graph.tensors), times: names(found.times, graph.ops) },
          },
          context,
        ).toEqual(rest);
        expect(near(timeOf(forms, cost)(ops), seconds), context).toBe(true);
      }
    }
    const all = ["alone", "stream", "rows", "two passes", "tiles", "whole rows"].map((name) => `${name} `);
    const kept = ["tiles rows", "tiles again", "chain result", "chain middle", "chain nothing"];
    for (const kind of [...all, ...kept, "kinds", "axes", "capacity"]) expect(told.get(kind), kind).toBeGreaterThan(0);
  });
  it("may merge, or may not for the reason that it gives", () => {
    const told = new Map<string | null, number>();
    for (const { wanted, graph, forms } of cases)
      for (const [groups, a, b, code] of wanted.merges) {
        const found = whyNot(graph, at(graph, groups), a, b, forms.refusalOf);
        expect(found?.code ?? null, `${graph.name} ${JSON.stringify(groups)} ${a} ${b}`).toBe(code);
        told.set(code, (told.get(code) ?? 0) + 1);
      }
    for (const code of [null, "same", "not-connected", "barrier", "kinds", "not-convex", "cycle", "axes", "capacity"])
      expect(told.get(code), String(code)).toBeGreaterThan(0);
  });
  it("leave what is left after an op goes", () => {
    for (const { wanted, graph, forms } of cases)
      for (const [groups, op, after] of wanted.splits)
        expect(
          split(graph, at(graph, groups), op, forms.refusalOf).groups,
          `${graph.name} ${JSON.stringify(groups)} ${op}`,
        ).toEqual(after);
  });
  it("are, by twos and as XLA makes them, those of the file", () => {
    for (const { wanted, graph, cost, forms } of cases) {
      expect(pairs(graph, forms).groups, graph.name).toEqual(wanted.pairs);
      expect(likeXla(graph, cost, forms).groups, graph.name).toEqual(wanted.xla);
    }
  });
  it("are the fastest of all partitions, and greedy merges are never faster", () => {
    let tried = 0;
    for (const { wanted, graph, cost, forms } of cases) {
      const merged = tally(forms, greedy(graph, cost, forms), cost).seconds;
      expect(merged, graph.name).toBeGreaterThanOrEqual(wanted.best.seconds * (1 - 1e-12));
      if (graph.ops.length > MAX_OPS_TRIED) continue;
      const found = best(graph, cost, forms);
      expect(near(found.seconds, wanted.best.seconds), `${graph.name}: ${found.seconds} ${wanted.best.seconds}`).toBe(
        true,
      );
      expect(tally(forms, found).bytes, graph.name).toBe(wanted.best.bytes);
      tried++;
    }
    expect(tried).toBeGreaterThan(60);
  });
});

describe("the counts of the golden file", () => {
  const environmentOf = (graph: Graph, env: Counts): Environment => ({
    values: Float64Array.from(graph.symbols.keys(), (symbol) => env[symbol] ?? Number.NaN),
    dtype: null,
  });
  const counted = (golden.counts as unknown as readonly Counted[]).map((wanted) => {
    const graph = decodeGraph(wanted.graph);
    return { wanted, graph, values: evaluate(graph, environmentOf(graph, wanted.env)) };
  });
  it("are the bytes and FLOPs of every group, and their totals", () => {
    let groups = 0;
    for (const { wanted, graph, values } of counted) {
      expect(same(compulsory(graph, values), wanted.compulsory), graph.name).toBe(true);
      for (const each of wanted.partitions.filter(({ legal }) => legal)) {
        each.groups.forEach((group, index) => {
          const moved = groupBytes(graph, values, group);
          expect(same(moved, each.bytes?.[index] ?? ""), `${graph.name}: ${moved} B in ${group}`).toBe(true);
          groupFlops(values, group).forEach((number, word) => {
            const known = each.flops?.[index]?.[graph.classes[word] as string] ?? 0;
            expect(same(number, known), `${graph.name}: ${number} FLOPs in ${group}, not ${known}`).toBe(true);
          });
          expect(precisionOf(graph, values, group), `${graph.name} ${group}`).toBe(each.precision?.[index]);
          groups++;
        });
        const total = each.groups.reduce((sum, group) => sum + groupBytes(graph, values, group), 0);
        expect(same(total, each.total_bytes ?? ""), graph.name).toBe(true);
      }
    }
    expect(groups).toBeGreaterThan(50);
  });
  it("are the FLOPs of every graph as its convention counts them", () => {
    for (const { wanted, graph, values } of counted) {
      const sum = (some: readonly number[]) => some.reduce((a, b) => a + b, 0);
      const own = sum(graph.ops.map((_, op) => values.own(op)));
      const known = sum(Object.values(wanted.own).map(Number));
      expect(Math.abs(own - known), graph.name).toBeLessThanOrEqual(1e-12 * known);
    }
  });
  it("are those of groups in the order in which they run", () => {
    for (const { wanted, graph } of counted)
      for (const { groups } of wanted.partitions.filter(({ legal }) => legal))
        expect(at(graph, [...groups].reverse()).groups, graph.name).toEqual(groups);
  });
  it("are none of a partition that breaks a rule, which is told by its first code", () => {
    const codes = new Set<string>();
    for (const { wanted, graph } of counted)
      for (const { groups, refusal = null } of wanted.partitions) {
        expect(faultOf(graph, groups), `${graph.name} ${JSON.stringify(groups)}`).toBe(refusal);
        if (refusal !== null) codes.add(refusal);
      }
    expect([...codes].sort()).toEqual(["barrier", "cycle", "kinds", "not-connected", "not-convex"]);
  });
});
