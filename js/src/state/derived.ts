// What follows from the state of one model: roofs, points, and which lines are drawn.

import { computed, type ReadonlySignal } from "@preact/signals";
import { commonPrecision, levelsDrawn, possibleCeilings, subRoofsOf } from "../roofline/ceilings.ts";
import { runsOf } from "../roofline/compare_runs.ts";
import { inOrder } from "../roofline/filters.ts";
import { pointsOf } from "../roofline/points.ts";
import { rankingOf } from "../roofline/ranking.ts";
import type { Missing, Roof } from "../roofline/roofline.ts";
import { ALL_LEVELS, isRoof, PLAIN, roofOf } from "../roofline/roofline.ts";
import { drawnRows, withTotals } from "../roofline/totals.ts";
import { exposedText } from "../text/describe.ts";
import { memoize } from "../ui/memoize.ts";
import { throttled } from "../ui/throttled.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Chip, WhatIf } from "../wire/types.ts";
import { deriveRows } from "./filters.ts";
import type { Workload } from "./graph.ts";
import type { Signals } from "./sync.ts";

interface Sources {
  readonly signals: Signals;
  /** The kernels on show: those of the graph, or Python's. */
  readonly kernels: ReadonlySignal<Kernels>;
  readonly workload: ReadonlySignal<Workload | undefined>;
  /** Whether a control is being dragged. */
  readonly dragging: ReadonlySignal<boolean>;
}

const MAX_KERNELS_LIVE = 5000;
const NO_CEILINGS: ReturnType<typeof possibleCeilings> = [];

export function derive({ signals: state, kernels, workload, dragging }: Sources) {
  const { chips, precision, memory, whatIf } = state;
  const common = computed(() => (precision.value === "auto" ? commonPrecision(kernels.value) : undefined));
  const conditions = computed(() => ({ ...PLAIN, launchOverhead: state.launchOverhead.value }));
  // While one chip's rate is dragged the others keep their roofs, and what is drawn of these.
  const known = memoize<Roof | Missing>();
  const every = (changes: WhatIf) => {
    const precisionOf = ({ peaks }: Chip) =>
      common.value !== undefined && peaks.has(common.value) ? common.value : precision.value;
    return chips.value.map((chip) => {
      const parts = [precisionOf(chip), memory.value, changes[chip.id], conditions.value] as const;
      return [chip.id, known(chip, parts, () => roofOf(chip, parts[0], parts[1], changes, parts[3]))] as const;
    });
  };
  /** The roof of every chip, or what it lacks, by id. */
  const roofs = computed<ReadonlyMap<string, Roof | Missing>>(() => new Map(every(whatIf.value)));
  /** What chips lack, by id: it does not change with a what-if. */
  const lacking = computed<ReadonlyMap<string, Missing>>(
    () => new Map(every({}).flatMap(([id, roof]) => (isRoof(roof) ? [] : [[id, roof]]))),
  );
  const shownRoofs = computed(() =>
    state.shown.value.flatMap((id) => {
      const roof = roofs.value.get(id);
      return roof && isRoof(roof) ? [roof] : [];
    }),
  );
  const focusRoof = computed(() => {
    const roof = roofs.value.get(state.focusChip.value);
    return roof && isRoof(roof) ? roof : undefined;
  });
  let rested: Roof | undefined;
  /** The focus roof; while a control is dragging over very many kernels the one before: what adds up their times waits. */
  const restedRoof = computed(() => {
    if (!dragging.value || kernels.value.n <= MAX_KERNELS_LIVE) rested = paced.focusRoof.value;
    return rested;
  });
  const filtered = deriveRows(state, kernels, focusRoof);
  const longestFirst = computed(() => inOrder(filtered.timeOrder.value, filtered.rows.value));
  const drawn = computed(() => withTotals(kernels.value));
  /** Whether the totals of the program and its steps stand instead of the kernels. */
  const showsTotals = computed(() => state.scope.value === "program" && drawn.value.n > drawn.value.own);
  /** The rows of `drawn` that are points, where they have a place. */
  const drawnNow = computed(() => drawnRows(drawn.value, longestFirst.value, showsTotals.value));
  const points = computed(() => pointsOf(drawn.value, shownRoofs.value, focusRoof.value, drawnNow.value));
  const ranking = computed(() => rankingOf(kernels.value, longestFirst.value, restedRoof.value));
  const runs = computed(() => {
    const baseline = state.baseline.value;
    // The kernels of a graph are no run.
    return baseline && kernels.value.totalTime > 0 ? runsOf(baseline, kernels.value) : undefined;
  });

  const ceilings = computed(() => {
    const found = focusRoof.value ? possibleCeilings(focusRoof.value, memory.value, state.ceilings.value) : [];
    return found.length > 0 ? found : NO_CEILINGS;
  });
  // While a control is dragging no level goes away: it may be the one that is dragging.
  let kept: ReadonlySet<string> = new Set();
  const shownLevels = computed(() => {
    const roof = focusRoof.value;
    if (!roof) return [];
    const binding = new Set([...points.value.binding, ...(dragging.value ? kept : [])]);
    const levels = levelsDrawn(roof, binding, state.allLevels.value || points.value.n === 0);
    kept = new Set(levels.map(({ name }) => name));
    return levels;
  });
  const subRoofs = computed(() => {
    const roof = focusRoof.value;
    if (!roof) return [];
    // A ceiling comes and goes with the level that it lies under.
    const hidden = roof.levels.filter((level) => !shownLevels.value.some(({ name }) => name === level.name));
    const drawn = ceilings.value.filter(({ memory: level }) => !hidden.some(({ name }) => name === level));
    return subRoofsOf(roof, drawn, state.exposedComm.value, exposedText);
  });
  const unknownLevels = computed(() => {
    const levels = [...(focusRoof.value?.chip.memories ?? [])];
    return memory.value === ALL_LEVELS ? levels.flatMap(([name, rate]) => (rate === null ? [name] : [])) : [];
  });
  // What is told together keeps one pace: a point would stand above the roof of a moment ago.
  const together = {
    chips,
    focusChip: state.focusChip,
    roofs,
    shownRoofs,
    focusRoof,
    shownLevels,
    subRoofs,
    drawn,
    points,
  };
  const paced = throttled({ ...together, possibleCeilings: ceilings, fused: workload }, dragging);

  return {
    /** With precision "auto" the one that all kernels compute in, which the roofs have of chips that have it. */
    commonPrecision: common,
    roofs,
    lacking,
    shownRoofs,
    focusRoof,
    restedRoof,
    /** What panels tell of: it follows a control that is dragging at a pace that can be read. */
    throttled: paced,
    ...filtered,
    /** The table that points are of: the kernels and, after them, the totals of their program. */
    drawn,
    drawnRows: drawnNow,
    /** The rows of kernels that pass, those that take longest first. */
    longestFirst,
    showsTotals,
    points,
    /** Which of the kernels that pass to fix first, on the focus chip. */
    ranking,
    /** What has become of the kernels of the baseline. */
    runs,
    possibleCeilings: ceilings,
    subRoofs,
    /** The levels of the focus roof that have a line of their own. */
    shownLevels,
    /** With all levels, those of the focus chip without a bandwidth. */
    unknownLevels,
  };
}
