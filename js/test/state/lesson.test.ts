// The steps of a story in the store: what each shows, what is hidden, and what Python hears.

import { describe, expect, it, vi } from "vitest";
import golden from "../../../tests/golden/open_questions.json";
import { captionOf } from "../../src/chart/caption.ts";
import { pictureOf } from "../../src/chart/picture.tsx";
import { LIGHT } from "../../src/chart/theme.ts";
import { fuse } from "../../src/fusion/partition.ts";
import { verdictOf } from "../../src/state/lesson.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { textAt } from "../../src/wire/columns.ts";
import type { Question, Story } from "../../src/wire/types.ts";
import { chain, stateOf } from "../chains.ts";
import { eachWithClock, FakeModel, wireKernels } from "../helpers.ts";
import { makeQuestion, makeStory } from "../lessons.ts";
import { onOneChip } from "../scenes.ts";

const abort = eachWithClock();
const KERNELS = [
  { name: "gelu", flops: 1e12, bytes: 1e11, time: 0.2 },
  { name: "flat", flops: 4e14, bytes: 1e12, time: 5 },
];
const TRAITS = ["shown", "focus_chip", "precision", "memory", "what_if", "moves", "selected", "view", "zoom", "search"];
const HBM = (rate: number) => ({ what_if: { chip: { bandwidth: { HBM: rate } } } });

/** A store whose story starts from the state of its model. */
function onKernels(steps: Parameters<typeof makeStory>[1][], changes: Record<string, unknown> = {}) {
  const model = onOneChip(KERNELS, changes);
  const base = Object.fromEntries(TRAITS.map((name) => [name, model.state[name]]));
  model.state["story"] = makeStory(base, ...steps);
  const store = createStore(model, abort().signal);
  return { model, store };
}
const bandwidth = (store: Store) => store.rates.focusRoof.value?.bandwidth;
const namesOf = (store: Store, rows: Iterable<number>) =>
  [...rows].map((row) => textAt(store.rows.drawn.value.name, row));

describe("a step", () => {
  it("shows its values, whatever was changed before", () => {
    const { store } = onKernels([{}, { changes: HBM(2e12) }, { changes: { ...HBM(2e12), search: "gelu" } }]);
    store.lesson.showStep(1);
    expect([store.lesson.step.value, bandwidth(store)]).toEqual([1, 2e12]);
    store.rates.setRate("bandwidth", 5e12);
    store.view.setSearch("flat");
    store.rows.select([1]);
    store.lesson.showStep(2);
    expect([bandwidth(store), store.view.search.value, store.rows.selected.value]).toEqual([2e12, "gelu", []]);
    store.lesson.showStep(0);
    expect([store.lesson.step.value, bandwidth(store), store.view.search.value]).toEqual([0, 1e12, ""]);
  });
  it("shows the same after another way to it", () => {
    const { store: one } = onKernels([{}, { changes: HBM(2e12) }, { changes: { search: "gelu" } }]);
    const { store: other } = onKernels([{}, { changes: HBM(2e12) }, { changes: { search: "gelu" } }]);
    one.lesson.showStep(2);
    for (const step of [1, 0, 2]) other.lesson.showStep(step);
    expect([bandwidth(other), other.view.search.value]).toEqual([bandwidth(one), one.view.search.value]);
  });
  it("starts anew if it is shown again", () => {
    const { store } = onKernels([{ changes: HBM(2e12) }]);
    store.lesson.showStep(0);
    store.rates.setRate("bandwidth", 5e12);
    store.lesson.showStep(0);
    expect(bandwidth(store)).toBe(2e12);
  });
  it("that keeps hidden what its question hides shows nothing after its answer", () => {
    const hides = ["gelu"];
    const question = makeQuestion();
    const { store } = onKernels([
      { question, hides, keeps_hidden: true },
      { question: makeQuestion({ key: "r" }), hides },
    ]);
    const shown = () => [store.lesson.isRevealed.value, store.lesson.hidden.value, store.lesson.hidesHint("fusion")];
    store.lesson.giveAnswer(100);
    expect(shown()).toEqual([true, new Set(hides), true]);
    store.lesson.showStep(1);
    store.lesson.giveAnswer(100);
    expect(shown()).toEqual([true, new Set(), false]);
  });
  it("is left by undo, with the state of the step before", () => {
    const { store } = onKernels([{}, { changes: HBM(2e12) }]);
    store.rates.setRate("bandwidth", 5e12);
    store.lesson.showStep(1);
    store.history.undo();
    expect([store.lesson.step.value, bandwidth(store)]).toEqual([0, 5e12]);
    store.history.redo();
    expect([store.lesson.step.value, bandwidth(store)]).toEqual([1, 2e12]);
  });
  it("is sent to Python in one message with what it changes, and nothing else", () => {
    const { model, store } = onKernels([{}, { changes: HBM(2e12) }]);
    model.sent.length = 0;
    store.lesson.showStep(1);
    vi.runAllTimers();
    expect(model.sent).toEqual([{ step: 1, ...HBM(2e12) }]);
  });
  it("is shown when Python says so", () => {
    const { model, store } = onKernels([{}, { caption: [["p", "Second."]] }]);
    model.receive("step", 1);
    expect([store.lesson.step.value, store.lesson.current.value?.caption]).toEqual([1, [["p", "Second."]]]);
  });
  it("that a shorter story of Python has no more becomes the last one", () => {
    const { model, store } = onKernels([{}, {}, {}]);
    store.lesson.showStep(2);
    model.receive("story", makeStory({}, {}, { caption: [["p", "Last."]] }));
    expect([store.lesson.steps.value, store.lesson.current.value?.caption]).toEqual([2, [["p", "Last."]]]);
  });
});

