// The time view on the screen. It shows the minimum compute time, the minimum memory time and the measured time of each
// launch.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { whatIfRow } from "../../text/moves.ts";
import { useGesture } from "../../ui/gesture.ts";
import { strings } from "../../words/words.ts";
import type { ChartDrag } from "../gestures/chart_drag.ts";
import { usePointing } from "../gestures/pointing.ts";
import { cardOf, Tooltip } from "../layers/tooltip.tsx";
import { spotAt } from "../scales.ts";
import { type PlaneProps, Stage, useStableLabels } from "../stage.tsx";
import { layersOver, layersUnder, placedLabels, timeData, timeMarks } from "./layers.tsx";
import { type TimeScene, timeSceneOf } from "./scene.ts";

export function TimeChart({ store, size, theme, below, pointedChip, tools }: PlaneProps) {
  const data = useMemo(() => timeData(store), [store]);
  const { points, heaviest, after } = data;
  const last = useRef<TimeScene>(undefined);
  const scene = timeSceneOf(store, points.value, heaviest.value, size, theme, last.current, after.value);
  const { kernels, focus, scales, at } = scene;
  const gesture = useGesture<ChartDrag>();
  const pointing = usePointing({ store, scene, gesture, pointedChip });
  const { index } = pointing;
  const isMoving = store.view.isInDrag() || pointing.navigation.isMoving;
  useLayoutEffect(() => {
    last.current = scene;
  });

  const marks = timeMarks(store, data, scene);
  // Labels keep their places while a rate is dragged or the pointer is on a point.
  const labels = useStableLabels(isMoving || index >= 0, (before) => placedLabels(scene, marks, before));

  const [x, y] = spotAt(at, index);
  const row = scene.points.row[index] as number;
  return (
    <Stage
      store={store}
      scene={scene}
      tools={tools}
      label={strings.time.chart(focus?.chip.name ?? "", store.rows.totals.value.kernels)}
      pointing={pointing}
      looks={marks.looks}
      isMoving={isMoving}
      labels={labels}
      under={layersUnder(scene, marks)}
      over={layersOver(scene, marks, labels)}
    >
      {focus && index >= 0 && (
        <Tooltip
          {...cardOf({
            ...{ kernels, row, roof: focus, view: "time", scales, below },
            more: whatIfRow(store.rows.movedKernels.value, row),
            isBare: store.lesson.hidesHint("points"),
            terms: store.view.terms.value,
            colourBy: scene.colouring.key,
            ...{ x, y, names: labels },
          })}
        />
      )}
    </Stage>
  );
}
