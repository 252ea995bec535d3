// Draws a figure for a paper or a slide as SVG text: a roofline without the words and the tools of the screen.

import type { VNode } from "preact";
import type { Roof } from "../../roofline/roofline.ts";
import type { Store } from "../../state/store.ts";
import { withoutControls } from "../../text/controls.ts";
import { shortNames } from "../../text/names.ts";
import { withoutForbidden } from "../../text/xml.ts";
import { axisWords } from "../../words/words.ts";
import { px } from "../paths.ts";
import { patternPath, patternWidth, shapePath } from "../points/shapes.ts";
import { rectOf, type Size } from "../scales.ts";
import { shownFocus, unitsIn } from "../scene.ts";
import { svgText } from "../svg_text.ts";
import type { Theme } from "../theme.ts";
import { captionOf } from "./caption.ts";
import { contentOf, type Names } from "./dots.ts";
import { type FigureTick, type Frame, frameOf, type Placed, placedDots } from "./frame.ts";
import { type Layout, type Line, layOut, type Text } from "./layout.ts";
import {
  brokenLines,
  type FigureStyle,
  FONTS,
  GRID,
  LINE_EM,
  MIN_PATTERN_RADIUS,
  PAPER,
  STYLES,
  type StyleName,
  THIN,
} from "./styles.ts";

export interface FigureOptions {
  readonly style: StyleName;
  /** Whether the caption is under the figure. It always is its alternative text. */
  readonly caption: boolean;
  readonly names: Names;
  /** Whether shapes tell what bounds a kernel, and patterns tell its category: for print without colours. */
  readonly patterns: boolean;
  readonly ceilings: boolean;
}

/** A figure as SVG text, its caption, and its size in px of 1/96 inch. */
export interface Figure extends Size {
  readonly svg: string;
  readonly title: string;
}
/** A requested name that no kernel has, and the names that there are. */
export interface UnknownName {
  readonly unknownName: string;
  readonly knownNames: readonly string[];
}

const PX_PER_POINT = 96 / 72;

export function figureOf(store: Store, options: FigureOptions, theme: Theme): Figure | UnknownName {
  const style = STYLES[options.style];
  const paint = theme.dark ? { ink: theme.text, thin: theme.muted, grid: theme.grid, strip: theme.grid } : PAPER;
  const { ink } = paint;
  const content = contentOf(store, style, { ...theme, text: ink }, options.names);
  const { unknownName } = content;
  if (unknownName !== undefined) return { unknownName, knownNames: content.knownNames };
  const roofs = store.rates.shownRoofs.value;
  const focus = shownFocus(store) ?? roofs[0];
  const units = unitsIn(store, focus);
  const frame = frameOf(store, style, content, units);
  const dots = placedDots(content, frame, style, options.patterns);
  const named = shortNames(store.rates.chips.value);
  const layout = layOut({
    ...{ style, content, frame, dots, roofs, focus, units },
    nameOf: ({ chip }: Roof) => withoutControls(named.get(chip.id) ?? chip.name),
    ceilings: options.ceilings ? store.rates.subRoofs.value : [],
    terms: store.view.terms.value,
  });
  const caption = captionOf(store, content.counts, content.isMeasured);
  const { width, font } = style;
  const lines = options.caption ? caption.flatMap((line) => brokenLines(line, width - font, font)) : [];
  // A multiple of 3 points is a whole number of px.
  const height = 3 * Math.ceil((layout.bottom + (lines.length > 0 ? lines.length * LINE_EM + 0.4 : 0) * font) / 3);
  const looks = { ...paint, style, theme, isPatterned: options.patterns };
  const said = caption.join(" ");
  const svg = svgText(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={`${width}pt`}
      height={`${height}pt`}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONTS}
      font-size={font}
      role="img"
    >
      <title>{store.view.title.value || caption[0] || ""}</title>
      <desc>{said}</desc>
      <rect width={width} height={height} fill={theme.background} />
      <Axes frame={frame} {...looks} />
      <g data-layer="roofs" fill="none" stroke={ink}>
        {layout.lines.map((line) => (
          <path {...strokeOf(line)} stroke={line.isThin ? paint.thin : undefined} />
        ))}
      </g>
      <Dots dots={dots} opacity={content.opacity} {...looks} />
      <Legend layout={layout} {...looks} />
      <g data-layer="leaders" fill="none" stroke={paint.thin} stroke-width={style.axis * THIN}>
        {layout.leaders.map(([[x, y], [toX, toY]]) => (
          <path d={`M${px(x)},${px(y)}L${px(toX)},${px(toY)}`} />
        ))}
      </g>
      <g data-layer="texts" fill={ink}>
        {layout.texts.map((text) => (
          <TextOf {...text} />
        ))}
        {lines.map((text, at) => (
          <text x={font / 2} y={layout.bottom + (at + 0.8) * LINE_EM * font}>
            {text}
          </text>
        ))}
      </g>
    </svg>,
  );
  const title = [store.view.title.value, said].filter(Boolean).join(". ");
  return {
    ...{ svg: withoutForbidden(svg), title: withoutForbidden(title) },
    ...{ width: width * PX_PER_POINT, height: height * PX_PER_POINT },
  };
}

interface Paint {
  readonly ink: string;
  readonly style: FigureStyle;
  readonly theme: Theme;
  readonly grid: string;
  readonly strip: string;
  readonly isPatterned: boolean;
}

