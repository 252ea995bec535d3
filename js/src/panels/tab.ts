// What each tab beside the chart is given.

import type { Theme } from "../chart/theme.ts";
import type { Store } from "../state/store.ts";

export interface TabProps {
  readonly store: Store;
  readonly theme: Theme;
  /** The height for the content, px. */
  readonly height: number;
  readonly narrow: boolean;
}
