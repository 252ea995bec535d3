// Snapshots: earlier roofs and kernels as ghosts, and arrows to the current roofs and kernels.

import type { Roof } from "../../roofline/roofline.ts";
import { hasMoved, type KernelChange, movesSince } from "../../state/snapshots.ts";
import type { Store } from "../../state/store.ts";
import { formatFactor } from "../../text/numbers.ts";
import type { Snapshot } from "../../wire/types.ts";
import { snapshotWords as words } from "../../words/words.ts";
import { type Label, MUTED, TEXT } from "../labels/engine.ts";
import { RULES } from "../labels/rules.ts";
import { arrowPath, bendOf, circlePath, type LabelledArrow, roofPath, type Spot } from "../paths.ts";
import { radiusAt, radiusOf } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { isNarrow, spotAt, stripMiddle } from "../scales.ts";
import { isInSight, type Scene } from "../scene.ts";
import { Clip } from "./clip.tsx";

interface ShownSnapshot {
  readonly snapshot: Snapshot;
  /** The snapshot's index among all snapshots. The index is part of the key of the snapshot's label. */
  readonly place: number;
}

/** Maximum number of arrows in a wide chart and in a narrow chart. More arrows would hide the chart. */
const [MAX_CHANGES, MAX_CHANGES_IN_NARROW_CHART] = [16, 4];
/**
 * Positions of the arrows from the snapshot's roof to the current roof. ON_FLAT: share of the flat's length. ON_SLOPE:
 * share of the slope's length.
 */
const [ON_FLAT, ON_SLOPE] = [0.35, 0.3];

/**
 * Returns the snapshots that are not hidden. While totals are shown, the current kernels are not drawn, so the
 * snapshots have no kernels.
 */
export const shownSnapshots = ({
  view: { snapshots },
  rows: { showsTotals },
}: Pick<Store, "view" | "rows">): ShownSnapshot[] =>
  snapshots.value.flatMap((snapshot, place) =>
    snapshot.hidden ? [] : [{ snapshot: showsTotals.value ? { ...snapshot, kernels: [] } : snapshot, place }],
  );

/** Returns the position of a snapshot's kernel, px. Returns undefined if the kernel is out of sight. */
function spotOf({ scales }: Scene, ai: number, rate: number): Spot | undefined {
  const { plot, strip } = scales;
  if (ai === 0 && !strip) return undefined;
  const x = ai === 0 ? stripMiddle(scales) : scales.x(ai);
  const at: Spot = [Number.isFinite(ai) ? x : plot.right - 8, (ai === 0 && strip ? strip.y : scales.y)(rate)];
  return isInSight(scales, ai, ...at) ? at : undefined;
}

/**
 * Returns arrows for what has changed since the newest snapshot: the roof's peak, the roof's bandwidth, and the kernels
 * that took longest.
 */
export function changesSince(scene: Scene, snapshot: Snapshot | undefined, rows: Int32Array): LabelledArrow[] {
  if (!snapshot) return [];
  const moves = movesSince(snapshot, { ...scene, rows });
  return [...(scene.focus ? roofChanges(scene, snapshot, scene.focus) : []), ...kernelChanges(scene, moves)];
}

function kernelChanges(scene: Scene, moves: readonly KernelChange[]): LabelledArrow[] {
  const { points, at, marked, selected, units } = scene;
  const changes: LabelledArrow[] = [];
  for (const { index, row, from, ratio, intensity } of moves) {
    if (changes.length === (isNarrow(scene.scales) ? MAX_CHANGES_IN_NARROW_CHART : MAX_CHANGES)) break;
    const start = spotOf(scene, from.ai, from.rate);
    const end = spotAt(at, index);
    if (!start || !isShown(scene, index) || (selected.size > 0 && !selected.has(row))) continue;
    const text = hasMoved(ratio)
      ? words.faster(formatFactor(ratio))
      : words.intensity(formatFactor(intensity), units.terms);
    const rim = radiusAt(points, index);
    changes.push({
      ...{ key: `moved ${row}`, text, from: start, bend: bendOf(start, end), to: end, rim },
      isMarked: marked.includes(row),
    });
  }
  return changes;
}

