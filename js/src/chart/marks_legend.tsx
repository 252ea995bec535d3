// The legend of the chart: what each mark in the picture means, and what can be dragged. It lists only what the chart
// shows now.

import type { ComponentChild } from "preact";
import { SIDES } from "../roofline/points.ts";
import { MIN_RADIUS_PX } from "../roofline/positions.ts";
import type { Store } from "../state/store.ts";
import { marksWords as words } from "../words/words.ts";
import { latencyLineOf } from "./layers/latency.tsx";
import { changed, STYLES } from "./layers/roofs.tsx";
import { shownSnapshots } from "./layers/snapshots.tsx";
import { circlePath } from "./paths.ts";
import { isMeasured } from "./points/painter.ts";
import { RING_GAP_PX, shapeOf, shapePath } from "./points/shapes.ts";
import type { Scene } from "./scene.ts";

/** An entry: its picture is the path of a line, or an element. */
type Swatch = readonly [key: string, picture: string | ComponentChild, text: string];

/** Returns the entries of those pairs whose first value is true. */
const those = (all: readonly (readonly [is: boolean, ...Swatch])[]): Swatch[] =>
  all.flatMap(([is, ...swatch]) => (is ? [swatch] : []));

/** The centre of a swatch, px. A swatch is 32 px wide and 20 px high. */
const [X, Y] = [16, 10];
const SHAPE_RADIUS_PX = 5;

export function MarksLegend({ store, scene }: { readonly store: Store; readonly scene: Scene }) {
  const isTime = store.view.plane.value === "time";
  return (
    <>
      <strong>{words.title}</strong>
      <Swatches swatches={[...pointSwatches(scene), ...(isTime ? timeSwatches() : lineSwatches(store, scene))]} />
      <strong>{words.gestures}</strong>
      <Swatches
        swatches={[...(isTime || !scene.focus ? [] : roofGestures(store)), ...planeGestures(store, isTime, scene)]}
      />
    </>
  );
}

const Swatches = ({ swatches }: { readonly swatches: readonly Swatch[] }) => (
  <ul class="rw-swatches">
    {swatches.map(([key, picture, text]) => (
      <li key={key} data-mark={key}>
        <svg width={32} height={20} aria-hidden="true" fill="none" stroke="currentColor" stroke-width={1.5}>
          {typeof picture === "string" ? <path d={picture} /> : picture}
        </svg>
        <span>{text}</span>
      </li>
    ))}
  </ul>
);

/** The entries for the shapes, sizes and rings of points. */
function pointSwatches({ points, levels, theme, marked, isPatterned }: Scene): Swatch[] {
  const sides = new Set(points.side.map((side) => shapeOf(side, isPatterned)));
  const [grown, above, unmeasured] = [new Uint8Array(1), new Uint8Array(1), new Uint8Array(1)];
  for (let index = 0; index < points.n; index++) {
    if ((points.radius[index] as number) > MIN_RADIUS_PX) grown[0] = 1;
    if (points.aboveRoof[index] === 1) above[0] = 1;
    if (!isMeasured(points, index)) unmeasured[0] = 1;
  }
  const shape = (name: keyof typeof SIDES): Swatch => [
    isPatterned ? name : "dot",
    <path key={name} d={shapePath([X, Y], SHAPE_RADIUS_PX, SIDES[name])} fill="currentColor" stroke="none" />,
    isPatterned || name === "program" ? words.shapes[name] : words.shapes.kernel,
  ];
  const names = Object.keys(SIDES) as (keyof typeof SIDES)[];
  const circle = (radius: number, x = X) => circlePath([x, Y], radius);
  const more = those([
    [grown[0] === 1, "area", `${circle(3, 7)}${circle(7, 21)}`, words.area],
    [unmeasured[0] === 1, "unmeasured", `M2,${Y}H30${circle(4)}`, words.unmeasured],
    [levels.length > 0, "outline", circle(5), words.otherLevel],
    [
      above[0] === 1,
      "above",
      <path key="above" d={`${circle(3)}${circle(3 + RING_GAP_PX)}`} stroke={theme.alert} />,
      words.aboveRoof,
    ],
    [marked.length > 0, "ring", <path key="ring" d={`${circle(4)}${circle(7)}`} stroke-width={2} />, words.ring],
  ]);
  return [...names.filter((name) => sides.has(SIDES[name])).map(shape), ...more];
}

