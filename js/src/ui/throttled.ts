// Throttled signals: during a drag, they change only every PACE_MS. Panels with numbers use throttled signals. Then a
// person can read the numbers during a drag, and the drag does not have to wait for the panels.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";

/** The time between two updates of throttled signals during a drag, ms. */
const PACE_MS = 60;

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
  effect(() => {
    // Reading a source computes the source. Without a drag, this work may be useless, because nothing else may read the
    // source. Therefore this effect reads the sources only during a drag.
    if (!dragging.value) return;
    for (const source of Object.values(sources)) void source.value;
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      beat.value += 1;
    }, PACE_MS);
  });
  const follow = (source: ReadonlySignal<unknown>) =>
    computed(() => {
      void beat.value;
      return dragging.value ? source.peek() : source.value;
    });
  return Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, follow(source)])) as T;
}
