// The displayed names of kernels: those of the golden file, which Python's tests read too.

import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/kernel_names.json";
import { shortNameOf } from "../../src/text/kernel_names.ts";
import { makeKernels, several } from "../helpers.ts";

interface Case {
  readonly why: string;
  readonly names: readonly string[];
  readonly displayed: readonly string[];
  readonly category?: readonly (string | null)[];
  readonly extra?: Readonly<Record<string, readonly string[] | readonly number[]>>;
  readonly same?: readonly number[];
}

describe("the displayed names of kernels", () => {
  it.each(golden as readonly Case[])(
    "are those of the golden file: $why",
    ({ names, displayed, category, extra, same }) => {
      const specs = names.map((name, row) => ({ name, category: category?.[row] ?? null }));
      const kernels = { ...makeKernels(specs, { extra: extra ?? {} }), same: same ? Int32Array.from(same) : null };
      expect(names.map((_, row) => shortNameOf(kernels, row))).toEqual(displayed);
    },
  );
  it("stay equal among more than 10,000 kernels", () => {
    const kernels = makeKernels(several(10_001, () => ({ name: "k" })));
    expect([shortNameOf(kernels, 0), shortNameOf(kernels, 10_000)]).toEqual(["k", "k"]);
  });
});
