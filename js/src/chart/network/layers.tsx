// Draws the network plane: axes, roof, model, whiskers, dots and names. The screen and the saved pictures draw the same.

import { bytes } from "../../text/network.ts";
import { formatTick } from "../../text/numbers.ts";
import { strings, networkWords as words } from "../../words/words.ts";
import { textWidth } from "../labels/text_fitting.ts";
import { TICK_FONT_PX } from "../layers/axes.tsx";
import { Clip } from "../layers/clip.tsx";
import { pathThrough, px, type Spot } from "../paths.ts";
import { patternPath, patternWidth } from "../points/shapes.ts";
import { PlaneAxes, Ring, SlopeText, Text } from "../svg_plane/layers.tsx";
import {
  ceilingText,
  type Dot,
  flatText,
  halfText,
  kindCode,
  latencyText,
  modelSpots,
  type NetworkScene,
  roofSpots,
} from "./scene.ts";

/** Half the length of a whisker's tick, px. */
const WHISKER_PX = 5;

/** The area under the roof. */
function Wash({ scene }: { readonly scene: NetworkScene }) {
  const { plot } = scene.scales;
  const spots = roofSpots(scene);
  return spots.length > 0 ? (
    <Clip box={plot}>
      <path d={`${pathThrough(spots)}V${plot.bottom}H${plot.left}Z`} fill={scene.theme.wash} />
    </Clip>
  ) : null;
}

function Roof({ scene }: { readonly scene: NetworkScene }) {
  const { scales, theme, link, roof, ceiling } = scene;
  const { plot, x, y } = scales;
  const spots = roofSpots(scene);
  if (!link || !roof) return null;
  const flat = px(y(roof.flat));
  const corner = roof.half === undefined ? undefined : x(roof.half);
  const sheet = px(y((roof.flat / link.bandwidth) * link.sheet));
  const sheetFlat = link.bandwidth === link.sheet ? "" : `M${plot.left},${sheet}H${plot.right}`;
  const isCorner = corner !== undefined && corner >= plot.left && corner <= plot.right;
  const top = plot.top - 20;
  return (
    <Clip box={{ ...plot, top }}>
      {sheetFlat && <path d={sheetFlat} stroke={theme.muted} stroke-dasharray="4 3" fill="none" data-rw="sheet" />}
      {ceiling !== undefined && (
        <path
          d={`M${px((plot.left + 2 * plot.right) / 3)},${px(y(ceiling))}H${plot.right}`}
          stroke={theme.muted}
          stroke-dasharray="4 3"
          data-rw="ceiling"
        />
      )}
      {isCorner && <path d={`M${px(corner)},${flat}V${plot.bottom}`} stroke={theme.line} stroke-dasharray="1 3" />}
      <path
        d={pathThrough(modelSpots(scene))}
        fill="none"
        stroke={theme.text}
        stroke-dasharray="2 3"
        stroke-width={1.25}
      />
      <path d={pathThrough(spots)} fill="none" stroke={theme.text} stroke-width={2.5} data-rw="network-roof" />
      {isCorner && (
        <circle
          cx={corner}
          cy={flat}
          r={4}
          fill={theme.background}
          stroke={theme.text}
          stroke-width={2}
          data-rw="network-ring"
        />
      )}
    </Clip>
  );
}

/** The texts of the roof: the link, the latency along the slope, the ceiling, and the two regions. */
function RoofTexts({ scene }: { readonly scene: NetworkScene }) {
  const { scales, theme, link, roof, ceiling, isNarrow, isTight } = scene;
  const { plot, x, y } = scales;
  if (!link || !roof) return null;
  const flat = y(roof.flat);
  const above = ceiling === undefined ? undefined : y(ceiling);
  const spots = roofSpots(scene);
  const [start, corner] = spots.length > 2 ? (spots as readonly [Spot, Spot]) : [];
  const text = latencyText(scene);
  const at = roof.half === undefined ? Number.NaN : x(roof.half);
  const regions = [words.latencyBound, words.bandwidthBound] as const;
  const hasRegions =
    !isNarrow && at - textWidth(regions[0]) - 16 > plot.left && at + textWidth(regions[1]) + 16 < plot.right;
  return (
    <>
      <Text theme={theme} x={plot.right - 4} y={isTight ? flat + 17 : flat - 8} text-anchor="end" bold={link.name}>
        {flatText(scene)}
      </Text>
      {above !== undefined && above > plot.top && (
        <Text theme={theme} x={plot.right - 4} y={above - 7} text-anchor="end" colour={theme.muted}>
          {ceilingText(scene)}
        </Text>
      )}
      {start && corner && <SlopeText {...{ scales, theme, start, corner, text }} />}
      {hasRegions && (
        <g fill={theme.muted} font-size={TICK_FONT_PX}>
          <text x={at - 8} y={plot.bottom - 8} text-anchor="end">
            {regions[0]}
          </text>
          <text x={at + 8} y={plot.bottom - 8}>
            {regions[1]}
          </text>
        </g>
      )}
    </>
  );
}

