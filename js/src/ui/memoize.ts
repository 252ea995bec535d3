// Memoizes the latest value per key object. Recomputes the value when a dependency changes.

/** Returns a memoizer with one value per key object. The value is freed together with the key object. */
export function memoize<T>() {
  const known = new WeakMap<object, { readonly of: readonly unknown[]; readonly value: T }>();
  return (key: object, of: readonly unknown[], make: () => T): T => {
    const before = known.get(key);
    if (before?.of.length === of.length && before.of.every((part, at) => part === of[at])) return before.value;
    const value = make();
    known.set(key, { of, value });
    return value;
  };
}

/** Returns a function that computes the result of each number once. */
export function once<T>(make: (of: number) => T) {
  const known = new Map<number, T>();
  return (of: number): T => {
    if (!known.has(of)) known.set(of, make(of));
    return known.get(of) as T;
  };
}