function roofChanges({ scales }: Scene, before: Snapshot, now: Roof): LabelledArrow[] {
  const { x, y } = scales;
  const upright = (key: string, text: string, ai: number, from: number, to: number): LabelledArrow => {
    const start: Spot = [x(ai), y(from)];
    return { key, text, from: start, bend: start, to: [x(ai), y(to)], rim: 0, isMarked: true };
  };
  const changes: LabelledArrow[] = [];
  const [low, high] = x.domain;
  const ridge = Math.max(low, before.peak / before.bandwidth, now.peak / now.bandwidth);
  if (hasMoved(now.peak / before.peak) && ridge < high) {
    const text = words.peak(formatFactor(now.peak / before.peak));
    changes.push(upright("moved peak", text, ridge * (high / ridge) ** ON_FLAT, before.peak, now.peak));
  }
  const first = Math.max(low, y.domain[0] / Math.min(before.bandwidth, now.bandwidth));
  const last = Math.min(high, before.peak / before.bandwidth, now.peak / now.bandwidth);
  // If the user has chosen another memory level, the bandwidth differs, but the roof itself has not changed. The
  // bandwidth then has no arrow.
  const isOther = before.chip === now.chip.id && before.memory !== now.memory;
  if (hasMoved(now.bandwidth / before.bandwidth) && first < last && !isOther) {
    const text = words.bandwidth(now.level, formatFactor(now.bandwidth / before.bandwidth));
    const ai = first * (last / first) ** ON_SLOPE;
    changes.push(upright("moved bandwidth", text, ai, ai * before.bandwidth, ai * now.bandwidth));
  }
  const isSeen = ([left, top]: Spot) => isInSight(scales, x.invert(left), left, top);
  return changes.filter(({ from, to }) => isSeen(from) && isSeen(to));
}

/** Returns the labels of snapshots: the snapshots' names along their roofs, and the factors of all changes. */
export function snapshotLabels(
  scene: Scene,
  shown: readonly ShownSnapshot[],
  changes: readonly LabelledArrow[],
): Label[] {
  const { colours, scales } = scene;
  const names = shown.map(
    ({ snapshot, place }): Label => ({
      ...{ kind: "snapshot", key: `snapshot ${place}`, text: snapshot.name },
      colour: colours.has(snapshot.chip) ? snapshot.chip : MUTED,
      positions: RULES.snapshot.positions(snapshot, scales),
    }),
  );
  const ratios = changes.map((change): Label => {
    const { key, text, from, bend, isMarked } = change;
    // The label of a roof's change has the roof's colour. Otherwise the label could seem to belong to the flat of
    // another roof.
    const colour = (from === bend && scene.focus?.chip.id) || TEXT;
    return { kind: "change", key, text, bold: isMarked, colour, positions: RULES.change.positions(change) };
  });
  return [...ratios, ...names];
}

interface GhostsProps {
  readonly scene: Scene;
  readonly shown: readonly ShownSnapshot[];
  readonly changes: readonly LabelledArrow[];
}

export function Ghosts({ scene, shown, changes }: GhostsProps) {
  const { scales, theme, colours, points } = scene;
  const radius = radiusOf(points) - 0.5;
  return (
    <g fill="none">
      <Clip box={scales.plot}>
        {shown.map(({ snapshot, place }) => (
          <path
            key={place}
            data-snapshot={place}
            d={roofPath(snapshot, scales)}
            stroke={colours.get(snapshot.chip) ?? theme.other}
            stroke-width={1}
            stroke-dasharray="2 3"
          />
        ))}
      </Clip>
      {shown.map(({ snapshot, place }) => (
        <path
          key={place}
          data-kernels={place}
          // All circles are one path, because 200 circles would be 200 elements.
          d={snapshot.kernels
            .map(([, ai, rate]) => spotOf(scene, ai, rate))
            .map((at) => (at ? circlePath(at, radius) : ""))
            .join("")}
          stroke={theme.text}
          stroke-opacity={0.45}
        />
      ))}
      {changes.map((change) => (
        <path
          key={change.key}
          data-change={change.key}
          d={arrowPath(change, change.rim)}
          stroke={theme.text}
          stroke-width={change.isMarked ? 1.75 : 1.25}
          stroke-opacity={change.isMarked ? 0.95 : 0.6}
        />
      ))}
    </g>
  );
}
