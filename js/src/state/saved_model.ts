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

/** Puts the binary values into their places. A path that leaves the state is an error: the state may be anyone's. */
export function withBuffers({ state, buffers }: SavedState): SavedState["state"] {
  for (const [path, bytes] of buffers) {
    const place = path.slice(0, -1).reduce<Container>(own, state);
    // Notebooks have nothing in the place of a binary value.
    place[path.at(-1) as string | number] = new DataView(bytesOf(bytes).buffer);
  }
  return state;
}

function own(place: Container, key: string | number): Container {
  if (!Object.hasOwn(place, key)) throw new Error(`the state has no ${key}`);
  return place[key] as Container;
}

/** Returns a model with a saved state. It accepts messages to Python, and drops them. */
export function savedModel(saved: SavedState): Model {
  const state = withBuffers(saved);
  return { get: (name) => state[name], send() {}, on() {}, off() {} };
}
