// What a plane shows: its scene, its labels and its layers. The screen and the saved pictures draw it.

import type { ComponentChildren } from "preact";
import type { PlacedLabel } from "./labels/engine.ts";
import type { pointColours, Scene } from "./scene.ts";

export interface Drawing {
  readonly scene: Scene;
  readonly looks: ReturnType<typeof pointColours>;
  readonly labels: readonly PlacedLabel[];
  /** What is drawn below the points. */
  readonly under: ComponentChildren;
  /** What is drawn above the points and below all labels. */
  readonly over?: ComponentChildren;
}
