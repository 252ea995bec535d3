// A plane that is drawn as SVG alone, on the screen: the element with its pointer and keys.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { GestureOf } from "../../ui/gesture.ts";
import { keyShortcuts, OWN_KEYS, UNDO_KEYS } from "../../ui/keys.ts";
import type { ChartDrag } from "../gestures/chart_drag.ts";
import type { Size } from "../scales.ts";
import type { Theme } from "../theme.ts";
import type { Tools } from "../tools.ts";

interface SvgPlaneProps {
  readonly size: Size;
  readonly theme: Theme;
  readonly tools: Tools;
  /** The name of the plane for screen readers. */
  readonly label: string;
  /** The keys that the plane handles. */
  readonly keys: readonly string[];
  readonly gesture: GestureOf<ChartDrag>;
  onPointer(event: PointerEvent): void;
  onKeyDown(event: KeyboardEvent): void;
  onClick?(event: MouseEvent): void;
  /** Hovers nothing. */
  leave(): void;
  readonly layers: ComponentChildren;
  /** Elements in addition to the picture, such as the tooltip. */
  readonly children?: ComponentChildren;
}

export function SvgPlane(props: SvgPlaneProps) {
  const { size, theme, tools, label, keys, gesture, onPointer, onKeyDown, onClick, leave, layers, children } = props;
  const latest = useRef(onKeyDown);
  latest.current = onKeyDown;
  useLayoutEffect(() => {
    tools.plane.value = { size, theme, keys: (event) => latest.current(event) };
  }, [size.width, size.height, theme]);
  useLayoutEffect(() => () => leave(), []);
  return (
    <div
      class="rw-chart"
      data-tool="select"
      style={{ width: `${size.width}px`, height: `${size.height}px` }}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the points
      tabIndex={0}
      {...OWN_KEYS}
      aria-label={label}
      aria-keyshortcuts={keyShortcuts(keys, UNDO_KEYS)}
      onPointerMove={onPointer}
      onPointerDown={onPointer}
      onPointerUp={(event) => gesture.end(event)}
      onPointerCancel={() => gesture.cancel()}
      onLostPointerCapture={() => gesture.cancel()}
      onPointerLeave={(event) => event.pointerType !== "touch" && !gesture.drag && leave()}
      onFocusOut={leave}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <svg width={size.width} height={size.height} aria-hidden="true">
        {layers}
      </svg>
      {children}
    </div>
  );
}

/** The keys that go from point to point. */
export const WALK_KEYS = ["ArrowRight", "ArrowLeft", "Home", "End", "Escape"] as const;

/** Returns the number of the point to which a key goes; undefined for Escape. `now` is -1 without a hovered point. */
export const walkTo = (key: string, now: number, last: number): number | undefined =>
  ({
    ArrowRight: Math.min(now + 1, last),
    ArrowLeft: now < 0 ? last : Math.max(now - 1, 0),
    Home: 0,
    End: last,
  })[key];
