// Signals that keep a pace that can be read while a control is dragging: what writes numbers follows these, and the pointer
// does not wait for it.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";

/** ms from one value to the next. */
const PACE_MS = 60;

/** The same signals; while `dragging` they are only so often what they follow, all at once, and always at last. */
export function throttled<T extends Readonly<Record<string, ReadonlySignal<unknown>>>>(
  sources: T,
  dragging: ReadonlySignal<boolean>,
): T {
  const beat = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    // At rest nobody may ask for them: then they need not be worked out.
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
