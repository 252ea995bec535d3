// Moved kernels. A mark shows the place where the what-if moves the kernel. An arrow from the kernel's own point leads
// to the mark. A note shows the result.

import type { Points } from "../../roofline/points.ts";
import type { Store } from "../../state/store.ts";
import { nameOf } from "../../text/kernel_names.ts";
import { noteOf } from "../../text/moves.ts";
import { Button } from "../../ui/button.tsx";
import { focusNeighbour } from "../../ui/focus.ts";
import { stepOf } from "../../ui/keys.ts";
import { memoize } from "../../ui/memoize.ts";
import { moveWords } from "../../words/words.ts";
import { squareAround } from "../labels/box_index.ts";
import { NOTE_EDGE_PX } from "../labels/candidates.ts";
import { boxOf, type Label, type PlacedLabel, TEXT } from "../labels/engine.ts";
import { RULES } from "../labels/rules.ts";
import { textWidth } from "../labels/text_fitting.ts";
import { arrowPath, between, type Spot } from "../paths.ts";
import { radiusAt } from "../points/painter.ts";
import { shapeOf, shapePath } from "../points/shapes.ts";
import { isShown } from "../points/visible.ts";
import { type Box, clamp, project, spotAt } from "../scales.ts";
import { indicesOf, isInSight, type pointColours, type Scene } from "../scene.ts";
import { ON_SCREEN } from "../svg_text.ts";
import type { Theme } from "../theme.ts";
import { LINE_PX } from "./marks.tsx";

/** The mark of a moved kernel. */
export interface Ghost {
  readonly row: number;
  /** The index of the kernel's own point in the data. */
  readonly index: number;
  readonly from: Spot;
  readonly to: Spot;
  readonly radius: number;
  readonly side: number;
}

const NO_GHOSTS: readonly Ghost[] = [];

/**
 * Returns the marks of moved kernels, limited to the `frame`. If a kernel has several marks, the mark of its home point
 * is last, so that it is drawn on top.
 */
export function ghostsOf(
  store: Store,
  scene: Scene,
  points: Points | undefined,
  places = points && project(points, scene.scales),
  frame = scene.scales.plot,
): readonly Ghost[] {
  const moved = store.rows.moved.value;
  if (!moved || !points || !places) return NO_GHOSTS;
  const { at, scales } = scene;
  return Array.from({ length: points.n }, (_, mark) => mark).flatMap((mark): Ghost[] => {
    const row = moved.rows[points.row[mark] as number] as number;
    const isSame = (index: number) =>
      scene.points.roof[index] === points.roof[mark] && scene.points.level[index] === points.level[mark];
    const index = indicesOf(scene, row).find(isSame) ?? -1;
    const [ai, x, top] = [points.x[mark], places.x[mark], places.y[mark]] as [number, number, number];
    if (index < 0) return [];
    // If only the kernel's own point is in sight, the mark of the what-if is at the edge of the frame. If neither of
    // the two places is in sight, there is no mark.
    if (!isShown(scene, index) && !isInSight(scales, ai, x, top)) return [];
    const y = clamp(top, frame.top, frame.bottom);
    return [
      {
        ...{ row, index, radius: Math.max(4, radiusAt(scene.points, index)), side: points.side[mark] as number },
        from: spotAt(at, index),
        to: [ai === 0 ? x : clamp(x, frame.left, frame.right), y],
      },
    ];
  });
}

/** Returns the box of a moved kernel's mark. Labels avoid this box. */
export const ghostBox = ({ to: [x, y], radius }: Ghost): Box => squareAround(x, y, radius + 1);

/** Draws the points of moved kernels as outlines. */
export function hollowGhosts(looks: ReturnType<typeof pointColours>, ghosts: readonly Ghost[]) {
  if (ghosts.length === 0) return looks;
  const points = ghosts.map(({ index }) => index);
  const hollow = hollows(looks.hollow, points, () => {
    const column = looks.hollow.slice();
    for (const index of points) column[index] = 1;
    return column;
  });
  return { ...looks, hollow };
}

