// Draws the current roofs as solid lines and the roofs of the data sheets as dashed lines. The focus roof also has
// regions, memory levels and ceilings.

import type { VNode } from "preact";
import type { SubRoof } from "../../roofline/ceilings.ts";
import { type Level, type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { memoize } from "../../ui/memoize.ts";
import { placeOf, px, roofPath, slopePath } from "../paths.ts";
import type { Scales } from "../scales.ts";
import type { Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";
import { Clip } from "./clip.tsx";

// Memoized: while a roof is dragged, the other roofs do not change.
const lines = memoize<VNode>();

export function Roofs({ roofs, focus, levels, subRoofs, colours, scales, theme }: Scene) {
  const colourOf = ({ chip }: Roof) => colours.get(chip.id) ?? theme.text;
  const own = focus ? colourOf(focus) : theme.text;
  return (
    <Clip box={scales.plot} class="roofwidget-roofs" fill="none">
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
    </Clip>
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

/** The line of a roof with its ridge point. The focus roof's line is thick. */
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
  return (
    <path
      class="roofwidget-ceilings"
      d={`M${placeOf(scales, low, roof.peak)}L${placeOf(scales, ridge, roof.peak)}L${placeOf(scales, high, high * roof.bandwidth)}`}
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

interface LevelsProps {
  readonly roof: Roof;
  readonly levels: readonly Level[];
  readonly colour: string;
  readonly background: string;
  readonly scales: Scales;
}

/** Draws faint bands between the slopes of neighbouring levels. */
function Bands({ roof, levels, colour, scales }: Omit<LevelsProps, "background">) {
  const falling = [...levels].sort((a, b) => b.bandwidth - a.bandwidth);
  const { x, y } = scales;
  const [low] = x.domain;
  const corner = (ai: number, { bandwidth }: Level) => `${x(ai)},${y(ai * bandwidth)}`;
  return (
    <g class="roofwidget-bands" fill={colour}>
      {falling.slice(1).map((lower, index) => {
        const upper = falling[index] as Level;
        const ridges = `${corner(roof.peak / upper.bandwidth, upper)}L${corner(roof.peak / lower.bandwidth, lower)}`;
        return (
          <path
            key={lower.name}
            d={`M${corner(low, upper)}L${ridges}L${corner(low, lower)}Z`}
            fill-opacity={index % 2 === 0 ? 0.12 : 0.06}
          />
        );
      })}
    </g>
  );
}

/**
 * Draws a roof for each memory level except the main level. Roofs of faster levels are thinner. Slopes of the data
 * sheet are dashed.
 */
function Levels({ roof, levels, colour, background, scales }: LevelsProps) {
  const near = levels.filter(({ name }) => name !== roof.level).sort((a, b) => a.bandwidth - b.bandwidth);
  return (
    <g class="roofwidget-levels" stroke={colour}>
      {near.map(({ name, bandwidth, sheet }, index) => {
        const rates = { peak: roof.peak, bandwidth };
        return (
          <g key={name} data-level={name} stroke-width={Math.max(1, 2.25 - 0.5 * index)}>
            {bandwidth !== sheet && (
              <path
                class="roofwidget-ghost"
                d={slopePath({ peak: roof.sheetPeak, bandwidth: sheet }, scales)}
                stroke-width={1.5}
                stroke-dasharray="6 4"
                stroke-opacity={0.75}
              />
            )}
            <path class="roofwidget-level" d={roofPath(rates, scales)} stroke-linejoin="round" />
            <circle
              class="roofwidget-level-ridge"
              cx={scales.x(ridgePoint(rates))}
              cy={scales.y(roof.peak)}
              r={3.5}
              fill={background}
            />
          </g>
        );
      })}
    </g>
  );
}

/**
 * The dashes of ceilings. Measured roofs are dotted. Software ceilings are dash-dotted. Communication ceilings have
 * long dashes.
 */
export const STYLES = {
  measured: { "stroke-dasharray": "0.1 5.5", "stroke-linecap": "round", "stroke-width": 2.5 },
  ceiling: { "stroke-dasharray": "9 3 2 3", "stroke-width": 1.5 },
  communication: { "stroke-dasharray": "16 6", "stroke-width": 1.5 },
} as const;

function SubRoofs({ subRoofs, colour, scales }: { subRoofs: readonly SubRoof[]; colour: string; scales: Scales }) {
  return (
    <g class="roofwidget-subroofs" stroke={colour}>
      {subRoofs.map((sub) => (
        <path
          key={sub.key}
          class="roofwidget-subroof"
          data-roof={sub.key}
          data-style={sub.style}
          d={sub.kind === "bandwidth" ? slopePath(sub, scales) : roofPath(sub, scales, sub.kind === "compute")}
          {...STYLES[sub.style]}
        />
      ))}
    </g>
  );
}
