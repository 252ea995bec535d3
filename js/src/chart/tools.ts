// What the toolbar and the chart share: the toolbar is above the chart, and has tools of the chart.

import { type Signal, signal } from "@preact/signals";
import type { Navigation } from "./gestures/navigate.ts";
import type { Scene } from "./scene.ts";

/** The plane that is shown: the roofline plane, or the time view. */
export interface Plane {
  readonly scene: Scene;
  readonly navigation: Navigation;
  /** Handles a key as the chart does. */
  keys(event: KeyboardEvent): void;
}

/** The parts of the toolbar that can be open. */
export type ToolMenu =
  | "chips"
  | "precision"
  | "memory"
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
