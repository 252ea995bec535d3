// Values derived from the state of one model: roofs, points, and the drawn lines. slices.ts describes each.

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { commonPrecision, levelsDrawn, possibleCeilings, subRoofsOf } from "../roofline/ceilings.ts";
import { colouringOf } from "../roofline/colouring.ts";
import { runsOf } from "../roofline/compare_runs.ts";
import { inOrder } from "../roofline/filters.ts";
import { linkIn } from "../roofline/network.ts";
import { pointsOf } from "../roofline/points.ts";
import { rankingOf } from "../roofline/ranking.ts";
import type { Missing, Roof } from "../roofline/roofline.ts";
import { ALL_LEVELS, hasWhatIfs, isRoof, linkOf, PLAIN, roofElsewhere, roofOf } from "../roofline/roofline.ts";
import { drawnRows, withTotals } from "../roofline/totals.ts";
import { type Fusion, factsOf } from "../roofline/verdict.ts";
import { exposedText } from "../text/describe.ts";
import { verdictOf } from "../text/verdict.ts";
import { steady } from "../ui/equal.ts";
import { throttled } from "../ui/throttled.ts";
import type { Kernels } from "../wire/columns.ts";
import type { Chip, WhatIf } from "../wire/types.ts";
import { deriveRows } from "./filters.ts";
import type { Hidden } from "./lesson.ts";
import type { Signals } from "./traits.ts";
import type { Workload } from "./workload.ts";

interface Sources {
  readonly signals: Signals;
  /**
   * The shown kernels. These are the kernels of the graph if there is a graph. Otherwise, these are the kernels that
   * Python sent.
   */
  readonly kernels: ReadonlySignal<Kernels>;
  /** The same kernels without typed work. */
  readonly given: ReadonlySignal<Kernels>;
  readonly workload: ReadonlySignal<Workload | undefined>;
  /** The kernels that a question hides. */
  readonly hidden: ReadonlySignal<Hidden>;
  /** Whether a control is being dragged. */
  readonly dragging: ReadonlySignal<boolean>;
  isInDrag(): boolean;
}

const MAX_KERNELS_LIVE = 5000;
const NO_ROWS = new Int32Array();
const NO_CEILINGS: ReturnType<typeof possibleCeilings> = [];

export type Derived = ReturnType<typeof derive>;

