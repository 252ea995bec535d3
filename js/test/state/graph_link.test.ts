// A graph in the address of a page: what a link of the page and of Python holds, and what is refused.

import { describe, expect, it } from "vitest";
import { hasGraph, LinkError, linkOf, readLink, titleOf, traitsOf } from "../../src/state/graph_link.ts";
import { createStore } from "../../src/state/store.ts";
import type { WireGraph } from "../../src/wire/types.ts";
import { chain, stateOf } from "../chains.ts";
import { FakeModel, makeChip } from "../helpers.ts";

const KNOWN = chain("known") as unknown as WireGraph;

function workloadOf() {
  const model = new FakeModel(stateOf([["g", chain("g", { ops: 3 })]]));
  const workload = createStore(model, new AbortController().signal).workload.graph.value;
  if (!workload) throw new Error("the model has a graph");
  return workload;
}
async function through(stream: ReadableWritablePair, bytes: BlobPart): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
async function opened(link: string) {
  const bytes = Uint8Array.from(atob(link.slice(3).replaceAll("-", "+").replaceAll("_", "/")), (one) =>
    one.charCodeAt(0),
  );
  return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate"), bytes)));
}
async function packed(value: unknown) {
  const bytes = await through(new CompressionStream("deflate"), JSON.stringify(value));
  return `#g=${btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")}`;
}
const good = async () => (await linkOf(workloadOf(), "h100-sxm", "Mine")) ?? "";

describe("a link of a graph", () => {
  it("comes back with its chip and its title", async () => {
    const link = await good();
    expect([hasGraph(link), hasGraph("#step=2")]).toEqual([true, false]);
    const { chip, title, ops, groups } = await readLink(link);
    expect([chip, title, ops.map(({ n }) => n), groups]).toEqual([
      "h100-sxm",
      "Mine",
      ["a", "b", "c"],
      [[0], [1], [2]],
    ]);
  });
  it("has a title that names the graph until its ops are merged", () => {
    expect(titleOf(workloadOf())).toBe("g");
  });
  it("asks for the gain before it shows the kernels", async () => {
    const linked = await readLink(await packed({ ...(await opened(await good())), groups: [[0, 1, 2]] }));
    const traits = traitsOf(linked, KNOWN, makeChip());
    const story = traits.get("story") as {
      steps: { caption: unknown; changes: object; question: { answer: number } | null }[];
    };
    // Three kernels read and write 6 tensors of one size, and one kernel 2 of them.
    expect(story.steps[0]?.question?.answer).toBeCloseTo(3);
    expect(story.steps[0]?.caption).toEqual([]);
    expect(story.steps[1]?.changes).toEqual({ partition: [[0, 1, 2]] });
    expect(traits.get("partition")).toEqual([[0], [1], [2]]);
  });
  it("of a newer version says so", async () => {
    const newer = await packed({ ...(await opened(await good())), v: 2 });
    await expect(readLink(newer)).rejects.toThrow(new LinkError("This link was made with a newer version."));
  });
  it.each([
    { v: 0 },
    { title: "x".repeat(121) },
    { chip: 3 },
    { ops: [] },
    { groups: [[0, 1]] },
    { groups: [[0, 1, 2], []] },
    { groups: [[0, 0, 1]] },
    { ins: [["x", [2 ** 53], "bf16"]] },
    { ins: [["x", [-1], "bf16"]] },
    { ins: [["x", Array(9).fill(1), "bf16"]] },
    { ins: "text" },
    { outs: 5 },
  ])("that has %j is damaged", async (changes) => {
    await expect(readLink(await packed({ ...(await opened(await good())), ...changes }))).rejects.toThrow(
      "This link is damaged.",
    );
  });
  it.each([{ outs: ["nothing"] }, { ins: [["t0", [8], "constructor"]] }, { groups: [[0, 2], [1]] }])(
    "that has %j is shown as damaged",
    async (changes) => {
      const linked = await readLink(await packed({ ...(await opened(await good())), ...changes }));
      expect(() => traitsOf(linked, KNOWN, makeChip())).toThrow("This link is damaged.");
    },
  );
  it.each(["#g=", "#g=abc", `#g=${"A".repeat(3000)}`])("%s is damaged", async (link) => {
    await expect(readLink(link)).rejects.toThrow("This link is damaged.");
  });
  it.each([[1], null, "text", 5])("of %j is damaged", async (value) => {
    await expect(readLink(await packed(value))).rejects.toThrow("This link is damaged.");
  });
  it("that inflates to megabytes is damaged", async () => {
    const bomb = await packed({ ...(await opened(await good())), title: "a".repeat(900_000) });
    expect(bomb.length).toBeLessThan(2000);
    await expect(readLink(bomb)).rejects.toThrow("This link is damaged.");
  });
});
