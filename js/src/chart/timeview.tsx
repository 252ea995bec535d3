// The time view: how long each launch computes and moves bytes at the least, and how long it took.

import { type Signal, useComputed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import type { Theme } from "../theme.ts";
import { isTotal } from "../totals.ts";
import { createPainter } from "./kernels.ts";
import { Labels, Rings, Rubber } from "./marks.tsx";
import { usePointing } from "./pointing.ts";
import { heaviestRows, pointColours } from "./scene.ts";
import { TimeAxes, TimeGaps, TimeLines } from "./timeframe.tsx";
import { timeLabels } from "./timelabels.ts";
import { timePointsOf } from "./timepoints.ts";
import { judgeOf, type TimeScene, timeGaps, timeSceneOf } from "./timescene.ts";
import { Tooltip } from "./tooltip.tsx";

interface TimeChartProps {
  readonly store: Store;
  readonly width: number;
  readonly theme: Theme;
  /** How far the widget goes on below the chart, px. */
  readonly below: number;
  /** Set to the focus chip while an unmeasured kernel is pointed at. */
  readonly pointedChip: Signal<string | undefined>;
}

export function TimeChart({ store, width, theme, below, pointedChip }: TimeChartProps) {
  const heaviest = useComputed(() => heaviestRows(store.drawnRows.value, store.drawn.value));
  const points = useComputed(() => {
    const kernels = store.drawn.value;
    // Beside its kernels a program's time would leave them no room.
    const rows = store.drawnRows.value.filter((row) => store.showsTotals.value || !isTotal(kernels, row));
    return timePointsOf(kernels, judgeOf(store), rows);
  });
  const last = useRef<TimeScene>(undefined);
  const scene = timeSceneOf(store, points.value, heaviest.value, width, theme, last.current);
  const { kernels, focus, scales, at } = scene;
  const { index, rubber, handlers } = usePointing(store, scene, pointedChip);

  const gaps = timeGaps(scene);
  const choices = useRef<ReadonlyMap<string, number>>(new Map());
  // Names stand still beside their points while a rate is dragged or a point is pointed at.
  const still = store.held.value || index >= 0;
  const labels = timeLabels(scene, gaps, still ? choices.current : undefined);

  const canvas = useRef<HTMLCanvasElement>(null);
  const paint = useMemo(createPainter, []);
  useLayoutEffect(() => {
    last.current = scene;
    if (!still) choices.current = new Map(labels.map(({ key, choice }) => [key, choice]));
    const picture = { points: scene.points, at, ...pointColours(scene), scales };
    if (canvas.current) paint(canvas.current, { ...picture, outline: theme.background, alert: theme.alert });
  });
  const axes = useMemo(() => <TimeAxes scales={scales} theme={theme} />, [scales, theme]);
  const size = { width: scales.width, height: scales.height };
  const box = { width: `${size.width}px`, height: `${size.height}px` };

  return (
    <div
      class="roofwidget-chart"
      style={box}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the kernels
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      aria-label={strings.time.chart(focus?.chip.name ?? "", store.totals.value.kernels)}
      {...handlers}
    >
      <svg {...size} aria-hidden="true">
        {axes}
        <TimeLines scene={scene} />
        <TimeGaps gaps={gaps} marked={scene.marked} theme={theme} />
      </svg>
      <canvas ref={canvas} style={box} />
      <svg class="roofwidget-labels" {...size} aria-hidden="true">
        <Rings scene={scene} pointed={index} />
        <Labels labels={labels} theme={theme} />
        <Rubber box={rubber} />
      </svg>
      {focus && index >= 0 && (
        <Tooltip
          kernels={kernels}
          row={scene.points.row[index] as number}
          roof={focus}
          view="time"
          x={at.x[index] as number}
          y={at.y[index] as number}
          scales={scales}
          below={below}
        />
      )}
    </div>
  );
}
