// A heap: the first of many, again and again.

/** `isBefore` orders the items; what is pushed comes out again first come by that order. */
export function heapOf<T>(isBefore: (one: T, other: T) => boolean) {
  const items: T[] = [];
  const at = (place: number) => items[place] as T;
  function rise(item: T, from: number) {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(item, at(above))) break;
      items[place] = at(above);
      place = above;
    }
    items[place] = item;
  }
  function sink(item: T) {
    let place = 0;
    for (let below = 1; below < items.length; below = 2 * place + 1) {
      if (below + 1 < items.length && isBefore(at(below + 1), at(below))) below++;
      if (!isBefore(at(below), item)) break;
      items[place] = at(below);
      place = below;
    }
    items[place] = item;
  }
  return {
    push: (item: T) => rise(item, items.length),
    pop(): T | undefined {
      const first = items[0];
      const last = items.pop();
      if (items.length > 0) sink(last as T);
      return first;
    },
  };
}