// Memoized: while a kernel is dragged, the same points are outlines in every frame.
const hollows = memoize<Uint8Array>();

interface MovedKernelsProps {
  readonly ghosts: readonly Ghost[];
  readonly looks: ReturnType<typeof pointColours>;
  /**
   * The row of the kernel that is dragged. Undefined if no kernel is dragged. Null in a plane where kernels cannot be
   * dragged.
   */
  readonly dragged: number | undefined | null;
  readonly theme: Theme;
}

export function MovedKernels({ ghosts, looks: { colours, colour, isPatterned }, dragged, theme }: MovedKernelsProps) {
  return (
    <g class="rw-carried" stroke={theme.text}>
      {ghosts.map(({ row, index, from, to, radius, side }) => (
        <g key={index} data-row={row}>
          <path d={arrowPath({ from, bend: between(from, to), to }, radius)} fill="none" stroke-width={1.5} />
          <path
            d={shapePath(to, radius, shapeOf(side, isPatterned))}
            fill={colours[colour[index] as number]}
            stroke-width={row === dragged ? 3 : 1.5}
          />
          {dragged !== null && (
            <circle
              class="rw-ghost-handle"
              fill={ON_SCREEN}
              stroke="none"
              data-ghost={index}
              cx={to[0]}
              cy={to[1]}
              r={Math.max(12, radius)}
            />
          )}
        </g>
      ))}
    </g>
  );
}

/** The width of the button beside a note, px. */
const BUTTON_PX = 24;

/** The notes of moved kernels, each beside the kernel's mark. */
export function noteLabels(store: Store, scene: Scene, ghosts: readonly Ghost[]): Label[] {
  const whatIfs = store.rows.movedKernels.value;
  const { left, right } = scene.scales.plot;
  const fits = (line: string) => textWidth(line, true) < right - left - BUTTON_PX - 2 * NOTE_EDGE_PX;
  return ghosts.flatMap(({ row, index, to: [x, y], radius }): Label[] => {
    const lines = whatIfs && scene.points.home[row] === index ? noteOf(whatIfs, row, fits) : [];
    if (lines.length === 0) return [];
    const text = lines.join("\n");
    const mark = { x, y, radius };
    const size = { width: textWidth(text, true) + BUTTON_PX, down: (lines.length - 1) * LINE_PX, button: BUTTON_PX };
    const positions = RULES.note.positions(mark, size, scene.scales);
    return [{ kind: "note", key: `move ${row}`, text, bold: true, colour: TEXT, positions, mark }];
  });
}

/** Whether a label is the note of a moved kernel. */
export const isNote = ({ kind }: PlacedLabel) => kind === "note";

interface ButtonsProps {
  readonly store: Store;
  readonly labels: readonly PlacedLabel[];
  readonly scene: Scene;
}

/** The buttons beside the notes. A button resets the what-if of the kernel that its note describes. */
export function NoteButtons({ store, labels, scene }: ButtonsProps) {
  const notes = store.rows.kernelDrag.value || store.lesson.isLocked("moves") ? [] : labels.filter(isNote);
  return (
    <>
      {notes.map((label) => {
        const row = Number(label.key.split(" ")[1]);
        const { right, top } = boxOf(label);
        const said = moveWords.reset(nameOf(scene.kernels, row));
        return (
          <Button
            key={label.key}
            look="unmove"
            style={{ left: `${right - BUTTON_PX}px`, top: `${top - 6}px` }}
            aria-label={said}
            title={said}
            onPointerDown={stop}
            onKeyDown={(event) => event.key !== "Escape" && !stepOf(event) && stop(event)}
            onClick={(event) => {
              stop(event);
              focusNeighbour(event.currentTarget, ".rw-unmove");
              store.rows.resetMoves(row);
            }}
          >
            ×
          </Button>
        );
      })}
    </>
  );
}

/** Stops a press on the button from reaching the chart's handlers. */
const stop = (event: Event) => event.stopPropagation();
