// What is drawn within a box of the chart and nowhere else.

import type { ComponentChildren } from "preact";
import type { Box, Scales } from "../scales.ts";

interface ClipProps {
  readonly box: Box;
  readonly class?: string;
  readonly fill?: string;
  readonly children: ComponentChildren;
}

/** A nested svg clips without an id, which two views could share. */
export function Clip({ box, children, ...look }: ClipProps) {
  const { left, top } = box;
  const [width, height] = [Math.max(0, box.right - left), Math.max(0, box.bottom - top)];
  return (
    <svg
      x={left}
      y={top}
      width={width}
      height={height}
      viewBox={`${left} ${top} ${width} ${height}`}
      aria-hidden="true"
      {...look}
    >
      {children}
    </svg>
  );
}

/** Where what belongs to points may be drawn: all over the chart, but under a zoom on its plot and its edges alone. */
export function frameOf(scales: Scales & { readonly outer?: Box }): Box {
  const { width, height, plot, outer, strip, whole } = scales;
  if (!whole) return { left: 0, top: 0, right: width, bottom: height };
  return outer ?? { ...plot, left: strip?.left ?? plot.left };
}
