// The chart as a picture: SVG text, computed from the state, the size and the theme, without the DOM. The title is above
// the layers of the chart, the legend and the sentence are below.

import type { VNode } from "preact";
import type { Store } from "../state/store.ts";
import { withoutForbidden } from "../text/xml.ts";
import { captionOf, hasLegend, legendOf } from "./caption.ts";
import { FONT_PX, linesOf, textWidth } from "./labels/text_fitting.ts";
import { Labels, Rings } from "./layers/marks.tsx";
import { PointShapes } from "./layers/points.tsx";
import { rooflineDrawing } from "./roofline_layers.tsx";
import type { Size } from "./scales.ts";
import { svgText } from "./svg_text.ts";
import type { Theme } from "./theme.ts";
import { timeDrawing } from "./time/layers.tsx";

/** A picture as SVG text, and its size, px. */
export interface Picture extends Size {
  readonly svg: string;
}

/** The fonts of JupyterLab's user interface. */
const FONTS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
const [LINE_PX, EDGE_PX] = [18, 12];

/** Draws the chart. `pointedChip`: see `captionOf`. */
export function pictureOf(store: Store, size: Size, theme: Theme, pointedChip?: string): Picture {
  const { width } = size;
  const parts: VNode[] = [];
  const write = (text: string, x: number, top: number, isTitle = false) =>
    parts.push(
      <text
        x={x}
        y={top + FONT_PX}
        font-weight={isTitle ? 600 : undefined}
        font-size={isTitle ? FONT_PX + 2 : undefined}
        fill={theme.text}
        unicode-bidi="isolate"
      >
        {text}
      </text>,
    );
  let y = EDGE_PX;
  if (store.title.value) {
    write(store.title.value, EDGE_PX, y, true);
    y += LINE_PX + EDGE_PX / 2;
  }
  const draw = store.view.value === "time" ? timeDrawing : rooflineDrawing;
  const { scene, looks, labels, under, over } = draw(store, size, theme);
  parts.push(
    <svg {...{ y, ...size }} aria-hidden="true">
      {under}
      <g data-layer="points">
        <PointShapes scene={scene} looks={looks} />
      </g>
      <Rings scene={scene} pointed={scene.points.home[store.pointed.value ?? -1] ?? -1} />
      {over}
      <Labels labels={labels} scene={scene} />
    </svg>,
  );
  y += size.height + LINE_PX / 2;
  let x = EDGE_PX;
  for (const { name, colour } of hasLegend(store) ? legendOf(store.kernels.value, theme) : []) {
    const room = textWidth(name) + 2 * EDGE_PX;
    if (x > EDGE_PX && x + room > width) [x, y] = [EDGE_PX, y + LINE_PX];
    if (colour) parts.push(<circle cx={x + 4} cy={y + 8} r={4} fill={colour} />);
    write(name, x + EDGE_PX, y);
    x += room + EDGE_PX;
  }
  if (x > EDGE_PX) y += LINE_PX;
  // Each of the two texts begins on a new line.
  const { text, note } = captionOf(store, pointedChip);
  for (const line of [text, note].flatMap((part) => linesOf(part, width - 2 * EDGE_PX))) {
    write(line, EDGE_PX, y);
    y += LINE_PX;
  }
  const height = Math.ceil(y + EDGE_PX / 2);
  const svg = svgText(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      {...{ width, height }}
      viewBox={`0 0 ${width} ${height}`}
      font-family={FONTS}
      font-size={FONT_PX}
      style="font-variant-numeric: tabular-nums"
    >
      <title>{store.title.value || text}</title>
      <rect width={width} height={height} fill={theme.background} />
      {parts}
    </svg>,
  );
  return { svg: withoutForbidden(svg), width, height };
}
