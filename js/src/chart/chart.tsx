// The chart: its layers one above the other, and what the pointer and the arrow keys find on it.

import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isModified } from "../keys.ts";
import { shortNames } from "../names.ts";
import { MEASURED, type Points, rowsByWeight } from "../points.ts";
import { chartHeight, nearest, project, type Scales, sameScales, scalesOf } from "../scales.ts";
import type { Store } from "../store.ts";
import { strings } from "../strings.ts";
import { chipColours, type Theme } from "../theme.ts";
import { annotations, gapsOf, MOST_NAMES, type Scene } from "./annotations.ts";
import { Axes } from "./axes.tsx";
import { Gaps, Ties } from "./gaps.tsx";
import { createPainter, isMeasured, radiusOf } from "./kernels.ts";
import { Roofs } from "./roofs.tsx";
import { Tooltip } from "./tooltip.tsx";

/** A point is found within this many pixels of the pointer. */
const REACH = 14;

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
  const canvas = useRef<HTMLCanvasElement>(null);
  // The point under the pointer: a row has several when it was not measured, one on each roof.
  const pointed = useSignal(-1);
  const pinnedChip = useSignal<string | undefined>(undefined);
  const heaviest = useComputed(() => rowsByWeight(store.kernels.value, MOST_NAMES));

  const kernels = store.kernels.value;
  const roofs = store.shownRoofs.value;
  const focus = roofs.includes(store.focusRoof.value as never) ? store.focusRoof.value : undefined;
  const size = { width, height: chartHeight(width) };
  const drawn = useRef<Scales>(undefined);
  const scales = steady(drawn, scalesOf(size, roofs, points.value, focus));
  const at = project(points.value, scales);
  const colours = chipColours(store.chips.value, theme);
  const names = shortNames(store.chips.value);
  const hovered = store.hovered.value;
  const marked = [...(hovered === null ? [] : [hovered]), ...store.selected.value];
  const scene: Scene = {
    kernels,
    points: points.value,
    at,
    roofs,
    focus,
    colours,
    names,
    scales,
    theme,
    named: [...rowsAbove(points.value, MOST_NAMES), ...heaviest.value],
    marked,
  };
  const gaps = gapsOf(scene);
  const choices = useRef<ReadonlyMap<string, number>>(new Map());
  const held = store.held.value;
  // Names stand still while a roof is dragged or a point is pointed at.
  const still = held || hovered !== null;
  const labels = annotations(scene, gaps, still ? choices.current : undefined);
  if (!still) choices.current = new Map(labels.map(({ key, choice }) => [key, choice]));
  const axes = useMemo(
    () => <Axes scales={scales} theme={theme} focus={focus} />,
    [scales, theme, scales.strip && focus?.bandwidth],
  );
  const paint = useRef<ReturnType<typeof createPainter>>(undefined);
  paint.current ??= createPainter();

  useLayoutEffect(() => {
    if (!canvas.current) return;
    paint.current?.(canvas.current, {
      points: points.value,
      at,
      ...coloursOf(scene),
      outline: theme.background,
      alert: theme.alert,
      scales,
    });
  });

  function point(index: number) {
    pointed.value = index;
    // On leaving, the sentence goes back to what is selected, on the chip where it was.
    pointedChip.value = index < 0 ? pinnedChip.value : roofs[points.value.roof[index] ?? MEASURED]?.chip.id;
    store.hover(index < 0 ? null : (points.value.row[index] as number));
  }
  function pointAtPointer(event: PointerEvent) {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    point(nearest(at, event.clientX - box.left, event.clientY - box.top, REACH));
  }
  /** Select a row alone, or with a modifier beside the others; what is selected alone is let go. */
  function choose(row: number, add: boolean) {
    const rows = store.selected.value;
    const others = rows.filter((other) => other !== row);
    pinnedChip.value = pointedChip.value;
    if (add) store.select(rows.includes(row) ? others : [...rows, row]);
    else store.select(rows.includes(row) && others.length === 0 ? [] : [row]);
  }
  function click(event: MouseEvent) {
    if (hovered !== null) choose(hovered, event.shiftKey || event.ctrlKey || event.metaKey);
    else if (store.selected.value.length > 0) store.select([]);
  }
  function walk(event: KeyboardEvent) {
    if (isModified(event)) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const rows = rowsInOrder(points.value);
      const now = rows.indexOf(hovered ?? -1);
      const step = event.key === "ArrowRight" ? now + 1 : now < 0 ? rows.length - 1 : now - 1;
      point(points.value.home[rows[Math.max(0, Math.min(step, rows.length - 1))] ?? -1] ?? -1);
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && hovered !== null) {
      const marks = indicesOf(scene, hovered).sort((a, b) => (at.y[b] as number) - (at.y[a] as number));
      const step = marks.indexOf(shownIndex) + (event.key === "ArrowUp" ? 1 : -1);
      point(marks[Math.max(0, Math.min(step, marks.length - 1))] ?? shownIndex);
    } else if (event.key === "Enter" && hovered !== null) choose(hovered, false);
    else if (event.key === "Escape") {
      point(-1);
      store.select([]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // A row hovered from Python has no pointer: its first point stands for it.
  const shownIndex =
    hovered === null
      ? -1
      : points.value.row[pointed.value] === hovered && pointed.value < points.value.n
        ? pointed.value
        : (points.value.home[hovered] ?? -1);
  const hoveredRoof =
    shownIndex < 0 ? undefined : (roofs[points.value.roof[shownIndex] as number] ?? focus ?? roofs[0]);
  const tied = points.value.n <= 400 ? tiesOf(scene) : [];
  const precisions = otherPrecisions(scene);
  const radius = radiusOf(points.value);
  const spoken = roofs.map((roof) => roof.chip.name).join(", ");

  return (
    <div
      class="roofwidget-chart"
      style={{ width: `${size.width}px`, height: `${size.height}px` }}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the kernels
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      aria-label={strings.chart(spoken, kernels.n)}
      onPointerMove={pointAtPointer}
      onPointerDown={pointAtPointer}
      onPointerLeave={(event) => event.pointerType !== "touch" && point(-1)}
      onClick={click}
      onKeyDown={walk}
    >
      <svg width={size.width} height={size.height} aria-hidden="true">
        {axes}
        <Ties xs={tied} scales={scales} theme={theme} />
        <Roofs
          roofs={roofs}
          focus={focus}
          otherPrecisions={precisions}
          colours={colours}
          scales={scales}
          theme={theme}
        />
        <Gaps gaps={gaps} theme={theme} />
      </svg>
      <canvas ref={canvas} style={{ width: `${size.width}px`, height: `${size.height}px` }} />
      <svg class="roofwidget-labels" width={size.width} height={size.height} aria-hidden="true">
        {[...new Set([...store.selected.value, ...(hovered === null ? [] : [hovered])])].flatMap((row) =>
          indicesOf(scene, row).map((index) => (
            <circle
              key={`${row} ${index}`}
              class="roofwidget-ring"
              cx={at.x[index]}
              cy={at.y[index]}
              r={radius + (index === shownIndex ? 4 : 3)}
              fill="none"
              stroke={theme.text}
              stroke-width={2}
            />
          )),
        )}
        {labels.map((label) => (
          <text
            key={label.key}
            data-label={label.key}
            x={label.x}
            y={label.y}
            text-anchor={label.anchor}
            font-size={label.size}
            font-weight={label.bold ? 700 : 400}
            fill={label.colour}
            stroke={theme.background}
            stroke-width={3}
            stroke-linejoin="round"
            paint-order="stroke"
          >
            {label.text}
          </text>
        ))}
        {roofs.length === 0 && (
          <text x={size.width / 2} y={size.height / 2} text-anchor="middle" font-size={14} fill={theme.muted}>
            {strings.noChip}
          </text>
        )}
      </svg>
      {shownIndex >= 0 && hoveredRoof && (
        <Tooltip
          kernels={kernels}
          row={hovered as number}
          roof={hoveredRoof}
          x={at.x[shownIndex] as number}
          y={at.y[shownIndex] as number}
          scales={scales}
          below={below}
        />
      )}
    </div>
  );
}

/** The scales of the picture before, where they are the same: what hangs on them need not be drawn anew. */
function steady(drawn: { current: Scales | undefined }, next: Scales): Scales {
  if (!drawn.current || !sameScales(drawn.current, next)) drawn.current = next;
  return drawn.current;
}

/** Rows that have a place, by rising intensity. */
function rowsInOrder({ x, row, home, n }: Points): number[] {
  const rows: number[] = [];
  for (let index = 0; index < n; index++) if (home[row[index] as number] === index) rows.push(row[index] as number);
  return rows.sort((a, b) => (x[home[a] as number] as number) - (x[home[b] as number] as number));
}

/** Rows that beat their roof: what is wrong is named first. */
function rowsAbove({ aboveRoof, row, n }: Points, most: number): number[] {
  const rows: number[] = [];
  for (let index = 0; index < n && rows.length < most; index++) if (aboveRoof[index]) rows.push(row[index] as number);
  return rows;
}

/** The colours of chips, for marks on their roofs, and of categories, for measured kernels. */
function coloursOf({ kernels, points, roofs, colours, theme }: Scene) {
  const chips = roofs.map((roof) => colours.get(roof.chip.id) ?? theme.text);
  const colour = new Uint16Array(points.n);
  for (let index = 0; index < points.n; index++) {
    const category = (kernels.category.codes[points.row[index] as number] ?? 0) % theme.categories.length;
    colour[index] = isMeasured(points, index) ? chips.length + category : (points.roof[index] as number);
  }
  return { colours: [...chips, ...theme.categories], colour };
}

function indicesOf({ points }: Scene, row: number): number[] {
  const found: number[] = [];
  for (let index = 0; index < points.n; index++) if (points.row[index] === row) found.push(index);
  return found;
}

function tiesOf({ points, at }: Scene): number[] {
  const xs = new Set<number>();
  for (let index = 0; index < points.n; index++) {
    if (!isMeasured(points, index) && points.x[index] !== 0) xs.add(Math.round(at.x[index] as number));
  }
  return [...xs];
}

/** Precisions of kernels whose peak on the focus chip is another than the one shown. */
function otherPrecisions({ kernels, focus }: Scene): string[] {
  if (!focus) return [];
  const own = [...kernels.precision.values, ...kernels.flops.keys()];
  return [...new Set(own)].filter(
    (precision): precision is string => !!precision && (focus.peaks.get(precision) ?? focus.peak) !== focus.peak,
  );
}