describe("a step of a graph", () => {
  const GRAPHS = [
    ["prefill", chain("prefill")],
    ["decode", chain("decode")],
  ] as const;
  const BASE = { phase: "prefill", partition: [[0], [1]], dims: {}, convention: "", dtype: null };
  const MERGE = makeQuestion({ kind: "merge", answer: [["a", "b"]], tolerance: null });

  function onGraph(...steps: Parameters<typeof makeStory>[1][]) {
    const model = new FakeModel({ ...stateOf(GRAPHS), story: makeStory(BASE, ...steps) });
    return { model, store: createStore(model, abort().signal) };
  }
  const now = (store: Store) => {
    const { graph, partition, dims } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    return [graph.name, partition.groups, dims];
  };
  function mergeAll(store: Store) {
    const { graph, partition } = store.workload.graph.value as NonNullable<typeof store.workload.graph.value>;
    store.workload.setPartition(fuse(graph, partition, 0, 1));
  }

  it("has its phase, its kernels and its sizes", () => {
    const { store } = onGraph(
      {},
      { changes: { partition: [[0, 1]], dims: { n: 8 } } },
      { changes: { phase: "decode" } },
    );
    store.lesson.showStep(1);
    expect(now(store)).toEqual(["prefill", [[0, 1]], { n: 8 }]);
    store.lesson.showStep(2);
    expect(now(store)).toEqual(["decode", [[0], [1]], {}]);
    store.lesson.showStep(0);
    expect(now(store)).toEqual(["prefill", [[0], [1]], {}]);
  });
  it("undoes what the learner has merged, and undo merges it again", () => {
    const { store } = onGraph({}, {});
    mergeAll(store);
    store.workload.setDim("n", 7);
    store.lesson.showStep(1);
    expect(now(store)).toEqual(["prefill", [[0], [1]], {}]);
    store.history.undo();
    expect([store.lesson.step.value, ...now(store)]).toEqual([0, "prefill", [[0, 1]], { n: 7 }]);
  });
  it("sends all of another phase together with the step", () => {
    const { model, store } = onGraph({}, { changes: { phase: "decode", dims: { n: 9 } } });
    model.sent.length = 0;
    store.lesson.showStep(1);
    vi.runAllTimers();
    expect(Object.assign({}, ...model.sent)).toMatchObject({ step: 1, phase: "decode", dims: { n: 9 } });
    expect(model.state).toMatchObject({ step: 1, phase: "decode", dims: { n: 9 }, partition: [[0], [1]] });
  });
  it("takes the groups as the answer to a merge", () => {
    const { model, store } = onGraph({ question: MERGE });
    expect(store.lesson.answerNow()).toEqual([["a"], ["b"]]);
    store.lesson.giveAnswer(store.lesson.answerNow() ?? []);
    expect(store.lesson.isRevealed.value).toBe(false);
    mergeAll(store);
    store.lesson.giveAnswer(store.lesson.answerNow() ?? []);
    expect(store.lesson.isRevealed.value).toBe(true);
    vi.runAllTimers();
    expect(model.state["answers"]).toEqual({ q: [[["a"], ["b"]], [["a", "b"]]] });
  });
  it("knows a right merge after the page is opened again", () => {
    const { model } = onGraph({ question: MERGE });
    model.state["answers"] = { q: [[["a", "b"]]] };
    const again = createStore(model, abort().signal);
    expect(again.lesson.isRevealed.value).toBe(true);
  });
  it("takes no merge that leaves out an operation, or has one twice", () => {
    const { store } = onGraph({ question: MERGE });
    const workload = store.workload.graph.value;
    for (const groups of [[], [["a"]], [["a", "b"], ["b"]], [["a", "x"]], [["a", "b", "x"]]])
      expect(verdictOf(MERGE, groups, 1, workload)?.said).toBe("invalid");
    expect(verdictOf(MERGE, "a", 1, workload)?.isRight).toBe(false);
  });
  it("tells a merge its kernels, then the largest tensor between them, then the fewest bytes", () => {
    // Ops a to d read and write t0 to t4 of 200 bytes; the tensor t2 is twice as large.
    const wide = chain("wide", { ops: 4 }) as { tensors: { bytes: unknown }[] };
    const tensors = wide.tensors.map((one, at) => (at === 2 ? { ...one, bytes: 400 } : one));
    const model = new FakeModel({
      ...stateOf([["", { ...wide, tensors }]]),
      story: makeStory({ partition: [[0], [1], [2], [3]], phase: "" }, { question: MERGE }),
    });
    const workload = createStore(model, abort().signal).workload.graph.value;
    const best = { ...MERGE, answer: [["a", "b", "c", "d"]] };
    const said = (groups: string[][], attempt: number, question = best) => {
      const verdict = verdictOf(question, groups, attempt, workload);
      return [verdict?.said, verdict?.text, verdict?.merge];
    };
    // t0 and t4 of 200 bytes leave nothing else to move; t1, t2 and t3 are each written and read.
    const apart = { kernels: 4, isTime: false, now: 2 * 200 + 2 * (200 + 400 + 200), least: 400 };
    const each = [["a"], ["b"], ["c"], ["d"]];
    expect([1, 2, 3].map((attempt) => said(each, attempt))).toEqual([
      ["kernels", "", apart],
      ["tensor", "t2", apart],
      ["bytes", "", apart],
    ]);
    expect(said([["a", "b", "c"], ["d"]], 2)[1]).toBe("t3");
    // Of equal tensors the first by name; what the best partition moves too costs nothing.
    expect(said([["a"], ["b", "c"], ["d"]], 2)[1]).toBe("t1");
    const two = {
      ...MERGE,
      answer: [
        ["a", "b"],
        ["c", "d"],
      ],
    };
    expect(said([["a"], ["b"], ["c", "d"]], 2, two)[1]).toBe("t1");
    expect(said(best.answer, 2)[0]).toBe("right");
  });
  it("judges a merge by its time if the question names a chip", () => {
    // Without a chip in the page, the time of a kernel is that of its bytes.
    const { store } = onGraph({ question: { ...MERGE, chip: "h100-sxm" } });
    const workload = store.workload.graph.value;
    const timed = { ...MERGE, chip: "h100-sxm" };
    const said = [1, 2, 3].map((attempt) => verdictOf(timed, [["a"], ["b"]], attempt, workload)?.said);
    expect(said).toEqual(["kernels", "kernel", "time"]);
    expect(verdictOf(timed, [["a"], ["b"]], 2, workload)?.text).toBe("a");
    expect(verdictOf(timed, [["b", "a"]], 1, workload)?.isRight).toBe(true);
  });
});

