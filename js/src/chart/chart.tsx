// The roofline plane: roofs, kernels, labels, rulers and the tooltip.

import { type ReadonlySignal, useComputed } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Points, pointsOf } from "../roofline/points.ts";
import { whatIfRow } from "../text/what_if.ts";
import { useGesture } from "../ui/gesture.ts";
import { strings } from "../words/words.ts";
import type { ChartDrag } from "./gestures/chart_drag.ts";
import { useKernelDrag } from "./gestures/kernel_drag.ts";
import { usePointing } from "./gestures/pointing.ts";
import { RoofHandles } from "./gestures/roof_drag.tsx";
import { bentLineBoxes, gapBox } from "./labels/obstacles.ts";
import { arrowLabels, rooflineLabels } from "./labels/roofline_labels.ts";
import { textWidth } from "./labels/text_fitting.ts";
import { Axes, titleOf } from "./layers/axes.tsx";
import { Clip, frameOf } from "./layers/clip.tsx";
import { earlierPoints, RunArrows, runArrows } from "./layers/compare_runs.tsx";
import { Gaps, gapsOf, Joins, Ties } from "./layers/gaps.tsx";
import { Leaders } from "./layers/marks.tsx";
import { ghostsOf, hollowGhosts, MovedKernels, noteLabels } from "./layers/moved_kernels.tsx";
import { Roofs } from "./layers/roofs.tsx";
import { Rulers, rulerBeside } from "./layers/rulers.tsx";
import { changesSince, Ghosts, shownSnapshots, snapshotLabels } from "./layers/snapshots.tsx";
import { cardOf, Tooltip } from "./layers/tooltip.tsx";
import { glided, TrailMarks, trailLines, useGlide } from "./layers/trails.tsx";
import { lengthOf } from "./paths.ts";
import { sceneOf } from "./roofline_scene.ts";
import { heaviestRows, joinsOf, pointColours, type Scene, tiesOf } from "./scene.ts";
import { type PlaneProps, Stage, useStableLabels } from "./stage.tsx";

interface ChartProps extends PlaneProps {
  readonly points: ReadonlySignal<Points>;
}

export function Chart({ store, size, theme, points, below, pointedChip }: ChartProps) {
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
  const moved = useComputed(() => {
    const all = store.moved.value;
    return all && pointsOf(all.kernels, store.shownRoofs.value, store.focusRoof.value);
  });
  const share = useGlide(trails?.merges);
  const room = parts.value ?? earlier.value?.points;
  const gesture = useGesture<ChartDrag>();
  const before = { scene: last.current, axes: gesture.drag?.axes };
  const resting = sceneOf(store, points.value, heaviest.value, size, theme, before, room);
  const scene = glided(resting, trails, parts.value, share);
  const { kernels, roofs, focus, scales, at } = scene;
  const frame = frameOf(scales);
  const ghosts = ghostsOf(store, scene, moved.value);
  const kernelDrag = useKernelDrag(store, scene, ghosts, gesture);
  const pointing = usePointing({ store, scene, gesture, pointedChip, kernelDrag });
  const { index } = pointing;
  const isMoving = store.dragging.value || pointing.navigation.isMoving;
  useLayoutEffect(() => {
    last.current = scene;
  });

  // A moved kernel has a note instead of a gap arrow.
  const gaps = gapsOf(scene, store.ranking.value.rows).filter(({ row }) => !ghosts.some((one) => one.row === row));
  const lines = trailLines(scene, trails, parts.value);
  const arrows = runArrows(scene, earlier.value);
  const frozen = shownSnapshots(store);
  const changes = changesSince(scene, frozen.at(-1)?.snapshot, store.drawnRows.value);
  const bends = [...lines, ...arrows, ...changes].flatMap(bentLineBoxes);
  const others = [
    ...noteLabels(store, scene, ghosts),
    // A merged kernel has several trails. The text with its speedup is written only once, at the longest trail with
    // room for the text.
    ...arrowLabels("trail", share < 1 ? [] : [...lines].sort((a, b) => lengthOf(b) - lengthOf(a)), theme),
    ...arrowLabels("run", arrows, theme),
    ...snapshotLabels(scene, frozen, changes),
  ];
  const looks = hollowGhosts(pointColours(scene), ghosts);
  // Labels keep their places while a roof is dragged or the pointer is on a point.
  const labels = useStableLabels(isMoving || index >= 0, (before) =>
    rooflineLabels(scene, gaps, { before, isMoving, others, ghosts, arrows: bends }),
  );
  const axes = useMemo(
    () => <Axes scales={scales} units={scene.units} theme={theme} focus={focus} />,
    [scales, scene.units, theme, scales.strip && focus?.bandwidth],
  );
  const roof = index < 0 ? undefined : (roofs[points.value.roof[index] as number] ?? focus ?? roofs[0]);

  const dragged = store.kernelDrag.value;
  const row = points.value.row[index] as number;
  const spot = { x: at.x[index] as number, y: at.y[index] as number };
  const content = { kernels, row, roofs, scales, below, ...spot, names: labels };
  const card =
    roof && !dragged ? cardOf({ ...content, roof, more: whatIfRow(store.kernelWhatIfs.value, row) }) : undefined;
  const drawn = [...gaps.map(gapBox), ...bends];
  const { ruler, box } = rulerBeside(store, scene, labels, dragged ? -1 : index, card?.boxes, drawn);

  return (
    <Stage
      store={store}
      scene={scene}
      room={scales.plot.right - textWidth(titleOf(scene.units, scales.width)) - 8}
      label={strings.chart(roofs.map(({ chip }) => chip.name).join(", "), store.totals.value.kernels)}
      pointing={pointing}
      looks={looks}
      isMoving={isMoving}
      labels={labels}
      under={
        <>
          {axes}
          <Ties xs={tiesOf(scene)} scales={scales} theme={theme} />
          <Ghosts scene={scene} shown={frozen} changes={changes} />
          <Roofs {...scene} />
          <Clip box={scales.whole ? scales.plot : frame}>
            <Joins joins={joinsOf(scene)} marked={scene.marked} theme={theme} />
          </Clip>
          <Clip box={frame}>
            <Gaps gaps={gaps} theme={theme} />
            <RunArrows arrows={arrows} theme={theme} />
            <TrailMarks lines={lines} theme={theme} />
          </Clip>
        </>
      }
      over={
        <>
          <Clip box={frame}>
            <RoofHandles {...scene} />
          </Clip>
          <Clip box={frame}>
            <MovedKernels ghosts={ghosts} looks={looks} dragged={dragged?.row} theme={theme} />
          </Clip>
          <Leaders labels={labels} scene={scene} />
          {store.rulers.value && (
            <Rulers scene={scene} names={labels} arrows={drawn} ruler={ruler} spot={pointing.spot} />
          )}
          {roofs.length === 0 && points.value.n === 0 && (
            <text x={scales.width / 2} y={scales.height / 2} text-anchor="middle" font-size={14} fill={theme.muted}>
              {strings.noChip}
            </text>
          )}
        </>
      }
    >
      {card && <Tooltip {...card} box={box} />}
    </Stage>
  );
}
