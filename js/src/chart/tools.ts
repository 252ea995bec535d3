// What the toolbar and the chart share: the toolbar is above the chart, and has tools of the chart.

import { type Signal, signal } from "@preact/signals";
import type { Navigation } from "./gestures/navigate.ts";
import type { Size } from "./scales.ts";
import type { Scene } from "./scene.ts";
import type { Theme } from "./theme.ts";

/** The plane that is shown. */
export interface Plane {
  /** The scene of the roofline plane or the time view, and its zoom. The network plane has neither. */
  readonly scene?: Scene;
  readonly navigation?: Navigation;
  readonly size: Size;
  readonly theme: Theme;
  /** Handles a key as the chart does. */
  keys(event: KeyboardEvent): void;
}

/** The parts of the toolbar that can be open. */
export type ToolMenu =
  | "chips"
  | "precision"
  | "memory"
  | "link"
  | "topology"
  | "judging"
  | "view"
  | "axes"
  | "open"
  | "save"
  | "marks"
  | "keys"
  | "more";

export interface Tools {
  /** Undefined until the chart is drawn for the first time. */
  readonly plane: Signal<Plane | undefined>;
  readonly open: Signal<ToolMenu | undefined>;
}

export const createTools = (): Tools => ({ plane: signal(undefined), open: signal(undefined) });
