// Snapshots. A snapshot is a frozen roof with the places of its kernels. Kernels may have moved since the snapshot was
// made.

import { MEASURED, type Points, pointsOf } from "../roofline/points.ts";
import type { Roof } from "../roofline/roofline.ts";
import { isTotal } from "../roofline/totals.ts";
import { memoize } from "../ui/memoize.ts";
import { type Kernels, textAt } from "../wire/columns.ts";
import type { Snapshot } from "../wire/types.ts";
import { snapshotWords as words } from "../words/words.ts";
import type { derive } from "./derived.ts";
import type { Edits } from "./edits.ts";

/** The kernels on the chart. */
interface DrawnKernels {
  readonly kernels: Kernels;
  /** The drawn rows, longest time first. */
  readonly rows: Int32Array;
  readonly points: Points;
}

/** A kernel that has moved since a snapshot. */
export interface KernelChange {
  /** The index of the kernel's current point. */
  readonly index: number;
  readonly row: number;
  readonly from: { readonly ai: number; readonly rate: number };
  /** The current rate divided by the rate in the snapshot. */
  readonly ratio: number;
  /** The current intensity divided by the intensity in the snapshot. */
  readonly intensity: number;
}

export const MAX_SNAPSHOT_KERNELS = 200;
/** The maximum length of a snapshot's name, in characters. */
export const MAX_SNAPSHOT_NAME = 80;
/** If a rate or an intensity changed by at most this share, the kernel has not moved. */
const MIN_RELATIVE_CHANGE = 0.03;

/**
 * Returns whether a kernel has moved. `ratio` is the current rate divided by the rate in the snapshot, or the current
 * intensity divided by the intensity in the snapshot.
 */
export const hasMoved = (ratio: number) => ratio > 0 && Math.abs(ratio - 1) > MIN_RELATIVE_CHANGE;

export function createSnapshots({ signals: { snapshots }, set }: Edits, now: ReturnType<typeof derive>) {
  const change = (next: readonly Snapshot[]) => set({ snapshots: next });
  const edit = (place: number, part: Partial<Snapshot>) =>
    change(snapshots.value.map((one, at) => (at === place ? { ...one, ...part } : one)));
  return {
    /** Makes a snapshot of the focus roof, if there is a focus roof. */
    freeze(name = "") {
      const { focusRoof, shownRoofs, drawn, longestFirst, showsTotals, points } = now;
      if (!focusRoof.value) return;
      const usedNames = snapshots.value.map((one) => one.name);
      const free = Array.from({ length: usedNames.length + 1 }, (_, at) => words.name(at + 1));
      const own = name || free.find((other) => !usedNames.includes(other)) || words.name(usedNames.length + 1);
      const [kernels, rows] = [drawn.value, longestFirst.value];
      // A snapshot contains kernels even while the chart shows totals. Python does the same.
      const hidden = showsTotals.value && pointsOf(kernels, shownRoofs.value, focusRoof.value, rows);
      const shown = { kernels, rows, points: hidden || points.value };
      const place = shownRoofs.value.indexOf(focusRoof.value);
      change([...snapshots.value, frozen(own, focusRoof.value, shown, place)]);
    },
    renameSnapshot: (place: number, name: string) => edit(place, { name }),
    hideSnapshot: (place: number, hidden: boolean) => edit(place, { hidden }),
    deleteSnapshot: (place: number) => change(snapshots.value.filter((_, at) => at !== place)),
  };
}

/** Returns a snapshot of the roof. `place` is the index of the roof among the shown roofs. */
function frozen(name: string, roof: Roof, { kernels, rows, points }: DrawnKernels, place: number): Snapshot {
  const places = new Map<string, Snapshot["kernels"][number]>();
  for (const row of rows) {
    const [own, index] = [textAt(kernels.name, row), points.home[row] ?? -1];
    // If several kernels have the same name, keep the longest kernel.
    if (!own || index < 0 || places.has(own)) continue;
    // An unmeasured kernel may have points for other roofs only. Then the snapshot leaves out the kernel.
    if (![MEASURED, place].includes(points.roof[index] as number)) continue;
    places.set(own, [own, points.x[index] as number, points.y[index] as number]);
    if (places.size === MAX_SNAPSHOT_KERNELS) break;
  }
  return {
    name,
    chip: roof.chip.id,
    precision: roof.precision,
    peak: roof.peak,
    bandwidth: roof.bandwidth,
    memory: roof.memory,
    hidden: false,
    kernels: [...places.values()],
  };
}

const firsts = memoize<ReadonlyMap<string, number>>();

/** Returns a map from kernel name to the row with the longest time. */
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

/** Returns the kernels that have moved since a snapshot. The order is by the time in the snapshot, longest first. */
export function movesSince(snapshot: Snapshot, { kernels, rows, points }: DrawnKernels): KernelChange[] {
  const found = firstRows(snapshot, kernels, rows);
  return snapshot.kernels.flatMap(([name, ai, rate]): KernelChange[] => {
    const row = found.get(name) ?? -1;
    const index = points.home[row] ?? -1;
    if (index < 0) return [];
    const [x, ratio] = [points.x[index] as number, (points.y[index] as number) / rate];
    // Without FLOPs, the rate is in bytes/s and cannot be compared with FLOP/s.
    if ((x === 0) !== (ai === 0)) return [];
    const intensity = x === ai ? 1 : x / ai;
    return hasMoved(ratio) || hasMoved(intensity) ? [{ index, row, from: { ai, rate }, ratio, intensity }] : [];
  });
}
