// A small map of a graph that is wider than its panel. A press on the map scrolls the graph there.

import type { RefObject } from "preact";
import type { Flow, Room } from "./flow.ts";

/** The largest size of the map, px. */
const [MAX_WIDTH_PX, MAX_HEIGHT_PX] = [160, 40];

interface MapProps {
  readonly flow: Flow;
  readonly room: Room;
  /** Where the visible part begins, px. */
  readonly at: { readonly left: number; readonly top: number };
  readonly frame: RefObject<HTMLElement | null>;
}

export function OverviewMap({ flow: { width, height, boxes, boxHeight }, room, at, frame }: MapProps) {
  const scale = Math.min(MAX_WIDTH_PX / width, MAX_HEIGHT_PX / height);
  function go(event: PointerEvent) {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    frame.current?.scrollTo(x * width - room.width / 2, y * height - room.height / 2);
  }
  return (
    <svg
      class="rw-map"
      aria-hidden="true"
      width={width * scale}
      height={height * scale}
      viewBox={`0 0 ${width} ${height}`}
      onPointerDown={(event) => {
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => event.buttons > 0 && go(event)}
    >
      <path
        d={boxes
          .map(({ x, y, width }) => `M${x - width / 2} ${y - boxHeight / 2}h${width}v${boxHeight}h${-width}z`)
          .join("")}
      />
      <rect x={at.left} y={at.top} width={room.width} height={Math.min(height, room.height)} stroke-width={2 / scale} />
    </svg>
  );
}