const strokeOf = ({ points, width, dashes }: Line) => ({
  d: `M${points.map(([x, y]) => `${px(x)},${px(y)}`).join("L")}`,
  "stroke-width": width,
  "stroke-dasharray": dashes || undefined,
  "stroke-linejoin": "round" as const,
});

/** The lengths of the marks of decades and of their multiples, font sizes. */
const [MAJOR_EM, MINOR_EM] = [0.43, 0.23];

function Axes({ frame, ink, style, grid, strip: fill }: Paint & { readonly frame: Frame }) {
  const { plot, strip, xTicks, yTicks } = frame;
  const { font, axis } = style;
  const { left, right, top, bottom } = plot;
  const line = (d: string) => <path d={d} />;
  const across = ({ at }: FigureTick, from: number, to: number) => line(`M${px(from)},${px(at)}H${px(to)}`);
  const down = ({ at }: FigureTick, from: number, to: number) => line(`M${px(at)},${px(from)}V${px(to)}`);
  const length = ({ isMajor }: FigureTick) => (isMajor ? MAJOR_EM : MINOR_EM) * font;
  const middle = (top + bottom) / 2;
  const titleX = (strip ? strip.right + 0.75 * font : 0) + font;
  const isNumbered = ({ isMajor }: FigureTick) => isMajor;
  return (
    <g data-layer="axes">
      {strip && <rect {...rectOf(strip)} fill={fill} />}
      <g stroke={grid} stroke-width={GRID} fill="none">
        {yTicks.filter(isNumbered).map((tick) => across(tick, left, right))}
        {xTicks.filter(isNumbered).map((tick) => down(tick, top, bottom))}
      </g>
      <g stroke={ink} stroke-width={axis * THIN} fill="none">
        {yTicks.map((tick) => across(tick, left, left + length(tick)))}
        {xTicks.map((tick) => down(tick, bottom, bottom - length(tick)))}
      </g>
      <path
        d={`M${px(left)},${px(top)}V${px(bottom)}H${px(right)}${strip ? `M${px(strip.left)},${px(bottom)}H${px(strip.right)}` : ""}`}
        {...{ fill: "none", stroke: ink, "stroke-width": axis }}
      />
      <g fill={ink}>
        <g text-anchor="end">
          {yTicks.map(
            ({ at, text }) =>
              text && (
                <text x={left - 0.4 * font} y={at + 0.35 * font}>
                  {text}
                </text>
              ),
          )}
        </g>
        <g text-anchor="middle">
          {xTicks.map(
            ({ at, text }) =>
              text && (
                <text x={at} y={bottom + 1.25 * font}>
                  {text}
                </text>
              ),
          )}
          <text x={(left + right) / 2} y={bottom + 2.75 * font}>
            {frame.xTitle}
          </text>
          <text transform={`translate(${titleX} ${middle}) rotate(-90)`}>{frame.yTitle}</text>
        </g>
        {strip && (
          <text x={strip.left} y={bottom + 1.25 * font}>
            {axisWords.zeroFlops("FLOP")}
          </text>
        )}
      </g>
    </g>
  );
}

function Dots({
  dots,
  opacity,
  style,
  theme,
  isPatterned,
}: Paint & { readonly dots: readonly Placed[]; readonly opacity: number }) {
  return (
    <g data-layer="points" stroke={theme.background} stroke-width={style.outline} fill-opacity={opacity}>
      {dots.map((dot) => (
        <Mark {...dot} {...{ isPatterned, background: theme.background }} />
      ))}
    </g>
  );
}

interface MarkProps extends Pick<Placed, "x" | "y" | "radius" | "colour" | "code"> {
  readonly side?: number;
  readonly isHollow?: boolean;
  readonly isPatterned: boolean;
  readonly background: string;
}

/** A dot; with patterns a shape by what bounds the kernel, with the lines of its category. */
function Mark({ x, y, radius, colour, code, side = 0, isHollow, isPatterned, background }: MarkProps): VNode {
  const looks = isHollow ? { fill: background, stroke: colour } : { fill: colour };
  if (!isPatterned) return <circle cx={x} cy={y} r={radius} {...looks} />;
  const lines = code > 0 ? patternPath([x, y], radius, code, MIN_PATTERN_RADIUS) : "";
  return (
    <>
      <path d={shapePath([x, y], radius, side)} {...looks} />
      {lines && <path d={lines} {...{ fill: "none", stroke: background, "stroke-width": patternWidth(radius) }} />}
    </>
  );
}

function Legend({ layout, style, theme, isPatterned }: Paint & { readonly layout: Layout }) {
  const { plates, swatches } = layout;
  return (
    <g data-layer="legend">
      {plates.map((plate) => (
        <rect {...rectOf(plate)} fill={theme.background} fill-opacity={0.9} />
      ))}
      {swatches.map((swatch) => (
        <Mark {...swatch} radius={0.35 * style.font} {...{ isPatterned, background: theme.background }} />
      ))}
    </g>
  );
}

/** A text, whose parts may be bold. */
function TextOf({ x, y, anchor, angle, parts }: Text): VNode {
  const place = angle ? { transform: `translate(${x} ${y}) rotate(${angle})` } : { x, y };
  return (
    <text {...place} text-anchor={anchor === "start" ? undefined : anchor}>
      {parts.map(({ text, isBold }) => (isBold ? <tspan font-weight="bold">{text}</tspan> : text))}
    </text>
  );
}