/** The entries for the lines of the roofline plane. */
function lineSwatches(store: Store, scene: Scene): Swatch[] {
  const { focus, roofs, subRoofs, points, scales } = scene;
  const line = (dash: string | undefined, width = 1.5) => (
    <path d={`M2,${Y}H30`} stroke-dasharray={dash} stroke-width={width} />
  );
  const arrow = `M${X},19V3m-4,5l4,-5l4,5`;
  const styles = new Set(subRoofs.map(({ style }) => style));
  const isMeasuredHere = points.measured > 0;
  const hasTrails = (store.workload.trails.value?.list.length ?? 0) > 0;
  return those([
    [focus !== undefined, "roof", <path key="roof" d="M2,18L14,6H30" stroke-width={2.5} />, words.roof],
    [focus !== undefined, "ceilings", line("4 3"), words.ceilings(store.view.terms.value)],
    [roofs.some(changed), "sheet", line("4 3"), words.sheet],
    [styles.has("measured"), "measured", <path key="dots" d={`M2,${Y}H30`} {...STYLES.measured} />, words.measured],
    [styles.has("ceiling"), "ceiling", line(STYLES.ceiling["stroke-dasharray"]), words.ceiling],
    [styles.has("communication"), "link", line(STYLES.communication["stroke-dasharray"]), words.link],
    [shownSnapshots(store).length > 0, "snapshot", line("2 3", 1), words.snapshot],
    [latencyLineOf(scene) !== undefined, "latency", "M2,18L26,4", words.latency],
    [isMeasuredHere && focus !== undefined, "gap", arrow, words.gap],
    [store.rows.moved.value !== undefined, "moved", `M4,${Y}H24m-5,-4l5,4l-5,4`, words.moved],
    [hasTrails, "trail", `M4,${Y}Q14,18 27,${Y}m-6,-3l6,3l-5,5`, words.trail],
    [store.rows.runs.value !== undefined, "runs", `M4,${Y}H24m-5,-4l5,4l-5,4`, words.runs],
    [scales.strip !== undefined, "strip", "M9,2V18M23,2V18", words.strip],
  ]);
}

const timeSwatches = (): Swatch[] => [
  ["diagonal", <path key="d" d="M6,18L26,2" stroke-width={3} />, words.diagonal],
  ["isochrone", "M6,4H20V18", words.isochrone],
];

function roofGestures({ lesson: { isLocked }, view: { terms } }: Store): Swatch[] {
  const [peak, bandwidth] = [!isLocked("peak_flops"), !isLocked("bandwidth")];
  return those([
    [peak, "peak", `M2,${Y}H30M13,6l3,-4l3,4M13,14l3,4l3,-4`, words.drag.peak],
    [bandwidth, "bandwidth", `M8,18L24,2M10,7l-4,3l4,3M22,7l4,3l-4,3`, words.drag.bandwidth],
    [peak && bandwidth, "ridge", `M4,18L16,${Y}H30${circlePath([X, Y], 4)}`, words.drag.ridge(terms.value)],
    [
      peak || bandwidth,
      "fine",
      <text key="f" x={X} y={15} text-anchor="middle" font-size={12} fill="currentColor" stroke="none">
        {"⇧"}
      </text>,
      words.drag.fine,
    ],
  ]);
}

const planeGestures = ({ lesson: { isLocked } }: Store, isTime: boolean, { points }: Scene): Swatch[] => [
  ...(isTime || points.n === 0 || isLocked("moves")
    ? []
    : [["kernel", `${circlePath([8, Y], 4)}M14,${Y}H28m-5,-4l5,4l-5,4`, words.drag.kernel] as const]),
  ["select", <path key="s" d="M6,4H26V16H6Z" stroke-dasharray="3 2" />, words.drag.select],
  ...(isLocked("view") ? [] : [["wheel", "M12,2h8v16h-8zM16,5v4", words.drag.wheel] as const]),
];
