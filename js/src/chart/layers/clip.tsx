// Clips drawings to a box of the chart.

import { Component, type ComponentChildren } from "preact";
import type { Box, Scales } from "../scales.ts";
import { ON_SCREEN } from "../svg_text.ts";

interface ClipProps {
  readonly box: Box;
  readonly class?: string;
  readonly fill?: string;
  readonly children: ComponentChildren;
}

/**
 * Paints nothing over all of the chart and far around it, on the screen alone. What is drawn together with it then keeps
 * its bounds while it moves. The browser makes all layers of the page anew when the bounds change.
 */
export class Still extends Component {
  override shouldComponentUpdate() {
    return false;
  }
  render() {
    return <rect x={-1e4} y={-1e4} width={3e4} height={3e4} fill={ON_SCREEN} />;
  }
}

/**
 * Clips its children with a nested svg. A clip path would need an id, and two views on one page would have the same id.
 */
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
      <Still />
      {children}
    </svg>
  );
}

/**
 * Returns the box inside which points are drawn. Without a zoom, this is the whole chart. Under a zoom, this is the
 * plot together with the edges for kernels without FLOPs or bytes.
 */
export function frameOf(scales: Scales & { readonly outer?: Box }): Box {
  const { width, height, plot, outer, strip, whole } = scales;
  if (!whole) return { left: 0, top: 0, right: width, bottom: height };
  return outer ?? { ...plot, left: strip?.left ?? plot.left };
}
