// The time view: how long each launch computes and moves bytes at the least, and how long it took.

import { type Signal, useComputed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Size } from "../scales.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import type { Theme } from "../theme.ts";
import { isTotal } from "../totals.ts";
import { Clip, frameOf } from "./clip.tsx";
import { sightOf } from "./hits.ts";
import { textWidth } from "./labels.ts";
import { usePointing } from "./pointing.ts";
import { heaviestRows, pointColours } from "./scene.ts";
import { Stage, useStanding } from "./stage.tsx";
import { TimeAxes, TimeGaps, TimeLines } from "./timeframe.tsx";
import { timeLabels } from "./timelabels.ts";
import { timePointsOf } from "./timepoints.ts";
import { judgeOf, type TimeScene, timeGaps, timeSceneOf } from "./timescene.ts";
import { cardOf, Tooltip } from "./tooltip.tsx";

interface TimeChartProps {
  readonly store: Store;
  readonly size: Size;
  readonly theme: Theme;
  /** How far the widget goes on below the chart, px. */
  readonly below: number;
  /** Set to the focus chip while an unmeasured kernel is pointed at. */
  readonly pointedChip: Signal<string | undefined>;
}

export function TimeChart({ store, size, theme, below, pointedChip }: TimeChartProps) {
  const heaviest = useComputed(() => heaviestRows(store.drawnRows.value, store.drawn.value));
  const points = useComputed(() => {
    const kernels = store.drawn.value;
    // Beside its kernels a program's time would leave them no room.
    const rows = store.drawnRows.value.filter((row) => store.showsTotals.value || !isTotal(kernels, row));
    return timePointsOf(kernels, judgeOf(store), rows);
  });
  const last = useRef<TimeScene>(undefined);
  const scene = timeSceneOf(store, points.value, heaviest.value, size, theme, last.current);
  const { kernels, focus, scales, at } = scene;
  const pointing = usePointing(store, scene, pointedChip);
  const { index } = pointing;
  const isMoving = store.held.value || pointing.navigation.isMoving;
  useLayoutEffect(() => {
    last.current = scene;
  });

  const gaps = timeGaps(scene);
  // Names stand still beside their points while a rate is dragged or a point is pointed at.
  const labels = useStanding(isMoving || index >= 0, (choices) => timeLabels(scene, gaps, choices));
  const picture = {
    ...{ points: scene.points, at: sightOf(scene).at, inMotion: isMoving, ...pointColours(scene), scales },
    ...{ outline: theme.background, alert: theme.alert },
  };
  const axes = useMemo(() => <TimeAxes scales={scales} theme={theme} />, [scales, theme]);

  return (
    <Stage
      store={store}
      scene={scene}
      room={scales.plot.right - textWidth(strings.time.axisX, 12) - 8}
      label={strings.time.chart(focus?.chip.name ?? "", store.totals.value.kernels)}
      pointing={pointing}
      picture={picture}
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
    >
      {focus && index >= 0 && (
        <Tooltip
          {...cardOf({
            ...{ kernels, row: scene.points.row[index] as number, roof: focus, view: "time", scales, below },
            ...{ x: at.x[index] as number, y: at.y[index] as number, names: labels },
          })}
        />
      )}
    </Stage>
  );
}
