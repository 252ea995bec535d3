// Throttled signals. During a drag, the signals change so slowly that a person can read them. Panels with numbers use
// throttled signals, so that a drag does not have to wait for the panels.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";

/** The time between two updates, ms. */
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
    // Without a drag, the sources may have no reader. Therefore this effect computes the sources only during a drag.
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
