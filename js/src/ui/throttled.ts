// Signals that keep a pace that can be read while a control is held: what writes numbers follows these, and the pointer
// does not wait for it.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";

/** ms from one value to the next. */
const PACE = 60;

/** The same signals; while `held` they are only so often what they follow, all at once, and always at last. */
export function calming<T extends Readonly<Record<string, ReadonlySignal<unknown>>>>(
  sources: T,
  held: ReadonlySignal<boolean>,
): T {
  const beat = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    // At rest nobody may ask for them: then they need not be worked out.
    if (!held.value) return;
    for (const source of Object.values(sources)) void source.value;
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      beat.value += 1;
    }, PACE);
  });
  const calm = (source: ReadonlySignal<unknown>) =>
    computed(() => {
      void beat.value;
      return held.value ? source.peek() : source.value;
    });
  return Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, calm(source)])) as T;
}
