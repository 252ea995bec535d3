// Throttled signals: during a drag they change at a pace that a person can read. Panels that print numbers follow these
// signals, so that the pointer does not wait for the panels.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";

/** The time between two values, ms. */
const PACE_MS = 60;

/** The same signals; while `dragging` is true they are updated together every PACE_MS, and always after the end. */
export function throttled<T extends Readonly<Record<string, ReadonlySignal<unknown>>>>(
  sources: T,
  dragging: ReadonlySignal<boolean>,
): T {
  const beat = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    // At rest there may be no reader of the signals: do not compute them here.
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
