// A model without Python: the state that Python saved in a page, or that it hands to a JavaScript engine.

import { bytesOf } from "../wire/packed.ts";
import type { Model } from "./model.ts";

/** A state as `roofwidget.export.saved_state` writes it. */
export interface SavedState {
  readonly state: Readonly<Record<string, unknown>>;
  /** The binary values: the path of keys to the place of each value in the state, and its bytes as base64 text. */
  readonly buffers: readonly (readonly [path: readonly (string | number)[], bytes: string])[];
}

type Container = Record<string | number, unknown>;

/** Returns a model with a saved state. It accepts messages to Python, and drops them. */
export function savedModel({ state, buffers }: SavedState): Model {
  for (const [path, bytes] of buffers) {
    const place = path.slice(0, -1).reduce<Container>((at, key) => at[key] as Container, state);
    place[path.at(-1) as string | number] = new DataView(bytesOf(bytes).buffer);
  }
  return { get: (name) => state[name], send() {}, on() {}, off() {} };
}
