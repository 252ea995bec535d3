// The chart as a picture: SVG text, computed from the state, the size and the theme, without the DOM. The title is above
// the layers of the chart, the legend and the kernels that are not drawn are below.

import { kindsOf } from "../roofline/network.ts";
import type { Store } from "../state/store.ts";
import { withoutForbidden } from "../text/xml.ts";
import { captionOf, hasLegend, legendOf } from "./caption.ts";
import { InstructionLayers } from "./instructions/layers.tsx";
import { instructionScene } from "./instructions/scene.ts";
import { FONT_PX, linesOf, textWidth } from "./labels/text_fitting.ts";
import { ColourScale, SCALE_HEIGHT_PX, scaleWidth } from "./layers/colour_scale.tsx";
import { Labels, Rings } from "./layers/marks.tsx";
import { CategoryDot, PointShapes } from "./layers/points.tsx";
import { NetworkLayers } from "./network/layers.tsx";
import { kindCode, kindColour, networkScene } from "./network/scene.ts";
import { rooflineDrawing } from "./roofline_layers.tsx";
import type { Size } from "./scales.ts";
import { isPatternedIn } from "./scene.ts";
import { svgText } from "./svg_text.ts";
import type { Theme } from "./theme.ts";
import { timeDrawing } from "./time/layers.tsx";

/** A picture as SVG text, what it shows in words, and its size, px. */
export interface Picture extends Size {
  readonly svg: string;
  readonly title: string;
}

/** The fonts of JupyterLab's user interface, then two with letters of about the same width, for other machines. */
const FONTS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'Liberation Sans', 'Hanken Grotesk', sans-serif";
const [LINE_PX, EDGE_PX] = [18, 12];

/** A line of text around the chart, with the colour of the dot before it. `y` is the line's top, px. */
interface Line {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly dot?: { readonly colour: string; readonly category: number } | undefined;
}

/** What stands under the chart, and its height. The lines' `y` begins at the chart's bottom. */
function caption(store: Store, width: number, theme: Theme, pointedChip: string | undefined) {
  const lines: Line[] = [];
  let [x, y] = [EDGE_PX, LINE_PX / 2];
  const isNetwork = store.view.plane.value === "network";
  const legend = isNetwork || !hasLegend(store) ? undefined : legendOf(store, theme);
  let scale: { readonly ticks: readonly string[]; readonly x: number; readonly y: number } | undefined;
  const add = (text: string, dot: Line["dot"], indent = EDGE_PX) => {
    const room = textWidth(text) + EDGE_PX + indent;
    if (x > EDGE_PX && x + room > width) [x, y] = [EDGE_PX, y + LINE_PX];
    lines.push({ text, x: x + indent, y, dot });
    x += room + EDGE_PX;
  };
  if (legend?.isTitled) add(legend.title, undefined, 0);
  if (legend?.ticks) {
    scale = { ticks: legend.ticks, x, y: y + 2 };
    x += scaleWidth(legend.ticks) + 2 * EDGE_PX;
  }
  for (const { name, colour, code } of legend?.entries ?? [])
    add(name, colour ? { colour, category: code } : undefined);
  if (isNetwork)
    for (const [kind] of kindsOf(store.rows.messages.value))
      add(kind, { colour: kindColour(kind, theme), category: kindCode(kind) });
  if (x > EDGE_PX) y += LINE_PX;
  if (scale) y = Math.max(y, scale.y + SCALE_HEIGHT_PX + EDGE_PX / 2);
  const { text, note } = captionOf(store, pointedChip);
  for (const line of linesOf(note, width - 2 * EDGE_PX)) {
    lines.push({ text: line, x: EDGE_PX, y });
    y += LINE_PX;
  }
  return { lines, scale, text, height: y + EDGE_PX / 2 };
}

/**
 * Draws the chart. `heightOf` returns the height of the chart for the height of what stands around it, px. For
 * `pointedChip`, see `captionOf`. `words` replace what the picture says that it shows.
 */
export function pictureOf(
  store: Store,
  width: number,
  heightOf: (around: number) => number,
  theme: Theme,
  pointedChip?: string,
  words = "",
): Picture {
  const title = store.view.title.value;
  const under = caption(store, width, theme, pointedChip);
  const said = words || inWords(store) || under.text;
  const top = EDGE_PX + (title ? LINE_PX + EDGE_PX / 2 : 0);
  const size = { width, height: heightOf(Math.ceil(top + under.height)) };
  const bottom = top + size.height;
  const height = Math.ceil(bottom + under.height);
  const svg = svgText(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      {...{ width, height }}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONTS}
      font-size={FONT_PX}
      style="font-variant-numeric: tabular-nums"
    >
      <title>{said}</title>
      <rect width={width} height={height} fill={theme.background} />
      {title && (
        <text x={EDGE_PX} y={EDGE_PX + FONT_PX} font-weight={600} font-size={FONT_PX + 2} {...textLooks(theme)}>
          {title}
        </text>
      )}
      <svg {...{ y: top, ...size }} aria-hidden="true">
        {layersOf(store, size, theme)}
      </svg>
      {under.scale && (
        <ColourScale ticks={under.scale.ticks} theme={theme} x={under.scale.x} y={bottom + under.scale.y} />
      )}
      {under.lines.map(({ text, x, y, dot }) => (
        <>
          {dot && (
            <CategoryDot
              isPatterned={isPatternedIn(store, theme)}
              {...dot}
              x={x - 8}
              y={bottom + y + 8}
              outline={theme.background}
            />
          )}
          <text x={x} y={bottom + y + FONT_PX} {...textLooks(theme)}>
            {text}
          </text>
        </>
      ))}
    </svg>,
  );
  return { svg: withoutForbidden(svg), title: said, width, height };
}

/** Returns the layers of the shown plane. */
function layersOf(store: Store, size: Size, theme: Theme) {
  const plane = store.view.plane.value;
  if (plane === "network") return <NetworkLayers scene={networkScene(store, size, theme)} />;
  if (plane === "instructions") return <InstructionLayers scene={instructionScene(store, size, theme)} />;
  const draw = plane === "time" ? timeDrawing : rooflineDrawing;
  const { scene, looks, labels, under, over } = draw(store, size, theme);
  return (
    <>
      {under}
      <g data-layer="points">
        <PointShapes scene={scene} looks={looks} />
      </g>
      <Rings scene={scene} pointed={scene.points.home[store.rows.pointed.value ?? -1] ?? -1} />
      {over}
      <Labels labels={labels} scene={scene} />
    </>
  );
}

/** Returns the alternative text of the chart: its title, and the headline with the line that explains it. */
function inWords(store: Store): string {
  const verdict = store.rows.pictureHeadline.value;
  const told = verdict ? `${verdict.headline} ${verdict.detail}`.trim() : "";
  return [store.view.title.value, told].filter(Boolean).join(": ");
}

const textLooks = ({ text }: Theme) => ({ fill: text, "unicode-bidi": "isolate" });
