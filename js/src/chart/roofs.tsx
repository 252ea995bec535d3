// The roofs: solid as they stand, dashed where the data sheet puts them; washes and ceilings of the focus roof.

import type { SubRoof } from "../ceilings.ts";
import type { Level, Roof } from "../roofline.ts";
import { ridgePoint } from "../roofline.ts";
import type { Scales } from "../scales.ts";
import type { Theme } from "../theme.ts";
import { Bands, Levels, SubRoofs } from "./levels.tsx";
import { px, roofPath } from "./paths.ts";

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

export function Roofs({ roofs, focus, levels, subRoofs, colours, scales, theme }: RoofsProps) {
  const { plot } = scales;
  const [width, height] = [Math.max(0, plot.right - plot.left), Math.max(0, plot.bottom - plot.top)];
  const own = (focus && colours.get(focus.chip.id)) ?? theme.text;
  const line = (roof: Roof, isFocus: boolean) => (
    <g
      key={roof.chip.id}
      stroke={colours.get(roof.chip.id) ?? theme.text}
      stroke-opacity={isFocus ? 1 : levels.length > 0 ? 0.45 : 0.8}
    >
      <path
        class="roofwidget-roof"
        data-chip={roof.chip.id}
        d={roofPath(roof, scales)}
        stroke-width={isFocus ? 3 : 1.75}
        stroke-linejoin="round"
      />
      <circle
        class="roofwidget-ridge"
        cx={scales.x(ridgePoint(roof))}
        cy={scales.y(roof.peak)}
        r={isFocus ? 4.5 : 3.5}
        fill={theme.background}
        stroke-width={isFocus ? 2.5 : 1.75}
      />
    </g>
  );
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
      {roofs.filter((roof) => roof !== focus).map((roof) => line(roof, false))}
      {focus && <Levels roof={focus} levels={levels} colour={own} background={theme.background} scales={scales} />}
      {focus && line(focus, true)}
    </svg>
  );
}

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
