// Notebooks that an earlier version saved: the states of their widgets are decoded, and a store starts from each.

// @ts-expect-error the project has no types of Node
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createStore } from "../src/state/store.ts";
import { type Kernels, textAt } from "../src/wire/columns.ts";
import { eachWithClock, FakeModel, several } from "./helpers.ts";

interface Saved {
  readonly state: Record<string, unknown>;
  readonly buffers?: readonly { readonly data: string; readonly path: readonly (string | number)[] }[];
}

const namesIn = (folder: URL): string[] => readdirSync(folder);
const VERSIONS = new URL("../../tests/saved_state/", import.meta.url);
/** The notebooks by their case, for each version that saved some. */
const SAVED = namesIn(VERSIONS)
  .filter((name) => /^\d/.test(name))
  .map((version): [version: string, notebooks: Record<string, unknown>] => {
    const folder = new URL(`${version}/`, VERSIONS);
    const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), "utf-8"));
    return [version, Object.fromEntries(namesIn(folder).map((file) => [file.replace(".json", ""), read(file)]))];
  });
/** What a state holds of any widget beside what is the model's. */
const OF_ANY = ["layout", "tabbable"];

const abort = eachWithClock();

/** The states of the widgets of a notebook, their buffers in place as JupyterLab puts them there. */
function statesOf(notebook: unknown): Record<string, unknown>[] {
  const models = Object.values((notebook as { state: Record<string, Saved> }).state);
  return models.filter(({ state }) => "chips" in state).map(withBuffers);
}

function withBuffers({ state, buffers = [] }: Saved): Record<string, unknown> {
  const whole = structuredClone(state);
  for (const { data, path } of buffers) {
    let place = whole as Record<string | number, unknown>;
    for (const key of path.slice(0, -1)) place = place[key] as Record<string | number, unknown>;
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    place[path.at(-1) as string | number] = new DataView(bytes.buffer);
  }
  return whole;
}

class Heard extends FakeModel {
  readonly events = new Set<string>();
  override on(event: string, callback: () => void): void {
    this.events.add(event);
    super.on(event, callback);
  }
}

function open(notebook: unknown) {
  const [state = {}] = statesOf(notebook);
  return createStore(new FakeModel(state), abort().signal);
}

const names = (table: Kernels) => several(table.own, (row) => textAt(table.name, row));

const notebooks = SAVED.flatMap(([version, cases]) =>
  Object.entries(cases).map(([name, notebook]) => [`${version} ${name}`, notebook] as const),
);
describe.each(notebooks)("the notebook %s", (_name, notebook) => {
  it("is opened without a word to Python, and every trait that it holds is listened to", () => {
    for (const state of statesOf(notebook)) {
      const model = new Heard(state);
      const store = createStore(model, abort().signal);
      expect(store.rates.shownRoofs.value.length).toBeGreaterThan(0);
      expect(store.rows.points.value.side.length).toBeGreaterThan(0);
      expect(model.sent).toEqual([]);
      const own = Object.keys(state).filter((name) => !name.startsWith("_") && !OF_ANY.includes(name));
      expect(own.filter((name) => !model.events.has(`change:${name}`))).toEqual([]);
    }
  });
});

