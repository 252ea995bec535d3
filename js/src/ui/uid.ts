// Ids for attributes that refer to another element, such as aria-controls.

import { useMemo } from "preact/hooks";

// Preact's own `useId` restarts in each widget, so two widgets of a page would get the same ids from it.
const page = Math.random().toString(36).slice(2, 8);
let last = 0;

/** Returns an id that is unique in the page. */
export const useUid = () => useMemo(() => `rw-${page}-${last++}`, []);
