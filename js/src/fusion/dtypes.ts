// Which dtypes are floating-point ones, and which of a graph's is the main one.

export const isFloating = (dtype: string) => !/^(?:int|bool)/.test(dtype);

/** The commonest floating-point one, the first of equals; null without any. */
export function mainOf(dtypes: readonly string[]): string | null {
  const votes = new Map<string, number>();
  for (const dtype of dtypes.filter(isFloating)) votes.set(dtype, (votes.get(dtype) ?? 0) + 1);
  const most = Math.max(...votes.values());
  return [...votes].find(([, count]) => count === most)?.[0] ?? null;
}
