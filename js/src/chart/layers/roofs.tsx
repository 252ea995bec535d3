// Draws the current roofs as solid lines and the roofs of the data sheets as dashed lines. The focus roof also has
// its ridge line, memory levels and ceilings.

import type { VNode } from "preact";
import type { SubRoof } from "../../roofline/ceilings.ts";
import { type Level, type Roof, ridgePoint } from "../../roofline/roofline.ts";
import { memoize } from "../../ui/memoize.ts";
import { placeOf, px, roofPath, slopePath } from "../paths.ts";
import type { Scales } from "../scales.ts";
import { ceilingsIn, hasChipsAlone, type Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";
import { Clip } from "./clip.tsx";

/** The widths of the focus roof, of the focus roof under the pointer, and of other roofs, px. */
const [FOCUS_PX, HOVERED_PX, OTHER_PX] = [2.5, 3.5, 1.5];
/** If there are more other roofs than this, they are thin. */
const MAX_WIDE_ROOFS = 7;
/** The dashes of other roofs while the categories have the hues. After the last, the first is used again, thinner. */
const ROOF_DASHES = [undefined, "6 3", "2 2", "6 2 1.5 2"] as const;
/** The dashes of a data sheet's roof and of continuations. */
const SHEET_DASHES = "4 3";

// Memoized: while a roof is dragged, the other roofs do not change.
const lines = memoize<VNode>();

export function Roofs(scene: Scene) {
  const { roofs, focus, levels, colours, scales, theme, isRoofHovered } = scene;
  const colourOf = ({ chip }: Roof) => colours.get(chip.id) ?? theme.text;
  const own = focus ? colourOf(focus) : theme.text;
  const others = roofs.filter((roof) => roof !== focus);
  const hasHues = hasChipsAlone(scene);
  return (
    <Clip box={scales.plot} fill="none">
      {focus && <Bands roof={focus} levels={levels} colour={own} scales={scales} />}
      {roofs.filter(changed).map((roof) => (
        <path
          key={`sheet ${roof.chip.id}`}
          class="rw-ghost"
          data-chip={roof.chip.id}
          d={roofPath({ peak: roof.sheetPeak, bandwidth: roof.sheetBandwidth }, scales)}
          stroke={colours.get(roof.chip.id)}
          stroke-dasharray={SHEET_DASHES}
        />
      ))}
      {focus && isRoofHovered && <Continuations roof={focus} colour={own} scales={scales} />}
      {focus && <SubRoofs roof={focus} subRoofs={ceilingsIn(scene)} colour={theme.line} scales={scales} />}
      {others.map((roof, at) => {
        const isAgain = !hasHues && at >= ROOF_DASHES.length;
        const width = isAgain || others.length > MAX_WIDE_ROOFS ? 1 : OTHER_PX;
        const dashes = hasHues ? undefined : ROOF_DASHES[at % ROOF_DASHES.length];
        const look = { scales, theme, colour: colourOf(roof), width, dashes, hasRing: hasHues };
        return lines(roof, Object.values(look), () => <Line key={roof.chip.id} roof={roof} {...look} />);
      })}
      {focus && <RidgeLine roof={focus} levels={levels} scales={scales} theme={theme} />}
      {focus && <Levels roof={focus} levels={levels} colour={theme.other} scales={scales} />}
      {focus && (
        <Line roof={focus} colour={own} {...{ scales, theme }} width={isRoofHovered ? HOVERED_PX : FOCUS_PX} hasRing />
      )}
    </Clip>
  );
}

interface LineProps {
  readonly roof: Roof;
  readonly scales: Scales;
  readonly theme: Theme;
  readonly colour: string;
  readonly width: number;
  readonly dashes?: string | undefined;
  /** Whether the ridge point has a ring. */
  readonly hasRing: boolean;
}

/** The line of a roof with its ridge point. */
const Line = ({ roof, scales, theme, colour, width, dashes, hasRing }: LineProps) => (
  <g stroke={colour}>
    <path
      class="rw-roof"
      data-chip={roof.chip.id}
      d={roofPath(roof, scales)}
      stroke-width={width}
      stroke-dasharray={dashes}
      stroke-linejoin="round"
    />
    {hasRing && (
      <circle
        class="rw-ridge"
        cx={scales.x(ridgePoint(roof))}
        cy={scales.y(roof.peak)}
        r={4}
        fill={theme.background}
        stroke-width={Math.min(width, 2)}
      />
    )}
  </g>
);

export const changed = (roof: Roof) => roof.peak !== roof.sheetPeak || roof.bandwidth !== roof.sheetBandwidth;

/** The dotted lines from the ridge points of the focus roof down to the axis. */
function RidgeLine({
  roof,
  levels,
  scales,
  theme,
}: Pick<LineProps, "roof" | "scales" | "theme"> & Pick<Scene, "levels">) {
  const ridges = [roof, ...levels].map(({ bandwidth }) => px(scales.x(roof.peak / bandwidth)));
  const d = [...new Set(ridges)].map((x) => `M${x},${px(scales.y(roof.peak))}V${scales.plot.bottom}`).join("");
  return <path d={d} stroke={theme.line} stroke-dasharray="2 3" />;
}

/** The flat and the slope of a roof past its ridge point. */
function Continuations({ roof, colour, scales }: { roof: Roof; colour: string; scales: Scales }) {
  const [low, high] = scales.x.domain;
  const ridge = ridgePoint(roof);
  return (
    <path
      data-rw="continuation"
      d={`M${placeOf(scales, low, roof.peak)}L${placeOf(scales, ridge, roof.peak)}L${placeOf(scales, high, high * roof.bandwidth)}`}
      stroke={colour}
      stroke-dasharray={SHEET_DASHES}
    />
  );
}

/** The area under the focus roof, below the grid. With several memory levels there is none. */
export function focusWash({ focus, levels, scales, theme }: Scene) {
  if (!focus || levels.length > 0) return null;
  const { left, bottom } = scales.plot;
  return (
    <Clip box={scales.plot}>
      <path d={`${roofPath(focus, scales)}V${bottom}H${left}Z`} fill={theme.wash} />
    </Clip>
  );
}

interface LevelsProps {
  readonly roof: Roof;
  readonly levels: readonly Level[];
  readonly colour: string;
  readonly scales: Scales;
}

/** Draws faint bands between the slopes of neighbouring levels. */
function Bands({ roof, levels, colour, scales }: LevelsProps) {
  const falling = [...levels].sort((a, b) => b.bandwidth - a.bandwidth);
  const { x, y } = scales;
  const [low] = x.domain;
  const corner = (ai: number, { bandwidth }: Level) => `${x(ai)},${y(ai * bandwidth)}`;
  return (
    <g fill={colour}>
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

/** Draws a roof for each memory level except the main level. Slopes of the data sheet are dashed. */
function Levels({ roof, levels, colour, scales }: LevelsProps) {
  const near = levels.filter(({ name }) => name !== roof.level);
  return (
    <g class="rw-levels" stroke={colour}>
      {near.map(({ name, bandwidth, sheet }) => (
        <g key={name} data-level={name}>
          {bandwidth !== sheet && (
            <path
              class="rw-ghost"
              d={slopePath({ peak: roof.sheetPeak, bandwidth: sheet }, scales)}
              stroke-dasharray={SHEET_DASHES}
            />
          )}
          <path class="rw-level" d={roofPath({ peak: roof.peak, bandwidth }, scales)} stroke-linejoin="round" />
        </g>
      ))}
    </g>
  );
}

/** The looks of ceilings. All are thin; those that are not measured are dashed. */
export const STYLES = {
  measured: {},
  ceiling: { "stroke-dasharray": "4 3" },
  communication: { "stroke-dasharray": "16 6" },
} as const;

interface SubRoofsProps {
  readonly roof: Roof;
  readonly subRoofs: readonly SubRoof[];
  readonly colour: string;
  readonly scales: Scales;
}

/** A peak above the roof, such as that of a data sheet beside a roof at a measured clock, has its slope too. */
function SubRoofs({ roof, subRoofs, colour, scales }: SubRoofsProps) {
  return (
    <g stroke={colour}>
      {subRoofs.map((sub) => (
        <path
          key={sub.key}
          class="rw-subroof"
          data-rw="ceiling"
          data-roof={sub.key}
          data-style={sub.style}
          d={
            sub.kind === "bandwidth"
              ? slopePath(sub, scales)
              : roofPath(sub, scales, sub.kind === "compute" && sub.peak <= roof.peak)
          }
          {...STYLES[sub.style]}
        />
      ))}
    </g>
  );
}
