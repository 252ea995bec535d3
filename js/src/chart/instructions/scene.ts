// Builds the scene of the instruction roofline from the state. All layers of the plane draw from the scene.

import { type Colouring, codeAt } from "../../roofline/colouring.ts";
import type { Store } from "../../state/store.ts";
import { transactionRate } from "../../text/instructions.ts";
import { shortNameOf } from "../../text/kernel_names.ts";
import type { InstructionRoofline, Kernels } from "../../wire/columns.ts";
import { instructionWords as words } from "../../words/words.ts";
import { overlap } from "../labels/box_index.ts";
import { textWidth } from "../labels/text_fitting.ts";
import type { Spot } from "../paths.ts";
import { type Box, isNarrow, type Scales, type Size, scaleLog } from "../scales.ts";
import { alongSlope, plotIn, radiiByTime } from "../svg_plane/scene.ts";
import { categoryColour, type Theme } from "../theme.ts";

/** If there are more kernels, those that take least time are not drawn. */
const MAX_DRAWN = 500;
/** The number of kernels that have a name. */
const MAX_NAMED = 5;
/**
 * The axes show at least these intensities: the walls, and the corners of most roofs. In a narrow chart the rates are
 * left of the walls.
 */
const [REACH, NARROW_REACH] = [[1 / 64, 64] as const, 1 / 128];
/** Points beyond these intensities do not widen the axes. They are drawn at the edge, beside a sign, at this distance, px. */
const [MAX_REACH, EDGE_PX] = [[1 / 256, 4096] as const, 16];
/** The height of a name, and its distance from its points, px. */
const [NAME_PX, NAME_GAP_PX] = [16, 8];
/** The height of a text along a wall, the room at its ends, and the steps in which it looks for a place, px. */
const [WALL_TEXT_PX, WALL_GAP_PX, STEP_PX] = [16, 8, 12];
/** Where the name of the first roof is along its slope, and by how much the next is further down. */
const [FIRST_NAME, NEXT_NAME] = [0.66, 0.12];

/** A kernel at a memory level, px. */
export interface Mark {
  readonly row: number;
  readonly level: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  /** Whether the point is drawn at the left edge (-1) or the right edge (1), because it is beyond the axes. */
  readonly beyond: -1 | 0 | 1;
}

/** The points of a kernel, which are at one height, from the left. */
export interface KernelMarks {
  readonly row: number;
  readonly colour: string;
  readonly isFaded: boolean;
  readonly marks: readonly Mark[];
}

