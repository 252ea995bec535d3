// Changes of nested mappings. The changes are a mapping too: it contains only the changed keys, and null for a removed
// key. For example, the changes {"a": 3, "b": null} turn {"a": 1, "b": 2} into {"a": 3}. A mapping never contains an
// empty mapping. Python has the function `applied` too, in roofwidget/state/messages.py.

import { isEqual } from "../ui/equal.ts";

export type Changes = Readonly<Record<string, unknown>>;
type Mapping = Readonly<Record<string, unknown>>;

const isMapping = (value: unknown): value is Mapping =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isEmpty = (value: Mapping) => Object.keys(value).length === 0;
const keysOf = (...mappings: Mapping[]) => [...new Set(mappings.flatMap(Object.keys))];

/** Makes a mapping from each key to `partOf(key)`. Leaves out keys for which `partOf` returns undefined. */
const mapped = (keys: readonly string[], partOf: (key: string) => unknown): Mapping =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = partOf(key);
      return value === undefined ? [] : [[key, value]];
    }),
  );

/** Returns the changes that turn `before` into `after`. */
export function difference(before: Mapping, after: Mapping): Changes {
  return mapped(keysOf(before, after), (key) => {
    const [old, now] = [before[key], after[key]];
    if (isMapping(old) || isMapping(now)) {
      const inner = difference(isMapping(old) ? old : {}, isMapping(now) ? now : {});
      return isEmpty(inner) ? undefined : inner;
    }
    return old === now ? undefined : (now ?? null);
  });
}

/** Returns a mapping with changes applied. */
export function applied(value: Mapping, changes: Changes): Mapping {
  return mapped(keysOf(value, changes), (key) => {
    const [old, change] = [value[key], changes[key]];
    if (change === undefined) return old;
    if (!isMapping(change)) return change ?? undefined;
    const inner = applied(isMapping(old) ? old : {}, change);
    return isEmpty(inner) ? undefined : inner;
  });
}

/** Returns changes that have the same effect as `earlier` followed by `later`. */
export function merged(earlier: Changes, later: Changes): Changes {
  return mapped(keysOf(earlier, later), (key) => {
    const [one, other] = [earlier[key], later[key]];
    return isMapping(one) && isMapping(other) ? merged(one, other) : other === undefined ? one : other;
  });
}

/**
 * Applies to `entry` the changes from `before` to `after`. A key is changed only if its values in `entry` and in
 * `before` are the same.
 */
export function rebased(entry: Mapping, before: Mapping, after: Mapping): Mapping {
  const own = difference(before, entry);
  return applied(entry, without(difference(before, after), own));
}

/** Returns `changes` without the keys that `others` change. */
const without = (changes: Changes, others: Changes): Changes =>
  mapped(Object.keys(changes), (key) => {
    const [change, other] = [changes[key], others[key]];
    if (isMapping(change) && isMapping(other)) return without(change, other);
    return other === undefined ? change : undefined;
  });

/** Returns those of the values that differ from the values of the same names in `before`. */
export const changed = <T extends object>(values: T, before: { readonly [N in keyof T]?: unknown }): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => !isEqual(value, before[name as keyof T]))) as T;
