// Chains of elementwise operations as Python sends them, and the state of a model that has them.

import { DEFAULTS, several, wireChip, wireKernels } from "./helpers.ts";

interface ChainSpec {
  ops?: number;
  dims?: readonly (readonly [name: string, low: number, high: number, initial: number])[];
  convention?: string;
  dtype?: string;
}

/** Ops a, b, …: by default each reads and writes n elements of 16 bits, with two FLOPs per element. */
export function chain(name: string, { ops = 2, dims = [["n", 1, 1024, 100]], ...own }: ChainSpec = {}): unknown {
  const { convention = "textbook", dtype = "bf16" } = own;
  const numbers = several(ops, (at) => at);
  return {
    name,
    dims,
    convention,
    dtypes: { bf16: 16, fp8: 8 },
    conventions: { textbook: { "@fma": 2 }, mac: { "@fma": 1 } },
    outputs: [ops],
    tensors: [...numbers, ops].map((at) => ({
      ...{ name: `t${at}`, shape: ["n"], dtype, bytes: ["/", ["*", "n", `@${dtype}`], 8] },
    })),
    ops: numbers.map((at) => ({
      ...{ name: "abcdefgh"[at] ?? `op${at}`, kind: "elementwise", inputs: [at], outputs: [at + 1] },
      ...{ flops: { vector: ["*", "@fma", "n"] }, extra: 0, terms: [], precision: null },
    })),
  };
}

/** The state of a model with these graphs: the first is shown, and nothing is merged. */
export function stateOf(graphs: readonly (readonly [phase: string, graph: unknown])[]): Record<string, unknown> {
  const [phase, graph] = graphs[0] ?? ["", { ops: [] }];
  return {
    ...DEFAULTS,
    chips: [wireChip({ id: "c", peaks: { bf16: 100, fp8: 200 }, memories: { HBM: 10 } })],
    kernels: wireKernels([{ flops: 10, bytes: 1 }]),
    shown: ["c"],
    focus_chip: "c",
    graphs,
    phase,
    partition: (graph as { ops: unknown[] }).ops.map((_, at) => [at]),
  };
}
