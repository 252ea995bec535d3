// The roofs: solid as they stand, dashed where the data sheet puts them; washes and ceilings of the focus roof.

import type { VNode } from "preact";
import type { SubRoof } from "../../roofline/ceilings.ts";
import type { Level, Roof } from "../../roofline/roofline.ts";
import { ridgePoint } from "../../roofline/roofline.ts";
import { memoize } from "../../ui/memoize.ts";
import { px, roofPath } from "../paths.ts";
import type { Scales } from "../scales.ts";
import type { Theme } from "../theme.ts";
import { Bands, Levels, SubRoofs } from "./levels.tsx";

export interface RoofsProps {
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** In hierarchical mode, the levels of the focus chip that have a roof; else none. */
  readonly levels: readonly Level[];
  readonly subRoofs: readonly SubRoof[];
  readonly colours: ReadonlyMap<string, string>;
  readonly scales: Scales;
  readonly theme: Theme;
}

// While one roof is dragged the others stay.
const lines = memoize<VNode>();

export function Roofs({ roofs, focus, levels, subRoofs, colours, scales, theme }: RoofsProps) {
  const { plot } = scales;
  const [width, height] = [Math.max(0, plot.right - plot.left), Math.max(0, plot.bottom - plot.top)];
  const colourOf = ({ chip }: Roof) => colours.get(chip.id) ?? theme.text;
  const own = focus ? colourOf(focus) : theme.text;
  // A nested svg clips to the plot without an id that two views could share.
  return (
    <svg
      class="roofwidget-roofs"
      x={plot.left}
      y={plot.top}
      width={width}
      height={height}
      viewBox={`${plot.left} ${plot.top} ${width} ${height}`}
      fill="none"
      aria-hidden="true"
    >
      {focus && <Washes roof={focus} scales={scales} theme={theme} />}
      {focus && <Bands roof={focus} levels={levels} colour={own} scales={scales} />}
      {roofs.filter(changed).map((roof) => (
        <path
          key={`sheet ${roof.chip.id}`}
          class="roofwidget-ghost"
          data-chip={roof.chip.id}
          d={roofPath({ peak: roof.sheetPeak, bandwidth: roof.sheetBandwidth }, scales)}
          stroke={colours.get(roof.chip.id)}
          stroke-width={1.5}
          stroke-dasharray="6 4"
          stroke-opacity={0.75}
        />
      ))}
      {focus && <Ceilings roof={focus} colour={own} scales={scales} />}
      {focus && <SubRoofs subRoofs={subRoofs} colour={own} scales={scales} />}
      {roofs
        .filter((roof) => roof !== focus)
        .map((roof) => {
          const look = { scales, theme, colour: colourOf(roof), width: 1.75, opacity: levels.length > 0 ? 0.45 : 0.8 };
          return lines(roof, Object.values(look), () => <Line key={roof.chip.id} roof={roof} {...look} />);
        })}
      {focus && <Levels roof={focus} levels={levels} colour={own} background={theme.background} scales={scales} />}
      {focus && <Line roof={focus} colour={own} {...{ scales, theme }} width={3} opacity={1} />}
    </svg>
  );
}

interface LineProps {
  readonly roof: Roof;
  readonly scales: Scales;
  readonly theme: Theme;
  readonly colour: string;
  readonly width: number;
  readonly opacity: number;
}

/** The focus roof's is the thick one. */
const Line = ({ roof, scales, theme, colour, width, opacity }: LineProps) => (
  <g stroke={colour} stroke-opacity={opacity}>
    <path
      class="roofwidget-roof"
      data-chip={roof.chip.id}
      d={roofPath(roof, scales)}
      stroke-width={width}
      stroke-linejoin="round"
    />
    <circle
      class="roofwidget-ridge"
      cx={scales.x(ridgePoint(roof))}
      cy={scales.y(roof.peak)}
      r={width > 2 ? 4.5 : 3.5}
      fill={theme.background}
      stroke-width={Math.min(width, 2.5)}
    />
  </g>
);

export const changed = (roof: Roof) => roof.peak !== roof.sheetPeak || roof.bandwidth !== roof.sheetBandwidth;

function Ceilings({ roof, colour, scales }: { roof: Roof; colour: string; scales: Scales }) {
  const [low, high] = scales.x.domain;
  const ridge = ridgePoint(roof);
  const at = (x: number, y: number) => `${px(scales.x(x))},${px(scales.y(y))}`;
  return (
    <path
      class="roofwidget-ceilings"
      d={`M${at(low, roof.peak)}L${at(ridge, roof.peak)}L${at(high, high * roof.bandwidth)}`}
      stroke={colour}
      stroke-width={1.25}
      stroke-opacity={0.6}
      stroke-dasharray="5 5"
    />
  );
}

function Washes({ roof, scales, theme }: { roof: Roof; scales: Scales; theme: Theme }) {
  const { plot, x, y } = scales;
  const [low, high] = x.domain;
  const ridge = px(x(ridgePoint(roof)));
  const peak = px(y(roof.peak));
  const right = px(x(Math.max(high, ridgePoint(roof))));
  return (
    <g class="roofwidget-washes" fill-opacity={theme.dark ? 0.1 : 0.06}>
      <path
        d={`M${plot.left},${plot.bottom}V${px(y(low * roof.bandwidth))}L${ridge},${peak}V${plot.bottom}Z`}
        fill={theme.memoryWash}
      />
      <path d={`M${ridge},${plot.bottom}V${peak}H${right}V${plot.bottom}Z`} fill={theme.computeWash} />
    </g>
  );
}
