// Lines of the focus chip beside its roof: one roof a memory level, and the roofs that lie lower.

import type { SubRoof } from "../../roofline/ceilings.ts";
import type { Level, Roof } from "../../roofline/roofline.ts";
import { ridgePoint } from "../../roofline/roofline.ts";
import { roofPath, slopePath } from "../paths.ts";
import type { Scales } from "../scales.ts";

interface LevelsProps {
  readonly roof: Roof;
  readonly levels: readonly Level[];
  readonly colour: string;
  readonly background: string;
  readonly scales: Scales;
}

/** The faint bands between the slopes of neighbouring levels. */
export function Bands({ roof, levels, colour, scales }: Omit<LevelsProps, "background">) {
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

/** A roof for each level but the main one's, the faster the thinner; and, dashed, where the data sheet has it. */
export function Levels({ roof, levels, colour, background, scales }: LevelsProps) {
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

/** Dotted what was measured, dash-dotted what software cannot exceed, long-dashed what communication leaves. */
const STYLES = {
  measured: { "stroke-dasharray": "0.1 5.5", "stroke-linecap": "round", "stroke-width": 2.5 },
  ceiling: { "stroke-dasharray": "9 3 2 3", "stroke-width": 1.5 },
  communication: { "stroke-dasharray": "16 6", "stroke-width": 1.5 },
} as const;

export function SubRoofs({
  subRoofs,
  colour,
  scales,
}: {
  subRoofs: readonly SubRoof[];
  colour: string;
  scales: Scales;
}) {
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
