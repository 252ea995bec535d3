// Curves that were frozen: a roof as it stood and where its kernels were, and what has moved since.

import type { ReadonlySignal } from "@preact/signals";
import { type Points, pointsOf } from "../roofline/points.ts";
import { ALL_LEVELS, type Roof } from "../roofline/roofline.ts";
import { isTotal } from "../roofline/totals.ts";
import { memoize } from "../ui/memoize.ts";
import { type Kernels, textAt } from "../wire/columns.ts";
import type { Snapshot } from "../wire/types.ts";
import { snapshotWords as words } from "../words/words.ts";
import type { Sync } from "./sync.ts";

/** What stands on the chart. */
interface DrawnKernels {
  readonly kernels: Kernels;
  /** The rows that are drawn, those that take longest first. */
  readonly rows: Int32Array;
  readonly points: Points;
}

/** The same as it changes, and whose roof is frozen. */
interface Now {
  readonly focusRoof: ReadonlySignal<Roof | undefined>;
  readonly shownRoofs: ReadonlySignal<readonly Roof[]>;
  readonly drawn: ReadonlySignal<Kernels>;
  readonly longestFirst: ReadonlySignal<Int32Array>;
  readonly showsTotals: ReadonlySignal<boolean>;
  readonly points: ReadonlySignal<Points>;
}

/** A kernel that stands elsewhere than in a snapshot. */
export interface KernelChange {
  /** Its point now. */
  readonly index: number;
  readonly row: number;
  readonly from: { readonly ai: number; readonly rate: number };
  /** Its rate now over that of then, and its intensity. */
  readonly ratio: number;
  readonly intensity: number;
}

/** So many kernels a snapshot keeps, and so long its name may be. */
const MAX_SNAPSHOT_KERNELS = 200;
export const MAX_SNAPSHOT_NAME = 80;
/** What moved less than this stands where it was. */
const MIN_RELATIVE_CHANGE = 0.03;

/** Whether a ratio says that something has changed. */
export const hasMoved = (ratio: number) => ratio > 0 && Math.abs(ratio - 1) > MIN_RELATIVE_CHANGE;

export function createSnapshots({ signals: { snapshots }, set }: Sync, now: Now) {
  const change = (next: readonly Snapshot[]) => set({ snapshots: next });
  const edit = (place: number, part: Partial<Snapshot>) =>
    change(snapshots.value.map((one, at) => (at === place ? { ...one, ...part } : one)));
  return {
    /** Keep the focus roof as it stands; nothing where there is none. */
    freeze(name = "") {
      const { focusRoof, shownRoofs, drawn, longestFirst, showsTotals, points } = now;
      if (!focusRoof.value) return;
      const taken = snapshots.value.map((one) => one.name);
      const free = Array.from({ length: taken.length + 1 }, (_, at) => words.name(at + 1));
      const own = name || free.find((other) => !taken.includes(other)) || words.name(taken.length + 1);
      const [kernels, rows] = [drawn.value, longestFirst.value];
      // As Python does, it keeps kernels also where their totals are on show.
      const hidden = showsTotals.value && pointsOf(kernels, shownRoofs.value, focusRoof.value, rows);
      const standing = { kernels, rows, points: hidden || points.value };
      change([...snapshots.value, frozen(own, focusRoof.value, standing)]);
    },
    renameSnapshot: (place: number, name: string) => edit(place, { name }),
    hideSnapshot: (place: number, hidden: boolean) => edit(place, { hidden }),
    deleteSnapshot: (place: number) => change(snapshots.value.filter((_, at) => at !== place)),
  };
}

/** A level, or "all". */
export const memoryOf = ({ levels, level }: Roof) => (levels.length > 1 ? ALL_LEVELS : level);

function frozen(name: string, roof: Roof, { kernels, rows, points }: DrawnKernels): Snapshot {
  const places = new Map<string, Snapshot["kernels"][number]>();
  for (const row of rows) {
    const [own, index] = [textAt(kernels.name, row), points.home[row] ?? -1];
    // Of one name the one that takes longest.
    if (!own || index < 0 || places.has(own)) continue;
    places.set(own, [own, points.x[index] as number, points.y[index] as number]);
    if (places.size === MAX_SNAPSHOT_KERNELS) break;
  }
  return {
    ...{ name, chip: roof.chip.id, precision: roof.precision, peak: roof.peak, bandwidth: roof.bandwidth },
    memory: memoryOf(roof),
    hidden: false,
    kernels: [...places.values()],
  };
}

const firsts = memoize<ReadonlyMap<string, number>>();

/** Of each of these names the row that takes longest. */
const firstRows = (snapshot: Snapshot, kernels: Kernels, rows: Int32Array) =>
  firsts(snapshot, [kernels.name, rows], () => {
    const names = new Set(snapshot.kernels.map(([name]) => name));
    const wanted = kernels.name.values.map((name) => name !== null && names.has(name));
    const found = new Map<string, number>();
    for (const row of rows) {
      if (isTotal(kernels, row) || !wanted[kernels.name.codes[row] as number]) continue;
      const name = textAt(kernels.name, row) as string;
      if (!found.has(name)) found.set(name, row);
    }
    return found;
  });

/** Which kernels of a snapshot stand elsewhere now, those that took longest first. */
export function movesSince(snapshot: Snapshot, { kernels, rows, points }: DrawnKernels): KernelChange[] {
  const found = firstRows(snapshot, kernels, rows);
  return snapshot.kernels.flatMap(([name, ai, rate]): KernelChange[] => {
    const row = found.get(name) ?? -1;
    const index = points.home[row] ?? -1;
    if (index < 0) return [];
    const [x, ratio] = [points.x[index] as number, (points.y[index] as number) / rate];
    // From FLOP/s to bytes/s nothing leads.
    if ((x === 0) !== (ai === 0)) return [];
    const intensity = x === ai ? 1 : x / ai;
    return hasMoved(ratio) || hasMoved(intensity) ? [{ index, row, from: { ai, rate }, ratio, intensity }] : [];
  });
}
