// Everything above the points: rings around marked kernels, leaders, and all texts of the chart.

import { Component } from "preact";
import { columnLeaders } from "../labels/column.ts";
import {
  BADGE_FONT_PX,
  BADGE_GAP_PX,
  BADGE_PX,
  badgeWidth,
  boxOf,
  labelColour,
  leaderOf,
  type PlacedLabel,
} from "../labels/engine.ts";
import { FONT_PX } from "../labels/text_fitting.ts";
import { radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import type { Box } from "../scales.ts";
import { indicesOf, type Scene } from "../scene.ts";

export function Rings({ scene, pointed }: { scene: Scene; pointed: number }) {
  return (
    <>
      {scene.marked.flatMap((row) =>
        indicesOf(scene, row)
          .filter((index) => isShown(scene, index))
          .map((index) => (
            <circle
              key={`${row} ${index}`}
              class="roofwidget-ring"
              cx={scene.at.x[index]}
              cy={scene.at.y[index]}
              r={radiusAt(scene.points, index) + (index === pointed ? 4 : 3)}
              fill="none"
              stroke={scene.theme.text}
              stroke-width={2}
            />
          )),
      )}
    </>
  );
}

/** The selection rectangle during its drag. */
export function Marquee({ box }: { box: Box | undefined }) {
  if (!box) return null;
  const { left, right, top, bottom } = box;
  return <rect class="roofwidget-marquee" x={left} y={top} width={right - left} height={bottom - top} />;
}

/** Draws the leaders: from flats to their names in the column, and from points to far names. */
export function Leaders({ labels, scene }: { labels: readonly PlacedLabel[]; scene: Scene }) {
  return (
    <g class="roofwidget-leaders" fill="none">
      {columnLeaders(scene, labels).map(({ key, d, colour }) => (
        <path key={key} d={d} stroke={colour} />
      ))}
      <path
        class="roofwidget-leader"
        d={labels.map(leaderOf).join("")}
        stroke={scene.theme.text}
        stroke-opacity={0.5}
      />
    </g>
  );
}

/** The distance between two lines of a label, px. */
export const LINE_PX = 15;

function spansOf({ text, x }: PlacedLabel) {
  if (!text.includes("\n")) return text;
  return text.split("\n").map((line, at) => (
    <tspan key={line} x={x} dy={at && LINE_PX}>
      {line}
    </tspan>
  ));
}

export const Labels = ({ labels, scene }: { labels: readonly PlacedLabel[]; scene: Scene }) => (
  <>
    {labels.map((label) => (
      <Text key={label.key} label={label} colour={labelColour(label, scene)} outline={scene.theme.background} />
    ))}
  </>
);

/** The opacity of a label under the label of the hovered kernel. */
const COVERED_OPACITY = 0.25;

/** The properties of a label that change its drawing. */
const DRAWN_PARTS = ["text", "x", "y", "anchor", "angle", "bold", "badge", "isCovered"] as const;

interface TextProps {
  readonly label: PlacedLabel;
  readonly colour: string;
  readonly outline: string;
}

// A class component can skip drawing. Most labels do not change during a drag.
class Text extends Component<TextProps> {
  override shouldComponentUpdate({ label, colour, outline }: TextProps): boolean {
    const before = this.props;
    if (colour !== before.colour || outline !== before.outline) return true;
    return DRAWN_PARTS.some((part) => label[part] !== before.label[part]);
  }
  render({ label, colour, outline }: TextProps) {
    const { badge, key, isCovered } = label;
    if (!badge) return this.text(label, colour, outline);
    const { left } = boxOf(label);
    const [width, y] = [badgeWidth(badge), label.y - 11];
    const text: PlacedLabel = { ...label, x: left + width + BADGE_GAP_PX, anchor: "start" };
    return (
      <g opacity={isCovered ? COVERED_OPACITY : undefined}>
        <g data-badge={key}>
          <rect x={left} y={y} width={width} height={BADGE_PX} rx={4} fill={colour} stroke={outline} />
          <text
            x={left + width / 2}
            y={label.y}
            text-anchor="middle"
            font-size={BADGE_FONT_PX}
            font-weight={700}
            fill={outline}
          >
            {badge}
          </text>
        </g>
        {label.text && this.text({ ...text, isCovered: false }, colour, outline)}
      </g>
    );
  }
  private text(label: PlacedLabel, colour: string, outline: string) {
    return (
      <text
        data-label={label.key}
        opacity={label.isCovered ? COVERED_OPACITY : undefined}
        x={label.x}
        y={label.y}
        text-anchor={label.anchor}
        transform={label.angle ? `rotate(${label.angle} ${label.x} ${label.y})` : undefined}
        font-size={FONT_PX}
        font-weight={label.bold ? 700 : 400}
        fill={colour}
        stroke={outline}
        stroke-width={3}
        stroke-linejoin="round"
        paint-order="stroke"
        unicode-bidi="isolate"
      >
        {spansOf(label)}
      </text>
    );
  }
}
