// Ids for what one element says of another.

import { useMemo } from "preact/hooks";

// The library's own hook counts in each widget from the start: two in a page would have the same.
const page = Math.random().toString(36).slice(2, 8);
let last = 0;

/** An id that no other element of the page has. */
export const useUid = () => useMemo(() => `rw-${page}-${last++}`, []);
