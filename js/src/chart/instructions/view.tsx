// The instruction roofline on the screen: the layers, with pointer, keys and the tooltip.

import { useSignal } from "@preact/signals";
import { instructionCard } from "../../text/instructions.ts";
import { useGesture } from "../../ui/gesture.ts";
import { isModified, used } from "../../ui/keys.ts";
import { placeIn } from "../../ui/pointer_position.ts";
import type { ChartDrag } from "../gestures/chart_drag.ts";
import { isAdding } from "../gestures/marquee.ts";
import { chosenRows } from "../gestures/pointing.ts";
import { placesFor, sizeOfCard, Tooltip } from "../layers/tooltip.tsx";
import { clamp } from "../scales.ts";
import type { PlaneProps } from "../stage.tsx";
import { nearestOf } from "../svg_plane/scene.ts";
import { SvgPlane, WALK_KEYS, walkTo } from "../svg_plane/view.tsx";
import { InstructionLayers, instructionLabel } from "./layers.tsx";
import { instructionScene, type Mark, ownBoxes } from "./scene.ts";

const KEYS = [...WALK_KEYS, "ArrowUp", "ArrowDown", "Enter", " "] as const;
/** The pointer hovers over the nearest point within this distance, px. */
const HOVER_PX = 12;

export function InstructionChart({ store, size, theme, below, tools }: PlaneProps) {
  const gesture = useGesture<ChartDrag>();
  // Which of its points the tooltip of the hovered kernel is beside.
  const level = useSignal("");
  const scene = instructionScene(store, size, theme);
  const { scales, kernels, counts, drawn, walk, marked } = scene;
  const { pointed, selected, hover, select } = store.rows;
  const hovered = marked.find(({ row }) => row === pointed.value);
  const mark = hovered?.marks.find((one) => one.level === level.value) ?? hovered?.marks[0];

  function point(to: Mark | undefined) {
    level.value = to?.level ?? "";
    hover(to?.row ?? null);
  }
  const choose = (isMore: boolean) => {
    if (hovered) select(chosenRows(selected.value, hovered.row, isMore));
    else if (!isMore) select([]);
  };

  function onPointer(event: PointerEvent) {
    if (!event.isPrimary) return;
    const place = placeIn(event.currentTarget as HTMLElement, scales.width, event);
    const marks = drawn.flatMap((one) => one.marks);
    point(nearestOf(marks, place, HOVER_PX));
  }

  function onKeyDown(event: KeyboardEvent) {
    const { key } = event;
    if (isModified(event) || !KEYS.includes(key as (typeof KEYS)[number])) return;
    if (key === "Enter" || key === " ") {
      if (!event.repeat) choose(key === " ");
    } else if (key === "ArrowUp" || key === "ArrowDown") {
      const marks = hovered?.marks ?? [];
      const at = marks.indexOf(mark as Mark) + (key === "ArrowUp" ? 1 : -1);
      point(marks[clamp(at, 0, marks.length - 1)]);
    } else if (key === "Escape") {
      if (!hovered && selected.value.length === 0) return;
      point(undefined);
      select([]);
    } else {
      const now = walk.findIndex(({ row }) => row === hovered?.row);
      point(walk[walkTo(key, now, walk.length - 1) ?? -1]?.marks[0]);
    }
    used(event);
  }

  const [name, every] = mark && counts ? instructionCard(kernels, counts, mark.row) : ["", []];
  const rows = store.lesson.hidesHint("points") ? [] : every;
  return (
    <SvgPlane
      {...{ size, theme, tools, gesture, onPointer, onKeyDown }}
      label={instructionLabel(kernels.chip?.name ?? "", walk.length)}
      keys={KEYS}
      leave={() => point(undefined)}
      onClick={(event) => choose(isAdding(event))}
      layers={<InstructionLayers scene={scene} />}
    >
      {mark && (
        <Tooltip
          name={name}
          rows={rows}
          boxes={placesFor(mark, sizeOfCard(name, rows, scales), scales, below, ownBoxes(hovered))}
        />
      )}
    </SvgPlane>
  );
}
