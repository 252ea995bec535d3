// Everything above the points: rings around marked kernels, leaders, and all texts of the chart.

import { Component, type VNode } from "preact";
import {
  BADGE_FONT_PX,
  BADGE_GAP_PX,
  BADGE_PX,
  badgeWidth,
  boxOf,
  type LabelName,
  labelColour,
  leaderOf,
  type PlacedLabel,
} from "../labels/engine.ts";
import { FONT_PX } from "../labels/text_fitting.ts";
import { radiusAt } from "../points/painter.ts";
import { isShown } from "../points/visible.ts";
import { type Box, isOffScale, OFF_SCALE_PX, rectOf, spotAt } from "../scales.ts";
import { indicesOf, type Scene } from "../scene.ts";
import { Still } from "./clip.tsx";

export function Rings({ scene, pointed }: { scene: Scene; pointed: number }) {
  return (
    <>
      {scene.marked.flatMap((row) =>
        indicesOf(scene, row)
          .filter((index) => isShown(scene, index))
          .map((index) => (
            <circle
              key={`${row} ${index}`}
              class="rw-ring"
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
  return box ? <rect class="rw-marquee" {...rectOf(box)} /> : null;
}

/**
 * Draws a sign above each point that is above the axes, in red, and a sign beside each point of a minor kernel that is
 * drawn at an edge of the plot. The sign points to where the point would be.
 */
export function OffScaleSigns({ scene: { points, at, scales, above, theme } }: { scene: Scene }) {
  const { top, bottom, left, right } = scales.plot;
  const xs = above.flatMap((row) => {
    const index = points.home[row] ?? -1;
    return isOffScale(scales, ...spotAt(points, index)) ? [at.x[index] as number] : [];
  });
  const minor = at.beyond?.map((index) => {
    const [x, y] = [Math.round(at.x[index] as number), Math.round(at.y[index] as number)];
    if (y === bottom - OFF_SCALE_PX) return `M${x - 4},${bottom - 5}l4,4l4,-4`;
    const [tip, back] = x < (left + right) / 2 ? [left + 1, 4] : [right - 1, -4];
    return `M${tip + back},${y - 4}l${-back},4l${back},4`;
  });
  const d = [...new Set(xs.map(Math.round))].map((x) => `M${x - 4},${top + 5}l4,-4l4,4`).join("");
  return (
    <>
      <path d={d} fill="none" stroke={theme.alert} stroke-width={1.5} />
      <path d={[...new Set(minor)].join("")} fill="none" stroke={theme.muted} stroke-width={1.5} />
    </>
  );
}

/** Draws the leaders from points to far names. */
export function Leaders({ labels, scene }: { labels: readonly PlacedLabel[]; scene: Scene }) {
  return <path d={labels.map(leaderOf).join("")} fill="none" stroke={scene.theme.line} />;
}

/** The distance between two lines of a label, px. */
export const LINE_PX = 15;

/** Returns the coordinates of a place in a plane that is turned by an angle in degrees. */
function turnedBack(x: number, y: number, angle: number): readonly [x: number, y: number] {
  const turn = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  return [x * cos + y * sin, y * cos - x * sin];
}

function spansOf({ text, names }: PlacedLabel, x: number, scene: Scene) {
  if (names) return namedSpans(text, names, scene);
  if (!text.includes("\n")) return text;
  return text.split("\n").map((line, at) => (
    <tspan key={line} x={x} dy={at && LINE_PX}>
      {line}
    </tspan>
  ));
}

/** Returns a text with its names in their own weights and colours. What was measured is in a second colour. */
function namedSpans(text: string, names: readonly LabelName[], scene: Scene) {
  const spans: VNode[] = [];
  let from = 0;
  for (const name of names) {
    const at = text.indexOf(name.text, from);
    if (at < 0) continue;
    const colour = labelColour(name, scene);
    if (at > from) spans.push(<tspan key={`gap ${at}`}>{text.slice(from, at)}</tspan>);
    spans.push(
      <tspan key={at} font-weight={name.bold ? 700 : 400} fill={colour}>
        {name.text}
      </tspan>,
    );
    from = at + name.text.length;
  }
  const [rate, ...measured] = text.slice(from).split(" · ");
  return [
    ...spans,
    rate,
    ...measured.map((part) => (
      <tspan key="measured" fill={scene.theme.muted}>
        {` · ${part}`}
      </tspan>
    )),
  ];
}

export const Labels = ({ labels, scene }: { labels: readonly PlacedLabel[]; scene: Scene }) => (
  <>
    {labels.map((label) => (
      <Text
        key={label.key}
        label={label}
        colour={labelColour(label, scene)}
        outline={scene.theme.background}
        scene={scene}
      />
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
  readonly scene: Scene;
}

// A class component can skip drawing. Most labels do not change during a drag.
class Text extends Component<TextProps> {
  override shouldComponentUpdate({ label, colour, outline }: TextProps): boolean {
    const before = this.props;
    if (colour !== before.colour || outline !== before.outline) return true;
    return DRAWN_PARTS.some((part) => label[part] !== before.label[part]);
  }
  render({ label, colour, outline, scene }: TextProps) {
    const { badge, key, isCovered } = label;
    if (!badge) return this.text(label, colour, outline, scene);
    const { left } = boxOf(label);
    const [width, y] = [badgeWidth(badge), label.y - 11];
    const text: PlacedLabel = { ...label, x: left + width + BADGE_GAP_PX, anchor: "start" };
    return (
      <g data-rw="label" opacity={isCovered ? COVERED_OPACITY : undefined}>
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
        {label.text && this.text({ ...text, isCovered: false }, colour, outline, scene)}
      </g>
    );
  }
  /** A turned text moves in turned coordinates: a transform that changes makes all layers of the page anew. */
  private text(label: PlacedLabel, colour: string, outline: string, scene: Scene) {
    const { angle } = label;
    const [x, y] = angle ? turnedBack(label.x, label.y, angle) : [label.x, label.y];
    const text = (
      <text
        data-label={label.key}
        data-rw={label.kind === "kernel" && !label.badge ? "label" : undefined}
        opacity={label.isCovered ? COVERED_OPACITY : undefined}
        x={x}
        y={y}
        text-anchor={label.anchor}
        font-size={FONT_PX}
        font-weight={label.bold && !label.names ? 700 : 400}
        fill={colour}
        stroke={outline}
        stroke-width={3}
        stroke-linejoin="round"
        paint-order="stroke"
        unicode-bidi="isolate"
      >
        {spansOf(label, x, scene)}
      </text>
    );
    if (!angle) return text;
    return (
      <>
        <g transform={`rotate(${angle})`}>
          <Still />
          {text}
        </g>
        <Still />
      </>
    );
  }
}