describe("a hidden kernel", () => {
  const PLACE = makeQuestion({ kind: "drag", on: "intensity", kernel: "gelu", answer: 10 });
  /** The program and a step of it. */
  const PROGRAM = [
    { name: "program", flops: 4.01e14, bytes: 1.1e12, time: 6, category: "program" },
    { name: "step", flops: 4.01e14, bytes: 1.1e12, time: 6, category: "step" },
  ];

  it("has no point, no row and no sentence until the answer is found", () => {
    const { store } = onKernels([{ question: PLACE, hides: ["gelu"], changes: { selected: [0] } }], { selected: [0] });
    const seen = () => [
      namesOf(store, store.rows.points.value.row),
      namesOf(store, store.rows.passing.value),
      namesOf(store, store.rows.ranking.value.rows),
      captionOf(store, undefined).text.includes("gelu"),
    ];
    expect(seen()).toEqual([["flat"], ["flat"], ["flat"], false]);
    store.lesson.giveAnswer(100);
    expect(seen()).toEqual([["flat"], ["flat"], ["flat"], false]);
    store.lesson.giveAnswer(10.2);
    expect(namesOf(store, store.rows.passing.value)).toEqual(["gelu", "flat"]);
    expect(seen().at(-1)).toBe(true);
  });
  it("is shown if the learner asks for the answer, and stays hidden in another question", () => {
    const { store } = onKernels([
      { question: PLACE, hides: ["gelu"] },
      { question: { ...PLACE, key: "r" }, hides: ["gelu"] },
    ]);
    store.lesson.giveAnswer(500);
    store.lesson.reveal();
    expect(store.rows.passing.value.length).toBe(2);
    store.lesson.showStep(1);
    expect(store.rows.passing.value.length).toBe(1);
    store.lesson.showStep(0);
    expect(store.rows.passing.value.length).toBe(2);
  });
  it("is not what the chart's search finds", () => {
    const { store } = onKernels([{ question: PLACE, hides: ["gelu"] }]);
    store.view.setSearch("gelu");
    expect(store.rows.passing.value.length).toBe(0);
  });
  it("has no total if all kernels are hidden", () => {
    const { store } = onKernels([{ question: PLACE, hides: true }, {}], {
      kernels: wireKernels(KERNELS, 0, { program: PROGRAM }),
    });
    for (const scope of ["kernels", "program"] as const) {
      store.view.setScope(scope);
      expect([store.rows.points.value.n, store.rows.passing.value.length, store.rows.drawnRows.value.length]).toEqual([
        0, 0, 0,
      ]);
      store.rows.hover(2);
      expect(captionOf(store, undefined).text).not.toContain("program");
      store.rows.hover(null);
    }
    store.lesson.showStep(1);
    store.view.setScope("kernels");
    expect(namesOf(store, store.rows.points.value.row).sort()).toEqual(["flat", "gelu", "program"]);
  });
  it("stays the same object while nothing else is hidden", () => {
    const { store } = onKernels([{ hides: ["gelu"] }, { hides: ["gelu"] }, { hides: ["flat"] }]);
    const before = store.lesson.hidden.value;
    store.lesson.showStep(1);
    expect(store.lesson.hidden.value).toBe(before);
    store.lesson.showStep(2);
    expect(store.lesson.hidden.value).toEqual(new Set(["flat"]));
  });
});