function DotMark({ dot, scene: { theme, isPatterned } }: { readonly dot: Dot; readonly scene: NetworkScene }) {
  const { x, y, top, radius, colour, isAbove } = dot;
  return (
    <>
      {top !== undefined && (
        <path
          d={`M${px(x)},${px(y)}V${px(top)}M${px(x - WHISKER_PX)},${px(top)}h${2 * WHISKER_PX}`}
          stroke={colour}
          stroke-width={1.75}
        />
      )}
      {isAbove && <circle cx={x} cy={y} r={radius + 3} fill="none" stroke={theme.alert} stroke-width={1.5} />}
      <circle
        cx={x}
        cy={y}
        r={radius}
        fill={colour}
        fill-opacity={0.95}
        stroke={theme.background}
        data-message={dot.message.row}
      />
      {isPatterned && (
        <path
          d={patternPath([x, y], radius, kindCode(dot.message.kind))}
          stroke={theme.background}
          stroke-width={patternWidth(radius)}
        />
      )}
    </>
  );
}

function DotLabels({ scene }: { readonly scene: NetworkScene }) {
  const { theme, labels } = scene;
  return (
    <>
      <path
        d={labels
          .filter(({ isBeside }) => !isBeside)
          .map(({ dot, x, y }) => `M${px(dot.x)},${px(dot.y)}L${px(x - 14)},${px(y)}H${px(x - 3)}`)
          .join("")}
        fill="none"
        stroke={theme.line}
        data-rw="leaders"
      />
      {labels.map(({ badge, text, x, y }) => (
        <g key={badge} data-rw="message-label">
          <rect x={x} y={y - 7} width={14} height={14} rx={4} fill={theme.text} stroke={theme.background} />
          <text x={x + 7} y={y + 4} text-anchor="middle" font-size={11} font-weight={700} fill={theme.background}>
            {badge}
          </text>
          {text && (
            <Text theme={theme} x={x + 20} y={y + 4}>
              {text}
            </Text>
          )}
        </g>
      ))}
    </>
  );
}

/** All layers of the plane. */
export function NetworkLayers({ scene }: { readonly scene: NetworkScene }) {
  const { scales, theme, dots, hovered, roof, note } = scene;
  const { plot } = scales;
  return (
    <>
      <Wash scene={scene} />
      <PlaneAxes
        scales={scales}
        theme={theme}
        format={[bytes, formatTick]}
        titles={[words.axisX, words.axisY]}
        corner={roof?.half === undefined ? undefined : { value: roof.half, text: halfText(scene), name: "half" }}
      />
      <Roof scene={scene} />
      {/* Below the dots, so that no leader covers a dot. */}
      <DotLabels scene={scene} />
      <Clip box={{ left: 0, top: 0, right: scales.width, bottom: plot.bottom }}>
        {dots.map((dot) => (
          <DotMark key={dot.message.row} dot={dot} scene={scene} />
        ))}
        {hovered && <Ring x={hovered.x} y={hovered.y} radius={hovered.radius} theme={theme} />}
      </Clip>
      <RoofTexts scene={scene} />
      {note && (
        <Text theme={theme} x={(plot.left + plot.right) / 2} y={(plot.top + plot.bottom) / 2} text-anchor="middle">
          {note}
        </Text>
      )}
    </>
  );
}

export const networkLabel = (chip: string, count: number) => words.chart(chip || strings.unknown, count);
