// What is written on roofs: names along the flats, numbers at the ridge points, levels and lower roofs along their lines.

import type { SubRoof } from "../../roofline/ceilings.ts";
import { type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { briefNamesOf } from "../../text/names.ts";
import { strings } from "../../words/words.ts";
import type { Units } from "../axis_units.ts";
import type { Rates } from "../paths.ts";
import { isNarrow, type Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import { ringAt, rings } from "./obstacles.ts";
import { CLEARLY, inWords, type Label, overlap, type Place } from "./place.ts";

const SIZE = 12;
/** Letters of a roof's name. */
const LONGEST = 26;
/** How far up a slope its name may stand: where it reads well, then wherever there is room. */
const SHARES = [0.35, 0.5, 0.2, 0.65, 0.8, ...Array.from({ length: 33 }, (_, step) => 0.02 + 0.03 * step)];

/** The focus roof's name and number before what else is written on it, and these before the other roofs'. */
export function roofLabels(scene: Scene): Label[] {
  const { roofs, focus, scales } = scene;
  const others = roofs.filter((roof) => roof !== focus);
  // Names that stand in a column beside the plot are not placed among the others.
  const isBeside = (roof: Roof) => scales.gutter > 0 && (!scales.whole || hasFlat(roof, scales));
  const named = (some: readonly Roof[]) => some.filter((one) => !isBeside(one)).map((roof) => nameOf(roof, scene));
  const own = focus ? [focus] : [];
  return [
    ...named(own),
    ...own.flatMap((roof) => {
      const label = ridgeOf(roof, scene);
      // A number by itself could be a kernel's: only where there is no room for a word.
      return [label, { ...label, text: scene.units.intensityAlone(ridgePoint(roof), 4), brief: [] }];
    }),
    ...levelLabels(scene),
    ...subRoofLabels(scene),
    ...named(others),
    ...others.map((roof) => ridgeOf(roof, scene)),
  ];
}

/** Along its flat, else along its slope. */
function nameOf(roof: Roof, { roofs, focus, colours, names, scales, theme }: Scene): Label {
  return {
    // One that has left the column has none of its places there.
    key: `${scales.gutter > 0 ? "slope" : "roof"} ${roof.chip.id}`,
    text: inWords(names.get(roof.chip.id) ?? roof.chip.name, (text) => text.length <= LONGEST),
    brief: [briefNamesOf(roofs, names).get(roof.chip.id) ?? roof.chip.name],
    size: SIZE,
    bold: roof === focus,
    colour: colours.get(roof.chip.id) ?? theme.text,
    must: true,
    places: alongRoof(roof, scales),
  };
}

function ridgeOf(roof: Roof, scene: Scene): Label {
  const { focus, colours, scales, units, theme } = scene;
  const digits = ridgePoint(roof);
  const [x, y] = [scales.x(digits), scales.y(roof.peak)];
  const alone = units.intensityAlone(digits, 4);
  const brief = strings.ridgeAt(alone);
  const long = isNarrow(scales) ? brief : strings.ridgeAt(units.intensity(digits, 4));
  return {
    key: `ridge ${roof.chip.id}`,
    ...(roof === focus ? { text: long, brief: [brief], mark: { x, y, radius: 5 } } : { text: alone }),
    size: SIZE,
    bold: roof === focus,
    colour: colours.get(roof.chip.id) ?? theme.text,
    must: roof === focus,
    near: nearRing(scene, x, y),
    // Far off only the number that must be there: another's would seem to belong to a neighbour.
    places: inView(scales, x, y) ? [...besideRidge(x, y), ...(roof === focus ? farFrom(x, y) : [])] : [],
  };
}

/** The levels of the focus chip along their slopes, and the numbers of their ridge points. */
function levelLabels(scene: Scene): Label[] {
  const { focus, levels, colours, scales, units, theme } = scene;
  if (!focus || levels.length === 0) return [];
  const colour = colours.get(focus.chip.id) ?? theme.text;
  const names = levels.map(
    ({ name, bandwidth }): Label => ({
      key: `level ${name}`,
      text: strings.level(name, units.bandwidth(bandwidth, 4), focus.chip.illustrative.includes(name)),
      size: SIZE,
      colour,
      must: true,
      places: alongSlope({ peak: focus.peak, bandwidth }, scales),
    }),
  );
  const ridges = levels.flatMap(({ name, bandwidth }): Label[] => {
    if (name === focus.level) return [];
    const ridge = focus.peak / bandwidth;
    const [x, y] = [scales.x(ridge), scales.y(focus.peak)];
    const places = inView(scales, x, y) ? besideRidge(x, y) : [];
    const near = nearRing(scene, x, y);
    return [{ key: `ridge level ${name}`, text: units.intensityAlone(ridge, 4), size: SIZE, colour, places, near }];
  });
  return [...names, ...ridges];
}

function subRoofLabels({ focus, levels, subRoofs, colours, scales, units, theme }: Scene): Label[] {
  const colour = (focus && colours.get(focus.chip.id)) ?? theme.text;
  // Those with a flat stand in the column beside the plot, if there is one.
  const placed = subRoofs.filter(({ kind }) => kind === "bandwidth" || scales.gutter === 0);
  return placed.map((sub): Label => {
    const places = sub.kind === "bandwidth" ? alongSlope(sub, scales) : alongFlat(sub, scales);
    // Between the slopes of levels a name that has no room would only hide whose line is whose.
    return {
      key: `sub ${sub.key}`,
      text: textOfSub(sub, units),
      size: SIZE,
      colour,
      must: levels.length === 0,
      places,
    };
  });
}

/** What a lower roof is called, with its number unless that is its name. */
export function textOfSub({ name, kind, peak, bandwidth }: SubRoof, units: Units): string {
  if (kind === "communication") return name;
  return `${name} ${kind === "compute" ? units.rate(peak, 4) : units.bandwidth(bandwidth, 4)}`;
}

/** Whether some of the flat is in sight. */
export const hasFlat = (roof: Rates, scales: Scales) =>
  inView(scales, Math.max(scales.plot.left, scales.x(ridgePoint(roof))), scales.y(roof.peak));

/** Whether what a name is written at is in sight. */
const inView = ({ plot }: Scales, x: number, y: number) =>
  x >= plot.left && x <= plot.right && y >= plot.top && y <= plot.bottom;

function alongFlat(roof: Rates, scales: Scales): Place[] {
  const { plot, x, y } = scales;
  const ridge = Math.max(plot.left, x(ridgePoint(roof)));
  const flat = y(roof.peak);
  if (!hasFlat(roof, scales)) return [];
  return [
    ...besideFlat(plot.right - 4, flat, "end"),
    ...[0.5, 0.3, 0.7].flatMap((share) => besideFlat(ridge + (plot.right - ridge) * share, flat, "middle")),
    ...besideFlat(ridge + 10, flat, "start"),
  ];
}

/** Along the flat of a roof, then along its slope. */
export const alongRoof = (roof: Rates, scales: Scales): Place[] => [
  ...alongFlat(roof, scales),
  ...alongSlope(roof, scales),
];

/** Turned to run along a slope, over it or under it, from the middle outwards. */
function alongSlope(roof: Rates, { x, y, whole }: Scales): Place[] {
  const from = Math.max(x.domain[0], whole ? y.domain[0] / roof.bandwidth : 0);
  const to = Math.min(ridgePoint(roof), x.domain[1], whole ? y.domain[1] / roof.bandwidth : Number.POSITIVE_INFINITY);
  if (whole && from >= to) return [];
  const turn = Math.atan2(y(10) - y(1), x(10) - x(1));
  const angle = Math.round((turn * 1800) / Math.PI) / 10;
  const [left, right] = [x(from), x(to)];
  const [low, high] = [y(from * roof.bandwidth), y(to * roof.bandwidth)];
  const beside = (offsets: readonly number[]) => (share: number) =>
    offsets.map(
      (off): Place => ({
        x: left + (right - left) * share - off * Math.sin(turn),
        y: low + (high - low) * share + off * Math.cos(turn),
        ...{ anchor: "middle", angle },
      }),
    );
  // Beyond a neighbouring line only where there is no room between the two.
  return [...SHARES.flatMap(beside([-6, 12])), ...SHARES.flatMap(beside([-19, 26]))];
}

const besideFlat = (x: number, flat: number, anchor: Place["anchor"]): Place[] => [
  { x, y: flat - 6, anchor },
  { x, y: flat + 15, anchor },
];

/** No nearer to another circle than to its own; one that lies on it looks the same. */
const nearRing = (scene: Scene, x: number, y: number): NonNullable<Label["near"]> => [
  [ringAt(x, y, 4 + CLEARLY)],
  rings(scene).filter((ring) => !overlap(ring, ringAt(x, y, 0))),
];

const besideRidge = (x: number, y: number): Place[] => [
  { x: x - 8, y: y - 6, anchor: "end" },
  { x: x + 4, y: y - 8, anchor: "start" },
  { x: x + 8, y: y + 15, anchor: "start" },
  { x: x - 8, y: y + 15, anchor: "end" },
];

const farFrom = (x: number, y: number): Place[] => [
  { x: x + 24, y: y + 16, anchor: "start" },
  { x, y: y - 18, anchor: "middle" },
  { x: x + 8, y: y + 30, anchor: "start" },
];
