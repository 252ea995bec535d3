// The roofline plane on the screen: the layers, with pointer, keys, drags and the tooltip.

import type { ReadonlySignal } from "@preact/signals";
import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Points } from "../roofline/points.ts";
import { whatIfRow } from "../text/moves.ts";
import { useGesture } from "../ui/gesture.ts";
import { strings } from "../words/words.ts";
import type { ChartDrag } from "./gestures/chart_drag.ts";
import { useKernelDrag } from "./gestures/kernel_drag.ts";
import { usePointing } from "./gestures/pointing.ts";
import { RoofGrips, RoofHandles } from "./gestures/roof_drag.tsx";
import { useGlide } from "./glide.ts";
import { gapBox } from "./labels/obstacles.ts";
import { Clip, frameOf } from "./layers/clip.tsx";
import { MergePreviewMarks, withoutParts } from "./layers/merge_preview.tsx";
import { Rulers, rulerBeside } from "./layers/rulers.tsx";
import { cardOf, Tooltip } from "./layers/tooltip.tsx";
import { Prediction } from "./prediction.tsx";
import { RoofHint, useRoofHover } from "./roof_hint.tsx";
import {
  layersOver,
  layersUnder,
  placedLabels,
  rooflineData,
  rooflineMarks,
  rooflineScene,
} from "./roofline_layers.tsx";
import { spotAt } from "./scales.ts";
import type { Scene } from "./scene.ts";
import { type PlaneProps, Stage, useStableLabels } from "./stage.tsx";

interface ChartProps extends PlaneProps {
  readonly points: ReadonlySignal<Points>;
}

export function Chart({ store, size, theme, points, below, pointedChip, tools }: ChartProps) {
  const data = useMemo(() => rooflineData(store, points), [store, points]);
  const last = useRef<Scene>(undefined);
  const share = useGlide(store.workload.trails.value?.merges);
  const gesture = useGesture<ChartDrag>();
  const before = { scene: last.current, axes: gesture.drag?.axes };
  const hover = useRoofHover(size.width);
  const isRoofHovered = hover.hovered.value !== undefined || gesture.drag?.kind === "roof";
  const { scene, ghosts } = rooflineScene(store, data, size, theme, before, share, isRoofHovered);
  const { kernels, roofs, focus, scales, at } = scene;
  const kernelDrag = useKernelDrag(store, scene, ghosts, gesture);
  const pointing = usePointing({ store, scene, gesture, pointedChip, kernelDrag });
  const { index } = pointing;
  const isMoving = store.view.isInDrag() || pointing.navigation.isMoving;
  useLayoutEffect(() => {
    last.current = scene;
  });

  const marks = rooflineMarks(store, data, scene, ghosts, share);
  // Labels keep their places while a roof is dragged, and while the pointer is on a point or on the roof.
  const labels = useStableLabels(isMoving || index >= 0 || isRoofHovered, (before) =>
    placedLabels(scene, marks, { before, isMoving }),
  );
  // While a slider or a key moves the roof, nobody can press the roof. Its handles then stay behind until the end.
  const handles = useRef<VNode>(undefined);
  const handled = {
    ...scene,
    isPeakLocked: store.lesson.isLocked("peak_flops"),
    isBandwidthLocked: store.lesson.isLocked("bandwidth"),
  };
  if (!handles.current || !store.view.isInDrag() || gesture.drag) {
    handles.current = (
      <Clip box={frameOf(scales)}>
        <RoofHandles {...handled} onHover={hover.hover} onTap={hover.tap} />
      </Clip>
    );
  }
  const roof = index < 0 ? undefined : (roofs[points.value.roof[index] as number] ?? focus ?? roofs[0]);

  const isAsked = store.lesson.hidesHint("points");
  const dragged = store.rows.kernelDrag.value;
  const row = points.value.row[index] as number;
  const [x, y] = spotAt(at, index);
  const gap = marks.gaps.find((one) => one.row === row);
  const content = {
    kernels,
    row,
    roofs,
    isSelected: scene.selected.has(row),
    isBare: isAsked,
    terms: scene.units.terms,
    colourBy: scene.colouring.key,
    scales,
    below,
    ...{ x, y },
    names: labels,
    toRoof: gap && gapBox(gap),
  };
  const card =
    roof && !dragged ? cardOf({ ...content, roof, more: whatIfRow(store.rows.movedKernels.value, row) }) : undefined;
  const { boxes } = marks;
  const { ruler, box }: ReturnType<typeof rulerBeside> = isAsked
    ? {}
    : rulerBeside(store, scene, labels, dragged ? -1 : index, card?.boxes, boxes);
  const rulers = store.view.rulers.value && !isAsked && (
    <Rulers
      scene={scene}
      names={labels}
      arrows={boxes}
      ruler={ruler}
      spot={isRoofHovered ? undefined : pointing.spot}
    />
  );

  return (
    <Stage
      store={store}
      scene={scene}
      tools={tools}
      label={strings.chart(roofs.map(({ chip }) => chip.name).join(", "), store.rows.totals.value.kernels)}
      pointing={pointing}
      looks={marks.looks}
      isMoving={isMoving}
      labels={withoutParts(labels, store.workload.preview.value)}
      under={
        <>
          {layersUnder(scene, marks)}
          <Clip box={scales.plot}>
            <RoofGrips {...handled} colour={scene.colours.get(focus?.chip.id ?? "") ?? theme.text} />
          </Clip>
        </>
      }
      over={
        <>
          {handles.current}
          {layersOver(scene, marks, labels, dragged?.row, rulers)}
          <MergePreviewMarks scene={scene} preview={store.workload.preview.value} />
        </>
      }
    >
      {card && <Tooltip {...card} box={box} />}
      <Prediction store={store} scene={scene} />
      <RoofHint hover={hover} drag={gesture.drag} size={size} />
    </Stage>
  );
}