describe("an open question", () => {
  const PANELS = ["headline", "sentence", "table", "comparison", "projection", "fusion"] as const;
  const HINTS = [...PANELS, "operations", "points", "ridge"] as const;
  it("that is a vote hides the graph too", () => {
    const vote = makeQuestion({ kind: "choice", unit: "", answer: "a", options: [["a", ""]], graded: false });
    const { store } = onKernels([{ question: vote }]);
    expect([store.lesson.hidesHint("graph"), store.lesson.hidesHint("fusion")]).toEqual([true, true]);
    store.lesson.giveAnswer("a");
    expect([store.lesson.isRevealed.value, store.lesson.hidesHint("graph")]).toEqual([true, false]);
  });
  const hintsOf = (question: Partial<Question>) => {
    const { store } = onKernels([{ question: makeQuestion(question) }]);
    return HINTS.filter(store.lesson.hidesHint);
  };
  const numbers = HINTS.filter((one) => one !== "ridge");

  it("hides the numbers of kernels, and those of ridge points if an intensity is asked for", () => {
    expect(hintsOf({ unit: "FLOP/s" })).toEqual(numbers);
    expect(hintsOf({ unit: "FLOP/B" })).toEqual(HINTS);
    expect(hintsOf({ kind: "choice", unit: "", answer: "a" })).toEqual(numbers);
    expect(hintsOf({ kind: "drag", on: "rate", unit: "FLOP/s" })).toEqual(numbers);
    expect(hintsOf({ kind: "drag", on: "intensity" })).toEqual(HINTS);
  });
  it("about a hidden kernel hides its op", () => {
    expect(hintsOf({ kind: "drag", on: "intensity", kernel: "gelu" })).toEqual(["headline", "fusion", "operations"]);
  });
  it("hides nothing that the learner needs for the answer", () => {
    expect(hintsOf({ reading: true })).toEqual([]);
    expect(hintsOf({ kind: "drag", on: "bandwidth", unit: "B/s" })).toEqual(["headline"]);
    expect(hintsOf({ kind: "drag", on: "peak_flops", unit: "FLOP/s" })).toEqual(["headline"]);
    expect(hintsOf({ kind: "merge", answer: [["a"]] })).toEqual(["headline"]);
  });
  it.each(golden.cases)("hides the verdict and the numbers that the golden file says: $question", (one) => {
    const kind = "on" in one.question ? "drag" : "number";
    const hidden = hintsOf({ kind, ...(one.question as Partial<Question>) });
    expect([hidden.includes("headline"), hidden.includes("table")]).toEqual([one.headline, one.numbers]);
  });
  it("leaves the headline to a question whose answer is read off the page", () => {
    const drawn = (reading: boolean) => {
      const { store } = onKernels([{ question: makeQuestion({ reading }) }]);
      return [store.rows.headline.value?.headline, store.rows.pictureHeadline.value?.rule];
    };
    expect(drawn(false)).toEqual([undefined, undefined]);
    expect(drawn(true)).toEqual([
      // At their roofs 0.1 s and 4 s would remain.
      "Up to 1.1 s of 5.2 s could be saved: kernels run at 79 % of their roofs.",
      "spread",
    ]);
  });
  it("counts different answers", () => {
    const { store } = onKernels([{ question: makeQuestion() }]);
    for (const given of [50, 60, 60, 50]) store.lesson.giveAnswer(given);
    expect([store.lesson.attempts.value, store.lesson.tries.value]).toEqual([[50, 60, 50], 2]);
  });
  it("hides until the answer is found or shown", () => {
    const { store } = onKernels([{ question: makeQuestion() }, {}]);
    store.lesson.giveAnswer(50);
    expect(store.lesson.hidesHint("ridge")).toBe(true);
    store.lesson.giveAnswer(100);
    expect(store.lesson.hidesHint("ridge")).toBe(false);
    store.lesson.forgetAnswers();
    expect(store.lesson.hidesHint("ridge")).toBe(true);
    store.lesson.reveal();
    expect(store.lesson.hidesHint("ridge")).toBe(false);
    store.lesson.forgetAnswers();
    store.lesson.showStep(1);
    expect(store.lesson.hidesHint("ridge")).toBe(false);
  });
  it("leaves no ridge point and no sentence in a picture and its alternative text", () => {
    // The chip of these tests has 1e14 FLOP/s and 1e12 B/s: its ridge point is at 100 FLOP/B.
    const { store } = onKernels([{ question: makeQuestion(), changes: { selected: [0] } }], {
      kernels: wireKernels([]),
    });
    const drawn = () => pictureOf(store, 800, () => 400, LIGHT);
    expect(drawn().svg).not.toMatch(/100.FLOP\/B|ridge/);
    expect(drawn().title).toBe("Roofline of chip.");
    store.lesson.giveAnswer(100);
    expect(drawn().svg).toMatch(/ridge (?:point )?100/);
    expect(drawn().title).toMatch(/100.FLOP\/B/);
  });
});
describe("answers", () => {
  const NUMBER = makeQuestion();

  it("are all kept, sent, and not undone", () => {
    const { model, store } = onKernels([{ question: NUMBER }, {}]);
    store.lesson.giveAnswer(50);
    store.lesson.giveAnswer(100);
    vi.runAllTimers();
    expect(model.state["answers"]).toEqual({ q: [50, 100] });
    store.rates.setRate("bandwidth", 3e12);
    store.history.undo();
    store.history.undo();
    expect(store.lesson.answers.value).toEqual({ q: [50, 100] });
    store.lesson.showStep(1);
    store.lesson.showStep(0);
    expect([store.lesson.attempts.value, store.lesson.isRevealed.value]).toEqual([[50, 100], true]);
  });
  it.each(["constructor", "toString", "valueOf"])("are none at first for the key %s, and are kept by it", (key) => {
    const { store } = onKernels([{ question: { ...NUMBER, key } }]);
    expect([store.lesson.attempts.value, store.lesson.isRevealed.value]).toEqual([[], false]);
    store.lesson.giveAnswer(100);
    expect([store.lesson.answers.value, store.lesson.isRevealed.value]).toEqual([{ [key]: [100] }, true]);
  });
  it("that are the same once more are no further attempt", () => {
    const { store } = onKernels([{ question: NUMBER }]);
    for (const given of [50, 50, 60, 50]) store.lesson.giveAnswer(given);
    expect(store.lesson.attempts.value).toEqual([50, 60, 50]);
    expect(store.lesson.verdict.value?.said).toBe("band");
  });
  it("say that the right one was shown, for good", () => {
    const { model, store } = onKernels([{ question: NUMBER }]);
    store.lesson.giveAnswer(50);
    store.lesson.reveal();
    vi.runAllTimers();
    expect(model.state["answers"]).toEqual({ q: [50, []] });
    expect([store.lesson.attempts.value, store.lesson.verdict.value?.said]).toEqual([[50], "direction"]);
    expect(createStore(model, abort().signal).lesson.isRevealed.value).toBe(true);
  });
  it("of Python count like those of the page", () => {
    const { model, store } = onKernels([{ question: NUMBER, hides: ["gelu"] }]);
    store.lesson.giveAnswer(50);
    store.lesson.reveal();
    model.receive("answers", {});
    expect([store.lesson.isRevealed.value, store.rows.passing.value.length]).toEqual([false, 1]);
    model.receive("answers", { q: [100] });
    expect([store.lesson.isRevealed.value, store.rows.passing.value.length]).toEqual([true, 2]);
    model.receive("answers", {});
    expect([store.lesson.isRevealed.value, store.rows.passing.value.length]).toEqual([false, 1]);
  });
  it("need a question", () => {
    const { store } = onKernels([{}]);
    store.lesson.giveAnswer(1);
    expect([store.lesson.answers.value, store.lesson.answerNow(), store.lesson.verdict.value]).toEqual([
      {},
      undefined,
      undefined,
    ]);
  });
  it("are the rates of the roof for a question about the roof", () => {
    const steps = (["bandwidth", "peak_flops"] as const).map((on) => ({
      question: makeQuestion({ key: on, kind: "drag", on, answer: 2e12 }),
    }));
    const { store } = onKernels(steps);
    store.rates.setRate("bandwidth", 2e12);
    expect([store.lesson.answerNow(), store.lesson.verdict.value]).toEqual([2e12, undefined]);
    store.lesson.giveAnswer(2e12);
    expect(store.lesson.verdict.value?.isRight).toBe(true);
    store.lesson.showStep(1);
    expect(store.lesson.answerNow()).toBe(1e14);
  });
  it("of another form are wrong", () => {
    const choice = makeQuestion({ kind: "choice", answer: "a", tolerance: null });
    expect(verdictOf(NUMBER, "100", 1)).toBeUndefined();
    expect(verdictOf(choice, 1, 1)?.said).toBe("invalid");
    expect(verdictOf(makeQuestion({ kind: "merge", answer: [["a"]] }), [["a"]], 1)).toBeUndefined();
  });
});

it("has nothing to show without a story", () => {
  const store = createStore(onOneChip(KERNELS, { story: null as Story | null, step: 0 }), abort().signal);
  const { current, question, steps } = store.lesson;
  expect([current.value, question.value, steps.value]).toEqual([undefined, undefined, 0]);
});