/** Loads and stores of a memory space by a kernel, px. They are compared with the walls. */
export interface AccessMark {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** A hovered or selected kernel. */
export interface MarkedKernel extends KernelMarks {
  readonly accesses: readonly AccessMark[];
}

export interface RoofLine {
  readonly level: string;
  readonly text: string;
  /** The ends of the visible slope. The second is the corner, if the peak is known. */
  readonly start: Spot;
  readonly corner: Spot;
  /** Where the text is along the slope, from 0 to 1. */
  readonly share: number;
}

export interface WallLine {
  readonly x: number;
  /** The texts on the left of the line and on its right. They run up the line from `y`. */
  readonly texts: readonly string[];
  readonly y: number;
}

export interface NameLabel {
  readonly row: number;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly anchor: "start" | "end";
}

export interface InstructionScene {
  readonly scales: Scales;
  readonly theme: Theme;
  readonly kernels: Kernels;
  /** Null if the kernels have no counts of instructions. */
  readonly counts: InstructionRoofline | null;
  readonly roofs: readonly RoofLine[];
  readonly walls: readonly WallLine[];
  /** Longest time first. */
  readonly drawn: readonly KernelMarks[];
  /** The same kernels from left to right. */
  readonly walk: readonly KernelMarks[];
  /** The hovered and selected kernels, with their accesses. */
  readonly marked: readonly MarkedKernel[];
  readonly names: readonly NameLabel[];
}

/** Returns the drawn rows, longest time first. */
function rowsOf({ rows }: Store, { rate, levels }: InstructionRoofline): number[] {
  const columns = [...levels.values()];
  const found: number[] = [];
  for (const row of rows.longestFirst.value) {
    const hasPoint = (rate[row] as number) > 0 && columns.some((column) => (column[row] as number) > 0);
    if (hasPoint && !rows.isHidden(row)) found.push(row);
    if (found.length === MAX_DRAWN) break;
  }
  return found;
}

export function instructionScene(store: Store, size: Size, theme: Theme): InstructionScene {
  const kernels = store.rows.kernels.value;
  const counts = kernels.instructions;
  const rows = counts ? rowsOf(store, counts) : [];
  const scales = scalesOf(size, counts, rows);
  const { x, y, plot } = scales;
  const [selected, pointed] = [store.rows.selected.value, store.rows.pointed.value];
  const isAny = selected.length > 0;
  const radii = radiiByTime(
    rows.map((row) => kernels.selfTime[row] as number),
    plot,
  );
  const drawn = rows.map((row, at): KernelMarks => {
    const height = y(counts?.rate[row] as number);
    const marks = [...(counts?.levels ?? [])].flatMap(([level, column]): Mark[] => {
      const ratio = column[row] as number;
      if (!(ratio > 0)) return [];
      const beyond = ratio < x.domain[0] ? -1 : ratio > x.domain[1] ? 1 : 0;
      const place = [plot.left + EDGE_PX, x(ratio), plot.right - EDGE_PX][beyond + 1] as number;
      return [{ row, level, x: place, y: height, radius: radii[at] as number, beyond }];
    });
    const colour = colourOf(theme, store.rows.colouring.value, row);
    return {
      ...{ row, colour, marks: marks.sort((a, b) => a.x - b.x) },
      isFaded: isAny && row !== pointed && !selected.includes(row),
    };
  });
  const roofs = counts ? roofLines(counts, scales) : [];
  const marked = drawn.filter(({ row }) => row === pointed || selected.includes(row));
  const edge = (one: KernelMarks) => (one.marks[0] as Mark).x;
  return {
    ...{ scales, theme, kernels, counts, roofs, drawn },
    walls: counts ? wallLines(counts, scales, marksOf(drawn)) : [],
    walk: [...drawn].sort((a, b) => edge(a) - edge(b) || a.row - b.row),
    marked: marked.map((one) => ({ ...one, accesses: counts ? accessMarks(counts, one.row, scales) : [] })),
    names: isNarrow(size) ? [] : namesOf(kernels, drawn, plot, roofs),
  };
}

const colourOf = (theme: Theme, colouring: Colouring, row: number): string => {
  const code = codeAt(colouring, row);
  if (code < 0) return theme.muted;
  return colouring.kind === "number" ? (theme.scale[code] as string) : categoryColour(theme, colouring, code);
};

function scalesOf(size: Size, counts: InstructionRoofline | null, rows: readonly number[]): Scales {
  const plot = plotIn(size);
  const at = (columns: readonly Float64Array[]) =>
    columns.flatMap((column) => rows.map((row) => column[row] as number)).filter((value) => value > 0);
  const accesses = [...(counts?.accesses.values() ?? [])];
  const [least, most] = MAX_REACH;
  const ratios = at([...(counts?.levels.values() ?? []), ...accesses.map(({ intensity }) => intensity)]);
  const rates = at(counts ? [counts.rate, ...accesses.map(({ rate }) => rate)] : []);
  const peak = counts && counts.peak > 0 ? counts.peak : Number.NaN;
  const corners = [...(counts?.roofs.values() ?? [])].map((roof) => peak / roof).filter((corner) => corner > 0);
  const all = [...ratios.filter((ratio) => ratio >= least && ratio <= most), ...corners];
  const low = Math.min(isNarrow(size) ? NARROW_REACH : REACH[0], ...all.map((value) => value / 2));
  const high = Math.max(REACH[1], ...all.map((value) => value * 2));
  const top = Math.max(...rates, peak || 0) || 1e12;
  const x = scaleLog([low, high], [plot.left, plot.right]);
  const y = scaleLog([Math.min(...rates.map((rate) => rate / 2), top / 300), 2.4 * top], [plot.bottom, plot.top]);
  return { ...size, plot, strip: undefined, x, y };
}

function roofLines({ roofs, peak }: InstructionRoofline, { x, y }: Scales): RoofLine[] {
  const [low, high] = x.domain;
  const most = y.domain[1];
  return [...roofs].map(([level, bandwidth], at) => {
    const corner = Math.min((peak > 0 ? peak : most) / bandwidth, high);
    return {
      ...{ level, text: transactionRate(bandwidth), share: FIRST_NAME - at * NEXT_NAME },
      start: [x(low), y(low * bandwidth)],
      corner: [x(corner), y(corner * bandwidth)],
    };
  });
}

const marksOf = (drawn: readonly KernelMarks[]) => drawn.flatMap(({ marks }) => marks);
const boxOf = ({ x, y, radius }: Mark): Box => ({
  ...{ left: x - radius, right: x + radius },
  ...{ top: y - radius, bottom: y + radius },
});

/** Returns the boxes of a hovered kernel that its tooltip should not cover: its joined points, and its accesses. */
export function ownBoxes(one: MarkedKernel | undefined): Box[] {
  if (!one) return [];
  const boxes = one.marks.map(boxOf);
  const [first, last] = [boxes[0] as Box, boxes.at(-1) as Box];
  const accesses = one.accesses.map(({ text, x, y }) => ({
    ...{ left: x - NAME_GAP_PX, right: x + NAME_GAP_PX + textWidth(text) },
    ...{ top: y - NAME_PX / 2, bottom: y + NAME_PX / 2 },
  }));
  return [{ ...first, right: last.right }, ...accesses];
}

/** Returns the walls. Those at one place share a line, and a wall too near to the next has no text. */
function wallLines(
  { walls, roofs, peak }: InstructionRoofline,
  { x, y, plot }: Scales,
  marks: readonly Mark[],
): WallLine[] {
  const byPlace = new Map<number, string[]>();
  for (const { name, intensity } of walls) {
    const text = Object.hasOwn(words.walls, name) ? words.walls[name as keyof typeof words.walls] : name;
    byPlace.set(intensity, [...(byPlace.get(intensity) ?? []), text]);
  }
  const points = marks.map(boxOf);
  const sorted = [...byPlace].sort(([a], [b]) => a - b);
  return sorted.map(([intensity, names], at) => {
    const [place, next] = [x(intensity), sorted[at + 1]];
    const texts = next && x(next[0]) - place < WALL_TEXT_PX * names.length ? [] : names;
    const length = Math.max(0, ...texts.map((text) => textWidth(text)));
    const limits = [...roofs.values()].map((bandwidth) => intensity * bandwidth);
    const highest = Math.min(Math.max(...limits), peak > 0 ? peak : Number.POSITIVE_INFINITY);
    const [top, bottom] = [plot.top + WALL_GAP_PX + length, plot.bottom - WALL_GAP_PX];
    const sides = { left: place - WALL_TEXT_PX, right: place + WALL_TEXT_PX * (texts.length - 1) };
    const isFree = (from: number) =>
      !points.some((point) => overlap({ ...sides, top: from - length, bottom: from }, point));
    // Above the roofs there are no points. Else the lowest place without points.
    const isAbove = limits.length > 0 && y(highest) > top + WALL_GAP_PX;
    const places = Array.from(
      { length: Math.max(0, Math.floor((bottom - top) / STEP_PX)) },
      (_, n) => bottom - n * STEP_PX,
    );
    return { texts, x: place, y: isAbove ? top : (places.find(isFree) ?? bottom) };
  });
}

function accessMarks({ accesses }: InstructionRoofline, row: number, { x, y }: Scales): AccessMark[] {
  return [...accesses].flatMap(([space, { intensity, rate }]): AccessMark[] => {
    const [ratio, speed] = [intensity[row] as number, rate[row] as number];
    const text = words.accesses[space as keyof typeof words.accesses] ?? space;
    return ratio > 0 && speed > 0 ? [{ text, x: x(ratio), y: y(speed) }] : [];
  });
}

/** Returns boxes that cover the text of a roof, px. */
function boxesOfText({ level, text, start, corner, share }: RoofLine, plot: Box): Box[] {
  const { spot, angle } = alongSlope(plot, start, corner, share);
  const [across, up] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  const half = textWidth(`${level} ${text}`, true) / 2 + NAME_PX;
  return Array.from({ length: Math.ceil(half / NAME_PX) * 2 + 1 }, (_, n): Box => {
    const along = -half + n * NAME_PX;
    const [x, y] = [spot[0] + along * across + NAME_PX * up, spot[1] + along * up - NAME_PX * across];
    return { left: x - NAME_PX / 2, right: x + NAME_PX / 2, top: y - NAME_PX / 2, bottom: y + NAME_PX / 2 };
  });
}

/** Places the names of the kernels that take most time, beside their points and clear of all others. */
function namesOf(kernels: Kernels, drawn: readonly KernelMarks[], plot: Box, roofs: readonly RoofLine[]): NameLabel[] {
  const taken = [...marksOf(drawn).map(boxOf), ...roofs.flatMap((roof) => boxesOfText(roof, plot))];
  return drawn.slice(0, MAX_NAMED).flatMap(({ row, marks }): NameLabel[] => {
    const text = shortNameOf(kernels, row);
    const width = textWidth(text);
    const [first, last] = [marks[0] as Mark, marks.at(-1) as Mark];
    const [left, right] = [first.x - first.radius - NAME_GAP_PX, last.x + last.radius + NAME_GAP_PX];
    const places = [
      { x: right, anchor: "start", box: { left: right, right: right + width } },
      { x: left, anchor: "end", box: { left: left - width, right: left } },
    ] as const;
    for (const { x, anchor, box } of places) {
      const whole = { ...box, top: first.y - NAME_PX / 2, bottom: first.y + NAME_PX / 2 };
      if (whole.left < plot.left || whole.right > plot.right) continue;
      if (taken.some((other) => overlap(whole, other))) continue;
      taken.push(whole);
      return [{ row, text, x, y: first.y, anchor }];
    }
    return [];
  });
}
