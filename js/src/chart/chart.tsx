// The chart: its layers one above the other.

import { type ReadonlySignal, type Signal, useComputed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Points, pointsOf } from "../points.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import type { Theme } from "../theme.ts";
import { annotations, gapsOf } from "./annotations.ts";
import { Axes } from "./axes.tsx";
import { earlierPoints, RunArrows, runArrows, runLabels } from "./compare.tsx";
import { Gaps, Joins, Ties } from "./gaps.tsx";
import { useGlide } from "./glide.ts";
import { Grips, useGrab, useGrip } from "./grab.tsx";
import { createPainter, radiusOf } from "./kernels.ts";
import { Labels, Leaders, Rings, Rubber } from "./marks.tsx";
import { usePointing } from "./pointing.ts";
import { Roofs } from "./roofs.tsx";
import { heaviestRows, joinsOf, pointColours, type Scene, sceneOf, tiesOf } from "./scene.ts";
import { Tooltip } from "./tooltip.tsx";
import { glided, TrailMarks, trailLines } from "./trails.tsx";

interface ChartProps {
  readonly store: Store;
  readonly width: number;
  readonly theme: Theme;
  readonly points: ReadonlySignal<Points>;
  /** How far the widget goes on below the chart, px. */
  readonly below: number;
  /** Set to the chip on whose roof an unmeasured kernel is pointed at. */
  readonly pointedChip: Signal<string | undefined>;
}

export function Chart({ store, width, theme, points, below, pointedChip }: ChartProps) {
  const heaviest = useComputed(() => heaviestRows(store.drawnRows.value, store.drawn.value));
  const last = useRef<Scene>(undefined);
  const trails = store.trails.value;
  const parts = useComputed(() => {
    const kernels = store.trails.value?.parts;
    return kernels && pointsOf(kernels, store.shownRoofs.value, store.focusRoof.value);
  });
  const earlier = useComputed(() => {
    const runs = store.runs.value;
    return runs && earlierPoints(runs, points.value, store.shownRoofs.value, store.focusRoof.value);
  });
  const share = useGlide(trails?.merges);
  const room = parts.value ?? earlier.value?.points;
  const grip = useGrip();
  const before = { scene: last.current, axes: grip.value?.scales };
  const resting = sceneOf(store, points.value, heaviest.value, width, theme, before, room);
  const scene = glided(resting, trails, parts.value, share);
  const { kernels, roofs, focus, scales, at } = scene;
  const { index, rubber, handlers } = usePointing(store, scene, pointedChip, useGrab(store, scene, grip));

  const gaps = gapsOf(scene, store.ranking.value.rows);
  const choices = useRef<ReadonlyMap<string, number>>(new Map());
  // Names stand still while a roof is dragged or a point is pointed at.
  const still = store.held.value || index >= 0;
  const lines = trailLines(scene, trails, parts.value);
  const arrows = runArrows(scene, earlier.value);
  const others = runLabels(scene, arrows);
  const labels = annotations(scene, gaps, still ? choices.current : undefined, share < 1 ? [] : lines, others);

  const canvas = useRef<HTMLCanvasElement>(null);
  const paint = useMemo(createPainter, []);
  useLayoutEffect(() => {
    last.current = scene;
    if (!still) choices.current = new Map(labels.map(({ key, choice }) => [key, choice]));
    const outline = theme.background;
    if (canvas.current) {
      const inMotion = store.held.value;
      const signs = { ...pointColours(scene), outline, alert: theme.alert };
      paint(canvas.current, { points: points.value, at, scales, inMotion, ...signs });
    }
  });
  const axes = useMemo(
    () => <Axes scales={scales} theme={theme} focus={focus} />,
    [scales, theme, scales.strip && focus?.bandwidth],
  );
  const size = { width: scales.width, height: scales.height };
  const box = { width: `${size.width}px`, height: `${size.height}px` };
  const roof = index < 0 ? undefined : (roofs[points.value.roof[index] as number] ?? focus ?? roofs[0]);

  return (
    <div
      class="roofwidget-chart"
      style={box}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the kernels
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      aria-label={strings.chart(roofs.map(({ chip }) => chip.name).join(", "), store.totals.value.kernels)}
      {...handlers}
    >
      <svg {...size} aria-hidden="true">
        {axes}
        <Ties xs={tiesOf(scene)} scales={scales} theme={theme} />
        <Roofs {...scene} />
        <Joins joins={joinsOf(scene)} marked={scene.marked} theme={theme} />
        <Gaps gaps={gaps} theme={theme} />
        <RunArrows arrows={arrows} theme={theme} />
        <TrailMarks lines={lines} radius={radiusOf(points.value)} theme={theme} />
      </svg>
      <canvas ref={canvas} style={box} />
      <svg class="roofwidget-labels" {...size} aria-hidden="true">
        <Grips {...scene} />
        <Rings scene={scene} pointed={index} />
        <Leaders labels={labels} scene={scene} />
        <Labels labels={labels} theme={theme} />
        <Rubber box={rubber} />
        {roofs.length === 0 && points.value.n === 0 && (
          <text x={size.width / 2} y={size.height / 2} text-anchor="middle" font-size={14} fill={theme.muted}>
            {strings.noChip}
          </text>
        )}
      </svg>
      {roof && (
        <Tooltip
          kernels={kernels}
          row={points.value.row[index] as number}
          roof={roof}
          x={at.x[index] as number}
          y={at.y[index] as number}
          scales={scales}
          below={below}
        />
      )}
    </div>
  );
}
