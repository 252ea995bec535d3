// The layers of the roofline plane. They are computed from the state, the size and the theme, without the DOM. The
// screen and the saved pictures draw the same layers.

import { computed, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { type Points, pointsOf } from "../roofline/points.ts";
import type { Store } from "../state/store.ts";
import { memoize } from "../ui/memoize.ts";
import { openWords, strings } from "../words/words.ts";
import type { Drawing } from "./drawing.ts";
import type { PlacedLabel } from "./labels/engine.ts";
import { bentLineBoxes, gapBox } from "./labels/obstacles.ts";
import { arrowLabels, type LabelContext, rooflineLabels } from "./labels/roofline_labels.ts";
import { Axes, RidgeTicks } from "./layers/axes.tsx";
import { Clip, frameOf } from "./layers/clip.tsx";
import { earlierPoints, RunArrows, runArrows, seriesArrows } from "./layers/compare_runs.tsx";
import { Gaps, gapsOf, Joins, Ties } from "./layers/gaps.tsx";
import { LatencySlope, latencyBoxes, latencyLabelOf, latencyLineOf } from "./layers/latency.tsx";
import { Leaders, OffScaleSigns } from "./layers/marks.tsx";
import { type Ghost, ghostsOf, hollowGhosts, MovedKernels, noteLabels } from "./layers/moved_kernels.tsx";
import { focusWash, Roofs } from "./layers/roofs.tsx";
import { Rulers, rulerBeside } from "./layers/rulers.tsx";
import { changesSince, Ghosts, shownSnapshots, snapshotLabels } from "./layers/snapshots.tsx";
import { glided, type SpeedUps, speedUpsOf, TrailMarks, trailLines } from "./layers/trails.tsx";
import { lengthOf } from "./paths.ts";
import { sceneOf } from "./roofline_scene.ts";
import type { Scales, Size } from "./scales.ts";
import { geometryOf, heaviestRows, joinsOf, pointColours, type Scene, tiesOf } from "./scene.ts";
import type { Theme } from "./theme.ts";

type RooflineData = ReturnType<typeof rooflineData>;
type RooflineMarks = ReturnType<typeof rooflineMarks>;

/** Returns the values that only the roofline plane derives from the state. */
export function rooflineData(store: Store, points: ReadonlySignal<Points>) {
  const on = (kernels: Parameters<typeof pointsOf>[0]) =>
    pointsOf(kernels, store.rates.shownRoofs.value, store.rates.focusRoof.value);
  return {
    points,
    heaviest: computed(() => heaviestRows(store.rows.drawnRows.value, store.rows.drawn.value)),
    /** The points of the parts of merged kernels. */
    parts: computed(() => store.workload.trails.value && on(store.workload.trails.value.parts)),
    speedUps: computed((): SpeedUps => {
      const [trails, roof] = [store.workload.trails.value, store.rates.focusRoof.value];
      return trails && roof ? speedUpsOf(trails, store.rows.kernels.value, roof) : new Map();
    }),
    earlier: computed(() => {
      const runs = store.rows.runs.value;
      return runs && earlierPoints(runs, points.value, store.rates.shownRoofs.value, store.rates.focusRoof.value);
    }),
    /** The points that a question hides. The axes have room for them, so that the marker reaches their places. */
    hidden: computed(() =>
      store.rows.hidden.value.length === 0
        ? undefined
        : pointsOf(
            store.rows.drawn.value,
            store.rates.shownRoofs.value,
            store.rates.focusRoof.value,
            store.rows.hidden.value,
          ),
    ),
    moved: computed(() => store.rows.moved.value && on(store.rows.moved.value.kernels)),
  };
}

/**
 * Builds the scene, and the marks of moved kernels. `before`: the last scene, and the axes that a drag holds. `share`:
 * the progress of the movement of merged points, from 0 to 1.
 */
export function rooflineScene(
  store: Store,
  { points, heaviest, parts, earlier, hidden, moved }: RooflineData,
  size: Size,
  theme: Theme,
  before: { readonly scene: Scene | undefined; readonly axes: Scales | undefined } = {
    scene: undefined,
    axes: undefined,
  },
  share = 1,
  isRoofHovered = false,
): { readonly scene: Scene; readonly ghosts: readonly Ghost[] } {
  const room = hidden.value ?? parts.value ?? earlier.value?.points;
  const resting = sceneOf(store, points.value, heaviest.value, size, theme, before, room, isRoofHovered);
  const { rows } = earlier.value ?? {};
  // While two runs are compared, the kernels that changed most have the badges.
  const compared = rows && {
    ...{ ranked: rows, named: rows },
    emphasised: resting.selected.size > 0 ? resting.selected : emphasised(rows, [], () => new Set(rows)),
  };
  const scene = glided(
    compared ? { ...resting, ...compared } : resting,
    store.workload.trails.value,
    parts.value,
    share,
  );
  return { scene, ghosts: ghostsOf(store, scene, moved.value) };
}

const emphasised = memoize<ReadonlySet<number>>();

/** Returns the marks of a scene: gaps, arrows, snapshots, a latency roof, and the labels of these marks. */
export function rooflineMarks(store: Store, data: RooflineData, scene: Scene, ghosts: readonly Ghost[], share = 1) {
  const { parts, earlier, speedUps } = data;
  const { trails } = store.workload;
  const { drawnRows, showsTotals } = store.rows;
  const signals = [parts, earlier, speedUps, trails, drawnRows, showsTotals, store.view.snapshots];
  const of = [...geometryOf(scene), ghosts, share, ...signals.map((one) => one.value)];
  const marks = knownMarks(scene.points, of, () => findMarks(store, data, scene, ghosts, share));
  return { ...marks, looks: hollowGhosts(pointColours(scene), ghosts) };
}

// Memoized: a change of the theme moves no mark and no label.
const [knownMarks, knownLabels] = [memoize<ReturnType<typeof findMarks>>(), memoize<PlacedLabel[]>()];

function findMarks(
  store: Store,
  { parts, earlier, speedUps }: RooflineData,
  scene: Scene,
  ghosts: readonly Ghost[],
  share: number,
) {
  // A moved kernel has a note instead of a gap arrow.
  const gaps = gapsOf(scene).filter(({ row }) => !ghosts.some((one) => one.row === row));
  const lines = trailLines(scene, store.workload.trails.value, parts.value, speedUps.value);
  const arrows = [...runArrows(scene, earlier.value), ...seriesArrows(scene)];
  const snapshots = shownSnapshots(store);
  const changes = changesSince(scene, snapshots.at(-1)?.snapshot, store.rows.drawnRows.value);
  const latency = store.lesson.hidesHint("points") ? undefined : latencyLineOf(scene);
  const bends = [
    ...[...lines, ...arrows, ...changes].flatMap(bentLineBoxes),
    ...(latency ? latencyBoxes(scene, latency) : []),
  ];
  const labels = [
    ...noteLabels(store, scene, ghosts),
    ...(latency ? [latencyLabelOf(scene, latency)] : []),
    // A merged kernel has several trails. The text with its speedup is written only once, at the longest trail with
    // room for the text.
    ...arrowLabels("trail", share < 1 ? [] : [...lines].sort((a, b) => lengthOf(b) - lengthOf(a))),
    // While two runs are compared, the badges name the changed kernels. Only a marked change has a text.
    ...arrowLabels(
      "run",
      arrows.filter(({ isMarked }) => isMarked),
    ),
    ...snapshotLabels(scene, snapshots, changes),
  ];
  return {
    ...{ ghosts, gaps, lines, arrows, snapshots, changes, latency, bends, labels },
    /** The boxes of all arrows. Rulers avoid these boxes. */
    boxes: [...gaps.map(gapBox), ...bends],
  };
}

/** Places all labels of the plane. */
export const placedLabels = (
  scene: Scene,
  { gaps, ghosts, bends, labels }: RooflineMarks,
  { before, isMoving = false }: Pick<LabelContext, "before" | "isMoving"> = {},
): PlacedLabel[] =>
  knownLabels(labels, [before, isMoving], () =>
    rooflineLabels(scene, gaps, { before, isMoving, others: labels, ghosts, arrows: bends }),
  );

// Memoized: while a roof is dragged, the axes do not change.
const axes = memoize<VNode>();

/** Whether a layer has something to draw. An empty layer would be compared with itself in every frame of a drag. */
const isAny = (marks: readonly unknown[]) => marks.length > 0;

/** Draws what is below the points. */
export function layersUnder(scene: Scene, { gaps, lines, arrows, snapshots, changes, latency }: RooflineMarks): VNode {
  const { scales, units, theme } = scene;
  const frame = frameOf(scales);
  const [xs, joins] = [tiesOf(scene), joinsOf(scene)];
  return (
    <>
      {focusWash(scene)}
      {axes(scales, [units, theme], () => (
        <Axes {...{ scales, units, theme }} />
      ))}
      <RidgeTicks {...scene} />
      {isAny(xs) && <Ties xs={xs} scales={scales} theme={theme} />}
      {isAny(snapshots) && <Ghosts scene={scene} shown={snapshots} changes={changes} />}
      <Roofs {...scene} />
      {latency && <LatencySlope line={latency} scales={scales} theme={theme} />}
      {isAny(joins) && (
        <Clip box={scales.whole ? scales.plot : frame}>
          <Joins joins={joins} marked={scene.marked} theme={theme} />
        </Clip>
      )}
      {isAny([...gaps, ...arrows, ...lines]) && (
        <Clip box={frame}>
          <Gaps gaps={gaps} theme={theme} />
          <RunArrows arrows={arrows} theme={theme} />
          <TrailMarks lines={lines} theme={theme} />
        </Clip>
      )}
    </>
  );
}

/**
 * Draws what is above the points and below the labels. `dragged`: see `MovedKernels`. `rulers`: the layer of rulers, if
 * rulers are shown.
 */
export function layersOver(
  scene: Scene,
  { ghosts, looks }: RooflineMarks,
  labels: readonly PlacedLabel[],
  dragged: number | undefined | null,
  rulers: ComponentChildren,
): VNode {
  const { scales, theme } = scene;
  return (
    <>
      {isAny(ghosts) && (
        <Clip box={frameOf(scales)}>
          <MovedKernels ghosts={ghosts} looks={looks} dragged={dragged} theme={theme} />
        </Clip>
      )}
      <OffScaleSigns scene={scene} />
      <Leaders labels={labels} scene={scene} />
      {rulers}
      {emptyPlane(scene).map((line, at) => (
        <text
          key={line}
          x={scales.width / 2}
          y={scales.height / 2 + 20 * at}
          text-anchor="middle"
          font-size={14}
          fill={theme.muted}
        >
          {line}
        </text>
      ))}
    </>
  );
}

/** Returns the lines of text that say why nothing is drawn; none if something is. */
function emptyPlane({ points, roofs, names, isTold }: Scene): readonly string[] {
  // The text would lie across a roof.
  if (points.n > 0 || roofs.length > 0) return [];
  if (points.notDrawn > 0) return strings.noPlaces(points.notDrawn).split("\n");
  if (names.size === 0) return [openWords.invite];
  return isTold ? [] : [strings.noChip];
}

/** Draws the plane at rest. */
export function rooflineDrawing(store: Store, size: Size, theme: Theme): Drawing {
  const data = rooflineData(store, store.rows.points);
  const { scene, ghosts } = rooflineScene(store, data, size, theme);
  const marks = rooflineMarks(store, data, scene, ghosts);
  const labels = placedLabels(scene, marks);
  const pointed = scene.points.home[store.rows.pointed.value ?? -1] ?? -1;
  const { ruler }: ReturnType<typeof rulerBeside> = store.lesson.hidesHint("points")
    ? {}
    : rulerBeside(store, scene, labels, pointed, [], marks.boxes);
  const rulers = <Rulers scene={scene} names={labels} arrows={marks.boxes} ruler={ruler} />;
  return {
    ...{ scene, looks: marks.looks, labels },
    under: layersUnder(scene, marks),
    over: layersOver(scene, marks, labels, null, rulers),
  };
}
