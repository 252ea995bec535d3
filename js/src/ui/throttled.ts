// Throttled signals: during a drag, they change only every PACE_MS, while the page is idle. Panels with numbers use
// throttled signals. Then a person can read the numbers during a drag, and no frame of the drag waits for the panels.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { whenIdle } from "./idle.ts";

/** The time between two updates of throttled signals during a drag, ms. */
const PACE_MS = 125;
/** If the page is not idle for this time after the pace, the signals are updated in any case, ms. */
const MAX_WAIT_MS = 100;

/**
 * Returns the same signals, throttled. While `dragging` is true, all returned signals are updated together every
 * PACE_MS. At the end of a drag, the returned signals are always updated.
 */
export function throttled<T extends Readonly<Record<string, ReadonlySignal<unknown>>>>(
  sources: T,
  dragging: ReadonlySignal<boolean>,
): T {
  const beat = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = (source: ReadonlySignal<unknown>) =>
    computed(() => {
      void beat.value;
      return dragging.value ? source.peek() : source.value;
    });
  const followers = Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, follow(source)])) as T;
  effect(() => {
    // Reading a source computes the source. Without a drag, this work may be useless, because nothing else may read the
    // source. Therefore this effect reads the sources only during a drag.
    if (!dragging.value) {
      clearTimeout(timer);
      timer = undefined;
      return;
    }
    for (const source of Object.values(sources)) void source.value;
    // Reads the values from before the first change of the drag.
    for (const follower of Object.values(followers)) void follower.peek();
    if (timer !== undefined) return;
    timer = setTimeout(
      () =>
        whenIdle(() => {
          timer = undefined;
          beat.value += 1;
        }, MAX_WAIT_MS),
      PACE_MS,
    );
  });
  return followers;
}
