// The latency roof of one kernel: a thin slope below the bandwidth, and a line across the strip of kernels without FLOPs.

import { judge } from "../../roofline/bound.ts";
import { isContradicted, type LatencyRoof, latencyLimit } from "../../roofline/latency.ts";
import type { Rates } from "../../roofline/roofline.ts";
import { latencyLabel } from "../../text/latency.ts";
import { squareAround } from "../labels/box_index.ts";
import { type Label, MUTED, TEXT } from "../labels/engine.ts";
import { RULES } from "../labels/rules.ts";
import { px, slopePath } from "../paths.ts";
import { type Box, holds, isNarrow, type Scales } from "../scales.ts";
import { isNearRoof, type Scene } from "../scene.ts";
import type { Theme } from "../theme.ts";
import { Clip } from "./clip.tsx";

/** The line of a latency roof: its slope ends at the peak of the kernel. */
export interface LatencyLine {
  readonly row: number;
  readonly roof: LatencyRoof;
  readonly rates: Rates;
  readonly isMarked: boolean;
}

/**
 * Returns the latency roof of the hovered kernel, else of the selected one, else of the first to fix. Undefined if latency
 * does not limit it, if the roof of the chip is too near, or if the kernel is faster than its latency roof.
 */
export function latencyLineOf(scene: Scene): LatencyLine | undefined {
  const { kernels, points, focus, marked, emphasised, ranked } = scene;
  const row = marked[0] ?? (emphasised.size > 0 ? undefined : ranked[0]);
  if (!focus || row === undefined || (points.home[row] ?? -1) < 0) return undefined;
  const roof = latencyLimit(kernels, row, focus);
  if (!roof || isContradicted(roof, kernels.time[row] || Number.NaN)) return undefined;
  const rates = { peak: judge(kernels, focus)(row).peak || focus.peak, bandwidth: roof.rate };
  if (isNearRoof({ kind: "bandwidth", ...rates }, scene)) return undefined;
  return { row, roof, rates, isMarked: marked.includes(row) };
}

interface LatencySlopeProps {
  readonly line: LatencyLine;
  readonly scales: Scales;
  readonly theme: Theme;
}

export function LatencySlope({ line: { rates, isMarked }, scales, theme }: LatencySlopeProps) {
  const { plot, strip } = scales;
  const stroke = isMarked ? theme.text : theme.line;
  const across = strip?.y(rates.bandwidth);
  return (
    <g data-rw="latency-roof" stroke={stroke}>
      <Clip box={plot} fill="none">
        <path d={slopePath(rates, scales)} />
      </Clip>
      {strip && across !== undefined && holds(strip, strip.left, across) && (
        <path d={`M${strip.left},${px(across)}H${strip.right}`} />
      )}
    </g>
  );
}

/** The number of small boxes that approximate the slope. */
const BOXES_ALONG_SLOPE = 60;

/** Returns boxes along the slope, which labels avoid. */
export function latencyBoxes({ scales: { x, y } }: Scene, { rates }: LatencyLine): Box[] {
  const [low] = x.domain;
  const ridge = rates.peak / rates.bandwidth;
  return Array.from({ length: BOXES_ALONG_SLOPE }, (_, step) => {
    const ai = low * (ridge / low) ** (step / BOXES_ALONG_SLOPE);
    return squareAround(x(ai), y(ai * rates.bandwidth), 2);
  });
}

/** Returns the label along the slope. A narrow chart has room for its short form. */
export function latencyLabelOf({ scales }: Scene, { row, roof, rates, isMarked }: LatencyLine): Label {
  const [text, brief] = latencyLabel(roof);
  return {
    ...{ kind: "latency", key: `latency ${row}`, colour: isMarked ? TEXT : MUTED },
    ...(isNarrow(scales) ? { text: brief } : { text, shorter: [brief] }),
    positions: RULES.latency.positions(rates, scales),
  };
}
