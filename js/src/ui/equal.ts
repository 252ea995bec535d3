// Values that are compared by their contents.

import { computed, type ReadonlySignal } from "@preact/signals";

/** Compares two values by their contents. NaN is equal to NaN. Ignores the order of the keys of mappings. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other || (Number.isNaN(one) && Number.isNaN(other))) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const keys = Object.keys(one);
  if (Array.isArray(one) !== Array.isArray(other) || keys.length !== Object.keys(other).length) return false;
  return keys.every(
    (key) => Object.hasOwn(other, key) && isEqual(one[key as keyof typeof one], other[key as keyof typeof other]),
  );
}

/** Returns a signal of what `read` returns, which stays the same object while the new one is equal. */
export function steady<T>(read: () => T): ReadonlySignal<T> {
  let last: { readonly value: T } | undefined;
  return computed(() => {
    const value = read();
    if (!last || !isEqual(value, last.value)) last = { value };
    return last.value;
  });
}
