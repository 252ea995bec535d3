// Partitions that are found, on the golden file that the Python is held to as well.

import { describe, expect, it } from "vitest";
import { totals, unfused } from "../src/fusion.ts";
import { environment, evaluate, type Graph } from "../src/graph.ts";
import { type Cost, fully, likeXla, pairs, timeOf } from "../src/greedy.ts";
import { whyNot } from "../src/legality.ts";
import { best, costOn } from "../src/search.ts";
import { cases, type Rates, written } from "./graphs.ts";
import { makeChip, makeRoof } from "./helpers.ts";

const costOf =
  (graph: Graph, { peak, bandwidth, launch_overhead }: Rates): Cost =>
  (flops, bytes) => {
    const compute = graph.classes.reduce((sum, word, at) => sum + (flops[at] as number) / (peak[word] as number), 0);
    return Math.max(compute, bytes / bandwidth, launch_overhead);
  };

describe("the golden file", () => {
  it("has the shortest time of all legal partitions, and the fewest kernels with it", () => {
    let tried = 0;
    for (const { wanted, graph, values } of cases) {
      if (!wanted.best) continue;
      const found = best(graph, values, costOf(graph, wanted.best.chip));
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
      expect(likeXla(graph, values, costOf(graph, wanted.chip)).groups, graph.name).toEqual(wanted.xla);
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
  it("is never faster by merging pairs than by the exact search, and never slower than unfused", () => {
    for (const { wanted, graph, values } of cases) {
      const cost = costOf(graph, wanted.chip);
      const exact = best(graph, values, cost);
      const greedy = best(graph, values, cost, undefined, 0);
      const apart = unfused(graph).groups.reduce((sum, group) => sum + timeOf(graph, values, cost)(group), 0);
      expect([exact.how, greedy.how], graph.name).toEqual(["optimal", "greedy"]);
      expect(greedy.seconds, graph.name).toBeGreaterThanOrEqual(exact.seconds * (1 - 1e-12));
      expect(greedy.seconds, graph.name).toBeLessThanOrEqual(apart * (1 + 1e-12));
    }
  });
});
