// The layers of the time view. They are computed from the state, the size and the theme, without the DOM. The screen
// and the saved pictures draw the same layers.

import { computed } from "@preact/signals";
import type { VNode } from "preact";
import { isTotal } from "../../roofline/totals.ts";
import type { Store } from "../../state/store.ts";
import { memoize } from "../../ui/memoize.ts";
import { everyRow } from "../../wire/columns.ts";
import type { Drawing } from "../drawing.ts";
import type { PlacedLabel } from "../labels/engine.ts";
import type { LabelContext } from "../labels/roofline_labels.ts";
import { Clip, frameOf } from "../layers/clip.tsx";
import { Leaders } from "../layers/marks.tsx";
import { ghostsOf, hollowGhosts, MovedKernels, noteLabels } from "../layers/moved_kernels.tsx";
import type { Size } from "../scales.ts";
import { heaviestRows, pointColours } from "../scene.ts";
import type { Theme } from "../theme.ts";
import { TimeAxes, TimeGaps, TimeLines } from "./frame.tsx";
import { timeLabels } from "./labels.ts";
import { timePointsOf } from "./points.ts";
import { judgeOf, sceneWith, type TimeScene, timeGaps, timeSceneOf } from "./scene.ts";

type TimeData = ReturnType<typeof timeData>;
type TimeMarks = ReturnType<typeof timeMarks>;

/** Returns the values that only the time view derives from the state. */
export function timeData(store: Store) {
  const points = computed(() => {
    const kernels = store.rows.drawn.value;
    // If totals are hidden, they have no points in the scene. Otherwise the axes would extend to a program's total, and
    // there would be no room for the program's kernels.
    const rows = store.rows.drawnRows.value.filter((row) => store.rows.showsTotals.value || !isTotal(kernels, row));
    return timePointsOf(kernels, judgeOf(store), rows);
  });
  return {
    points,
    heaviest: computed(() => heaviestRows(store.rows.drawnRows.value, store.rows.drawn.value)),
    /** The moved kernels and their points. */
    after: computed(() => {
      const moved = store.rows.moved.value;
      if (!moved) return;
      const { rows, kernels } = moved;
      const drawn = everyRow(kernels).filter((at) => (points.value.home[rows[at] as number] ?? -1) >= 0);
      return { rows, kernels, points: timePointsOf(kernels, judgeOf(store), drawn) };
    }),
  };
}

/** Returns the marks of a scene: moved kernels, gaps, and the notes of moved kernels. */
export function timeMarks(store: Store, { after }: TimeData, scene: TimeScene) {
  const then = after.value && sceneWith(scene, after.value);
  const ghosts = ghostsOf(store, scene, then?.points, then?.at, scene.scales.outer);
  const gaps = timeGaps(scene);
  for (const gap of then ? timeGaps(then) : []) gaps.push({ ...gap, row: then?.rows[gap.row] as number });
  const looks = hollowGhosts(pointColours(scene), ghosts);
  return { ghosts, gaps, looks, notes: noteLabels(store, scene, ghosts) };
}

/** Places all labels of the view. */
export const placedLabels = (
  scene: TimeScene,
  { ghosts, gaps, notes }: TimeMarks,
  before?: LabelContext["before"],
): PlacedLabel[] => timeLabels(scene, gaps, { before, others: notes, ghosts });

// Memoized: while a rate is dragged, the axes do not change.
const axes = memoize<VNode>();

/** Draws what is below the points. */
export const layersUnder = (scene: TimeScene, { gaps }: TimeMarks): VNode => {
  const { scales, theme, marked } = scene;
  return (
    <>
      {axes(scales, [theme], () => (
        <TimeAxes scales={scales} theme={theme} />
      ))}
      <TimeLines scene={scene} />
      <Clip box={frameOf(scales)}>
        <TimeGaps gaps={gaps} marked={marked} theme={theme} />
      </Clip>
    </>
  );
};

/** Draws what is above the points and below the labels. */
export const layersOver = (scene: TimeScene, { ghosts, looks }: TimeMarks, labels: readonly PlacedLabel[]): VNode => (
  <>
    <Clip box={frameOf(scene.scales)}>
      <MovedKernels ghosts={ghosts} looks={looks} dragged={null} theme={scene.theme} />
    </Clip>
    <Leaders labels={labels} scene={scene} />
  </>
);

/** Draws the view at rest. */
export function timeDrawing(store: Store, size: Size, theme: Theme): Drawing {
  const data = timeData(store);
  const { points, heaviest, after } = data;
  const scene = timeSceneOf(store, points.value, heaviest.value, size, theme, undefined, after.value);
  const marks = timeMarks(store, data, scene);
  const labels = placedLabels(scene, marks);
  return {
    ...{ scene, looks: marks.looks, labels },
    under: layersUnder(scene, marks),
    over: layersOver(scene, marks, labels),
  };
}