export function derive({ signals: state, kernels, given, workload, hidden, dragging, isInDrag }: Sources) {
  const { chips, precision, memory, whatIf } = state;
  // Typed work has no precision. It must not change the precision of the roof.
  const common = computed(() => (precision.value === "auto" ? commonPrecision(given.value) : undefined));
  const conditions = computed(() => ({
    ...PLAIN,
    exposedComm: state.exposedComm.value,
    launchOverhead: state.launchOverhead.value,
  }));
  const precisionOf = ({ peaks }: Chip) =>
    common.value !== undefined && peaks.has(common.value) ? common.value : precision.value;
  const withChanges = (chip: Chip, changes: WhatIf) =>
    roofOf(chip, precisionOf(chip), memory.value, changes, conditions.value);
  // While a rate of one chip is dragged, the other chips keep the same roof objects. Therefore values memoized for
  // these roof objects stay valid.
  const ofChips = computed(() =>
    chips.value.map((chip) => {
      const own = computed(() => whatIf.value[chip.id]);
      return [chip.id, computed(() => withChanges(chip, own.value ? { [chip.id]: own.value } : {}))] as const;
    }),
  );
  const roofs = computed<ReadonlyMap<string, Roof | Missing>>(
    () => new Map(ofChips.value.map(([id, roof]) => [id, roof.value])),
  );
  const lacking = computed<ReadonlyMap<string, Missing>>(() => {
    const plain = chips.value.map((chip) => [chip.id, withChanges(chip, {})] as const);
    return new Map(plain.flatMap(([id, roof]) => (isRoof(roof) ? [] : [[id, roof]])));
  });
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
  const focusLink = steady(() => {
    const chip = chips.value.find(({ id }) => id === state.focusChip.value);
    return chip && linkIn(chip, whatIf.value, state.link.value);
  });
  const askedPrecision = computed(() => (focusRoof.value ?? shownRoofs.value[0])?.precision ?? "");
  let beforeDrag: Roof | undefined;
  const restedRoof = computed(() => {
    if (!dragging.value || kernels.value.n <= MAX_KERNELS_LIVE) beforeDrag = paced.focusRoof.value;
    return beforeDrag;
  });
  const filtered = deriveRows(state, kernels, focusRoof, hidden);
  const longestFirst = computed(() => inOrder(filtered.timeOrder.value, filtered.rows.value));
  const drawn = computed(() => withTotals(kernels.value));
  const colouring = computed(() => colouringOf(drawn.value, state.colourBy.value));
  const showsTotals = computed(() => state.scope.value === "program" && drawn.value.n > drawn.value.own);
  const drawnNow = computed(() =>
    hidden.value === "all" ? NO_ROWS : drawnRows(drawn.value, longestFirst.value, showsTotals.value),
  );
  const points = computed(() => pointsOf(drawn.value, shownRoofs.value, focusRoof.value, drawnNow.value));
  const ranking = computed(() => rankingOf(kernels.value, longestFirst.value, restedRoof.value));
  const runs = computed(() => {
    const baseline = state.baseline.value;
    // A comparison of runs needs times. The kernels of a graph have no times.
    return baseline && kernels.value.totalTime > 0 ? runsOf(baseline, kernels.value) : undefined;
  });

  /** The partition of the graph beside the best one, as soon as a search has found it. */
  const fusion = signal<Fusion | undefined>(undefined);
  /**
   * Returns what the chart shows. It is about all kernels, whichever filters are set. Undefined while a question hides
   * kernels, because it could tell the answer.
   */
  function verdict(partition: Fusion | undefined) {
    if (hidden.value === "all" || hidden.value.size > 0) return;
    const [table, roof] = [kernels.value, restedRoof.value];
    const judging = roof && (roofElsewhere(table, roof) ?? roof);
    const isWhatIf = judging !== undefined && hasWhatIfs(judging);
    const links =
      judging && judging === roof && judging.chip.link !== null
        ? ([linkOf(judging), judging.chip.link] as const)
        : undefined;
    const topology = state.topology.value;
    const sources = { kernels: table, roof: judging, runs: runs.value, fusion: partition, isWhatIf, links, topology };
    return verdictOf(factsOf(sources));
  }
  const headline = computed(() => verdict(fusion.value));
  const pictureHeadline = computed(() => verdict(undefined));

  const ceilings = computed(() => {
    const found = focusRoof.value ? possibleCeilings(focusRoof.value, memory.value, state.ceilings.value) : [];
    return found.length > 0 ? found : NO_CEILINGS;
  });
  // During a drag, no level disappears, because the user may be dragging this level.
  let lastLevels: ReadonlySet<string> = new Set();
  const shownLevels = computed(() => {
    const roof = focusRoof.value;
    if (!roof) return [];
    const binding = new Set([...points.value.binding, ...(isInDrag() ? lastLevels : [])]);
    const levels = levelsDrawn(roof, binding, state.allLevels.value || points.value.n === 0);
    lastLevels = new Set(levels.map(({ name }) => name));
    return levels;
  });
  const subRoofs = computed(() => {
    const roof = focusRoof.value;
    if (!roof) return [];
    // Hides the ceilings of a memory level if the level is hidden.
    const hidden = roof.levels.filter((level) => !shownLevels.value.some(({ name }) => name === level.name));
    const drawn = ceilings.value.filter(({ memory: level }) => !hidden.some(({ name }) => name === level));
    return subRoofsOf(roof, drawn, state.exposedRoofs.value, exposedText);
  });
  const unknownLevels = computed(() => {
    const levels = [...(focusRoof.value?.chip.memories ?? [])];
    return memory.value === ALL_LEVELS ? levels.flatMap(([name, rate]) => (rate === null ? [name] : [])) : [];
  });
  // These values are throttled together. Otherwise, the chart could draw a new point above an old roof.
  const together = { chips, focusChip: state.focusChip, roofs, shownRoofs, focusRoof, shownLevels, subRoofs, drawn };
  const paced = throttled({ ...together, points, possibleCeilings: ceilings, fused: workload }, dragging);
  // Each what-if of a rate makes a new roof. So the link, which is computed only where it is read, has their pace.
  const pacedLink = computed(() => {
    for (const { value } of [paced.roofs, paced.focusChip, state.link]) void value;
    return focusLink.peek();
  });

  return {
    commonPrecision: common,
    roofs,
    lacking,
    shownRoofs,
    focusRoof,
    focusLink,
    askedPrecision,
    restedRoof,
    /** Copies of the signals for panels. During a drag the copies are throttled, so that a person can read them. */
    throttled: { ...paced, focusLink: pacedLink },
    ...filtered,
    drawn,
    drawnRows: drawnNow,
    longestFirst,
    showsTotals,
    colouring,
    points,
    ranking,
    runs,
    headline,
    pictureHeadline,
    setFusion(found: Fusion | undefined) {
      fusion.value = found;
    },
    possibleCeilings: ceilings,
    subRoofs,
    shownLevels,
    unknownLevels,
  };
}