describe.each(SAVED)("what %s saved", (_version, cases) => {
  it("of kernels is every column", () => {
    const store = open(cases["kernels"]);
    const table = store.rows.kernels.value;
    expect(names(table)).toEqual([
      ...["jit(step)/matmul.1", "jit(step)/matmul.2", "gelu", "copy", "all-reduce", "infeed", "opaque"],
    ]);
    expect([...table.time]).toEqual([0.04, 0.02, 0.005, 0.01, 0.03, 0.002, Number.NaN]);
    expect([...table.selfTime]).toEqual([0.04, 0.02, 0.004, 0.01, 0.03, 0.002, Number.NaN]);
    expect([...table.count]).toEqual([4, 2, 10, 1, 3, 1, 1]);
    expect([...table.flops.keys()]).toEqual(["bf16", "fp8"]);
    expect([...(table.bytes.get("network") ?? [])]).toEqual([0, 0, 0, 0, 2e9, 0, Number.NaN]);
    expect([...table.extra.keys()]).toEqual(["module", "occupancy"]);
    expect([...table.origin.keys()]).toEqual(["flops", "time"]);
    expect(table.chip?.name).toBe("Small");
    expect(store.rows.baseline.value?.kernels.time[0]).toBe(0.06);
    expect(store.rates.chips.value.map(({ id }) => id)).toEqual(["small", "large", "hidden"]);
    expect([store.rates.shown.value, store.rates.focusChip.value, store.rates.launchOverhead.value]).toEqual([
      ...[["small", "large"], "small", 2e-6],
    ]);
    expect([store.rates.memory.value, store.rates.allLevels.value, store.view.rulers.value]).toEqual([
      "all",
      true,
      false,
    ]);
    expect([store.view.sortBy.value, store.view.columns.value]).toEqual([
      "-flops",
      ["name", "time", "flops:bf16", "module"],
    ]);
  });
  it("of a graph is its phase, its groups, and how it is counted", () => {
    const store = open(cases["graph"]);
    expect([store.workload.phase.value, store.workload.phases.value]).toEqual(["decode", ["prefill", "decode"]]);
    expect(store.workload.graph.value).toMatchObject({ dims: { batch: 64 }, convention: "torch", dtype: "fp8" });
    expect(names(store.rows.kernels.value)).toEqual(["expand + act", "shrink", "residual"]);
    expect(store.rows.selected.value).toEqual([0]);
  });
  it("of what-ifs, snapshots and filters is in force", () => {
    const store = open(cases["what_ifs"]);
    expect(store.rates.focusRoof.value).toMatchObject({ peak: 6e14, bandwidth: 3e12 });
    expect(store.rates.whatIf.value["small"]).toEqual({ bandwidth: { HBM: 5e11 } });
    expect(store.rows.moves.value).toEqual({ 0: { bytes: 0.5, time: 0.8 } });
    expect(store.view.snapshots.value).toMatchObject([{ name: "before", chip: "large", peak: 4e14, bandwidth: 2e12 }]);
    expect([...store.rows.passing.value]).toEqual([0]);
    expect([store.rates.exposedRoofs.value, store.view.zoom.value]).toEqual([[0.2], [1, 1e4, 1e12, 1e15]]);
    // In 0.1.0 the drawn roofs were called exposed_comm. This name has now another meaning, and must not judge kernels.
    expect(store.rates.focusRoof.value?.conditions.exposedComm).toBe(0);
  });
  it("of the view is what is looked at", () => {
    const store = open(cases["time_view"]);
    expect([store.view.plane.value, store.view.axes.timeScale.value, store.view.scope.value]).toEqual([
      "time",
      "linear",
      "program",
    ]);
    expect([store.view.presentation.value, store.view.zoom.value]).toEqual([true, [0, 0.04, 0, 0.06]]);
  });
  it.runIf("typed_work" in cases)("of typed work, colours, axes and added chips is in force", () => {
    const store = open(cases["typed_work"]);
    expect(store.rows.typedWork.value).toEqual({ 6: { flops: 1e12, bytes: 2e9 } });
    expect(store.rows.kernels.value.flops.get("")?.[6]).toBe(1e12);
    expect([store.view.colourBy.value, store.view.axes.frame.value, store.rates.addedChips.value]).toEqual([
      ...["time", "chip", ["h100-sxm"]],
    ]);
  });
  it.runIf("lesson" in cases)("of a lesson is its step, its answers and its settings", () => {
    const store = open(cases["lesson"]);
    expect(store.lesson.question.value?.key).toBe("ridge");
    expect(store.lesson.attempts.value).toEqual([250]);
    expect(store.rates.focusRoof.value?.bandwidth).toBe(2e12);
    expect(store.lesson.lockNote("filters")).not.toBe("");
  });
});
