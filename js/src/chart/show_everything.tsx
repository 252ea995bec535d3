// The button in a zoomed plot that shows everything again, and what screen readers say of the zoom.

import { useMemo, useRef } from "preact/hooks";
import type { Store } from "../state/store.ts";
import { Button, lockedBy } from "../ui/button.tsx";
import { focusNeighbour } from "../ui/focus.ts";
import { numerals, toolWords as words } from "../words/words.ts";
import type { Navigation } from "./gestures/navigate.ts";
import type { Scene } from "./scene.ts";

/** The distance of the button from the corner of the plot, px. */
const INSET_PX = 8;

interface Props {
  readonly store: Store;
  readonly scene: Scene;
  /** The number of kernels out of sight. */
  readonly outside: number;
  readonly navigation: Navigation;
}

export function ShowEverything({ store, scene, outside, navigation }: Props) {
  const { scales, units } = scene;
  const lock = store.lesson.lockNote("view");
  const isZoomed = store.view.zoom.value !== null && !store.view.hiddenPanels.value.includes("tools");
  const out = outside > 0 ? words.outside(numerals.whole(outside), outside === 1) : "";
  // Before the first zoom nothing is announced. When the chart shows the whole view again after a zoom, this is
  // announced.
  const wasZoomed = useRef(false);
  wasZoomed.current ||= scales.whole !== undefined;
  const said = navigation.isMoving ? "" : spoken(scene, out, wasZoomed.current);
  /** The button disappears when it is clicked. */
  function act({ currentTarget }: MouseEvent) {
    navigation.fit();
    focusNeighbour(currentTarget as Element);
  }
  return useMemo(
    () => (
      <>
        {isZoomed && (
          <Button
            look="button rw-everything"
            data-tool="fit"
            style={{ left: `${scales.plot.left + INSET_PX}px`, top: `${scales.plot.top + INSET_PX}px` }}
            {...lockedBy(lock, words.fit)}
            onClick={lock === undefined ? act : undefined}
          >
            {words.everything}
            {out && <span class="rw-muted"> · {out}</span>}
          </Button>
        )}
        <span class="rw-spoken" role="status">
          {said || null}
        </span>
      </>
    ),
    [isZoomed, out, said, lock, scales, units],
  );
}

/** Describes the visible part of the plane for screen readers. */
function spoken({ scales, units }: Scene, outside: string, wasZoomed: boolean): string {
  if (!scales.whole) return wasZoomed ? words.whole : "";
  const ends = ([low, high]: readonly [number, number], text: (value: number) => string) =>
    [text(low), text(high)] as const;
  const [x, y] = "outer" in scales ? [units.time, units.time] : [units.intensity, units.rate];
  return words.shows(ends(scales.x.domain, x), ends(scales.y.domain, y), outside);
}
