// What of a workload can be undone, and when two such states are the same.

/** The positions of the ops of each kernel. */
export type Groups = readonly (readonly number[])[];
/** What can be undone. */
export interface Entry {
  readonly phase: string;
  readonly groups: Groups;
  readonly dims: Readonly<Record<string, number>>;
  readonly convention: string;
  readonly dtype: string | null;
}

/** A thousand groups are the same lists, but for those that a merge has touched. */
export const isSameGrouping = (one: Groups, other: Groups) =>
  one.length === other.length && one.every((group, at) => group === other[at] || isEqual(group, other[at]));
export const isEqual = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);
/** In any order of sizes. */
export const isSame = (one: Entry, other: Entry) =>
  isEqual([one.phase, one.convention, one.dtype], [other.phase, other.convention, other.dtype]) &&
  isSameGrouping(one.groups, other.groups) &&
  isEqual(Object.entries(one.dims).sort(), Object.entries(other.dims).sort());
