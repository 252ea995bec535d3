// The time view. It shows the minimum compute time, the minimum memory time and the measured time of each launch.

import { useComputed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isTotal } from "../../roofline/totals.ts";
import { whatIfRow } from "../../text/what_if.ts";
import { useGesture } from "../../ui/gesture.ts";
import { everyRow } from "../../wire/columns.ts";
import { strings } from "../../words/words.ts";
import type { ChartDrag } from "../gestures/chart_drag.ts";
import { usePointing } from "../gestures/pointing.ts";
import { textWidth } from "../labels/text_fitting.ts";
import { Clip, frameOf } from "../layers/clip.tsx";
import { Leaders } from "../layers/marks.tsx";
import { ghostsOf, hollowGhosts, MovedKernels, noteLabels } from "../layers/moved_kernels.tsx";
import { cardOf, Tooltip } from "../layers/tooltip.tsx";
import { heaviestRows, pointColours } from "../scene.ts";
import { type PlaneProps, Stage, useStableLabels } from "../stage.tsx";
import { TimeAxes, TimeGaps, TimeLines } from "./frame.tsx";
import { timeLabels } from "./labels.ts";
import { timePointsOf } from "./points.ts";
import { judgeOf, sceneWith, type TimeScene, timeGaps, timeSceneOf } from "./scene.ts";

export function TimeChart({ store, size, theme, below, pointedChip }: PlaneProps) {
  const heaviest = useComputed(() => heaviestRows(store.drawnRows.value, store.drawn.value));
  const points = useComputed(() => {
    const kernels = store.drawn.value;
    // If totals are hidden, they have no points in the scene. Otherwise the axes would extend to a program's total, and
    // there would be no room for the program's kernels.
    const rows = store.drawnRows.value.filter((row) => store.showsTotals.value || !isTotal(kernels, row));
    return timePointsOf(kernels, judgeOf(store), rows);
  });
  const after = useComputed(() => {
    const moved = store.moved.value;
    if (!moved) return;
    const { rows, kernels } = moved;
    const drawn = everyRow(kernels).filter((at) => (points.value.home[rows[at] as number] ?? -1) >= 0);
    return { rows, kernels, points: timePointsOf(kernels, judgeOf(store), drawn) };
  });
  const last = useRef<TimeScene>(undefined);
  const scene = timeSceneOf(store, points.value, heaviest.value, size, theme, last.current, after.value);
  const { kernels, focus, scales, at } = scene;
  const gesture = useGesture<ChartDrag>();
  const pointing = usePointing({ store, scene, gesture, pointedChip });
  const { index } = pointing;
  const isMoving = store.dragging.value || pointing.navigation.isMoving;
  useLayoutEffect(() => {
    last.current = scene;
  });

  const then = after.value && sceneWith(scene, after.value);
  const ghosts = ghostsOf(store, scene, then?.points, then?.at, scales.outer);
  const gaps = timeGaps(scene);
  for (const gap of then ? timeGaps(then) : []) gaps.push({ ...gap, row: then?.rows[gap.row] as number });
  const others = noteLabels(store, scene, ghosts);
  const looks = hollowGhosts(pointColours(scene), ghosts);
  // Labels keep their places while a rate is dragged or the pointer is on a point.
  const labels = useStableLabels(isMoving || index >= 0, (before) =>
    timeLabels(scene, gaps, { before, others, ghosts }),
  );
  const axes = useMemo(() => <TimeAxes scales={scales} theme={theme} />, [scales, theme]);

  return (
    <Stage
      store={store}
      scene={scene}
      room={scales.plot.right - textWidth(strings.time.axisX) - 8}
      label={strings.time.chart(focus?.chip.name ?? "", store.totals.value.kernels)}
      pointing={pointing}
      looks={looks}
      isMoving={isMoving}
      labels={labels}
      under={
        <>
          {axes}
          <TimeLines scene={scene} />
          <Clip box={frameOf(scales)}>
            <TimeGaps gaps={gaps} marked={scene.marked} theme={theme} />
          </Clip>
        </>
      }
      over={
        <>
          <Clip box={frameOf(scales)}>
            <MovedKernels ghosts={ghosts} looks={looks} dragged={null} theme={theme} />
          </Clip>
          <Leaders labels={labels} scene={scene} />
        </>
      }
    >
      {focus && index >= 0 && (
        <Tooltip
          {...cardOf({
            ...{ kernels, row: scene.points.row[index] as number, roof: focus, view: "time", scales, below },
            more: whatIfRow(store.kernelWhatIfs.value, scene.points.row[index] as number),
            ...{ x: at.x[index] as number, y: at.y[index] as number, names: labels },
          })}
        />
      )}
    </Stage>
  );
}
