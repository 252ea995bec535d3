// The stage of the roofline plane and the time view: a canvas and SVG layers of the same size, with the handlers of
// pointer and keys.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { OWN_KEYS, used } from "../ui/keys.ts";
import type { Drawing } from "./drawing.ts";
import { EXPLAIN_KEYS, type Pointing } from "./gestures/pointing.ts";
import type { Choices, PlacedLabel } from "./labels/engine.ts";
import { Still } from "./layers/clip.tsx";
import { Labels, Marquee, Rings } from "./layers/marks.tsx";
import { isNote, NoteButtons } from "./layers/moved_kernels.tsx";
import { createPainter } from "./points/painter.ts";
import { visiblePoints } from "./points/visible.ts";
import type { Size } from "./scales.ts";
import { ShowEverything } from "./show_everything.tsx";
import type { Theme } from "./theme.ts";
import type { Tools } from "./tools.ts";

export interface PlaneProps {
  readonly store: Store;
  readonly size: Size;
  readonly theme: Theme;
  /** How far the widget extends below the chart, px. The host page hides what is outside the widget. */
  readonly below: number;
  /**
   * The chip of the hovered mark. An unmeasured kernel has a mark on the roof of each chip. The stage sets the signal.
   */
  readonly pointedChip: Signal<string | undefined>;
  /** The stage sets the plane. */
  readonly tools: Tools;
}

interface StageProps extends Drawing {
  readonly store: Store;
  readonly label: string;
  readonly tools: Tools;
  readonly pointing: Pointing;
  /** Whether the picture changes in every frame. */
  readonly isMoving: boolean;
  /** Elements in addition to the picture, such as the tooltip. */
  readonly children?: ComponentChildren;
}

export function Stage({
  store,
  scene,
  label,
  tools,
  pointing,
  looks,
  isMoving,
  labels,
  under,
  over,
  children,
}: StageProps) {
  const { scales, theme } = scene;
  const { at, outside } = visiblePoints(scene);
  const canvas = useRef<HTMLCanvasElement>(null);
  const paint = useMemo(createPainter, []);
  useLayoutEffect(() => {
    const { background: outline, alert } = theme;
    const picture = { points: scene.points, at, scales, inMotion: isMoving, ...looks, outline, alert };
    if (canvas.current) paint(canvas.current, picture);
  });
  const size = { width: scales.width, height: scales.height };
  const box = { width: `${size.width}px`, height: `${size.height}px` };
  const { navigation } = pointing;
  const hasTools = !store.view.hiddenPanels.value.includes("tools");
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== EXPLAIN_KEYS[0] || !hasTools) return pointing.handlers.onKeyDown(event);
    tools.open.value = "marks";
    used(event);
  }
  const latest = useRef(onKeyDown);
  latest.current = onKeyDown;
  const keys = useCallback((event: KeyboardEvent) => latest.current(event), []);
  useLayoutEffect(() => {
    tools.plane.value = { scene, navigation, keys, size, theme };
  });
  return (
    <>
      <div
        class="rw-chart"
        data-tool={navigation.tool.value}
        data-moves={navigation.isDragged || undefined}
        data-kernel={pointing.kernelCursor}
        style={box}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys walk along the kernels
        tabIndex={0}
        {...OWN_KEYS}
        aria-label={label}
        aria-keyshortcuts={pointing.shortcuts}
        {...pointing.handlers}
        onKeyDown={onKeyDown}
      >
        <svg {...size} aria-hidden="true">
          {under}
        </svg>
        <canvas ref={canvas} style={box} />
        <svg {...size} aria-hidden="true">
          <Rings scene={scene} pointed={pointing.index} />
          {over}
          <Still />
          <Labels labels={labels} scene={scene} />
          <Marquee box={pointing.marquee} />
        </svg>
        {children}
        <NoteButtons store={store} labels={labels} scene={scene} />
      </div>
      <ShowEverything store={store} scene={scene} outside={outside} navigation={navigation} />
    </>
  );
}

/**
 * Places labels. While `isHeld`, for example during a drag, and for a moment after it each label keeps its candidate
 * position and text.
 */
export function useStableLabels(isHeld: boolean, place: (before?: Choices) => PlacedLabel[]): PlacedLabel[] {
  const choices = useRef<Choices>(new Map());
  const isSettling = useSettling(isHeld);
  const isStable = isHeld || isSettling;
  const labels = place(isStable ? choices.current : undefined);
  useLayoutEffect(() => {
    // A label that first appears during a drag may change its position in the next frame. A note of a moved kernel
    // keeps its position.
    const kept = isStable ? labels.filter(isNote) : labels;
    const before = isStable ? choices.current : [];
    choices.current = new Map([...before, ...kept.map(({ key, choice }) => [key, choice] as const)]);
  });
  return labels;
}

/** Labels are placed again so long after a drag or a hover, ms. */
const SETTLE_MS = 150;

/** Returns whether labels were held until a moment ago. Nothing then moves while the pointer still rests. */
function useSettling(isHeld: boolean): boolean {
  const wasHeld = useRef(false);
  const settled = useSignal(0);
  // Subscribes to the end of the time.
  void settled.value;
  useLayoutEffect(() => {
    if (isHeld) wasHeld.current = true;
    if (isHeld || !wasHeld.current) return;
    const timer = setTimeout(() => {
      wasHeld.current = false;
      settled.value++;
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [isHeld, settled]);
  return wasHeld.current && !isHeld;
}
