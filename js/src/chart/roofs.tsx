// The roofs: solid as they stand, dashed where the data sheet puts them; washes and ceilings of the focus roof.

import type { Roof } from "../roofline.ts";
import { ridgePoint } from "../roofline.ts";
import type { Scales } from "../scales.ts";
import type { Theme } from "../theme.ts";

type Rates = { peak: number; bandwidth: number };

export interface RoofsProps {
  readonly roofs: readonly Roof[];
  readonly focus: Roof | undefined;
  /** Precisions of kernels that another flat of the focus chip judges. */
  readonly otherPrecisions: readonly string[];
  readonly colours: ReadonlyMap<string, string>;
  readonly scales: Scales;
  readonly theme: Theme;
}

export function Roofs({ roofs, focus, otherPrecisions, colours, scales, theme }: RoofsProps) {
  const { plot } = scales;
  const [width, height] = [Math.max(0, plot.right - plot.left), Math.max(0, plot.bottom - plot.top)];
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
      {focus && <Ceilings roof={focus} colour={colours.get(focus.chip.id) ?? theme.text} scales={scales} />}
      {focus &&
        otherPrecisions.map((precision) => {
          const peak = focus.peaks.get(precision);
          return (
            peak && (
              <path
                key={precision}
                class="roofwidget-flat"
                d={roofPath({ peak, bandwidth: focus.bandwidth }, scales, true)}
                stroke={colours.get(focus.chip.id)}
                stroke-width={1}
              />
            )
          );
        })}
      {[...roofs]
        .sort((a, b) => Number(a === focus) - Number(b === focus))
        .map((roof) => {
          const colour = colours.get(roof.chip.id) ?? theme.text;
          const isFocus = roof === focus;
          return (
            <g key={roof.chip.id} stroke={colour} stroke-opacity={isFocus ? 1 : 0.8}>
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
        })}
    </svg>
  );
}

export const changed = (roof: Roof) => roof.peak !== roof.sheetPeak || roof.bandwidth !== roof.sheetBandwidth;

/** From the left edge up the slope to the ridge and along the flat; the flat alone for another precision's ceiling. */
export function roofPath(roof: Rates, scales: Scales, flatOnly = false): string {
  const [low, high] = scales.x.domain;
  const ridge = ridgePoint(roof);
  const at = (x: number, y: number) => `${px(scales.x(x))},${px(scales.y(y))}`;
  const flat = `${at(ridge, roof.peak)}L${at(Math.max(high, ridge), roof.peak)}`;
  return flatOnly ? `M${flat}` : `M${at(low, low * roof.bandwidth)}L${flat}`;
}

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
      stroke-dasharray="2 5"
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

const px = (value: number) => Math.round(value * 100) / 100;
